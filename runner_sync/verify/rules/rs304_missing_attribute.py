"""RS304 missing-attribute: `self.x` is read, but nobody in the MRO defines it.

What: a read of `self.x` (or a call of `self.x()`) in an NPU runner where no class of the real MRO (omni NPU →
omni GPU → vllm-ascend → vLLM → mixins, in every branch of a conditional base) has a method, property, class
attribute or assignment `self.x = …`, and no start-up patch adds one. Also where only one branch of a conditional
base has it: the runner fails wherever the other is taken. An assignment that comes after a read in the same method
gives nothing to who lacks the attribute: `if self.x: self.x = False`, `self.x += 1`.

Example: `self._all_gather_hidden_states_and_aux(hidden_states)`, which vllm-ascend dropped in 0.28;
`self.uses_xdrope_dim` after vLLM removed XD-RoPE;
`if self.calculate_kv_scales: self.calculate_kv_scales = False` of 0.27.0rc1, which vLLM 0.28 sets no more;
`hasattr(self, "_positions_cpu")` of 0.21.0rc1, which vLLM 0.23 has no more: experts are routed and never copied out.

Why: an `AttributeError` in the first forward pass, on hardware only. 20 of the 156 recorded breakages.

Fix: use what the target uses in its place, or drop the statement as the target did.

With the old trees also `if hasattr(self, "x"):` without another branch, where upstream defined `x` and does no longer:
a warning, since nothing fails. A read under a flag of `self` that the target only ever sets to `False` cannot fail
today: it is a warning.

Leaves alone: reads under a condition that asks `hasattr`/`getattr` for them, code in `try`/`except AttributeError`,
version switches, what one branch of a conditional base has below the condition that takes this branch, classes with
`__getattr__`, a dynamic `setattr` or a base outside the trees, attributes that other modules write on a runner they
were handed (`runner.x = …`), and mixins none of whose users is checked.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from runner_sync.model import Finding, Severity
from runner_sync.syntax import walk
from runner_sync.verify.classes import ClassInfo, Lineup
from runner_sync.verify.frames import Frame
from runner_sync.verify.modules import Module
from runner_sync.verify.program import Program
from runner_sync.verify.renewals import is_renewal

CODE = "RS304"
NAME = "missing-attribute"
SEVERITY: Severity = "error"

# What every object has (`dir(object)`) and what a class statement adds.
_OF_OBJECT = frozenset(
    {*dir(object), "__dict__", "__name__", "__qualname__", "__mro__", "__annotations__", "__bases__"}
)


def find(program: Program, module: Module, old: Program | None = None) -> Iterator[Finding]:
    """Reads of attributes that no lineup of the class defines, and questions that are always answered with no now."""
    reads = ((frame, node) for frame in program.frames(module) for node in frame.own_reads())
    yield from (_finding(program, frame, node) for frame, node in reads if is_missing(program, frame, node))
    for frame in program.frames(module) if old is not None else ():
        for call, name in _asked(frame):
            if old is not None and _is_gone(program, frame, name, old=old):
                yield _asked_in_vain(frame, call, name)


def _asked(frame: Frame) -> Iterator[tuple[ast.Call, str]]:
    """``hasattr(self, "name")`` where a condition without another branch holds it.

    timid: whoever has another branch, or asks for several names, is ready for several versions.
    """
    asked: list[tuple[ast.Call, str]] = []
    nodes = frame.nodes() if frame.owner is not None and "hasattr" in frame.module.text else []
    elsewhere = {id(inner) for n in nodes if isinstance(n, ast.If) for part in n.orelse for inner in walk(part)}
    for node in nodes:
        if isinstance(node, ast.If) and not node.orelse and id(node) not in elsewhere:
            for part in node.test.values if _is_and(node.test) else [node.test]:
                match part:
                    case ast.Call(
                        func=ast.Name(id="hasattr"), args=[ast.Name(id=who), ast.Constant(value=str() as name)]
                    ):
                        asked += [(part, name)] if who == frame.owner else []
    yield from (one for one in asked if len({name for _, name in asked}) == 1)


def _is_and(test: ast.expr) -> TypeGuard[ast.BoolOp]:
    return isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)


def _is_gone(program: Program, frame: Frame, name: str, *, old: Program) -> bool:
    """Whether every MRO had the attribute in the old trees, by upstream's own code, and none has it any more."""
    before = old.twin(frame)
    if frame.info is None or before is None or before.info is None:
        return False
    lines, was = program.lineups(frame.info), old.lineups(before.info)
    if any(line.open or _owners(line, name) for line in lines) or program.world.surroundings.set_on_runner(name):
        return False
    return bool(was) and all(any(i.module.project != "vllm-omni" for i in _owners(line, name)) for line in was)


def _asked_in_vain(frame: Frame, call: ast.Call, name: str) -> Finding:
    return frame.finding(
        CODE,
        "warning",
        call,
        symbol=name,
        message=f"`{ast.unparse(call)}` is never true now: nothing in the MRO defines `{name}` any more, and what "
        "stands under it does not run.",
        fix=f"Follow what the target uses in place of `{name}`, or drop the statement.",
    )


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
    """The classes of an MRO that define an attribute. Who only renews it (``self.x += 1``) needs it himself."""
    return [
        info
        for info in line.classes
        if name in info.methods or not all(is_renewal(write, name) for write in info.written.get(name, ()))
    ]


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
