"""RS311 ignored-result: a call drops a value that the target newly returns.

What: a call as a statement of its own where the callee returned nothing in the old target and always returns a value in
the new one. The reverse: `x = self.m(...)` where the `m` that the MRO reaches never returns a value, and `x` is called,
tested, unpacked, or read by item or attribute. With the old trees also: `x` as an argument; any call whose callee
always returned a value in the old target and never does in the new one, where the value is used, stored in an
attribute, or returned by a function that declares a result; the `x` of `with f() as x` likewise; and an `x` that is
used as an object, a sequence or a number without a test for `None`, while the callee newly may return `None`, alone or
as one of several values, or newly declares that it may (`-> X | None`, before `-> X`), or while the annotation of the
field `x.y` newly admits it. Also an override of the NPU runners that never returns a value, where inherited code or the
worker uses the value that the hidden method always returns; one that only keeps it or hands it on counts if the
override calls `super().m(...)` or `Base.m(self, ...)` and drops what that returns.

Example: `self._update_states(scheduler_output)` after vLLM made it return a callback that must be run later; or `run =
self._update_states(scheduler_output)` while omni's own `_update_states`, written before, returns nothing.

Why: nothing raises; the deferred work never happens. Only the old tree tells the first case from a value that never
mattered. The reverse remains when a caller was copied from the new target, and an override was not.

Fix: look at what the target's own caller does with the value, or return it.

Leaves alone: bare calls without an old tree; callees that return a value only sometimes, or a value that the caller
knows (`return self`, the same constant each time); generators and coroutines. Of the reverse: methods with an empty
body, with another annotation, or that only raise, because a subclass is meant to implement them; values that are only
kept or passed on (except after such a change, or where an override drops its parent's); fields that the function
itself stores, constructs, or tests, also by a local. Without an old tree also a written `return None`, names with
another assignment, and calls on other objects than `self`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from runner_sync.model import Finding, Severity
from runner_sync.signatures import promises_value
from runner_sync.statements import always_leaves
from runner_sync.syntax import Function, is_name, is_none, is_nothing, is_super, walk
from runner_sync.verify.trees.calling.callees import Callee, values_of
from runner_sync.verify.trees.calling.virtual import VirtualCall, find_override_calls
from runner_sync.verify.trees.classes import ClassInfo
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import returns_of
from runner_sync.verify.trees.instance import is_instance
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, step_of
from runner_sync.verify.trees.values import returns
from runner_sync.verify.trees.values.dereferenced import is_expected
from runner_sync.verify.trees.values.entered import gives_value
from runner_sync.verify.trees.values.guards import find_tests_of
from runner_sync.verify.trees.values.optional import (
    find_newly_declared,
    find_newly_optional,
    gives_none,
    never_gave_none,
)
from runner_sync.verify.trees.values.settled import is_settled_here, is_tested
from runner_sync.verify.trees.values.unset import is_decided_by
from runner_sync.verify.trees.values.uses import Place, find_entered, find_unpackings, places, places_of

CODE = "RS311"
NAME = "ignored-result"
SEVERITY: Severity = "warning"


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield bare calls whose callee began to return a value since ``old``, and uses of values that never come."""
    for info in program.checked_classes(module):
        yield from _check_overrides(program, info)
    for frame in program.frames(module):
        for call in _find_used_calls(frame):
            yield from _check_missing_value(program, frame, call)
        step = step_of(program, frame, old)
        if step is None:
            continue
        for call, uses in places(frame):
            lost = _check_lost_value(step, call) if any(_is_used(frame, place) for place in uses) else ()
            yield from list(lost) or _check_new_none(step, call, uses)
        for call, uses in find_entered(frame):
            yield from _check_lost_entered(step, call) if any(_is_used(frame, place) for place in uses) else ()
        for assignment, target in find_unpackings(frame):
            if isinstance(assignment.value, ast.Call) and not is_expected(frame, assignment):
                yield from _check_none_among_values(step, assignment.value, target)
        for node in frame.nodes():
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and not frame.is_self(node.value):
                yield from _check_optional_field(step, node)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                callee = _find_new_returner(step, node.value)
                if callee is not None:
                    yield _make_finding(frame, node, callee)


def _find_new_returner(step: Step, call: ast.Call) -> Callee | None:
    now, was = step.program.reached(step.frame, call), step.reached_before(call)
    if not was or not all(_has_value(c) is True for c in now) or not all(_has_value(c) is False for c in was):
        return None
    return next((c for c in now if c.function is not None and not returns.is_result_known(c.function)), None)


def _has_value(callee: Callee) -> bool | None:
    return returns.returns_value(callee.function) if callee.function is not None else None


def _make_finding(frame: Frame, node: ast.Expr, callee: Callee) -> Finding:
    return frame.finding(
        (CODE, SEVERITY),
        node,
        symbol=callee.name,
        message=f"{callee.label} now returns a value, which this call drops.",
        fix="Use the value as the target's own caller does.",
    )


def _find_used_calls(frame: Frame) -> Iterator[ast.Call]:
    """Yield calls through ``self`` or ``super()`` whose value this frame uses, directly or by its one name."""
    if frame.owner is None:
        return
    used = [part for node in frame.nodes() for part in _find_used_parts(node)]
    names = {node.id for node in used if isinstance(node, ast.Name)}
    for name in sorted(names & set(frame.bound)):
        values = [
            n.value if isinstance(n, ast.Assign) and all(is_name(target, name) for target in n.targets) else n
            for n in frame.bound[name]
        ]
        called = [value for value in values if isinstance(value, ast.Call)]
        used += called if all(isinstance(value, ast.Call) or is_none(value) for value in values) else []
    yield from (part for part in used if isinstance(part, ast.Call) and _is_own_call(frame, part.func))


def _is_own_call(frame: Frame, called: ast.expr) -> bool:
    return isinstance(called, ast.Attribute) and (frame.is_self(called.value) or frame.is_super(called.value))


def _find_used_parts(node: ast.AST) -> list[ast.expr]:
    """Return the parts of ``node`` that it tests, calls, iterates over, unpacks, or reads an item or attribute of.

    A value that is only passed on does not count.
    """
    if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
        return _find_tested_parts(node.test)
    if isinstance(node, ast.Call):
        return [node.func]
    if isinstance(node, ast.Attribute | ast.Subscript):
        return [node.value]
    if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        return [node.iter]
    return [node.value] if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple | ast.List) else []


def _find_tested_parts(test: ast.expr) -> list[ast.expr]:
    if isinstance(test, ast.BoolOp):
        return [part for value in test.values for part in _find_tested_parts(value)]
    if isinstance(test, ast.UnaryOp):
        return _find_tested_parts(test.operand)
    return [test.left] if isinstance(test, ast.Compare) else [test]


def _check_missing_value(program: Program, frame: Frame, call: ast.Call) -> Iterator[Finding]:
    groups = program.callees(frame, call)
    callees = [callee for group in groups for callee in group]
    if not callees or not all(groups):
        return
    if all(c.function is not None and returns.returns_nothing(c.function) for c in callees):
        callee = callees[0]
        yield frame.finding(
            (CODE, SEVERITY),
            call,
            symbol=callee.name,
            message=f"{callee.label} never returns a value, and this one is used.",
            fix=f"Return from `{callee.name}` what its callers use, as the method that it hides may do.",
        )


def _check_overrides(program: Program, info: ClassInfo) -> Iterator[Finding]:
    """Yield overrides that return nothing, where unchecked code needs the overridden method's value."""
    for name, functions in info.methods.items():
        if not all(returns.returns_nothing(function) for function in functions):
            continue
        rows = (row for mro in program.mros(info) for row in find_override_calls(program, mro, info, name))
        is_dropped = any(_drops_parents(program, info, function) for function in functions)
        for call, _, hidden in rows:
            if (
                _is_needed(call, by_passing=is_dropped)
                and hidden
                and all(_is_always_returned(callee) for callee in hidden)
            ):
                yield program.frame(info, functions[-1]).finding(
                    (CODE, SEVERITY),
                    functions[-1],
                    symbol=name,
                    message="This override never returns a value, and "
                    f"{call.place} uses the one that {hidden[0].place} returns.",
                    fix=f"Return what {hidden[0].place} returns.",
                )
                break


def _is_always_returned(callee: Callee) -> bool:
    return _has_value(callee) is True and callee.function is not None and always_leaves(callee.function.body)


def _drops_parents(program: Program, info: ClassInfo, function: Function) -> bool:
    """Whether a method calls the one that it hides, as a statement of its own: a ``return`` may have got lost."""
    calls = (node.value for node in walk(function) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
    return any(_is_parent_call(program, info, function, call) for call in calls)


def _is_parent_call(program: Program, info: ClassInfo, function: Function, call: ast.Call) -> bool:
    """Whether a call is ``super().m(…)`` in ``m``, or ``Base.m(self, …)`` of a base."""
    match call.func:
        case ast.Attribute(value=value, attr=name) if name == function.name and is_super(value):
            return True
        case ast.Attribute(value=ast.Name(id=base), attr=name) if name == function.name and call.args:
            found = [program.classes.info(one) for one in program.world.resolve(info.module, base)]
            return is_instance(function, call.args[0]) and any(
                one in mro for mro in program.mros(info) for one in found
            )
    return False


def _is_needed(call: VirtualCall, *, by_passing: bool) -> bool:
    """Whether a call needs the value; ``by_passing``: keeping it and handing it on count, too."""
    uses = [place for node, found in places(call.frame) if node is call.node for place in found]
    handed_on = [*returns_of(call.frame.function)] if by_passing else []
    return any(
        place.is_needed or (by_passing and place.is_stored) or any(place.node is value for value in handed_on)
        for place in uses
    )


def _is_used(frame: Frame, place: Place) -> bool:
    """Whether the code there needs or keeps a value, or returns it from a function that promises one."""
    if place.is_needed or place.is_stored:
        return True
    return promises_value(frame.function) and any(value is place.node for value in returns_of(frame.function))


def _check_lost_value(step: Step, call: ast.Call) -> Iterator[Finding]:
    callee = step.find_changed(
        call, was=lambda one: _has_value(one) is True, now=lambda one: _has_value(one) is False and _is_silent(one)
    )
    if callee is not None:
        yield step.frame.finding(
            (CODE, SEVERITY),
            call,
            symbol=callee.name,
            message=f"{callee.label} does not return a value any more, and this one is used.",
            fix="Take the value from where the target's own caller has it.",
        )


def _check_lost_entered(step: Step, call: ast.Call) -> Iterator[Finding]:
    """Report a context manager that gives ``with … as x`` no value any more, where the code needs or keeps one."""
    callee = step.find_changed(
        call,
        was=lambda one: gives_value(step.old, one) is True,
        now=lambda one: gives_value(step.program, one) is False,
    )
    if callee is not None and not is_expected(step.frame, call):
        yield step.frame.finding(
            (CODE, SEVERITY),
            call,
            symbol=callee.name,
            message=f"{callee.label} gives `with` no value any more, and this one is used.",
            fix="Take the value from where the target's own caller has it.",
        )


def _check_new_none(step: Step, call: ast.Call, uses: Sequence[Place]) -> Iterator[Finding]:
    """Report a callee that may return ``None`` now, where the code uses the result as an object."""
    needing = _find_needing(step.frame, uses)
    if needing is None or is_expected(step.frame, call):
        return
    callee = step.find_changed(
        call, was=lambda one: _has_value(one) is True and not _is_optional(one), now=_is_sometimes_none
    ) or find_newly_declared(step, call)
    if callee is not None:
        message = f"{callee.label} may return `None` now, and this is used as if it never did."
        yield _make_none_finding(step.frame, needing, callee.name, message)


def _check_none_among_values(step: Step, call: ast.Call, target: ast.Tuple) -> Iterator[Finding]:
    """Report a local that a call newly may set to ``None``, as one of several values, where it is used as an object."""
    names = {element.id for element in target.elts if isinstance(element, ast.Name)}
    size = len(target.elts)
    for number, element in enumerate(target.elts):
        needing = _find_needing(step.frame, places_of(step.frame, call, (number, size)))
        # One of the values may tell about the others.
        if needing is None or is_decided_by(names, step.frame.function, needing.node):
            continue
        callee = step.find_changed(
            call,
            was=partial(never_gave_none, number=number, size=size),
            now=partial(gives_none, call=call, number=number, size=size),
        )
        if callee is not None:
            what = f"{callee.label} may return `None` for `{ast.unparse(element)}` now"
            message = f"{what}, and this is used as if it never did."
            yield _make_none_finding(step.frame, needing, callee.name, message)


def _check_optional_field(step: Step, read: ast.Attribute) -> Iterator[Finding]:
    """Report a field that may be ``None`` now by its annotation, where the code uses it as an object."""
    needing = _find_needing(step.frame, places_of(step.frame, read))
    if needing is not None and not find_tests_of(step.frame.function, read):
        place = find_newly_optional(step, read)
        what = f"`{ast.unparse(read)}` may be `None` now ({place})"
        if place and not is_settled_here(step.program, step.frame, read):
            yield _make_none_finding(step.frame, needing, read.attr, f"{what}, and this is used as if it never was.")


def _find_needing(frame: Frame, uses: Sequence[Place]) -> Place | None:
    """Return the first place that fails on ``None``; ``None`` if there is none, or the code tests the value."""
    needing = [place for place in uses if place.fails_on_none and not is_expected(frame, place.node)]
    return needing[0] if needing and not any(is_tested(place) for place in uses) else None


def _make_none_finding(frame: Frame, needing: Place, symbol: str, message: str) -> Finding:
    fix = "Ask for `None` first, as the target's own callers do."
    return frame.finding((CODE, SEVERITY), needing.node, symbol=symbol, message=message, fix=fix)


def _is_sometimes_none(callee: Callee) -> bool:
    """Whether some ``return`` statements of a function give a value, and others none or ``None``."""
    are_none = [is_nothing(value) for value in values_of(callee)]
    return any(are_none) and not all(are_none)


def _is_optional(callee: Callee) -> bool:
    annotation = callee.function.returns if callee.function is not None else None
    return annotation is not None and re.search(r"\bNone\b|\bOptional\b", ast.unparse(annotation)) is not None


def _is_silent(callee: Callee) -> bool:
    return callee.function is not None and returns.returns_nothing(callee.function, is_told=True)
