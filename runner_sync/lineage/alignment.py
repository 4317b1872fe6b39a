"""With which revisions of its twin a derived module may have been aligned last, told from how both changed.

Comes in: what commits did to both files, or a unit and revisions of its twin. Goes out: some of these commits, or the
index of a revision. May touch: nothing.

Whoever changes the derived module alone and brings lines to several definitions that the twin has compared the two:
what it lacks of the twin after that was left for later, or on purpose. A commit to both makes one change twice, and one
that brings lines to a single definition, and the new functions that it calls, is about that: neither says anything of
what else the twin had gained before::

    c3  both      the same mend
    c2  twin      keep(rows)
    c1  derived   what the twin had gained until then

The derived module was aligned with the twin of ``c1``, or, if it has ``keep(rows)`` in some form, with that of ``c3``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from runner_sync.lineage.likeness import fingerprint
from runner_sync.lineage.timeline import SHORT_LINE, lines, methods


@dataclass(frozen=True, slots=True)
class Change:
    """What one commit did: the derived module (``mine``) and its ``twin`` before and after it, empty where there was
    none."""

    commit: str
    mine_before: str
    mine: str
    twin_before: str
    twin: str


def since_alignment(changes: Iterable[Change], *, catches_up: bool = True) -> list[Change]:
    """The commits to the derived module since one aligned it, with that one, oldest first; none where none did.

    ``changes`` are newest first, and read no further than needed. The commit that made the derived module beside a twin
    counts as an alignment; one that made both may be an import, or all that a shallow clone has. Of several with the
    same twin the oldest is kept. ``catches_up`` says whether what was left for later is wanted, or only what is new
    since then: a port that brought new functions counts as an alignment in the second case alone.
    """
    found: list[Change] = []
    for change in changes:
        if not change.twin or change.mine == change.mine_before:
            continue
        found = [change, *(later for later in found if later.twin != change.twin)]
        if _aligns(change, catches_up=catches_up):
            return found
    return []


def _aligns(change: Change, *, catches_up: bool) -> bool:
    """Whether a commit made the derived module beside a twin, or changed it alone and brought lines of the twin to more
    than one definition. Whoever ports one method need not have looked at the others."""
    if not change.mine_before:
        return bool(change.twin_before)
    if change.twin != change.twin_before:
        return False
    brought = _brought(change)
    return len(_ports(change, brought) if catches_up else brought) > 1


def _brought(change: Change) -> dict[str, Counter[str]]:
    """The definitions to which a commit brought lines of the twin, each with all lines that it gained."""
    before, theirs = methods(change.mine_before), lines(change.twin)
    gained = {name: lines(text) - lines(before.get(name, "")) for name, text in methods(change.mine).items()}
    return {name: rows for name, rows in gained.items() if _tells(rows & theirs)}


def _ports(change: Change, brought: Mapping[str, Counter[str]]) -> list[str]:
    """The ``brought`` definitions without the new ones that another of them calls since then: these came with that
    call, and are not told apart from it."""
    before = methods(change.mine_before)
    return [
        name
        for name in brought
        if name in before or not any(_names(rows, name) for other, rows in brought.items() if other != name)
    ]


def _tells(rows: Iterable[str]) -> bool:
    """Whether a line is none that stands everywhere. A decorator stands in what is cut out for the definition above it,
    and tells nothing of that."""
    return any(len(line) > SHORT_LINE and not line.startswith("@") for line in rows)


def _names(rows: Iterable[str], name: str) -> bool:
    return any(re.search(rf"\b{name}\b", line) for line in rows)


def aligned_with(mine: str, revisions: Sequence[str], now: str | None) -> int:
    """Index of the revision of its twin that a unit was aligned with last: of those that differ least from it the one
    with most in common with it, and of such the oldest.

    ``revisions`` are oldest first, ``now`` is the twin as it is, ``None`` if it is gone. What differs is counted in
    statements, so that a revision is farther than the one before only if the unit has less of what it gained than it
    lacks; of units that are not much alike, a share of all statements rises with less. If it has as much as it lacks,
    somebody brought that: a part of what a twin gains is vLLM's, and no port brings it.

    If the nearest revision is like the present one, and that added something which the unit lacks, it is the last one
    with another text instead. The whole unit counts, but it may be updated in part: ``execute_model`` of vllm-omni
    0.31.0rc1 had lost on NPU what the twin lost, and lacked the call that the twin gained.
    """
    own = fingerprint(mine)
    known = [fingerprint(text) for text in revisions]
    best = min(range(len(known)), key=lambda k: (_difference(own, known[k]), -(own & known[k]).total()))
    if revisions[best] != now:
        return best
    present = fingerprint(now)
    before = next((k for k in range(best, -1, -1) if fingerprint(revisions[k]) != present), best)
    gained = present - fingerprint(revisions[before])
    return before if gained - fingerprint(mine) else best


def _difference(one: Counter[str], other: Counter[str]) -> int:
    """How many statements only one of two units has."""
    return ((one - other) + (other - one)).total()
