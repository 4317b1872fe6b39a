"""Read an upstream module whose followed class has a new name under the name that the profile has for the class.

    class AscendModelRunner(GPUModelRunner):            class NPUModelRunner(GPUModelRunner):
        ...                                      →          ...

    NPUModelRunner = AscendModelRunner                  AscendModelRunner = NPUModelRunner

Both modules mean the same. Comes in: the text of a module, and the old name. Goes out: the text with the names swapped.
May touch: nothing.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Mapping

from runner_sync.edits import Edit, Places, apply
from runner_sync.references import find_bindings
from runner_sync.syntax import Function, module_of

FEWEST = 2
"""At least so many methods of a renamed class must be among those that the runners override."""


def find_new_name(text: str, name: str, overridden: Collection[str]) -> str:
    """Return the name that class ``name`` has in a module now; empty if it has its old one, or cannot be told.

    It is the class for which the module has ``name`` as an alias. If the module has no such name at all, it is the
    class with the most methods among those ``overridden``, if it has at least twice as many of them as every other.
    Raises ``SyntaxError`` if the module does not parse.
    """
    tree = module_of(text)
    counts = Counter(binding.name for binding in find_bindings(tree.body))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef) and counts[node.name] == 1}
    if not counts[name]:
        return _choose(classes, overridden)
    aliases = [pair[1].id for pair in map(_read_alias, tree.body) if pair is not None and pair[0].id == name]
    return aliases[0] if counts[name] == 1 and aliases and aliases[0] in classes else ""


def swap_names(text: str, name: str, new_name: str) -> str:
    """Return a module in which its class ``new_name`` is called ``name``, and ``new_name`` is an alias."""
    tree, places = module_of(text), Places(text)
    edits = list[Edit]()
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == new_name:
            at = text.index(new_name, places.start(node) + len("class"))
            edits.append(Edit(at, at + len(new_name), name))
        elif (pair := _read_alias(node)) is not None and pair[0].id == name:
            edits += [places.instead_of(pair[0], new_name), places.instead_of(pair[1], name)]
    added = "" if len(edits) > 1 else f"\n\n{new_name} = {name}\n"
    return apply(text, edits) + added


def _read_alias(node: ast.stmt) -> tuple[ast.Name, ast.Name] | None:
    """Return both names of a statement such as ``Old = New``."""
    match node:
        case ast.Assign(targets=[ast.Name() as target], value=ast.Name() as value):
            return target, value
        case ast.AnnAssign(target=ast.Name() as target, value=ast.Name() as value):
            return target, value
    return None


def _choose(classes: Mapping[str, ast.ClassDef], overridden: Collection[str]) -> str:
    shared = Counter[str]()
    for name, node in classes.items():
        methods = {one.name for one in node.body if isinstance(one, Function)}
        shared[name] = len(methods.intersection(overridden))
    ranked = [*shared.most_common(2), ("", 0), ("", 0)]
    (first, most), (_, next_most) = ranked[:2]
    return first if most >= max(FEWEST, 2 * next_most) else ""
