"""Copies globals that each module has to make for itself from the module whose code needs them.

Comes in: a module's text and a module whose code came into it. Goes out: the text with the definition behind its
imports. May touch: nothing.

An import would give the other module's object, whose messages would then name that module::

    logger = init_logger(__name__)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.compose.import_places import find_head_imports, find_top_position, insert_below
from runner_sync.syntax import is_name, module_of, names_in
from runner_sync.texts.bindings import bound_above, read_bindings, statements_binding
from runner_sync.texts.import_entries import read_imports
from runner_sync.texts.names import defined_names, used_names

OF_MODULE = frozenset({"__file__", "__name__", "__package__", "__spec__"})
"""Names with another value in every module."""


def copy_own_global(text: str, name: str, source: str) -> str:
    """Return ``text`` with the definition of ``name`` as in ``source``, if its value depends on the module.

    Skips a definition that reads names which ``text`` may lack above that place and ``source`` does not import (timid).
    """
    made = statements_binding(source, name)
    if len(made) != 1 or not _is_module_dependent(made[0], name):
        return text
    statement = ast.get_source_segment(source, made[0]) or ""
    tops = find_head_imports(text, {name})
    at = (tops[-1].end_lineno or 0) if tops else find_top_position(module_of(text).body, text.split("\n"))[0]
    importable = read_imports(source).keys() - read_bindings(source).conditional - defined_names(text)
    if not used_names(statement) <= bound_above(text, at) | importable:
        return text
    return insert_below(text, statement, at)


def _is_module_dependent(statement: ast.stmt, name: str) -> bool:
    """Whether a statement sets only ``name``, to a value that depends on the module."""
    targets = [*_find_targets(statement)]
    return len(targets) == 1 and is_name(targets[0], name) and bool(names_in(statement) & OF_MODULE)


def _find_targets(statement: ast.stmt) -> Iterator[ast.expr]:
    if isinstance(statement, ast.Assign):
        yield from statement.targets
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        yield statement.target
