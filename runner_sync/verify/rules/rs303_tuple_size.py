"""RS303 tuple-size: N values are unpacked where the target returns another number.

What: `(a, b) = self.m(...)`, `a, b = f(...)` or `(a, b) = self.state` where every value that the callee can return in
the target, or every NamedTuple that `self.state` can hold, has another size, or where what comes is an object of a
class that cannot be unpacked. Also the reverse: an NPU override that returns N values to inherited code that unpacks
another number, or alone one of the values that the hidden method returns, whatever its annotation says; `for a, b in
f(...)` and `with f(...) as (a, b)` where every `yield` has another size; and `f(...)[2]` where every tuple that `f` can
return ends before. With the old trees, `a, b = f(...)`, too, where `f` returns `None` on some path and never did in the
old target, or a dictionary or one of the values alone in place of the tuple; and `x = f(...)` where `f` returned one
value, returns a tuple now, and `x` is used as one value, or tested: a tuple is always true.

Example: `(…6 names…) = self._bookkeeping_sync(...)` after vllm-ascend returns 8 values.

Why: `ValueError: too many values to unpack` at the first sampled token. 7 of the 156 recorded breakages.

Fix: unpack what the target's own caller unpacks.

Leaves alone: starred targets, generators with a function in them, coroutines, callees one of whose returns shows no
size (unless its annotation does), items of what the code counts or has from several places, objects of an annotated
class that others derive from, a Protocol, or a class under an unknown decorator. Without the old trees a `None` among
the returned values: the caller must know when it comes.
Of a tuple in place of one value: results that something indexes, counts or goes through, that are only handed on or
kept, or that become an argument of a function which changed as well; calls that changed; old returns that may have
been tuples, unless the new tuples hold the same (`return x`, then `return x, y`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from runner_sync.model import Finding, Severity
from runner_sync.syntax import is_name, last_word
from runner_sync.verify.expecting import INDEX_ERRORS, UNPACKING_ERRORS
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.calling.virtual import hidden_by, virtual_calls
from runner_sync.verify.trees.classes import ClassInfo, is_protocol, is_record
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import FunctionNode, nodes_of
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, step_of
from runner_sync.verify.trees.values import returns
from runner_sync.verify.trees.values.kinds import none_has
from runner_sync.verify.trees.values.uses import Place, indexes, places, turns, unpackings

CODE = "RS303"
NAME = "tuple-size"
SEVERITY: Severity = "error"

_ITERATED = ("__iter__", "__getitem__")
"""What unpacking asks for: either will do."""


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Unpackings of another size than the target provides, or of the ``None`` that it provides since ``old``; tuples
    since then that are not unpacked; and overrides that return another size than is unpacked."""
    for frame in program.frames(module):
        step = step_of(program, frame, old)
        for node, target in unpackings(frame):
            if frame.is_guarded(node, UNPACKING_ERRORS):
                continue
            wrong = list(_check(program, frame, node, count=len(target.elts))) or list(_check_one(program, frame, node))
            if not wrong and step is not None and isinstance(node.value, ast.Call):
                wrong = list(_check_none(step, node.value)) or list(_check_no_tuple(step, node.value))
            yield from wrong
        yield from _check_turns(program, frame)
        yield from _check_indexes(program, frame)
        if step is not None:
            yield from _check_whole(step)
    for info in program.own_classes(module) if module in program.checked else ():
        yield from _check_overrides(program, info)


def _check(program: Program, frame: Frame, node: ast.Assign, *, count: int) -> Iterator[Finding]:
    if isinstance(node.value, ast.Call):
        for group in program.callees(frame, node.value):
            sizes = returns.sizes_of_all(program, group)
            if sizes and count not in sizes:
                yield _make_finding(frame, node, count=count, sizes=sizes, what=group[0].name, place=group[0].place)
                return
        return
    instances = program.infer(frame, node.value) or []
    fields = [_field_count(i.info) for i in instances]
    if fields and None not in fields and count not in fields:
        what = ast.unparse(node.value)
        sizes = sorted({size for size in fields if size is not None})
        yield _make_finding(frame, node, count=count, sizes=sizes, what=what, place=instances[0].info.place)


def _check_turns(program: Program, frame: Frame) -> Iterator[Finding]:
    """Tuples of another size than a generator yields, at each turn of a loop or to ``with``."""
    for call, target in turns(frame):
        if frame.is_guarded(call, UNPACKING_ERRORS):
            continue
        for group in program.callees(frame, call):
            sizes = returns.yielded_sizes_of_all(group)
            if sizes and len(target.elts) not in sizes:
                what, place = group[0].name, group[0].place
                yield _make_finding(frame, target, count=len(target.elts), sizes=sizes, what=what, place=place)
                break


def _check_indexes(program: Program, frame: Frame) -> Iterator[Finding]:
    """Items whose index is beyond the end of every tuple that a callee returns."""
    for call, stands in places(frame):
        # timid: code that counts the values, or gets them from several places, may know how many there are.
        is_known = any(_is_counted(place) or _is_bound_again(frame, place) for place in stands)
        for node, number in indexes(stands) if not is_known else ():
            if frame.is_guarded(node, INDEX_ERRORS) or isinstance(node.ctx, ast.Store):
                continue
            for group in program.callees(frame, call):
                sizes = returns.sizes_of_all(program, group)
                if sizes and not -sizes[-1] <= number < sizes[-1]:
                    yield frame.finding(
                        CODE,
                        SEVERITY,
                        node,
                        symbol=group[0].name,
                        message=f"`{group[0].name}` ({group[0].place}) provides {' or '.join(map(str, sizes))} values, "
                        f"so there is none at `[{number}]`.",
                        fix="Take the value from where the target's own callers have it.",
                    )
                    break


def _is_counted(place: Place) -> bool:
    return isinstance(place.around, ast.Call) and is_name(place.around.func, "len")


def _is_bound_again(frame: Frame, place: Place) -> bool:
    return isinstance(place.node, ast.Name) and len(frame.bound.get(place.node.id, ())) > 1


def _check_one(program: Program, frame: Frame, node: ast.Assign) -> Iterator[Finding]:
    """Whether the unpacked value is a single object that cannot be unpacked."""
    called = program.callees(frame, node.value) if isinstance(node.value, ast.Call) else []
    # timid: the expressions in `return` outweigh the annotation.
    if any(returns.sizes(program, callee) is not None for group in called for callee in group):
        return
    found = program.infer(frame, node.value) or []
    infos = [instance.info for instance in found]
    around = program.world.surroundings
    is_sealed = all(
        instance.exact or not (is_protocol(instance.info) or around.deriving_from(instance.info.name))
        for instance in found
    )
    has_parts = any(is_record(info) for info in infos) or not all(none_has(program, infos, n) for n in _ITERATED)
    if infos and is_sealed and not has_parts:
        what = ast.unparse(node.value.func if isinstance(node.value, ast.Call) else node.value)
        yield frame.finding(
            CODE,
            SEVERITY,
            node.targets[0],
            symbol=what.rpartition(".")[2],
            message=f"`{what}` provides a `{infos[0].name}` ({infos[0].place}), which cannot be unpacked.",
            fix="Take the values from its attributes, as the target's own callers do.",
        )


def _check_none(step: Step, call: ast.Call) -> Iterator[Finding]:
    """Whether the call may return ``None`` now, and never did before."""
    for now, was in step.callees(call):
        is_new = now and was and not any(returns.gives_none(step.old, callee) is not False for callee in was)
        if is_new and all(returns.gives_none(step.program, callee) for callee in now):
            yield step.frame.finding(
                CODE,
                SEVERITY,
                call,
                symbol=now[0].name,
                message=f"`{now[0].name}` ({now[0].place}) may return `None` now, which is unpacked here.",
                fix="Test the result before it is unpacked, as the target's own callers do.",
            )
            return


def _check_no_tuple(step: Step, call: ast.Call) -> Iterator[Finding]:
    """Whether the call returns a dictionary, or one of the values alone, where it returned a tuple."""
    for now, was in step.callees(call):
        were = [callee.function for callee in was if callee.function and returns.sizes(step.old, callee)]
        functions = [callee.function for callee in now if callee.function is not None]
        if not functions or len(functions) != len(now) or not were or len(were) != len(was):
            continue
        is_one = all(any(returns.unwraps(one, function) for one in were) for function in functions)
        gave, gives = (all(returns.gives_dictionary(f) for f in each) for each in (were, functions))
        if is_one or (gives and not gave):
            what = "one value" if is_one else "a dictionary"
            yield step.frame.finding(
                CODE,
                SEVERITY,
                call,
                symbol=now[0].name,
                message=f"`{now[0].name}` ({now[0].place}) returned a tuple and returns {what} now, which is unpacked "
                "here.",
                fix="Take the values as the target's own callers do.",
            )
            return


def _check_whole(step: Step) -> Iterator[Finding]:
    """Values that are used as a single object, as they were, and that are tuples now."""
    for call, stands in places(step.frame):
        whole = [place for place in stands if place.is_whole or place.is_tested]
        # A call that was changed as well was written for the tuple.
        if not whole or any(p.is_taken_apart for p in stands) or not step.stood(call):
            continue
        for now, was in step.callees(call):
            sizes = {returns.tuple_size(c.function) if c.function is not None else None for c in now}
            is_new = len(sizes) == 1 and None not in sizes and was and _was_one(now, was, step.old)
            if is_new and not all(_takes_tuples(step, place) for place in whole):
                yield step.frame.finding(
                    CODE,
                    SEVERITY,
                    call,
                    symbol=now[0].name,
                    message=f"`{now[0].name}` ({now[0].place}) returned one value and returns {sizes.pop()} now, which "
                    "are used as one here.",
                    fix="Unpack them, as the target's own callers do.",
                )
                break


def _was_one(now: Sequence[Callee], was: Sequence[Callee], old: Program) -> bool:
    """Whether the callees returned a single value: no tuple, or one of the several values of today."""
    functions = [callee.function for callee in now if callee.function is not None]
    were = [callee.function for callee in was if callee.function is not None]
    is_kept = bool(functions) and all(any(returns.wraps(one, f) for one in were) for f in functions)
    return is_kept or all(returns.is_single(old, callee) for callee in was)


def _takes_tuples(step: Step, place: Place) -> bool:
    """Whether the value is an argument of something that changed as well, and may be made for the tuple."""
    call = place.around
    if not isinstance(call, ast.Call) or call.func is place.node:
        return False
    texts = [
        [ast.dump(callee.function or callee.module.node) for group in groups for callee in group]
        for groups in (step.program.callees(step.frame, call), step.old.callees(step.before, call))
    ]
    return texts[0] != texts[1]


def _field_count(info: ClassInfo) -> int | None:
    return len(info.fields) if is_record(info) else None


def _make_finding(
    frame: Frame, node: ast.Assign | ast.Tuple, *, count: int, sizes: list[int], what: str, place: str
) -> Finding:
    number = " or ".join(map(str, sizes))
    return frame.finding(
        CODE,
        SEVERITY,
        node.targets[0] if isinstance(node, ast.Assign) else node,
        symbol=what.rpartition(".")[2],
        message=f"{count} values are unpacked, but `{what}` ({place}) provides {number}.",
        fix=f"Unpack {number} values, as the target's own callers do.",
    )


def _check_overrides(program: Program, info: ClassInfo) -> Iterator[Finding]:
    for name, functions in info.methods.items():
        sizes = _own_sizes(program, info, functions)
        unpacked = list(_inherited_unpackings(program, info, name))
        if unpacked and _gives_one_alone(program, info, functions):
            sizes = [1]
        for caller, node, count in unpacked if sizes else ():
            if count not in sizes:
                yield _override_finding(
                    program, info, functions[0], sizes=sizes, where=caller.place_of(node), count=count
                )
                break


def _own_sizes(program: Program, info: ClassInfo, functions: list[FunctionNode]) -> list[int]:
    reached = [callee for mro in program.mros(info) for callee in program.method(mro, functions[0].name)]
    return returns.sizes_of_all(program, [callee for callee in reached if callee.function in functions])


def _gives_one_alone(program: Program, info: ClassInfo, functions: list[FunctionNode]) -> bool:
    """Whether a method returns alone what each method that it hides returns in a tuple, whatever its annotation says.

    timid: a name that may hold what another method of the same name returns may hold the tuple.
    """
    function = functions[0]
    handed = [
        node for node in nodes_of(function) if isinstance(node, ast.Call) and last_word(node.func) == function.name
    ]
    if len(functions) != 1 or handed:
        return False
    hidden: list[Callee] = []
    for mro in program.mros(info):
        own = [callee for callee in program.method(mro, function.name) if callee.info is info]
        hidden += hidden_by(program, mro, own[0], from_omni=False) if len(own) == 1 else []
    were = [callee.function for callee in hidden if callee.function is not None]
    return bool(were) and len(were) == len(hidden) and all(returns.unwraps(one, function) for one in were)


def _inherited_unpackings(program: Program, info: ClassInfo, name: str) -> Iterator[tuple[Frame, ast.Assign, int]]:
    for mro in program.mros(info):
        reached = mro.find(name)
        if reached is None or reached[0] is not info:
            continue
        for call in virtual_calls(program, mro, name):
            for node, target in unpackings(call.frame):
                if node.value is call.node:
                    yield call.frame, node, len(target.elts)


def _override_finding(
    program: Program, info: ClassInfo, function: FunctionNode, *, sizes: Sequence[int], where: str, count: int
) -> Finding:
    number = " or ".join(map(str, sizes))
    return program.frame(info, function).finding(
        CODE,
        SEVERITY,
        function,
        symbol=function.name,
        message=f"This override returns {number} value{'' if number == '1' else 's'}, but inherited code ({where}) "
        f"unpacks {count}.",
        fix=f"Return {count} values, as the overridden method does.",
    )
