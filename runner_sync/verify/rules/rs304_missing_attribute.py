"""RS304 missing-attribute: `self.x` is read, but nobody in the MRO defines it.

What: a read of `self.x` (or a call of `self.x()`) in an NPU runner where no class of the real MRO (omni NPU →
omni GPU → vllm-ascend → vLLM → mixins, in every branch of a conditional base) has a method, property, class
attribute or assignment `self.x = …`, and no start-up patch adds one. Also where only one branch of a conditional
base has it: the runner fails wherever the other is taken.

Example: `self._all_gather_hidden_states_and_aux(hidden_states)`, which vllm-ascend dropped in 0.28;
`self.uses_xdrope_dim` after vLLM removed XD-RoPE.

Why: an `AttributeError` in the first forward pass, on hardware only. 20 of the 156 recorded breakages.

Fix: use what the target uses in its place, or drop the statement as the target did.

A read under a flag of `self` that the target only ever sets to `False` cannot fail today: it is a warning.

Leaves alone: reads under a condition that asks `hasattr`/`getattr` for them, code in `try`/`except AttributeError`,
version switches, what one branch of a conditional base has below the condition that takes this branch, classes with
`__getattr__`, a dynamic `setattr` or a base outside the trees, attributes that other modules write on a runner they
were handed (`runner.x = …`), and mixins none of whose users is checked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from runner_sync.model import Finding, Severity
from runner_sync.verify.classes import ClassInfo, Lineup
from runner_sync.verify.frames import Frame
from runner_sync.verify.modules import Module
from runner_sync.verify.program import Program

CODE = "RS304"
NAME = "missing-attribute"
SEVERITY: Severity = "error"

# What every object has (`dir(object)`) and what a class statement adds.
_OF_OBJECT = frozenset(
    {*dir(object), "__dict__", "__name__", "__qualname__", "__mro__", "__annotations__", "__bases__"}
)


def find(program: Program, module: Module, _old: Program | None = None) -> Iterable[Finding]:
    """Reads of attributes that no lineup of the class defines."""
    reads = ((frame, node) for frame in program.frames(module) for node in frame.own_reads())
    return (_finding(program, frame, node) for frame, node in reads if is_missing(program, frame, node))


def is_missing(program: Program, frame: Frame, node: ast.Attribute) -> bool:
    """Whether nothing defines the attribute of ``self`` that ``node`` reads, nor may define it where no class shows."""
    name = node.attr
    if frame.info is None or name in _OF_OBJECT or frame.is_tested(node) or frame.is_guarded(node):
        return False
    lines = program.lineups(frame.info)
    lacking = {id(line.head.node) for line in lines if not line.open and not _owners(line, name)}
    if not lacking or any(id(line.head.node) not in lacking for line in lines):
        return False
    if any(_owners(line, name) for line in lines) and _is_below_switch(frame, node):
        return False
    return not program.world.surroundings.set_on_runner(name)


def _owners(line: Lineup, name: str) -> list[ClassInfo]:
    return [info for info in line.classes if name in info.methods or name in info.written]


def _is_below_switch(frame: Frame, node: ast.Attribute) -> bool:
    """Whether ``node`` stands under a condition by which the module also chooses what it imports."""
    switches = {ast.unparse(s.test) for s in frame.module.node.body if isinstance(s, ast.If)}
    return any(switch in ast.unparse(test) for test in frame.conditions(node) for switch in switches)


def _finding(program: Program, frame: Frame, node: ast.Attribute) -> Finding:
    assert frame.info is not None
    asleep = [test for test in frame.conditions(node) if program.is_never_true(frame, test)]
    owners = [owner for line in program.lineups(frame.info) for owner in _owners(line, node.attr)]
    who = f"only `{owners[0].name}`, one branch of a conditional base," if owners else "nothing"
    when = f" Today the condition `{ast.unparse(asleep[0])}` is never true." if asleep else ""
    return frame.finding(
        CODE,
        "warning" if asleep else SEVERITY,
        node,
        symbol=node.attr,
        message=f"`{frame.owner}.{node.attr}` is read, but {who} in the MRO of `{frame.info.name}` defines it.{when}",
        fix=f"Follow what the target uses in place of `{node.attr}`, or drop the statement.",
    )
