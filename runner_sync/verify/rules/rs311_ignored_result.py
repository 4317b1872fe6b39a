"""RS311 ignored-result: a call drops a value that the target newly returns.

What: a call as a statement of its own where the callee returned nothing in the old target and always returns a
value in the new one. Also the reverse: `x = self.m(...)`, and `x` is called, tested, unpacked or looked into, where
the `m` that the MRO reaches never returns a value; with the old trees also where `x` is an argument, and of any call
whose callee always returned a value in the old target and never does in the new one; and where `x` is an object with
attributes, a sequence or a number, nothing asks for `None`, and the callee says now that it may return that.
And an override of the NPU runners that never returns a value, where inherited code or the worker does something with
the one that the hidden method always returns.

Example: `self._update_states(scheduler_output)` after vLLM made it return a callback that must be run later; or
`run = self._update_states(scheduler_output)` while omni's own `_update_states`, written before, returns nothing.

Why: nothing raises; the deferred work just never happens. Only the old tree tells the first from a value that never
mattered. The second is what is left when a caller was copied from the new target, and an override was not.

Fix: look at what the target's own caller does with the value, or return it.

Leaves alone: bare calls without an old tree; callees that return a value only sometimes, or one that the caller knows
(`return self`, the same constant each time); generators and coroutines.
Of the reverse: methods that have an empty body or another annotation or only raise, which are for a subclass to fill,
and values that are kept or handed on, also those that an override does not return. Without an old tree also a written
`return None`, names that something else is assigned to as well, and calls on other objects than `self`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence

from runner_sync.model import Finding, Severity
from runner_sync.statements import always_leaves
from runner_sync.syntax import is_name, is_none
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.calling.virtual import VirtualCall, hidden_by, virtual_calls
from runner_sync.verify.trees.classes import ClassInfo
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import is_plain, returns_of
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, step_of
from runner_sync.verify.trees.values import returns
from runner_sync.verify.trees.values.dereferenced import is_expected
from runner_sync.verify.trees.values.uses import Place, places

CODE = "RS311"
NAME = "ignored-result"
SEVERITY: Severity = "warning"

_ASKS = frozenset({"isinstance", "type", "hasattr", "getattr", "callable", "bool"})


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Bare calls whose callee began to return a value since ``old``, and values that are used and never come."""
    for info in program.own_classes(module) if module in program.checked else ():
        yield from _keeping_back(program, info)
    for frame in program.frames(module):
        for call in _used_calls(frame):
            yield from _never_comes(program, frame, call)
        step = step_of(program, frame, old)
        if step is None:
            continue
        for call, stands in places(frame):
            if any(place.is_needed for place in stands):
                yield from list(_no_longer_comes(step, call)) or _may_not_come(step, call, stands)
        for node in frame.nodes():
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                callee = _newly_returns(step, node.value)
                if callee is not None:
                    yield _make_finding(frame, node, callee)


def _newly_returns(step: Step, call: ast.Call) -> Callee | None:
    new = [callee for group in step.program.callees(step.frame, call) for callee in group]
    was = [callee for group in step.old.callees(step.before, call) for callee in group]
    if not new or not was or not all(_value(c) is True for c in new) or not all(_value(c) is False for c in was):
        return None
    return next((c for c in new if c.function is not None and not returns.tells_nothing(c.function)), None)


def _value(callee: Callee) -> bool | None:
    return returns.returns_value(callee.function) if callee.function is not None else None


def _make_finding(frame: Frame, node: ast.Expr, callee: Callee) -> Finding:
    return frame.finding(
        CODE,
        SEVERITY,
        node,
        symbol=callee.name,
        message=f"`{callee.name}` ({callee.place}) now returns a value, which this call drops.",
        fix="Use the value as the target's own caller does.",
    )


def _used_calls(frame: Frame) -> Iterator[ast.Call]:
    """Calls through ``self`` or ``super()`` whose value this frame uses, at once or by the one name it has."""
    if frame.owner is None:
        return
    used = [part for node in frame.nodes() for part in _looked_into(node)]
    names = {node.id for node in used if isinstance(node, ast.Name)}
    for name in sorted(names & set(frame.bound)):
        values = [n.value if isinstance(n, ast.Assign) and _is_whole(n, name) else n for n in frame.bound[name]]
        used += [v for v in values if isinstance(v, ast.Call)] if all(_is_call_or_none(v) for v in values) else []
    yield from (part for part in used if isinstance(part, ast.Call) and _is_own(frame, part.func))


def _is_own(frame: Frame, called: ast.expr) -> bool:
    return isinstance(called, ast.Attribute) and (frame.is_self(called.value) or frame.is_super(called.value))


def _looked_into(node: ast.AST) -> list[ast.expr]:
    """The parts of ``node`` that it tests, calls, iterates over, unpacks or takes an item or attribute of; a value that
    is only passed on is none."""
    if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
        return _tested(node.test)
    if isinstance(node, ast.Call):
        return [node.func]
    if isinstance(node, ast.Attribute | ast.Subscript):
        return [node.value]
    if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
        return [node.iter]
    return [node.value] if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple | ast.List) else []


def _tested(test: ast.expr) -> list[ast.expr]:
    if isinstance(test, ast.BoolOp):
        return [part for value in test.values for part in _tested(value)]
    if isinstance(test, ast.UnaryOp):
        return _tested(test.operand)
    return [test.left] if isinstance(test, ast.Compare) else [test]


def _is_whole(node: ast.Assign, name: str) -> bool:
    return all(is_name(target, name) for target in node.targets)


def _is_call_or_none(value: ast.AST) -> bool:
    return isinstance(value, ast.Call) or is_none(value)


def _never_comes(program: Program, frame: Frame, call: ast.Call) -> Iterator[Finding]:
    groups = program.callees(frame, call)
    callees = [callee for group in groups for callee in group]
    if not callees or not all(groups):
        return
    if all(c.function is not None and returns.hands_nothing_back(c.function) for c in callees):
        callee = callees[0]
        yield frame.finding(
            CODE,
            SEVERITY,
            call,
            symbol=callee.name,
            message=f"`{callee.name}` ({callee.place}) never returns a value, and this one is used.",
            fix=f"Return from `{callee.name}` what its callers use, as the method that it hides may do.",
        )


def _keeping_back(program: Program, info: ClassInfo) -> Iterator[Finding]:
    """Overrides that return nothing, where unchecked code needs the value that the overridden method returns."""
    for name, functions in info.methods.items():
        if not all(returns.hands_nothing_back(function) for function in functions):
            continue
        for call, hidden in _inherited_calls(program, info, name):
            if _is_needed(call) and hidden and all(_always_comes(callee) for callee in hidden):
                yield program.frame(info, functions[-1]).finding(
                    CODE,
                    SEVERITY,
                    functions[-1],
                    symbol=name,
                    message="This override never returns a value, and "
                    f"{call.place} uses the one that {hidden[0].place} returns.",
                    fix=f"Return what {hidden[0].place} returns.",
                )
                break


def _inherited_calls(program: Program, info: ClassInfo, name: str) -> Iterator[tuple[VirtualCall, list[Callee]]]:
    """The unchecked calls that reach the class's own ``name``, each with what it was meant for."""
    for mro in program.mros(info):
        own = [callee for callee in program.method(mro, name) if callee.info is info]
        for call in virtual_calls(program, mro, name) if own else ():
            yield call, hidden_by(program, mro, own[0], from_omni=call.frame.is_omnis)


def _always_comes(callee: Callee) -> bool:
    return _value(callee) is True and callee.function is not None and always_leaves(callee.function.body)


def _is_needed(call: VirtualCall) -> bool:
    return any(place.is_needed for node, stands in places(call.frame) if node is call.node for place in stands)


def _no_longer_comes(step: Step, call: ast.Call) -> Iterator[Finding]:
    for now, was in step.callees(call):
        comes_not = now and all(_value(c) is False and _is_silent(c) for c in now)
        if comes_not and was and all(_value(c) is True for c in was):
            yield step.frame.finding(
                CODE,
                SEVERITY,
                call,
                symbol=now[0].name,
                message=f"`{now[0].name}` ({now[0].place}) does not return a value any more, and this one is used.",
                fix="Take the value from where the target's own caller has it.",
            )
            return


def _may_not_come(step: Step, call: ast.Call, stands: Sequence[Place]) -> Iterator[Finding]:
    """A callee that may return ``None`` now, where the code uses the result as an object."""
    frame = step.frame
    needing = [place for place in stands if place.fails_on_none and not is_expected(frame, place.node)]
    if not needing or any(_is_asked(place) for place in stands) or is_expected(frame, call):
        return
    for now, was in step.callees(call):
        never_did = was and all(_value(c) is True and not _is_optional(c) for c in was)
        if never_did and now and all(_is_sometimes_none(c) for c in now):
            yield frame.finding(
                CODE,
                SEVERITY,
                needing[0].node,
                symbol=now[0].name,
                message=f"`{now[0].name}` ({now[0].place}) may return `None` now, and this is used as if it never did.",
                fix="Ask for `None` first, as the target's own callers do.",
            )
            return


def _is_asked(place: Place) -> bool:
    """Whether the code tests what a value is, or has a default for it."""
    match place.around:
        case ast.Compare() | ast.BoolOp() | ast.UnaryOp() | ast.Match():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in _ASKS
    return place.is_tested


def _is_sometimes_none(callee: Callee) -> bool:
    """Whether a function has both ``return`` statements with a value and bare ones, or some with ``None``."""
    function = callee.function
    values = list(returns_of(function)) if function is not None and is_plain(function) else []
    says = [value is None or is_none(value) for value in values]
    return any(says) and not all(says)


def _is_optional(callee: Callee) -> bool:
    annotation = callee.function.returns if callee.function is not None else None
    return annotation is not None and re.search(r"\bNone\b|\bOptional\b", ast.unparse(annotation)) is not None


def _is_silent(callee: Callee) -> bool:
    return callee.function is not None and returns.hands_nothing_back(callee.function, is_told=True)
