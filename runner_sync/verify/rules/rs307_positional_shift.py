"""RS307 positional-shift: the number of arguments still fits, but they now land on other parameters.

What: a call by position where the parameters at those positions were inserted, removed or reordered between the old and
the new target; also an NPU override whose order differs from the hidden method's, under a positional call from
inherited code. Likewise `a, b = self.m(...)` where every `return` of `m` has the values of the old target in another
order. With or without the old trees also two swapped values in one call or one unpacking: each has the other's name.
In a call these are two locals, or two attributes of `self` by position.

Example: `_model_forward(input_ids, positions, ...)` after vllm-ascend put `num_tokens_padded` first: every value moves
one place and nothing raises.

Why: silent wrong output or an error far away. 9 of the 156 recorded breakages; only the old tree tells.

Fix: pass by keyword, or in the target's order; unpack in that order.

Leaves alone: a parameter that was only renamed in place, calls whose arguments do not fit (RS302) or did not fit
before, arguments behind a `*`; a single value under another's name, names of one or two letters, a recursive call that
passes the function's own arguments in another order; swapped attributes of `self` for a constructor, by keyword, or
where the module makes the call in order, too; returned values of which one was renamed, or that moved in some returns
only; unpackings that changed as well; an argument with the name of the parameter that it lands on; a call that a parent
class makes word for word on the target. Except for swapped values the rule needs the old trees.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator

from runner_sync import signatures
from runner_sync.model import Finding, Severity
from runner_sync.syntax import dotted_name, dumped, is_name, walk
from runner_sync.verify.trees.calling import swapped
from runner_sync.verify.trees.calling.aliases import resolve_alias
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.calling.virtual import find_override_calls
from runner_sync.verify.trees.classes import ClassInfo, Mro, classes_in
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.known import all_known
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, steps
from runner_sync.verify.trees.values import returns
from runner_sync.verify.trees.values.uses import find_unpackings

CODE = "RS307"
NAME = "positional-shift"
SEVERITY: Severity = "error"


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield calls and unpackings whose values moved or are swapped, and overrides that move inherited arguments."""
    reported: set[tuple[str, int]] = set()
    for step in steps(program, module, old):
        moved: list[Finding] = []
        for node in step.frame.nodes():
            # A call that changed as well was written for the new order.
            if isinstance(node, ast.Call) and node.args and step.stood(node):
                moved += _check_call(step, resolve_alias(step.frame, node))
        moved += _check_unpackings(step)
        reported |= {(finding.unit, finding.line) for finding in moved}
        yield from moved
    for frame in program.frames(module):
        swaps = _check_swapped(program, frame)
        yield from (one for one in swaps if (one.unit, one.line) not in reported)
    for info in program.checked_classes(module):
        for mro in program.mros(info):
            for name in info.methods:
                yield from _check_override(program, info, mro, name=name)


def _check_swapped(program: Program, frame: Frame) -> Iterator[Finding]:
    """Yield calls ``f(b, a)`` of ``def f(a, b)``, and unpackings ``b, a = f()`` of ``return a, b``."""
    for node in frame.nodes():
        if isinstance(node, ast.Call) and len(node.args) + len(node.keywords) > 1:
            call = resolve_alias(frame, node)
            callee, names = _find_swapped(program, frame, call)
            if callee is not None:
                yield _make_swap_finding(
                    frame, node, callee, names, template="is given `{1}` for `{0}`, and the reverse"
                )
    for assigned, target in find_unpackings(frame):
        callees = program.reached(frame, assigned.value) if isinstance(assigned.value, ast.Call) else []
        found = all_known(swapped.find_swapped_values(target, callee) for callee in callees)
        if found:
            first = next(element for element in target.elts if is_name(element, found[0][1]))
            yield _make_swap_finding(
                frame, first, callees[0], found[0], template="returns `{0}` for `{1}`, and the reverse"
            )


def _find_swapped(program: Program, frame: Frame, call: ast.Call) -> tuple[Callee | None, tuple[str, str]]:
    """Return the first callee of a group in which all get the same two values swapped, with their parameters."""
    for group in program.callees(frame, call):
        callees = [callee for callee in group if callee.function is not frame.function]
        found = all_known(swapped.find_swapped_arguments(call, callee, frame.module.node) for callee in callees)
        if found:
            return callees[0], found[0]
    return None, ("", "")


def _make_swap_finding(
    frame: Frame, node: ast.expr, callee: Callee, names: tuple[str, str], *, template: str
) -> Finding:
    return frame.finding(
        (CODE, SEVERITY),
        node,
        symbol=f"{callee.name}({names[0]}, {names[1]})",
        message=f"{callee.label} {template.format(*names)}.",
        fix="Swap the two, or rename the variables if the order is intended.",
    )


def find_shift(call: ast.Call, before: Callee, after: Callee) -> tuple[str, str] | None:
    """Return the first (old, new) parameter pair that shows a move at a position the call fills, or ``None``.

    A rename in place is no move, nor is an argument with the name of the parameter that it lands on. A call that did
    not fit the old callee was not written for it. Of a call with ``*args`` only what stands before that has a place.
    """
    arguments = signatures.of_call(call)
    if any(signatures.misfits(side, arguments) for side in (before.signature, after.signature)):
        return None
    old, new = before.signature.positional, after.signature.positional
    placed = itertools.takewhile(lambda value: not isinstance(value, ast.Starred), call.args)
    for was, now, value in zip(old, new, placed, strict=False):
        given = (dotted_name(value) or "").rpartition(".")[2]
        if was != now and (was in new or now in old) and given != now:
            return was, now
    return None


def _is_upstreams(step: Step, call: ast.Call, callee: Callee) -> bool:
    """Whether a parent class outside omni makes a call with the same code, of a function that is not omni's either."""
    info = step.frame.info
    if info is None or callee.is_omnis:
        return False
    classes = (one for one in classes_in(step.program.mros(info)) if not one.is_omnis)
    calls = (node for one in classes for node in walk(one.node) if isinstance(node, ast.Call))
    return any(dumped(node) == dumped(call) for node in calls)


def _check_call(step: Step, node: ast.Call) -> Iterator[Finding]:
    for new_group, old_group in step.callees(node):
        moves = all_known(find_shift(node, was, now) for was in old_group for now in new_group)
        if moves and not _is_upstreams(step, node, new_group[0]):
            was, now = moves[0]
            callee = new_group[0]
            yield step.frame.finding(
                (CODE, SEVERITY),
                node,
                symbol=callee.name,
                message=f"The value for `{was}` now lands on `{now}` of {callee.label}.",
                fix="Pass the arguments by keyword or in the target's order.",
            )
            return


def _check_unpackings(step: Step) -> Iterator[Finding]:
    unpacked = [(node.value, target) for node, target in find_unpackings(step.before)]
    unchanged = {_unparse_unpacking(call, target) for call, target in unpacked if isinstance(call, ast.Call)}
    for node, target in find_unpackings(step.frame):
        # An unpacking that changed as well was written for the new order.
        if isinstance(node.value, ast.Call) and _unparse_unpacking(node.value, target) in unchanged:
            yield from _check_unpacking(step, node.value, target)


def _unparse_unpacking(call: ast.Call, target: ast.Tuple) -> tuple[str, str]:
    return ast.unparse(call.func), ast.unparse(target)


def _check_unpacking(step: Step, call: ast.Call, target: ast.Tuple) -> Iterator[Finding]:
    for new_group, old_group in step.callees(call):
        moves = [_find_moved_values(target, was, now) for was in old_group for now in new_group]
        if moves and all(moves):
            place, value = moves[0][0]
            callee, name = new_group[0], ast.unparse(target.elts[place])
            yield step.frame.finding(
                (CODE, SEVERITY),
                target.elts[place],
                symbol=callee.name,
                message=f"`{value}` of {callee.label} now lands on `{name}`.",
                fix="Unpack the values in the target's order.",
            )
            return


def _find_moved_values(target: ast.Tuple, before: Callee, after: Callee) -> list[tuple[int, str]]:
    """Return the places of ``target`` that now take another value, with that value; values for ``_`` are dropped."""
    if before.function is None or after.function is None:
        return []
    moves = returns.find_moved_values(before.function, after.function)
    fits = all(place < len(target.elts) for place in moves)
    return [(place, now) for place, now in moves.items() if fits and ast.unparse(target.elts[place]) != "_"]


def _check_override(program: Program, info: ClassInfo, mro: Mro, *, name: str) -> Iterator[Finding]:
    for call, own, hidden in find_override_calls(program, mro, info, name):
        moves = all_known(find_shift(call.node, was, own[0]) for was in hidden) if len(own) == 1 else []
        function = own[0].function
        if moves and function is not None:
            was, now = moves[0]
            yield program.frame(info, function).finding(
                (CODE, SEVERITY),
                function,
                symbol=name,
                message=f"{call.place} passes `{was}` by position, which lands on `{now}` of this override.",
                fix=f"Keep the parameter order of {hidden[0].place}.",
            )
            return
