"""RS312 unset-attribute: code that runs reads `self.x`, and the only methods that set it are hidden by an NPU override.

What: an NPU override does not call the method it hides; the hidden method was the only one to set `self.x`, itself or
through a method that nothing else calls; some method of the MRO that still runs reads it. With the old trees also where
the override is vllm-ascend's or vLLM's, the NPU runner reads the attribute, and something that ran in the old trees set
it.

Example: omni's `load_model` overrides the GPU runner's without calling it, the GPU version sets `self._talker_cache`,
and the inherited `_preprocess` reads `self._talker_cache`.

Why: an `AttributeError` from inherited code after an upstream release began to read what its own copy of the method
sets. With RS304 this is the class of 20 of the 156 recorded breakages.

Several attributes that one override leaves unset are one finding, at that override: `__init__` without its
`super().__init__(…)` leaves a hundred. `ignore[RS312:__init__]` silences them together, and a baseline counts each.

Fix: set the attribute in the override as the hidden method does, or call `super()`.

Leaves alone: reads guarded by `hasattr`/`getattr` or `try`, attributes with a default in a class body or in any method
that runs, classes with dynamic attributes, reads in methods that are in no checked class's MRO.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace

from runner_sync.model import Finding, Severity
from runner_sync.syntax import Function
from runner_sync.verify.trees.classes import Method, Mro
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import words_of
from runner_sync.verify.trees.left_behind import are_left_behind, find_hidden_callers
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, step_of
from runner_sync.verify.trees.values.giving import can_create

CODE = "RS312"
NAME = "unset-attribute"
SEVERITY: Severity = "error"


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield overrides in ``module`` that hide the only writer of a read attribute.

    With ``old`` also reads in ``module`` of attributes that only a newly hidden upstream writer sets.
    """
    for mro in program.leaves():
        if mro.open or not any(info.module is module for info in mro.classes):
            continue
        hidden = _find_hidden_names(program, mro)
        for frame, node in _find_reads(program, mro, set(hidden)):
            writer, helpers = hidden[node.attr]
            if helpers and not are_left_behind(program, mro, helpers, [frame]):
                continue
            override = program.omnis_override(mro, writer)
            if override is not None and override.module is module:
                yield replace(_make_finding(override, frame=frame, node=node), cause=_make_cause(mro, override))
            is_read = override is None and frame.module is module and module in program.checked
            is_read = is_read and program.last_before(mro, writer) is not None
            step = step_of(program, frame, old) if is_read else None
            if step is not None and _was_set(step, node.attr):
                yield _make_read_finding(mro, frame, node, writer=writer)


def _find_hidden_names(program: Program, mro: Mro) -> dict[str, tuple[Function, list[Method]]]:
    """Return the attributes that only methods which cannot run set, each with one such method.

    With them come the helpers that set the attribute if such methods call them: these may run without.
    """
    live, callers = program.live(mro), find_hidden_callers(program, mro)
    found: dict[str, tuple[Function, list[Method]]] = {}
    defined = {name for info in mro.classes for name in info.methods}
    for info, name, write in mro.writes():
        function = write.function
        if not can_create(info, write, name):
            continue
        if function is None or (id(function) in live and function.name not in callers):
            defined.add(name)
        elif id(function) in live:
            caller, helpers = found.get(name, (callers[function.name], []))
            found[name] = (caller, [*helpers, (info, function)])
        elif function.name == "__init__":
            found[name] = (function, found[name][1] if name in found else [])  # ``__init__`` sets the attribute first
        else:
            found.setdefault(name, (function, []))
    return {name: row for name, row in found.items() if name not in defined}


def _find_reads(program: Program, mro: Mro, names: set[str]) -> Iterator[tuple[Frame, ast.Attribute]]:
    for info, function in program.live(mro).values():
        if names.isdisjoint(words_of(function)):
            continue
        frame = program.frame(info, function)
        for node in frame.own_reads():
            if node.attr in names and not frame.may_lack(node):
                yield frame, node


def _was_set(step: Step, name: str) -> bool:
    """Whether code that ran in the old trees set the attribute in every MRO, and no outside code sets it now."""
    _, was = step.mros
    was_set = bool(was) and all(step.old.assignments(mro, name) for mro in was)
    return was_set and not step.program.world.surroundings.is_set_on_runner(name)


def _make_read_finding(mro: Mro, frame: Frame, node: ast.Attribute, *, writer: Function) -> Finding:
    having = [info for info in mro.classes if writer.name in info.methods]
    place = next(number for number, info in enumerate(having) if writer in info.methods[writer.name])
    hidden_by = f"`{having[max(place - 1, 0)].name}.{writer.name}`"
    return frame.finding(
        (CODE, SEVERITY),
        node,
        symbol=node.attr,
        message=f"`self.{node.attr}` is read, but only a `{writer.name}` sets it, which {hidden_by} hides and does not "
        "call.",
        fix=f"Read what the target has in place of `{node.attr}`.",
    )


def _make_cause(mro: Mro, override: Frame) -> Finding:
    """Return the cause shared by all attributes that ``override`` leaves unset."""
    name = override.function.name
    behind = mro.find(name, after=override.info)
    hidden = f"`{behind[0].name}.{name}`" if behind is not None else f"the next `{name}`"
    return override.finding(
        (CODE, SEVERITY),
        override.function,
        symbol=name,
        message=f"This override does not reach {hidden}: nothing that runs sets {{}}, and code that runs reads them.",
        fix=f"Call `super().{name}(…)`, or set them here as the hidden method does.",
    )


def _make_finding(override: Frame, *, frame: Frame, node: ast.Attribute) -> Finding:
    return override.finding(
        (CODE, SEVERITY),
        override.function,
        symbol=node.attr,
        message=f"This override hides the only method that sets `self.{node.attr}`, which "
        f"{frame.place_of(node)} ({frame.unit}) reads.",
        fix=f"Set `self.{node.attr}` here as the hidden method does, or call it.",
    )
