"""Upgrades planted in vllm-ascend's own history: real upstream changes, real omni code, a truth known by construction.

Comes in: versions of vllm-ascend's runner module, released omni runners. Goes out: ``Planted`` cases and their scores.
May touch: what ``runner_sync.sources`` and the peers touch.

Omni's insertions are lifted out of a released copy (lines it has and its base has not, whole statements) and set back
into the same method at two other revisions: behind the line that they follow in the release, where that line stands
exactly once in the method at both revisions. The older planting is the file to upgrade, the younger the truth.

It proves that upstream's changes are carried and omni's code stays where it belongs, on changes nobody here chose.
It proves nothing about anchors that upstream removed or doubled (left out by construction), about omni code that
edits or drops upstream lines, or about the GPU side.
"""

from __future__ import annotations

import ast
import random
import re
import textwrap
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from statistics import fmean

from benchmarks.chunks import ConflictSide, conflicts, settle
from benchmarks.corpus import ALIKE, chosen, likeness, tree
from benchmarks.peers import merge_file
from benchmarks.upstreams import Version
from runner_sync import score
from runner_sync.model import Triple
from runner_sync.profile import NPU
from runner_sync.statements import parses
from runner_sync.sync import inputs
from runner_sync.units import texts
from runner_sync.upgrade import ModuleJob, ModuleRevision, Upstream, upgrade_module

STEPS = (1, 5, 20, 60)
"""Revisions between the two plantings: from one commit to about a release and a half."""

TOOLS = ("git merge-file, omni side", "git merge-file, upstream side", "runner-sync")

_CLAUSE = re.compile(r"\s*(?:elif|else|except|finally)\b")


@dataclass(frozen=True, slots=True)
class Insertion:
    """Omni lines behind ``anchor`` (a stripped line); ``depth`` is their indentation relative to it."""

    anchor: str
    depth: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Delta:
    """What omni inserted into its copy of one method."""

    release: str
    method: str
    insertions: tuple[Insertion, ...]


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


@cache
def deltas() -> tuple[Delta, ...]:
    """The insertions of every copied method of the corpus's old releases."""
    found: list[Delta] = []
    for case in chosen():
        base = tree("vllm-ascend", case.ascend_base).read(NPU.modules[0].upstreams[0].path) or ""
        known = texts.members(base, "NPUModelRunner")
        for module in NPU.runners:
            place = inputs.read_first(tree("vllm-omni", case.omni_before), module.paths)
            for name, text in texts.members(place[1], module.name).items() if place else ():
                if name in known and likeness(known[name], text) >= ALIKE:
                    inserted = tuple(insertions(known[name], text))
                    found += [Delta(case.omni_before, name, inserted)] if inserted else []
    return tuple(found)


def insertions(base: str, omni: str) -> Iterator[Insertion]:
    """Pure insertions of ``omni`` into ``base`` that are whole statements and nothing but."""
    old, new = base.split("\n"), omni.split("\n")
    matcher = SequenceMatcher(None, [x.strip() for x in old], [x.strip() for x in new], autojunk=False)
    for tag, at, _, start, end in matcher.get_opcodes():
        lines = new[start:end]
        anchor = next((line for line in reversed(old[:at]) if line.strip()), "")
        if tag != "insert" or not anchor or not any(_is_code(line) for line in lines):
            continue
        first = next(line for line in lines if line.strip())
        found = Insertion(anchor.strip(), _indent(first) - _indent(anchor), _dedented(lines, _indent(first)))
        if _is_whole(base, found):
            yield found


def _is_whole(base: str, insertion: Insertion) -> bool:
    """Whether the lines are statements by themselves and stay so in ``base``: no argument, no half of an ``if``."""
    alone, planted = "\n".join(insertion.lines), plant(base, [insertion])
    if planted is None or not parses(alone):
        return False
    return _statements(planted) == _statements(base) + _statements(alone)


def _statements(text: str) -> int:
    tree = ast.parse(textwrap.dedent(text))
    return sum(isinstance(node, ast.stmt) for node in ast.walk(tree))


def plant(text: str, inserted: Iterable[Insertion]) -> str | None:
    """``text`` with the insertions behind their anchors; ``None`` where one has no safe place."""
    lines = text.split("\n")
    for one in inserted:
        places = [k for k, line in enumerate(lines) if line.strip() == one.anchor]
        if len(places) != 1:
            return None
        depth = _indent(lines[places[0]]) + one.depth
        following = next((line for line in lines[places[0] + 1 :] if line.strip()), "")
        # Deeper lines below, or an ``else``, belong to what stands before: an insertion would cut that in two.
        if depth < 0 or (following and _indent(following) > depth) or _CLAUSE.match(following):
            return None
        lines[places[0] + 1 : places[0] + 1] = [" " * depth + line if line else "" for line in one.lines]
    planted = "\n".join(lines)
    return planted if parses(planted) else None


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith("#")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _dedented(lines: Sequence[str], width: int) -> tuple[str, ...]:
    return tuple(line[min(width, _indent(line)) :] if line.strip() else "" for line in lines)


def build(delta: Delta, base: Version, upstream: Version, *, step: int) -> Planted | None:
    """The planted upgrade of one method, or ``None`` where upstream changed nothing or no insertion has a place."""
    old, new = (version.methods.get(delta.method) for version in (base, upstream))
    if old is None or new is None or score.methods(_module(old)) == score.methods(_module(new)):
        return None
    kept = [one for one in delta.insertions if plant(old, [one]) and plant(new, [one])]
    before, truth = plant(old, kept), plant(new, kept)
    if not kept or before is None or truth is None:
        return None
    return Planted(
        delta, base.ref, upstream.ref, step, Triple(old, before, new), truth, len(kept), (base.text, upstream.text)
    )


def sample(versions: Sequence[Version], count: int, *, seed: int = 0, steps: Sequence[int] = STEPS) -> list[Planted]:
    """``count`` planted upgrades, equally many per step, drawn with a fixed seed (fewer where history is short)."""
    drawn = random.Random(seed)
    found: list[Planted] = []
    for step in steps:
        places = [(k, delta) for k in range(max(0, len(versions) - step)) for delta in deltas()]
        drawn.shuffle(places)
        made = (build(delta, versions[k], versions[k + step], step=step) for k, delta in places)
        hits = (planted for planted in made if planted is not None)
        found += [planted for planted, _ in zip(hits, range(count // len(steps)), strict=False)]
    return found


def outcomes(planted: Planted) -> list[Outcome]:
    """All tools on one planted upgrade, each told the right base."""
    started = time.perf_counter()
    parts = merge_file([planted.texts])[0]
    seconds = time.perf_counter() - started
    sides: tuple[ConflictSide, ...] = ("omni", "upstream")
    found = []
    for side in sides:
        text = settle(parts, side)
        found.append(_outcome(f"git merge-file, {side} side", planted, text, conflicts(parts), seconds))
    started = time.perf_counter()
    text, doubts = _upgraded(planted)
    seconds = time.perf_counter() - started
    return [*found, _outcome("runner-sync", planted, text, doubts, seconds, whole=True)]


def _upgraded(planted: Planted) -> tuple[str, int]:
    """The module that runner-sync makes and its review items; no Python at all where it fails on its own output."""
    try:
        result = upgrade_module(_job(planted))
    except SyntaxError as error:
        return f"failed: {error}", 0
    return result.after, len(result.reviews)


def _job(planted: Planted) -> ModuleJob:
    module, (base, upstream) = NPU.modules[0], planted.modules
    new = ModuleRevision(planted.upstream_ref, upstream, module.upstreams[0].path)
    old = ModuleRevision(planted.base_ref, base, module.upstreams[0].path)
    text = imports(base) + _module(planted.texts.omni)
    return ModuleJob(NPU, module, module.paths[0], text, Upstream(new=new, bases=(old, new)))


@cache
def imports(text: str) -> str:
    """The module-level imports of ``text``, which a copy of one of its methods needs too."""
    found = [node for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return "".join(f"{ast.unparse(node)}\n" for node in found)


def _module(method: str, name: str = "OmniNPUModelRunner") -> str:
    return f"class {name}:\n{method.rstrip()}\n"


def _outcome(tool: str, planted: Planted, text: str, doubts: int, seconds: float, *, whole: bool = False) -> Outcome:
    broken = not parses(text)
    made = _module(planted.texts.omni) if broken else text if whole else _module(text)
    # Methods only: the imports that runner-sync adds have no truth here.
    total = score.score_kept(_module(planted.texts.omni), made, _module(planted.truth))
    return Outcome(tool, planted.step, total.effort_left, total.left == 0, doubts, broken, seconds)


@dataclass(frozen=True, slots=True)
class Summary:
    """The mean of one tool over planted upgrades; ``done`` is the share of results equal to the truth,
    ``unasked`` the share that differ from it without a conflict or review item."""

    tool: str
    step: int | None
    cases: int
    effort_left: float
    done: float
    unasked: float
    doubts: float
    broken: int


def summarise(rows: Sequence[Outcome], *, step: int | None = None) -> list[Summary]:
    """One summary per tool, of one step or of all."""
    found = []
    for tool in TOOLS:
        mine = [row for row in rows if row.tool == tool and step in (None, row.step)]
        if mine:
            found.append(
                Summary(
                    tool,
                    step,
                    len(mine),
                    fmean(row.effort_left for row in mine),
                    fmean(row.done for row in mine),
                    fmean(not row.done and not row.doubts for row in mine),
                    fmean(row.doubts for row in mine),
                    sum(row.broken for row in mine),
                )
            )
    return found


def by_method(cases: Sequence[Planted]) -> Mapping[str, int]:
    """How many of the cases are of which method."""
    names = [planted.delta.method for planted in cases]
    return {name: names.count(name) for name in sorted(set(names))}
