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

from collections.abc import Iterator

from runner_sync.markers import read_markers
from runner_sync.model import Severity
from runner_sync.verify.job import Subject
from runner_sync.verify.reading import Hit

CODE = "RS401"
NAME = "markers"
SEVERITY: Severity = "warning"

_FIXES = {
    "unbalanced": "Add the ruler that closes the block, or delete this one.",
    "nested": "End the outer block before this one, or delete the inner rulers.",
    "empty": "Delete both rulers.",
}
_OTHER = "Put both rulers into the same block of statements."


def find(subject: Subject) -> Iterator[Hit]:
    """One finding per problem of the markers."""
    npu = subject.npu
    if subject.profile.marker.split("-")[0].lower() not in npu.text.lower():
        return
    for problem in read_markers(npu.text, path=npu.path, label=subject.profile.marker).problems:
        yield npu.hit_lines(
            (CODE, SEVERITY),
            (problem.line, problem.end_line),
            symbol=problem.kind,
            message=f"{problem.message[:1].upper()}{problem.message[1:]}.",
            fix=_FIXES.get(problem.kind, _OTHER),
        )
