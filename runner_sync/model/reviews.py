"""Describe a decision that a person must check.

Goes out: frozen dataclasses. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A decision that a person must check. ``chosen`` is the text that the tool took; ``confidence`` is in 0…1.

    If not ``in_file``, nothing was written, so the file has no comment for the item. ``upstream`` is the text of the
    side with the new code: vllm-ascend or, with ``from_gpu``, the GPU twin. ``part_of`` is the id of an earlier item
    with the same question; settling that one settles this one.
    """

    id: str
    unit: str
    path: str
    line: int
    end_line: int
    reason: str
    confidence: float
    base: str
    omni: str
    upstream: str
    chosen: str
    in_file: bool = True
    from_gpu: bool = False
    part_of: str = ""

    @property
    def keeps_omni(self) -> bool:
        """Whether omni's text stands: the new code is not there."""
        return self.chosen.strip() == self.omni.strip()

    @property
    def newer(self) -> str:
        """How reports name the side ``upstream``."""
        return "GPU twin" if self.from_gpu else "upstream"
