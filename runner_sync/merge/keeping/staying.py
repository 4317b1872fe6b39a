"""Bring back statements that are needed after all, given what else stays or is left out.

Comes in: a weave with all other verdicts. Goes out: ``Doubt`` values; what stays is marked. May touch: ``kept`` of the
strands.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection

from runner_sync.confidence import CONTESTED, INFERRED, REBUILT
from runner_sync.merge.keeping.settling import Settling
from runner_sync.merge.phrases.contents import Heritage, find_sides, is_upstream_text
from runner_sync.merge.placing.remarks import find_remarks
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import (
    Doubt,
    Strand,
    Weave,
    find_beside,
    heads_around,
    other_side,
    split_into_runs,
    strands_in_suite,
    strands_inside,
)
from runner_sync.statements import EXITS, ROOT, below, clauses, enclosing, in_suite, siblings
from runner_sync.statements.dataflow import binds, reads, uses, uses_anything_of
from runner_sync.statements.likeness import COPY


def keep_pinned(settling: Settling) -> None:
    """Keep what omni has from a third party, if upstream removed it and put nothing in its place.

    What upstream moved within its suite stays where omni has it, with a doubt if it is ``firm``: then it is not the
    third party that moved it. It does not come in at the new place as well, unless it may do something else there.
    """
    weave, pinned = settling.weave, settling.terms.pinned
    coming, moves = _index_coming(settling), dict[Strand, Strand]()
    for run in split_into_runs(settling.strands):
        if any(strand.sides == "u" and strand.kept for strand in run):
            continue
        for strand in run:
            if strand.sides == "bo" and (canon := weave.omni[strand.in_omni].canon) in pinned:
                strand.kept = True
                if moved := coming.get((_find_head(weave, strand, "o"), canon)):
                    moves[strand] = moved
    while differing := [old for old, new in moves.items() if _may_differ(weave, old, new, {*moves.values()})]:
        for old in differing:
            del moves[old]
    for old, moved in moves.items():
        moved.kept = False
        if weave.omni[old.in_omni].canon in settling.terms.firm:
            settling.doubts.append(Doubt(old, Reason("kept at its place"), INFERRED))


def _index_coming(settling: Settling) -> dict[tuple[Strand | None, str], Strand]:
    """Return ``{(head of the suite, text): strand}`` of the simple statements that come in and stand only once."""
    weave, found = settling.weave, dict[tuple[Strand | None, str], Strand]()
    upstream = Counter(node.canon for node in weave.upstream)
    for strand in settling.strands:
        if strand.sides == "u" and strand.kept:
            node = weave.upstream[strand.in_upstream]
            if node.is_telling and not node.compound and upstream[node.canon] == 1:
                found[_find_head(weave, strand, "u"), node.canon] = strand
    return found


_CALL = re.compile(r"[\w)\]]\(")


def _may_differ(weave: Weave, old: Strand, new: Strand, moving: Collection[Strand]) -> bool:
    """Whether a statement that upstream moved may do something else at its new place than at its old one.

    So it is if what it reads or sets is set in between, if a path leaves in between, or if upstream newly calls
    something there or newly reads what the statement sets. Statements ``moving`` with it do not count.
    """
    moved = weave.upstream[new.in_upstream]
    before = find_beside(weave, old, "o", -1, lambda strand: strand.upstream is not None)
    place = below(weave.upstream, before.in_upstream)[-1] if before is not None else moved.parent
    first, last = sorted((place, new.in_upstream))
    between = [strand for strand in weave.of_upstream[first + 1 : last + 1] if strand not in moving]
    nodes = [node for s in between if not (node := weave.upstream[s.in_upstream]).is_comment]
    new_ones = [weave.upstream[s.in_upstream] for s in between if not weave.is_unedited(s, "u")]
    return (
        any(node.keyword in EXITS for node in nodes)
        or uses_anything_of(nodes, [moved])
        or uses_anything_of([moved], new_ones)
        or any(_CALL.search(node.canon) for node in new_ones if not node.is_comment)
    )


def _find_head(weave: Weave, strand: Strand, side: str) -> Strand | None:
    """Return the strand of the head around a strand on one side; the strands have no parents yet."""
    nodes, strands = weave.side(side)
    parent = nodes[strand.on(side)].parent
    return strands[parent] if parent != ROOT else None


def undo_half_moves(settling: Settling) -> None:
    """Keep a statement that upstream moved at its old place, if it does not come in at the new one.

    A statement that the base already had at the new place, unchanged, was not moved.
    """
    weave = settling.weave
    left_out = {
        weave.upstream[s.upstream].canon
        for s in settling.strands
        if s.upstream is not None and not s.kept and not weave.is_unedited(s, "u")
    }
    for strand in settling.strands:
        if strand.sides == "bo" and not strand.kept:
            node = weave.omni[strand.in_omni]
            strand.kept = node.is_telling and node.canon in left_out


def keep_needed_suites(settling: Settling) -> None:
    """Keep a head around statements that stay, unless upstream has these statements outside it.

    If only omni's additions are left inside, it stays with a doubt: nobody knows whether they make sense without it.
    """
    weave = settling.weave
    for index in range(len(weave.omni) - 1, -1, -1):
        strand, node = weave.of_omni[index], weave.omni[index]
        if strand.kept or strand.sides not in ("o", "bo") or not node.compound:
            continue
        staying = [other for other in strands_in_suite(weave, strand, "o") if other.kept]
        own = bool(staying) and all(other.sides == "o" for other in staying)
        strand.kept = own or any(
            _is_without_suite(weave, other) if strand.sides == "bo" else other.sides == "o" for other in staying
        )
        is_left = not node.is_clause or (node.owner != ROOT and weave.of_omni[node.owner].upstream is not None)
        if own and strand.sides == "bo" and is_left:
            settling.doubts.append(Doubt(strand, Reason("condition of additions removed"), CONTESTED))


def _is_without_suite(weave: Weave, strand: Strand) -> bool:
    """Whether upstream lacks this statement, or has it in a suite that does not come in."""
    if strand.upstream is None:
        return True
    parent = weave.upstream[strand.upstream].parent
    return parent >= 0 and not weave.of_upstream[parent].kept


def is_outdated(weave: Weave, strand: Strand, heritage: Heritage) -> bool:
    """Whether upstream's text replaces omni's, which is the base's or an older revision's, or omni lacks it."""
    base, omni, upstream = find_sides(weave, strand)
    if upstream is None or base is None:
        return False
    if omni is None:
        return strand.sides == "bu"
    return is_upstream_text(omni, base, heritage)


def keep_first_values(settling: Settling) -> None:
    """Keep a first value such as ``found = None`` that upstream removed, if omni still sets and reads the local.

    Omni sets it under a condition, so its text needs a value on the paths where the condition fails. Upstream gave the
    local up.
    """
    weave = settling.weave
    new = [strand for strand in settling.strands if strand.sides == "u" and strand.kept]
    newly_bound = {name for strand in new for name in binds(weave.upstream[strand.in_upstream])}
    for index, strand in enumerate(weave.of_omni):
        if strand.sides == "bo" and not strand.kept and _CONSTANT.fullmatch(weave.omni[index].canon):
            (name,) = binds(weave.omni[index])
            strand.kept = name not in newly_bound and _is_first_value_needed(settling, index, name)


_CONSTANT = re.compile(r"\w+(?:: [^=]+)? = (?:None|True|False|\d+|''|\[\]|\{\}|\(\))")


def _is_first_value_needed(settling: Settling, index: int, name: str) -> bool:
    """Whether omni reads a local below its first value, and every other setter stays, inside a block below it."""
    weave = settling.weave
    behind = range(index + 1, len(weave.omni))
    left = [
        k for k in behind if weave.of_omni[k].kept and not is_outdated(weave, weave.of_omni[k], settling.terms.heritage)
    ]
    setting = [k for k, node in enumerate(weave.omni) if k != index and name in binds(node)]
    inside = {k for head in siblings(weave.omni, index, step=1) for k in below(weave.omni, head)[1:]}
    return (
        bool(setting)
        and inside.intersection(left).issuperset(setting)
        and any(name in reads(weave.omni[k]) for k in left)
    )


def keep_values_read(settling: Settling) -> None:
    """Keep the only statements that set a local, with a doubt, if omni's code below still reads it.

    There is no doubt if the reading code is in doubt itself. Skips a local if one of the statements is a head or is in
    a suite that does not stay, so that it would run under no condition, if one reads what would be missing in turn, or
    if upstream still makes the same call elsewhere, so that it would run twice. Runs only in a copy: a port asks about
    the statements that came instead. Skips a method that upstream rewrote: of that, omni's text stays as a whole if it
    needs what is gone.
    """
    if not settling.is_copy or _is_rewritten(settling):
        return
    weave = settling.weave
    asked = {doubt.strand for doubt in settling.doubts}
    bound = find_bound(weave, "o") | find_bound(weave, "u")
    for index in range(len(weave.omni) - 1, -1, -1):
        reader = weave.of_omni[index]
        lost = uses(weave.omni[index]) - bound if reader.kept and reader.upstream is None else frozenset()
        for name in sorted(lost):
            setting = find_setting(weave, "o", index, name, bound)
            if not setting:
                continue
            if reader not in asked:
                last = max(setting, key=lambda strand: strand.in_omni)
                settling.doubts.append(Doubt(last, Reason("removed value read", (name,)), CONTESTED))
            for strand in setting:
                strand.kept = True
                bound.update(binds(weave.omni[strand.in_omni]))
            asked.update(setting)


def find_bound(weave: Weave, side: str) -> set[str]:
    """Return the names that one side's text of the kept statements binds."""
    return {name for node, strand in zip(*weave.side(side), strict=True) if strand.kept for name in binds(node)}


def find_setting(weave: Weave, side: str, index: int, name: str, bound: Collection[str]) -> set[Strand]:
    """Return what must stay so that a local is set above a statement or in a loop around it; empty if that cannot."""
    nodes, strands = weave.side(side)
    found = set[Strand]()
    wanted = [(index, name)]
    while wanted:
        index, name = wanted.pop()
        loops = [head for head in enclosing(nodes, index) if nodes[head].is_loop]
        behind = below(nodes, min(loops))[-1] if loops else index
        setting = {strands[k] for k in range(behind + 1) if k != index and name in binds(nodes[k])}
        if not all(_can_stay(weave, strand, side) for strand in setting):
            return set()
        for strand in setting - found:
            node = nodes[strand.on(side)]
            wanted += [(strand.on(side), other) for other in uses(node) - binds(node) - {*bound}]
        found |= setting
    return found


_SET = re.compile(r" [^\s\w]{0,3}= ")


def _can_stay(weave: Weave, strand: Strand, side: str) -> bool:
    """Whether a statement that one side removed can run where the other has it, without any call running twice."""
    node = weave.side(side)[0][strand.on(side)]
    if strand.sides != f"b{side}" or weave.is_edited(strand, "u") or node.compound:
        return False
    if not all(head.kept for head in heads_around(weave, strand, side)):
        return False
    called = node.facts.called
    made = f"{called}(" if called.startswith("self.") else _SET.split(node.canon, maxsplit=1)[-1]
    call = re.compile(rf"(?<![\w.]){re.escape(made)}")
    others = zip(*weave.side(other_side(side)), strict=True)
    return not _CALL.search(made) or not any(s.kept and call.search(other.canon) for other, s in others)


def _is_rewritten(settling: Settling) -> bool:
    """Whether upstream kept too little of the base for its method to count as the one that was copied."""
    kept = sum("u" in strand.sides for strand in settling.weave.of_base)
    return kept < COPY * len(settling.weave.of_base)


def keep_remarks_on_edits(settling: Settling) -> None:
    """Keep the comment directly above a statement that upstream removed and that stays because omni edited it."""
    weave = settling.weave
    added_texts = {weave.upstream[s.in_upstream].canon for s in settling.strands if s.sides == "u" and s.kept}
    for block, about in find_remarks(weave.omni):
        strand = weave.of_omni[about]
        lines = [weave.of_omni[k] for k in block]
        if strand.sides == "bo" and strand.kept and all(line.sides == "bo" for line in lines):
            for line in lines:
                line.kept = line.kept or weave.omni[line.in_omni].canon not in added_texts


def take_other_branches(settling: Settling) -> None:
    """In a copy, bring in upstream's branch of a removed ``if`` if each side kept another branch.

    Otherwise both branches would be lost.
    """
    weave = settling.weave
    for index, strand in enumerate(weave.of_base) if settling.is_copy else ():
        is_gone = strand.sides == "b" or (strand.sides == "bo" and not strand.kept)
        if not is_gone or weave.base[index].keyword != "if":
            continue
        heads = [index, *clauses(weave.base, index)]
        branches = [[weave.of_base[k] for k in in_suite(weave.base, head)] for head in heads]
        removed_branches = [branch for branch in branches if any(s.sides == "bo" and not s.kept for s in branch)]
        left = [[s for s in branch if s.sides != "b"] for branch in branches]
        upstream_branches = [
            branch for branch in left if branch and all(s.sides == "bu" and not s.kept for s in branch)
        ]
        if not removed_branches or len(upstream_branches) != 1:
            continue
        for other in upstream_branches[0]:
            for inside in strands_inside(weave, other, "u"):
                inside.kept = True
        settling.doubts.append(Doubt(upstream_branches[0][0], Reason("each kept another branch"), REBUILT))
