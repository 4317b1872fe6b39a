"""Which names in a method stand for its own object, and not for another that is also called ``self``.

Comes in: a method and nodes of it. Goes out: answers about them. May touch: nothing.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence

from runner_sync.statements import parameters
from runner_sync.syntax import Function, is_name, is_super, walk
from runner_sync.verify.trees.functions import nodes_of

_FUNCTION = Function | ast.Lambda
_COMPREHENSION = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def self_name(function: Function) -> str | None:
    """Return the name of the instance (or class) parameter, or ``None`` for a static method."""
    if any(is_name(decorator, "staticmethod") for decorator in function.decorator_list):
        return None
    arguments = [*function.args.posonlyargs, *function.args.args]
    return arguments[0].arg if arguments else None


def is_instance(function: Function, node: ast.AST | None) -> bool:
    """Whether ``node`` is the method's own ``self`` (or ``cls``)."""
    # Few nodes are names at all, and all nodes of a method are asked about.
    return isinstance(node, ast.Name) and node.id == self_name(function) and id(node) not in _find_foreign(function)


def may_be_instance(function: Function, node: ast.AST | None) -> bool:
    """Whether ``node`` may be the method's ``self``, also in a nested function that may be called with it.

    Methods of a nested class do not count.
    """
    if not isinstance(node, ast.Name) or node.id != self_name(function):
        return False
    return id(node) not in _find_foreign_in_classes(function)


def is_own_super(function: Function, node: ast.AST | None) -> bool:
    """Whether ``node`` is the method's own ``super()``, and not the ``super()`` of a nested class."""
    return is_super(node) and id(node) not in _find_foreign(function)


def is_own_class(function: Function, node: ast.AST | None) -> bool:
    """Whether ``node`` is the class of the method's instance: ``type(self)`` or ``self.__class__``."""
    return is_instance(function, _find_class_owner(node))


def _find_class_owner(node: ast.AST | None) -> ast.expr | None:
    """Return ``x`` for ``type(x)`` or ``x.__class__``, else ``None``."""
    match node:
        case ast.Call(func=ast.Name(id="type"), args=[one]) | ast.Attribute(value=one, attr="__class__"):
            return one
    return None


@functools.lru_cache(maxsize=16384)
def _find_foreign(function: Function) -> frozenset[int]:
    """Return the ids of nodes that look like the method's own ``self`` or ``super()``, but are not.

    Nested functions, lambdas and comprehensions bind the name anew, and a nested class has its own ``super()``. timid:
    so do functions that are given the instance (``run(self)``): no release that was read has one.
    """
    owner = self_name(function) or ""
    inside = (part for scope in _find_rebinding_scopes(function, owner) for part in _get_body(scope)) if owner else ()
    return frozenset(id(node) for part in inside for node in walk(part) if is_name(node, owner)) | _find_nested_supers(
        function
    )


@functools.lru_cache(maxsize=16384)
def _find_foreign_in_classes(function: Function) -> frozenset[int]:
    """Return the ids of `_find_foreign` that stand in a nested class.

    Names in a nested function may still be the instance, which its caller may pass to it.
    """
    classes = [node for node in nodes_of(function)[1:] if isinstance(node, ast.ClassDef)]
    return _find_foreign(function).intersection(id(node) for one in classes for node in walk(one))


def _find_nested_supers(function: Function) -> frozenset[int]:
    classes = (node for node in nodes_of(function)[1:] if isinstance(node, ast.ClassDef))
    return frozenset(id(node) for one in classes for part in one.body for node in walk(part) if is_super(node))


def _find_rebinding_scopes(function: Function, owner: str) -> Iterator[ast.AST]:
    """Yield the functions, lambdas and comprehensions in a method that bind the name of its instance."""
    for node in nodes_of(function)[1:]:
        if isinstance(node, _FUNCTION):
            is_stored = any(_is_stored(inner, owner) for inner in _walk_own_scope(node))
            if is_stored or any(one.arg == owner for one in parameters(node)):
                yield node
        elif isinstance(node, _COMPREHENSION):
            targets = (inner for part in node.generators for inner in walk(part.target))
            if any(is_name(inner, owner) for inner in targets):
                yield node


def _is_stored(node: ast.AST, owner: str) -> bool:
    return isinstance(node, ast.Name) and node.id == owner and isinstance(node.ctx, ast.Store)


def _walk_own_scope(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body that belong to no nested scope."""
    todo = list(_get_body(scope))
    while todo:
        node = todo.pop()
        if not isinstance(node, _FUNCTION | ast.ClassDef | _COMPREHENSION):
            yield node
            todo += ast.iter_child_nodes(node)


def _get_body(scope: ast.AST) -> Sequence[ast.AST]:
    """Return what runs in the scope itself, without the defaults of a function and the first iterable of a
    comprehension."""
    match scope:
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body):
            return body
        case ast.Lambda(body=result):
            return [result]
    first = scope.generators[0].iter if isinstance(scope, _COMPREHENSION) else None
    parts = [node for child in ast.iter_child_nodes(scope) for node in _get_parts(child)]
    return [part for part in parts if part is not first]


def _get_parts(child: ast.AST) -> Sequence[ast.AST]:
    return [*ast.iter_child_nodes(child)] if isinstance(child, ast.comprehension) else [child]
