"""Turns the changes of a port into questions, one per passage of whole statements.

Comes in: a draft, its text before and after the port, and its twin. Goes out: review items that show all three. May
touch: nothing.
"""

from __future__ import annotations

import difflib
import textwrap
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from runner_sync import merge
from runner_sync.confidence import DERIVED
from runner_sync.model import ReviewItem
from runner_sync.statements import INDENT, Node, ancestors, enclosing, flatten
from runner_sync.thresholds import NEAR_PASSAGES
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.asking import features, lost_results, no_longer_passed, other_branches
from runner_sync.upgrade.from_gpu.asking.nested_otherwise import find_nested_otherwise
from runner_sync.upgrade.from_gpu.asking.untranslated import explain_unconfirmed
from runner_sync.upgrade.from_gpu.twin import owing
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, make_review

TAKEN_OVER = "ported from the GPU runner; this new code has not run on this platform yet"

PARTLY_KNOWN = "ported from the GPU runner; some of these lines have not run on this platform yet"

HAD = "ported from the GPU runner; this method already has all of these lines at another place"

SHARED = "ported from the GPU runner; vllm-ascend's method has these lines, too"

CHANGED = "ported from the GPU runner; the changed lines have not run on this platform yet"

TAKEN_OUT = "removed, because the GPU runner no longer has it"

MOVED_HERE = "moved here from another place in this method, because the GPU runner has it here"

MOVED = "moved from here to the place where the GPU runner has it"

PARTLY_MOVED = "removed here, because the GPU runner no longer has a part of it and has the rest at another place"


def list_questions(draft: Draft, job: ModuleJob, *, after: str, twin: str) -> list[ReviewItem]:
    """Return one question per passage of whole statements that a port changed, unless only comments or docstrings
    differ.

    The question at the old place of a passage that moved is a part of the one at the new place.
    """
    before = draft.text
    old, new = before.split("\n"), after.split("\n")
    in_twin = _InTwin.of(after, twin)
    occurrences = _Occurrences.of(before, after, draft.upstream)
    found = []
    for i1, i2, j1, j2 in _find_passages(before, after, job.hierarchy.from_mixins(draft.owner)):
        was, now = _join_lines(old[i1:i2]), _join_lines(new[j1:j2])
        upstream = in_twin.quote(now, j1, j2)
        nodes_was, nodes = _list_code_within(before, i1, i2), _list_code_within(after, j1, j2)
        code_was, code = ([node.canon for node in passage] for passage in (nodes_was, nodes))
        if code_was == code:
            nested = find_nested_otherwise(before, after, (i1, i2, j1, j2), now)
            if nested is None:
                continue
            taken_over, was, now = nested
            upstream = now
        else:
            taken_over = (
                f"{_explain_presence(was, nodes, occurrences)}{owing.explain(now, job)}"
                f"{explain_unconfirmed(now, job)}{no_longer_passed.explain(was, now, after)}"
                f"{other_branches.explain(after, j1, j2, twin=twin, before=occurrences.before)}"
                f"{lost_results.explain(code_was, code, after=after, twin=twin)}"
            )
        reason = taken_over if now else _explain_absence(before, i1, i2, occurrences.lost)
        shown, line = Shown(omni=was, upstream=upstream, chosen=now), min(j1 + 1, len(after.rstrip().split("\n")))
        found.append(
            make_review(draft, job.path, reason=reason, confidence=DERIVED, shown=shown, line=line, from_gpu=True)
        )
    return [_join_to_new_place(item, found) for item in found]


def _join_to_new_place(item: ReviewItem, items: Sequence[ReviewItem]) -> ReviewItem:
    """Make the question at the old place of a passage a part of the one at its new place, if there is exactly one."""
    if item.reason != MOVED:
        return item
    moved = Counter(_list_canons(item.omni))
    there = [one for one in items if one.reason == MOVED_HERE and moved <= Counter(_list_canons(one.chosen))]
    return replace(item, part_of=there[0].id) if moved and len(there) == 1 else item


def join_to_passage(item: ReviewItem, reason: merge.Reason, passages: Sequence[ReviewItem]) -> ReviewItem:
    """Make a question about the place of a statement a part of the one about the ported passage that it stands in."""
    if reason.kind not in _ABOUT_PLACES:
        return item
    around = [one for one in passages if 0 <= item.line - one.line < len(one.chosen.split("\n")) and one.chosen]
    return replace(item, part_of=around[0].part_of or around[0].id) if around else item


_ABOUT_PLACES: tuple[merge.Kind, ...] = ("in other suites", "on the other side", "both moved")


@dataclass(frozen=True)
class _Occurrences:
    """The statements of a unit ``before`` a port, and vllm-ascend's (``upstream``).

    ``lost`` occur less often after the port, ``grown`` more often.
    """

    before: Collection[str]
    lost: Container[str]
    grown: Container[str]
    upstream: Container[str]

    @classmethod
    def of(cls, before: str, after: str, upstream: str | None) -> _Occurrences:
        old, new = Counter(_list_canons(before)), Counter(_list_canons(after))
        return cls(old, old - new, new - old, frozenset(_list_canons(upstream or "")))


def _list_code_within(text: str, first: int, last: int) -> list[Node]:
    """Return the statements that begin in the rows ``first`` to ``last``, without comments and docstrings."""
    within = [node for node in flatten(text) if first < node.start <= last]
    return [node for node in within if not node.is_comment and node.kind != "docstring"]


def _explain_presence(was: str, nodes: Sequence[Node], occurrences: _Occurrences) -> str:
    """Return why a passage is there; other places of its statements tell whether they have run on this platform."""
    code = [node.canon for node in nodes if node.is_telling]
    had = [canon in occurrences.before for canon in code]
    is_upstreams = [canon in occurrences.upstream for canon in code]
    if code and not _words_outside_comments(was) and all(had):
        return HAD if any(canon in occurrences.grown for canon in code) else MOVED_HERE
    if code and all(is_upstreams):
        return SHARED
    if _words_outside_comments(was):
        return CHANGED
    return PARTLY_KNOWN if any(had) or any(is_upstreams) else TAKEN_OVER


def _explain_absence(before: str, first: int, last: int, lost: Container[str]) -> str:
    """Return why the rows ``first`` to ``last`` of ``before`` are gone, possibly just an ``else``.

    ``lost`` are the statements that the whole text has less often than before.
    """
    there = [node for node in flatten(before) if node.start <= last and node.end > first]
    gone = [node.canon in lost for node in there if not node.is_comment]
    if any(gone):
        return TAKEN_OUT if all(gone) else PARTLY_MOVED
    return MOVED


def _list_canons(text: str) -> Iterator[str]:
    return (node.canon for node in flatten(text) if not node.is_comment)


@dataclass(frozen=True)
class _InTwin:
    """The twin's statements, and the line in the ported text for each statement index that this text has."""

    nodes: Sequence[Node]
    lines: Mapping[int, int]

    @classmethod
    def of(cls, text: str, twin: str) -> _InTwin:
        here, there = flatten(text), flatten(twin)
        return cls(there, {pair.right: here[pair.left].start for pair in merge.align(here, there)})

    def quote(self, now: str, first: int, last: int) -> str:
        """Return rows ``first`` to ``last`` of the ported text as in the twin, under conditions that only the twin has.

        Returns ``now``, the ported passage itself, if both differ only in comments.
        """
        shown = {index for index, line in self.lines.items() if first < line <= last}
        shown |= {head for index in shown for head in self._find_own_conditions(index)}
        quoted = _join_lines([self._indent(index) for index in sorted(shown)])
        return now if _words_outside_comments(now) == _words_outside_comments(quoted) else quoted

    def _find_own_conditions(self, index: int) -> Iterator[int]:
        """Yield the conditions nearest around a statement that only the twin has and that may keep it from running.

        For a branch, these include the branches before it.
        """
        for head in enclosing(self.nodes, index):
            if head in self.lines:
                return
            if self.nodes[head].is_condition:
                yield head

    def _indent(self, index: int) -> str:
        depth = sum(INDENT for _ in ancestors(self.nodes, index))
        return textwrap.indent(self.nodes[index].text, depth * " ")


def _find_passages(before: str, after: str, given: Collection[str]) -> list[features.Rows]:
    """Return the passages that differ, each as start and end row in ``before`` and in ``after``.

    Separates statements that use names the class is ``given`` from the others.
    """
    old, new = before.split("\n"), after.split("\n")
    runs: list[features.Rows] = []
    for whole in _find_differing(before, after):
        for rows in features.split_passage(whole, after, given):
            last = runs[-1] if runs else None
            if last is not None and _is_same_question(last, rows, old, new, given):
                runs[-1] = (last[0], max(rows[1], last[1]), last[2], max(rows[3], last[3]))
            else:
                runs.append(rows)
    return runs


def _is_same_question(
    last: features.Rows, rows: features.Rows, old: Sequence[str], new: Sequence[str], given: Collection[str]
) -> bool:
    """Whether two passages share a question: they share a statement, or are near and of the same feature, if any."""
    if rows[2] < last[3] or rows[0] < last[1]:
        return True
    return rows[2] - last[3] < NEAR_PASSAGES and features.has_new_use(last, old, new, given) == features.has_new_use(
        rows, old, new, given
    )


def _find_differing(before: str, after: str) -> Iterator[features.Rows]:
    """Yield the ranges of rows that differ, each widened to whole statements."""
    matcher = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    for tag, *rows in matcher.get_opcodes():
        if tag == "equal":
            continue
        if tag != "replace":
            by = (
                _measure_slide(after, rows[2], rows[3]) if tag == "insert" else _measure_slide(before, rows[0], rows[1])
            )
            rows = [row + by for row in rows]
        yield (*_widen_to_statements(before, rows[0], rows[1]), *_widen_to_statements(after, rows[2], rows[3]))


def _words_outside_comments(passage: str) -> list[str]:
    """Return the words of a passage outside its comments, which need no review."""
    return [word for line in passage.split("\n") if not line.lstrip().startswith("#") for word in line.split()]


def _measure_slide(text: str, first: int, last: int) -> int:
    """Return by how many rows an added or removed range can move down, with the same meaning, to start at a statement.

    For example, for a call inserted behind a similar one, a diff may report the last line of the first as new and that
    of the second as old. Returns 0 if the range already starts at a statement or never does.
    """
    lines = text.split("\n")
    inside = {row for node in flatten(text) for row in range(node.start, node.end)}
    by = 0
    while first + by in inside and last + by < len(lines) and lines[first + by] == lines[last + by]:
        by += 1
    return by if first + by not in inside else 0


def _widen_to_statements(text: str, first: int, last: int) -> tuple[int, int]:
    """Widen the rows ``first`` to ``last`` so that no statement is cut at either end."""
    spans = [(node.start - 1, node.end) for node in flatten(text)]
    cut = [(start, end) for start, end in spans if (start < last and first < end) or start < first < end]
    return min([first, *(start for start, _ in cut)]), max([last, *(end for _, end in cut)])


def _join_lines(lines: Sequence[str]) -> str:
    return textwrap.dedent("\n".join(lines)).strip("\n")
