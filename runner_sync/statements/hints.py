"""Normalise annotations, so that modernised type hints do not count as a change, and take generic ones apart.

Comes in and goes out: syntax nodes. May touch: nothing.
"""

from __future__ import annotations

import ast
import copy
from functools import reduce

from runner_sync.syntax import names_in, walk


class _Hints(ast.NodeTransformer):
    """Normalises annotations: unquoted, ``X | None`` for ``Optional[X]``, ``A | B`` for ``Union[A, B]``."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if not isinstance(node.value, str):
            return node
        try:
            return self.visit(ast.parse(node.value, mode="eval").body)  # type: ignore[no-any-return]
        except SyntaxError:
            return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        match node.value:
            case ast.Name(id="Optional"):
                return ast.BinOp(node.slice, ast.BitOr(), ast.Constant(None))
            case ast.Name(id="Union") if isinstance(node.slice, ast.Tuple) and node.slice.elts:
                return reduce(lambda a, b: ast.BinOp(a, ast.BitOr(), b), node.slice.elts)
            case ast.Name(id="Literal"):
                return node
            case ast.Name(id=("List" | "Dict" | "Tuple" | "Set" | "Type") as name):
                node.value = ast.Name(name.lower(), ast.Load())
        return node


_REPLACED = frozenset({"Optional", "Union", "List", "Dict", "Tuple", "Set", "Type"})


def generic_arguments(node: ast.Subscript) -> list[ast.expr]:
    """Return what stands in the brackets: ``K`` and ``V`` of ``X[K, V]``."""
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def normalise_hint(annotation: ast.expr | None) -> ast.expr | None:
    """Return ``annotation`` normalised, which leaves it as it is; unchanged if it has a ``Literal``, whose strings are
    values."""
    return annotation if _is_normal(annotation) else _normalise(copy.deepcopy(annotation))


def unparse_arguments(arguments: ast.arguments) -> str:
    """Return the ``ast.unparse`` text of a parameter list with normalised annotations."""
    if all(_is_normal(arg.annotation) for arg in walk(arguments) if isinstance(arg, ast.arg)):
        return ast.unparse(arguments)
    plain = copy.deepcopy(arguments)
    for arg in walk(plain):
        if isinstance(arg, ast.arg):
            arg.annotation = _normalise(arg.annotation)
    return ast.unparse(plain)


def _is_normal(annotation: ast.expr | None) -> bool:
    """Whether an annotation has nothing to normalise; copying trees takes long, and most are."""
    return annotation is None or not any(map(_is_replaced, walk(annotation)))


def _is_replaced(node: ast.AST) -> bool:
    match node:
        case ast.Constant(value=str()):
            return True
        case ast.Subscript(value=ast.Name(id=name)):
            return name in _REPLACED
    return False


def _normalise(annotation: ast.expr | None) -> ast.expr | None:
    """Normalise an annotation, possibly in place."""
    if annotation is None or "Literal" in names_in(annotation):
        return annotation
    return _Hints().visit(annotation)  # type: ignore[no-any-return]
