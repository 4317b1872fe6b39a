"""RS303 tuple-size: N values are unpacked where the target returns another number.

What: `(a, b) = self.m(...)`, `a, b = f(...)` or `(a, b) = self.state` where every value that the callee can return in
the target, or every NamedTuple that `self.state` can hold, has another size, or where the value is an object that
cannot be unpacked. Also `for a, b in f(...)` and `with f(...) as (a, b)` where every `yield` has another size, and
`f(...)[2]` where every tuple that `f` can return is too short. The reverse: an NPU override that returns N values to
inherited code that unpacks another number, or returns a single one of the hidden method's values, whatever its
annotation says. With the old trees also `a, b = f(...)` where `f` newly returns `None` on some path, or a dictionary,
an object or a single one of the values instead of the tuple; and `x = f(...)` where `f` returned one value, returns a
tuple now, and `x` is used as one value or tested (a tuple is always true), also where a caller in the same module
gets it. `with f(...) as x` counts like `x = f(...)`.

Example: `(…6 names…) = self._bookkeeping_sync(...)` after vllm-ascend returns 8 values.

Why: `ValueError: too many values to unpack` at the first sampled token. 7 of the 156 recorded breakages.

Fix: unpack what the target's own caller unpacks.

Leaves alone: starred targets, generators that contain a function, coroutines, callees with a return of unknown size
(unless their annotation shows it), items of values that the code counts or gets from several places, objects of an
annotated class with subclasses, of a Protocol, or of a class under an unknown decorator. Without the old trees a `None`
among the returned values: the caller must know when it comes. Of a tuple in place of one value: results that the code
indexes, counts or iterates over, only passes on or keeps, or passes to a function that changed as well; calls that
changed; old returns that may have been tuples, unless the new tuples contain the same value (`return x`, then `return
x, y`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence

from runner_sync.model import Finding, Severity
from runner_sync.syntax import Function, is_name, last_word
from runner_sync.verify.expecting import INDEX_ERRORS, UNPACKING_ERRORS
from runner_sync.verify.trees.calling.callees import Callee, functions_of
from runner_sync.verify.trees.calling.virtual import find_override_calls
from runner_sync.verify.trees.classes import ClassInfo, is_protocol, is_record
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import is_plain, nodes_of, returns_of
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, step_of
from runner_sync.verify.trees.values import returns
from runner_sync.verify.trees.values.kinds import is_lacked_by_all
from runner_sync.verify.trees.values.protocols import find_returned_calls
from runner_sync.verify.trees.values.unset import find_unset, is_decided_by
from runner_sync.verify.trees.values.uses import (
    Place,
    Use,
    find_entered,
    find_index_uses,
    find_turn_unpackings,
    find_unpackings,
    places,
    places_of,
)

CODE = "RS303"
NAME = "tuple-size"
SEVERITY: Severity = "error"

_NEVER_OF_TUPLES = frozenset[Use]({"attribute", "merged"})
"""Uses of an object or a dictionary, whatever a function that gets the value does with it."""

_ITERATED = ("__iter__", "__getitem__")
"""The special methods of which unpacking needs one."""


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield unpackings of a wrong size, new ``None`` or tuple results since ``old``, and overrides of a wrong size."""
    for frame in program.frames(module):
        step = step_of(program, frame, old)
        for node, target in find_unpackings(frame):
            if frame.is_guarded(node, UNPACKING_ERRORS):
                continue
            wrong = list(_check_size(program, frame, node, count=len(target.elts))) or list(
                _check_object(program, frame, node)
            )
            if not wrong and step is not None and isinstance(node.value, ast.Call):
                wrong = list(_check_none(step, node.value)) or list(_check_no_tuple(step, node.value))
            yield from wrong
        yield from _check_yields(program, frame)
        yield from _check_indexes(program, frame)
        if step is not None:
            yield from _check_new_tuple(step)
    for info in program.checked_classes(module):
        yield from _check_overrides(program, info)


def _check_size(program: Program, frame: Frame, node: ast.Assign, *, count: int) -> Iterator[Finding]:
    if isinstance(node.value, ast.Call):
        for group in program.callees(frame, node.value):
            sizes = returns.sizes_of_all(program, group)
            if sizes and count not in sizes:
                yield _make_finding(frame, node, count=count, sizes=sizes, what=group[0].name, place=group[0].place)
                return
        return
    instances = program.infer(frame, node.value) or []
    fields = [len(i.info.fields) if is_record(i.info) else None for i in instances]
    if fields and None not in fields and count not in fields:
        what = ast.unparse(node.value)
        sizes = sorted({size for size in fields if size is not None})
        yield _make_finding(frame, node, count=count, sizes=sizes, what=what, place=instances[0].info.place)


def _check_yields(program: Program, frame: Frame) -> Iterator[Finding]:
    """Check tuples that a loop or a ``with`` unpacks against what the generator yields."""
    for call, target in find_turn_unpackings(frame):
        if frame.is_guarded(call, UNPACKING_ERRORS):
            continue
        for group in program.callees(frame, call):
            sizes = returns.yielded_sizes_of_all(group)
            if sizes and len(target.elts) not in sizes:
                what, place = group[0].name, group[0].place
                yield _make_finding(frame, target, count=len(target.elts), sizes=sizes, what=what, place=place)
                break


def _check_indexes(program: Program, frame: Frame) -> Iterator[Finding]:
    """Check constant indexes against the longest tuple that a callee returns."""
    for call, uses in places(frame):
        # timid: code that counts the values, or gets them from several places, may know their number.
        is_known = any(_is_counted(place) or _is_bound_again(frame, place) for place in uses)
        for node, number in find_index_uses(uses) if not is_known else ():
            if frame.is_guarded(node, INDEX_ERRORS) or isinstance(node.ctx, ast.Store):
                continue
            for group in program.callees(frame, call):
                sizes = returns.sizes_of_all(program, group)
                if sizes and not -sizes[-1] <= number < sizes[-1]:
                    yield frame.finding(
                        (CODE, SEVERITY),
                        node,
                        symbol=group[0].name,
                        message=f"{group[0].label} provides {' or '.join(map(str, sizes))} values, "
                        f"so there is none at `[{number}]`.",
                        fix="Take the value from where the target's own callers have it.",
                    )
                    break


def _is_counted(place: Place) -> bool:
    return isinstance(place.around, ast.Call) and is_name(place.around.func, "len")


def _is_bound_again(frame: Frame, place: Place) -> bool:
    return isinstance(place.node, ast.Name) and len(frame.bound.get(place.node.id, ())) > 1


def _check_object(program: Program, frame: Frame, node: ast.Assign) -> Iterator[Finding]:
    """Report an unpacked value that is a single object and cannot be unpacked."""
    called = program.reached(frame, node.value) if isinstance(node.value, ast.Call) else []
    # timid: the expressions in `return` outweigh the annotation.
    if any(returns.sizes(program, callee) is not None for callee in called):
        return
    found = program.infer(frame, node.value) or []
    around = program.world.surroundings
    is_sealed = all(
        instance.exact or not (is_protocol(instance.info) or around.deriving_from(instance.info.name))
        for instance in found
    )
    if found and is_sealed and all(_is_whole(program, instance.info) for instance in found):
        what = ast.unparse(node.value.func if isinstance(node.value, ast.Call) else node.value)
        yield frame.finding(
            (CODE, SEVERITY),
            node.targets[0],
            symbol=what.rpartition(".")[2],
            message=f"`{what}` provides a {found[0].info.label}, which cannot be unpacked.",
            fix="Take the values from its attributes, as the target's own callers do.",
        )


def _check_none(step: Step, call: ast.Call) -> Iterator[Finding]:
    """Report a call that may return ``None`` now, and never did before."""
    callee = step.find_changed(
        call,
        was=lambda one: returns.may_return_none(step.old, one) is False,
        now=lambda one: returns.may_return_none(step.program, one) is True,
    )
    if callee is not None:
        yield step.frame.finding(
            (CODE, SEVERITY),
            call,
            symbol=callee.name,
            message=f"{callee.label} may return `None` now, which is unpacked here.",
            fix="Test the result before it is unpacked, as the target's own callers do.",
        )


def _check_no_tuple(step: Step, call: ast.Call) -> Iterator[Finding]:
    """Report a call that returned a tuple before, and returns something else on some path now."""
    for now, was in step.callees(call):
        functions, old_functions = functions_of(now), functions_of(was)
        if not functions or not old_functions or not all(returns.sizes(step.old, callee) for callee in was):
            continue
        is_one = all(any(returns.unwraps(one, function) for one in old_functions) for function in functions)
        was_dictionary, is_dictionary = (
            all(returns.gives_dictionary(f) for f in each) for each in (old_functions, functions)
        )
        objects = [_find_returned_object(step.program, callee, call) for callee in now]
        if is_one or (is_dictionary and not was_dictionary) or all(objects):
            what = "one value" if is_one else f"a `{objects[0]}`" if all(objects) else "a dictionary"
            yield step.frame.finding(
                (CODE, SEVERITY),
                call,
                symbol=now[0].name,
                message=f"{now[0].label} returned a tuple and returns {what} now, which is unpacked here.",
                fix="Take the values as the target's own callers do.",
            )
            return


def _find_returned_object(program: Program, callee: Callee, call: ast.Call) -> str:
    """Return the class of an object that a callee makes, returns and that cannot be unpacked; empty if there is none.

    timid: skips a ``return`` that an argument which the call leaves out may keep from running.
    """
    function = callee.function
    if function is None or not is_plain(function):
        return ""
    frame, unset = program.frame_of_callee(callee), find_unset(callee, call)
    for value in returns_of(function):
        if value is not None and not is_decided_by(unset, function, value):
            infos = [instance.info for instance in program.infer(frame, value) or () if instance.exact]
            if infos and all(_is_whole(program, info) for info in infos):
                return infos[0].name
    return ""


def _is_whole(program: Program, info: ClassInfo) -> bool:
    """Whether an object of a class cannot be unpacked."""
    return not is_record(info) and all(is_lacked_by_all(program, [info], name) for name in _ITERATED)


def _check_new_tuple(step: Step) -> Iterator[Finding]:
    """Report results, and values that a ``with`` binds, that are used as a single object and became tuples."""
    for call, uses in places(step.frame):
        yield from _check_new_tuple_of(step, call, uses, "return", returns.tuple_size, _was_single_value)
    for call, uses in find_entered(step.frame):
        yield from _check_new_tuple_of(step, call, uses, "yield", returns.entered_size, _entered_single_value)


def _check_new_tuple_of(
    step: Step,
    call: ast.Call,
    uses: Sequence[Place],
    verb: str,
    size_of: Callable[[Function], int | None],
    was_single: Callable[[Sequence[Callee], Sequence[Callee], Program], bool],
) -> Iterator[Finding]:
    returned = _find_returned_uses(step, uses)
    whole = [place for place in uses if place.is_whole or place.is_tested or place.use in _NEVER_OF_TUPLES]
    whole += [place for place in returned if place.use in _NEVER_OF_TUPLES]
    is_apart = any(place.is_taken_apart and place.use not in _NEVER_OF_TUPLES for place in (*uses, *returned))
    # A call that changed as well was written for the tuple.
    if not whole or is_apart or not step.stood(call):
        return
    for now, was in step.callees(call):
        sizes = {size_of(c.function) if c.function is not None else None for c in now}
        is_new = len(sizes) == 1 and None not in sizes and was and was_single(now, was, step.old)
        if is_new and not all(_may_accept_tuple(step, place) for place in whole):
            yield step.frame.finding(
                (CODE, SEVERITY),
                call,
                symbol=now[0].name,
                message=f"{now[0].label} {verb}ed one value and {verb}s {sizes.pop()} now, which are used as one here.",
                fix="Unpack them, as the target's own callers do.",
            )
            return


def _find_returned_uses(step: Step, uses: Sequence[Place]) -> list[Place]:
    """Return what callers in the same module do with a value that the function only hands on to them."""
    calls = (row for place in uses for row in find_returned_calls(step.program, step.frame, place))
    return [place for caller, call, part in calls if part is None for place in places_of(caller, call)]


def _was_single_value(now: Sequence[Callee], was: Sequence[Callee], old: Program) -> bool:
    """Whether the callees returned a single value: no tuple, or one of the values that they return now."""
    functions = [callee.function for callee in now if callee.function is not None]
    old_functions = [callee.function for callee in was if callee.function is not None]
    is_kept = bool(functions) and all(any(returns.wraps(one, f) for one in old_functions) for f in functions)
    return is_kept or all(returns.is_single(old, callee) for callee in was)


def _entered_single_value(now: Sequence[Callee], was: Sequence[Callee], old: Program) -> bool:
    """Whether the context managers gave ``with`` a single value: no tuple, or one of the values that they give now."""
    kept = {text for callee in now if callee.function is not None for text in returns.yielded_values(callee.function)}
    return all(returns.enters_single(old, callee, kept) for callee in was)


def _may_accept_tuple(step: Step, place: Place) -> bool:
    """Whether the value is an argument of a function that changed as well, and may now accept the tuple."""
    call = place.around
    if not isinstance(call, ast.Call) or call.func is place.node:
        return False
    now, was = step.program.reached(step.frame, call), step.reached_before(call)
    texts = ([ast.dump(callee.function or callee.module.node) for callee in callees] for callees in (now, was))
    return next(texts) != next(texts)


def _make_finding(
    frame: Frame, node: ast.Assign | ast.Tuple, *, count: int, sizes: list[int], what: str, place: str
) -> Finding:
    number = " or ".join(map(str, sizes))
    return frame.finding(
        (CODE, SEVERITY),
        node.targets[0] if isinstance(node, ast.Assign) else node,
        symbol=what.rpartition(".")[2],
        message=f"{count} values are unpacked, but `{what}` ({place}) provides {number}.",
        fix=f"Unpack {number} values, as the target's own callers do.",
    )


def _check_overrides(program: Program, info: ClassInfo) -> Iterator[Finding]:
    for name, functions in info.methods.items():
        rows = [row for mro in program.mros(info) for row in find_override_calls(program, mro, info, name)]
        unpacked = [
            (call.place, len(target.elts))
            for call, _, _ in rows
            for node, target in find_unpackings(call.frame)
            if node.value is call.node
        ]
        if not unpacked:
            continue
        is_one = _returns_one_of_tuple(functions, [callee for _, _, hidden in rows for callee in hidden])
        sizes = [1] if is_one else returns.sizes_of_all(program, [callee for _, own, _ in rows for callee in own])
        where, count = next((row for row in unpacked if row[1] not in sizes), ("", 0))
        if sizes and where:
            yield _make_override_finding(program, info, functions[0], sizes=sizes, where=where, count=count)


def _returns_one_of_tuple(functions: list[Function], hidden: Sequence[Callee]) -> bool:
    """Whether a method returns one value of the tuple that each hidden method returns, whatever its annotation says."""
    function, hidden_functions = functions[0], functions_of(hidden)
    calls = [last_word(node.func) for node in nodes_of(function) if isinstance(node, ast.Call)]
    if len(functions) != 1 or function.name in calls:
        return False
    return bool(hidden_functions) and all(returns.unwraps(one, function) for one in hidden_functions)


def _make_override_finding(
    program: Program, info: ClassInfo, function: Function, *, sizes: Sequence[int], where: str, count: int
) -> Finding:
    number = " or ".join(map(str, sizes))
    return program.frame(info, function).finding(
        (CODE, SEVERITY),
        function,
        symbol=function.name,
        message=f"This override returns {number} value{'' if number == '1' else 's'}, but inherited code ({where}) "
        f"unpacks {count}.",
        fix=f"Return {count} values, as the overridden method does.",
    )
