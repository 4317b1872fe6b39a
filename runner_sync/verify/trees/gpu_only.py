"""Attributes that GPU runners have, and that omni code asks for which NPU runs as well.

Comes in: a `Program`, a frame of inherited omni code, a name. Goes out: who gives the attribute on GPU. May touch: the
trees around the runners, by reading.

That somebody gives it is the proof that the code works on GPU: what nothing defines there either is the GPU runners'
own rebase onto another vLLM.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.verify.trees.classes import ClassInfo, Mro
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.values.giving import defines


def giver(program: Program, frame: Frame, name: str) -> ClassInfo | None:
    """The omni class that defines ``name`` where a runner which no checked class derives from runs ``frame``."""
    if frame.info is None or not any(program.is_reached(mro, frame.function) for mro in program.mros(frame.info)):
        return None
    own = {id(info.node) for mro in program.leaves() for info in mro.classes}
    others = (info for mro in _others(program, frame.info, name) for info in mro.classes if id(info.node) not in own)
    return next((info for info in others if info.module.project == "vllm-omni" and defines(info, name)), None)


def _others(program: Program, info: ClassInfo, name: str) -> Iterator[Mro]:
    """The MROs with ``info`` of the classes that stand beside the inherited ones, or in their modules; of those whose
    text has the name."""
    inherited = program.inherited()
    beside = [program.world.module_at(path) for path in program.world.beside([module.path for module in inherited])]
    for module in [*inherited, *beside]:
        if name in module.text and module not in program.checked:
            yield from (mro for one in program.own_classes(module) for mro in program.classes.mros(one) if info in mro)
