"""RS402 device-calls: `torch.cuda` in NPU code.

What: a name below `torch.cuda` (an attribute chain or an import) in an NPU module.

Example:

    torch.cuda.synchronize()        # on NPU: torch.npu.synchronize()

Why: torch has no CUDA in an Ascend image; the call raises, or, worse, waits for nothing. People almost never leak one
by hand. This rule guards ported and generated code.

Fix: `torch.npu.…`, or leave the statement out where NPU has no such call.

Leaves alone: strings and comments, `vllm` names that only contain the word (`cudagraph_mode`, `CUDAGraphMode`),
branches under `torch.cuda.is_available()` and the test itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.syntax import walk
from runner_sync.verify.job import Subject
from runner_sync.verify.patch import patch
from runner_sync.verify.reading import Hit, Reading, dotted

CODE = "RS402"
NAME = "device-calls"
SEVERITY: Severity = "error"


def find(subject: Subject) -> Iterator[Hit]:
    """One finding per name."""
    npu, (gpu_word, npu_word) = subject.npu, subject.profile.device
    root = f"torch.{gpu_word}"
    if root not in npu.text and f"import {gpu_word}" not in npu.text:
        return
    spared = _guarded(npu, root)
    for node in npu.nodes:
        name = _imported(node, root) if isinstance(node, ast.Import | ast.ImportFrom) else _used(node, root)
        if name and id(node) not in spared:
            yield _hit(npu, node, name, root=root, new_root=f"torch.{npu_word}")


def _used(node: ast.AST, root: str) -> str:
    # Only the chain that ends at `torch.cuda` itself, so that `torch.cuda.Stream` counts once.
    return root if isinstance(node, ast.Attribute) and dotted(node) == root else ""


def _imported(node: ast.Import | ast.ImportFrom, root: str) -> str:
    package, _, word = root.partition(".")
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        below = module == root or module.startswith(f"{root}.")
        return module if below else root if module == package and any(a.name == word for a in node.names) else ""
    return next((a.name for a in node.names if a.name == root or a.name.startswith(f"{root}.")), "")


def _guarded(reading: Reading, root: str) -> set[int]:
    found: set[int] = set()
    if f"{root}.is_available" in reading.text:
        for node in reading.nodes:
            if isinstance(node, ast.If | ast.IfExp) and f"{root}.is_available" in ast.unparse(node.test):
                body = node.body if isinstance(node.body, list) else [node.body]
                found.update(id(inner) for part in (node.test, *body) for inner in walk(part))
    return found


def _hit(npu: Reading, node: ast.AST, name: str, *, root: str, new_root: str) -> Hit:
    number = node.lineno  # type: ignore[attr-defined]
    line = npu.lines[number - 1]
    safe = line.count(root) == 1 and isinstance(node, ast.Attribute)
    return npu.hit(
        (CODE, SEVERITY),
        node,
        symbol=name,
        message=f"`{root}` does not exist on the NPU; this fails or does nothing there.",
        fix=patch(npu.path, npu.text, {number: line.replace(root, new_root)}) if safe else f"Use `{new_root}`.",
    )
