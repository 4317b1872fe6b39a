"""Tells whether two revisions of a method differ in wording alone: names of locals, order of keywords or branches.

Comes in: two texts of a method. Goes out: yes or no. May touch: nothing.

    metadata = self.batch.metadata                        sampling = self.batch.metadata
    return self.sampler(logits=logits, metadata=metadata)    return self.sampler(metadata=sampling, logits=logits)

Callers may pass parameters by name, so another name of a parameter is no mere wording.
"""

from __future__ import annotations

import ast
import copy

from runner_sync.statements import UnparsableText, bound_in, mentions, tree_of
from runner_sync.statements.negating import negate
from runner_sync.syntax import Function, parameter_names, walk
from runner_sync.texts.member_text import is_same


def is_only_reworded(old: str, new: str) -> bool:
    """Whether two revisions of a method do the same, whatever they call their locals.

    timid: no if a text does not parse.
    """
    if is_same(old, new):
        return True
    try:
        return is_same(_normalise(old), _normalise(new))
    except UnparsableText:
        return False


def _normalise(text: str) -> str:
    """Return a method without hints and negated conditions, with its locals numbered and its keywords sorted."""
    tree = _Unifier().visit(copy.deepcopy(tree_of(text)))
    for statement in tree.body:
        if isinstance(statement, Function):
            _number_locals(statement)
    for node in walk(tree):
        if isinstance(node, ast.Call) and _is_order_free(node):
            node.keywords.sort(key=lambda keyword: keyword.arg or "")
    return ast.unparse(tree)


def _number_locals(function: Function) -> None:
    """Number the locals in the order in which they occur, except those that are no plain names everywhere."""
    found = mentions(function.body)
    fixed = {one.name for one in found if not isinstance(one.node, ast.Name)} | parameter_names(function)
    free = bound_in(function.body) - fixed
    numbers: dict[str, str] = {}
    for one in found:
        if one.name in free and isinstance(one.node, ast.Name):
            one.node.id = numbers.setdefault(one.name, f"_local_{len(numbers)}")


def _is_order_free(call: ast.Call) -> bool:
    """Whether the order of the keywords changes nothing: no ``**``, and at most one value that runs other code."""
    running = (ast.Call, ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)
    runs = sum(any(isinstance(node, running) for node in walk(keyword.value)) for keyword in call.keywords)
    return runs <= 1 and all(keyword.arg is not None for keyword in call.keywords)


def _negate_if_negated(test: ast.expr) -> ast.expr | None:
    """Return the opposite of ``not x``, ``x is not y``, ``x != y`` or ``x not in y``; ``None`` for any other."""
    match test:
        case ast.UnaryOp(ast.Not()) | ast.Compare(ops=[ast.IsNot() | ast.NotEq() | ast.NotIn()]):
            return negate(test)
        case _:
            return None


class _Unifier(ast.NodeTransformer):
    """Drops the annotations of signatures and of assignments, and swaps the branches of negated conditions."""

    def visit_If(self, node: ast.If) -> ast.AST:
        is_branching = bool(node.orelse) and not isinstance(node.orelse[0], ast.If)
        if is_branching and (opposite := _negate_if_negated(node.test)) is not None:
            node.test, node.body, node.orelse = opposite, node.orelse, node.body
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        return self.generic_visit(node)

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]  # noqa: N815

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            return self.generic_visit(node)
        return self.generic_visit(ast.copy_location(ast.Assign([node.target], node.value), node))
