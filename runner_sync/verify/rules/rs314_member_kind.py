"""RS314 member-kind: a member is of another kind than before, and is used as what it was.

What: a member changed kind between the old and the new target, and the NPU runner still uses it as the old kind. A
method became a property; a property, attribute or constant became a method or function; a function became a coroutine,
a generator or a context manager, or one of these something else; a class became a function; an attribute became a
property that cannot be set. The runner still calls the member, reads it without a call, does not await it (takes the
result of the call for the value), enters it by `with` or `async with`, iterates over it, awaits it, tests `isinstance`
against it, or assigns it, directly, by a local name, or after a function of the module returned it. The reverse, with
or without the old trees: an override of the old kind, where inherited code or the worker uses it as the hidden member's
kind. Also a statement that only calls a coroutine, a generator or a context manager, so that nothing of it runs:
`self.synchronize_input_prep()` that was a `with`.

Example: `if self.use_dcp:` after vllm-ascend turned the property `use_dcp` into a method: the condition is always true.

Why: the name is there and the arguments fit, so nothing else reports it. A property that is called and a `with` over
`None` raise in the first forward pass; a tested method and a coroutine that nobody awaits raise nothing at all. A type
checker sees it (RS390), but not everybody runs one.

Fix: use it as the target's own code does: call it, read it, await it, or enter it.

Leaves alone: members that are not clearly of one kind in every class of the MRO and every branch, unknown decorators,
properties and attributes that may hold a callable (or a context manager), properties with a setter, cached properties,
coroutines and the like that are only kept, passed on or an argument, code in a `try` or under a version switch, and
code that tests the value (`callable(…)`, `isinstance(…)`, `is not None`). Without the old trees the rule checks only
overrides and such statements.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from runner_sync.model import Finding, Severity
from runner_sync.syntax import is_name, last_word
from runner_sync.verify.expecting import CALL_ERRORS
from runner_sync.verify.trees.calling.virtual import find_virtual_reads
from runner_sync.verify.trees.classes import ClassInfo, Mro
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, steps
from runner_sync.verify.trees.values.deferred import is_taken_for_value
from runner_sync.verify.trees.values.guards import find_tests_of
from runner_sync.verify.trees.values.kinds import Member, member_of, members, provably_lacks
from runner_sync.verify.trees.values.protocols import FAILS, find_needed_methods
from runner_sync.verify.trees.values.uses import Place, Use, place_at, places, places_of

CODE = "RS314"
NAME = "member-kind"
SEVERITY: Severity = "error"

_HELD = frozenset({"property", "value"})
# The special methods of the result of a call of each kind, as far as this rule checks them.
_RESULT_METHODS = {
    "context manager": frozenset({"__enter__"}),
    "asynchronous context manager": frozenset({"__aenter__"}),
    "generator": frozenset({"__iter__", "__next__"}),
    "coroutine": frozenset({"__await__"}),
}
# Uses that need what no function has: an order, a sum, items, an attribute without ``__``.
_VALUE_USES = frozenset[Use](
    {"attribute", "item", "iterated", "merged", "operand", "ordered", "searched", "spread", "streamed"}
)
_DEFERRED = frozenset(_RESULT_METHODS)
_CALLED = _DEFERRED | {"function"}
_CLASS_TESTS = frozenset({"isinstance", "issubclass"})


@dataclass(frozen=True, slots=True)
class _Place:
    """A name or attribute of a function."""

    step: Step
    node: ast.Name | ast.Attribute

    @property
    def symbol(self) -> str:
        return last_word(self.node)

    @property
    def questions(self) -> frozenset[str]:
        return find_tests_of(self.step.frame.function, self.node)

    def parent(self, node: ast.AST) -> ast.AST:
        return self.step.frame.parent(node)


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield uses of members that only fit their kind in ``old``, and overrides of another kind than hidden members."""
    for info in program.checked_classes(module):
        for name in info.methods:
            yield from _check_override(program, info, name)
    for frame in program.frames(module):
        yield from _find_idle_calls(program, frame)  # first, because a finding of a changed kind replaces it
    for step in steps(program, module, old):
        for node in step.frame.nodes():
            if isinstance(node, ast.Name | ast.Attribute) and not step.frame.is_guarded(node, CALL_ERRORS):
                yield from _check(_Place(step, node))


def _find_idle_calls(program: Program, frame: Frame) -> Iterator[Finding]:
    """Yield statements that only call something whose result runs once it is awaited, entered or iterated over."""
    for statement in frame.nodes():
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name() | ast.Attribute() as called)):
                found = list(members(program, frame, called).values())
                known = [member for member in found if member is not None and member.kind in _DEFERRED]
                is_asked_for = frame.is_guarded(called, CALL_ERRORS) or find_tests_of(frame.function, called)
                if known and len(known) == len(found) and not is_asked_for:
                    yield _make_idle_finding(frame, called, known[0])


def _make_idle_finding(frame: Frame, called: ast.Name | ast.Attribute, member: Member) -> Finding:
    text, use = ast.unparse(called), {"coroutine": "awaited", "generator": "iterated"}.get(member.kind, "entered")
    return frame.finding(
        (CODE, SEVERITY),
        called,
        symbol=text.rpartition(".")[2],
        message=f"`{text}` is {member.words} ({member.place}): this call does nothing until it is {use}.",
        fix=_make_fix(frame, called, member) or f"Use it as {member.words}.",
    )


def _make_fix(frame: Frame, node: ast.AST, member: Member) -> str:
    """Return what to do where the member is a coroutine, else an empty text."""
    if member.kind != "coroutine":
        return ""
    if not frame.runs_at_once(node) or isinstance(frame.function, ast.AsyncFunctionDef):
        return "Await it."
    kind = "function" if frame.info is None else "method"
    return (
        f"Await it. `{frame.function.name}` is a plain {kind}, so it and its callers must become coroutines for that."
    )


def _check(place: _Place) -> Iterator[Finding]:
    now = members(place.step.program, place.step.frame, place.node)
    was = members(place.step.old, place.step.before, place.node) if any(now.values()) else {}
    for key, other in now.items():
        one = was.get(key)
        use = _describe_wrong_use(place, was=one, now=other) if one is not None and other is not None else ""
        if one is not None and other is not None and use:
            text = ast.unparse(place.node)
            yield place.step.frame.finding(
                (CODE, SEVERITY),
                place.node,
                symbol=place.symbol,
                message=f"`{text}` was {one.words} and is {other.words} now ({other.place}): it {use}.",
                fix=_make_fix(place.step.frame, place.node, other)
                or f"Use it as the target does, where it is {other.words}.",
            )
            return


def _describe_wrong_use(place: _Place, *, was: Member, now: Member) -> str:
    """Describe what is wrong with a use of the member; empty when it may be right."""
    parent = place.parent(place.node)
    if isinstance(place.node.ctx, ast.Store):
        return "cannot be assigned" if now.fixed and not was.fixed else ""
    if isinstance(parent, ast.Call) and parent.func is place.node:
        return _describe_wrong_call(place, parent, was=was, now=now)
    return _describe_wrong_read(place, was=was, now=now)


def _describe_wrong_call(place: _Place, call: ast.Call, *, was: Member, now: Member) -> str:
    """Describe what is wrong with a call of the member; empty when it may be right."""
    if now.kind not in _HELD:
        # Two classes differ only in their special methods, which are compared only for `with`, the usual case.
        is_another = was.kind != now.kind or isinstance(place.parent(call), ast.withitem)
        asked = find_needed_methods(place.step.program, place.step.frame, call) if is_another else []
        failing = (
            name
            for name in asked
            if _has_method(place.step.old, was, name) and _lacks_method(place.step.program, now, name)
        )
        for name in failing:
            return FAILS[name]
    if was.kind in _CALLED and now.kind in _HELD:
        is_same = bool(now.hands_out) and now.hands_out == was.hands_out
        fails = (is_same or provably_lacks(place.step.program, now, "__call__")) and not place.questions
        return "cannot be called" if fails else ""
    if was.kind != "function" or now.kind not in _DEFERRED or not _is_wasted(place, call, now):
        return ""
    if now.kind == "coroutine":
        return "" if "iscoroutinefunction" in place.questions else "is not awaited"
    return f"does nothing until it is {'iterated' if now.kind == 'generator' else 'entered'}"


def _has_method(program: Program, member: Member, name: str) -> bool:
    """Whether the result of a call of the member has a special method, as far as known."""
    return name in _RESULT_METHODS.get(member.kind, ()) or (
        member.kind == "class" and not _lacks_method(program, member, name)
    )


def _lacks_method(program: Program, member: Member, name: str) -> bool:
    """Whether the result provably lacks the special method; ``__getitem__`` replaces ``__iter__``."""
    if member.kind in _RESULT_METHODS:
        return name not in _RESULT_METHODS[member.kind]
    return all(
        provably_lacks(program, member, other) for other in (name, *(["__getitem__"] if name == "__iter__" else []))
    )


def _is_wasted(place: _Place, call: ast.Call, now: Member) -> bool:
    """Whether nobody can await, enter or iterate over a call's result: it is dropped, or taken for the value."""
    if isinstance(place.parent(call), ast.Expr):
        return True
    uses = next((uses for other, uses in places(place.step.frame) if other is call), [])
    return is_taken_for_value(uses, is_iterable=now.kind == "generator")


def _describe_wrong_read(place: _Place, *, was: Member, now: Member) -> str:
    """Describe what is wrong with a read that calls nothing; empty when it may be right."""
    if now.kind not in _CALLED:
        return ""
    node, parent, here = place.node, place.parent(place.node), place_at(place.step.frame, place.node)
    if was.kind == "class":
        holder = parent if isinstance(parent, ast.Tuple) else node
        outer = place.parent(holder)
        asks = isinstance(outer, ast.Call) and any(is_name(outer.func, name) for name in _CLASS_TESTS)
        if (asks and isinstance(outer, ast.Call) and holder in outer.args[1:]) or isinstance(outer, ast.ExceptHandler):
            return "is no class to ask for"
        return "is no class to derive from" if _is_base(place.step.frame.module, node) else ""
    if was.kind not in _HELD or here.use == "same" or place.questions:
        return ""
    if now.cached and isinstance(parent, ast.Attribute):
        return ""
    # A member that the module calls elsewhere may have held a callable before, too.
    is_value = provably_lacks(place.step.old, was, "__call__") or here.use in _VALUE_USES
    is_annotated = any(source.annotation is not None for source in was.sources)
    may_be_tested = not is_annotated and f"{place.symbol}(" not in place.step.frame.module.text
    if is_value or (_is_condition(here) and may_be_tested):
        return "is read without a call"
    is_named = not now.cached and _is_named_value(place, may_be_tested=may_be_tested)
    return "is read without a call" if is_named else ""


def _is_named_value(place: _Place, *, may_be_tested: bool) -> bool:
    """Whether a local name of the member is used as a value or tested, and never called or tested for its kind."""
    uses = [use for use in places_of(place.step.frame, place.node) if use.node is not place.node]
    words = {use.use for use in uses}
    if words & {"called", "asked", "same"}:
        return False
    is_handed_on = not words.isdisjoint({"argument", "length", "listed", "number", "truth"})
    is_tested = may_be_tested and not is_handed_on and any(_is_condition(use) for use in uses)
    return is_tested or not words.isdisjoint(_VALUE_USES)


def _is_condition(place: Place) -> bool:
    """Whether the code there decides by the value, alone or with others."""
    return place.is_tested or place.use in ("alternative", "compared", "ordered", "searched")


def _is_base(module: Module, node: ast.expr) -> bool:
    statements = [binding.node for bindings in module.bindings.values() for binding in bindings]
    return any(node is base for part in statements if isinstance(part, ast.ClassDef) for base in part.bases)


def _check_override(program: Program, info: ClassInfo, name: str) -> Iterator[Finding]:
    """Report unchecked code that uses the member that ``info`` overrides as another kind than the override's."""
    for mro in program.mros(info):
        reached, own = mro.find(name), member_of(program, mro, name)
        if own is None or reached is None or reached[0] is not info:
            continue
        for frame, node in find_virtual_reads(program, mro, name):
            hidden = _find_hidden_member(program, mro, info, name, by=frame.module)
            if (
                hidden is None
                or hidden.kind == own.kind
                or frame.is_tested(node)
                or frame.is_guarded(node, CALL_ERRORS)
            ):
                continue
            misuse = _describe_misuse(program, frame, node, own=own, hidden=hidden)
            if misuse and not find_tests_of(frame.function, node):
                function = info.methods[name][0]
                where = frame.place_of(node)
                yield program.frame(info, function).finding(
                    (CODE, SEVERITY),
                    function,
                    symbol=name,
                    message=f"This override is {own.words}, and {where} {misuse}: there it is {hidden.words} "
                    f"({hidden.place}).",
                    fix=f"Make it {hidden.words}, as {hidden.place} does.",
                )
                return


def _find_hidden_member(program: Program, mro: Mro, info: ClassInfo, name: str, *, by: Module) -> Member | None:
    """Return the member behind ``info`` that code of ``by`` means, or ``None``; upstream code means an upstream
    member."""
    for other in mro.behind(info):
        is_meant = by.is_omnis or not other.is_omnis
        if is_meant and other.has(name):
            return member_of(program, mro, name, after=mro.classes[mro.classes.index(other) - 1])
    return None


def _describe_misuse(program: Program, frame: Frame, node: ast.Attribute, *, own: Member, hidden: Member) -> str:
    """Describe what inherited code does with the member that fails with the override; empty when it may be right."""
    parent = frame.parent(node)
    if not isinstance(parent, ast.Call) or parent.func is not node:
        is_held = hidden.kind in _HELD and own.kind in _CALLED
        is_value = provably_lacks(program, hidden, "__call__") or place_at(frame, node).use in _VALUE_USES
        return "reads it without a call" if is_held and is_value else ""
    outer = frame.parent(parent)
    if hidden.kind in _CALLED and own.kind in _HELD:
        return "calls it" if provably_lacks(program, own, "__call__") else ""
    if "context manager" in hidden.kind and isinstance(outer, ast.withitem):
        return "enters it" if _lacks_method(program, own, *_RESULT_METHODS[hidden.kind]) else ""
    if hidden.kind == "coroutine" and isinstance(outer, ast.Await):
        return "awaits it" if _lacks_method(program, own, "__await__") else ""
    return ""
