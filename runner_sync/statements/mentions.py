"""Which names code reads and binds, in the order in which it runs; merges and checks both ask here.

Comes in: ``ast`` nodes of one scope. Goes out: ``Mention`` values. May touch: nothing.

A lambda, a comprehension, a function and a class have names of their own: the ``r`` of ``lambda r: r.index`` is no name
of the method around it. From inside them, only uses of this scope's names are mentions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from runner_sync.syntax import Function, assigned_names, children, parameter_names, walk


class Mention(NamedTuple):
    """A name where it stands. ``x += 1`` updates ``x``, ``del x`` deletes it: both need it set; ``global x`` declares.

    With ``later``, the name is not read or bound at the moment when the statement runs: it stands inside a function or
    lambda, in a generator, or in an annotation.
    """

    name: str
    node: ast.AST
    kind: Literal["reads", "binds", "updates", "deletes", "declares"]
    later: bool = False


_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def mentions(nodes: Iterable[ast.AST | None]) -> list[Mention]:
    """The mentions of names of the scope that ``nodes`` stand in, in the order in which they run."""
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
                found += _as_later(mentions([annotation]))
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
"""Nodes that mention a name themselves, or whose parts run in another order than in ``ast``; of any other node just the
children are visited."""


def bound_in(body: Iterable[ast.AST]) -> frozenset[str]:
    """The locals, beside its parameters, of a function with this body; also what it deletes or declares.

    Without the names of functions, lambdas and comprehensions inside, which `syntax.assigned_names` includes.
    """
    return _bound(mentions(body))


def bound_anywhere(top: ast.AST) -> frozenset[str]:
    """All names that ``top``, or any function, lambda or comprehension inside, binds, parameters included."""
    scopes = [node for node in walk(top) if isinstance(node, Function)]
    return frozenset().union(assigned_names(top), parameter_names(top), *(bound_in(scope.body) for scope in scopes))


def _bound(found: Iterable[Mention]) -> frozenset[str]:
    return frozenset(mention.name for mention in found if mention.kind != "reads")


def parameters(function: Function | ast.Lambda) -> list[ast.arg]:
    """All parameters of a function, starred ones included."""
    rows = function.args
    found = [*rows.posonlyargs, *rows.args, rows.vararg, *rows.kwonlyargs, rows.kwarg]
    return [parameter for parameter in found if parameter is not None]


def _of_function(function: Function | ast.Lambda) -> list[Mention]:
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
    return [*mentions(now), *_as_later([*mentions(notes), *free])]


def _of_class(node: ast.ClassDef) -> list[Mention]:
    """The mentions of a class without the names that it binds itself; its methods do not see these, so theirs count."""
    inside = mentions(node.body)
    own = _bound(inside)
    head = mentions([*node.decorator_list, *node.bases, *node.keywords])
    return [*head, *(mention for mention in inside if mention.later or mention.name not in own)]


def _of_comprehension(node: _Comprehension) -> list[Mention]:
    """The mentions of a comprehension. Its first sequence belongs to the scope around it, and so does a ``:=`` inside.

    What a generator reads is read ``later``; what it binds by ``:=`` is not, because the call around it usually runs it
    at once: ``any((hit := f(x)) for x in xs)``.
    """
    first, *others = node.generators
    value = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    own = {mention.name for part in node.generators for mention in mentions([part.target]) if mention.kind == "binds"}
    rest = [*first.ifs, *(part for other in others for part in (other.iter, *other.ifs)), *value]
    inside = [mention for mention in mentions(rest) if mention.name not in own]
    is_later = isinstance(node, ast.GeneratorExp)
    return [*mentions([first.iter]), *(m._replace(later=m.later or (is_later and m.kind != "binds")) for m in inside)]


def _as_later(found: Iterable[Mention]) -> list[Mention]:
    return [mention._replace(later=True) for mention in found]
