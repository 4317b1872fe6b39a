"""Plant ports in released runners: real GPU code that people ported is removed from both sides, one piece at a time.

Comes in: releases of vllm-omni. Goes out: ``Plant`` cases and a table. May touch: what ``runner_sync.sources`` and git
touch.

There are two kinds, each within one method of a GPU runner and its NPU twin. *Passages*: one, two or four statements in
both runners, but in neither vllm-ascend nor vLLM, are removed from both. *Changes*: what the GPU runner changed since
the release before is reverted in both, if the new lines occur once in the NPU method. The GPU side then gains the
removed code, and the released NPU module is the truth.

The benchmark proves that a GPU runner's new code arrives where people put it, among NPU's own lines, and nothing else
with it. It proves nothing about passages that NPU needs in other words, because only common lines are planted.
"""

from __future__ import annotations

import ast
import random
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import islice, pairwise, takewhile
from typing import Literal

from benchmarks import corpus, debts, tables
from benchmarks.chunks import SIDES, count_conflicts, settle
from benchmarks.peers import merge_file
from runner_sync import score
from runner_sync.edits import margin
from runner_sync.model import Project, Triple
from runner_sync.profile import ASCEND_RUNNER, NPU, RunnerModule
from runner_sync.statements import parses
from runner_sync.sync.trees import inputs
from runner_sync.syntax import blocks_of, statements_of
from runner_sync.units import texts
from runner_sync.upgrade import GpuBase, GpuTwin, ModuleJob, ModuleRevision, Settings, Upstream, upgrade_module

PASSAGES = 200
"""The number of passages drawn, of a few thousand."""

LENGTHS = (1, 2, 4)
"""The numbers of statements in a passage."""

TELLING = 12
"""A stripped line with more characters shows its origin; ``else:`` and ``)`` occur everywhere."""

SHORT = 25
"""A passage must have a statement line with more characters."""

Kind = Literal["passages", "changes"]


@dataclass(frozen=True, slots=True)
class Runner:
    """One NPU runner of a release, its GPU twin, and the vllm-ascend and vLLM that it was made for."""

    release: str
    ascend: str
    module: RunnerModule
    path: str
    npu: str
    gpu: str

    def iter_methods(self) -> Iterator[tuple[str, str, str]]:
        """Yield name, GPU text and NPU text of each common method."""
        assert self.module.gpu is not None
        gpu = texts.members(self.gpu, self.module.gpu.name, self.module.gpu.path)
        npu = texts.members(self.npu, self.module.name, self.path)
        yield from ((name, gpu[name], npu[name]) for name in gpu if name in npu)

    def find_upstream_lines(self) -> frozenset[str]:
        """Return the telling lines of the runners of vllm-ascend and vLLM, which may be the source of a change."""
        vllm = corpus.open_tree("vllm", debts.get_vllm_version(self.release)).read(NPU.vllm_of(self.module).path)
        ascend = corpus.open_tree("vllm-ascend", self.ascend).read(ASCEND_RUNNER)
        lines = (line.strip() for text in (ascend, vllm) for line in (text or "").split("\n"))
        return frozenset(line for line in lines if len(line) > TELLING)


@dataclass(frozen=True, slots=True)
class Plant:
    """One planted port of ``method``: the texts without and with the code, on the GPU side and on NPU."""

    kind: Kind
    runner: Runner
    method: str
    gpu: tuple[str, str]
    npu: tuple[str, str]


def load_runners() -> Iterator[Runner]:
    """Yield the runners of every release, oldest release first. Raises ``InputError``."""
    for release, ascend in debts.RELEASES:
        tree = corpus.open_tree("vllm-omni", release)
        for module in NPU.runners:
            place = inputs.read_first(tree, module.paths)
            gpu = tree.read(module.gpu.path) if module.gpu is not None else None
            if place is not None and gpu is not None:
                yield Runner(release, ascend, module, place[0], place[1], gpu)


# --- passages


@dataclass(frozen=True, slots=True)
class _Passage:
    """The lines of a passage in the GPU method and in the NPU method."""

    runner: Runner
    method: str
    gpu: str
    npu: str
    lines: range
    npu_lines: range

    def make_plant(self) -> Plant | None:
        """Return the plant without the passage; ``None`` if the rest is not Python."""
        gpu, npu = _remove_lines(self.gpu, self.lines), _remove_lines(self.npu, self.npu_lines)
        if gpu is None or npu is None:
            return None
        return Plant("passages", self.runner, self.method, (gpu, self.gpu), (npu, self.npu))


def iter_passages(runner: Runner) -> Iterator[_Passage]:
    """Yield every passage of every method."""
    elsewhere = runner.find_upstream_lines()
    for method, gpu, npu in runner.iter_methods():
        rows = gpu.split("\n")
        for lines, other in _match_runs(list(_iter_runs(gpu)), list(_iter_runs(npu))):
            stripped = {line.strip() for line in rows[lines.start - 1 : lines.stop - 1]}
            if not stripped & elsewhere and any(len(line) > SHORT for line in stripped):
                yield _Passage(runner, method, gpu, npu, lines, other)


def _iter_runs(method: str) -> Iterator[tuple[tuple[str, ...], range]]:
    """Yield runs of sibling statements as canonical texts, with their lines; skips runs with a ``return`` and whole
    suites."""
    (function,) = ast.parse(textwrap.dedent(method)).body
    assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
    inner = (suite for node in statements_of(function.body) for suite in blocks_of(node))
    for suite in (function.body, *inner):
        for at in range(len(suite)):
            for length in LENGTHS:
                run = suite[at : at + length]
                if len(run) == length < len(suite) and not any(isinstance(one, ast.Return) for one in run):
                    yield tuple(map(ast.unparse, run)), range(run[0].lineno, (run[-1].end_lineno or 0) + 1)


_Run = tuple[tuple[str, ...], range]


def _match_runs(runs: Sequence[_Run], others: Sequence[_Run]) -> Iterator[tuple[range, range]]:
    """Yield the lines of runs that occur exactly once in each of two methods."""
    counts = Counter(text for text, _ in runs), Counter(text for text, _ in others)
    other_lines = dict(others)
    yield from ((lines, other_lines[text]) for text, lines in runs if counts[0][text] == counts[1][text] == 1)


def _remove_lines(method: str, lines: range) -> str | None:
    """Return a method without some lines and the comments above them; ``None`` if the rest is not Python."""
    rows = method.split("\n")
    above = rows[: lines.start - 1]
    remarks = len(list(takewhile(_is_remark, reversed(above))))
    made = "\n".join([*above[: len(above) - remarks], *rows[lines.stop - 1 :]])
    return made if parses(made) else None


def _is_remark(line: str) -> bool:
    """Whether a line is a comment about the next line, not a marker."""
    return line.lstrip().startswith("# ") and "Omni-new" not in line and "---" not in line


# --- changes


def iter_changes(older: Runner, runner: Runner) -> Iterator[Plant]:
    """Yield what a GPU runner changed since an older release, per method."""
    before = {name: gpu for name, gpu, _ in older.iter_methods()}
    elsewhere = runner.find_upstream_lines()
    for method, gpu, npu in runner.iter_methods():
        reverted = (gpu, npu)
        for new, old in _iter_hunks(before.get(method, gpu), gpu):
            back = tuple(_revert_hunk(text, new, old) for text in reverted)
            if back[0] is not None and back[1] is not None and not elsewhere.intersection(_strip_lines([*new, *old])):
                reverted = back[0], back[1]
        if score.unparse_methods(_wrap_in_class(reverted[1])) != score.unparse_methods(_wrap_in_class(npu)):
            yield Plant("changes", runner, method, (reverted[0], gpu), (reverted[1], npu))


def _iter_hunks(before: str, now: str) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the new and old lines of each hunk; a pure deletion includes one line of context on either side."""
    old, new = before.split("\n"), now.split("\n")
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        context = 0 if any(_strip_lines(new[j1:j2])) else 1
        if (
            tag != "equal"
            and context <= min(i1, j1)
            and any(len(x) > TELLING for x in _strip_lines(new[j1:j2] + old[i1:i2]))
        ):
            yield new[j1 - context : j2 + context], old[i1 - context : i2 + context]


def _revert_hunk(text: str, new: Sequence[str], old: Sequence[str]) -> str | None:
    """Return ``text`` with ``new`` replaced by ``old`` at the same indentation; ``None`` if ``new`` is not unique or
    the result is not Python."""
    rows = text.split("\n")
    wanted = _strip_lines(new)
    places = [k for k in range(len(rows) - len(new) + 1) if _strip_lines(rows[k : k + len(new)]) == wanted]
    if len(places) != 1:
        return None
    first = next((k for k, line in enumerate(new) if line.strip()), 0)
    deeper = _get_indent(rows[places[0] + first]) - _get_indent(new[first])
    made = [" " * (_get_indent(line) + deeper) + line.lstrip() if line.strip() else "" for line in old]
    rows[places[0] : places[0] + len(new)] = made
    exchanged = "\n".join(rows)
    return exchanged if parses(exchanged) else None


def _strip_lines(lines: Iterable[str]) -> list[str]:
    return [line.strip() for line in lines]


def _get_indent(line: str) -> int:
    return len(margin(line))


# --- outcomes


@dataclass(frozen=True, slots=True)
class Outcome:
    """One tool on one plant: whether the method equals the released one, and its conflicts or review items."""

    tool: str
    kind: Kind
    done: bool
    doubts: int


def score_tools(plant: Plant) -> list[Outcome]:
    """Run git and runner-sync on one plant."""
    old, new = plant.gpu
    parts = merge_file([Triple(old, plant.npu[0], new)])[0]
    found = []
    for side in SIDES:
        is_done = _is_alike(settle(parts, side), plant.npu[1])
        found.append(Outcome(f"git merge-file, {side} side", plant.kind, is_done, count_conflicts(parts)))
    result = upgrade_module(_make_job(plant))
    made = texts.members(result.after, plant.runner.module.name, result.path)
    is_done = _is_alike(made.get(plant.method, ""), plant.npu[1])
    return [*found, Outcome("runner-sync", plant.kind, is_done, len(result.reviews))]


def _is_alike(made: str, truth: str) -> bool:
    return parses(made) and score.unparse_methods(_wrap_in_class(made)) == score.unparse_methods(_wrap_in_class(truth))


def _wrap_in_class(method: str) -> str:
    return f"class _:\n{method.rstrip()}\n"


def _make_job(plant: Plant) -> ModuleJob:
    runner, module = plant.runner, plant.runner.module
    assert module.gpu is not None
    vllm = _load_revision("vllm", debts.get_vllm_version(runner.release), NPU.vllm_of(module).path)
    ascend = _load_revision("vllm-ascend", runner.ascend, module.anchor.path)
    before = runner.gpu.replace(plant.gpu[1], plant.gpu[0], 1)
    twin = GpuTwin(
        new=ModuleRevision(runner.release, runner.gpu, module.gpu.path),
        bases=(GpuBase(ModuleRevision("before", before, module.gpu.path), lambda: vllm),),
        load_vllm=lambda: vllm,
    )
    return ModuleJob(
        NPU,
        module,
        runner.path,
        runner.npu.replace(plant.npu[1], plant.npu[0], 1),
        Upstream(new=ascend, is_followed=False, bases=(ascend,)),
        twin,
        settings=Settings(only=(plant.method,)),
    )


def _load_revision(project: Project, version: str, path: str) -> ModuleRevision:
    return ModuleRevision(version, corpus.open_tree(project, version).read(path) or "", path)


def draw_plants(count: int = PASSAGES, *, seed: int = 0) -> list[Plant]:
    """Return ``count`` passages, drawn with a fixed seed, and every change. Raises ``InputError``."""
    known = list(load_runners())
    every = [passage for runner in known for passage in iter_passages(runner)]
    random.Random(seed).shuffle(every)
    taken_out = filter(None, (passage.make_plant() for passage in every))
    rows = {name: [runner for runner in known if runner.module.name == name] for name in {r.module.name for r in known}}
    changed = [plant for one in sorted(rows) for pair in pairwise(rows[one]) for plant in iter_changes(*pair)]
    return [*islice(taken_out, count), *changed]


def report() -> str:
    """Return the table as Markdown. Raises ``InputError``."""
    rows = [outcome for plant in draw_plants() for outcome in score_tools(plant)]
    head = ("planted", "tool", "plants", "exact", "wrong, asked about", "wrong unasked")
    cells = []
    for kind, tool in dict.fromkeys((row.kind, row.tool) for row in rows):
        matching = [row for row in rows if (row.kind, row.tool) == (kind, tool)]
        wrong = [row for row in matching if not row.done]
        unasked = sum(not row.doubts for row in wrong)
        cells.append(
            (kind, tool, *map(str, (len(matching), len(matching) - len(wrong), len(wrong) - unasked, unasked)))
        )
    return f"### Planted ports\n\n{tables.format_table(head, cells)}"
