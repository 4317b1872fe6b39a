"""What a module replaces in others when it is imported: ``Cls.attr = …``, ``setattr(Cls, "attr", …)`` and
``extend_enum(Cls, "ATTR", …)`` of aenum.

Comes in: a path or a module. Goes out: whether the file may patch, and its `Patch` values with the names written there.
May touch: nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from runner_sync.statements.assigning import assignments_of
from runner_sync.syntax import is_name, last_word, string_of, walk
from runner_sync.verify.trees.modules import Module

_PATCHING = re.compile(r"(^|/)patch(es)?(/|_|\.py$)|/_?\w*patch\w*\.py$")


@dataclass(frozen=True, slots=True, eq=False)
class Patch:
    """``owner.attribute = value`` in a start-up patch module, with the names written there."""

    module: Module
    owner: str
    attribute: str
    value: ast.expr | None
    node: ast.AST


def is_patching(path: str) -> bool:
    """Whether a path names a file with start-up patches; only such files are searched."""
    return _PATCHING.search(path) is not None


def find_patches(module: Module) -> Iterator[Patch]:
    """Yield the patches that a module makes."""
    for node in walk(module.node):
        for target, value in _find_targets(node):
            owner, _, attribute = target.rpartition(".")
            if owner:
                yield Patch(module, owner, attribute, value, node)


def possible_names(patch: Patch) -> set[str]:
    """Return the names that the patched class may have in its own module.

    This is the last part of its name in the patch, or the name before ``as`` in an import.
    """
    head, _, rest = patch.owner.partition(".")
    imported = [binding.imported for binding in patch.module.bindings.get(head, ())] if not rest else []
    return {patch.owner.rpartition(".")[2], *(one.name for one in imported if one is not None and one.name)}


def _find_targets(statement: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        for target, value, _ in assignments_of(statement):
            text = ast.unparse(target) if isinstance(target, ast.Attribute) else ""
            if re.fullmatch(r"[\w.]+", text) and not text.startswith("self."):
                yield text, value
    elif isinstance(statement, ast.Call) and len(statement.args) in _count_arguments(statement.func):
        owner, name, *values = statement.args
        if (attribute := string_of(name)) is not None:
            yield f"{ast.unparse(owner)}.{attribute}", next(iter(values), None)


def _count_arguments(func: ast.expr) -> tuple[int, ...]:
    """Return how many arguments a call has that sets an attribute; none for any other function."""
    if last_word(func) == "extend_enum":
        return 2, 3
    return (3,) if is_name(func, "setattr") else ()
