"""The corpus cases as texts: the input of a merge tool, and what people released.

Comes in: ``runner_sync/corpus.toml``. Goes out: ``Problem`` values. May touch: what ``runner_sync.sources`` touches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache

from runner_sync.errors import InputError
from runner_sync.model import Project, Triple
from runner_sync.profile import NPU, RunnerModule
from runner_sync.sync import replaying
from runner_sync.sync.options import silent
from runner_sync.sync.trees import inputs
from runner_sync.trees import Tree
from runner_sync.units import texts

ALIKE = 1 / 3
"""The least line similarity at which a method is merged with its upstream namesake.

Below it, the two share only a name (a thin override), and merging would destroy one of them. Every peer gets this help,
because a person would also give it.
"""


@dataclass(frozen=True, slots=True)
class Runner:
    """One runner module of a case: before and after the release, and the upstream module, old and new."""

    path: str
    anchor: str
    before: str
    truth: str
    base: str
    upstream: str


@dataclass(frozen=True, slots=True)
class Problem:
    """One case for peers, which have no GPU side."""

    id: str
    runners: tuple[Runner, ...]


def select_cases(names: Sequence[str] = ()) -> list[replaying.Case]:
    """Return the named cases, or all if ``names`` is empty. Raises ``InputError`` for an unknown name."""
    known = {case.id: case for case in replaying.cases()}
    for name in names:
        if name not in known:
            raise InputError(f"no case {name!r}: there are {', '.join(known)}.")
    return [known[name] for name in names or known]


@cache
def open_tree(project: Project, version: str) -> Tree:
    """Return a released tree. Raises ``InputError`` if the index has no such release."""
    return inputs.open_at(project, version, None, silent)


def load_problem(case: replaying.Case) -> Problem:
    """Return the texts of one case."""
    found = [_load_runner(case, module) for module in NPU.runners]
    return Problem(case.id, tuple(runner for runner in found if runner is not None))


def _load_runner(case: replaying.Case, module: RunnerModule) -> Runner | None:
    old = inputs.read_first(open_tree("vllm-omni", case.omni_before), module.paths)
    new = inputs.read_first(open_tree("vllm-omni", case.omni_after), module.paths)
    if old is None or new is None:
        return None
    anchor = module.anchor
    base, upstream = (open_tree("vllm-ascend", v).read(anchor.path) or "" for v in (case.ascend_base, case.ascend))
    return Runner(new[0], anchor.name, old[1], new[1], base, upstream)


def iter_copies(runner: Runner) -> Iterator[tuple[str, Triple]]:
    """Yield ``(qualified name, texts)`` of every unit that looks like a copy and still has its upstream namesake."""
    base, upstream = (texts.unit_texts(text, runner.path) for text in (runner.base, runner.upstream))
    for name, text in texts.unit_texts(runner.before, runner.path).items():
        owner, _, member = name.rpartition(".")
        key = f"{runner.anchor}.{member}" if owner else name
        if key in base and key in upstream and measure_likeness(base[key], text) >= ALIKE:
            yield name, Triple(base[key], text, upstream[key])


def measure_likeness(a: str, b: str) -> float:
    """Return the line similarity (0…1) of two texts, ignoring indentation and blank lines."""
    return SequenceMatcher(None, _strip_lines(a), _strip_lines(b), autojunk=False).ratio()


def _strip_lines(text: str) -> list[str]:
    return [line for line in map(str.strip, text.split("\n")) if line]
