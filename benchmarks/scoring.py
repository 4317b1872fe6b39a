"""Rows of the quality table, with the same score for every tool (``runner_sync.score``).

Comes in: module texts. Goes out: ``Row`` values. May touch: what ``score`` touches.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from benchmarks.chunks import ConflictSide, Part, count_conflicts, find_conflict_spans, settle
from benchmarks.corpus import Problem, Runner, iter_copies
from benchmarks.peers import Tool
from runner_sync import score
from runner_sync.model import ReplayRow, Triple
from runner_sync.statements import parse_unit, parses
from runner_sync.units.changing import replace_units
from runner_sync.units.listing import record_classes
from runner_sync.units.pieces import join
from runner_sync.units.texts import parsed


@dataclass(frozen=True, slots=True)
class Row:
    """One tool on one case.

    ``precision`` is ``None`` if the tool changed nothing; ``broken`` counts results (units or files) that did not parse
    and were replaced by omni's text; ``seconds`` is wall time.
    """

    tool: str
    case: str
    work: int
    left: int
    effort_left: float
    kept: float
    recall: float
    precision: float | None
    silent: int
    conflicts: int
    broken: int
    parses: bool = True
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """A tool's result for one runner; ``shown`` are the unparsed lines in its conflicts."""

    text: str
    conflicts: int = 0
    broken: int = 0
    shown: frozenset[str] = frozenset()


def score_nothing(problem: Problem) -> Row:
    """Return the row of a maintainer who has not started."""
    return score_outputs("nothing", problem, [ToolOutput(runner.before) for runner in problem.runners])


def score_tool(tool: Tool, problem: Problem, sides: Sequence[ConflictSide]) -> list[Row]:
    """Return a tool's row for each way of settling conflicts."""
    assert tool.merge is not None
    started = time.perf_counter()
    jobs = [_list_jobs(tool, runner) for runner in problem.runners]
    merged = [tool.merge([triple for _, triple in job]) for job in jobs]
    seconds = time.perf_counter() - started
    found = []
    for side in sides:
        made = [
            _compose(tool, runner, [name for name, _ in job], parts, side)
            for runner, job, parts in zip(problem.runners, jobs, merged, strict=True)
        ]
        found.append(replace(score_outputs(f"{tool.name}, {side} side", problem, made), seconds=seconds))
    return found


def _list_jobs(tool: Tool, runner: Runner) -> list[tuple[str, Triple]]:
    if tool.whole_files:
        return [("", Triple(runner.base, runner.before, runner.upstream))]
    return list(iter_copies(runner))


def edit_units(text: str, edits: Mapping[str, str | None], path: str) -> str:
    """Return ``text`` with some of its units replaced."""
    module = parsed(text, path)
    return join(replace_units(module, edits, whole=frozenset(record_classes(module))))


def _compose(
    tool: Tool, runner: Runner, names: Sequence[str], merged: Sequence[tuple[Part, ...]], side: ConflictSide
) -> ToolOutput:
    edits = {name: settle(parts, side) for name, parts in zip(names, merged, strict=True)}
    good = {name: text for name, text in edits.items() if parses(text)}
    if tool.whole_files:
        text = good.get("", runner.before)
    else:
        text = edit_units(runner.before, good, runner.path)
    return ToolOutput(
        text,
        sum(count_conflicts(parts) for parts in merged),
        len(edits) - len(good),
        frozenset(line for parts in merged for line in iter_shown_lines(parts)),
    )


def score_outputs(tool: str, problem: Problem, made: Sequence[ToolOutput]) -> Row:
    """Score a tool's results for every runner of a case."""
    total, kept, silent = score.Score(), score.Score(), 0
    for runner, one in zip(problem.runners, made, strict=True):
        total += score.score_module(runner.before, one.text, runner.truth)
        kept += score.score_kept(runner.before, one.text, runner.truth)
        silent += count_silent_lines(runner, one)
    return Row(
        tool,
        problem.id,
        total.work,
        total.left,
        total.effort_left,
        kept.effort_left,
        total.recall,
        total.precision if total.done else None,
        silent,
        sum(one.conflicts for one in made),
        sum(one.broken for one in made),
        all(parses(one.text) for one in made),
    )


def count_silent_lines(runner: Runner, made: ToolOutput) -> int:
    """Return the number of lines that the tool changed, people did not, and no conflict shows."""
    old, new, truth = (score.normalise(text) for text in (runner.before, made.text, runner.truth))
    wrong = score.changed_lines(old, new) - score.changed_lines(old, truth)
    return sum(count for (_, line), count in wrong.items() if line.strip() not in made.shown)


def iter_shown_lines(parts: Sequence[Part]) -> Iterator[str]:
    """Yield the unparsed lines of the statements that a conflict touches, on either side."""
    for side in ("omni", "upstream"):
        text, inside = settle(parts, side), find_conflict_spans(parts, side)
        tree = _parse(text)
        if tree is None:
            lines = text.split("\n")
            yield from (line.strip() for start, end in inside for line in lines[start - 1 : end])
        else:
            yield from _iter_touched(tree, inside)


def _iter_touched(tree: ast.Module, inside: Sequence[tuple[int, int]]) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt | ast.excepthandler):
            continue
        body = getattr(node, "body", None)
        last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
        if any(start <= max(last, node.lineno) and node.lineno <= end for start, end in inside):
            lines = [line.strip() for line in ast.unparse(node).split("\n")]
            yield from lines[:1] if body else lines


def _parse(text: str) -> ast.Module | None:
    try:
        return parse_unit(text)
    except SyntaxError:
        return None


def from_replay(tool: str, scored: ReplayRow) -> Row:
    """Return the row of an upgrade that ``replay`` scored."""
    return Row(
        tool,
        scored.case,
        scored.work,
        scored.left,
        scored.effort_left,
        scored.kept,
        scored.recall,
        scored.precision,
        scored.silent,
        scored.reviews,
        0,
        scored.parses,
        scored.seconds,
    )


def average(rows: Iterable[Row]) -> Row:
    """Return the mean row of one tool: unweighted means of rates (as in ``replay``), sums of counts."""
    given = list(rows)
    known = [one.precision for one in given if one.precision is not None]
    return Row(
        given[0].tool,
        "mean",
        sum(one.work for one in given),
        sum(one.left for one in given),
        fmean(one.effort_left for one in given),
        fmean(one.kept for one in given),
        fmean(one.recall for one in given),
        fmean(known) if known else None,
        sum(one.silent for one in given),
        sum(one.conflicts for one in given),
        sum(one.broken for one in given),
        all(one.parses for one in given),
        sum(one.seconds for one in given),
    )
