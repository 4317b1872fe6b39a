"""Which names code reads and binds, in the order in which it does: the one answer for merges and for what checks them.

Comes in: ``ast`` nodes of one scope. Goes out: ``Mention`` values. May touch: nothing.

A lambda, a comprehension, a function and a class have names of their own: the ``r`` of ``lambda r: r.index`` is no name
of the method around it. What is inside of them is a mention here as far as it reads a name of this scope.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from runner_sync.syntax import assigned_names, children, parameter_names, walk


class Mention(NamedTuple):
    """One name where it stands. ``x += 1`` updates ``x``: it reads it and binds it again. ``del x`` needs it set, too,
    and ``global x`` declares it.

    ``later`` is a name that the scope itself does not read or bind when it runs: one inside of a function or lambda, in
    a generator, or in an annotation.
    """

    name: str
    node: ast.AST
    kind: Literal["reads", "binds", "updates", "deletes", "declares"]
    later: bool = False


_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def mentions(nodes: Iterable[ast.AST | None]) -> list[Mention]:
    """The names of the scope that ``nodes`` stand in, in the order they run."""
    found: list[Mention] = []
    todo = [node for node in nodes if node is not None][::-1]
    while todo:
        node = todo.pop()
        if type(node) not in _TELLING:
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
                found += _later(mentions([annotation]))
                todo += [target, value] if value is not None else [target]
            case ast.For() | ast.AsyncFor():
                todo += reversed([node.iter, node.target, *node.body, *node.orelse])
            case ast.NamedExpr(target=target, value=value):
                todo += [target, value]
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found += _of_class(node) if isinstance(node, ast.ClassDef) else _of_function(node)
                found.append(Mention(node.name, node, "binds"))
            case ast.Lambda():
                found += _of_function(node)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                found += _of_comprehension(node)
            case ast.alias(name=name, asname=alias):
                found.append(Mention(alias or name.partition(".")[0], node, "binds"))
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                found += [Mention(name, node, "declares") for name in names]
            case _:
                todo += children(node)[::-1]
                if captured := getattr(node, "rest" if isinstance(node, ast.MatchMapping) else "name", None):
                    found.append(Mention(captured, node, "binds"))
    return found


_TELLING = frozenset(
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
"""Nodes that bind, or whose parts run in another order than ``ast`` has them in; the others are what is in them."""


def bound_in(body: Iterable[ast.AST]) -> frozenset[str]:
    """The names that a function with this body has as locals beside its parameters; what it deletes or declares, too.

    A function, lambda or comprehension inside of it has names of its own: `syntax.assigned_names` has those as well.
    """
    return _bound(mentions(body))


def bound_anywhere(top: ast.AST) -> frozenset[str]:
    """The names that ``top`` or any function, lambda or comprehension in it has for itself, parameters among them."""
    scopes = [node for node in walk(top) if isinstance(node, _Function)]
    return frozenset().union(assigned_names(top), parameter_names(top), *(bound_in(scope.body) for scope in scopes))


def _bound(found: Iterable[Mention]) -> frozenset[str]:
    return frozenset(mention.name for mention in found if mention.kind != "reads")


def parameters(function: _Function | ast.Lambda) -> list[ast.arg]:
    """All parameters of a function, starred ones included."""
    rows = function.args
    found = [*rows.posonlyargs, *rows.args, rows.vararg, *rows.kwonlyargs, rows.kwarg]
    return [parameter for parameter in found if parameter is not None]


def _of_function(function: _Function | ast.Lambda) -> list[Mention]:
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
    own = {parameter.arg for parameter in given} | (_bound(inside) - outer)
    free = [mention for mention in inside if mention.name not in own]
    return [*mentions(now), *_later([*mentions(notes), *free])]


def _of_class(node: ast.ClassDef) -> list[Mention]:
    """What its methods read is never a name that the class binds."""
    inside = mentions(node.body)
    own = _bound(inside)
    head = mentions([*node.decorator_list, *node.bases, *node.keywords])
    return [*head, *(mention for mention in inside if mention.later or mention.name not in own)]


def _of_comprehension(node: _Comprehension) -> list[Mention]:
    """Its first sequence is read outside of it; a name that ``:=`` binds in it is one of the scope around it.

    A generator is read later, and binds what is there once it has run: ``hit`` of ``any((hit := f(x)) for x in xs)``.
    """
    first, *others = node.generators
    value = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    own = {mention.name for part in node.generators for mention in mentions([part.target]) if mention.kind == "binds"}
    rest = [*first.ifs, *(part for other in others for part in (other.iter, *other.ifs)), *value]
    inside = [mention for mention in mentions(rest) if mention.name not in own]
    is_later = isinstance(node, ast.GeneratorExp)
    return [*mentions([first.iter]), *(m._replace(later=m.later or (is_later and m.kind != "binds")) for m in inside)]


def _later(found: Iterable[Mention]) -> list[Mention]:
    return [mention._replace(later=True) for mention in found]
