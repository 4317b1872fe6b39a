"""The parts of a port that can stand alone, where all of it together cannot run.

Comes in: a method of omni's, the merge of a port into it, and what the method may read. Goes out: the merge without
the passages that make it unsound, each of them a question. May touch: nothing.

A GPU runner is rebuilt in places that NPU has otherwise, and gains features in the others: one return too many at the
top of ``sample_tokens`` says nothing about what came in 200 lines below.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from runner_sync import merge
from runner_sync.compose.soundness import Problem, endings, problems, unreachable
from runner_sync.confidence import CONTESTED
from runner_sync.statements import flatten, parses
from runner_sync.units import split_lines

LEAST = 0.5
"""Share of the changed lines that must be left for a part to be worth more than a question about the whole."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A run of statements: as omni has them, as the merge has them, in lines; equal where the merge changed nothing."""

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
    """The parts, and which of them stand as omni has them."""

    parts: Sequence[_Part]
    undone: frozenset[int]

    @property
    def text(self) -> str:
        return "".join(line for k in range(len(self.parts)) for line in self.lines(k))

    def lines(self, part: int) -> tuple[str, ...]:
        return self.parts[part].omni if part in self.undone else self.parts[part].made

    def starts(self) -> list[int]:
        """The 1-based line of each part, and of the end."""
        at = [1]
        for k in range(len(self.parts)):
            at.append(at[-1] + len(self.lines(k)))
        return at

    def part_of(self, line: int) -> int:
        return max(k for k, start in enumerate(self.starts()[:-1]) if start <= line)


def what_can_run(omni: str, merged: merge.Merged, known: Collection[str]) -> merge.Merged | None:
    """The merge without the changed passages that leave statements behind them which would never run; a decision for
    each.

    ``omni`` is the method before the port, ``merged`` after it, and ``known`` are the names that it may read. ``None``
    where too little of the change would be left, and where the rest has other problems: a name that is set elsewhere
    now says that the twin was rebuilt, and no part of that stands alone.
    """
    parts = _parts(omni, merged.text)
    before = problems(omni, known)
    attempt, why = _Attempt(parts, frozenset()), dict[int, Problem]()
    while found := problems(attempt.text, known) - before:
        blamed = _ending_early(attempt)
        if not blamed or any(problem.kind != "idle" for problem in found):
            return None
        why |= dict.fromkeys(blamed, min(found))
        attempt = replace(attempt, undone=attempt.undone | blamed)
        if not parses(attempt.text):
            return None
    if sum(parts[k].size for k in attempt.undone) > (1 - LEAST) * sum(part.size for part in parts):
        return None
    kept = _moved(merged.decisions, _Attempt(parts, frozenset()), attempt)
    asked = [_decision(attempt, k, why[k]) for k in sorted(attempt.undone)]
    return merge.Merged(attempt.text, tuple(sorted([*kept, *asked], key=lambda one: one.line)))


def _parts(omni: str, made: str) -> list[_Part]:
    """Both texts cut into the same number of parts, by whole statements."""
    mine, theirs = list(_chunks(omni)), list(_chunks(made))
    matcher = SequenceMatcher(None, mine, theirs, autojunk=False)
    return [_Part(_lines(mine[i1:i2]), _lines(theirs[j1:j2])) for _, i1, i2, j1, j2 in matcher.get_opcodes()]


def _lines(chunks: Iterable[str]) -> tuple[str, ...]:
    return tuple(line for chunk in chunks for line in split_lines(chunk))


def _chunks(text: str) -> Iterator[str]:
    """The lines of each statement, head or comment, with the blank lines behind it."""
    lines = split_lines(text)
    starts = sorted({node.start for node in flatten(text)} | {1})
    for start, end in zip(starts, [*starts[1:], len(lines) + 1], strict=True):
        yield "".join(lines[start - 1 : end - 1])


def _ending_early(attempt: _Attempt) -> frozenset[int]:
    """The changed parts that leave a suite which goes on, or that stand behind such an end; else those beside it."""
    lines = [*endings(attempt.text), *unreachable(attempt.text)]
    ends = {attempt.part_of(line) for line in lines}
    changed = {k for k, part in enumerate(attempt.parts) if part.is_change} - attempt.undone
    return frozenset(changed & ends or {k for k in changed if {k - 1, k + 1} & ends})


def _moved(decisions: Iterable[merge.Decision], was: _Attempt, now: _Attempt) -> Iterator[merge.Decision]:
    """The decisions about what is left, and about what was left out before, at the lines where that stands now."""
    old, new = was.starts(), now.starts()
    for decision in decisions:
        part = was.part_of(decision.line)
        if part not in now.undone:
            by = new[part] - old[part]
            yield replace(decision, line=decision.line + by, end_line=decision.end_line + by)
        elif not decision.chosen:
            yield replace(decision, line=new[part], end_line=new[part])


def _decision(attempt: _Attempt, part: int, problem: Problem) -> merge.Decision:
    omni, made = (_text(lines) for lines in (attempt.parts[part].omni, attempt.parts[part].made))
    starts = attempt.starts()
    line, end = starts[part], max(starts[part], starts[part + 1] - 1)
    reason = merge.Reason("cannot run here", detail=str(problem))
    return merge.Decision(line, end, reason, CONTESTED, base="", omni=omni, upstream=made, chosen=omni)


def _text(lines: Iterable[str]) -> str:
    return textwrap.dedent("".join(lines)).strip("\n")
