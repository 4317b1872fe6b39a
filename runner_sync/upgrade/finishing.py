"""The upgraded module as it is written: questions as comments or conflict markers, with final line numbers.

Comes in: a ``ModuleResult`` and its text as the project's formatter lays it out. Goes out: the result with the text to
be written. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import replace

from runner_sync.compose.notes import annotate
from runner_sync.upgrade.job import ModuleResult
from runner_sync.upgrade.placing import as_written, relocate, restated, without_repeats, without_undone
from runner_sync.upgrade.questions.conflicts import disjoint, inline, two_sided


def finished(result: ModuleResult, text: str, *, with_conflicts: bool) -> ModuleResult:
    """The result with the formatted ``text`` and its questions in it, all line numbers adapted.

    Questions are comments; with ``with_conflicts`` a choice between two sides is a conflict with markers instead.
    """
    reviews = relocate(result.reviews, old=result.after, new=text)
    sided = disjoint(item for item in reviews if with_conflicts and two_sided(text, item))
    shown = zip(reviews, restated(result.reviews, old=result.after, new=text), strict=True)
    noted, placed = annotate(text, [now for item, now in shown if item not in sided])
    sided = relocate(sided, old=text, new=noted)
    after = inline(noted, sided)
    reviews = without_repeats(relocate([*as_written(placed, noted), *sided], old=noted, new=after))
    left = without_undone([unit.hunks for unit in result.units], before=result.before, made=result.after, text=text)
    units = tuple(
        replace(unit, hunks=tuple(relocate(hunks, old=text, new=after)))
        for unit, hunks in zip(result.units, left, strict=True)
    )
    return replace(result, after=after, reviews=tuple(reviews), units=units)
