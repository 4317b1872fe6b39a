"""Which names in a method stand for its own object, and not for another that is also called ``self``.

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

    Nested functions, lambdas and comprehensions bind the name anew, and a nested class has its own ``super()``. A
    nested function that is given the instance is excepted: ``run(self)``, ``MethodType(run, self)``, ``lambda
    self=self``.
    """
    owner = self_name(function)
    scopes = {id(node): node for node in _find_rebinding_scopes(function, owner)} if owner is not None else {}
    foreign = _find_owner_names(scopes.values(), owner)
    while adopted := [key for key, scope in scopes.items() if _gets_instance(function, scope, owner or "", foreign)]:
        for key in adopted:
            del scopes[key]
        foreign = _find_owner_names(scopes.values(), owner)
    return foreign | _find_nested_supers(function)


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


def _find_owner_names(scopes: Iterable[ast.AST], owner: str | None) -> frozenset[int]:
    nodes = (node for scope in scopes for part in _get_body(scope) for node in walk(part))
    return frozenset(id(node) for node in nodes if owner is not None and is_name(node, owner))


def _gets_instance(function: Function, scope: ast.AST, owner: str, foreign: frozenset[int]) -> bool:
    """Whether a nested function gets the method's instance for the parameter of that name."""
    if not isinstance(scope, _FUNCTION) or owner not in {one.arg for one in parameters(scope)}:
        return False
    arguments = scope.args
    positional = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    defaults: list[tuple[str, ast.expr | None]] = [*zip(positional[::-1], arguments.defaults[::-1], strict=False)]
    defaults += zip((one.arg for one in arguments.kwonlyargs), arguments.kw_defaults, strict=True)
    if any(name == owner and _is_owner(default, owner, foreign) for name, default in defaults):
        return True
    number = positional.index(owner) if owner in positional else len(positional)
    names = _find_names(function, scope)
    return any(_passes_instance(node, names, number, owner, foreign) for node in nodes_of(function))


def _find_names(function: Function, scope: ast.AST) -> frozenset[str]:
    """Return the names of a nested function, or those that a lambda is assigned to."""
    if isinstance(scope, Function):
        return frozenset({scope.name})
    pairs = (pair for node in nodes_of(function) for pair in assignments_of(node))
    return frozenset(t.id for t, value, _ in pairs if value is scope and isinstance(t, ast.Name))


def _is_owner(node: ast.AST | None, owner: str, foreign: frozenset[int]) -> bool:
    return is_name(node, owner) and id(node) not in foreign


def _passes_instance(node: ast.AST, names: frozenset[str], number: int, owner: str, foreign: frozenset[int]) -> bool:
    """Whether a node passes the instance as argument ``number`` to a function with one of ``names``.

    It may call the function, bind it (``MethodType(run, self)``), or make it a method of the instance's class.
    """
    passed: Sequence[ast.AST | None] = ()
    match node:
        case ast.Call(func=ast.Name(id=called), args=values) if called in names:
            passed = values[number : number + 1]
        case ast.Call(func=ast.Attribute(value=ast.Name(id=bound), attr="__get__"), args=values) if bound in names:
            passed = values[number : number + 1]
        case ast.Call(args=[ast.Name(id=bound), *values]) if bound in names:
            passed = values[number : number + 1]
        case ast.Call(func=ast.Name(id="setattr"), args=[to, _, ast.Name(id=made)]) if made in names and not number:
            passed = [_find_class_owner(to)]
        case ast.Assign(targets=[ast.Attribute(value=to)], value=ast.Name(id=made)) if made in names and not number:
            passed = [_find_class_owner(to)]
    return any(_is_owner(one, owner, foreign) for one in passed)
