"""RS407 locals-guard: a condition asks whether a name is in `locals()`.

What: `"x" in locals()` (also `vars()` and `dir()` without arguments) in a condition.

Example:

    if "multimodal_outputs" in locals():
        payload = multimodal_outputs

Why: the guard hides that a name is unbound on some path. After the next port the name is spelled differently or never
bound there, the guard is always false, and the omni block below it silently never runs again. Reviewers find these
every release.

Fix: bind the name on every path (`multimodal_outputs = None` above the branch) and test it.

Leaves alone: `hasattr`/`getattr` guards, `globals()`, `"x" in vars(obj)`, membership in any other mapping.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.reading import constant_text, dotted

CODE = "RS407"
NAME = "locals-guard"
SEVERITY: Severity = "warning"

_SCOPES = frozenset({"locals", "vars", "dir"})


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per test."""
    npu = subject.npu
    if not any(f"{name}()" in npu.text for name in _SCOPES):
        return
    for node in npu.nodes:
        if isinstance(node, ast.Compare) and _is_guard(node):
            name = constant_text(node.left)
            yield npu.hit(
                (CODE, SEVERITY),
                node,
                symbol=name,
                message=f"This looks up `{name}` in `locals()`: "
                "if the variable is renamed, the test is always false and nobody notices.",
                fix=f"Bind `{name}` on every path (`{name} = None` first) and test `{name} is not None`.",
            )


def _is_guard(node: ast.Compare) -> bool:
    right = node.comparators[0]
    # `"x" in locals().keys()` asks the same.
    if isinstance(right, ast.Call) and isinstance(right.func, ast.Attribute) and right.func.attr == "keys":
        right = right.func.value
    asks = len(node.ops) == 1 and isinstance(node.ops[0], ast.In | ast.NotIn)
    is_scope = isinstance(right, ast.Call) and dotted(right.func) in _SCOPES and not right.args
    return asks and is_scope and bool(constant_text(node.left))
