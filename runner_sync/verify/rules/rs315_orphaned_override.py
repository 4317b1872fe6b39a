"""RS315 orphaned-override: what an omni method overrides is gone or no longer called, and nothing calls the method.

What: a method of an NPU runner, or of an omni class in its MRO, that overrode one of vllm-ascend or vLLM in the old
target. In the new target no upstream class of the MRO has that name, or one still has it, and no code mentions it:
neither code that runs in the MRO, nor any other module of omni, vllm-ascend and vLLM, except for vLLM's workers and
runners of other platforms, and for helpers that only these or hidden methods use. The finding names the most similar
new upstream method.

Example: `OmniGPUModelRunner._to_list`, after vLLM and vllm-ascend call theirs `_tokens_to_list`.

Why: the override still parses and passes every other rule, and its effect silently stops. RS102 reports this for copies
only, and for vllm-ascend's class only.

Fix: give the override the name that the target calls now, or delete it.

Leaves alone: methods that anything still names, also in quotes (`getattr`, `collective_rpc("…")`), by the start of the
name in quotes (`f"to_{kind}"`), or in a class body (`run = to_list`); methods under a decorator that may register them;
methods that nothing mentioned in the old target either; special methods; classes with a base outside the trees. Needs
the old trees.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from runner_sync.lineage import similarity
from runner_sync.model import PACKAGES, Finding, Severity
from runner_sync.signatures import TRANSPARENT, decorator_names
from runner_sync.syntax import Function, statements_of, walk
from runner_sync.verify.trees.classes import ClassInfo, Mro, classes_in
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.siblings import may_use
from runner_sync.verify.trees.steps import steps

CODE = "RS315"
NAME = "orphaned-override"
SEVERITY: Severity = "warning"

ALIKE = 0.5
"""From this Dice coefficient of statements on, a new method is named as the likely successor, as in RS102."""

# Decorators that do not register a method: it is still reached only through the object.
_KEEPING = TRANSPARENT | {"property", "cached_property", "getter", "setter", "deleter"}


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield methods of ``module`` that were overrides in ``old``, and that nothing calls now."""
    reported: set[str] = set()
    for step in steps(program, module, old):
        (now, was), frame = step.mros, step.frame
        name = frame.function.name
        is_known = not name.startswith("__") and not any(mro.open for mro in (*now, *was))
        is_known = is_known and frame.unit not in reported and decorator_names(frame.function) <= _KEEPING
        replaced = _find_upstream_classes(was, name) if is_known and not _is_held(now, name) else []
        if replaced and _is_used(step.old, was, name) and not _may_be_used(program, now, name):
            reported.add(frame.unit)  # a property and its setter are one member
            successor = _find_successor(replaced[0], name, was=was, now=now)
            yield _make_finding(frame, replaced[0], successor, is_gone=not _find_upstream_classes(now, name))


def _find_upstream_classes(mros: Sequence[Mro], name: str) -> list[ClassInfo]:
    """Return the upstream classes of some MROs that have ``name``."""
    return [info for info in classes_in(mros) if not info.is_omnis and info.has(name)]


def _is_held(mros: Sequence[Mro], name: str) -> bool:
    """Whether an upstream class keeps a value under the name, which any caller may get."""
    return any(name in info.written for info in _find_upstream_classes(mros, name))


def _is_used(program: Program, mros: Sequence[Mro], name: str) -> bool:
    is_called = any(program.is_called(mro, name) for mro in mros)
    return is_called or program.world.surroundings.is_used_in("vllm-omni", name)


def _may_be_used(program: Program, mros: Sequence[Mro], name: str) -> bool:
    """Whether anything may use the name in the new target.

    Unlike `_is_asked_for` this searches class bodies and all modules of all projects: only that proves that nothing
    uses it.
    """
    if _is_used(program, mros, name) or any(_is_read_in_body(c, name) for c in classes_in(mros)):
        return True
    around = program.world.surroundings
    if any(around.may_build_name(project, name) for project in PACKAGES):
        return True
    return any(may_use(program, path, name) for project in PACKAGES for path in around.find_using(project, name))


def _is_read_in_body(info: ClassInfo, name: str) -> bool:
    """Whether the class body itself reads ``name``: ``run = to_list``, ``size = property(to_list)``."""
    own = [s for s in statements_of(info.node.body) if not isinstance(s, Function | ast.ClassDef)]
    names = [node for statement in own for node in walk(statement) if isinstance(node, ast.Name)]
    return any(node.id == name and isinstance(node.ctx, ast.Load) for node in names)


def _find_successor(replaced: ClassInfo, name: str, *, was: Sequence[Mro], now: Sequence[Mro]) -> str:
    """Return the name of the new upstream method most similar to the lost one; empty when none is similar."""
    known = {method for info in classes_in(was) for method in info.methods}
    fresh = [f for info in classes_in(now) for n, fs in info.methods.items() if n not in known for f in fs]
    gone = [ast.unparse(function) for function in replaced.methods.get(name, ())]
    scored = [(similarity(text, ast.unparse(function)), function.name) for text in gone for function in fresh]
    score, found = max(scored, default=(0.0, ""))
    return found if score >= ALIKE else ""


def _make_finding(frame: Frame, replaced: ClassInfo, successor: str, *, is_gone: bool) -> Finding:
    name = frame.function.name
    what = "which the target no longer has" if is_gone else "which the target still has, but no longer calls"
    like = f"; the new `{successor}` is most like it" if successor else ""
    return frame.finding(
        (CODE, SEVERITY),
        frame.function,
        symbol=name,
        message=f"This overrides `{replaced.name}.{name}`, {what}{like}; nothing calls it.",
        fix="Give it the name that the target calls now, or delete it.",
    )
