"""The body of an inlined helper in the names of the method that calls it.

Comes in: the text of a helper, and the call. Goes out: the helper's text, its parameters replaced by the arguments.
May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from runner_sync.edits import Edit, Function, Places, apply, margin
from runner_sync.statements import first_function
from runner_sync.syntax import is_string, walk


def with_arguments(helper: str, call: ast.Call | None) -> str:
    """Return ``helper`` with the arguments of ``call`` in its body, wherever an argument is not named as its parameter.

    A name or attribute replaces the parameter; any other value, also a default, is assigned to the parameter on top.
    A parameter stays unbound if ``call`` unpacks arguments with a star.
    """
    function = first_function(helper)
    if function is None or call is None:
        return helper
    values = {name: value for name, value in _values(function, call).items() if ast.unparse(value) != name}
    replaced = {name: value for name, value in values.items() if _can_replace(name, value, function)}
    places = Places(helper)
    edits = [
        Edit(places.start(node), places.end(node), ast.unparse(replaced[node.id]))
        for stmt in function.body
        for node in walk(stmt)
        if isinstance(node, ast.Name) and node.id in replaced
    ]
    bound = [(name, value) for name, value in values.items() if name not in replaced]
    first = next((stmt for stmt in function.body if not is_string(stmt)), None)
    if bound and first is not None and first.lineno != function.lineno:
        lead = margin(helper.split("\n")[first.lineno - 1])
        lines = "".join(f"{name} = {ast.unparse(value)}\n{lead}" for name, value in bound)
        edits.append(Edit(places.start(first), places.start(first), lines))
    return apply(helper, edits)


def _values(function: Function, call: ast.Call) -> Mapping[str, ast.expr]:
    """The value of each parameter: what ``call`` passes, else the default."""
    if any(isinstance(arg, ast.Starred) for arg in call.args) or any(word.arg is None for word in call.keywords):
        return {}
    positional = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)]
    passed = dict(zip(positional[1:], call.args, strict=False)) | {
        word.arg: word.value for word in call.keywords if word.arg is not None
    }
    return dict(_defaults(function)) | passed


def _defaults(function: Function) -> Iterator[tuple[str, ast.expr]]:
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    if arguments.defaults:
        names = positional[-len(arguments.defaults) :]
        yield from ((arg.arg, value) for arg, value in zip(names, arguments.defaults, strict=True))
    for arg, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if value is not None:
            yield arg.arg, value


def _can_replace(name: str, value: ast.expr, function: Function) -> bool:
    """Whether ``value`` may stand for the parameter wherever the body mentions it.

    It may not if the body assigns either of the two, or mentions the parameter in an f-string or a nested function,
    whose positions or scopes differ.
    """
    if not isinstance(value, ast.Name | ast.Attribute):
        return False
    nodes = [node for stmt in function.body for node in walk(stmt)]
    hidden = {id(node) for top in nodes if isinstance(top, _INNER) for node in walk(top)}
    given = {node.id for node in walk(value) if isinstance(node, ast.Name)}
    mentions = [node for node in nodes if isinstance(node, ast.Name) and node.id in {name, *given}]
    return all(isinstance(node.ctx, ast.Load) and not (node.id == name and id(node) in hidden) for node in mentions)


_INNER = (ast.JoinedStr, ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
