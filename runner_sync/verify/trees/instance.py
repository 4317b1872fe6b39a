"""Which names in a method stand for its own object, and not for another that is also called ``self``.

Comes in: a method and nodes of it. Goes out: answers about them. May touch: nothing.
"""

from __future__ import annotations

import ast
import functools

from runner_sync.signatures import positional_parameters
from runner_sync.statements import parameters
from runner_sync.syntax import Function, is_name, is_super, walk
from runner_sync.verify.trees.functions import nodes_of


@functools.lru_cache(maxsize=16384)
def self_name(function: Function) -> str | None:
    """Return the name of the instance (or class) parameter, or ``None`` for a static method."""
    if any(is_name(decorator, "staticmethod") for decorator in function.decorator_list):
        return None
    return next((parameter.arg for parameter in positional_parameters(function)), None)


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


def is_for_instances(function: Function, node: ast.AST | None) -> bool:
    """Whether ``node`` is the method's instance or its class, so that attributes set on it are the instance's."""
    return may_be_instance(function, node) or is_own_class(function, node)


def _find_class_owner(node: ast.AST | None) -> ast.expr | None:
    """Return ``x`` for ``type(x)`` or ``x.__class__``, else ``None``."""
    match node:
        case ast.Call(func=ast.Name(id="type"), args=[one]) | ast.Attribute(value=one, attr="__class__"):
            return one
    return None


@functools.lru_cache(maxsize=16384)
def _find_foreign(function: Function) -> frozenset[int]:
    """Return the ids of nodes that look like the method's own ``self`` or ``super()``, but are not.

    A nested function or lambda with a parameter of that name has its own object, a nested class its own ``super()``.
    timid: so has a function that is given the instance (``run(self)``); no release that was read has one.
    """
    owner = self_name(function)
    nested = (node for node in nodes_of(function)[1:] if isinstance(node, Function | ast.Lambda))
    own = [node for node in nested if any(one.arg == owner for one in parameters(node))]
    bodies = (part for node in own for part in (node.body if isinstance(node, Function) else [node.body]))
    names = frozenset(
        id(node) for part in bodies for node in walk(part) if isinstance(node, ast.Name) and node.id == owner
    )
    return names | _find_nested_supers(function)


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
