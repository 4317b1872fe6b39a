"""Read an upstream module as if the followed class defined itself what it inherits from its own package.

A copy follows a method, wherever upstream keeps it. So a method that moved into a mixin or another base class of the
same package is not gone, and neither is what stayed behind in an old class that only inherits from its successor. The
same holds for a module-level function or record that moved into a module of helpers (``imported_definitions``).

Comes in: a tree, a path, a run's inputs. Goes out: the text of the module. May touch: the tree, by reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache

from runner_sync.errors import InputError
from runner_sync.model import PACKAGES
from runner_sync.naming import module_name
from runner_sync.profile import Anchor, Profile, RunnerModule
from runner_sync.sync.classes.completing import Inherited, complete, may_inherit, own_units
from runner_sync.sync.classes.imported_definitions import Definition, complete_definitions, list_definitions
from runner_sync.sync.classes.renamed_classes import find_new_name, swap_names
from runner_sync.sync.classes.whole_twins import complete_twins
from runner_sync.sync.trees.class_heads import defines
from runner_sync.sync.trees.inputs import Inputs
from runner_sync.trees import Tree
from runner_sync.units import texts


def read_whole(tree: Tree, path: str, given: Inputs) -> str | None:
    """Return the text of ``path`` with the inherited methods added to each class that the profile follows there.

    Functions and records that it imports from its package, and a runner defines, are added, too. The text is as in the
    tree if omni overrides none of these methods, or if a module does not parse. Returns ``None`` if the tree has no
    such file.
    """
    text = tree.read(path)
    return _complete(text, path, tree, given) if text is not None else None


@lru_cache(maxsize=64)
def _complete(text: str, path: str, tree: Tree, given: Inputs) -> str:
    if tree.source.project == "vllm-omni":
        return complete_twins(text, path, tree, given)
    for name in (followed := _list_followed(given.profile, tree, path)):
        with suppress(InputError, SyntaxError):  # whoever reads the module reports what is wrong with it
            text = _with_old_name(text, name, given)
            text = complete(text, name, path, _find_inherited(name, text, path, tree, given))
    return _complete_definitions(text, path, tree, given)[0] if followed else text


def read_whole_twin(module: RunnerModule, given: Inputs) -> str | None:
    """Return the text of a module's GPU twin in the omni tree at hand, as `read_whole` does; ``None`` without one."""
    return read_whole(given.omni, module.gpu.path, given) if module.gpu is not None else None


def find_parent_files(tree: Tree, path: str, given: Inputs) -> tuple[str, ...]:
    """Return the other files from which `read_whole` takes methods."""
    text, places = tree.read(path), list[str]()
    for name in _list_followed(given.profile, tree, path) if text is not None else ():
        with suppress(InputError, SyntaxError):
            named = _with_old_name(text or "", name, given)
            places += [parent.path for parent in _find_inherited(name, named, path, tree, given)]
            places += [one.unit.path for one in _complete_definitions(text or "", path, tree, given)[1]]
    return tuple(dict.fromkeys(place for place in places if place != path))


def find_name_now(tree: Tree, anchor: Anchor, given: Inputs) -> str:
    """Return the new name of the class of ``anchor`` in ``tree``; empty if it has its old one, or none is known."""
    with suppress(SyntaxError):
        return _find_new_name(tree.read(anchor.path) or "", anchor.name, given)
    return ""


def _with_old_name(text: str, name: str, given: Inputs) -> str:
    """Return ``text`` with the class that ``name`` means, or that has succeeded it, called ``name``."""
    new_name = _find_new_name(text, name, given)
    return swap_names(text, name, new_name) if new_name else text


def _find_new_name(text: str, name: str, given: Inputs) -> str:
    """Return what `find_new_name` tells. A name that no runner mentions is misspelt in the configuration."""
    if defines(name, text):
        return ""
    omnis = tuple(_iter_omni_texts(given))
    is_known = any(re.search(rf"\b{re.escape(name)}\b", omni) for omni in omnis)
    return find_new_name(text, name, _find_method_names(omnis) if is_known else ())


def _complete_definitions(text: str, path: str, tree: Tree, given: Inputs) -> tuple[str, list[Definition]]:
    """Return what `complete_definitions` does for all that a runner defines; nothing if a module does not parse."""
    with suppress(InputError, SyntaxError):
        return complete_definitions(text, path, list_definitions(_iter_omni_texts(given)), tree)
    return text, []


def _list_followed(profile: Profile, tree: Tree, path: str) -> list[str]:
    """Return the classes of ``path`` that the modules of ``profile`` follow, or that their GPU twins derive from."""
    anchors = [anchor for module in profile.modules for anchor in (*module.upstreams, profile.vllm_of(module))]
    project = tree.source.project
    return [*dict.fromkeys(a.name for a in anchors if a.name and a.project == project and path in a.places)]


def _find_inherited(name: str, text: str, path: str, tree: Tree, given: Inputs) -> list[Inherited]:
    """Return what class ``name`` of the module ``text`` inherits from its own package, nearest class first.

    Returns nothing if omni overrides none of these methods, or if a base of the class is conditional.
    """
    if not may_inherit(name, text, PACKAGES[tree.source.project]):
        return []
    from runner_sync.sync.classes.module_texts import ModuleTexts

    if any(len(base.origins) > 1 for base in texts.bases_of(text, name, path)):
        return []
    module_texts = ModuleTexts({tree.source.project: tree})
    known, found = {*texts.members(text, name, path)}, list[Inherited]()
    for parent in module_texts.find_ancestors(text, name, module_name(path)):
        units = own_units(parent.text, parent.name, parent.module)
        methods = {own: u.text for own, u in units.items() if u.kind == "method" and own not in known}
        if methods and (place := module_texts.find_module(parent.module)) is not None:
            found.append(Inherited(*place, methods))
        known |= units.keys()
    overridden = _find_method_names(tuple(_iter_omni_texts(given)))
    return found if any(parent.methods.keys() & overridden for parent in found) else []


def _iter_omni_texts(given: Inputs) -> Iterator[str]:
    """Yield the texts of the derived modules and of their GPU twins."""
    paths = [path for module in given.profile.modules for path in (*module.paths, *module.twin_paths)]
    yield from (text for path in dict.fromkeys(paths) if (text := given.read_derived(path)) is not None)


@lru_cache(maxsize=8)
def _find_method_names(module_texts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(name for text in module_texts for name in _METHOD.findall(text))


_METHOD = re.compile(r"^ +(?:async )?def (\w+)", re.MULTILINE)
