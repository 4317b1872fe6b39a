"""Runs the RS3xx rules, which tell whether the NPU runners fit the target trees.

Comes in: the new world, the old one if there is one, and the paths of the modules to check. Goes out: findings, sorted
by place. May touch: the worlds' trees, by reading.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, Protocol, cast

from runner_sync.errors import InputError
from runner_sync.model import PACKAGES, Finding, Project
from runner_sync.syntax import statements_of
from runner_sync.verify import rules
from runner_sync.verify.catalog import OF_TREES
from runner_sync.verify.mistakes import find_isolated, is_mistake
from runner_sync.verify.rules import (
    rs301_import_gone,
    rs304_missing_attribute,
    rs308_typed_attribute,
    rs312_unset_attribute,
    rs317_frozen_object,
    rs320_parent_dropped,
    rs324_field_unread,
)
from runner_sync.verify.trees.classes import classes_in
from runner_sync.verify.trees.idle import Idle, find_idle_reads
from runner_sync.verify.trees.modules import Module, imports_of
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.world import Definition, World


class Rule(Protocol):
    """A rule that looks at one module in new trees and, if there are any, in old trees."""

    CODE: str

    def find(self, program: Program, module: Module, old: Program | None, /) -> Iterable[Finding]: ...


RULES = cast("tuple[Rule, ...]", rules.load(OF_TREES))

# The rules that also run on inherited omni GPU code. Most check its calls, which reach vllm-ascend's overrides on NPU.
# RS315 is among them because vllm-ascend decides whether upstream still calls a method. Code that is broken on GPU as
# well is left to the GPU runners' own rebase. Attributes that were missing before count as such code and are reported
# in one note, unless a GPU runner has them (`rs304_missing_attribute.find_inherited`). Attributes that older trees have
# are found by `_find_broken_since`, and by RS308, which needs the older trees to know the attributes of a vLLM object.
# Failing imports are found separately, because they leave no runner at all.
INHERITED = frozenset({"RS302", "RS303", "RS305", "RS306", "RS307", "RS308", "RS312", "RS313", "RS315", "RS324"})
START_RULES = (rs301_import_gone, rs317_frozen_object)
ATTRIBUTES = frozenset({"RS304", "RS308", "RS309"})


class Compared(NamedTuple):
    """The new breakage, and how many places fail in the old trees as well."""

    fresh: list[Finding]
    known: int = 0


def find(
    new: World,
    old: World | None,
    modules: Sequence[str],
    *,
    since: World | None = None,
    imports: bool = True,
    isolates: bool = False,
) -> list[Finding]:
    """Return the new breakage that `compare` finds."""
    return compare(new, old, modules, since=since, imports=imports, isolates=isolates).fresh


def compare(
    new: World,
    old: World | None,
    modules: Sequence[str],
    *,
    since: World | None,
    imports: bool = True,
    isolates: bool = False,
) -> Compared:
    """Find the breakage of ``modules`` (paths in the omni tree) in ``new``; with ``old``, only new breakage.

    Two findings are the same if code, path, unit and symbol agree, because lines move. Everything is new in a module
    that ``old`` lacks. If both worlds have the same omni tree, omni's own missing modules and attributes are reported
    although ``old`` lacks them too. ``since`` is an old world only for rules that compare versions: what it breaks as
    well is also reported. Missing attributes in inherited code, and failing imports without ``imports``, count only if
    no old world lacks them; `find_inherited` reports the rest. With ``isolates``, a mistake of this program in one rule
    is a finding.

    Raises InputError if a module is missing in ``new`` or does not parse, or if an upstream module that the runners
    import from or derive from does not parse.
    """
    after = _get_program(new, modules)
    before = _get_program(old, old.existing(modules)) if old is not None else None
    compared = Program(since, since.existing(modules)) if since is not None else before
    for program in (after, before):
        for error in _find_unread(program) if program is not None else ():
            raise error
    found = _run_rules(after, compared, isolates=isolates) + (_find_failing_imports(after) if imports else [])
    found += _find_broken_since(after, [program for program in (compared, before) if program is not None])
    # Only rules that found something in the new world need to run on the old one.
    codes = {finding.code for finding in found}
    was = _run_rules(before, None, codes, isolates=isolates, of_old=True) if before is not None else []
    known = {finding.identity for finding in was if not is_mistake(finding)}
    found += [finding for finding in was if is_mistake(finding)]
    if before is not None and any(rule.CODE in codes for rule in START_RULES):
        known |= {finding.identity for finding in _find_failing_imports(before)}
    is_same_omni = old is not None and old.trees.get("vllm-omni") is new.trees.get("vllm-omni")
    of_omni = {finding.identity for finding in found if is_same_omni and _is_of_omni(finding)}
    fresh: dict[tuple[str, int, int, str, str], Finding] = {}
    for finding in found:
        if finding.identity not in known - of_omni:
            # One finding per place: each branch of a conditional base may give one, and the general branch comes first.
            fresh.setdefault(_place(finding), finding)
    places = {_place(finding) for finding in found}
    return Compared([fresh[place] for place in sorted(fresh)], len(places - fresh.keys()))


def find_inherited(world: World, modules: Sequence[str]) -> tuple[list[Finding], list[Idle]]:
    """Return failures in omni GPU code that ``modules`` inherit, and their reads of attributes that nothing sets now.

    The findings are missing attributes, in methods in the MRO of ``modules``, and failing imports.
    """
    program = Program(world, modules)
    found = _find_missing_attributes(program) + _find_failing_imports(program)
    return sorted(found, key=_place), _find_idle(program)


def find_inherited_since(new: World, old: World | None, modules: Sequence[str]) -> tuple[list[Finding], list[Idle]]:
    """Return `find_inherited` without imports; with ``old``, only the idle reads that are new.

    With ``old``, `find` reports what else fails in ``new`` only.
    """
    program = _get_program(new, modules)
    idle = _find_idle(program)
    if old is None:
        return sorted(_find_missing_attributes(program), key=_place), idle
    was_idle = (
        {(read.unit, read.attribute) for read in _find_idle(_get_program(old, old.existing(modules)))}
        if idle
        else set()
    )
    return [], [read for read in idle if (read.unit, read.attribute) not in was_idle]


def find_imports_elsewhere(new: World, old: World | None, modules: Sequence[str], project: Project) -> list[Finding]:
    """Return imports from ``project`` that fail in ``new`` and not in ``old`` (if any), and that `find` does not check.

    They are in omni modules that are not imported with ``modules``, such as models and layers, and in functions and
    under conditions in modules that are. Returns none from vLLM, which all of omni imports: what fails there is no
    matter of the runners.
    """
    if project == "vllm":
        return []
    program = _get_program(new, modules)
    own = {module.path for module in program.checked}
    was = _get_program(old, old.existing(modules)) if old is not None else None
    found = _find_failing_imports_from(program, project, was, without=own)
    before = _find_failing_imports_from(was, project, None, without=own) if was is not None and found else []
    fits = {finding.identity for finding in before}
    fresh = sorted((finding for finding in found if finding.identity not in fits), key=_place)
    at_start = {_place(finding) for finding in _find_failing_imports(program)} if fresh else set()
    imported = {module.path for module in program.imported()} if fresh else set()
    return [
        finding
        if finding.path in imported
        else replace(finding, message=f"{finding.message} No runner imports this module.")
        for finding in fresh
        if _place(finding) not in at_start
    ]


def _find_failing_imports_from(
    program: Program, project: Project, old: Program | None, *, without: Collection[str]
) -> list[Finding]:
    """Return the failing imports from ``project``, and uses of names of its modules that only ``old`` has."""
    package = PACKAGES[project]
    paths = [path for path in program.world.surroundings.having(package, "vllm-omni") if path not in without]
    readable = [program.world.module_at(path) for path in program.world.readable(paths)]
    found = [one for module in readable for one in rs301_import_gone.find_imports(program, module, package=package)]
    found += [one for module in readable for one in rs301_import_gone.find_names(program, module, old, project=project)]
    return [finding for finding in found if finding.symbol.startswith(f"{package}.")]


def _get_program(world: World, modules: Sequence[str]) -> Program:
    """Return the program of a world for some modules; cached with the world's answers."""
    return world.answers.once((Program, tuple(modules)), lambda: Program(world, modules))


def _find_unread(program: Program) -> Iterator[InputError]:
    """Yield the errors of unreadable upstream modules that omni's runners import names from, or that hold their bases.

    A name from such a module may be anything, so hardly any rule would report it. Skips imports in functions, for type
    checkers or under `try`/`except ImportError`: a runner can do without them.
    """
    world = program.world
    for module in (*program.checked, *program.inherited()):
        top_level = {id(statement) for statement in statements_of(module.node.body)}
        needed = [i for statement, i in imports_of(module) if id(statement) in top_level and not i.guarded]
        definitions = [definition for one in needed for definition in world.lookup(one.module, one.name)]
        definitions += [definition for star in module.stars for definition in world.lookup(star)]
        yield from _find_errors(definitions)
    for info in classes_in(program.leaves()):
        yield from _find_errors(d for base in info.node.bases for d in world.bases(info.module, base))


def _find_errors(found: Iterable[Definition]) -> Iterator[InputError]:
    yield from (d.module.error for d in found if d.module is not None and d.module.error is not None)


def _find_broken_since(program: Program, older: Sequence[Program]) -> list[Finding]:
    """Return what fails in inherited or imported omni code and failed in none of the ``older`` trees, if any."""
    found = _find_missing_attributes(program) + _find_failing_imports(program) if older else []
    known = (
        {one.identity for before in older for one in _find_missing_attributes(before) + _find_failing_imports(before)}
        if found
        else set()
    )
    return [finding for finding in found if finding.identity not in known]


def _find_missing_attributes(program: Program) -> list[Finding]:
    wanted = [rule for rule in RULES if rule.CODE in ATTRIBUTES]
    return [f for rule in wanted for module in program.inherited() for f in rule.find(program, module, None)]


def _find_idle(program: Program) -> list[Idle]:
    return [idle for module in program.checked for idle in find_idle_reads(program, module)]


def _run_rules(
    program: Program,
    old: Program | None,
    codes: Collection[str] | None = None,
    *,
    isolates: bool = False,
    of_old: bool = False,
) -> list[Finding]:
    """Return the findings of the rules with these ``codes``, or of all rules."""
    wanted = [rule for rule in RULES if codes is None or rule.CODE in codes]
    run = partial(_run_rule, program, old, isolates=isolates, of_old=of_old)
    found = [f for rule in wanted for module in program.checked for f in run(rule, module)]
    if rs304_missing_attribute in wanted:
        found += [f for module in program.inherited() for f in rs304_missing_attribute.find_inherited(program, module)]
    on_inherited = [rule for rule in wanted if rule.CODE in INHERITED]
    found += [f for rule in on_inherited for module in program.inherited() for f in run(rule, module)]
    return _drop_explained(found)


def _run_rule(
    program: Program, old: Program | None, rule: Rule, module: Module, *, isolates: bool, of_old: bool
) -> list[Finding]:
    find = partial(rule.find, program, module, old)
    return find_isolated(rule.CODE, module.path, find, isolates=isolates, of_old=of_old)


def _drop_explained(found: list[Finding]) -> list[Finding]:
    """Return the findings without those of which another one of the same unit says more.

    An unset attribute (RS312) says more about an override than a dropped parent call (RS320), and a lost field (RS308)
    names the new one that stands in its place, which the override cannot read yet (RS324).
    """
    unset = {(f.path, f.unit) for f in found if f.code == rs312_unset_attribute.CODE}
    lost = [f for f in found if f.code == rs308_typed_attribute.CODE]
    renamed = {(f.path, f.unit, f"{f.symbol.partition('.')[0]}.{name}") for f in lost if (name := _find_new_name(f))}
    left = [f for f in found if f.code != rs320_parent_dropped.CODE or (f.path, f.unit) not in unset]
    return [f for f in left if f.code != rs324_field_unread.CODE or (f.path, f.unit, f.symbol) not in renamed]


def _find_new_name(lost: Finding) -> str:
    """Return the name that the fix of a lost attribute gives, or an empty text."""
    found = re.match(r"Write `(\w+)`", lost.fix or "")
    return found[1] if found is not None else ""


def _find_failing_imports(program: Program) -> list[Finding]:
    """Return the failing imports in omni modules that are imported with the checked modules."""
    return [f for module in program.imported() for rule in START_RULES for f in rule.find_at_start(program, module)]


def _is_of_omni(finding: Finding) -> bool:
    """Whether a finding is about something missing in omni itself, whatever the other trees have.

    That is a module of omni, or an attribute that nothing defines and code that can run today reads (other such reads
    are warnings).
    """
    if finding.code == rs304_missing_attribute.CODE:
        return finding.severity == "error"
    return finding.code == rs301_import_gone.CODE and finding.symbol.startswith(f"{PACKAGES['vllm-omni']}.")


def _place(finding: Finding) -> tuple[str, int, int, str, str]:
    return finding.path, finding.line, finding.column, finding.code, finding.symbol
