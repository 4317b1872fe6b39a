"""Which assignments create an attribute: no bare annotation, and none that can only run after a read of the attribute.

Comes in: classes and assignments of an attribute. Goes out: whether they create it. May touch: nothing.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator, Sequence

from runner_sync.syntax import Function, blocks_of
from runner_sync.verify.trees.classes import Assignment, ClassInfo, is_protocol, is_record
from runner_sync.verify.trees.functions import reads_of
from runner_sync.verify.trees.instance import is_instance, self_name


def defines_member(info: ClassInfo, name: str) -> bool:
    """Whether a class defines a member by its own body and methods."""
    return name in info.methods or any(can_create(info, assignment, name) for assignment in info.written.get(name, ()))


def can_create(info: ClassInfo, assignment: Assignment, name: str) -> bool:
    """Whether an assignment can create the attribute; a bare annotation does so only if it makes a field."""
    if assignment.is_bare and not (assignment.function is None and _may_have_fields(info)):
        return False
    return not _is_renewal(assignment, name)


def _may_have_fields(info: ClassInfo) -> bool:
    """Whether something may turn annotations of the class into fields: a decorator, a metaclass, ``NamedTuple``."""
    return bool(info.node.decorator_list or info.node.keywords) or is_record(info) or is_protocol(info)


def _is_renewal(assignment: Assignment, name: str) -> bool:
    """Whether an assignment of ``self.name`` needs the attribute to exist: ``if self.todo: self.todo = False``.

    It does if code that is always evaluated before the assignment, or in it, reads the attribute.
    """
    if isinstance(assignment.node, ast.AugAssign):
        return True
    function = assignment.function
    return function is not None and _is_read_before(function, assignment.node, name)


@functools.lru_cache(maxsize=65536)
def _is_read_before(function: Function, assigned: ast.AST, name: str) -> bool:
    if self_name(function) is None or name not in _find_read_names(function):
        return False
    return any(name in _find_always_read(part, function) for part in _find_run_before(function.body, assigned) or ())


@functools.lru_cache(maxsize=16384)
def _find_read_names(function: Function) -> frozenset[str]:
    """Return the attribute names that a function reads: a quick test, because most assignments are of other names."""
    return frozenset(node.attr for node in reads_of(function))


@functools.lru_cache(maxsize=65536)
def _find_always_read(part: ast.AST, function: Function) -> frozenset[str]:
    """Return the attributes of ``self`` that are read whenever a statement or condition is evaluated."""
    reads = (
        node for node in _walk_evaluated(part) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    )
    return frozenset(node.attr for node in reads if is_instance(function, node.value))


def _find_run_before(block: Sequence[ast.stmt], wanted: ast.AST) -> list[ast.AST] | None:
    """Return the statements and conditions that run before ``wanted``, and itself; ``None`` if it is not in the
    block."""
    for number, statement in enumerate(block):
        if statement is wanted:
            return [*block[:number], statement]
        for inner in blocks_of(statement):
            within = _find_run_before(inner, wanted)
            if within is not None:
                return [*block[:number], *_find_evaluated(statement), *within]
    return None


def _walk_evaluated(node: ast.AST) -> list[ast.AST]:
    """Return ``node`` and all parts that are evaluated whenever it is.

    Skips branches, the second half of an ``and``, and everything in a ``try``.
    """
    found = [node]
    for one in found:
        found += _find_evaluated(one)
    return found


def _find_evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the direct parts of ``node`` that are always evaluated.

    For a compound statement, these run before its blocks: its test, iterable, subject or context managers.
    """
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
