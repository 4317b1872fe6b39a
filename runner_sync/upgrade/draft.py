"""The value that carries one unit through an upgrade; each stage returns it with one more text or question.

Comes in: texts and review items. Goes out: ``Draft`` values. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from runner_sync.model import BaseRef, Lineage, Outcome, Provenance, ReviewItem
from runner_sync.upgrade.placing import relocate, restate


class Stage(NamedTuple):
    """A unit's text at one stage, and the source of its changes; the first stage is omni's text."""

    text: str
    source: Provenance = "omni"


MODULE = "<module>"
"""The name of a draft for questions about a module's own statements."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One unit on its way through an upgrade. Immutable: every stage makes a new value."""

    name: str
    """Qualified name of the unit, or of the class or missing method that a question is about (``for_question``)."""
    stages: tuple[Stage, ...]
    """The unit's texts: omni's first, the current one last."""
    kind: Lineage = "own"
    outcome: Outcome = "unchanged"
    base: BaseRef | None = None
    """The upstream text that a copy was made from, or that an override follows in some statements."""
    gpu: BaseRef | None = None
    """The GPU text that the unit was last aligned with."""
    base_now: BaseRef | None = None
    """The upstream text that the unit follows after this upgrade."""
    gpu_now: BaseRef | None = None
    """The GPU text that the unit is aligned with after this upgrade."""
    upstream: str | None = None
    """Upstream's new text of the unit; ``None`` if upstream has none."""
    reviews: tuple[ReviewItem, ...] = ()
    """The review items so far, with lines relative to the unit."""
    removed: bool = False
    removed_for: Provenance = "upstream"
    """The side whose change made a removed unit needless."""
    after: str | None = None
    """For an added member: the member that it is inserted after."""
    ahead_of: str | None = None
    """For an added member without ``after``: the member that it is inserted before."""
    own: tuple[str, ...] = ()
    """Canonical statements that no known upstream revision has: omni's part of a copy."""
    split_from: str = ""
    """The unit that upstream split this one off."""
    new_names: tuple[tuple[str, str], ...] = ()
    """Omni's and upstream's names of the locals for which the unit has taken over upstream's new name."""
    new_forms: tuple[tuple[str, str], ...] = ()
    """Omni's and upstream's forms of the imports for which the unit has taken over upstream's form."""
    chosen: bool = False
    """Whether the unit was selected, or split off a selected unit. Other units keep their text; a ported member is not
    chosen."""

    @classmethod
    def for_question(cls, name: str) -> Draft:
        """Return an empty draft for a question about a class as a whole or about a method that the module lacks."""
        return cls(name, (Stage(""),), "own", "review")

    def with_stage(self, text: str, source: Provenance) -> Draft:
        """Return the draft with a further stage; the questions keep their lines."""
        return replace(self, stages=(*self.stages, Stage(text, source)))

    def with_stage_and_moved_questions(self, text: str, source: Provenance) -> Draft:
        """Return the draft with a further stage; the questions move with their lines."""
        return self._move_reviews(text).with_stage(text, source)

    def with_completion(self, text: str) -> Draft:
        """Return the draft with a further stage that completes the last one and has the same source.

        The source is the GPU if the last stage is omni's own text. Questions move with their lines, and a question
        about a single statement shows its new text.
        """
        last = self.stages[-1].source
        asked = replace(self, reviews=tuple(restate(self.reviews, old=self.text, new=text)))
        return asked.with_stage(text, last if last != "omni" else "gpu")

    def with_layout(self, text: str) -> Draft:
        """Return the draft with ``text``, the same code in another layout, in place of the last stage."""
        last = self.stages[-1]._replace(text=text)
        return replace(self._move_reviews(text), stages=(*self.stages[:-1], last))

    def _move_reviews(self, text: str) -> Draft:
        return replace(self, reviews=tuple(relocate(self.reviews, old=self.text, new=text)))

    def with_questions(self, *items: ReviewItem) -> Draft:
        """Return the draft with further questions."""
        return replace(self, reviews=(*self.reviews, *items))

    def with_each_question(self, change: Callable[[ReviewItem], ReviewItem]) -> Draft:
        """Return the draft with ``change`` applied to each question."""
        return replace(self, reviews=tuple(map(change, self.reviews))) if self.reviews else self

    def as_removed(self, *why: ReviewItem, source: Provenance) -> Draft:
        """Return the draft as a member removed for ``source``; ``why`` replaces all questions about its text."""
        return replace(self, removed=True, removed_for=source, reviews=why)

    @property
    def follows_upstream(self) -> bool:
        """Whether the unit is a copy that stays and whose base and new upstream text are known."""
        return self.kind == "copy" and self.base is not None and self.upstream is not None and not self.removed

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


def list_owners(drafts: Iterable[Draft], *, only_chosen: bool = False) -> list[str]:
    """Return the classes that the drafts belong to, in order, each once; on demand those with a chosen unit only."""
    return [*dict.fromkeys(one.owner for one in drafts if one.owner and (one.chosen or not only_chosen))]


def texts_by_member(drafts: Sequence[Draft], class_name: str) -> dict[str, str]:
    """Return the texts of a class's members by their names, without removed ones."""
    return {draft.member: draft.text for draft in list_members(drafts, class_name)}


def list_members(drafts: Sequence[Draft], class_name: str) -> list[Draft]:
    """Return the drafts of a class's members, without removed ones."""
    return [draft for draft in drafts if draft.owner == class_name and not draft.removed]
