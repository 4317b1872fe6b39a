"""A function of a checked module on the target trees, paired with the same function on the old trees.

Comes in: the `Program` of each and a module. Goes out: `Step` values, with the new and old callees of a call. May
touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from runner_sync.syntax import dumped
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.classes import Mro
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A function: its ``frame`` in ``program``, and the frame ``before`` in ``old``."""

    program: Program
    frame: Frame
    old: Program
    before: Frame

    @property
    def mros(self) -> tuple[list[Mro], list[Mro]]:
        """The MROs that ``self`` can have in the function, now and in the old trees; none outside of classes."""
        info, was = self.frame.info, self.before.info
        return (self.program.mros(info), self.old.mros(was)) if info is not None and was is not None else ([], [])

    def reached_before(self, call: ast.Call) -> list[Callee]:
        """Return the callees of a call in the old trees."""
        return self.old.reached(self.before, call)

    def stood(self, node: ast.AST) -> bool:
        """Whether the old function has a call or an assignment with the same code."""
        return dumped(node) in _dump_code(self.before)

    def find_changed(
        self, call: ast.Call, *, was: Callable[[Callee], bool], now: Callable[[Callee], bool]
    ) -> Callee | None:
        """Return the first callee of a group in which all are as ``now`` says, and all were as ``was`` says."""
        for after, before in self.callees(call):
            if before and after and all(map(was, before)) and all(map(now, after)):
                return after[0]
        return None

    def callees(self, call: ast.Call) -> list[tuple[list[Callee], list[Callee]]]:
        """Return the callees of a call now and in the old trees, group by group.

        Groups of a conditional base are paired by branch if both programs have the same branches, because their order
        may differ.
        """
        now, was = self.program.callees(self.frame, call), self.old.callees(self.before, call)
        if self.frame.info is not None and self.before.info is not None:
            branches, old_branches = self.program.branches(self.frame.info), self.old.branches(self.before.info)
            if set(branches) == set(old_branches) and len(branches) == len(now) == len(was):
                by_branch = dict(zip(old_branches, was, strict=True))
                return [(group, by_branch[branch]) for branch, group in zip(branches, now, strict=True)]
        return list(zip(now, was, strict=False))


@lru_cache(maxsize=1024)
def _dump_code(frame: Frame) -> frozenset[str]:
    return frozenset(dumped(node) for node in frame.nodes() if isinstance(node, ast.Call | ast.Assign))


def step_of(program: Program, frame: Frame, old: Program | None) -> Step | None:
    """Return the step of a function, or ``None`` if the old trees are not given or lack the function."""
    before = old.twin(frame) if old is not None else None
    return Step(program, frame, old, before) if old is not None and before is not None else None


def steps(program: Program, module: Module, old: Program | None) -> Iterator[Step]:
    """Yield the steps of all functions of a module that the old trees have as well."""
    found = (step_of(program, frame, old) for frame in program.frames(module)) if old is not None else ()
    return (step for step in found if step is not None)
