"""RS407 locals-guard: a condition asks whether a name is in `locals()`.

What: `"x" in locals()` (also `vars()` and `dir()` without arguments) in a condition, and `locals().get("x")`.

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
        name = _find_asked(node)
        if name:
            yield npu.hit(
                (CODE, SEVERITY),
                node,
                symbol=name,
                message=f"This looks up `{name}` in `locals()`: "
                "if the variable is renamed, the test is always false and nobody notices.",
                fix=f"Bind `{name}` on every path (`{name} = None` first) and test `{name} is not None`.",
            )


def _find_asked(node: ast.AST) -> str | None:
    """Return the name that a node looks up: ``"x" in locals()``, ``"x" in locals().keys()``, ``locals().get("x")``."""
    match node:
        case ast.Compare(left=asked, ops=[ast.In() | ast.NotIn()], comparators=[ast.expr() as place]):
            if isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute) and place.func.attr == "keys":
                place = place.func.value
        case ast.Call(func=ast.Attribute(value=place, attr="get"), args=[asked, *_]):
            pass
        case _:
            return None
    is_scope = isinstance(place, ast.Call) and dotted(place.func) in _SCOPES and not place.args
    return constant_text(asked) if is_scope else None
