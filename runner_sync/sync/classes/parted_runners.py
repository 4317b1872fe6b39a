"""Read an NPU runner as if its class defined itself the copies that omni has moved into a mixin of the runner's own.

A copied method stays a copy wherever omni keeps it. So what a run finds out about a moved method, it finds out about
the runner's class, which the lock goes on naming, too.

Comes in: the inputs of a run. Goes out: ``Parted`` runners, and the inputs with their texts. May touch: the trees, by
reading.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache

from runner_sync import lineage
from runner_sync.errors import InputError
from runner_sync.model import Unit
from runner_sync.naming import module_name, project_of
from runner_sync.sync.classes.completing import Inherited, complete, may_inherit, own_units
from runner_sync.sync.classes.module_texts import ModuleTexts
from runner_sync.sync.classes.whole_classes import read_whole, read_whole_twin
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.runners import DerivedModule, find_modules
from runner_sync.syntax import indentation
from runner_sync.texts.names import used_names
from runner_sync.units import texts


@dataclass(frozen=True, slots=True)
class Part:
    """A base class ``name`` in the file ``path``, whose ``text`` has ``methods`` of a runner.

    ``definitions`` are module-level ones beside the class that the methods use, and that the runner's upstream or GPU
    twin has, too.
    """

    path: str
    text: str
    name: str
    methods: tuple[str, ...]
    definitions: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, str]:
        """The dotted module and the name of the class."""
        return module_name(self.path), self.name

    def cut_out(self, text: str) -> str:
        """Return the ``text`` of the file without the methods; every other line keeps its number."""
        for method in self.methods:
            unit = texts.unit_table(text, self.path).get(f"{self.name}.{method}")
            if unit is None:
                continue
            lines = text.split("\n")
            gap = [""] * (unit.end - unit.start)
            lines[unit.start - 1 : unit.end] = [f"{indentation(unit.text)}{self._stand_in(method)}", *gap]
            text = "\n".join(lines)
        return text

    def put_back(self, text: str, methods: Mapping[str, str]) -> str:
        """Return ``text``, from which `cut_out` took all methods, with ``methods`` in their places."""
        units = texts.unit_table(self.text, self.path)
        for method in self.methods:
            unit = units[f"{self.name}.{method}"]
            place = rf"^ *{re.escape(self._stand_in(method))}\n{{1,{unit.end - unit.start + 1}}}"
            found = re.search(place, text, re.MULTILINE)
            assert found is not None, f"{self.path} has no place for {self.name}.{method}"
            text = text[: found.start()] + methods.get(method, "") + text[found.end() :]
        return text

    def _stand_in(self, method: str) -> str:
        return f"pass  # {self.name}.{method}"


@dataclass(frozen=True, slots=True)
class Parted:
    """A runner's class ``name`` in ``path`` whose ``text`` lacks the methods that its ``parts`` have."""

    path: str
    text: str
    name: str
    parts: tuple[Part, ...]

    @property
    def rest(self) -> dict[str, str]:
        """The texts of the files without what the parts have, by path."""
        found = {self.path: self.text, **{part.path: part.text for part in self.parts}}
        for part in self.parts:
            found[part.path] = part.cut_out(found[part.path])
        return found

    @property
    def whole(self) -> str:
        """The text of the runner's module with the methods in its class, behind its own."""
        text = self.rest[self.path]
        for part in self.parts:
            text = _add_definitions(text, part)
            units = texts.unit_table(part.text, part.path)
            methods = {
                name: units[f"{part.name}.{name}"].text for name in part.methods if f"{part.name}.{name}" in units
            }
            text = complete(text, self.name, self.path, [Inherited(part.path, part.text, methods)] if methods else [])
        return text


def read_whole_runners(given: inputs.Inputs) -> tuple[inputs.Inputs, tuple[Parted, ...]]:
    """Return ``given`` with the whole text of each runner that omni has taken apart, and these runners."""
    parted = find_parted(given)
    together = {path: text for one in parted for path, text in (*one.rest.items(), (one.path, one.whole))}
    return (replace(given, together=together) if together else given), parted


def find_parted(given: inputs.Inputs) -> tuple[Parted, ...]:
    """Return the runners of the omni tree with methods in base classes, in their own or other files.

    timid: neither a class nor a file is a part of two runners, because it cannot follow both.
    """
    found = list[Parted]()
    for derived in find_modules(given):
        shared = _find_shared(derived, given) - _find_runners(given)
        parts = tuple(part for part in _find_copies(derived, given) if part.place not in shared)
        if parts:
            found.append(Parted(derived.path, derived.text, derived.module.name, parts))
    files = [path for one in found for path in one.rest]
    kept = ((one, tuple(part for part in one.parts if files.count(part.path) == 1)) for one in found)
    return tuple(replace(one, parts=parts) for one, parts in kept if parts)


def note_left(given: inputs.Inputs, parted: Sequence[Parted]) -> tuple[str, ...]:
    """Note each base class with copies that is no part of a runner, so that nothing is merged into them."""
    known = {part.place for runner in parted for part in runner.parts}
    left = dict[tuple[str, str], tuple[str, Part]]()
    for derived in find_modules(given):
        for part in _find_copies(derived, given):
            if part.place not in known:
                left.setdefault(part.place, (derived.module.name, part))
    return tuple(
        f"{part.path}: no change is merged into {', '.join(part.methods)} of {part.name}, copies that {name} inherits, "
        f"because another runner has this class or file, too: move them to a class and a file of {name} alone"
        for name, part in left.values()
    )


@lru_cache(maxsize=16)
def _find_copies(derived: DerivedModule, given: inputs.Inputs) -> list[Part]:
    """Return the base classes, other than those of the GPU side, with methods that follow what the class follows."""
    with suppress(InputError, SyntaxError):  # whoever reads the module reports what is wrong with it
        if may_inherit(derived.module.name, derived.text, given.profile.package):
            return [*_iter_copies(derived, given)]
    return []


def _iter_copies(derived: DerivedModule, given: inputs.Inputs) -> Iterator[Part]:
    module, known = derived.module, {*texts.members(derived.text, derived.module.name, derived.path)}
    if any(len(base.origins) > 1 for base in texts.bases_of(derived.text, module.name, derived.path)):
        return
    followed, module_texts = _read_followed(derived, given), ModuleTexts({"vllm-omni": given.omni})
    runners, of_gpu = _find_runners(given), _find_gpu_classes(given)
    files = {path for row in given.profile.modules for path in row.paths}
    for parent in module_texts.find_ancestors(derived.text, module.name, module_name(derived.path)):
        units = own_units(parent.text, parent.name, parent.module)
        methods = [name for name, unit in units.items() if unit.kind == "method" and name not in known]
        known |= units.keys()
        place, owner = module_texts.find_module(parent.module), (parent.module, parent.name)
        if project_of(parent.module) != "vllm-omni" or place is None or owner in of_gpu:
            continue
        named = [name for name in methods if name in followed.members]
        if owner in runners:
            if raised := _find_raised({name: units[name] for name in named}, followed, derived, given):
                yield Part(*place, parent.name, tuple(raised))
        elif any(name in followed.recorded or _is_copy(units[name], followed.members[name]) for name in named):
            beside = _find_definitions(place, parent.name, [units[name].text for name in named])
            beside = [name for name in beside if name in followed.definitions and place[0] not in files]
            own = texts.whole_definitions(derived.text, derived.path)
            yield Part(*place, parent.name, tuple(named), tuple(name for name in beside if name not in own))


def _find_raised(
    methods: Mapping[str, Unit], followed: _Followed, derived: DerivedModule, given: inputs.Inputs
) -> list[str]:
    """Return those ``methods`` of a base runner of ``derived`` that are ports of the GPU twin of ``derived`` alone.

    A copy of upstream's method that is not like the twin's stays the base runner's own: the twin's overrides it.
    """
    members = {one.path: _read_twin_members(one, given) for one in find_modules(given)}
    twin, others = members.pop(derived.path), frozenset[str]().union(*members.values())
    raised = []
    for name in (one for one in methods if one in twin.keys() - others):
        unit, port = methods[name], twin[name]
        upstream = [version for version in followed.members[name] if version != port]
        if name in followed.recorded or _is_copy(unit, [port]) or not _is_copy(unit, upstream):
            raised.append(name)
    return raised


def _read_twin_members(derived: DerivedModule, given: inputs.Inputs) -> dict[str, str]:
    text, twin = read_whole_twin(derived.module, given), derived.module.gpu
    return texts.members(text, twin.name, twin.path) if twin is not None and text is not None else {}


@dataclass(frozen=True, slots=True)
class _Followed:
    """What a runner's class follows: ``{member: versions of it}``, and module-level definitions beside the classes.

    ``recorded`` are the members that the lock has.
    """

    members: Mapping[str, Sequence[str]]
    definitions: frozenset[str]
    recorded: frozenset[str]


def _read_followed(derived: DerivedModule, given: inputs.Inputs) -> _Followed:
    members, definitions = dict[str, list[str]](), set[str]()
    anchor, twin = derived.module.anchor, derived.module.gpu
    tree = given.trees.get(anchor.project)
    sides = [(anchor, read_whole(tree, anchor.path, given) if tree is not None else None)]
    sides += [(twin, read_whole_twin(derived.module, given))] if twin is not None else []
    for place, text in sides:
        for name, body in texts.members(text, place.name, place.path).items() if text is not None else ():
            members.setdefault(name, []).append(body)
        definitions |= texts.whole_definitions(text, place.path).keys() if text is not None else set()
    prefix, locked = f"{derived.module.name}.", [entry.qualname for entry in given.lock.of(derived.path)]
    recorded = frozenset(name.removeprefix(prefix) for name in locked if name.startswith(prefix))
    return _Followed({**{name: [] for name in recorded}, **members}, frozenset(definitions), recorded)


def _find_runners(given: inputs.Inputs) -> set[tuple[str, str]]:
    """Return module and name of the NPU runners."""
    return {(module_name(path), module.name) for module in given.profile.modules for path in module.paths}


def _find_gpu_classes(given: inputs.Inputs) -> set[tuple[str, str]]:
    """Return module and name of the GPU runners and of what these inherit from."""
    module_texts, found = ModuleTexts({"vllm-omni": given.omni}), set[tuple[str, str]]()
    for module in given.profile.modules:
        text = given.omni.read(module.gpu.path) if module.gpu is not None else None
        if module.gpu is not None and text is not None:
            own = (module_name(module.gpu.path), module.gpu.name)
            found |= {own, *_list_ancestors(text, own, module_texts)}
    return found


def _find_shared(derived: DerivedModule, given: inputs.Inputs) -> set[tuple[str, str]]:
    """Return module and name of what the runners inherit from that do not derive from this one."""
    module_texts, own = ModuleTexts({"vllm-omni": given.omni}), (module_name(derived.path), derived.module.name)
    found = set[tuple[str, str]]()
    for other in find_modules(given):
        if other.path != derived.path:
            classes = _list_ancestors(other.text, (module_name(other.path), other.module.name), module_texts)
            found |= classes if own not in classes else set()
    return found


def _list_ancestors(text: str, owner: tuple[str, str], module_texts: ModuleTexts) -> set[tuple[str, str]]:
    with suppress(InputError, SyntaxError):
        return {(one.module, one.name) for one in module_texts.find_ancestors(text, owner[1], owner[0])}
    return set()


def _is_copy(unit: Unit, versions: Sequence[str]) -> bool:
    return any(lineage.similarity(unit.text, version) >= lineage.COPY for version in versions)


def _find_definitions(place: tuple[str, str], name: str, bodies: Collection[str]) -> list[str]:
    """Return the functions and classes beside class ``name`` of a module that one of ``bodies`` uses."""
    path, text = place
    used = frozenset[str]().union(*(used_names(f"class _:\n{body}") for body in bodies))
    return [one for one in texts.whole_definitions(text, path) if one in used and one != name]


def _add_definitions(text: str, part: Part) -> str:
    defined = texts.whole_definitions(part.text, part.path)
    bodies = [defined[name] for name in part.definitions if name in defined]
    return "\n\n".join([text if text.endswith("\n") else f"{text}\n", *bodies]) if bodies else text
