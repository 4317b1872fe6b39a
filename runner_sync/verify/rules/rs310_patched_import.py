"""RS310 patched-import: a from-import may bind the function that vllm-ascend replaces at start-up.

What: `from vllm.x import f` in an NPU runner where a patch module newly does `vllm.x.f = ...`: which of the two
the name is bound to depends on which import runs first.

Example: `from vllm.v1.worker.utils import bind_kv_cache` next to vllm-ascend's
`vllm.v1.worker.utils.bind_kv_cache = ...` in `vllm_ascend/patch/worker/`.

Why: the runner quietly calls the unpatched CUDA version.

Fix: import vllm-ascend's function, or the module and call `module.f(...)`.

Leaves alone: everything without an old tree (a name that was patched before works as it did), classes, guarded
imports.
"""

from __future__ import annotations

from collections.abc import Iterable

from runner_sync.edits import Places
from runner_sync.model import Finding, Severity
from runner_sync.verify import modules
from runner_sync.verify.modules import Module
from runner_sync.verify.program import Program

CODE = "RS310"
NAME = "patched-import"
SEVERITY: Severity = "warning"


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Imported functions that are patched in the target and were not in ``old``."""
    if old is None:
        return
    for _, imported in modules.imports_of(module):
        if imported.guarded or imported.name is None or not imported.module.startswith("vllm."):
            continue
        found = [d for d in program.world.lookup(imported.module, imported.name) if d.kind == "function"]
        patched = [d for d in found if program.world.patches_of(d.name) and not old.world.patches_of(d.name)]
        if found and len(patched) == len(found):
            patch = program.world.patches_of(patched[0].name)[0]
            full = f"{imported.module}.{imported.name}"
            yield Finding(
                CODE,
                SEVERITY,
                module.path,
                imported.line,
                imported.end_line,
                "<module>",
                full,
                f"`{full}` is replaced at start-up ({patch.place}); this import may bind the unpatched one.",
                f"Call it through its module, or import the replacement from {patch.place}.",
                Places(module.text).column(imported.line, imported.column),
            )
