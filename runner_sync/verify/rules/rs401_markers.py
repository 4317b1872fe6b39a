"""RS401 markers: an Omni-new ruler is unbalanced, nested, empty, or its partner stands in another function or block.

What: comment rulers such as `# ---- Omni-new ----` that do not enclose one run of statements.

Example:

    # ------------------ Omni-new ------------------
    self.has_talker_mtp = hasattr(self.model, "talker_mtp")
    return None                     # and no second ruler before the function ends

Why: people and `runner-sync blocks` use rulers to separate omni code from vllm-ascend's in a copied method. The AR
runner of 0.28, 0.30 and 0.32.0rc1 has one that never closes, so every later ruler has the opposite meaning.

Fix: add the missing ruler, or delete the one that encloses nothing.

A bare ruler that follows two labelled ones of the same width closed a block of its own: one of the three lost its
partner.

Leaves alone: one-line markers (`# Omni-specific` behind code), other comments with dashes (bare rulers of another
width, or two in a row), rulers of any length and spelling as long as they pair up.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.edits import margin
from runner_sync.model import Severity
from runner_sync.rulers import ruler_title
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.hygiene import iter_functions
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.reading import Reading

CODE = "RS401"
NAME = "markers"
SEVERITY: Severity = "warning"

_FIXES = {
    "unbalanced": "Add the ruler that its block lacks, here or above, or delete this one.",
    "nested": "End the outer block before this one, or delete the inner rulers.",
    "empty": "Delete both rulers.",
}
_OTHER = "Put both rulers into the same block of statements."


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per problem of the markers."""
    npu = subject.npu
    text = _cut_tidy_bodies(npu, subject.profile.marker)
    if not text:
        return
    from runner_sync.markers import read_markers

    for problem in read_markers(text, path=npu.path, label=subject.profile.marker).problems:
        yield npu.hit_lines(
            (CODE, SEVERITY),
            (problem.line, problem.end_line),
            symbol=problem.kind,
            message=f"{problem.message[:1].upper()}{problem.message[1:]}.",
            fix=_FIXES.get(problem.kind, _OTHER),
        )


def _cut_tidy_bodies(npu: Reading, label: str) -> str:
    """Return the text with ``pass`` for bodies whose rulers clearly pair up (lines stay); ``""`` if all do.

    Tokenizing a file costs more than parsing it, and nearly all rulers pair up. Only tokens distinguish a ruler from a
    similar line of a string.
    """
    lines = list(npu.lines)
    quoted = _find_quoted_rulers(npu)
    for function in iter_functions(npu):
        start, end = function.body[0].lineno, function.end_lineno or 0
        is_plain = start > function.lineno and quoted.isdisjoint(range(start, end + 1))
        if is_plain and _is_tidy(npu.lines[start - 1 : end], label):
            indent = " " * function.body[0].col_offset
            lines[start - 1 : end] = [f"{indent}pass", *[""] * (end - start)]
    return "" if not quoted and _is_tidy(lines, label) else "\n".join(lines)


def _find_quoted_rulers(npu: Reading) -> set[int]:
    """Return the lines inside strings, from the second line on, that look like rulers."""
    strings = (
        (node.lineno, node.end_lineno or 0) for node in npu.nodes if isinstance(node, ast.JoinedStr | ast.Constant)
    )
    return {
        number
        for first, last in strings
        for number, line in enumerate(npu.lines[first:last], start=first + 1)
        if ruler_title(line.lstrip()) is not None
    }


def _is_tidy(lines: list[str], label: str) -> bool:
    """Whether all rulers among ``lines``, read line by line, pair up around code of one block."""
    titled = [(number, ruler_title(line.lstrip())) for number, line in enumerate(lines) if "#" in line]
    drawn = [title for _, title in titled if title is not None]
    # A bare ruler ends a block and opens none.
    if any(title not in ("", label) for title in drawn) or "" in drawn[::2]:
        return False
    rulers = [(number, margin(lines[number])) for number, title in titled if title is not None]
    pairs = list(zip(rulers[::2], rulers[1::2], strict=False))
    return len(rulers) % 2 == 0 and all(
        first == last and _is_one_block(lines[start + 1 : end], first) for (start, first), (end, last) in pairs
    )


def _is_one_block(lines: list[str], indent: str) -> bool:
    code = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    # Less indented code ends the block that the first ruler stands in.
    return bool(code) and all(line.startswith(indent) for line in code)
