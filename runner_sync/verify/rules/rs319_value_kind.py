"""RS319 value-kind: a value is handed over, or taken, that the target declares as another kind of thing now.

What: a call passes an argument for a parameter whose annotation changed kind (`tuple[…]` before, `dict[str, …]` now; by
position also under another name), while upstream's own calls pass something else there. Also `a, b = self.m(...)` or `a
= self.m(...)` where the annotation of the result changed kind, and upstream's own code gives the value another name.
Also an object that `dataclasses.replace`, `asdict`, `astuple` or `fields` gets, whose class is no dataclass any more;
and a comparison of a field with constants (`x.mode == "align"`, `x.mode in ("a", "b")`), none of which it can equal any
more by its declaration: a text became an enum, or the constant is gone from a `Literal`.

Example: `mamba_utils.preprocess_mamba(..., self.model.get_mamba_state_copy_func(), bufs)` after vLLM 0.30 wants a
mapping from the type of a layer to its functions there: vllm-ascend 0.30.0rc2 passes
`self._get_ascend_mamba_state_copy_funcs()`.

Why: number, order and mostly names of the arguments are unchanged, so nothing else reports it. It is a `TypeError` or a
`KeyError` somewhere inside upstream's function, or a value with another meaning: the third value of vllm-ascend's
`_sync_metadata_across_dp` was `with_prefill` in 0.15.0rc1, and is a graph mode in 0.19.1rc1.

Fix: pass or take what the target's own code does there.

Leaves alone: calls that changed as well, that upstream still makes in the same way, or that upstream's classes of the
runner no longer make; annotations that may mean anything (`Any`, a Protocol, a class outside the trees), or that were
only respelt, widened or narrowed; one kind of number for another; comparisons that upstream still makes word for word,
or with a constant that it still assigns; fields that omni's code or a subclass sets or declares itself; and enums that
derive from `str` or `int`. Needs the old trees.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from runner_sync.model import Finding, Severity
from runner_sync.signatures import join_quoted
from runner_sync.statements import parameters
from runner_sync.syntax import last_word
from runner_sync.verify.expecting import CALL_ERRORS
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.calling.replacing import find_lost_dataclass
from runner_sync.verify.trees.classes import classes_in
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import is_plain, nodes_of
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, steps
from runner_sync.verify.trees.values.annotations import tuple_parts
from runner_sync.verify.trees.values.declared import Declared, is_another, kinds_of, unite
from runner_sync.verify.trees.values.equals import find_unequal
from runner_sync.verify.trees.values.guards import find_tests_of

CODE = "RS319"
NAME = "value-kind"
SEVERITY: Severity = "error"

_Slot = str | int
"""A parameter by its name, or a returned value by its number."""


@dataclass(frozen=True, slots=True)
class _Side:
    """The callees of a call in one program."""

    program: Program
    frame: Frame
    callees: list[Callee]

    def find_declaration(self, slot: _Slot, *, count: int) -> Declared | None:
        """Return the declared kind of a parameter, or of one of ``count`` returned values."""
        classes = self.program.classes
        return unite([kinds_of(classes, c.module, _find_annotation(c, slot, count=count)) for c in self.callees])

    def unparse(self, slot: _Slot, *, count: int) -> str:
        """Return the source text of the annotation."""
        annotation = _find_annotation(self.callees[0], slot, count=count)
        return ast.unparse(annotation) if annotation is not None else ""

    def find_upstream_values(self, slot: _Slot, *, count: int) -> dict[str, str]:
        """Return what upstream's methods in the MRO, hidden ones too, have in that place, with file and line."""
        found: dict[str, str] = {}
        callee = self.callees[0]
        mros = self.program.mros(self.frame.info) if self.frame.info is not None else []
        for info in (info for info in classes_in(mros) if not info.is_omnis):
            nodes = (node for functions in info.methods.values() for f in functions for node in nodes_of(f))
            for node in nodes:
                call = _find_call(node)
                placed = (
                    _collect_slots(node, callee) if call is not None and last_word(call.func) == callee.name else {}
                )
                if slot in placed and (isinstance(slot, str) or len(placed) == count):
                    found.setdefault(ast.unparse(placed[slot]), info.place_of(placed[slot]))
        return found


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield arguments and returned values whose declared kind changed since ``old``."""
    for step in steps(program, module, old):
        for node in step.frame.nodes():
            if isinstance(node, ast.Call) and not step.frame.is_guarded(node, CALL_ERRORS):
                yield from _check_dataclass(step, node)
            elif isinstance(node, ast.Compare) and not step.frame.is_guarded(node, CALL_ERRORS):
                yield from _check_comparison(step, node)
            call = _find_call(node) if step.frame.info is not None else None
            # A call that changed as well was written for the target's declaration.
            if call is None or not step.stood(node) or step.frame.is_guarded(node, CALL_ERRORS):
                continue
            for now, was in step.callees(call):
                if now and was and all(callee.function is not None for callee in (*now, *was)):
                    yield from _check(node, _Side(program, step.frame, now), _Side(step.old, step.before, was))


def _check_dataclass(step: Step, call: ast.Call) -> Iterator[Finding]:
    info = find_lost_dataclass(step, call)
    if info is not None:
        text, function = ast.unparse(call.args[0]), last_word(call.func)
        yield step.frame.finding(
            (CODE, SEVERITY),
            call.args[0],
            symbol=f"{function}({info.name})",
            message=f"`{text}` is no dataclass any more: {info.label} is none, so `{function}` refuses it.",
            fix=f"Make the new `{info.name}` as the target does.",
        )


_COMPARISONS = ("== ", "!= ", *(f"{word} {bracket}" for word in ("in", "not in") for bracket in "([{"))
"""How upstream's code may compare a value with a constant, or with the first of several."""


def _check_comparison(step: Step, node: ast.Compare) -> Iterator[Finding]:
    """Report a comparison with constants that the field can no longer equal."""
    found = find_unequal(step, node)
    if found is None or find_tests_of(step.frame.function, found.read):
        return
    text, constants = ast.unparse(found.read), join_quoted([repr(one) for one in found.constants])
    # What the target still compares in the same way is still right, whatever it is declared as. Texts without a word
    # at their end, such as the empty one, cannot be searched for.
    around = step.program.world.surroundings
    words = [f'"{one}' if isinstance(one, str) else repr(one) for one in found.constants]
    compared = [f"{text} {how}{word}" for word in words if re.search(r"\w$", word) for how in _COMPARISONS]
    if not compared or any(map(around.is_upstream_text, compared)):
        return
    what = "any of " if len(found.constants) > 1 else ""
    instead = f"with {join_quoted(found.members)}" if found.members else "as the target does"
    if found.instead:
        instead = f"with `{found.instead}` if that is the new name"
    yield step.frame.finding(
        (CODE, SEVERITY),
        node,
        symbol=f"{found.read.attr} == {', '.join(map(repr, found.constants))}",
        message=f"`{text}` never equals {what}{constants} any more: it is declared as `{found.declared}` "
        f"({found.place}) now.",
        fix=f"Compare it {instead}.",
    )


def _check(node: ast.AST, now: _Side, was: _Side) -> Iterator[Finding]:
    placed = _collect_slots(node, now.callees[0])
    for slot, value in placed.items():
        before = _find_old_name(slot, now.callees[0], was.callees[0])
        kind_now, kind_before = (
            now.find_declaration(slot, count=len(placed)),
            was.find_declaration(before, count=len(placed)),
        )
        if kind_now is None or kind_before is None or not is_another(kind_before, kind_now):
            continue
        text, others = ast.unparse(value), now.find_upstream_values(slot, count=len(placed))
        is_left = others and text not in others and text in was.find_upstream_values(before, count=len(placed))
        if is_left and (isinstance(slot, str) or _is_read(now.frame, value)):
            other, place = next(iter(others.items()))
            callee = now.callees[0]
            what = f"`{slot}` of" if isinstance(slot, str) else f"`{text}` from"
            does = f"passes `{other}` there" if isinstance(slot, str) else f"takes it as `{other}`"
            yield now.frame.finding(
                (CODE, SEVERITY),
                value,
                symbol=f"{callee.name}({slot if isinstance(slot, str) else text})",
                message=f"{what} {callee.label} was `{was.unparse(before, count=len(placed))}` "
                f"and is `{now.unparse(slot, count=len(placed))}` now: {place} {does}.",
                fix="Pass or take what the target's own code does in that place.",
            )


def _find_old_name(slot: _Slot, now: Callee, was: Callee) -> _Slot:
    """Return the old name of a parameter, if a parameter that is gone stood in its place."""
    names_now, names_before = now.signature.positional, was.signature.positional
    if not isinstance(slot, str) or slot in names_before or slot not in names_now:
        return slot
    place = names_now.index(slot)
    return names_before[place] if place < len(names_before) and names_before[place] not in names_now else slot


def _find_call(node: ast.AST) -> ast.Call | None:
    """Return the call that a node is, or whose values it takes."""
    value = node.value if isinstance(node, ast.Assign) and len(node.targets) == 1 else node
    return value if isinstance(value, ast.Call) else None


def _collect_slots(node: ast.AST, callee: Callee) -> Mapping[_Slot, ast.expr]:
    """Return the expression in each place: arguments by parameter, or assignment targets by number."""
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        return dict(enumerate(target.elts if isinstance(target, ast.Tuple) else [target]))
    found: dict[_Slot, ast.expr] = {}
    if isinstance(node, ast.Call):
        found.update(callee.placed(node))
    return found


def _find_annotation(callee: Callee, slot: _Slot, *, count: int) -> ast.expr | None:
    function = callee.function
    if function is None:
        return None
    if isinstance(slot, str):
        return next((given.annotation for given in parameters(function) if given.arg == slot), None)
    if not is_plain(function):
        return None
    parts = tuple_parts(function.returns)
    if parts is None:
        return function.returns if count == 1 else None
    return parts[slot] if len(parts) == count else None


def _is_read(frame: Frame, target: ast.expr) -> bool:
    """Whether a target is read; a name that nobody reads only fills its place."""
    return not isinstance(target, ast.Name) or target.id in frame.name_reads()
