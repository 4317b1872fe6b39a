"""The signature of a decorated function as callers see it: its own, that of the wrapper around it, or one made of both.

Comes in: a world, a function and its module. Goes out: the function whose parameters count, with its module and, if
they are not just its own, the signature; ``None`` if a decorator cannot be read. May touch: the world's trees, by
reading.
"""

from __future__ import annotations

import ast
import itertools
from typing import NamedTuple

from runner_sync import signatures
from runner_sync.signatures import TRANSPARENT, Signature, decorator_names, positional_parameters
from runner_sync.syntax import Function, decorator_name, dotted_name, is_name
from runner_sync.verify.trees.functions import nodes_of, returns_of
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.world import World


class Visible(NamedTuple):
    """What callers see of a decorated function: the parameters of ``function``, or ``signature`` in their place.

    ``function`` is ``None`` if a wrapper gives something else than what the function returns. ``place`` is
    ``path:line`` of what has the parameters.
    """

    function: Function | None
    module: Module
    place: str
    signature: Signature | None = None


def find_visible_function(world: World, function: Function, module: Module) -> Visible | None:
    """Return what callers see of a function.

    These are the parameters of the outermost wrapper that does not pass every argument on, else the function's own. Of
    a wrapper with ``*args`` and ``**kwargs`` they are its own and those of the function that the wrapper does not fill.
    ``None`` if they cannot be told, or if a decorator is unknown.
    """
    for number, decorator in enumerate(function.decorator_list):
        if decorator_name(decorator) in TRANSPARENT:
            continue
        found = _find_wrapper(world, decorator, module)
        if found is None:
            return None
        wrapper, wrapped, home = found
        if not _is_transparent(wrapper, wrapped):
            place = f"{home.path}:{wrapper.lineno}"
            if wrapper.args.vararg is None and wrapper.args.kwarg is None:
                return Visible(wrapper, home, place)
            inner = _read_below(world, function, module, start=number + 1)
            made = _join(wrapper, wrapped, inner) if inner is not None else None
            returned = {ast.unparse(value) if value is not None else "" for value in returns_of(wrapper)}
            given = function if returned == _list_calls(wrapper, wrapped) else None
            return Visible(given, module, place, made) if made is not None else None
    return Visible(function, module, f"{module.path}:{function.lineno}")


def _read_below(world: World, function: Function, module: Module, *, start: int) -> Signature | None:
    """Return the function's own signature if the decorators from number ``start`` on keep it, else ``None``."""
    for decorator in function.decorator_list[start:]:
        found = _find_wrapper(world, decorator, module) if decorator_name(decorator) not in TRANSPARENT else ()
        if found is None or (found and not _is_transparent(found[0], found[1])):
            return None
    return signatures.of_function(function, bound=False)


def _join(wrapper: Function, wrapped: str, inner: Signature) -> Signature | None:
    """Return the signature of a wrapper that adds arguments of its own, or fills some of those of the function.

    ``None`` unless all its calls of the function are the same, with ``*args`` and ``**kwargs`` as they came in.
    """
    calls = [node for node in nodes_of(wrapper) if isinstance(node, ast.Call) and is_name(node.func, wrapped)]
    if len(_list_calls(wrapper, wrapped)) != 1 or wrapper.args.vararg is None or wrapper.args.kwarg is None:
        return None
    stars = (wrapper.args.vararg.arg, wrapper.args.kwarg.arg)
    match calls[0]:
        case ast.Call(
            args=[*first, ast.Starred(ast.Name(args))], keywords=[*named, ast.keyword(None, ast.Name(kwargs))]
        ):
            is_whole = (args, kwargs) == stars
        case _:
            return None
    names = [node for node in nodes_of(wrapper) if isinstance(node, ast.Name) and node.id in (*stars, wrapped)]
    is_changed = any(not isinstance(node.ctx, ast.Load) for node in names)
    is_changed = is_changed or len([node for node in names if node.id in stars]) != 2 * len(calls)
    if not is_whole or is_changed or any(isinstance(one, ast.Starred) for one in first):
        return None
    filled = {keyword.arg for keyword in named}
    if None in filled or len(first) > len(inner.positional):
        return None
    return _fill(
        signatures.of_function(wrapper, bound=False), inner, len(first), frozenset(one for one in filled if one)
    )


def _fill(outer: Signature, inner: Signature, count: int, filled: frozenset[str]) -> Signature | None:
    """Return the parameters of a wrapper, then those of the function that it neither fills by position nor by name."""
    left = inner.positional[count:]
    # Behind a parameter that is filled by name, the others can only be given by name.
    placed = tuple(itertools.takewhile(lambda name: name not in filled, left))
    by_name = (*(name for name in left[len(placed) :] if name not in filled), *inner.keyword_only)
    by_name = tuple(name for name in by_name if name not in filled)
    names = {*placed, *by_name}
    if names & set(outer.names) or filled & set(outer.names) or not filled <= inner.keywords | set(left):
        return None
    return Signature(
        (*outer.positional, *placed),
        outer.positional_only | (inner.positional_only & names),
        (*outer.keyword_only, *by_name),
        outer.required | (inner.required & names),
        inner.var_positional,
        inner.var_keyword,
    )


def _list_calls(wrapper: Function, wrapped: str) -> set[str]:
    """Return the source texts of a wrapper's calls of the function."""
    calls = (node for node in nodes_of(wrapper) if isinstance(node, ast.Call) and is_name(node.func, wrapped))
    return {ast.unparse(call) for call in calls}


def _find_wrapper(world: World, decorator: ast.expr, module: Module) -> tuple[Function, str, Module] | None:
    """Return the inner function that a decorator returns, its parameter for the wrapped function, and its module.

    ``None`` unless the decorator is a plain function of the trees.
    """
    is_factory = isinstance(decorator, ast.Call)
    dotted = dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
    definitions = world.resolve(module, dotted) if dotted else []
    if len(definitions) != 1 or definitions[0].kind != "function" or world.patches_of(definitions[0].name):
        return None
    outer, home = definitions[0].node, definitions[0].module
    if not isinstance(outer, ast.FunctionDef) or outer.decorator_list or home is None:
        return None
    decorating = _find_returned(outer) if is_factory else outer
    wrapper = _find_returned(decorating) if decorating is not None else None
    parameters = positional_parameters(decorating) if decorating is not None else []
    if wrapper is None or len(parameters) != 1 or decorator_names(wrapper) - {"wraps"}:
        return None
    return wrapper, parameters[0].arg, home


def _find_returned(function: ast.FunctionDef) -> ast.FunctionDef | None:
    """Return the single inner function that every ``return`` returns; ``None`` for a function of another form."""
    inner = [statement for statement in function.body if isinstance(statement, ast.FunctionDef)]
    values = list(returns_of(function))
    if len(inner) != 1 or not values or not all(v is not None and is_name(v, inner[0].name) for v in values):
        return None
    bound = [n for n in nodes_of(function) if is_name(n, inner[0].name)]
    return inner[0] if all(isinstance(name.ctx, ast.Load) for name in bound) else None


def _is_transparent(wrapper: Function, wrapped: str) -> bool:
    """Whether a wrapper takes any arguments and only passes them on.

    Every call of ``wrapped``, and every ``return``, must be exactly ``wrapped(…, *args, **kwargs)``.
    """
    parameters = wrapper.args
    if parameters.vararg is None or parameters.kwarg is None or parameters.kwonlyargs:
        return False
    names = [parameter.arg for parameter in positional_parameters(wrapper)]
    wanted = ast.unparse(
        ast.Call(
            ast.Name(wrapped),
            [*(ast.Name(name) for name in names), ast.Starred(ast.Name(parameters.vararg.arg))],
            [ast.keyword(None, ast.Name(parameters.kwarg.arg))],
        )
    )
    calls = [n for n in nodes_of(wrapper) if isinstance(n, ast.Call) and is_name(n.func, wrapped)]
    changed = [n for n in nodes_of(wrapper) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)]
    passed = {*names, parameters.vararg.arg, parameters.kwarg.arg, wrapped}
    returned = [ast.unparse(value) if value is not None else "" for value in returns_of(wrapper)]
    is_same = bool(calls) and all(ast.unparse(call) == wanted for call in calls)
    return is_same and set(returned) == {wanted} and not any(name.id in passed for name in changed)
