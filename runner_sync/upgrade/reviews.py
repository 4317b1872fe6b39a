"""Review items: their identity and their place in the file as written.

Comes in: decisions of a merge. Goes out: ``ReviewItem`` values. May touch: nothing.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, TypeVar

from runner_sync import merge
from runner_sync.merge.confidence import UNMERGED
from runner_sync.model import Hunk, Provenance, ReviewItem
from runner_sync.syntax import module_of, same_code, walk
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.wording import MERGED, PORTED, Sides, worded


class Shown(NamedTuple):
    """What a question shows: the text of each side, and what was chosen. A side that has nothing there is empty."""

    base: str = ""
    omni: str = ""
    upstream: str = ""
    chosen: str = ""


_NOTHING = Shown()


def review(
    draft: Draft,
    path: str,
    *,
    reason: str,
    confidence: float,
    shown: Shown = _NOTHING,
    line: int = 1,
    from_gpu: bool = False,
) -> ReviewItem:
    """A review item of a draft; ``line`` is still relative to the unit. The id depends on content, not on lines.

    ``from_gpu`` says whose ``shown.upstream`` is.
    """
    seed = "\0".join((path, draft.name, reason, shown.base, shown.omni, shown.upstream))
    identity = "R" + hashlib.sha256(seed.encode()).hexdigest()[:8]
    at = max(line, 1)
    return ReviewItem(identity, draft.name, path, at, at, reason, confidence, *shown, from_gpu=from_gpu)


def not_ported(
    draft: Draft, path: str, *, why: str, confidence: float, upstream: str, base: str = "", omni: str = ""
) -> ReviewItem:
    """A review item about something of the GPU runner's that was left out as a whole: nothing of it is in the file,
    and so is no comment. ``omni`` stands."""
    shown = Shown(base, omni, upstream, chosen=omni)
    item = review(draft, path, reason=f"not ported: {why}", confidence=confidence, shown=shown, from_gpu=True)
    return replace(item, in_file=False)


def unmerged(draft: Draft, path: str, *, reason: str, base: str, upstream: str, from_gpu: bool = False) -> ReviewItem:
    """A review item about a merge whose result does not parse: the draft stands as it was."""
    shown = Shown(base, draft.text, upstream, chosen=draft.text)
    return review(draft, path, reason=reason, confidence=UNMERGED, shown=shown, from_gpu=from_gpu)


def review_of(decision: merge.Decision, draft: Draft, path: str, *, line: int, sides: Sides = MERGED) -> ReviewItem:
    """The review item of a decision of a merge, at ``line`` of the draft, in the words of the two ``sides``."""
    return review(
        draft,
        path,
        reason=worded(decision.reason, sides),
        confidence=decision.confidence,
        shown=Shown(decision.base, decision.omni, decision.upstream, decision.chosen),
        line=line,
        from_gpu=sides is PORTED,
    )


def place(item: ReviewItem, unit: Sequence[str], start: int) -> ReviewItem:
    """``item`` with absolute lines: where its chosen text stands in the unit's final lines, nearest to where it was."""
    wanted = [line.strip() for line in item.chosen.split("\n") if line.strip()]
    at = min(item.line, max(len(unit), 1))
    if wanted:
        stripped = [line.strip() for line in unit]
        starts = [k + 1 for k, line in enumerate(stripped) if line == wanted[0]]
        at = min(starts, key=lambda k: abs(k - item.line), default=at)
    written = [k for k in range(at, len(unit) + 1) if unit[k - 1].strip()]
    last = written[min(len(wanted), len(written)) - 1] if wanted and written else at
    return replace(item, line=start + at - 1, end_line=start + last - 1)


Placed = TypeVar("Placed", ReviewItem, Hunk)


def relocate(items: Sequence[Placed], *, old: str, new: str) -> list[Placed]:
    """Items with the lines that they have after a change of layout."""
    if old == new or not items:
        return list(items)
    table = _line_table(old, new)
    return [
        replace(item, line=table.get(item.line, item.line), end_line=table.get(item.end_line, item.end_line))
        for item in items
    ]


def as_written(items: Sequence[ReviewItem], text: str) -> list[ReviewItem]:
    """Items with what was chosen as ``text`` has it, where that is one statement and was laid out anew."""
    found = {node.lineno: node for node in walk(module_of(text)) if isinstance(node, ast.stmt)} if items else {}
    return [_laid_out(item, found.get(item.line), text) for item in items]


def _laid_out(item: ReviewItem, statement: ast.stmt | None, text: str) -> ReviewItem:
    if statement is None or not item.in_file or isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return item
    end = statement.end_lineno or statement.lineno
    lines = textwrap.dedent("\n".join(text.split("\n")[statement.lineno - 1 : end]))
    if lines == item.chosen or not same_code(lines, item.chosen):
        return item
    return replace(item, chosen=lines, end_line=end)


@lru_cache(maxsize=16)
def _line_table(old: str, new: str) -> Mapping[int, int]:
    table: dict[int, int] = {}
    blocks = difflib.SequenceMatcher(None, old.split("\n"), new.split("\n"), autojunk=False).get_opcodes()
    for _, i1, i2, j1, j2 in blocks:
        table |= {i + 1: min(j1 + i - i1, max(j2 - 1, j1)) + 1 for i in range(i1, i2)}
    return table


def advanced(draft: Draft, text: str, source: Provenance) -> Draft:
    """The draft with a further stage; the questions asked so far stay with their lines."""
    return _relocated(draft, text).grown(text, source)


def completed(draft: Draft, text: str) -> Draft:
    """The draft with a further stage, which completes what the last merge brought, or what a port brought elsewhere."""
    last = draft.stages[-1].source
    return advanced(draft, text, last if last != "omni" else "gpu")


def laid_out_anew(draft: Draft, text: str) -> Draft:
    """The draft with ``text`` as its last stage: the same in another layout."""
    last = draft.stages[-1]._replace(text=text)
    return replace(_relocated(draft, text), stages=(*draft.stages[:-1], last))


def _relocated(draft: Draft, text: str) -> Draft:
    return replace(draft, reviews=tuple(relocate(draft.reviews, old=draft.text, new=text)))


def without_repeats(items: Iterable[ReviewItem]) -> list[ReviewItem]:
    """Each decision once, at its first place: a unit may hold the same passage with the same change twice."""
    places: dict[str, list[ReviewItem]] = {}
    for item in items:
        places.setdefault(item.id, []).append(item)
    return [_at_first(alike) for alike in places.values()]


def _at_first(alike: Sequence[ReviewItem]) -> ReviewItem:
    first = min(alike, key=lambda item: item.line)
    said = ", ".join(f"line {line}" for line in sorted({item.line for item in alike} - {first.line}))
    return replace(first, reason=f"{first.reason}; the same again at {said}") if said else first
