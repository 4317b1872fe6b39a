"""Tell from commits or texts with which revision of its twin a derived module was last aligned.

Comes in: what commits did to both files, or a unit and revisions of its twin. Goes out: some of these commits, or the
index of a revision. May touch: nothing.

A commit that changes the derived module alone and brings twin lines to several definitions shows that its author
compared the two files: everything still missing was left for later, or on purpose. A commit to both files makes one
change twice. A commit that brings lines to a single definition, and to the new functions it calls, is about that
definition only. Neither says anything about earlier changes of the twin::

    c3  both      the same fix
    c2  twin      keep(rows)
    c1  derived   what the twin had gained until then

The derived module was aligned with the twin of ``c1`` or, if it has ``keep(rows)`` in some form, with the twin of
``c3``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from runner_sync.lineage.likeness import fingerprint
from runner_sync.lineage.timeline import SHORT_LINE, count_lines, methods


@dataclass(frozen=True, slots=True)
class Change:
    """One commit: the texts of the derived module (``npu``) and its ``twin`` before and after it, empty if absent."""

    commit: str
    npu_before: str
    npu: str
    twin_before: str
    twin: str


def since_alignment(changes: Iterable[Change], *, catches_up: bool = True) -> list[Change]:
    """Return the commits to the derived module from the last aligning commit on, oldest first; empty if none aligned
    it.

    ``changes`` are newest first and are read no further than needed. The commit that added the derived module beside an
    existing twin counts as aligning; a commit that added both does not, because it may be an import or the end of a
    shallow clone. Of several commits with the same twin text the oldest is kept. With ``catches_up`` the caller wants
    what was left for later, otherwise only what is new since then; a port that brought new functions aligns only in the
    second case.
    """
    found: list[Change] = []
    for change in changes:
        if not change.twin or change.npu == change.npu_before:
            continue
        found = [change, *(later for later in found if later.twin != change.twin)]
        if _is_alignment(change, catches_up=catches_up):
            return found
    return []


def _is_alignment(change: Change, *, catches_up: bool) -> bool:
    """Whether a commit added the derived module beside a twin, or ported twin lines to several definitions.

    Such a port changes the derived module alone. A port of one method does not count: its author need not have looked
    at the others.
    """
    if not change.npu_before:
        return bool(change.twin_before)
    if change.twin != change.twin_before:
        return False
    brought = _find_brought(change)
    return len(_drop_called(change, brought) if catches_up else brought) > 1


def _find_brought(change: Change) -> dict[str, Counter[str]]:
    """Return the definitions to which a commit brought lines of the twin, each with all lines that it gained."""
    before, twin_lines = methods(change.npu_before), count_lines(change.twin)
    gained = {name: count_lines(text) - count_lines(before.get(name, "")) for name, text in methods(change.npu).items()}
    return {name: rows for name, rows in gained.items() if _has_telling_line(rows & twin_lines)}


def _drop_called(change: Change, brought: Mapping[str, Counter[str]]) -> list[str]:
    """Drop new definitions from ``brought`` that another one calls since then: they came along with that call."""
    before = methods(change.npu_before)
    return [
        name
        for name in brought
        if name in before or not any(_is_mentioned(rows, name) for other, rows in brought.items() if other != name)
    ]


def _has_telling_line(rows: Iterable[str]) -> bool:
    """Whether any line is long enough to tell something and is no decorator.

    A decorator is cut out together with the definition above it, and says nothing about that definition.
    """
    return any(len(line) > SHORT_LINE and not line.startswith("@") for line in rows)


def _is_mentioned(rows: Iterable[str], name: str) -> bool:
    return any(re.search(rf"\b{name}\b", line) for line in rows)


def aligned_with(npu: str, revisions: Sequence[str], now: str | None) -> int:
    """Return the index of the revision that a unit was last aligned with: the revision that differs least from the
    unit.

    Ties go to the revision that shares most with the unit, then to the oldest. ``revisions`` are oldest first; ``now``
    is the present twin, ``None`` if it is gone. Differences are counted in statements: a later revision is then farther
    only if the unit lacks more of its additions than it has. A ratio would favour any shared statement in dissimilar
    units. If the unit has as much as it lacks, somebody ported the change: a part of a twin's additions is vLLM code,
    which no port brings.

    If the nearest revision equals the present twin, which added something that the unit lacks, returns the last
    revision with another text instead. The whole unit is compared although it may have been updated in part: on NPU,
    ``execute_model`` of vllm-omni 0.31.0rc1 had lost what the twin lost and lacked the call that the twin gained.
    """
    if len({*revisions}) == 1:
        return 0
    own = fingerprint(npu)
    known = [fingerprint(text) for text in revisions]
    best = min(range(len(known)), key=lambda k: (_count_differences(own, known[k]), -(own & known[k]).total()))
    if revisions[best] != now:
        return best
    present = fingerprint(now)
    before = next((k for k in range(best, -1, -1) if fingerprint(revisions[k]) != present), best)
    gained = present - fingerprint(revisions[before])
    return before if gained - fingerprint(npu) else best


def _count_differences(one: Counter[str], other: Counter[str]) -> int:
    """Count the statements that only one of two units has."""
    return ((one - other) + (other - one)).total()
