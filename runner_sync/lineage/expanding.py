"""Puts the body of a method in place of its call, where that is certain to do the same.

Comes in: a method, and another one of its class that it calls. Goes out: the first method with the body of the second.
May touch: nothing.

Parameters become the arguments, and results the targets of the call; what cannot be renamed is assigned::

    run     mask = self._masked(rows, 2)          _masked(self, batch, size)   m = make(batch, size); return m
    result  mask = make(rows, 2)

Leaves alone: a method that returns early (but for ``return self._masked(…)``), is decorated, or takes ``*args``; one
that is called twice, or as a part of a larger statement; one whose locals or globals the caller uses for something
else.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from typing import NamedTuple

from runner_sync.edits import Edit, Places, apply, margin
from runner_sync.lineage.same_meaning import Expansion, has_same_meaning
from runner_sync.statements import always_leaves, bound_in, first_function, inside_strings, parameters, parses
from runner_sync.syntax import Comprehension, Function, names_in, parameter_names, statements_of, walk
from runner_sync.texts.member_text import split_head


class Use(NamedTuple):
    """The only use of a method: a statement that calls it and assigns, returns or drops the result."""

    user: ast.Assign | ast.Return | ast.Expr
    call: ast.Call


def expand_call(text: str, name: str, helper: str, *, taken: Collection[str] = ()) -> str:
    """Return ``text`` with the body of ``helper`` in place of its only call ``self.name(…)``; unchanged if in doubt.

    ``taken`` are names that the result must not use as globals, because it is merged with code that binds them.
    """
    function, inner = first_function(text), first_function(helper)
    use = find_use(function, name) if function is not None else None
    if function is None or inner is None or use is None or not _is_plain(inner, name):
        return text
    given = find_arguments(inner, use.call)
    prefixed = _find_assigned_parameters(inner, given) if given is not None else {}
    if given is None or not _is_end_reached_rightly(inner, use.user):
        return text
    body = _write_body(helper, inner, given, prefixed, use)
    if not body:
        return text
    rows = text.split("\n")
    first, last = use.user.lineno - 1, use.user.end_lineno or use.user.lineno
    made = "\n".join([*rows[:first], *body, *rows[last:]])
    if not parses(made) or not _stands_alone(rows, use.user):
        return text
    new = first_function(made)
    assert new is not None
    lines = range(first + 1, first + len(body) + 1)
    brought = [stmt for stmt in statements_of(new.body) if stmt.lineno in lines]
    expansion = Expansion(text, function, use.user, inner, given, prefixed.keys(), bound_in(brought))
    return made if has_same_meaning(expansion, taken=taken) else text


def find_use(function: Function, name: str) -> Use | None:
    """Return the only use of ``self.name`` if it is a call that is a statement's whole value; else ``None``."""
    uses = [node for node in walk(function) if isinstance(node, ast.Attribute) and node.attr == name]
    for stmt in statements_of(function.body) if len(uses) == 1 else ():
        match stmt:
            case (
                ast.Assign(targets=[_], value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"))) as call)
                | ast.Return(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"))) as call)
                | ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"))) as call)
            ) if call.func is uses[0]:
                return Use(stmt, call)
    return None


def _stands_alone(rows: list[str], stmt: ast.stmt) -> bool:
    """Whether a statement has its lines to itself, without a comment that would be lost."""
    first, last = rows[stmt.lineno - 1], rows[(stmt.end_lineno or stmt.lineno) - 1]
    return not first.encode()[: stmt.col_offset].strip() and not last.encode()[stmt.end_col_offset :].strip()


_REFUSED_NODES = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)
_REFUSED_NAMES = frozenset({"super", "__class__", "locals", "vars", "eval", "exec"})
"""Names whose value depends on the method that they stand in."""


def _is_plain(function: Function, name: str) -> bool:
    """Whether a method takes ``self`` and named parameters, and its body means the same in another method."""
    given = function.args
    if isinstance(function, ast.AsyncFunctionDef) or function.decorator_list or given.vararg or given.kwarg:
        return False
    first = next(iter([*given.posonlyargs, *given.args]), None)
    nodes = [node for stmt in function.body for node in walk(stmt)]
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return (
        first is not None
        and first.arg == "self"
        and "self" not in bound_in(function.body)
        and name not in attributes
        and not any(isinstance(node, _REFUSED_NODES) for node in nodes)
        and _REFUSED_NAMES.isdisjoint(name for stmt in function.body for name in names_in(stmt))
        and not any(one.startswith("__") and not one.endswith("__") for one in attributes)
    )


def find_arguments(function: Function, call: ast.Call) -> Mapping[str, ast.expr] | None:
    """Return the argument of each parameter in the order of evaluation; ``None`` if one is not certain."""
    places = [parameter.arg for parameter in [*function.args.posonlyargs, *function.args.args][1:]]
    names = {parameter.arg for parameter in parameters(function)} - {"self"}
    if len(call.args) > len(places) or any(isinstance(node, _NOT_PASSED) for arg in call.args for node in walk(arg)):
        return None
    given = dict(zip(places, call.args, strict=False))
    for keyword in call.keywords:
        if keyword.arg not in names - given.keys() or any(isinstance(n, _NOT_PASSED) for n in walk(keyword.value)):
            return None
        given[keyword.arg or ""] = keyword.value
    for name, default in _find_defaults(function).items():
        if name not in given and isinstance(default, ast.Constant):
            given[name] = default
    return given if given.keys() == names else None


_NOT_PASSED = (ast.Starred, ast.NamedExpr, ast.Await, ast.Yield, ast.YieldFrom, ast.Lambda)


def _find_defaults(function: Function) -> dict[str, ast.expr]:
    given = function.args
    named = [parameter.arg for parameter in [*given.posonlyargs, *given.args]]
    found = dict(zip(reversed(named), reversed(given.defaults), strict=False))
    by_keyword = {one.arg: default for one, default in zip(given.kwonlyargs, given.kw_defaults, strict=True) if default}
    return {**found, **by_keyword}


def _find_assigned_parameters(function: Function, given: Mapping[str, ast.expr]) -> dict[str, ast.expr]:
    """Return the parameters that must be assigned in front of the body, with their arguments.

    Any other one can be written as its argument: a constant, or a name that the method does not use itself.
    """
    own = _collect_names(function)
    kept = bound_in(function.body) | _find_bound_deeper(function) | _find_formatted(function)

    def is_written(name: str, argument: ast.expr) -> bool:
        is_other = not isinstance(argument, ast.Name) or argument.id not in own
        return isinstance(argument, ast.Name | ast.Constant) and name not in kept and is_other

    return {
        name: argument
        for name, argument in given.items()
        if not (isinstance(argument, ast.Name) and argument.id == name) and not is_written(name, argument)
    }


def _collect_names(function: Function) -> frozenset[str]:
    """Return all names that a function mentions, parameters and nested scopes included."""
    return frozenset(names_in(function) | parameter_names(function) | bound_in(function.body))


def _find_bound_deeper(function: Function) -> frozenset[str]:
    """Return the names that nested functions, lambdas and comprehensions bind."""
    inner = [node for stmt in function.body for node in walk(stmt)]
    scopes = [node for node in inner if isinstance(node, Function | ast.Lambda | ast.ClassDef | Comprehension)]
    stored = {node.id for scope in scopes for node in walk(scope) if isinstance(node, ast.Name) and not _is_read(node)}
    return frozenset(stored.union(*(parameter_names(scope) for scope in scopes)))


def _find_formatted(function: Function) -> frozenset[str]:
    """Return the names inside f-strings, whose places ``ast`` does not tell in older versions of Python."""
    return frozenset(name for node in walk(function) if isinstance(node, ast.JoinedStr) for name in names_in(node))


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def _is_end_reached_rightly(function: Function, user: ast.stmt) -> bool:
    """Whether the body ends in the caller as it does in the method: by the only, last ``return``, or as the caller."""
    returns = [stmt for stmt in statements_of(function.body) if isinstance(stmt, ast.Return)]
    if isinstance(user, ast.Return):
        return always_leaves(function.body)
    if not returns:
        return isinstance(user, ast.Expr)
    return len(returns) == 1 and returns[0] is function.body[-1]


def _write_body(
    helper: str, function: Function, given: Mapping[str, ast.expr], prefixed: Mapping[str, ast.expr], use: Use
) -> list[str]:
    """Return the lines of the body as they stand in place of the call; none if the method is written on one line."""
    written = {name: ast.unparse(arg) for name, arg in given.items() if name not in prefixed}
    results = _rename_results(function, use) if isinstance(use.user, ast.Assign) else {}
    text = _rename(helper, function, {name: new for name, new in {**written, **results}.items() if name != new})
    if not isinstance(use.user, ast.Return):
        text = _assign_results(text, use.user)
    body = _indent_body(text, " " * use.user.col_offset)
    used = names_in(ast.Module(function.body, []))
    assigned = [
        f"{' ' * use.user.col_offset}{name} = {ast.unparse(argument)}"
        for name, argument in prefixed.items()
        if name in used or any(isinstance(node, ast.Call) for node in walk(argument))
    ]
    return [*assigned, *body] if body else []


def _rename(helper: str, function: Function, names: Mapping[str, str]) -> str:
    places = Places(helper)
    nodes = [node for stmt in function.body for node in walk(stmt) if isinstance(node, ast.Name) and node.id in names]
    return apply(helper, [places.instead_of(node, names[node.id]) for node in nodes])


def _rename_results(function: Function, use: Use) -> dict[str, str]:
    """Return the locals that can take the name of the target that they are assigned to."""
    last = function.body[-1]
    assert isinstance(use.user, ast.Assign)
    pairs = _pair(use.user.targets[0], last.value) if isinstance(last, ast.Return) and last.value is not None else []
    names = [(t.id, v.id) for t, v in pairs if isinstance(t, ast.Name) and isinstance(v, ast.Name)]
    passed = names_in(use.call)
    stored = {node.id for node in walk(function) if isinstance(node, ast.Name) and not _is_read(node)}
    fixed = parameter_names(function) | _find_bound_deeper(function) | _find_formatted(function)
    fixed |= bound_in(function.body) - stored
    own = _collect_names(function)
    return {
        value: target
        for target, value in names
        if value in stored - fixed
        and target not in own | passed
        and [one for one, _ in names].count(target) == [one for _, one in names].count(value) == 1
    }


def _pair(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Return each target with its value, if the numbers of both can be told; else the whole ones."""
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple) or len(target.elts) != len(value.elts):
        return [(target, value)]
    is_starred = any(isinstance(one, ast.Starred) for one in [*target.elts, *value.elts])
    return [(target, value)] if is_starred else [*zip(target.elts, value.elts, strict=True)]


def _assign_results(helper: str, user: ast.Assign | ast.Expr) -> str:
    """Turn the final ``return`` into an assignment to the targets, without what is assigned to itself."""
    function = first_function(helper)
    last = function.body[-1] if function is not None else None
    if not isinstance(last, ast.Return):
        return helper
    places = Places(helper)
    whole = helper[places.start(last) + len("return") : places.end(last)].strip()
    if isinstance(user, ast.Expr):
        kept = "" if last.value is None or isinstance(last.value, ast.Name | ast.Constant) else whole
    else:
        kept = _write_assignment(user.targets[0], last.value, whole)
    return apply(helper, [Edit(places.start(last), places.end(last), kept)])


def _write_assignment(target: ast.expr, value: ast.expr | None, whole: str) -> str:
    pairs = _pair(target, value) if value is not None else []
    left = [(t, v) for t, v in pairs if not (isinstance(t, ast.Name) and ast.unparse(t) == ast.unparse(v))]
    if len(left) == len(pairs):
        parts = target.elts if isinstance(target, ast.Tuple) and len(target.elts) > 1 else [target]
        return f"{', '.join(map(ast.unparse, parts))} = {whole or 'None'}"
    targets, values = (", ".join(ast.unparse(pair[k]) for pair in left) for k in (0, 1))
    return f"{targets} = {values}" if left else ""


def _indent_body(helper: str, indentation: str) -> list[str]:
    """Return the lines of the body, indented anew, without the docstring; those inside strings stay unchanged."""
    head, _ = split_head(helper)
    function = first_function(helper)
    if not head or function is None:
        return []
    start = head.count("\n")
    last = max((stmt.end_lineno or stmt.lineno for stmt in function.body), default=0)
    rows = helper.split("\n")
    end = max(last, start)
    width = len(margin(next((row for row in rows[start:end] if row.strip()), "")))
    fixed = inside_strings(helper)
    found = [
        row if k in fixed or not row.strip() else indentation + (row[width:] if not row[:width].strip() else row)
        for k, row in enumerate(rows[start:end], start)
    ]
    while found and not found[-1].strip():
        found.pop()
    while found and not found[0].strip():
        found.pop(0)
    return found
