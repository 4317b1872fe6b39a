"""RS403 gpu-imports: an NPU module imports a graph wrapper or forward context of the GPU.

What: `CUDAGraphWrapper`, `BreakableCUDAGraphWrapper` or `set_forward_context` imported from vLLM (or from omni's GPU
runner, which re-exports it), or read below an imported module (`cuda_graph.CUDAGraphWrapper`), where vllm-ascend has
its own. The rule checks every module in the folders of the NPU modules whose path says `npu`.

Example:

    from vllm.forward_context import set_forward_context
    # on NPU: from vllm_ascend.ascend_forward_context import set_ascend_forward_context

Why: vLLM's forward context lacks fields that vllm-ascend's attention and MoE read, and `isinstance(x,
CUDAGraphWrapper)` is false for every `ACLGraphWrapper`, so graph code is silently skipped. In omni 0.20 the GPU
runner's own subclass of `CUDAGraphWrapper` was one import away.

Fix: import and use the name of vllm-ascend.

Leaves alone: other names of those modules (`BatchDescriptor`, `get_forward_context`, `CUDAGraphStat`), imports under
`if TYPE_CHECKING:`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from runner_sync.model import Severity
from runner_sync.naming import Import, imported_by
from runner_sync.profile import NameRewrite
from runner_sync.syntax import for_typing, walk
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.reading import Reading, dotted

CODE = "RS403"
NAME = "gpu-imports"
SEVERITY: Severity = "error"


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per imported name, and per use of one below its module."""
    npu = subject.npu
    rows = [row for row in subject.profile.rows(subject.profile.gpu_imports) if row.name in npu.text]
    if not rows:
        return
    typing_only = for_typing(npu.tree.body)
    modules: dict[str, Import] = {}
    for node in (inner for part in npu.parts("import") for inner in walk(part) if id(inner) not in typing_only):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules |= {entry.bound: entry for entry in imported_by(node)}
        if isinstance(node, ast.ImportFrom):
            found = ((alias, _find_row(rows, node, alias.name)) for alias in node.names)
            yield from (_make_hit(npu, alias, row) for alias, row in found if row is not None)
    for node in npu.nodes:
        row = _find_row_below(rows, modules, node) if isinstance(node, ast.Attribute) else None
        if row is not None:
            yield _make_hit(npu, node, row)


def _find_row(rows: list[NameRewrite], node: ast.ImportFrom, name: str) -> NameRewrite | None:
    # Any module may re-export the name; only vllm-ascend's own is right.
    named = [row for row in rows if row.name == name]
    return named[0] if named and (node.module or "") != named[0].new_module else None


def _find_row_below(rows: list[NameRewrite], modules: Mapping[str, Import], node: ast.Attribute) -> NameRewrite | None:
    """Return the row of a name that is read below an imported module: ``cuda_graph.CUDAGraphWrapper``."""
    row = next((row for row in rows if row.name == node.attr), None)
    first, _, rest = dotted(node.value).partition(".")
    if row is None or first not in modules:
        return None
    origin = modules[first]
    module = dotted(node.value) if origin.binds_package else f"{origin.dotted}.{rest}".strip(".")
    return row if module != row.new_module else None


def _make_hit(npu: Reading, node: ast.AST, row: NameRewrite) -> Hit:
    return npu.hit(
        (CODE, SEVERITY),
        node,
        symbol=row.name,
        message=f"`{row.name}` is the GPU's; on NPU this is `{row.new_name}` of `{row.new_module}`.",
        fix=f"Use `from {row.new_module} import {row.new_name}`.",
    )
