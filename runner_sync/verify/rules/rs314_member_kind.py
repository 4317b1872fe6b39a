"""RS314 member-kind: a member is of another kind than before, and is used as what it was.

What: between the old and the new target a method became a property, a property, attribute or constant a method or
function, a function a coroutine, a generator or a context manager, one of these something else, a class a function, an
attribute a property that cannot be set; and the NPU runner still calls it, reads it without a call, does not await it
(takes what the call hands back for the value), enters it by `with`, goes through it, awaits it, asks `isinstance` for
it, or assigns it, at once or by the name that it got, or where a function of the module returns it to. Also the
reverse, with or without the old trees: an override that is of the old kind, where inherited code or the worker uses it
as what the hidden member is now; and a statement that does nothing but call a coroutine, a generator or a context
manager, of which nothing runs then: `self.synchronize_input_prep()` that was a `with`.

Example: `if self.use_dcp:` after vllm-ascend turned the property `use_dcp` into a method: the condition is always true.

Why: the name is there and the arguments fit, so nothing else tells. A property that is called and a `with` over `None`
raise in the first forward pass; a method that is tested, and a coroutine that nobody awaits, raise nothing at all.
A type checker sees it (RS390), but not everybody runs one.

Fix: use it as the target's own code does: call it, read it, await it, or enter it.

Leaves alone: what cannot be told to be of one kind in every class of the MRO and every branch, decorators it does not
know, properties and attributes that may hand out something to call (or to enter), properties with a setter and cached
ones, coroutines and the like that are only kept, handed on or an argument, what stands in a `try` or under a version
switch, or where the code asks what it has at hand (`callable(…)`, `isinstance(…)`, `is not None`). Without the old
trees only overrides and such statements are looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from runner_sync.model import Finding, Severity
from runner_sync.syntax import is_name, last_word
from runner_sync.verify.expecting import CALL_ERRORS
from runner_sync.verify.trees.calling.virtual import virtual_reads
from runner_sync.verify.trees.classes import ClassInfo, Mro
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import nodes_of
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, steps
from runner_sync.verify.trees.values.deferred import is_asked, is_taken_for_value
from runner_sync.verify.trees.values.guards import is_identity, questions
from runner_sync.verify.trees.values.kinds import Member, lacks, member_of, members
from runner_sync.verify.trees.values.protocols import FAILS, asked_for
from runner_sync.verify.trees.values.uses import places, places_of

CODE = "RS314"
NAME = "member-kind"
SEVERITY: Severity = "error"

_CALLED = frozenset({"function", "coroutine", "generator", "context manager"})
_DEFERRED = frozenset({"coroutine", "generator", "context manager"})
_HELD = frozenset({"property", "value"})
# The special methods that what comes back from a call of each kind has, of those that code here asks for.
_GIVEN = {
    "context manager": frozenset({"__enter__"}),
    "generator": frozenset({"__iter__", "__next__"}),
    "coroutine": frozenset({"__await__"}),
}
_CLASS_TESTS = frozenset({"isinstance", "issubclass"})


@dataclass(frozen=True, slots=True)
class _Place:
    """A name or attribute of a function, and what is around each node there."""

    step: Step
    node: ast.Name | ast.Attribute
    above: Mapping[int, ast.AST]

    @property
    def symbol(self) -> str:
        return last_word(self.node)

    @property
    def questions(self) -> frozenset[str]:
        return questions(self.step.frame.function, self.node)

    def parent(self, node: ast.AST) -> ast.AST | None:
        return self.above.get(id(node))


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Uses of members that only fit what those were in ``old``, and overrides that are of another kind."""
    for info in program.own_classes(module) if module in program.checked else ():
        for name in info.methods:
            yield from _check_override(program, info, name)
    for frame in program.frames(module):
        yield from _for_nothing(program, frame)  # in front: what was of another kind before is told in place of it
    for step in steps(program, module, old):
        nodes = step.frame.nodes()
        above = {id(part): node for node in nodes for part in ast.iter_child_nodes(node)}
        for node in nodes:
            if isinstance(node, ast.Name | ast.Attribute) and not step.frame.is_guarded(node, CALL_ERRORS):
                yield from _check(_Place(step, node, above))


def _for_nothing(program: Program, frame: Frame) -> Iterator[Finding]:
    """Statements that are a call of what only runs once somebody awaits, enters or goes through what it hands back."""
    for statement in frame.nodes():
        match statement:
            case ast.Expr(value=ast.Call(func=ast.Name() | ast.Attribute() as called)):
                found = list(members(program, frame, called).values())
                known = [member for member in found if member is not None and member.kind in _DEFERRED]
                is_asked_for = frame.is_guarded(called, CALL_ERRORS) or questions(frame.function, called)
                if known and len(known) == len(found) and not is_asked_for:
                    yield _nothing_runs(frame, called, known[0])


def _nothing_runs(frame: Frame, called: ast.Name | ast.Attribute, member: Member) -> Finding:
    text, use = ast.unparse(called), {"coroutine": "awaited", "generator": "iterated"}.get(member.kind, "entered")
    return frame.finding(
        CODE,
        SEVERITY,
        called,
        symbol=text.rpartition(".")[2],
        message=f"`{text}` is {member.words} ({member.place}): this call does nothing until it is {use}.",
        fix=f"Use it as {member.words}.",
    )


def _check(place: _Place) -> Iterator[Finding]:
    now = members(place.step.program, place.step.frame, place.node)
    was = members(place.step.old, place.step.before, place.node) if any(now.values()) else {}
    for key, other in now.items():
        one = was.get(key)
        use = _wrong_use(place, was=one, now=other) if one is not None and other is not None else ""
        if one is not None and other is not None and use:
            text = ast.unparse(place.node)
            yield place.step.frame.finding(
                CODE,
                SEVERITY,
                place.node,
                symbol=place.symbol,
                message=f"`{text}` was {one.words} and is {other.words} now ({other.place}): it {use}.",
                fix=f"Use it as the target does, where it is {other.words}.",
            )
            return


def _wrong_use(place: _Place, *, was: Member, now: Member) -> str:
    """What is wrong with a use of the member, empty when it may be right."""
    parent = place.parent(place.node)
    if isinstance(place.node.ctx, ast.Store):
        return "cannot be assigned" if now.fixed and not was.fixed else ""
    if isinstance(parent, ast.Call) and parent.func is place.node:
        return _wrong_call(place, parent, was=was, now=now)
    return _wrong_read(place, was=was, now=now)


def _wrong_call(place: _Place, call: ast.Call, *, was: Member, now: Member) -> str:
    """What is wrong with a call of the member, empty when it may be right."""
    if now.kind not in _HELD:
        # Of two classes nothing but what they can do tells, and that is looked for where it is mostly needed.
        is_another = was.kind != now.kind or isinstance(place.parent(call), ast.withitem)
        asked = asked_for(place.step.program, place.step.frame, call) if is_another else []
        failing = (
            name for name in asked if _has(place.step.old, was, name) and _has_not(place.step.program, now, name)
        )
        for name in failing:
            return FAILS[name]
    if was.kind in _CALLED and now.kind in _HELD:
        is_same = bool(now.hands_out) and now.hands_out == was.hands_out
        fails = (is_same or lacks(place.step.program, now, "__call__")) and not place.questions
        return "cannot be called" if fails else ""
    if was.kind != "function" or now.kind not in _DEFERRED or not _is_used_up(place, call, now):
        return ""
    if now.kind == "coroutine":
        return "" if "iscoroutinefunction" in place.questions else "is not awaited"
    return "does nothing until it is entered" if now.kind == "context manager" else "does nothing until it is iterated"


def _has(program: Program, member: Member, name: str) -> bool:
    """Whether the result of a call of the member has a special method, as far as that can be told."""
    return name in _GIVEN.get(member.kind, ()) or (member.kind == "class" and not _has_not(program, member, name))


def _has_not(program: Program, member: Member, name: str) -> bool:
    """Whether the result provably lacks the special method; an object with ``__getitem__`` can be iterated over as
    well."""
    if member.kind in _GIVEN:
        return name not in _GIVEN[member.kind]
    return all(lacks(program, member, other) for other in (name, *(["__getitem__"] if name == "__iter__" else [])))


def _is_used_up(place: _Place, call: ast.Call, now: Member) -> bool:
    """Whether nobody can await, enter or go through what a call hands back: it is dropped, or taken for the value."""
    if isinstance(place.parent(call), ast.Expr):
        return True
    stands = next((stands for other, stands in places(place.step.frame) if other is call), [])
    return is_taken_for_value(stands, is_iterable=now.kind == "generator")


def _wrong_read(place: _Place, *, was: Member, now: Member) -> str:
    """What is wrong with a read that calls nothing, empty when it may be right."""
    if now.kind not in _CALLED:
        return ""
    node, parent = place.node, place.parent(place.node)
    if was.kind == "class":
        holder = parent if isinstance(parent, ast.Tuple) else node
        outer = place.parent(holder)
        asks = isinstance(outer, ast.Call) and any(is_name(outer.func, name) for name in _CLASS_TESTS)
        if (asks and isinstance(outer, ast.Call) and holder in outer.args[1:]) or isinstance(outer, ast.ExceptHandler):
            return "is no class to ask for"
        return "is no class to derive from" if _is_base(place.step.frame.module, node) else ""
    if was.kind not in _HELD or (isinstance(parent, ast.Compare) and is_identity(parent)) or place.questions:
        return ""
    if now.cached and isinstance(parent, ast.Attribute):
        return ""
    # What is called elsewhere in the module may have held something to call before, too.
    is_value = lacks(place.step.old, was, "__call__") or _looks_into(parent, node)
    is_told = any(source.annotation is not None for source in was.sources)
    may_be_tested = not is_told and f"{place.symbol}(" not in place.step.frame.module.text
    if is_value or (_tests(parent, node) and may_be_tested):
        return "is read without a call"
    is_named = not now.cached and _is_named_value(place, may_be_tested=may_be_tested)
    return "is read without a call" if is_named else ""


def _is_named_value(place: _Place, *, may_be_tested: bool) -> bool:
    """Whether the member gets a name, and is looked into or tested by that, and neither called nor asked what it is."""
    stands = [stand for stand in places_of(place.step.frame, place.node) if stand.node is not place.node]
    for stand in stands:
        match stand.around:
            case ast.Call(func=called) if called is stand.node or is_asked(stand):
                return False
            case ast.Compare() as asked if is_identity(asked):
                return False
    is_handed_on = any(isinstance(stand.around, ast.Call) for stand in stands)
    is_tested = may_be_tested and not is_handed_on and any(_tests(stand.around, stand.node) for stand in stands)
    return is_tested or any(_looks_into(stand.around, stand.node) for stand in stands)


def _looks_into(parent: ast.AST | None, node: ast.expr) -> bool:
    """Whether ``parent`` needs something that no function has: an order, a sum, items, an attribute without ``__``."""
    if isinstance(parent, ast.Compare):
        return not all(isinstance(operator, ast.Is | ast.IsNot | ast.Eq | ast.NotEq) for operator in parent.ops)
    if isinstance(parent, ast.BinOp | ast.AugAssign | ast.Starred):
        return True
    if isinstance(parent, ast.UnaryOp):
        return not isinstance(parent.op, ast.Not)
    if isinstance(parent, ast.Attribute):
        return not parent.attr.startswith("__")
    if isinstance(parent, ast.Subscript):
        return parent.value is node
    return isinstance(parent, ast.For | ast.comprehension) and parent.iter is node


def _tests(parent: ast.AST | None, node: ast.expr) -> bool:
    """Whether ``parent`` is a condition that ``node`` decides, alone or with others."""
    if isinstance(parent, ast.If | ast.While | ast.IfExp | ast.Assert):
        return parent.test is node
    if isinstance(parent, ast.BoolOp):
        return parent.values[-1] is not node
    if isinstance(parent, ast.comprehension):
        return node in parent.ifs
    if isinstance(parent, ast.Compare):
        return not is_identity(parent)
    return isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)


def _is_base(module: Module, node: ast.expr) -> bool:
    statements = [binding.node for bindings in module.bindings.values() for binding in bindings]
    return any(node is base for part in statements if isinstance(part, ast.ClassDef) for base in part.bases)


def _check_override(program: Program, info: ClassInfo, name: str) -> Iterator[Finding]:
    """Whether code that is not checked uses what ``info`` overrides as something that the override is not."""
    for mro in program.mros(info):
        reached, own = mro.find(name), member_of(program, mro, name)
        if own is None or reached is None or reached[0] is not info:
            continue
        for frame, node in virtual_reads(program, mro, name):
            hidden = _hidden(program, mro, info, name, by=frame.module)
            if (
                hidden is None
                or hidden.kind == own.kind
                or frame.is_tested(node)
                or frame.is_guarded(node, CALL_ERRORS)
            ):
                continue
            wrong = _misread(program, frame, node, own=own, hidden=hidden)
            if wrong and not questions(frame.function, node):
                function = info.methods[name][0]
                where = frame.place_of(node)
                yield program.frame(info, function).finding(
                    CODE,
                    SEVERITY,
                    function,
                    symbol=name,
                    message=f"This override is {own.words}, and {where} {wrong}: there it is {hidden.words} "
                    f"({hidden.place}).",
                    fix=f"Make it {hidden.words}, as {hidden.place} does.",
                )
                return


def _hidden(program: Program, mro: Mro, info: ClassInfo, name: str, *, by: Module) -> Member | None:
    """The member behind ``info`` in the MRO that code of ``by`` means by the name; upstream's code means upstream's."""
    before = mro.classes[: mro.classes.index(info) + 1]
    for other in mro.classes[len(before) :]:
        is_meant = by.project == "vllm-omni" or other.module.project != "vllm-omni"
        if is_meant and other.has(name):
            return member_of(program, mro, name, after=mro.classes[mro.classes.index(other) - 1])
    return None


def _misread(program: Program, frame: Frame, node: ast.Attribute, *, own: Member, hidden: Member) -> str:
    """What inherited code does with the overridden member that fails with the override, empty when it may be right."""
    above = {id(part): outer for outer in nodes_of(frame.function) for part in ast.iter_child_nodes(outer)}
    parent = above.get(id(node))
    if not isinstance(parent, ast.Call) or parent.func is not node:
        is_held = hidden.kind in _HELD and own.kind in _CALLED
        is_value = lacks(program, hidden, "__call__") or _looks_into(parent, node)
        return "reads it without a call" if is_held and is_value else ""
    outer = above.get(id(parent))
    if hidden.kind in _CALLED and own.kind in _HELD:
        return "calls it" if lacks(program, own, "__call__") else ""
    if hidden.kind == "context manager" and isinstance(outer, ast.withitem):
        return "enters it" if lacks(program, own, "__enter__") else ""
    if hidden.kind == "coroutine" and isinstance(outer, ast.Await):
        return "awaits it" if own.kind == "context manager" or lacks(program, own, "__await__") else ""
    return ""
