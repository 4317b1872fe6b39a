"""Assignments that only renew an attribute: whoever gets there has read it before.

Comes in: a method and one of its assignments of an attribute. Goes out: whether the method needs the attribute before
that. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from runner_sync.syntax import blocks_of
from runner_sync.verify.classes import Assignment, is_attribute_of, self_name
from runner_sync.verify.modules import nodes_of


def is_renewal(assignment: Assignment, name: str) -> bool:
    """Whether an assignment of ``self.name`` gives nothing to who lacks it: ``if self.todo: self.todo = False``.

    What has to be evaluated on every way to it, or for it, reads the attribute.
    """
    function = assignment.function
    owner = self_name(function) if function is not None else None
    if isinstance(assignment.node, ast.AugAssign):
        return True
    if function is None or owner is None or not _reads(nodes_of(function), owner, name):
        return False
    before = _before(function.body, assignment.node)
    return any(_reads(_always(part), owner, name) for part in before or ())


def _reads(nodes: Sequence[ast.AST], owner: str, name: str) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.ctx, ast.Load)
        and is_attribute_of(node, owner)
        for node in nodes
    )


def _before(block: Sequence[ast.stmt], wanted: ast.AST) -> list[ast.AST] | None:
    """The statements and conditions that run before ``wanted`` does; ``None`` where it is not in the block."""
    for number, statement in enumerate(block):
        if statement is wanted:
            return [*block[:number], statement]
        for inner in blocks_of(statement):
            within = _before(inner, wanted)
            if within is not None:
                return [*block[:number], *_evaluated(statement), *within]
    return None


def _always(node: ast.AST) -> list[ast.AST]:
    """What is evaluated whenever ``node`` is: no branch, no second half of an ``and``, nothing that may be caught."""
    found = [node]
    for one in found:
        found += _evaluated(one)
    return found


def _evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of ``node`` that are always evaluated; of a compound statement before its blocks are."""
    match node:
        case ast.Lambda() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef() | ast.Try() | ast.TryStar():
            return
        case ast.If(test=first) | ast.While(test=first) | ast.IfExp(test=first) | ast.Assert(test=first):
            yield first
        case ast.For(iter=first) | ast.AsyncFor(iter=first) | ast.Match(subject=first):
            yield first
        case ast.With(items=items) | ast.AsyncWith(items=items):
            yield from (item.context_expr for item in items)
        case ast.BoolOp(values=[first, *_]):
            yield first
        case ast.Compare(left=left, comparators=[first, *_]):
            yield from (left, first)
        case ast.ListComp(generators=[first, *_]) | ast.SetComp(generators=[first, *_]):
            yield first.iter
        case ast.DictComp(generators=[first, *_]) | ast.GeneratorExp(generators=[first, *_]):
            yield first.iter
        case _:
            yield from ast.iter_child_nodes(node)
