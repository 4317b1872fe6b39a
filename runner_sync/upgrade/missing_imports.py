"""Finds names that a GPU runner imports and that the target has nowhere to import from.

Comes in: the text of the GPU module, and what is known of the target's modules. Goes out: names, each with its module.
May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from runner_sync.syntax import is_name, module_of, walk
from runner_sync.texts.bindings import read_bindings
from runner_sync.texts.import_entries import list_always_imported, read_imports


def find_missing(
    text: str, path: str, *, lacks: Callable[[str, str], bool], moved_to: Callable[[str, str], str]
) -> dict[str, str]:
    """Map names that a module imports, and that no module of the target is known to have, to their module.

    Skips imports in an ``if`` or ``try``, which the code can do without, and modules that are missing as a whole: such
    a tree may be incomplete. Also skips a name that the module has for something else, too, such as a local.
    """
    always, conditional = list_always_imported(text), read_bindings(text).conditional
    return {
        bound: entry.module
        for bound, entry in read_imports(text, path).items()
        if bound in always - conditional
        and lacks(entry.module, entry.name)
        and not lacks(entry.module, "")
        and not moved_to(entry.module, entry.name)
        and _is_only_read(text, bound)
    }


def _is_only_read(text: str, name: str) -> bool:
    """Whether a module has ``name``, and identifiers that contain it, only where it reads what it imports."""
    tree = module_of(text)
    imports = {alias for one in tree.body if isinstance(one, ast.Import | ast.ImportFrom) for alias in one.names}
    for node in walk(tree):
        is_reading = is_name(node, name) and isinstance(node.ctx, ast.Load)
        is_import = isinstance(node, ast.alias) and node in imports and name in (node.name, node.asname)
        if is_reading or is_import or isinstance(node, ast.Constant | ast.ImportFrom):
            continue
        if any(isinstance(value, str) and name in value for _, value in ast.iter_fields(node)):
            return False
    return True
