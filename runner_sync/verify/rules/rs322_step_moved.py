"""RS322 step-moved: a function leaves a call to its callers now, and an NPU override does not make it.

What: an override calls a function of vllm-ascend or vLLM, as the method does that it hides. In the old target that
function called another one for what it does (`move(rows)`, a statement of its own); in the new one it does not, and the
hidden method, which did not before, calls it instead. Neither the override nor anything that it calls does.

Example: vllm-ascend 0.23 replaces `preprocess_mamba` by one that only collects what is to be copied; its
`execute_model` calls `do_mamba_copy_block` itself, once the transfer of the cache is done. Omni's `execute_model` of
0.20.0 still calls the first one only.

Why: the call fits, and nothing raises; what it did is not done any more. No state was copied for Mamba layers until
0.26.0, whose runners call both. vLLM 0.16's `_sample`, and so vllm-ascend 0.15's, left
`_update_states_after_model_execute` to `sample_tokens` in the same way; the runners of 0.18.0 call it.

Fix: call it in the override where the hidden method does.

Leaves alone: calls whose value is used, methods of other objects than `self`, what the hidden method called before as
well, and functions that the override, or one that it calls, names; what a start-up patch does no more, where the
override has the function by an import of its name (RS310).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from runner_sync.model import Finding, Severity
from runner_sync.syntax import dotted_name
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import FunctionNode, calls_of, nodes_of, words_of
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, steps

CODE = "RS322"
NAME = "step-moved"
SEVERITY: Severity = "error"

_Taken = Mapping[str, tuple[Frame, ast.Call]]
"""Names of functions that a hidden method calls since the old target, each with a call."""


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Calls in overrides of ``module`` whose callee left something to the hidden method since ``old``."""
    for step in steps(program, module, old):
        hidden = program.hidden_by(step.frame)
        taken = _taken(step, hidden) if hidden else {}
        theirs = {_last_word(call) for frame in hidden for call in calls_of(frame.function)} if taken else set()
        found: dict[tuple[str, str], Finding] = {}
        for call in calls_of(step.frame.function) if taken else ():
            for callee, name in _steps_left(step, call, taken) if _last_word(call) in theirs - {""} else ():
                found.setdefault((callee.name, name), _make_finding(step.frame, call, callee, name, taken[name]))
        yield from found.values()


def _taken(step: Step, hidden: Sequence[Frame]) -> _Taken:
    """What the ``hidden`` methods do by calls that the old ones did not make, and the override does not name."""
    was = step.old.hidden_by(step.before)
    known = {word for frame in (step.frame, *was) for word in _words(frame.function)}
    done = [(name, (frame, call)) for frame in hidden for name, call in _done(frame).items()] if was else []
    return {name: one for name, one in done if name not in known}


def _steps_left(step: Step, call: ast.Call, taken: _Taken) -> Iterator[tuple[Callee, str]]:
    """What some callee of ``call`` did and does not do any more, of what is ``taken``."""
    for now, was in step.callees(call):
        # What none of them mentions none of them did.
        before = [c for c in was if c.function is not None and not taken.keys().isdisjoint(_words(c.function))]
        done = [taken.keys() & _done(_frame(step.old, callee)).keys() for callee in before]
        did = set.intersection(*done) if done and len(done) == len(was) else set()
        for name in sorted(name for name in did if any(step.program.callees(*taken[name]))):
            idle = [c for c in now if c.function is not None and name not in _words(c.function)]
            # Of several the last is what a start-up patch puts in the place of the first; a name that is imported may
            # be bound before.
            is_bound = len(idle) < len(now) and isinstance(call.func, ast.Name)
            if idle and not is_bound and idle[0].module.project != "vllm-omni" and not _is_reached(step, name, by=call):
                yield idle[0], name


def _done(frame: Frame) -> dict[str, ast.Call]:
    """What a function does by calls on ``self``, and of functions, that are statements of their own."""
    found: dict[str, ast.Call] = {}
    owner = frame.owner
    for node in nodes_of(frame.function):
        call = node.value if isinstance(node, ast.Expr) else None
        dotted = dotted_name(call.func) if isinstance(call, ast.Call) else None
        if isinstance(call, ast.Call) and dotted:
            head, _, name = dotted.rpartition(".")
            if head == owner or head.partition(".")[0] not in (*frame.bound, owner):
                found.setdefault(name, call)
    return found


def _is_reached(step: Step, name: str, *, by: ast.Call) -> bool:
    """Whether a function that the override calls ``by`` another name does that."""
    others = (call for call in calls_of(step.frame.function) if _last_word(call) != _last_word(by))
    groups = (group for call in others for group in step.program.callees(step.frame, call))
    return any(name in _words(callee.function) for group in groups for callee in group if callee.function is not None)


def _last_word(call: ast.Call) -> str:
    return (dotted_name(call.func) or "").rpartition(".")[2]


def _words(function: FunctionNode) -> frozenset[str]:
    return words_of(function).union(node.id for node in nodes_of(function) if isinstance(node, ast.Name))


def _frame(program: Program, callee: Callee) -> Frame:
    function = callee.function
    assert function is not None
    return program.frame_of_callee(callee, function)


def _make_finding(frame: Frame, call: ast.Call, callee: Callee, name: str, taken: tuple[Frame, ast.Call]) -> Finding:
    hidden, other = taken
    return frame.finding(
        CODE,
        SEVERITY,
        call,
        symbol=name,
        message=f"`{callee.name}` ({callee.place}) does not call `{name}` any more: {hidden.unit} "
        f"({hidden.module.path}:{other.lineno}) does, which this override hides.",
        fix=f"Call `{name}` here where {hidden.unit} does.",
    )
