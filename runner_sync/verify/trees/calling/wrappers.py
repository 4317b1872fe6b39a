"""The signature of a decorated function as callers see it: its own, or that of the wrapper around it.

Comes in: a world, a function and its module. Goes out: the function whose parameters count, with its module; ``None``
if a decorator cannot be read. May touch: the world's trees, by reading.
"""

from __future__ import annotations

import ast

from runner_sync.signatures import TRANSPARENT, decorator_names, positional_parameters
from runner_sync.syntax import Function, decorator_name, dotted_name, is_name
from runner_sync.verify.trees.functions import nodes_of, returns_of
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.world import World


def find_visible_function(world: World, function: Function, module: Module) -> tuple[Function, Module] | None:
    """Return the function whose parameters callers see, with its module.

    This is the outermost wrapper that does not pass every argument on, else the function itself. ``None`` if that
    wrapper has ``*args`` or ``**kwargs``, or if a decorator is unknown.
    """
    for decorator in function.decorator_list:
        if decorator_name(decorator) in TRANSPARENT:
            continue
        found = _find_wrapper(world, decorator, module)
        if found is None:
            return None
        wrapper, wrapped, home = found
        if not _hands_everything_on(wrapper, wrapped):
            is_closed = wrapper.args.vararg is None and wrapper.args.kwarg is None
            return (wrapper, home) if is_closed else None
    return function, module


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
    bound = [n for n in nodes_of(function) if isinstance(n, ast.Name) and n.id == inner[0].name]
    return inner[0] if all(isinstance(name.ctx, ast.Load) for name in bound) else None


def _hands_everything_on(wrapper: Function, wrapped: str) -> bool:
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
