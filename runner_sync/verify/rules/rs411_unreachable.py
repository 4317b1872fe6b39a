"""RS411 unreachable: statements stand where nothing ever comes.

What: a statement behind a `return`, `raise`, `continue` or `break` of the same block in an NPU module. Once for what
stands in a row.

Example:

    NPUModelRunner.load_model(self, *args, **kwargs)
    return
    self._init_talker_mtp()         # never runs

Why: a return that was put in to try something, or that a port brought above an omni block, switches off all that
follows. It parses, nothing raises, and no test without the hardware comes by.

Fix: delete the statement that leaves, or what stands behind it.

Leaves alone: what makes a function a generator (`raise NotImplementedError` above `yield`), blocks whose end only
conditions keep from being reached, comments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from runner_sync.model import Severity
from runner_sync.syntax import suites_of, walk
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.reading import Hit, shortened

CODE = "RS411"
NAME = "unreachable"
SEVERITY: Severity = "warning"

_LEAVES = ast.Return | ast.Raise | ast.Continue | ast.Break
_SYMBOL = 70


def find(subject: Subject) -> Iterator[Hit]:
    """One finding per block, at the first statement that never runs."""
    npu = subject.npu
    for leaving, idle in _cut_off(npu.nodes):
        yield npu.hit(
            (CODE, SEVERITY),
            idle,
            symbol=shortened(ast.unparse(idle).split("\n")[0], most=_SYMBOL),
            message=f"This never runs: `{shortened(ast.unparse(leaving), most=_SYMBOL)}` stands in front of it "
            f"(line {leaving.lineno}).",
            fix="Delete the one or the other.",
        )


def _cut_off(nodes: list[ast.AST]) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    """The first statement of each suite that leaves it, with the one behind."""
    for suite in suites_of(nodes):
        found = next((pair for pair in pairwise(suite) if isinstance(pair[0], _LEAVES)), None)
        if found is not None and not any(isinstance(n, ast.Yield | ast.YieldFrom) for n in walk(found[1])):
            yield found
