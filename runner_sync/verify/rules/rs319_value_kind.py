"""RS319 value-kind: a value is handed over, or taken, that the target declares as another kind of thing now.

What: a call whose argument is for a parameter that the target annotates as something else than before (`tuple[…]`, and
`dict[str, …]` now; by position also under another name), while upstream's own calls pass something else in that place;
and `a, b = self.m(...)` or `a = self.m(...)` where the annotation of what comes back says so, and upstream's own code
takes it under another name.

Example: `mamba_utils.preprocess_mamba(..., self.model.get_mamba_state_copy_func(), bufs)` after vLLM 0.30 wants a
mapping from the type of a layer to its functions there: vllm-ascend 0.30.0rc2 passes
`self._get_ascend_mamba_state_copy_funcs()`.

Why: number and order of the arguments are as before, and mostly their names, so nothing else tells. It is a `TypeError`
or a `KeyError` somewhere inside upstream's function, or a value that means something else: the third value of
vllm-ascend's `_sync_metadata_across_dp` was `with_prefill` in 0.15.0rc1, and is a graph mode in 0.19.1rc1.

Fix: pass or take what the target's own code does in that place.

Leaves alone: calls that changed as well, or that upstream still makes so, or no longer makes where the runner's classes
come from; annotations that may mean anything (`Any`, a Protocol, a class outside the trees), that were only spelt anew,
widened or narrowed; one kind of number for another. Needs the old trees.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from runner_sync.model import Finding, Severity
from runner_sync.statements import parameters
from runner_sync.syntax import last_word
from runner_sync.verify.expecting import CALL_ERRORS
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import is_plain, nodes_of
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import steps
from runner_sync.verify.trees.values.annotations import tuple_parts
from runner_sync.verify.trees.values.declared import Declared, is_another, joined, kinds_of

CODE = "RS319"
NAME = "value-kind"
SEVERITY: Severity = "error"

_Slot = str | int
"""A parameter by its name, or one of the values that come back by its number."""


@dataclass(frozen=True, slots=True)
class _Side:
    """What a call reaches in one program."""

    program: Program
    frame: Frame
    callees: list[Callee]

    def declared(self, slot: _Slot, *, of: int) -> Declared | None:
        """What a parameter, or one ``of`` some values that come back, is declared as."""
        classes = self.program.classes
        return joined([kinds_of(classes, c.module, _annotation(c, slot, of=of)) for c in self.callees])

    def said(self, slot: _Slot, *, of: int) -> str:
        """The annotation as it is written."""
        annotation = _annotation(self.callees[0], slot, of=of)
        return ast.unparse(annotation) if annotation is not None else ""

    def upstreams(self, slot: _Slot, *, of: int) -> dict[str, str]:
        """What upstream's methods on the way of the runner have in that place, hidden ones too, with the line."""
        found: dict[str, str] = {}
        callee = self.callees[0]
        mros = self.program.mros(self.frame.info) if self.frame.info is not None else []
        infos = {id(info): info for mro in mros for info in mro.classes if info.module.project != "vllm-omni"}
        for info in infos.values():
            nodes = (node for functions in info.methods.values() for f in functions for node in nodes_of(f))
            for node in nodes:
                call = _call_of(node, is_result=isinstance(slot, int))
                stand = _slots(node, callee) if call is not None and last_word(call.func) == callee.name else {}
                if slot in stand and (isinstance(slot, str) or len(stand) == of):
                    found.setdefault(ast.unparse(stand[slot]), f"{info.module.path}:{stand[slot].lineno}")
        return found


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Arguments, and values that calls hand back, which are declared as another kind of thing since ``old``."""
    for step in steps(program, module, old):
        if step.frame.info is None:
            continue
        for node in step.frame.nodes():
            call = _call_of(node, is_result=isinstance(node, ast.Assign))
            # A call that was changed as well is written for what the target declares.
            if call is None or not step.stood(node) or step.frame.is_guarded(node, CALL_ERRORS):
                continue
            for now, was in step.callees(call):
                if now and was and all(callee.function is not None for callee in (*now, *was)):
                    yield from _check(node, _Side(program, step.frame, now), _Side(step.old, step.before, was))


def _check(node: ast.AST, now: _Side, was: _Side) -> Iterator[Finding]:
    stand = _slots(node, now.callees[0])
    for slot, value in stand.items():
        before = _renamed(slot, now.callees[0], was.callees[0])
        mine, theirs = now.declared(slot, of=len(stand)), was.declared(before, of=len(stand))
        if mine is None or theirs is None or not is_another(theirs, mine):
            continue
        text, others = ast.unparse(value), now.upstreams(slot, of=len(stand))
        is_left = others and text not in others and text in was.upstreams(before, of=len(stand))
        if is_left and (isinstance(slot, str) or _is_read(now.frame, value)):
            other, place = next(iter(others.items()))
            callee = now.callees[0]
            what = f"`{slot}` of" if isinstance(slot, str) else f"`{text}` from"
            does = f"passes `{other}` there" if isinstance(slot, str) else f"takes it as `{other}`"
            yield now.frame.finding(
                CODE,
                SEVERITY,
                value,
                symbol=f"{callee.name}({slot if isinstance(slot, str) else text})",
                message=f"{what} `{callee.name}` ({callee.place}) was `{was.said(before, of=len(stand))}` and is "
                f"`{now.said(slot, of=len(stand))}` now: {place} {does}.",
                fix="Pass or take what the target's own code does in that place.",
            )


def _renamed(slot: _Slot, now: Callee, was: Callee) -> _Slot:
    """What a parameter was called before, where one that is gone stood in its place."""
    mine, theirs = now.signature.positional, was.signature.positional
    if not isinstance(slot, str) or slot in theirs or slot not in mine:
        return slot
    place = mine.index(slot)
    return theirs[place] if place < len(theirs) and theirs[place] not in mine else slot


def _call_of(node: ast.AST, *, is_result: bool) -> ast.Call | None:
    """The call that a node is, or that it takes the values of."""
    if is_result:
        node = node.value if isinstance(node, ast.Assign) and len(node.targets) == 1 else node
        return node if isinstance(node, ast.Call) else None
    return node if isinstance(node, ast.Call) else None


def _slots(node: ast.AST, callee: Callee) -> Mapping[_Slot, ast.expr]:
    """What stands in each place: the arguments of a call by parameter, or the targets of an assignment by number."""
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        return dict(enumerate(target.elts if isinstance(target, ast.Tuple) else [target]))
    found: dict[_Slot, ast.expr] = {}
    if isinstance(node, ast.Call):
        found.update(callee.placed(node))
    return found


def _annotation(callee: Callee, slot: _Slot, *, of: int) -> ast.expr | None:
    function = callee.function
    if function is None:
        return None
    if isinstance(slot, str):
        return next((given.annotation for given in parameters(function) if given.arg == slot), None)
    if not is_plain(function):
        return None
    parts = tuple_parts(function.returns)
    return (parts[slot] if len(parts) == of else None) if parts is not None else function.returns if of == 1 else None


def _is_read(frame: Frame, target: ast.expr) -> bool:
    """Whether a value is taken for something: names that nobody reads are there for the number."""
    text = ast.unparse(target)
    reads = (node for node in frame.nodes() if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return not isinstance(target, ast.Name) or any(read.id == text for read in reads)
