"""Keeps the parts of a port that can run if the whole port cannot.

Comes in: an omni method, the merge of a port into it, and the names it may read. Goes out: the merge without the
passages that make it unsound, with a question for each. May touch: nothing.

A GPU runner may be rebuilt in a place where NPU differs and gain features elsewhere: a surplus ``return`` at the top of
``sample_tokens`` does not invalidate changes 200 lines below.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise

from runner_sync import merge
from runner_sync.confidence import CONTESTED
from runner_sync.statements import flatten, parses
from runner_sync.texts.soundness import Problem, find_endings, find_problems, find_unreachable
from runner_sync.units import split_lines

LEAST = 0.5
"""Smallest share of changed lines to keep; below it, one question about the whole port is better."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A run of statements as lines: ``omni`` before and ``made`` after the merge; equal if unchanged."""

    omni: tuple[str, ...]
    made: tuple[str, ...]

    @property
    def is_change(self) -> bool:
        return self.omni != self.made

    @property
    def size(self) -> int:
        return len(self.omni) + len(self.made) if self.is_change else 0


@dataclass(frozen=True, slots=True)
class _Attempt:
    """All parts, and the indices of those that are undone, that is, kept as omni has them."""

    parts: Sequence[_Part]
    undone: frozenset[int]

    @property
    def text(self) -> str:
        return "".join(line for k in range(len(self.parts)) for line in self.lines(k))

    def lines(self, part: int) -> tuple[str, ...]:
        return self.parts[part].omni if part in self.undone else self.parts[part].made

    def starts(self) -> list[int]:
        """Return the 1-based first line of each part, and the line behind the last one."""
        at = [1]
        for k in range(len(self.parts)):
            at.append(at[-1] + len(self.lines(k)))
        return at

    def part_of(self, line: int) -> int:
        return max(k for k, start in enumerate(self.starts()[:-1]) if start <= line)


def keep_runnable_parts(omni: str, merged: merge.Merged, known: Collection[str]) -> merge.Merged | None:
    """Undo changed passages that make later statements unreachable; each becomes a decision.

    ``omni`` is the method before the port, ``merged`` after it; ``known`` are the names that it may read. Returns
    ``None`` if too little of the change would remain, or if the result has other problems: a name that is now set
    elsewhere means that the twin was rebuilt and no part stands alone.
    """
    parts = _split_into_parts(omni, merged.text)
    before = find_problems(omni, known)
    attempt, why = _Attempt(parts, frozenset()), dict[int, Problem]()
    while found := find_problems(attempt.text, known) - before:
        blamed = _find_parts_ending_early(attempt)
        if not blamed:
            return None
        why |= dict.fromkeys(blamed, min(found))
        attempt = replace(attempt, undone=attempt.undone | blamed)
        if not parses(attempt.text):
            return None
    if sum(parts[k].size for k in attempt.undone) > (1 - LEAST) * sum(part.size for part in parts):
        return None
    kept = _move_decisions(merged.decisions, _Attempt(parts, frozenset()), attempt)
    asked = [_make_decision(attempt, k, why[k]) for k in sorted(attempt.undone)]
    return merge.Merged(attempt.text, tuple(sorted([*kept, *asked], key=lambda one: one.line)))


def _split_into_parts(omni: str, made: str) -> list[_Part]:
    """Split both texts at statement boundaries into corresponding parts, by a diff of their statements.

    Comments alone do not split: changes around unchanged comments are one change, taken or left out as a whole.
    """
    mine, theirs = list(_split_statements(omni)), list(_split_statements(made))
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    cuts = [(0, 0)]
    for word, i1, i2, j1, j2 in matcher.get_opcodes():
        if word == "equal" and not all(chunk.lstrip().startswith("#") for chunk in mine[i1:i2]):
            cuts += [(i1, j1), (i2, j2)]
    cuts.append((len(mine), len(theirs)))
    return [
        _Part(_split_chunks(mine[i1:i2]), _split_chunks(theirs[j1:j2]))
        for (i1, j1), (i2, j2) in pairwise(cuts)
        if (i1, j1) != (i2, j2)
    ]


def _split_chunks(chunks: Iterable[str]) -> tuple[str, ...]:
    return tuple(line for chunk in chunks for line in split_lines(chunk))


def _split_statements(text: str) -> Iterator[str]:
    """Yield the lines of each statement, compound head or comment, with the blank lines after it."""
    lines = split_lines(text)
    starts = sorted({node.start for node in flatten(text)} | {1})
    for start, end in zip(starts, [*starts[1:], len(lines) + 1], strict=True):
        yield "".join(lines[start - 1 : end - 1])


def _find_parts_ending_early(attempt: _Attempt) -> frozenset[int]:
    """Return changed parts that end a suite early or have become unreachable, or else changed parts next to such."""
    lines = [*find_endings(attempt.text), *find_unreachable(attempt.text)]
    ends = {attempt.part_of(line) for line in lines}
    changed = {k for k, part in enumerate(attempt.parts) if part.is_change} - attempt.undone
    return frozenset(changed & ends or {k for k in changed if {k - 1, k + 1} & ends})


def _move_decisions(decisions: Iterable[merge.Decision], was: _Attempt, now: _Attempt) -> Iterator[merge.Decision]:
    """Move the merge's decisions to their new lines.

    In an undone part, keeps only decisions that left out upstream statements.
    """
    old, new = was.starts(), now.starts()
    for decision in decisions:
        part = was.part_of(decision.line)
        if part not in now.undone:
            by = new[part] - old[part]
            yield replace(decision, line=decision.line + by, end_line=decision.end_line + by)
        elif decision.upstream and decision.chosen != decision.upstream:
            rows = [line.strip() for line in now.lines(part)]
            first = decision.chosen.split("\n")[0].strip()
            line = new[part] + (rows.index(first) if first and first in rows else 0)
            yield replace(decision, line=line, end_line=line)


def _make_decision(attempt: _Attempt, part: int, problem: Problem) -> merge.Decision:
    omni, made = (_dedent(lines) for lines in (attempt.parts[part].omni, attempt.parts[part].made))
    starts = attempt.starts()
    line, end = starts[part], max(starts[part], starts[part + 1] - 1)
    reason = merge.Reason("cannot run here", detail=str(problem))
    return merge.Decision(line, end, reason, CONTESTED, base="", omni=omni, upstream=made, chosen=omni)


def _dedent(lines: Iterable[str]) -> str:
    return textwrap.dedent("".join(lines)).strip("\n")
