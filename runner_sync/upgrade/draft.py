"""One unit on its way through an upgrade: a value that each stage takes and gives back, grown or with a question.

Comes in: texts and review items. Goes out: ``Draft`` values. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from runner_sync.model import BaseRef, Lineage, Outcome, Provenance, ReviewItem


class Stage(NamedTuple):
    """A unit's text at one point of its way, and who brought what is new in it; the first is omni's own."""

    text: str
    source: Provenance = "omni"


@dataclass(frozen=True, slots=True)
class Draft:
    """One unit on its way. ``stages`` are the texts it went through, the last one is what stands.

    The units that were asked for are ``chosen``, with what upstream split off them; the others stay as they are, and so
    does what a port adds. ``own`` are the canonical statements that no known upstream revision has: omni's part of a
    copy. ``split_from`` is the unit that upstream split this one off. A member that is added goes behind ``after`` or,
    without one, in front of ``ahead_of``.
    """

    name: str
    stages: tuple[Stage, ...]
    kind: Lineage = "own"
    outcome: Outcome = "unchanged"
    base: BaseRef | None = None
    gpu: BaseRef | None = None
    base_now: BaseRef | None = None
    gpu_now: BaseRef | None = None
    upstream: str | None = None
    reviews: tuple[ReviewItem, ...] = ()
    removed: bool = False
    after: str | None = None
    ahead_of: str | None = None
    own: tuple[str, ...] = ()
    split_from: str = ""
    chosen: bool = False

    @classmethod
    def for_question(cls, name: str) -> Draft:
        """A place for a question about what is no unit of the module: a class as such, a method it lacks."""
        return cls(name, (Stage(""),), "own", "review")

    def grown(self, text: str, source: Provenance) -> Draft:
        """With a further stage; what was asked keeps its lines."""
        return replace(self, stages=(*self.stages, Stage(text, source)))

    def asking(self, *items: ReviewItem) -> Draft:
        """With further questions."""
        return replace(self, reviews=(*self.reviews, *items))

    def dropped(self, why: ReviewItem) -> Draft:
        """As a member that goes, with one question: what was asked about its text is none any more."""
        return replace(self, removed=True, reviews=(why,))

    @property
    def text(self) -> str:
        return self.stages[-1].text

    @property
    def before(self) -> str:
        return self.stages[0].text

    @property
    def owner(self) -> str:
        return self.name.rpartition(".")[0]

    @property
    def member(self) -> str:
        return self.name.rpartition(".")[2]
