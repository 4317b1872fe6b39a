"""RS409 fixed-size: a square mask or buffer of a fixed size that nothing checks.

What: `torch.ones`, `zeros`, `full`, `empty`, `rand` or `randn` with two equal literal sizes of 512 or more, in a
function that neither compares anything with that size nor takes a slice or a minimum of it.

Example:

    self.attn_mask = torch.triu(torch.ones(2048, 2048), diagonal=1).bool()

Why: a 2048×2048 causal mask with no check that the sequence fits works in every test and gives wrong attention (or an
index error) for the first longer prompt. Reviewers of NPU ports found exactly this.

Fix: derive the size from `self.max_model_len`, or check the sequence length against it and say so.

Leaves alone: sizes from variables, sizes below 512, functions that compare, `min` or slice with the same number.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.syntax import walk
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.hygiene import find_function_at
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.reading import Reading, dotted

CODE = "RS409"
NAME = "fixed-size"
SEVERITY: Severity = "warning"

SMALLEST = 512
"""The fewest rows of a square buffer for sequences; smaller ones are tiles of a kernel. The one known had 2048."""

_MAKERS = re.compile(r"\btorch\.(?:ones|zeros|full|empty|randn?)")


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per buffer."""
    npu = subject.npu
    parts = npu.parts("torch.") if _MAKERS.search(npu.text) else ()
    for node in (inner for part in parts if _MAKERS.search(npu.text_of(part)) for inner in walk(part)):
        size = _read_square_size(node)
        if size and not _is_checked(npu, node, size):
            yield npu.hit(
                (CODE, SEVERITY),
                node,
                symbol=f"{size}x{size}",
                message=f"This {size}×{size} buffer has a fixed size and nothing checks that the sequence fits in it.",
                fix="Take the size from the model's maximum length, or check the length and raise.",
            )


def _read_square_size(node: ast.AST) -> int:
    if not isinstance(node, ast.Call) or not _MAKERS.fullmatch(dotted(node.func)):
        return 0
    given = node.args or [keyword.value for keyword in node.keywords if keyword.arg == "size"]
    sizes = given[0].elts if given and isinstance(given[0], ast.Tuple | ast.List) else given
    numbers = [s.value for s in sizes[-2:] if isinstance(s, ast.Constant) and isinstance(s.value, int)]
    return numbers[0] if len(numbers) == 2 and numbers[0] == numbers[1] and numbers[0] >= SMALLEST else 0


def _is_checked(npu: Reading, node: ast.AST, size: int) -> bool:
    line = node.lineno  # type: ignore[attr-defined]
    around = find_function_at(npu, line)
    if around is None:
        return False
    tests = (inner for inner in walk(around) if _is_check(inner))
    return any(isinstance(part, ast.Constant) and part.value == size for test in tests for part in walk(test))


def _is_check(node: ast.AST) -> bool:
    called = dotted(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    return isinstance(node, ast.Compare | ast.Slice) or called in ("min", "max", "clamp")
