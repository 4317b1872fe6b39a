"""Find the names that code reads and binds, in execution order, for merges and checks.

Comes in: ``ast`` nodes of one scope. Goes out: ``Mention`` values. May touch: nothing.

Lambdas, comprehensions, functions and classes are scopes of their own: the ``r`` of ``lambda r: r.index`` is not a name
of the enclosing method. Inside them, only uses of the enclosing scope's names are mentions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from runner_sync.syntax import Comprehension, Function, assigned_names, children, parameter_names, walk


class Mention(NamedTuple):
    """One occurrence of a name. ``x += 1`` updates ``x``, ``del x`` deletes it: both need it set; ``global x``
    declares.

    With ``later``, the name is not read or bound when the statement runs, because it is inside a function or lambda, in
    a generator, or in an annotation.
    """

    name: str
    node: ast.AST
    kind: Literal["reads", "binds", "updates", "deletes", "declares"]
    later: bool = False


def mentions(nodes: Iterable[ast.AST | None]) -> list[Mention]:
    """Return the mentions of names of the scope of ``nodes``, in execution order."""
    found: list[Mention] = []
    todo = [node for node in nodes if node is not None][::-1]
    while todo:
        node = todo.pop()
        if type(node) not in _MENTIONING:
            todo += children(node)[::-1]
            continue
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                found.append(Mention(name, node, "reads"))
            case ast.Name(id=name, ctx=context):
                found.append(Mention(name, node, "deletes" if isinstance(context, ast.Del) else "binds"))
            case ast.AugAssign(target=ast.Name(id=name), value=value):
                found.append(Mention(name, node.target, "updates"))
                todo.append(value)
            case ast.Assign(targets=targets, value=value):
                todo += [*reversed(targets), value]
            case ast.AnnAssign(target=target, annotation=annotation, value=value):
                found += _mark_later(mentions([annotation]))
                todo += [target, value] if value is not None else [target]
            case ast.For() | ast.AsyncFor():
                todo += reversed([node.iter, node.target, *node.body, *node.orelse])
            case ast.NamedExpr(target=target, value=value):
                todo += [target, value]
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found += _read_class(node) if isinstance(node, ast.ClassDef) else _read_function(node)
                found.append(Mention(node.name, node, "binds"))
            case ast.Lambda():
                found += _read_function(node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                found += _read_comprehension(node)
            case ast.alias(name=name, asname=alias):
                found.append(Mention(alias or name.partition(".")[0], node, "binds"))
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                found += [Mention(name, node, "declares") for name in names]
            case _:
                todo += children(node)[::-1]
                if captured := getattr(node, "rest" if isinstance(node, ast.MatchMapping) else "name", None):
                    found.append(Mention(captured, node, "binds"))
    return found


_MENTIONING = frozenset(
    {
        ast.Name,
        ast.Assign,
        ast.AugAssign,
        ast.AnnAssign,
        ast.NamedExpr,
        ast.For,
        ast.AsyncFor,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.Lambda,
        ast.ListComp,
        ast.SetComp,
        ast.DictComp,
        ast.GeneratorExp,
        ast.alias,
        ast.Global,
        ast.Nonlocal,
        ast.ExceptHandler,
        ast.MatchAs,
        ast.MatchStar,
        ast.MatchMapping,
    }
)
"""Nodes that mention a name themselves, or whose parts run in another order than in ``ast``; for any other node only
the children are visited."""


def bound_in(body: Iterable[ast.AST]) -> frozenset[str]:
    """Return the locals, except parameters, of a function with this body, including names it deletes or declares.

    Unlike `syntax.assigned_names`, excludes names of nested functions, lambdas and comprehensions.
    """
    return _collect_bound(mentions(body))


def bound_anywhere(top: ast.AST) -> frozenset[str]:
    """Return all names, including parameters, bound in ``top`` or any function, lambda or comprehension inside."""
    scopes = [node for node in walk(top) if isinstance(node, Function)]
    return frozenset().union(assigned_names(top), parameter_names(top), *(bound_in(scope.body) for scope in scopes))


def _collect_bound(found: Iterable[Mention]) -> frozenset[str]:
    return frozenset(mention.name for mention in found if mention.kind != "reads")


def parameters(function: Function | ast.Lambda) -> list[ast.arg]:
    """Return all parameters of a function, starred ones included."""
    rows = function.args
    found = [*rows.posonlyargs, *rows.args, rows.vararg, *rows.kwonlyargs, rows.kwarg]
    return [parameter for parameter in found if parameter is not None]


def _read_function(function: Function | ast.Lambda) -> list[Mention]:
    given = parameters(function)
    now = [*function.args.defaults, *function.args.kw_defaults]
    if isinstance(function, ast.Lambda):
        body: Sequence[ast.AST] = [function.body]
        notes: list[ast.expr | None] = []
    else:
        body = function.body
        notes = [*(parameter.annotation for parameter in given), function.returns]
        now = [*function.decorator_list, *now]
    inside = mentions(body)
    outer = {mention.name for mention in inside if isinstance(mention.node, ast.Nonlocal)}
    own = {parameter.arg for parameter in given} | (_collect_bound(inside) - outer)
    free = [mention for mention in inside if mention.name not in own]
    return [*mentions(now), *_mark_later([*mentions(notes), *free])]


def _read_class(node: ast.ClassDef) -> list[Mention]:
    """Return the mentions of a class without the names that it binds, which are still mentions in methods, because
    methods do not see them."""
    inside = mentions(node.body)
    own = _collect_bound(inside)
    head = mentions([*node.decorator_list, *node.bases, *node.keywords])
    return [*head, *(mention for mention in inside if mention.later or mention.name not in own)]


def _read_comprehension(node: Comprehension) -> list[Mention]:
    """Return the mentions of a comprehension, whose first iterable and ``:=`` targets belong to the enclosing scope.

    What a generator reads is read ``later``. What it binds by ``:=`` is not, because the enclosing call usually runs it
    at once: ``any((hit := f(x)) for x in xs)``.
    """
    first, *others = node.generators
    value = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    own = {mention.name for part in node.generators for mention in mentions([part.target]) if mention.kind == "binds"}
    rest = [*first.ifs, *(part for other in others for part in (other.iter, *other.ifs)), *value]
    inside = [mention for mention in mentions(rest) if mention.name not in own]
    is_later = isinstance(node, ast.GeneratorExp)
    return [*mentions([first.iter]), *(m._replace(later=m.later or (is_later and m.kind != "binds")) for m in inside)]


def _mark_later(found: Iterable[Mention]) -> list[Mention]:
    return [mention._replace(later=True) for mention in found]
