"""The changes of a port, cut into questions: one for each passage of whole statements.

Comes in: a draft, its text before and after the port, and its twin. Goes out: review items that show all three. May
touch: nothing.
"""

from __future__ import annotations

import difflib
import textwrap
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from runner_sync import merge
from runner_sync.confidence import DERIVED, DOUBTFUL
from runner_sync.model import ReviewItem
from runner_sync.statements import INDENT, Node, ancestors, enclosing, flatten
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.asking import device_behind, features, no_longer_passed, unconfirmed
from runner_sync.upgrade.from_gpu.twin import owing
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, review

TAKEN_OVER = "ported from the GPU runner; no line of it has run on this platform yet"

PARTLY_KNOWN = "ported from the GPU runner; not all of its lines have run on this platform yet"

HAD = "ported from the GPU runner; all of it stands in this method already, at another place"

SHARED = "ported from the GPU runner; vllm-ascend has it in this method, too"

CHANGED = "ported from the GPU runner; with this change it has not run on this platform yet"

TAKEN_OUT = "taken out, as in the GPU runner, which has it no more"

MOVED_HERE = "moved: it stood at another place, and stands now where the GPU runner has it"

MOVED = "moved: it stood here, and stands now where the GPU runner has it"

PARTLY_MOVED = "taken out, as in the GPU runner, which has a part of it no more and the rest at another place"

NEAR = 3
"""Passages with fewer unchanged lines than this between them are one question."""


def questions(draft: Draft, job: ModuleJob, *, before: str, after: str, twin: str) -> list[ReviewItem]:
    """One question for each passage of whole statements that a port changed; none where only comments differ."""
    old, new = before.split("\n"), after.split("\n")
    in_twin = _InTwin.of(after, twin)
    stand = _Standing.of(before, after, draft.upstream)
    found = []
    for i1, i2, j1, j2 in _changed(before, after, job.hierarchy.from_mixins(draft.owner)):
        was, now = _passage(old[i1:i2]), _passage(new[j1:j2])
        if _without_comments(was) == _without_comments(now):
            continue
        behind = device_behind.why(now, before, job)
        taken_over = (
            f"{_brought(was, _within(after, j1, j2), stand)}{owing.explain(now, job)}"
            f"{unconfirmed.why(now, job)}{behind}{no_longer_passed.why(was, now, after)}"
        )
        item = review(
            draft,
            job.path,
            reason=taken_over if now else _taken_out(before, i1, i2, stand.lost),
            confidence=DOUBTFUL if behind else DERIVED,
            shown=Shown(omni=was, upstream=in_twin.said(now, j1, j2), chosen=now),
            line=j1 + 1,
            from_gpu=True,
        )
        found.append(item)
    return found


@dataclass(frozen=True)
class _Standing:
    """What stands where: the statements of the unit ``before`` a port, those that the port has ``lost`` and ``grown``
    in number, and those of vllm-ascend's version of the unit."""

    before: Container[str]
    lost: Container[str]
    grown: Container[str]
    upstream: Container[str]

    @classmethod
    def of(cls, before: str, after: str, upstream: str | None) -> _Standing:
        old, new = Counter(_canons(before)), Counter(_canons(after))
        return cls(old, old - new, new - old, frozenset(_canons(upstream or "")))


def _within(text: str, first: int, last: int) -> list[str]:
    """The telling statements that begin in the rows ``first`` to ``last``."""
    return [node.canon for node in flatten(text) if first < node.start <= last and node.is_telling]


def _brought(was: str, code: Sequence[str], stand: _Standing) -> str:
    """Why a passage is there: where else its statements stand says whether they have run on this platform."""
    had = [canon in stand.before for canon in code]
    theirs = [canon in stand.upstream for canon in code]
    if code and not _without_comments(was) and all(had):
        return HAD if any(canon in stand.grown for canon in code) else MOVED_HERE
    if code and all(theirs):
        return SHARED
    if _without_comments(was):
        return CHANGED
    return PARTLY_KNOWN if any(had) or any(theirs) else TAKEN_OVER


def _taken_out(before: str, first: int, last: int, lost: Container[str]) -> str:
    """Why the rows ``first`` to ``last`` of ``before`` are gone, which may be an ``else`` alone: ``lost`` are the
    statements that the whole text has less often than before."""
    there = [node for node in flatten(before) if node.start <= last and node.start + len(node.lines) > first + 1]
    gone = [node.canon in lost for node in there if not node.is_comment]
    if any(gone):
        return TAKEN_OUT if all(gone) else PARTLY_MOVED
    return MOVED


def _canons(text: str) -> Iterator[str]:
    return (node.canon for node in flatten(text) if not node.is_comment)


@dataclass(frozen=True)
class _InTwin:
    """The statements of the twin, and for those that the ported text has: the index here to the line there."""

    nodes: Sequence[Node]
    lines: Mapping[int, int]

    @classmethod
    def of(cls, text: str, twin: str) -> _InTwin:
        mine, theirs = flatten(text), flatten(twin)
        return cls(theirs, {pair.right: mine[pair.left].start for pair in merge.align(mine, theirs)})

    def said(self, now: str, first: int, last: int) -> str:
        """The rows ``first`` to ``last`` of the ported text as the twin has them, under the conditions that only the
        twin has.

        Returns ``now``, the ported passage itself, if both differ in nothing but comments.
        """
        shown = {index for index, line in self.lines.items() if first < line <= last}
        shown |= {head for index in shown for head in self._own_conditions(index)}
        said = _passage([self._written(index) for index in sorted(shown)])
        return now if _without_comments(now) == _without_comments(said) else said

    def _own_conditions(self, index: int) -> Iterator[int]:
        """The conditions nearest around a statement that only the twin has and that may keep it from running; for a
        branch, those of the branches before it, too."""
        for head in enclosing(self.nodes, index):
            if head in self.lines:
                return
            if self.nodes[head].is_condition:
                yield head

    def _written(self, index: int) -> str:
        depth = sum(INDENT for _ in ancestors(self.nodes, index))
        return textwrap.indent(self.nodes[index].text, depth * " ")


def _changed(before: str, after: str, given: Collection[str]) -> list[features.Rows]:
    """The passages that differ, each as start and end row in ``before`` and in ``after``.

    What uses names that the class is ``given`` and what does not are different passages.
    """
    old, new = before.split("\n"), after.split("\n")
    runs: list[features.Rows] = []
    for whole in _differing(before, after):
        for rows in features.cut(whole, after, given):
            last = runs[-1] if runs else None
            if last is not None and _is_one(last, rows, old, new, given):
                runs[-1] = (last[0], max(rows[1], last[1]), last[2], max(rows[3], last[3]))
            else:
                runs.append(rows)
    return runs


def _is_one(
    last: features.Rows, rows: features.Rows, old: Sequence[str], new: Sequence[str], given: Collection[str]
) -> bool:
    """Whether two passages are one question: they share a statement, or are near and of the same feature, if any."""
    if rows[2] < last[3] or rows[0] < last[1]:
        return True
    return rows[2] - last[3] < NEAR and features.uses(last, old, new, given) == features.uses(rows, old, new, given)


def _differing(before: str, after: str) -> Iterator[features.Rows]:
    """The ranges of rows that differ, each widened to whole statements."""
    matcher = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    for tag, *rows in matcher.get_opcodes():
        if tag == "equal":
            continue
        if tag != "replace":
            by = _slide(after, rows[2], rows[3]) if tag == "insert" else _slide(before, rows[0], rows[1])
            rows = [row + by for row in rows]
        yield (*_whole_statements(before, rows[0], rows[1]), *_whole_statements(after, rows[2], rows[3]))


def _without_comments(passage: str) -> list[str]:
    """The words of a passage outside its comments; nobody need be asked about those."""
    return [word for line in passage.split("\n") if not line.lstrip().startswith("#") for word in line.split()]


def _slide(text: str, first: int, last: int) -> int:
    """By how many rows an added or removed range can be moved down, with the same meaning, so that it starts at a
    statement.

    For example, when a call is inserted behind a similar one, a diff may report the last line of the first as new and
    that of the second as old. 0 if it starts at a statement already or never does.
    """
    lines = text.split("\n")
    inside = {row for node in flatten(text) for row in range(node.start, node.start - 1 + len(node.lines))}
    by = 0
    while first + by in inside and last + by < len(lines) and lines[first + by] == lines[last + by]:
        by += 1
    return by if first + by not in inside else 0


def _whole_statements(text: str, first: int, last: int) -> tuple[int, int]:
    """The rows ``first`` to ``last``, widened so that no statement is cut at either end."""
    spans = [(node.start - 1, node.start - 1 + len(node.lines)) for node in flatten(text)]
    cut = [(start, end) for start, end in spans if (start < last and first < end) or start < first < end]
    return min([first, *(start for start, _ in cut)]), max([last, *(end for _, end in cut)])


def _passage(lines: Sequence[str]) -> str:
    return textwrap.dedent("\n".join(lines)).strip("\n")
