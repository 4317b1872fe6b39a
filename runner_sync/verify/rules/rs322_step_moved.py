"""RS322 step-moved: a function leaves a call to its callers now, and an NPU override does not make it.

What: an override and the method that it hides both call a function of vllm-ascend or vLLM. In the old target that
function called another one for its effect (`move(rows)`, a statement of its own); in the new one it does not, and the
hidden method newly calls it instead. Neither the override nor anything that it calls does.

Example: vllm-ascend 0.23 replaces `preprocess_mamba` by a function that only collects what is to be copied; its
`execute_model` calls `do_mamba_copy_block` itself, once the transfer of the cache is done. Omni's `execute_model` of
0.20.0 still calls only `preprocess_mamba`.

Why: the call fits, and nothing raises; its former effect is lost. No state was copied for Mamba layers until 0.26.0,
whose runners call both. vLLM 0.16's `_sample`, and so vllm-ascend 0.15's, left `_update_states_after_model_execute` to
`sample_tokens` in the same way; the runners of 0.18.0 call it.

Fix: call it in the override where the hidden method does.

Leaves alone: calls whose value is used, methods of other objects than `self`, calls that the hidden method made before
as well, functions that the override, or a function that it calls, names; a call that a start-up patch dropped, where
the override imports the patched function by name (RS310).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from runner_sync.model import Finding, Severity
from runner_sync.syntax import Function, dotted_name
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import calls_of, nodes_of, words_of
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, steps

CODE = "RS322"
NAME = "step-moved"
SEVERITY: Severity = "error"

_Taken = Mapping[str, tuple[Frame, ast.Call]]
"""Names of functions that a hidden method calls since the old target, each with a call."""


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield calls in overrides of ``module`` whose callee left a call to the hidden method since ``old``."""
    for step in steps(program, module, old):
        hidden = program.hidden_by(step.frame)
        taken = _find_taken(step, hidden) if hidden else {}
        hidden_names = (
            {_read_last_word(call) for frame in hidden for call in calls_of(frame.function)} if taken else set()
        )
        found: dict[tuple[str, str], Finding] = {}
        for call in calls_of(step.frame.function) if taken else ():
            for callee, name in (
                _find_steps_left(step, call, taken) if _read_last_word(call) in hidden_names - {""} else ()
            ):
                found.setdefault((callee.name, name), _make_finding(step.frame, call, callee, name, taken[name]))
        yield from found.values()


def _find_taken(step: Step, hidden: Sequence[Frame]) -> _Taken:
    """Return the new calls of the ``hidden`` methods that the override does not name."""
    was = step.old.hidden_by(step.before)
    known = {word for frame in (step.frame, *was) for word in _collect_words(frame.function)}
    calls = (
        [(name, (frame, call)) for frame in hidden for name, call in _find_effect_calls(frame).items()] if was else []
    )
    return {name: one for name, one in calls if name not in known}


def _find_steps_left(step: Step, call: ast.Call, taken: _Taken) -> Iterator[tuple[Callee, str]]:
    """Yield the names in ``taken`` that a callee of ``call`` called before and no longer calls."""
    for now, was in step.callees(call):
        # A callee that mentions no such name called none.
        before = [c for c in was if c.function is not None and not taken.keys().isdisjoint(_collect_words(c.function))]
        called = [taken.keys() & _find_effect_calls(step.old.frame_of_callee(callee)).keys() for callee in before]
        called_by_all = set.intersection(*called) if called and len(called) == len(was) else set()
        for name in sorted(name for name in called_by_all if any(step.program.callees(*taken[name]))):
            idle = [c for c in now if c.function is not None and name not in _collect_words(c.function)]
            # Of several callees the last is a start-up patch of the first; an imported name may be bound before it.
            is_bound = len(idle) < len(now) and isinstance(call.func, ast.Name)
            if idle and not is_bound and not idle[0].is_omnis and not _is_reached(step, name, by=call):
                yield idle[0], name


def _find_effect_calls(frame: Frame) -> dict[str, ast.Call]:
    """Return the calls on ``self`` and of functions that are statements of their own, by name."""
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
    """Whether another function that the override calls, besides ``by``, names it."""
    others = (call for call in calls_of(step.frame.function) if _read_last_word(call) != _read_last_word(by))
    callees = (callee for call in others for callee in step.program.reached(step.frame, call))
    return any(name in _collect_words(callee.function) for callee in callees if callee.function is not None)


def _read_last_word(call: ast.Call) -> str:
    return (dotted_name(call.func) or "").rpartition(".")[2]


def _collect_words(function: Function) -> frozenset[str]:
    return words_of(function).union(node.id for node in nodes_of(function) if isinstance(node, ast.Name))


def _make_finding(frame: Frame, call: ast.Call, callee: Callee, name: str, taken: tuple[Frame, ast.Call]) -> Finding:
    hidden, other = taken
    return frame.finding(
        (CODE, SEVERITY),
        call,
        symbol=name,
        message=f"{callee.label} does not call `{name}` any more: "
        f"{hidden.label_at(other)} does, which this override hides.",
        fix=f"Call `{name}` here where {hidden.unit} does.",
    )
