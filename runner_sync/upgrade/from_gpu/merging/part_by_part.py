"""The parts of a port that can stand alone, where the whole of it cannot run.

Comes in: a method of omni's, the merge of a port into it, and the names it may read. Goes out: the merge without the
passages that make it unsound, each of them a question. May touch: nothing.

A GPU runner may be rebuilt where NPU differs and also gain features elsewhere: a ``return`` too many at the top of
``sample_tokens`` says nothing against what came in 200 lines below.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import pairwise

from runner_sync import merge
from runner_sync.compose.soundness import Problem, endings, problems, unreachable
from runner_sync.confidence import CONTESTED
from runner_sync.statements import flatten, parses
from runner_sync.units import split_lines

LEAST = 0.5
"""Share of the changed lines that must be left; with fewer, one question about the whole port is better."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A run of statements in both texts, as lines: ``omni`` before and ``made`` after the merge; equal if unchanged."""

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
        """The 1-based first line of each part, and the line behind the last one."""
        at = [1]
        for k in range(len(self.parts)):
            at.append(at[-1] + len(self.lines(k)))
        return at

    def part_of(self, line: int) -> int:
        return max(k for k, start in enumerate(self.starts()[:-1]) if start <= line)


def what_can_run(omni: str, merged: merge.Merged, known: Collection[str]) -> merge.Merged | None:
    """The merge without those changed passages that make later statements unreachable; each becomes a decision.

    ``omni`` is the method before the port, ``merged`` after it, ``known`` are the names that it may read. ``None`` if
    too little of the change would be left, or if that has other problems: a name that is now set elsewhere means that
    the twin was rebuilt, and no part of that stands alone.
    """
    parts = _parts(omni, merged.text)
    before = problems(omni, known)
    attempt, why = _Attempt(parts, frozenset()), dict[int, Problem]()
    while found := problems(attempt.text, known) - before:
        blamed = _ending_early(attempt)
        if not blamed:
            return None
        why |= dict.fromkeys(blamed, min(found))
        attempt = replace(attempt, undone=attempt.undone | blamed)
        if not parses(attempt.text):
            return None
    if sum(parts[k].size for k in attempt.undone) > (1 - LEAST) * sum(part.size for part in parts):
        return None
    kept = _decisions_moved(merged.decisions, _Attempt(parts, frozenset()), attempt)
    asked = [_decision(attempt, k, why[k]) for k in sorted(attempt.undone)]
    return merge.Merged(attempt.text, tuple(sorted([*kept, *asked], key=lambda one: one.line)))


def _parts(omni: str, made: str) -> list[_Part]:
    """Both texts cut at statement boundaries into parts that correspond, by a diff of their statements.

    Comments alone cut nothing: what changed before and behind them is one change, which comes or stays out as a whole.
    """
    mine, theirs = list(_chunks(omni)), list(_chunks(made))
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    cuts = [(0, 0)]
    for word, i1, i2, j1, j2 in matcher.get_opcodes():
        if word == "equal" and not all(chunk.lstrip().startswith("#") for chunk in mine[i1:i2]):
            cuts += [(i1, j1), (i2, j2)]
    cuts.append((len(mine), len(theirs)))
    return [
        _Part(_lines(mine[i1:i2]), _lines(theirs[j1:j2]))
        for (i1, j1), (i2, j2) in pairwise(cuts)
        if (i1, j1) != (i2, j2)
    ]


def _lines(chunks: Iterable[str]) -> tuple[str, ...]:
    return tuple(line for chunk in chunks for line in split_lines(chunk))


def _chunks(text: str) -> Iterator[str]:
    """The lines of each statement, head of a compound statement or comment, with the blank lines after it."""
    lines = split_lines(text)
    starts = sorted({node.start for node in flatten(text)} | {1})
    for start, end in zip(starts, [*starts[1:], len(lines) + 1], strict=True):
        yield "".join(lines[start - 1 : end - 1])


def _ending_early(attempt: _Attempt) -> frozenset[int]:
    """Changed parts that end a suite early or have become unreachable; if there are none, the changed parts next to
    such."""
    lines = [*endings(attempt.text), *unreachable(attempt.text)]
    ends = {attempt.part_of(line) for line in lines}
    changed = {k for k, part in enumerate(attempt.parts) if part.is_change} - attempt.undone
    return frozenset(changed & ends or {k for k in changed if {k - 1, k + 1} & ends})


def _decisions_moved(decisions: Iterable[merge.Decision], was: _Attempt, now: _Attempt) -> Iterator[merge.Decision]:
    """The merge's decisions at their new lines; of an undone part only those that had left out what upstream has."""
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


def _decision(attempt: _Attempt, part: int, problem: Problem) -> merge.Decision:
    omni, made = (_text(lines) for lines in (attempt.parts[part].omni, attempt.parts[part].made))
    starts = attempt.starts()
    line, end = starts[part], max(starts[part], starts[part + 1] - 1)
    reason = merge.Reason("cannot run here", detail=str(problem))
    return merge.Decision(line, end, reason, CONTESTED, base="", omni=omni, upstream=made, chosen=omni)


def _text(lines: Iterable[str]) -> str:
    return textwrap.dedent("".join(lines)).strip("\n")
