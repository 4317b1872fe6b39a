"""Makes the module text that is written: puts questions in as comments or conflict markers and fixes line numbers.

Comes in: a ``ModuleResult`` and its text as formatted by the project's formatter. Goes out: the result with the text to
write. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import replace

from runner_sync.compose.notes import add_review_comments
from runner_sync.upgrade.job import ModuleResult
from runner_sync.upgrade.placing import drop_repeats, drop_undone_hunks, relocate, restate, show_as_written
from runner_sync.upgrade.questions.conflicts import drop_overlapping, insert_conflicts, is_two_sided


def finish(result: ModuleResult, text: str, *, with_conflicts: bool) -> ModuleResult:
    """Return the result with the formatted ``text``, its questions in the text, and all line numbers adapted.

    Questions become comments. With ``with_conflicts``, a choice between two sides becomes a diff3 conflict instead.
    """
    reviews = relocate(result.reviews, old=result.after, new=text)
    sided = drop_overlapping(item for item in reviews if with_conflicts and is_two_sided(text, item))
    shown = zip(reviews, restate(result.reviews, old=result.after, new=text), strict=True)
    noted, placed = add_review_comments(text, [now for item, now in shown if item not in sided])
    sided = relocate(sided, old=text, new=noted)
    after = insert_conflicts(noted, sided)
    reviews = drop_repeats(relocate([*show_as_written(placed, noted), *sided], old=noted, new=after))
    left = drop_undone_hunks([unit.hunks for unit in result.units], before=result.before, made=result.after, text=text)
    units = tuple(
        replace(unit, hunks=tuple(relocate(hunks, old=text, new=after)))
        for unit, hunks in zip(result.units, left, strict=True)
    )
    return replace(result, after=after, reviews=tuple(reviews), units=units)
