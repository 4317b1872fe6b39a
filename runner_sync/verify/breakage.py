"""Run the RS3xx rules: do the NPU runners fit the target trees?

Comes in: the new world, the old one where there is one, and the paths of the modules to check. Goes out:
findings, sorted by place. May touch: the worlds' trees, by reading.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from runner_sync.model import Finding
from runner_sync.verify.modules import Module
from runner_sync.verify.program import Program
from runner_sync.verify.rules import (
    rs301_import_gone,
    rs302_call_arguments,
    rs303_tuple_size,
    rs304_missing_attribute,
    rs306_keyword_gone,
)
from runner_sync.verify.world import World

Find = Callable[[Program, Module, Program | None], Iterable[Finding]]

RULES = (
    rs301_import_gone,
    rs302_call_arguments,
    rs303_tuple_size,
    rs304_missing_attribute,
    rs306_keyword_gone,
)


def find(new: World, old: World | None, modules: Sequence[str]) -> list[Finding]:
    """Breakage of ``modules`` (paths in the omni tree) in ``new``; with ``old``, only what ``old`` does not have.

    Two findings are the same when code, path, unit and symbol agree: lines move. Raises InputError when a module is
    missing or is not Python.
    """
    found = _run(Program(new, modules), Program(old, modules) if old is not None else None)
    known = {_key(finding) for finding in _run(Program(old, modules), None)} if old is not None else set()
    fresh = {finding for finding in found if _key(finding) not in known}
    return sorted(fresh, key=lambda f: (f.path, f.line, f.column, f.code, f.symbol))


def _run(program: Program, old: Program | None) -> list[Finding]:
    return [finding for rule in RULES for module in program.checked for finding in rule.find(program, module, old)]


def _key(finding: Finding) -> tuple[str, str, str, str]:
    return finding.code, finding.path, finding.unit, finding.symbol
