"""Run the RS3xx rules: do the NPU runners fit the target trees?

Comes in: the new world, the old one where there is one, and the paths of the modules to check. Goes out:
findings, sorted by place. May touch: the worlds' trees, by reading.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol, cast

from runner_sync.model import PACKAGES, Finding, Project
from runner_sync.verify import rules
from runner_sync.verify.catalog import OF_TREES
from runner_sync.verify.rules import (
    rs301_import_gone,
    rs304_missing_attribute,
    rs312_unset_attribute,
    rs317_frozen_object,
    rs320_parent_dropped,
)
from runner_sync.verify.trees.idle import Idle, idle_reads
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.world import World


class Rule(Protocol):
    """A rule that looks at one module in new trees and, where there are any, in old ones."""

    CODE: str

    def find(self, program: Program, module: Module, old: Program | None, /) -> Iterable[Finding]: ...


RULES = cast("tuple[Rule, ...]", rules.load(OF_TREES))

# The rules that run on inherited omni GPU code, too: mainly about its calls, which reach vllm-ascend's overrides on
# NPU. Code that is broken on GPU as well is for the GPU runners' own rebase. Attributes that were missing before are of
# that kind, and reported in one note, unless a GPU runner has them (`rs304_missing_attribute.find_inherited`); those
# that older trees have are found (`_broken_since`, and RS308 beside them, which needs the older trees to tell what an
# object of vLLM's had). Failing imports are found apart, as they leave no runner at all.
# Whether upstream still calls a method (RS315) depends on vllm-ascend.
INHERITED = frozenset({"RS302", "RS303", "RS306", "RS307", "RS308", "RS312", "RS313", "RS315", "RS324"})
START_RULES = (rs301_import_gone, rs317_frozen_object)
ATTRIBUTES = frozenset({"RS304", "RS308", "RS309"})


def find(
    new: World, old: World | None, modules: Sequence[str], *, since: World | None = None, imports: bool = True
) -> list[Finding]:
    """Breakage of ``modules`` (paths in the omni tree) in ``new``; with ``old``, only what ``old`` does not have.

    Two findings are the same when code, path, unit and symbol agree: lines move. Where both worlds have the same omni
    tree, omni's own missing modules and attributes are found although ``old`` lacks them, too. In a module that ``old``
    lacks everything is new. ``since`` is an old world only for the rules that compare versions: what it breaks as well
    is found, too. What inherited code reads in vain counts only if it fitted an old world, and so do the imports of
    other modules without ``imports``: the rest is left to `find_inherited`. Raises InputError when a module is missing
    in ``new`` or does not parse, or when one of upstream's does not from which the runners import names or derive.
    """
    after = _program(new, modules)
    before = _program(old, old.existing(modules)) if old is not None else None
    told = Program(since, since.existing(modules)) if since is not None else before
    for program in (after, before):
        for error in program.unread() if program is not None else ():
            raise error
    found = _run(after, told) + (_failing_imports(after) if imports else [])
    found += _broken_since(after, [program for program in (told, before) if program is not None])
    # Only rules that found something in the new world need to run on the old one.
    codes = {finding.code for finding in found}
    known = {_key(finding) for finding in _run(before, None, codes)} if before is not None else set()
    if before is not None and any(rule.CODE in codes for rule in START_RULES):
        known |= {_key(finding) for finding in _failing_imports(before)}
    is_same_omni = old is not None and old.trees.get("vllm-omni") is new.trees.get("vllm-omni")
    told_always = {_key(finding) for finding in found if is_same_omni and _is_of_omni(finding)}
    fresh = {_place(finding): finding for finding in found if _key(finding) not in known - told_always}
    return [fresh[place] for place in sorted(fresh)]


def find_inherited(world: World, modules: Sequence[str]) -> tuple[list[Finding], list[Idle]]:
    """What fails in the omni GPU code that ``modules`` inherit, and the attributes of ``modules`` that nothing sets any
    more.

    The findings are missing attributes, in methods that run in the MRO of ``modules``, and failing imports.
    """
    program = Program(world, modules)
    found = _attributes(program) + _failing_imports(program)
    return sorted(found, key=_place), _idle(program)


def find_inherited_since(new: World, old: World | None, modules: Sequence[str]) -> tuple[list[Finding], list[Idle]]:
    """As `find_inherited`, without imports; with ``old``, only the attributes that something sets there, as `find`
    tells what else fails in ``new`` and not in ``old``."""
    program = _program(new, modules)
    idle = _idle(program)
    if old is None:
        return sorted(_attributes(program), key=_place), idle
    was_idle = {(one.unit, one.attribute) for one in _idle(_program(old, old.existing(modules)))} if idle else set()
    return [], [one for one in idle if (one.unit, one.attribute) not in was_idle]


def find_imports_elsewhere(new: World, old: World | None, modules: Sequence[str], project: Project) -> list[Finding]:
    """Imports from ``project`` that fail in ``new`` and not in ``old``, where there is one, in omni modules that are
    not imported with ``modules``: those of models and layers, say."""
    program = _program(new, modules)
    known = {module.path for module in (*program.checked, *program.imported())}
    found = _from_project(program, project, without=known)
    before = _from_project(_program(old, old.existing(modules)), project, without=known) if old and found else []
    fits = {_key(finding) for finding in before}
    return sorted((finding for finding in found if _key(finding) not in fits), key=_place)


def _from_project(program: Program, project: Project, *, without: Collection[str]) -> list[Finding]:
    package = PACKAGES[project]
    paths = [path for path in program.world.surroundings.having(package, "vllm-omni") if path not in without]
    readable = (program.world.module_at(path) for path in program.world.readable(paths))
    found = (finding for module in readable for finding in rs301_import_gone.find_imports(program, module))
    return [finding for finding in found if finding.symbol.startswith(f"{package}.")]


def _program(world: World, modules: Sequence[str]) -> Program:
    """The program of a world for some modules; cached with its answers."""
    return world.answers.once((Program, tuple(modules)), lambda: Program(world, modules))


def _broken_since(program: Program, older: Sequence[Program]) -> list[Finding]:
    """What fails in the omni code that is inherited or imported, and did not in any ``older`` trees, where there are
    some."""
    found = _attributes(program) + _failing_imports(program) if older else []
    known = (
        {_key(one) for before in older for one in _attributes(before) + _failing_imports(before)} if found else set()
    )
    return [finding for finding in found if _key(finding) not in known]


def _attributes(program: Program) -> list[Finding]:
    return _in_inherited(program, [rule for rule in RULES if rule.CODE in ATTRIBUTES], None)


def _idle(program: Program) -> list[Idle]:
    return [idle for module in program.checked for idle in idle_reads(program, module)]


def _run(program: Program, old: Program | None, codes: Collection[str] | None = None) -> list[Finding]:
    """The findings of the rules with these ``codes``, or of all."""
    wanted = [rule for rule in RULES if codes is None or rule.CODE in codes]
    found = [f for rule in wanted for module in program.checked for f in rule.find(program, module, old)]
    if rs304_missing_attribute in wanted:
        found += [f for module in program.inherited() for f in rs304_missing_attribute.find_inherited(program, module)]
    found += _in_inherited(program, [rule for rule in wanted if rule.CODE in INHERITED], old)
    # An unset attribute (RS312) says more about an override than that it no longer calls its parent (RS320).
    told = {(f.path, f.unit) for f in found if f.code == rs312_unset_attribute.CODE}
    return [f for f in found if f.code != rs320_parent_dropped.CODE or (f.path, f.unit) not in told]


def _in_inherited(program: Program, wanted: Iterable[Rule], old: Program | None) -> list[Finding]:
    return [f for rule in wanted for module in program.inherited() for f in rule.find(program, module, old)]


def _failing_imports(program: Program) -> list[Finding]:
    """The failing imports in omni modules that are imported with the checked ones."""
    return [f for module in program.imported() for rule in START_RULES for f in rule.find_at_start(program, module)]


def _key(finding: Finding) -> tuple[str, str, str, str]:
    return finding.code, finding.path, finding.unit, finding.symbol


def _is_of_omni(finding: Finding) -> bool:
    """Whether a finding is about something missing in omni itself, whatever the other trees have: a module of omni, or
    an attribute that nothing defines, read by code that can run today (other such reads are warnings)."""
    if finding.code == rs304_missing_attribute.CODE:
        return finding.severity == "error"
    return finding.code == rs301_import_gone.CODE and finding.symbol.startswith(f"{PACKAGES['vllm-omni']}.")


def _place(finding: Finding) -> tuple[str, int, int, str, str]:
    # One finding per place: the branches of a conditional base may each give one, in other words.
    return finding.path, finding.line, finding.column, finding.code, finding.symbol
