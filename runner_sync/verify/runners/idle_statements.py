"""Finds the statements of a GPU method that come to nothing on another platform.

Comes in: a GPU class with its twin, a method. Goes out: lines. May touch: what `without_gpu` touches.

Such a statement never runs, sets a local that is false for certain, calls what does nothing, or sets a local that only
such statements read.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from runner_sync.lineage import list_nodes
from runner_sync.statements.assigning import targets_of
from runner_sync.syntax import Function, first_line, walk
from runner_sync.verify.runners.callees import Scope, find_callees
from runner_sync.verify.runners.parity import Pair, translate_to_npu
from runner_sync.verify.runners.places import Places
from runner_sync.verify.runners.without_gpu import WithoutGpu


def find_idle_lines(pair: Pair, function: Function, wanted: Collection[int]) -> frozenset[int]:
    """Return the lines of the idle ones of the statements that begin at the lines ``wanted``.

    Lines are as the text of the method counts them.
    """
    scope, without = Scope(pair.gpu.reading, function, (pair.gpu, pair.npu)), pair.without_gpu
    places, above = without.places(function), first_line(function) - 1
    statements = [one for one in places.statements if one.lineno - above in wanted]
    idle = {id(one) for one in statements if _is_idle(without, scope, one)}
    if idle:
        _add_feeding(places, function, statements, idle)
    return frozenset(one.lineno - above for one in statements if id(one) in idle)


def find_idle_canons(pair: Pair, function: Function) -> frozenset[str]:
    """Return the idle statements of a GPU method in their canonical form, with NPU names."""
    text = translate_to_npu(pair.gpu.reading.text_of(function), pair.library.job.profile)
    nodes = list_nodes(text)
    lines = find_idle_lines(pair, function, {node.start for node in nodes})
    return frozenset(node.canon for node in nodes if node.start in lines)


def _is_idle(without: WithoutGpu, scope: Scope, statement: ast.stmt) -> bool:
    match statement:
        case ast.If(test=test) if without.is_false(scope, test):
            return True
        case ast.Assign(value=ast.Call() as call) if _stores_locals(statement):
            callees = find_callees(without.library, scope, call)
            if callees and all(without.is_passive(callee) for callee in callees):
                return True
    if isinstance(statement, ast.Assign | ast.AnnAssign) and _stores_locals(statement):
        return all(without.is_false(scope, target) for target in targets_of(statement))
    return without.is_dead(scope, statement)


def _stores_locals(statement: ast.Assign | ast.AnnAssign) -> bool:
    return all(isinstance(target, ast.Name) for target in targets_of(statement))


def _add_feeding(places: Places, function: Function, statements: Sequence[ast.stmt], idle: set[int]) -> None:
    """Add to ``idle`` the assignments of locals that only idle statements read."""
    reads: dict[str, list[ast.stmt | None]] = {}
    for node in walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            reads.setdefault(node.id, []).append(places.holder(node))
    setting = [one for one in statements if isinstance(one, ast.Assign) and _stores_locals(one)]

    def is_feeding(statement: ast.Assign) -> bool:
        found = [reads.get(target.id, []) for target in statement.targets if isinstance(target, ast.Name)]
        return all(found) and all(id(one) in idle for each in found for one in each)

    while more := {id(one) for one in setting if id(one) not in idle and is_feeding(one)}:
        idle |= more


def has_effect(canon: str) -> bool:
    """Whether a statement is a bare call, a returned value, or an assignment to an attribute or item."""
    try:
        (statement,) = ast.parse(canon).body
    except (SyntaxError, ValueError):
        return False  # the head of a compound statement, or a statement that needs a function around it
    if isinstance(statement, ast.Assign):
        return all(isinstance(target, ast.Attribute | ast.Subscript) for target in statement.targets)
    return isinstance(statement, ast.Expr | ast.Return)
