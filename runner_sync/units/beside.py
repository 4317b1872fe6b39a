"""Find definitions that are not units of a module: those inside ``if`` and ``try``, and those by assignment.

Comes in: a module and its syntax tree. Goes out: their qualified names with their lines. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.syntax import dotted_name, statements_of
from runner_sync.units.listing import unit_table
from runner_sync.units.pieces import ClassPiece, Module


def beside_units(module: Module, tree: ast.Module) -> dict[str, int]:
    """Return ``{qualified name: first line}`` of the definitions of ``module`` that are not units::

        class Runner:
            if FLAG:
                def run(self): ...      # Runner.run
        Runner.stop = halt              # Runner.stop

    A merge does not read them, but they exist: what only they define must not be reported as gone. Function locals,
    imports and the fields of records are left out.
    """
    table = unit_table(module)
    known = table.keys() | {piece.name for piece in module.pieces if isinstance(piece, ClassPiece)}
    found: dict[str, int] = {}
    for name, statement in _iter_definitions(tree.body):
        owner = name.rpartition(".")[0]
        is_of_record = owner in table and isinstance(statement, ast.Assign | ast.AnnAssign)
        if name not in known and not is_of_record and "." not in owner:
            found.setdefault(name, statement.lineno)
    return found


def _iter_definitions(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.stmt]]:
    """Yield qualified name and statement of every definition in a body and its classes, but not in functions."""
    for statement in statements_of(body):
        match statement:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield prefix + name, statement
            case ast.ClassDef(name=name):
                yield prefix + name, statement
                if not prefix:
                    yield from _iter_definitions(statement.body, f"{name}.")
            case ast.Assign(targets=targets):
                named = filter(None, map(dotted_name, targets))
                yield from ((f"{prefix}{target}", statement) for target in named)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                yield prefix + name, statement
