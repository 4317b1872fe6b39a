"""A weave whose strands are being settled: the state that each pass of `resolve` reads and changes.

Comes in: a ``Weave``, its strands in order, and the ``Terms``. Goes out: verdicts on the strands, in place, and
``Doubt`` values. May touch: nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from runner_sync.merge.policy import Terms
from runner_sync.merge.weave import Doubt, Strand, Weave


@dataclass
class Settling:
    """A weave between the first and the last verdicts, and the doubts about them so far."""

    weave: Weave
    strands: Sequence[Strand]
    terms: Terms
    doubts: list[Doubt] = field(default_factory=list)

    @property
    def is_copy(self) -> bool:
        """Whether omni's text was copied from upstream's."""
        return self.terms.policy.is_copy
