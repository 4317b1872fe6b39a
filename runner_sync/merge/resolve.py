"""What becomes of each strand: kept or not, and with what doubt.

Comes in: a ``Weave``. Goes out: verdicts on its strands, in place while the weave is being settled, and ``Doubt``
values for the review. May touch: nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from runner_sync.merge.classify import gaps, is_one_strand
from runner_sync.merge.confidence import CONTESTED, INFERRED, REBUILT
from runner_sync.merge.contents import Heritage, is_inherited, is_no_edit, is_same, sides_of
from runner_sync.merge.dataflow import binds, reads, sets
from runner_sync.merge.foreign import is_foreign, leave_out_foreign
from runner_sync.merge.lost import without_definitions
from runner_sync.merge.passages import between_removed, inside_removed
from runner_sync.merge.policy import Terms
from runner_sync.merge.presence import presence
from runner_sync.merge.reason import Reason
from runner_sync.merge.refusal import refuse
from runner_sync.merge.removed_suites import loops_with_additions, suites_with_edits
from runner_sync.merge.returning import leave_out_what_stayed
from runner_sync.merge.weave import LOOPS, Doubt, Strand, Weave, any_node, runs
from runner_sync.statements import ROOT, Node, below


def settle_presence(weave: Weave, strands: Sequence[Strand], terms: Terms) -> list[Doubt]:
    """Decide which strands stay. Deletions by one side of what the other left alone are taken; others are doubts."""
    policy, heritage = terms.policy, terms.heritage
    if policy.updates_only:
        for strand in strands:
            strand.kept = strand.omni is not None
        return []
    doubts = []
    for strand in strands:
        strand.kept, doubt = presence(weave, strand, policy, heritage)
        if doubt is not None:
            doubts.append(doubt)
    doubts += leave_out_what_stayed(weave)
    _keep_clauses_of_edited(weave, heritage)
    _settle_own_suites(weave, heritage)
    doubts += _added_in_another_order(weave)
    doubts = suites_with_edits(weave, strands, doubts, replaced=policy.nesting == "upstream")
    leave_out_foreign(weave, terms.foreign)
    doubts += inside_removed(weave, strands)
    doubts += loops_with_additions(weave, strands, replaced=policy.nesting == "upstream")
    if policy.nesting == "upstream":
        doubts += between_removed(weave, strands)
        doubts += without_definitions(weave, strands)
    doubts = [doubt for doubt in doubts if not is_foreign(weave, doubt.strand, terms.foreign)]
    if terms.veto is not None:
        doubts += refuse(weave, strands, terms.veto)
    _keep_pinned(weave, strands, terms.pinned)
    _undo_half_moves(weave, strands)
    doubts += _keep_needed_suites(weave)
    _keep_definitions(weave, strands, heritage)
    if policy.nesting == "upstream":
        doubts += _other_branches(weave)
    return doubts


def _added_in_another_order(weave: Weave) -> list[Doubt]:
    """Statements that both sides added at one place, in another order or one of them under a condition of its own.

    They stand where omni has them, or each would come twice. What upstream asserts where omni asks stays out with them.
    """
    doubts = []
    for o, u in gaps(weave):
        mine, theirs = _only_added(weave, o, "o"), _only_added(weave, u, "u")
        for canon in [canon for canon in mine if canon in theirs]:
            (first, *others), (second, *more) = mine[canon], theirs[canon]
            if others or more:
                continue
            (*own, above), (*new, over) = (
                _suites_of_one_side(weave, first, "o"),
                _suites_of_one_side(weave, second, "u"),
            )
            heads = [*(weave.omni[k].canon for k in own), *(weave.upstream[k].canon for k in new)]
            if not is_one_strand(weave, above, over) or any(head.startswith(LOOPS) for head in heads):
                continue
            asserted = _asserted(weave, heads, second)
            for strand in (weave.of_upstream[second], *asserted):
                strand.kept = False
            reason = (
                Reason("both added under other conditions", (*heads,))
                if heads
                else Reason("both added in another order")
            )
            doubts.append(Doubt(weave.of_upstream[second], reason, INFERRED, left_out=asserted))
    return doubts


def _suites_of_one_side(weave: Weave, index: int, side: str) -> list[int]:
    """The heads around a statement that only its own side has, from the inside, and the first one that both have."""
    nodes, of = (weave.omni, weave.of_omni) if side == "o" else (weave.upstream, weave.of_upstream)
    heads = [nodes[index].parent]
    while heads[-1] != ROOT and of[heads[-1]].sides == side:
        heads.append(nodes[heads[-1]].parent)
    return heads


def _asserted(weave: Weave, heads: Sequence[str], index: int) -> tuple[Strand, ...]:
    """The new assertions of upstream, beside a statement, of what one of the ``heads`` asks: there it must not hold."""
    asked = {f"assert {head.removeprefix('if ')}" for head in heads if head.startswith("if ")}
    suite = weave.upstream[index].parent
    return tuple(
        strand
        for node, strand in zip(weave.upstream, weave.of_upstream, strict=True)
        if node.parent == suite and strand.sides == "u" and node.canon in asked
    )


def _only_added(weave: Weave, places: range, side: str) -> dict[str, list[int]]:
    """The telling simple statements that one side alone has and that stay, by canonical text."""
    nodes, of = (weave.omni, weave.of_omni) if side == "o" else (weave.upstream, weave.of_upstream)
    found: dict[str, list[int]] = {}
    for k in places:
        node = nodes[k]
        if of[k].sides == side and of[k].kept and not node.is_comment and not node.compound and node.weight >= 1:
            found.setdefault(node.canon, []).append(k)
    return found


def _other_branches(weave: Weave) -> list[Doubt]:
    """Where each side kept another branch of a condition that both took away, upstream's comes in: neither is no
    answer."""
    doubts = []
    for index, strand in enumerate(weave.of_base):
        if strand.sides != "b" or not weave.base[index].canon.startswith("if "):
            continue
        clauses = [index, *(k for k, node in enumerate(weave.base) if node.owner == index)]
        branches = [
            [weave.of_base[k] for k, node in enumerate(weave.base) if node.parent == clause and not node.is_comment]
            for clause in clauses
        ]
        mine = [branch for branch in branches if any(s.sides == "bo" and not s.kept for s in branch)]
        theirs = [branch for branch in branches if branch and all(s.sides == "bu" and not s.kept for s in branch)]
        if not mine or len(theirs) != 1:
            continue
        for other in theirs[0]:
            for k in below(weave.upstream, other.in_upstream):
                weave.of_upstream[k].kept = True
        doubts.append(Doubt(theirs[0][0], Reason("each kept another branch"), REBUILT))
    return doubts


def _keep_clauses_of_edited(weave: Weave, heritage: Heritage) -> None:
    """A branch that another revision of upstream has, too, is omni's own on a condition that omni has rewritten."""
    for index, strand in enumerate(weave.of_omni):
        node = weave.omni[index]
        if strand.sides == "o" and not strand.kept and node.is_clause and node.owner != ROOT:
            base, omni, _ = sides_of(weave, weave.of_omni[node.owner])
            assert omni is not None
            is_edited = base is not None and not is_same(base, omni) and not is_inherited(omni, heritage)
            strand.kept = is_edited and weave.of_omni[node.owner].kept


def _settle_own_suites(weave: Weave, heritage: Heritage) -> None:
    """What another revision of upstream has, too, is omni's own inside a suite that is omni's own, and goes with a
    suite that is not, however little it says."""
    for index, strand in enumerate(weave.of_omni):
        above = weave.omni[index].parent
        if strand.sides != "o" or above == ROOT or weave.of_omni[above].sides != "o":
            continue
        strand.kept = weave.of_omni[above].kept or weave.omni[index].canon not in heritage


def _keep_definitions(weave: Weave, strands: Sequence[Strand], heritage: Heritage) -> None:
    """What sets a local stays while what reads it does, and nothing else sets it. What omni has in the form of an
    older revision brings what upstream's form of it reads."""
    binders = Counter(name for node in weave.upstream for name in binds(node))
    while True:
        kept = [strand for strand in strands if strand.kept]
        found = {name for strand in kept for name in sets(any_node(weave, strand))}
        mine, theirs = set[str](), set[str]()
        for strand in kept:
            if _is_outdated(weave, strand, heritage):
                theirs |= _reads(weave.upstream, strand.upstream) - _reads(weave.omni, strand.omni) - found
            else:
                mine |= _reads(weave.omni, strand.omni) - found
        gone = [strand for strand in strands if not strand.kept]
        back = [strand for strand in gone if strand.sides == "o" and binds(weave.omni[strand.in_omni]) & mine]
        back += [s for s in gone if s.sides == "bu" and _is_only_definition(weave, s, theirs, binders)]
        if not back:
            return
        for strand in back:
            strand.kept = True


def _is_only_definition(weave: Weave, strand: Strand, names: Collection[str], binders: Mapping[str, int]) -> bool:
    """Whether a statement of upstream's sets one of some names, which no other one does, and in a suite that stays.

    ``binders`` is how many statements of upstream's set a name.
    """
    node = weave.upstream[strand.in_upstream]
    stays = node.parent == ROOT or weave.of_upstream[node.parent].kept
    return stays and any(binders[name] == 1 for name in binds(node) if name in names)


def _is_outdated(weave: Weave, strand: Strand, heritage: Heritage) -> bool:
    """Whether upstream's text stands in the place of what omni has from the base or from an older revision."""
    base, omni, upstream = sides_of(weave, strand)
    if upstream is None or base is None:
        return False
    if omni is None:
        return strand.sides == "bu"
    return is_no_edit(omni, base, heritage)


def _reads(nodes: Sequence[Node], index: int | None) -> frozenset[str]:
    return reads(nodes[index]) if index is not None else frozenset()


def _keep_pinned(weave: Weave, strands: Sequence[Strand], pinned: Heritage) -> None:
    """What omni has from a third party stays where upstream removed it and put nothing in its place."""
    for run in runs(strands):
        if any(strand.sides == "u" and strand.kept for strand in run):
            continue
        for strand in run:
            if strand.sides == "bo" and weave.omni[strand.in_omni].canon in pinned:
                strand.kept = True


def _keep_needed_suites(weave: Weave) -> list[Doubt]:
    """A condition does not go from around statements that stay, unless they stand without it in upstream, too.

    Where only additions of omni's are left inside, nobody knows whether they make sense without it.
    """
    doubts = []
    for index in range(len(weave.omni) - 1, -1, -1):
        strand, node = weave.of_omni[index], weave.omni[index]
        if strand.kept or strand.sides not in ("o", "bo") or not node.compound:
            continue
        inside = [k for k, other in enumerate(weave.omni) if other.parent == index and not other.is_comment]
        staying = [weave.of_omni[k] for k in inside if weave.of_omni[k].kept]
        own = bool(staying) and all(other.sides == "o" for other in staying)
        strand.kept = own or any(
            _stands_under_nothing(weave, other) if strand.sides == "bo" else other.sides == "o" for other in staying
        )
        is_left = not node.is_clause or (node.owner != ROOT and weave.of_omni[node.owner].upstream is not None)
        if own and strand.sides == "bo" and is_left:
            doubts.append(Doubt(strand, Reason("condition of additions removed"), CONTESTED))
    return doubts


def _stands_under_nothing(weave: Weave, strand: Strand) -> bool:
    """Whether the suite that upstream has this statement in does not come in either."""
    if strand.upstream is None:
        return False
    parent = weave.upstream[strand.upstream].parent
    return parent >= 0 and not weave.of_upstream[parent].kept


def _undo_half_moves(weave: Weave, strands: Sequence[Strand]) -> None:
    """A statement that upstream moved goes from its old place only if it comes in at the new one.

    What the base has at the new place already was not moved there.
    """
    left_out = {
        weave.upstream[s.upstream].canon
        for s in strands
        if s.upstream is not None and not s.kept and not _is_as_in_base(weave, s)
    }
    for strand in strands:
        if strand.sides == "bo" and not strand.kept:
            node = weave.omni[strand.in_omni]
            strand.kept = not node.is_comment and node.weight >= 1 and node.canon in left_out


def _is_as_in_base(weave: Weave, strand: Strand) -> bool:
    base, _, upstream = sides_of(weave, strand)
    return base is not None and upstream is not None and is_same(base, upstream)
