"""RS411 unreachable: statements stand where nothing ever comes.

What: a statement behind a `return`, `raise`, `continue` or `break` of the same block in an NPU module, or behind an
`if`, `try` or `with` in which every path ends in one. One finding per block.

Example:

    NPUModelRunner.load_model(self, *args, **kwargs)
    return
    self._init_talker_mtp()         # never runs

Why: a return that was added as an experiment, or that a port moved above an omni block, switches off all code behind
it. The file parses, nothing raises, and no test without the hardware notices.

Fix: delete the statement that leaves, or the code behind it.

Leaves alone: code that makes a function a generator (`raise NotImplementedError` above `yield`, also further above),
blocks whose end only conditions make unreachable, a `with` that swallows exceptions (`suppress`, under any name and in
an `ExitStack`), comments.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.statements import cut_off, may_swallow, swallowers_named
from runner_sync.syntax import suites_of, walk
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.reading import Reading, shorten_code

CODE = "RS411"
NAME = "unreachable"
SEVERITY: Severity = "warning"

_SYMBOL = 70
"""The length limit of a statement used as a symbol. Never change it: baseline entries are made with it."""


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per block, at the first statement that never runs."""
    npu = subject.npu
    firsts = (pair for suite in suites_of(npu.nodes) for pair in cut_off(suite)[:1])
    for leaving, idle in (pair for pair in firsts if not _may_swallow_exceptions(npu, pair[0])):
        yield npu.hit(
            (CODE, SEVERITY),
            idle,
            symbol=_quote_head(idle),
            message=f"This never runs: {_describe_reason(leaving)} (line {leaving.lineno}).",
            fix="Delete this statement, or change the one that leaves before it.",
        )


def _may_swallow_exceptions(npu: Reading, leaving: ast.stmt) -> bool:
    """Whether the leaving statement has a ``with`` that swallows exceptions under a name of the module."""
    blocks = [node for node in walk(leaving) if isinstance(node, ast.With | ast.AsyncWith)]
    also = swallowers_named(npu.nodes) if blocks else frozenset[str]()
    return any(may_swallow(block, also=also) for block in blocks if also)


def _describe_reason(leaving: ast.stmt) -> str:
    if isinstance(leaving, ast.Return | ast.Raise | ast.Continue | ast.Break):
        return f"`{shorten_code(ast.unparse(leaving), most=_SYMBOL)}` stands in front of it"
    return f"every way through `{_quote_head(leaving)}` in front of it leaves"


def _quote_head(statement: ast.stmt) -> str:
    return shorten_code(ast.unparse(statement).split("\n")[0], most=_SYMBOL)
