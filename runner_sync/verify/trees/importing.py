"""The code that runs when a module is imported, as functions: one for the module's statements, one for each class.

Comes in: a module. Goes out: made-up functions whose expressions are the module's own nodes. May touch: nothing.

Decorators, defaults and values are evaluated on import; bodies of functions are not. timid: skips annotations, because
``from __future__ import annotations`` keeps them from being evaluated. Skips imports, because their names are looked up
as the module's own bindings.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

from runner_sync.syntax import Function, blocks_of
from runner_sync.verify.trees.modules import Module


def make_functions(module: Module) -> Iterator[ast.FunctionDef]:
    """Yield a function named ``<module>`` for the module, and one named after each class, unless nothing runs in it."""
    classes = [part for part in module.node.body if isinstance(part, ast.ClassDef)]
    for name, body in [("<module>", module.node.body), *((part.name, part.body) for part in classes)]:
        statements = [made for statement in body for made in _find_evaluated(statement)]
        if statements:
            yield _make_function(name, statements)


def _make_function(name: str, body: list[ast.stmt]) -> ast.FunctionDef:
    made = ast.parse("def _(): ...").body[0]
    assert isinstance(made, ast.FunctionDef)
    made.name, made.body = name, body
    return made


def _find_evaluated(statement: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the parts of ``statement`` that are evaluated on import, as statements."""
    if isinstance(statement, Function):
        parts = [*statement.decorator_list, *statement.args.defaults, *(d for d in statement.args.kw_defaults if d)]
        yield from (ast.copy_location(ast.Expr(part), part) for part in parts)
    elif isinstance(statement, ast.ClassDef):
        parts = [*statement.decorator_list, *statement.bases, *(k.value for k in statement.keywords)]
        yield from (ast.copy_location(ast.Expr(part), part) for part in parts)
    elif isinstance(statement, ast.AnnAssign):
        if statement.value is not None:
            yield ast.copy_location(ast.Expr(statement.value), statement.value)
    elif not isinstance(statement, ast.Import | ast.ImportFrom):
        yield _keep_evaluated(statement) if any(True for _ in blocks_of(statement)) else statement


def _keep_evaluated(statement: ast.stmt) -> ast.stmt:
    """Return a copy of a compound statement with only the evaluated parts of its blocks."""
    made = copy.copy(statement)
    for name in ("body", "orelse", "finalbody"):
        if block := getattr(statement, name, None):
            setattr(made, name, [part for inner in block for part in _find_evaluated(inner)])
    for name in ("handlers", "cases"):
        if parts := getattr(statement, name, None):
            setattr(made, name, [_keep_evaluated(part) for part in parts])
    return made
