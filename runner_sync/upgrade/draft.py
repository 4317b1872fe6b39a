"""One unit on its way through an upgrade: a value that each stage takes and returns with one more text or question.

Comes in: texts and review items. Goes out: ``Draft`` values. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from runner_sync.model import BaseRef, Lineage, Outcome, Provenance, ReviewItem
from runner_sync.upgrade.placing import relocate, restated


class Stage(NamedTuple):
    """A unit's text at one stage, and who brought what is new in it; the first is omni's own."""

    text: str
    source: Provenance = "omni"


@dataclass(frozen=True, slots=True)
class Draft:
    """One unit on its way through an upgrade. Immutable: every stage makes a new value."""

    name: str
    """Qualified name of the unit, or of the class or missing method that a question is about (``for_question``)."""
    stages: tuple[Stage, ...]
    """The unit's texts: omni's own first, the current one last."""
    kind: Lineage = "own"
    outcome: Outcome = "unchanged"
    base: BaseRef | None = None
    """What it was copied from, or, for an override, followed in some statements."""
    gpu: BaseRef | None = None
    """The GPU text that it was last aligned with."""
    base_now: BaseRef | None = None
    """What it follows after this upgrade."""
    gpu_now: BaseRef | None = None
    """The GPU text that it is aligned with after this upgrade."""
    upstream: str | None = None
    """Upstream's new text; ``None`` where upstream has none."""
    reviews: tuple[ReviewItem, ...] = ()
    """The questions so far, their lines relative to the unit."""
    removed: bool = False
    after: str | None = None
    """For an added member: the member that it goes behind."""
    ahead_of: str | None = None
    """For an added member without ``after``: the member that it goes in front of."""
    own: tuple[str, ...] = ()
    """The canonical statements that no known upstream revision has: omni's part of a copy."""
    split_from: str = ""
    """The unit that upstream split this one off."""
    chosen: bool = False
    """Whether it was selected, or split off such a one; others keep their text. A member that a port adds is not
    chosen."""

    @classmethod
    def for_question(cls, name: str) -> Draft:
        """An empty draft for a question about what is no unit of the module: a class as such, a method it lacks."""
        return cls(name, (Stage(""),), "own", "review")

    def grown(self, text: str, source: Provenance) -> Draft:
        """With a further stage; the questions keep their lines."""
        return replace(self, stages=(*self.stages, Stage(text, source)))

    def advanced(self, text: str, source: Provenance) -> Draft:
        """With a further stage; the questions move with the lines that they are about."""
        return self._relocated(text).grown(text, source)

    def completed(self, text: str) -> Draft:
        """With a further stage that completes the last one, by the same source (the GPU if only omni's text is there).

        Questions move with their lines, and a question about a single statement shows it as it is now.
        """
        last = self.stages[-1].source
        asked = replace(self, reviews=tuple(restated(self.reviews, old=self.text, new=text)))
        return asked.grown(text, last if last != "omni" else "gpu")

    def laid_out_anew(self, text: str) -> Draft:
        """With ``text`` in place of the last stage: the same code in another layout."""
        last = self.stages[-1]._replace(text=text)
        return replace(self._relocated(text), stages=(*self.stages[:-1], last))

    def _relocated(self, text: str) -> Draft:
        return replace(self, reviews=tuple(relocate(self.reviews, old=self.text, new=text)))

    def asking(self, *items: ReviewItem) -> Draft:
        """With further questions."""
        return replace(self, reviews=(*self.reviews, *items))

    def dropped(self, why: ReviewItem) -> Draft:
        """As a member that is removed, with ``why`` as its only question: those about its text no longer matter."""
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
