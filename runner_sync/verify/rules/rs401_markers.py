"""RS401 markers: an Omni-new ruler is unbalanced, nested, empty, or its partner stands in another function or block.

What: comment rulers such as `# ---- Omni-new ----` that do not enclose one run of statements.

Example:

    # ------------------ Omni-new ------------------
    self.has_talker_mtp = hasattr(self.model, "talker_mtp")
    return None                     # and no second ruler before the function ends

Why: rulers are how people, and `runner-sync blocks`, tell omni code from vllm-ascend's in a copied method. The AR
runner of 0.28, 0.30 and 0.32.0rc1 has one that never closes, so every later ruler reads as its opposite.

Fix: add the missing ruler, or delete the one that encloses nothing.

Leaves alone: one-line markers (`# Omni-specific` behind code), other comments with dashes, rulers of any length and
spelling as long as they pair up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from runner_sync.markers import read_markers
from runner_sync.model import Severity
from runner_sync.verify.job import Subject
from runner_sync.verify.reading import Hit, Reading

CODE = "RS401"
NAME = "markers"
SEVERITY: Severity = "warning"

_RULER = re.compile(r"(\s*)#\s*[-=]{8,}")
_FIXES = {
    "unbalanced": "Add the ruler that closes the block, or delete this one.",
    "nested": "End the outer block before this one, or delete the inner rulers.",
    "empty": "Delete both rulers.",
}
_OTHER = "Put both rulers into the same block of statements."


def find(subject: Subject) -> Iterator[Hit]:
    """One finding per problem of the markers."""
    npu = subject.npu
    if _is_tidy(npu, subject.profile.marker):
        return
    for problem in read_markers(npu.text, path=npu.path, label=subject.profile.marker).problems:
        yield npu.hit_lines(
            (CODE, SEVERITY),
            (problem.line, problem.end_line),
            symbol=problem.kind,
            message=f"{problem.message[:1].upper()}{problem.message[1:]}.",
            fix=_FIXES.get(problem.kind, _OTHER),
        )


def _is_tidy(npu: Reading, label: str) -> bool:
    """Whether all rulers plainly pair up, read by line: cutting a file into tokens costs more than parsing it."""
    rulers = [(n, found[1]) for n, line in enumerate(npu.lines) if (found := _RULER.match(line))]
    if any(label in npu.lines[n] and re.search(r"begin|start|end\b|/", npu.lines[n], re.I) for n, _ in rulers):
        return False
    pairs = list(zip(rulers[::2], rulers[1::2], strict=False))
    return len(rulers) % 2 == 0 and all(_is_pair(npu, *first, *last) for first, last in pairs)


def _is_pair(npu: Reading, start: int, indent: str, end: int, other: str) -> bool:
    code = [line for line in npu.lines[start + 1 : end] if line.strip() and not line.lstrip().startswith("#")]
    # Less indented code in between ends the block that the first ruler stands in.
    return indent == other and bool(code) and all(line.startswith(indent) for line in code)
