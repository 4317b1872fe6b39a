"""RS313 default-only: code that runs reads `self.x`, which an NPU override leaves at its default.

What: an NPU override does not call the omni method that it hides. Only the hidden method gives `self.x` more than a
default (`None`, `False`, `0`, an empty container), itself or through a method that nothing else calls; some method of
the MRO that still runs reads or tests `self.x`. With the old trees also where the hidden method is vllm-ascend's or
vLLM's, if this was not so in the old target.

Example: the GPU `load_model` of 0.24.0 asks the model and sets `self._omni_query_start_loc_model_kwarg`; `__init__`
sets it to `False`. The NPU `load_model` hides the GPU method, so the inherited `_build_model_kwargs_extra` never passes
the positions to the model.

Why: nothing raises; the feature stays off on NPU. Releases 0.14.0 to 0.32.0rc1 had three such attributes: two of
`load_model` in 0.24.0, which NPU sets since 0.26.0, and one of `_talker_mtp_forward` in 0.20.0, an override that NPU
dropped in 0.22.0. Of upstream's methods: vllm-ascend's `_dummy_run` for the 310P sets `_spec_dummy_capture` since
0.21.0rc1, its inherited `_build_attention_metadata` reads it, and omni's `_dummy_run` does not set it. vLLM 0.14's
`sample_tokens` calls `_copy_draft_token_ids_to_cpu`, which records the requests with drafts, and omni's GPU runner of
0.12.0rc1 does not call it: the scheduler never got a draft.

Several attributes that one override leaves at their defaults are one finding, at that override.

Fix: set the attribute in the override as the hidden method does, or call `super()`.

Leaves alone: attributes that a method of vllm-ascend or vLLM set before as well, or without the old trees (a runner
that replaces the method may not need them); attributes to which any method that runs gives a value; unguarded reads of
attributes that nothing sets at all (RS312); classes with dynamic attributes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeGuard

from runner_sync.model import Finding, Project, Severity
from runner_sync.syntax import Function
from runner_sync.verify.answers import answered_once
from runner_sync.verify.trees.classes import Assignment, Method, Mro
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import nodes_of, reads_of, strings_of, words_of
from runner_sync.verify.trees.left_behind import are_left_behind, find_hidden_callers
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program

CODE = "RS313"
NAME = "default-only"
SEVERITY: Severity = "warning"

_TESTS = ("getattr", "hasattr")
_EMPTY = frozenset({"dict", "list", "set", "tuple"})


_UPSTREAM: tuple[Project, ...] = ("vllm-ascend", "vllm")


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield overrides in ``module`` that hide the only method which gives an attribute more than a default.

    For upstream's methods only overrides that do so newly since ``old``.
    """
    for mro in program.leaves():
        for name, override, writer, reader in _find_read_idle(program, mro, (module.project,)):
            if override.module is module:
                yield _make_finding(override, name, writer, reader)
        for name, override, writer, reader in _find_newly_idle(program, mro, old) if old is not None else ():
            if override.module is module:
                yield _make_finding(override, name, writer, reader)


_Idle = tuple[str, Frame, Function, tuple[Frame, ast.expr]]
"""An attribute that stays at its default, omni's override, the method that it hides, and a read of the attribute."""


def _find_newly_idle(program: Program, mro: Mro, old: Program) -> Iterator[_Idle]:
    """Yield attributes that only hidden upstream methods set, if that is new since ``old``.

    An override that was idle in any old class is not new for a class that ``old`` lacks.
    """
    found = list(_find_read_idle(program, mro, _UPSTREAM))
    known: set[tuple[str, ...]] = set()
    for one in old.leaves() if found else ():
        rows = [(one.head.key, name, override) for name, override, *_ in _find_read_idle(old, one, _UPSTREAM)]
        known |= {key for head, name, override in rows for key in ((*head, name), _key_override(name, override))}
    head = mro.head.key
    yield from (row for row in found if known.isdisjoint([(*head, row[0]), _key_override(row[0], row[1])]))


def _key_override(name: str, override: Frame) -> tuple[str, str, str]:
    return override.module.name, override.unit, name


def _find_read_idle(program: Program, mro: Mro, projects: tuple[Project, ...]) -> Iterator[_Idle]:
    """Yield read attributes that stay at their default, with omni's override and the hidden method of ``projects``."""
    for name, writer in _find_idle(program, mro, projects).items() if not mro.open else ():
        override = program.omnis_override(mro, writer)
        readers = list(_find_reads(program, mro, name)) if override is not None else []
        if override is not None and readers:
            running = (r for r in readers if r[0].info is not None and program.runs(mro, r[0].info, r[0].function))
            yield name, override, writer, next(running, readers[0])


@answered_once
def _find_idle(program: Program, mro: Mro, projects: tuple[Project, ...]) -> dict[str, Function]:
    """Return attributes to which only methods that cannot run give more than a default, one of ``projects`` among them.

    Each comes with one such method, or with a hidden caller of it.
    """
    live = program.live(mro)
    given = {name for info in mro.classes for name in info.methods}
    found: dict[str, Function] = {}
    helpers: dict[str, list[Method]] = {}
    for info, name, write in mro.writes():
        if _is_default(write):
            continue
        is_theirs = info.module.project in projects
        if write.function is None or (not is_theirs and id(write.function) in live):
            given.add(name)
        elif not is_theirs:
            continue
        elif id(write.function) in live:
            helpers.setdefault(name, []).append((info, write.function))
        elif not isinstance(write.node, ast.AugAssign):
            found.setdefault(name, write.function)
    callers = find_hidden_callers(program, mro) if helpers else {}
    for name, methods in helpers.items():
        caller = next((callers[f.name] for _, f in methods if f.name in callers), None) if name not in given else None
        readers = [frame for frame, _ in _find_reads(program, mro, name)] if caller is not None else []
        if caller is None or not are_left_behind(program, mro, methods, readers):
            given.add(name)
        else:
            found.setdefault(name, caller)
    return {name: function for name, function in found.items() if name not in given}


def _is_default(write: Assignment) -> bool:
    """Whether a write assigns a constant or an empty container, or is an annotation without a value."""
    match write.value:
        case None:
            return isinstance(write.node, ast.AnnAssign)
        case ast.Constant():
            return True
        case ast.List(elts=inside) | ast.Tuple(elts=inside) | ast.Set(elts=inside) | ast.Dict(keys=inside):
            return not inside
        case ast.Call(func=ast.Name(id=name), args=[], keywords=[]):
            return name in _EMPTY
    return False


def _find_reads(program: Program, mro: Mro, name: str) -> Iterator[tuple[Frame, ast.expr]]:
    """Yield the reads in code that runs; an attribute without a default counts only where the code tests for it."""
    live = program.live(mro)
    defaults = [write for _, n, write in mro.writes() if n == name and _is_default(write)]
    has_default = any(write.function is None or id(write.function) in live for write in defaults)
    for info, function in live.values():
        if name not in words_of(function):
            continue
        frame = program.frame(info, function)
        for node in nodes_of(function) if name in strings_of(function) else reads_of(function):
            if _is_read(node, frame, name, has_default=has_default):
                yield frame, node


def _is_read(node: ast.AST, frame: Frame, name: str, *, has_default: bool) -> TypeGuard[ast.expr]:
    """Whether a node reads the attribute of ``self``, if it has a default or the code tests for it, or asks for it."""
    match node:
        case ast.Attribute(attr=attr, ctx=ast.Load()):
            return attr == name and frame.is_of_self(node) and (has_default or frame.is_tested(node))
        case ast.Call(func=ast.Name(id=asks), args=[ast.Name() as owner, ast.Constant(value=attr), *_]):
            return asks in _TESTS and frame.is_self(owner) and attr == name
    return False


def _make_finding(override: Frame, name: str, writer: Function, reader: tuple[Frame, ast.expr]) -> Finding:
    frame, node = reader
    cause = override.finding(
        (CODE, SEVERITY),
        override.function,
        symbol=writer.name,
        message=f"This override hides the only `{writer.name}` that gives {{}} more than a default, and code that runs "
        "reads them.",
        fix="Set them here as the hidden method does, or call it.",
    )
    found = override.finding(
        (CODE, SEVERITY),
        override.function,
        symbol=name,
        message=f"This override hides the only `{writer.name}` that gives `self.{name}` more than a default; "
        f"{frame.place_of(node)} ({frame.unit}) reads it.",
        fix=f"Set `self.{name}` here as the hidden method does, or call it.",
    )
    return replace(found, cause=cause)
