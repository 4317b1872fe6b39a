"""RS310 patched-import: a from-import may bind the function that vllm-ascend replaces at start-up.

What: `from vllm.x import f` in an NPU runner where a patch module does `vllm.x.f = ...`, if that patch is new or
vllm-ascend's own runner calls `x.f(...)`. The order of the imports decides which of the two functions the name is bound
to.

Example: `from vllm.v1.worker.mamba_utils import preprocess_mamba` next to vllm-ascend's `mamba_utils.preprocess_mamba =
...` in `vllm_ascend/patch/worker/` (since 0.22.1rc1). The function of 0.27.1rc1 only stages the copies that
`do_mamba_copy_block` makes later; with vLLM's own they are made twice.

Why: the runner quietly calls the unpatched CUDA version.

Fix: import vllm-ascend's function, or the module and call `module.f(...)`.

Leaves alone: a name that was patched before and that vllm-ascend's runner does not call through its module (it works as
before), classes, guarded imports.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from runner_sync.model import Finding, Severity
from runner_sync.verify.trees import modules
from runner_sync.verify.trees.classes import classes_in
from runner_sync.verify.trees.frames import place_at_import
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program

CODE = "RS310"
NAME = "patched-import"
SEVERITY: Severity = "warning"


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Yield imported functions that are newly patched since ``old``, or that upstream calls through their module."""
    upstream = {c.module.text for c in classes_in(program.leaves()) if c.module.project == "vllm-ascend"}
    for _, imported in modules.imports_of(module):
        if imported.guarded or not imported.name or not imported.module.startswith("vllm."):
            continue
        found = [d for d in program.world.lookup(imported.module, imported.name) if d.kind == "function"]
        patched = [d for d in found if program.world.patches_of(d.name)]
        is_new = old is not None and not any(old.world.patches_of(d.name) for d in patched)
        through_module = re.compile(rf"\b{imported.module.rpartition('.')[2]}\.{imported.name}\(")
        if found and len(patched) == len(found) and (is_new or any(map(through_module.search, upstream))):
            patch = program.world.patches_of(patched[0].name)[0]
            full = f"{imported.module}.{imported.name}"
            yield place_at_import(
                (CODE, SEVERITY),
                module,
                imported,
                message=f"`{full}` is replaced at start-up ({patch.place}); this import may bind the unpatched one.",
                fix=f"Call it through its module, or import the replacement from {patch.place}.",
            )
