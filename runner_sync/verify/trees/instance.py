"""Which names in a method stand for the object that it runs on, and not for another that is called ``self`` as well.

Comes in: a method and nodes of it. Goes out: answers about them. May touch: nothing.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator, Sequence

from runner_sync.statements import parameters
from runner_sync.statements.assigning import assignments_of
from runner_sync.syntax import Function, is_name, is_super, walk
from runner_sync.verify.trees.functions import nodes_of

_FUNCTION = Function | ast.Lambda
_COMPREHENSION = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def self_name(function: Function) -> str | None:
    """The name of the instance (or class) parameter, ``None`` for static methods."""
    if any(is_name(decorator, "staticmethod") for decorator in function.decorator_list):
        return None
    arguments = [*function.args.posonlyargs, *function.args.args]
    return arguments[0].arg if arguments else None


def is_instance(function: Function, node: ast.AST | None) -> bool:
    """Whether ``node`` is the method's own ``self`` (or ``cls``)."""
    owner = self_name(function)
    return owner is not None and is_name(node, owner) and id(node) not in _of_others(function)


def may_be_instance(function: Function, node: ast.AST | None) -> bool:
    """The same where a function inside counts, too, that may be called with the instance; no method of a class
    inside."""
    owner = self_name(function)
    return owner is not None and is_name(node, owner) and id(node) not in _of_classes(function)


def is_own_super(function: Function, node: ast.AST | None) -> bool:
    """Whether ``node`` is the method's own ``super()``, and not that of a class inside of it."""
    return is_super(node) and id(node) not in _of_others(function)


def is_own_class(function: Function, node: ast.AST | None) -> bool:
    """Whether ``node`` is the class of the method's instance: ``type(self)`` or ``self.__class__``."""
    return is_instance(function, _whose_class(node))


def _whose_class(node: ast.AST | None) -> ast.expr | None:
    """The object whose class a node is."""
    match node:
        case ast.Call(func=ast.Name(id="type"), args=[one]) | ast.Attribute(value=one, attr="__class__"):
            return one
    return None


@functools.lru_cache(maxsize=16384)
def _of_others(function: Function) -> frozenset[int]:
    """The ids of the names that read like the method's instance, but are bound anew by a function, lambda or
    comprehension inside of it; and of the ``super()`` of a class inside of it.

    A function inside that is given the instance has it: ``run(self)``, ``MethodType(run, self)``, ``lambda self=self``.
    """
    owner = self_name(function)
    scopes = {id(node): node for node in _binding_anew(function, owner)} if owner is not None else {}
    marked = _marked(scopes.values(), owner)
    while given := [key for key, scope in scopes.items() if _is_given(function, scope, owner or "", marked)]:
        for key in given:
            del scopes[key]
        marked = _marked(scopes.values(), owner)
    return marked | _supers_of_classes(function)


@functools.lru_cache(maxsize=16384)
def _of_classes(function: Function) -> frozenset[int]:
    """The ids of `_of_others` that stand in a class: those of a function may still be the method's own, as it can be
    handed to what calls it with the instance."""
    classes = [node for node in nodes_of(function)[1:] if isinstance(node, ast.ClassDef)]
    return _of_others(function).intersection(id(node) for one in classes for node in walk(one))


def _supers_of_classes(function: Function) -> frozenset[int]:
    classes = (node for node in nodes_of(function)[1:] if isinstance(node, ast.ClassDef))
    return frozenset(id(node) for one in classes for part in one.body for node in walk(part) if is_super(node))


def _binding_anew(function: Function, owner: str) -> Iterator[ast.AST]:
    """The functions, lambdas and comprehensions in a method that bind the name of its instance."""
    for node in nodes_of(function)[1:]:
        if isinstance(node, _FUNCTION):
            is_stored = any(_is_stored(inner, owner) for inner in _own_scope(node))
            if is_stored or any(one.arg == owner for one in parameters(node)):
                yield node
        elif isinstance(node, _COMPREHENSION):
            targets = (inner for part in node.generators for inner in walk(part.target))
            if any(is_name(inner, owner) for inner in targets):
                yield node


def _is_stored(node: ast.AST, owner: str) -> bool:
    return isinstance(node, ast.Name) and node.id == owner and isinstance(node.ctx, ast.Store)


def _own_scope(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function's body that belong to no scope inside of it."""
    todo = list(_body(scope))
    while todo:
        node = todo.pop()
        if not isinstance(node, _FUNCTION | ast.ClassDef | _COMPREHENSION):
            yield node
            todo += ast.iter_child_nodes(node)


def _body(scope: ast.AST) -> Sequence[ast.AST]:
    """What runs in the scope itself: not the defaults of a function, nor what a comprehension first goes through."""
    match scope:
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body):
            return body
        case ast.Lambda(body=result):
            return [result]
    first = scope.generators[0].iter if isinstance(scope, _COMPREHENSION) else None
    parts = [node for child in ast.iter_child_nodes(scope) for node in _parts_of(child)]
    return [part for part in parts if part is not first]


def _parts_of(child: ast.AST) -> Sequence[ast.AST]:
    return [*ast.iter_child_nodes(child)] if isinstance(child, ast.comprehension) else [child]


def _marked(scopes: Iterable[ast.AST], owner: str | None) -> frozenset[int]:
    nodes = (node for scope in scopes for part in _body(scope) for node in walk(part))
    return frozenset(id(node) for node in nodes if owner is not None and is_name(node, owner))


def _is_given(function: Function, scope: ast.AST, owner: str, marked: frozenset[int]) -> bool:
    """Whether a function inside a method gets its instance for the parameter of that name."""
    if not isinstance(scope, _FUNCTION) or owner not in {one.arg for one in parameters(scope)}:
        return False
    arguments = scope.args
    positional = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    defaults: list[tuple[str, ast.expr | None]] = [*zip(positional[::-1], arguments.defaults[::-1], strict=False)]
    defaults += zip((one.arg for one in arguments.kwonlyargs), arguments.kw_defaults, strict=True)
    if any(name == owner and _is_owner(default, owner, marked) for name, default in defaults):
        return True
    number = positional.index(owner) if owner in positional else len(positional)
    names = _names_of(function, scope)
    return any(_gives(node, names, number, owner, marked) for node in nodes_of(function))


def _names_of(function: Function, scope: ast.AST) -> frozenset[str]:
    """The names that a function inside a method has there; that of a lambda is assigned."""
    if isinstance(scope, Function):
        return frozenset({scope.name})
    pairs = (pair for node in nodes_of(function) for pair in assignments_of(node))
    return frozenset(t.id for t, value, _ in pairs if value is scope and isinstance(t, ast.Name))


def _is_owner(node: ast.AST | None, owner: str, marked: frozenset[int]) -> bool:
    return is_name(node, owner) and id(node) not in marked


def _gives(node: ast.AST, names: frozenset[str], number: int, owner: str, marked: frozenset[int]) -> bool:
    """Whether a node gives the instance to the function of one of these ``names``, as argument ``number``: by a call,
    bound to it (``MethodType(run, self)``), or by making it a method of its class."""
    given: Sequence[ast.AST | None] = ()
    match node:
        case ast.Call(func=ast.Name(id=called), args=values) if called in names:
            given = values[number : number + 1]
        case ast.Call(func=ast.Attribute(value=ast.Name(id=bound), attr="__get__"), args=values) if bound in names:
            given = values[number : number + 1]
        case ast.Call(args=[ast.Name(id=bound), *values]) if bound in names:
            given = values[number : number + 1]
        case ast.Call(func=ast.Name(id="setattr"), args=[to, _, ast.Name(id=made)]) if made in names and not number:
            given = [_whose_class(to)]
        case ast.Assign(targets=[ast.Attribute(value=to)], value=ast.Name(id=made)) if made in names and not number:
            given = [_whose_class(to)]
    return any(_is_owner(one, owner, marked) for one in given)
