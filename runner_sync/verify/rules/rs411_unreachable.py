"""RS411 unreachable: statements stand where nothing ever comes.

What: a statement behind a `return`, `raise`, `continue` or `break` of the same block in an NPU module, or behind an
`if`, `try` or `with` through which every way ends in one. Once for each block.

Example:

    NPUModelRunner.load_model(self, *args, **kwargs)
    return
    self._init_talker_mtp()         # never runs

Why: a return that was put in to try something, or that a port brought above an omni block, switches off all that
follows. It parses, nothing raises, and no test without the hardware comes by.

Fix: delete the statement that leaves, or what stands behind it.

Leaves alone: what makes a function a generator (`raise NotImplementedError` above `yield`, also further above), blocks
whose end only conditions keep from being reached, or a `with` that swallows exceptions (`suppress`, under any name
and in an `ExitStack`), comments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.statements import cut_off, may_swallow, swallowers_named
from runner_sync.syntax import suites_of, walk
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.reading import Hit, Reading, shortened

CODE = "RS411"
NAME = "unreachable"
SEVERITY: Severity = "warning"

_SYMBOL = 70


def find(subject: Subject) -> Iterator[Hit]:
    """One finding per block, at the first statement that never runs."""
    npu = subject.npu
    firsts = (pair for suite in suites_of(npu.nodes) for pair in cut_off(suite)[:1])
    for leaving, idle in (pair for pair in firsts if not _may_go_on(npu, pair[0])):
        yield npu.hit(
            (CODE, SEVERITY),
            idle,
            symbol=_head(idle),
            message=f"This never runs: {_why(leaving)} (line {leaving.lineno}).",
            fix="Delete the one or the other.",
        )


def _may_go_on(npu: Reading, leaving: ast.stmt) -> bool:
    """Whether a ``with`` in a statement that seems to leave swallows exceptions under a name that the module gives."""
    blocks = [node for node in walk(leaving) if isinstance(node, ast.With | ast.AsyncWith)]
    also = swallowers_named(npu.nodes) if blocks else frozenset[str]()
    return any(may_swallow(block, also=also) for block in blocks if also)


def _why(leaving: ast.stmt) -> str:
    if isinstance(leaving, ast.Return | ast.Raise | ast.Continue | ast.Break):
        return f"`{shortened(ast.unparse(leaving), most=_SYMBOL)}` stands in front of it"
    return f"every way through `{_head(leaving)}` in front of it leaves"


def _head(statement: ast.stmt) -> str:
    return shortened(ast.unparse(statement).split("\n")[0], most=_SYMBOL)
