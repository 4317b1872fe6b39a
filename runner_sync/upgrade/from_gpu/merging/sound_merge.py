"""Repeats the merge of a port until the result can run: no unset names, half features, idle statements or lost calls.

Comes in: the three texts of a unit, statements to keep out and statements to keep in. Goes out: the merge and its
remaining defects. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import replace

from runner_sync import merge
from runner_sync.merge import Kind, Veto
from runner_sync.model import Triple
from runner_sync.statements import flatten
from runner_sync.statements.dataflow import binds
from runner_sync.texts.member_text import canonical
from runner_sync.texts.soundness import Problem, find_problems
from runner_sync.thresholds import TRIES
from runner_sync.upgrade.from_gpu.merging.half_ported import find_half_ported, find_unread_parameters
from runner_sync.upgrade.from_gpu.merging.idle_passages import Undone, ask_about_undone, undo_idle_passages
from runner_sync.upgrade.from_gpu.merging.plain_locals import bring_plain_locals
from runner_sync.upgrade.from_gpu.merging.refusing import refuse_readers


def merge_soundly(
    sides: Triple,
    policy: merge.Policy,
    *,
    veto: Veto,
    foreign: Collection[str],
    pinned: frozenset[str],
    known: Collection[str],
    firm: Collection[str] = frozenset(),
    brings_locals: bool = False,
) -> tuple[merge.Merged, set[Problem]]:
    """Merge without what cannot run, such as readers of unset names, and return the result with its remaining defects.

    Defects that omni's text already had do not count. If any remain, those of the whole change are returned, because
    the others follow from them. ``veto``, ``foreign``, ``pinned`` and ``firm`` are those of ``merge.merge``; ``known``
    are the names that the unit may read. With ``brings_locals``, plain locals that new statements read come, too.
    """
    before = find_problems(sides.omni, known)
    missing: dict[str, Kind] = {}
    undone: list[Undone] = []
    for attempt in range(TRIES):
        refuse = refuse_readers(missing, veto)
        result = merge.merge(sides, policy=policy, veto=refuse, foreign=foreign, pinned=pinned, firm=firm)
        if not result.parses:
            return ask_about_undone(result, undone), set()
        broken = find_problems(result.text, known) - before
        unset = {problem.what for problem in broken if problem.kind != "idle"}
        half = find_half_ported(sides, result.text, foreign, veto)
        if not missing and not undone:
            first_defects = broken | {Problem("half", name) for name in half}
        sides, more = undo_idle_passages(sides, result.text, broken)
        if attempt == TRIES - 1:
            break
        if more:
            undone += more
            continue
        if brings_locals and attempt == 0 and (longer := bring_plain_locals(sides, unset)) != sides:
            sides = longer
            continue
        names = _explain_names(half, unread=find_unread_parameters(sides, result.text), unset=unset)
        new, lost = names.keys() - missing, _find_lost_calls(sides, result.text) - pinned
        if not new and not lost:
            break
        pinned |= lost
        sides, unnamed = merge.with_omni_names_behind(sides, sorted(new)), sides
        if sides == unnamed:
            missing |= {name: names[name] for name in new}
    # The statement that binds a name may have come in renamed without all statements that read it.
    text = merge.with_old_reads_renamed(sides.omni, result.text, unset)
    if text != result.text:
        result, broken = replace(result, text=text), find_problems(text, known) - before
    return ask_about_undone(result, undone), broken and (
        _drop_set_by_change(sides, first_defects) or first_defects or broken
    )


def _explain_names(half: Iterable[str], *, unread: Iterable[str], unset: Iterable[str]) -> dict[str, Kind]:
    """Return the names whose readers must stay out, each with the reason; a name that nothing sets counts as such."""
    names: dict[str, Kind] = dict.fromkeys(half, "half of a feature")
    names |= dict.fromkeys(unread, "parameter that nothing reads")
    names |= dict.fromkeys(unset, "reads what nothing sets")
    return names


def _drop_set_by_change(sides: Triple, defects: Collection[Problem]) -> set[Problem]:
    """Drop defects about names that the twin's change itself sets, because they follow from the others."""
    was, now = ({name for node in flatten(text) for name in binds(node)} for text in (sides.base, sides.upstream))
    return {problem for problem in defects if problem.kind in ("half", "idle") or problem.what not in now - was}


def _find_lost_calls(sides: Triple, text: str) -> frozenset[str]:
    """Return omni's statements that call a method of ``self`` which the twin still calls and the result does not.

    The twin calls it in a changed statement, which may stay out; then the call must not be lost.
    """
    kept, there = (find_methods_called("\n".join(canonical(side))) for side in (text, sides.upstream))
    return frozenset(canon for canon in canonical(sides.omni) if (there - kept) & find_methods_called(canon))


def find_methods_called(text: str) -> set[str]:
    """Return the methods of ``self`` that a text calls."""
    return set(re.findall(r"\bself\.(\w+)\(", text))
