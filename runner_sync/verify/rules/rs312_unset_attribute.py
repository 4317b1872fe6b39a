"""RS312 unset-attribute: code that runs reads `self.x`, and the only methods that set it are hidden by an NPU
override.

What: an NPU override does not call the method it hides; the hidden method was the only one to set `self.x`; some
method of the MRO that still runs reads it.

Example: omni's `load_model` overrides the GPU runner's without calling it, the GPU version sets
`self._talker_cache`, and the inherited `_preprocess` reads `self._talker_cache`.

Why: an `AttributeError` from inherited code after an upstream release began to read what its own copy of the
method sets. With RS304 this is the class of 20 of the 156 recorded breakages.

Fix: set the attribute in the override as the hidden method does, or call `super()`.

Leaves alone: reads guarded by `hasattr`/`getattr` or `try`, attributes with a default in a class body or in any
method that runs, classes with dynamic attributes, reads in the methods of no checked class's MRO.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from runner_sync.model import Finding, Severity
from runner_sync.verify.classes import ClassInfo, Lineup
from runner_sync.verify.frames import Frame
from runner_sync.verify.giving import gives
from runner_sync.verify.modules import FunctionNode, Module
from runner_sync.verify.program import Program

CODE = "RS312"
NAME = "unset-attribute"
SEVERITY: Severity = "error"


def find(program: Program, module: Module, _old: Program | None = None) -> Iterable[Finding]:
    """Overrides in ``module`` that hide the only writer of an attribute that is still read."""
    for line in program.leaves():
        if line.open or not any(info.module is module for info in line.classes):
            continue
        hidden = _hidden_names(program, line)
        for frame, node in _reads(program, line, set(hidden)):
            writer = hidden[node.attr]
            info, definitions = line.find(writer.name) or (None, [])
            if info is None or info.module is not module or not definitions:
                continue
            if program.hides(line, info, writer):
                yield _finding(program, info, definitions[0], frame=frame, node=node)


def _hidden_names(program: Program, line: Lineup) -> dict[str, FunctionNode]:
    """Attributes that only methods set which can no longer run, with one such method."""
    live = program.live(line)
    found: dict[str, FunctionNode] = {}
    defined = {name for info in line.classes for name in info.methods}
    rows = ((info, name, writes) for info in line.classes for name, writes in info.written.items())
    for name, write in ((name, w) for info, name, writes in rows for w in writes if gives(info, w, name)):
        if write.function is None or id(write.function) in live:
            defined.add(name)
        else:
            found.setdefault(name, write.function)
    return {name: function for name, function in found.items() if name not in defined}


def _reads(program: Program, line: Lineup, names: set[str]) -> Iterator[tuple[Frame, ast.Attribute]]:
    for info, function in program.live(line).values():
        frame = program.frame(info, function)
        for node in frame.own_reads():
            if node.attr in names and not frame.is_tested(node) and not frame.is_guarded(node):
                yield frame, node


def _finding(
    program: Program, info: ClassInfo, override: FunctionNode, *, frame: Frame, node: ast.Attribute
) -> Finding:
    return program.frame(info, override).finding(
        CODE,
        SEVERITY,
        override,
        symbol=node.attr,
        message=f"This override hides the only method that sets `self.{node.attr}`, which "
        f"{frame.module.path}:{node.lineno} ({frame.unit}) reads.",
        fix=f"Set `self.{node.attr}` here as the hidden method does, or call it.",
    )
