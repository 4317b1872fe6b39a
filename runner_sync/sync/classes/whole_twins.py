"""Read a GPU runner as if its class defined itself what omni has moved out of it.

A port follows a method of the GPU runner, wherever omni keeps it. Two moves leave the method in the tree and take it
out of the class: into a mixin that the NPU class does not have, and into a base class that both share, of whose version
the NPU class hides its part.

Comes in: the text of a module, a tree, a run's inputs. Goes out: the text. May touch: the tree, by reading.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runner_sync.errors import InputError
from runner_sync.naming import absolute, module_name, project_of
from runner_sync.profile import RunnerModule
from runner_sync.sync.classes.completing import Inherited, complete, may_inherit, own_units
from runner_sync.sync.classes.imported_definitions import Definition, complete_definitions, list_definitions
from runner_sync.sync.trees.inputs import Inputs, read_first
from runner_sync.texts.member_text import find_called_parents
from runner_sync.trees import Tree
from runner_sync.units import texts

if TYPE_CHECKING:
    from runner_sync.sync.classes.module_texts import Class, ModuleTexts


def complete_twins(text: str, path: str, tree: Tree, given: Inputs) -> str:
    """Return the module ``text`` of ``path`` with the moved methods in its GPU runners, and with moved functions.

    The text stays as it is if NPU overrides none of them, or if a module does not parse.
    """
    for module in given.profile.modules:
        if module.gpu is None or path not in given.places_of(module.gpu.path):
            continue
        with suppress(InputError, SyntaxError):  # whoever reads the module reports what is wrong with it
            name, parts = module.gpu.name, _find_moved_out_of(module, text, path, tree, given)
            text = complete(text, name, path, [part.inherited for part in parts])
            text = _drop_bases(text, path, name, _find_needless(text, path, name, parts, tree))
            text, _ = complete_definitions(text, path, _list_defined(module, given), tree)
    return text


def find_moved_methods(path: str, given: Inputs) -> list[tuple[str, MovedMethods]]:
    """Return the GPU classes of ``path`` in the tree at hand, each with methods that `complete_twins` adds to it.

    Raises ``InputError`` if a module does not parse.
    """
    text = given.omni.read(path) or ""
    twins = [(module, module.gpu.name) for module in given.profile.modules if path in module.twin_paths and module.gpu]
    return [
        (name, part) for module, name in twins for part in _find_moved_out_of(module, text, path, given.omni, given)
    ]


def find_imported(path: str, given: Inputs) -> list[Definition]:
    """Return the functions and records that `complete_twins` adds to the module at ``path`` in the tree at hand."""
    text, found = given.omni.read(path) or "", list[Definition]()
    for module in given.profile.modules:
        if path in module.twin_paths:
            text, more = complete_definitions(text, path, _list_defined(module, given), given.omni)
            found += more
    return found


def _list_defined(module: RunnerModule, given: Inputs) -> frozenset[str]:
    """Return the functions and classes of the derived module in the omni tree at hand."""
    found = read_first(given.omni, module.paths)
    return list_definitions([found[1]] if found is not None else [])


def _find_moved_out_of(module: RunnerModule, text: str, path: str, tree: Tree, given: Inputs) -> list[MovedMethods]:
    assert module.gpu is not None
    name = module.gpu.name
    if not may_inherit(name, text, given.profile.package) or (derived := _read_derived(module, given)) is None:
        return []
    features = _find_features(module.gpu.path, name, derived, given.omni)
    return [part for part in _iter_moved_methods(text, path, name, derived, tree) if part.name not in features]


@dataclass(frozen=True, slots=True)
class _Derived:
    """What the NPU class is made of: the methods that hide what it inherits, and the names of its ancestors.

    ``ancestors`` include the GPU classes that have a twin of their own.
    """

    hiding: frozenset[str]
    ancestors: frozenset[str]


def _read_derived(module: RunnerModule, given: Inputs) -> _Derived | None:
    """Read the module's class in the omni tree at hand; ``None`` if it hides nothing."""
    found = read_first(given.omni, module.paths)
    if found is None:
        return None
    path, text = found[0], given.together.get(*found)
    own = texts.members(text, module.name, path)
    hiding = frozenset(name for name, body in own.items() if "super()" not in find_called_parents(body, name))
    if not hiding:
        return None
    module_texts = _read_omni(given.omni)
    ancestors = {one.name for one in module_texts.find_ancestors(text, module.name, module_name(path))}
    return _Derived(hiding, frozenset(ancestors | {gpu for gpu, _ in given.profile.classes}))


@dataclass(frozen=True, slots=True)
class MovedMethods:
    """Methods that omni moved out of a GPU class into the base class ``name``.

    ``is_whole`` if they are all that the GPU class has from there.
    """

    name: str
    inherited: Inherited
    is_whole: bool


def _iter_moved_methods(text: str, path: str, name: str, derived: _Derived, tree: Tree) -> Iterator[MovedMethods]:
    """Yield the omni base classes of class ``name`` with moved methods, nearest first.

    timid: a mixin that the NPU class lacks and of which it hides no method is a feature to mix in, and no part. Of a
    class that both sides share, only what the NPU class hides counts: it inherits the rest.
    """
    module_texts = _read_omni(tree)
    for parent, methods in _find_omni_bases(text, path, name, module_texts):
        hidden = {member: body for member, body in methods.items() if member in derived.hiding}
        place = module_texts.find_module(parent.module)
        if hidden and place is not None:
            is_whole = parent.name not in derived.ancestors
            yield MovedMethods(parent.name, Inherited(*place, methods if is_whole else hidden), is_whole)


def _find_features(path: str, name: str, derived: _Derived, tree: Tree) -> frozenset[str]:
    """Return the omni base classes with methods of class ``name`` in the tree at hand that are no parts and not shared.

    They are none in an earlier tree either: or the mixin would look new.
    """
    text = tree.read(path)
    if text is None:
        return frozenset()
    classes = (parent for parent, _ in _find_omni_bases(text, path, name, _read_omni(tree)))
    bases = {one.name for one in classes if texts.members(one.text, one.name, one.module)}
    return frozenset(
        bases - derived.ancestors - {part.name for part in _iter_moved_methods(text, path, name, derived, tree)}
    )


def _find_omni_bases(
    text: str, path: str, name: str, module_texts: ModuleTexts
) -> Iterator[tuple[Class, dict[str, str]]]:
    """Yield the omni classes that class ``name`` inherits from, each with the methods that it has from there."""
    known = {*texts.members(text, name, path)}
    for parent in module_texts.find_ancestors(text, name, module_name(path)):
        own = own_units(parent.text, parent.name, parent.module)
        methods = {member: unit.text for member, unit in own.items() if unit.kind == "method" and member not in known}
        known |= own.keys()
        if project_of(parent.module) == "vllm-omni":
            yield parent, methods


def _read_omni(tree: Tree) -> ModuleTexts:
    from runner_sync.sync.classes.module_texts import ModuleTexts

    return ModuleTexts({"vllm-omni": tree})


def _find_needless(text: str, path: str, name: str, parts: Collection[MovedMethods], tree: Tree) -> set[str]:
    """Return the base expressions of class ``name`` that give it nothing any more beside the whole ``parts``."""
    whole, module_texts = {part.name for part in parts if part.is_whole}, _read_omni(tree)
    if not whole:
        return set()
    needless, dotted = set[str](), module_name(path)
    for base in texts.bases_of(text, name, path):
        places = [(absolute(o.module, dotted) if o.module else dotted, o.name) for o in base.origins[:1]]
        for owner in filter(None, (module_texts.find_class(*place) for place in places)):
            classes = [owner, *module_texts.find_ancestors(owner.text, owner.name, owner.module)]
            giving = {one.name for one in classes if texts.members(one.text, one.name, one.module)}
            needless |= {base.expression} if giving and giving <= whole else set()
    return needless


def _drop_bases(text: str, path: str, name: str, gone: Collection[str]) -> str:
    """Return ``text`` without the base expressions ``gone`` of class ``name``."""
    if not gone:
        return text
    from runner_sync.units.bases import set_bases
    from runner_sync.units.pieces import join

    bases = [base.expression for base in texts.bases_of(text, name, path)]
    return join(set_bases(texts.parsed(text, path), name, [base for base in bases if base not in gone]))
