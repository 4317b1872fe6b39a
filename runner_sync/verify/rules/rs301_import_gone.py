"""RS301 import-gone: an imported name or module does not exist in the target trees.

What: `from vllm.x import y` (or `import vllm.x`) in an NPU runner where the target tree has no module `vllm.x`,
or the module defines, re-exports and contains no `y`.

Example: `from vllm.v1.attention.backends.utils import CommonAttentionMetadata` after vLLM moved the class to
`vllm.v1.attention.backend`.

Why: the worker process dies at import, before the first log line that names the model. Six of the 156 breakages
recorded in nine months were of this kind.

Fix: import from where the target defines it now; `runner-sync upgrade` recomputes imports.

Leaves alone: imports whose failure is handled (`try`/`except ImportError`), `TYPE_CHECKING` blocks, branches of
version switches, packages outside the three trees, compiled modules, modules with `__getattr__` or an unreadable
star import.
"""

from __future__ import annotations

from collections.abc import Iterable

from runner_sync.model import Finding, Severity
from runner_sync.verify import modules
from runner_sync.verify.modules import Import, Module
from runner_sync.verify.program import Program

CODE = "RS301"
NAME = "import-gone"
SEVERITY: Severity = "error"


def find(program: Program, module: Module, _old: Program | None = None) -> Iterable[Finding]:
    """Imports of ``module`` that the target trees cannot satisfy. The old program is not needed."""
    for _, imported in modules.imports_of(module):
        if imported.guarded:
            continue
        found = program.world.lookup(imported.module, imported.name)
        missing = [d for d in found if d.kind == "missing"]
        if found and len(missing) == len(found):
            yield _finding(module, imported, missing[0].name, unit=modules.unit_at(module, imported.line))


def _finding(module: Module, imported: Import, missing: str, *, unit: str) -> Finding:
    full = f"{imported.module}.{imported.name}" if imported.name else imported.module
    what = f"module `{missing}`" if missing == imported.module else f"`{missing}`"
    via = "" if missing in (full, imported.module) else f" (which `{full}` re-exports)"
    return Finding(
        CODE,
        SEVERITY,
        module.path,
        imported.line,
        imported.end_line,
        unit,
        full,
        f"{what}{via} does not exist in the target tree, so this import fails.",
        f"Import it from where the target defines it now, or drop what uses `{imported.alias}`.",
        imported.column,
    )
