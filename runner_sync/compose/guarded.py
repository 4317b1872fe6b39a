"""Imports that a module makes under a condition, such as a version check, brought with their condition.

Comes in: a module's text and the text of a module whose code came into it. Goes out: the text with the condition behind
its imports, and the names that it gives. May touch: nothing.

The target may lack the name: a plain import of it would fail, and code under the same check never asks for it. On the
version that has it, the code would end in a NameError without::

    if not vllm_version_is("0.20.2"):
        from vllm.v1.outputs import RoutedExpertsLists
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from runner_sync.compose.import_places import head_imports
from runner_sync.compose.names import defined_names
from runner_sync.syntax import module_of, walk


def with_guarded(text: str, names: Collection[str], source: str) -> str:
    """``text`` with each condition of ``source`` that imports one of the ``names`` and nothing else that ``text`` has.

    Not one that asks for names which ``text`` lacks (timid), nor one for type checkers, which gives nothing to a run.
    """
    here = defined_names(text)
    for guard in _guards(source):
        given = {alias.asname or alias.name for one in guard.body for alias in _aliases(one)}
        asked = {node.id for node in walk(guard.test) if isinstance(node, ast.Name)}
        if given & set(names) and not given & here and asked <= here - {"TYPE_CHECKING"}:
            text = _behind_imports(text, ast.get_source_segment(source, guard) or "", given)
    return text


def _guards(source: str) -> Iterator[ast.If]:
    """The conditions at module level with imports under them, and nothing else."""
    for statement in module_of(source).body:
        if isinstance(statement, ast.If) and not statement.orelse and all(_aliases(one) for one in statement.body):
            yield statement


def _aliases(statement: ast.stmt) -> list[ast.alias]:
    """What a ``from`` import with an absolute module names."""
    return statement.names if isinstance(statement, ast.ImportFrom) and not statement.level else []


def _behind_imports(text: str, guard: str, given: Collection[str]) -> str:
    lines = text.split("\n")
    tops = head_imports(text, given)
    at = tops[-1].end_lineno or 0 if tops else 0
    lines[at:at] = ["", *guard.split("\n")] if tops else [*guard.split("\n"), ""]
    return "\n".join(lines)
