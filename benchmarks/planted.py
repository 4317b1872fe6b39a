"""Plant upgrades in upstream's own history: real upstream changes, real omni code, a truth known by construction.

Comes in: versions of the runner module of vllm-ascend or vLLM, released omni runners that follow it. Goes out:
``Planted`` cases and their scores. May touch: what ``runner_sync.sources`` and the peers touch.

Omni's own changes are extracted from a released copy (``deltas``) and applied to the same method at two other
revisions. The older planting is the file to upgrade, the younger the truth. There are two kinds. *Additions* are whole
statements behind a line that occurs once. *Edits* are vllm-ascend lines that omni replaced or removed and that occur
once at both revisions, with the additions that still have a place. Changes that upstream made in part as well are left
out, because then the truth is unknown.

The benchmark proves that upstream's changes are carried over and omni's code stays in place, on changes that its
authors did not choose. It proves nothing about anchors that upstream removed or duplicated (left out by construction),
or about the GPU side.
"""

from __future__ import annotations

import ast
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Literal

from benchmarks.chunks import ConflictSide, count_conflicts, settle
from benchmarks.corpus import ALIKE, measure_likeness, open_tree, select_cases
from benchmarks.deltas import Delta, exchange, find_exchanges, find_insertions, plant, wrap_in_class
from benchmarks.peers import merge_file
from benchmarks.upstreams import Version, load_vllm_releases
from runner_sync import score
from runner_sync.model import Triple
from runner_sync.profile import BUILT_IN, GPU, NPU
from runner_sync.statements import parses
from runner_sync.sync import replaying
from runner_sync.sync.trees import inputs
from runner_sync.units import texts
from runner_sync.upgrade import ModuleJob, ModuleRevision, Upstream, upgrade_module

STEPS = (1, 5, 20, 60)
"""Revisions between the two plantings: from one commit to about a release and a half."""

TOOLS = ("git merge-file, omni side", "git merge-file, upstream side", "runner-sync")

Kind = Literal["additions", "edits"]

Name = Literal["npu", "gpu"]
"""The profile with the runners and the upstream."""

KINDS: tuple[Kind, ...] = ("additions", "edits")


@dataclass(frozen=True, slots=True)
class Planted:
    """One planted upgrade of one method over ``step`` revisions; ``modules`` are the whole upstream modules."""

    delta: Delta
    base_ref: str
    upstream_ref: str
    step: int
    texts: Triple
    truth: str
    blocks: int
    modules: tuple[str, str]
    profile: Name = "npu"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One tool on one planted upgrade; ``doubts`` are conflicts or review items."""

    tool: str
    step: int
    effort_left: float
    done: bool
    doubts: int
    broken: bool
    seconds: float


def load_deltas(profile: Name = "npu") -> tuple[Delta, ...]:
    """Return omni's own changes in every copied method of the corpus's old releases."""
    return _load_npu_deltas() if profile == "npu" else _load_gpu_deltas()


@cache
def _load_gpu_deltas() -> tuple[Delta, ...]:
    """Return the changes of the GPU runners against the closest vLLM release per method, because they lag behind."""
    versions = load_vllm_releases()
    found: list[Delta] = []
    for case in replaying.cases(Path(__file__).parent / "gpu.toml"):
        for module in GPU.runners:
            place = inputs.read_first(open_tree("vllm-omni", case.omni_before), module.paths)
            for name, text in texts.members(place[1], module.name, place[0]).items() if place else ():
                known = [version.methods[name] for version in versions if name in version.methods]
                base = max(known, key=lambda one: measure_likeness(one, text), default="")
                if base and measure_likeness(base, text) >= ALIKE:
                    found.append(_lift(case.omni_before, name, base, text))
    return tuple(found)


@cache
def _load_npu_deltas() -> tuple[Delta, ...]:
    found: list[Delta] = []
    for case in select_cases():
        path = NPU.modules[0].anchor.path
        known = texts.members(open_tree("vllm-ascend", case.ascend_base).read(path) or "", "NPUModelRunner", path)
        for module in NPU.runners:
            place = inputs.read_first(open_tree("vllm-omni", case.omni_before), module.paths)
            for name, text in texts.members(place[1], module.name, place[0]).items() if place else ():
                if name in known and measure_likeness(known[name], text) >= ALIKE:
                    found.append(_lift(case.omni_before, name, known[name], text))
    return tuple(found)


def _lift(omni: str, method: str, base: str, text: str) -> Delta:
    return Delta(omni, method, tuple(find_insertions(base, text)), tuple(find_exchanges(base, text)))


def build(delta: Delta, base: Version, upstream: Version, *, step: int, kind: Kind = "additions") -> Planted | None:
    """Return the planted upgrade of one method, or ``None`` if upstream changed nothing or no omni change has a
    place."""
    old, new = (version.methods.get(delta.method) for version in (base, upstream))
    if (
        old is None
        or new is None
        or score.unparse_methods(wrap_in_class(old)) == score.unparse_methods(wrap_in_class(new))
    ):
        return None
    before, truth, edits = old, new, 0
    upstream_new = {line.strip() for line in new.split("\n")} - {line.strip() for line in old.split("\n")}
    if kind == "edits":
        own = [one for one in delta.exchanges if not upstream_new.intersection(line.strip() for line in one.new)]
        fitting = [one for one in own if exchange(old, [one]) and exchange(new, [one])]
        edited, edited_truth = exchange(old, fitting), exchange(new, fitting)
        if not fitting or edited is None or edited_truth is None:
            return None
        before, truth, edits = edited, edited_truth, len(fitting)
    candidates = [one for one in delta.insertions if not upstream_new.intersection(line.strip() for line in one.lines)]
    added = [one for one in candidates if plant(before, [one]) and plant(truth, [one])]
    planted = plant(before, added), plant(truth, added)
    if planted[0] is None or planted[1] is None or not (added or edits):
        return None
    texts_ = Triple(old, planted[0], new)
    profile: Name = "npu" if base.name == "NPUModelRunner" else "gpu"
    modules = base.text, upstream.text
    return Planted(
        delta, base.ref, upstream.ref, step, texts_, planted[1], len(added) + edits, modules, profile=profile
    )


def sample(
    versions: Sequence[Version], count: int, *, kind: Kind = "additions", seed: int = 0, steps: Sequence[int] = STEPS
) -> list[Planted]:
    """Draw ``count`` planted upgrades with a fixed seed, equally many per step (fewer if history is short)."""
    drawn = random.Random(seed)
    found: list[Planted] = []
    known = load_deltas("npu" if versions[0].name == "NPUModelRunner" else "gpu")
    for step in steps:
        places = [(k, delta) for k in range(max(0, len(versions) - step)) for delta in known]
        drawn.shuffle(places)
        made = (build(delta, versions[k], versions[k + step], step=step, kind=kind) for k, delta in places)
        hits = (planted for planted in made if planted is not None)
        found += [planted for planted, _ in zip(hits, range(count // len(steps)), strict=False)]
    return found


def score_tools(planted: Planted) -> list[Outcome]:
    """Run all tools on one planted upgrade; each is given the right base."""
    started = time.perf_counter()
    parts = merge_file([planted.texts])[0]
    seconds = time.perf_counter() - started
    sides: tuple[ConflictSide, ...] = ("omni", "upstream")
    found = []
    for side in sides:
        text = settle(parts, side)
        found.append(_score(f"git merge-file, {side} side", planted, text, count_conflicts(parts), seconds))
    started = time.perf_counter()
    text, doubts = _upgrade(planted)
    seconds = time.perf_counter() - started
    return [*found, _score("runner-sync", planted, text, doubts, seconds, whole=True)]


def _upgrade(planted: Planted) -> tuple[str, int]:
    """Return the upgraded module and its number of review items; invalid Python if the tool fails on its own output."""
    try:
        result = upgrade_module(_make_job(planted))
    except SyntaxError as error:
        return f"failed: {error}", 0
    return result.after, len(result.reviews)


def _make_job(planted: Planted) -> ModuleJob:
    profile = BUILT_IN[planted.profile]
    module, (base, upstream) = profile.modules[0], planted.modules
    new = ModuleRevision(planted.upstream_ref, upstream, module.anchor.path)
    old = ModuleRevision(planted.base_ref, base, module.anchor.path)
    text = extract_imports(base) + wrap_in_class(planted.texts.omni, module.name)
    return ModuleJob(profile, module, module.paths[0], text, Upstream(new=new, bases=(old, new)))


@cache
def extract_imports(text: str) -> str:
    """Return the module-level imports of ``text``, which a copy of one of its methods needs too."""
    found = [node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return "".join(f"{ast.unparse(node)}\n" for node in found)


def _score(tool: str, planted: Planted, text: str, doubts: int, seconds: float, *, whole: bool = False) -> Outcome:
    name = BUILT_IN[planted.profile].modules[0].name
    before, truth = wrap_in_class(planted.texts.omni, name), wrap_in_class(planted.truth, name)
    broken = not parses(text)
    made = before if broken else text if whole else wrap_in_class(text, name)
    # Scores methods only, because there is no truth for the imports that runner-sync adds.
    total = score.score_kept(*map(_normalise_hints, (before, made, truth)))
    return Outcome(tool, planted.step, total.effort_left, total.left == 0, doubts, broken, seconds)


def _normalise_hints(text: str) -> str:
    """Return ``text`` with ``X | None`` for every ``Optional[X]`` and unquoted types, because plants mix both
    spellings."""
    return ast.unparse(_Unions().visit(ast.parse(text)))


class _Unions(ast.NodeTransformer):
    def visit_arg(self, node: ast.arg) -> ast.arg:
        match node.annotation:
            case ast.Constant(value=str(quoted)):
                node.annotation = ast.parse(quoted, mode="eval").body
        self.generic_visit(node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Subscript(value=ast.Name(id="Optional")):
                return ast.BinOp(node.slice, ast.BitOr(), ast.Constant(None))
            case ast.Subscript(value=ast.Name(id="Union"), slice=ast.Tuple(elts=[first, *others])):
                for other in others:
                    first = ast.BinOp(first, ast.BitOr(), other)
                return first
        return node


@dataclass(frozen=True, slots=True)
class Summary:
    """The mean of one tool over planted upgrades.

    ``done`` is the share of results equal to the truth, ``unasked`` the share of wrong results without a conflict or
    review item.
    """

    tool: str
    step: int | None
    cases: int
    effort_left: float
    done: float
    unasked: float
    doubts: float
    broken: int


def summarise(rows: Sequence[Outcome], *, step: int | None = None) -> list[Summary]:
    """Return one summary per tool, of one step or of all."""
    found = []
    for tool in TOOLS:
        tool_rows = [row for row in rows if row.tool == tool and step in (None, row.step)]
        if tool_rows:
            found.append(
                Summary(
                    tool,
                    step,
                    len(tool_rows),
                    fmean(row.effort_left for row in tool_rows),
                    fmean(row.done for row in tool_rows),
                    fmean(not row.done and not row.doubts for row in tool_rows),
                    fmean(row.doubts for row in tool_rows),
                    sum(row.broken for row in tool_rows),
                )
            )
    return found


def count_by_method(cases: Sequence[Planted]) -> Mapping[str, int]:
    """Return the number of cases per method."""
    names = [planted.delta.method for planted in cases]
    return {name: names.count(name) for name in sorted(set(names))}
