"""The suite that each strand of a weave stands in.

Comes in: a ``Weave`` and its strands in order. Goes out: the same strands with their parents. May touch: ``owner`` and
``parent`` of the strands.

The parent of a node is one more thing that a side can have changed, and is merged like one, after the 3DM merge of
ordered trees (Lindholm, "A three-way merge for XML documents", 2004).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runner_sync.merge.placing.interleaving import interleave
from runner_sync.merge.policy import Policy
from runner_sync.merge.weave import Nodes, Strand, Weave, any_node
from runner_sync.statements import ROOT, below, clauses, siblings
from runner_sync.statements.dataflow import uses_anything_of


def parents(weave: Weave, strands: Sequence[Strand], policy: Policy) -> None:
    """Settle the enclosing strand and the clause owner of every kept strand."""
    for strand in strands:
        strand.parent = _merge_link(weave, strand, "parent", policy)
        strand.owner = _merge_link(weave, strand, "owner", policy)
    place = {strand: k for k, strand in enumerate(strands)}
    for strand in strands:
        if strand.sides in ("o", "u") and strand.kept:
            above = _follow_siblings(weave, strand, strand.sides, policy, place)
            if not is_inside(above, strand):
                strand.parent = above
    interleave(weave, strands, is_copy=policy.is_copy)
    _return_home(weave, strands)


def as_omni_has_them(weave: Weave) -> list[Strand]:
    """Omni's strands, all of which stay, in its order and suites."""
    for strand in weave.of_omni:
        strand.parent, strand.owner = (_link(weave, strand, "o", name) for name in ("parent", "owner"))
    return list(weave.of_omni)


def _return_home(weave: Weave, strands: Sequence[Strand]) -> None:
    """What a side added inside of a new suite of its own is in that again, where what it followed out of it is."""
    for strand in strands:
        if strand.sides not in ("o", "u") or not strand.kept:
            continue
        own = _link(weave, strand, strand.sides, "parent")
        if own is None or own is strand.parent or own.sides != strand.sides or not own.kept or is_inside(own, strand):
            continue
        around = [_sibling(weave, strand, step) for step in (-1, 1)]
        if any(sibling is not None and sibling.parent is own for sibling in around):
            strand.parent = own


def is_inside(strand: Strand | None, outer: Strand) -> bool:
    """Whether a strand is another one, or below it: two suites that the sides put around the same neighbours must not
    end up inside each other."""
    return strand is not None and (strand is outer or outer in strand.around())


def _link(weave: Weave, strand: Strand, side: str, name: str) -> Strand | None:
    if side not in strand.sides:
        return None
    (nodes, of), index = weave.side(side), strand.on(side)
    link = nodes[index].parent if name == "parent" else nodes[index].owner
    return of[link] if link != ROOT else None


def home(weave: Weave, strand: Strand) -> Strand | None:
    """The innermost kept suite around a strand, on a side that has it."""
    side = strand.sides[-1]
    above = _link(weave, strand, side, "parent")
    while above is not None and not above.kept:
        above = _link(weave, above, side if side in above.sides else above.sides[-1], "parent")
    return above


def _merge_link(weave: Weave, strand: Strand, name: str, policy: Policy) -> Strand | None:
    """Three-way: the side that changed the link wins; both changed: the policy's, but for a suite newly put around."""
    base, omni, upstream = (_link(weave, strand, side, name) for side in "bou")
    if strand.sides == "bou" and upstream is base:
        around = _around_what_went(weave, upstream, omni, name)
        if around is not None:
            return around
    match strand.sides:
        case "o" | "bo":
            side, link = "o", omni
        case "u" | "bu":
            side, link = "u", upstream
        case "bou" if upstream is base or (omni is not base and _is_wrapper(omni, "o")):
            side, link = "o", omni
        case "bou" if omni is base and (upstream is None or (upstream.sides == "bou" and upstream.kept)):
            side, link = "u", upstream
        case "bou" | "ou" if not policy.is_copy and not _is_wrapper(upstream, "u"):
            side, link = "o", omni
        case _:
            side, link = "u", upstream
    if side == "o" and link is not None and not link.kept and _is_wrapper(upstream, "u"):
        return upstream
    while link is not None and not link.kept:
        link = _link(weave, link, side if side in link.sides else link.sides[-1], name)
    return link


def _around_what_went(weave: Weave, suite: Strand | None, omni: Strand | None, name: str) -> Strand | None:
    """What upstream put around the suite of a statement that ``omni`` has outside of it: the statement goes there all
    the same. Not where omni has a suite of its own instead."""
    while suite is not None and suite.sides == "bu" and not suite.kept:
        then, suite = (_link(weave, suite, side, name) for side in "bu")
        if suite is not then and _is_wrapper(suite, "u"):
            return suite if omni is then else None
    return None


def _is_wrapper(strand: Strand | None, side: str) -> bool:
    return strand is not None and strand.sides == side and strand.kept


def _follow_siblings(
    weave: Weave, strand: Strand, side: str, policy: Policy, place: Mapping[Strand, int]
) -> Strand | None:
    """The suite of an addition: the one that its siblings are in now.

    Where the two beside it are in different ones, it is the suite around both, or the first sibling's own, where the
    second went into that. Never a suite that begins behind the addition: ``place`` is the place of each strand in the
    result.
    """
    nodes, of = weave.side(side)
    index = strand.on(side)
    wrapped = _wrapped(weave, index, policy) if side == "o" else None
    if wrapped is not None and wrapped is not strand and wrapped.kept:
        return wrapped
    before, after = (_sibling(weave, strand, step) for step in (-1, 1))
    options = [s.parent for s in (before, after) if s is not None]
    if before is not None and after is not None and before.parent is not after.parent:
        both = after.parent if _is_in_clause(after, before) else _around_both(before, after)
        options = [both] if strand.parent is None or is_inside(both, strand.parent) else []
    if options and options[0] is not strand:
        suite = options[0]
        begins_behind = suite is not None and place[suite] > place[strand]
        stays = begins_behind or _leaves_its_loop(weave, strand, suite) or _is_around_others(weave, index, side, suite)
        is_free = after is None and side == "u" and _has_stayed(of, nodes, index)
        stays = stays or (is_free and _needs_no_condition(weave, suite, before))
        return strand.parent if stays else suite
    return strand.parent


def _is_in_clause(strand: Strand, head: Strand) -> bool:
    """Whether a statement is inside another one or a clause of it."""
    return any(head in (above, above.owner) for above in strand.around())


def _around_both(first: Strand, second: Strand) -> Strand | None:
    """The innermost suite that two statements are in, whatever more is around either."""
    return next((suite for suite in first.around() if is_inside(second.parent, suite)), None)


def _has_stayed(of: Sequence[Strand], nodes: Nodes, index: int) -> bool:
    """Whether the suite of a statement is in the result: one that can stay where it is."""
    above = nodes[index].parent
    return above == ROOT or of[above].kept


def _leaves_its_loop(weave: Weave, strand: Strand, above: Strand | None) -> bool:
    """Whether an addition would leave a loop that upstream removed, and come to stand in none: where its siblings went
    there are no turns, and no ``break``."""
    loop = strand.parent
    if loop is None or loop.sides != "bo" or not any_node(weave, loop).is_loop:
        return False
    return above is None or not any(any_node(weave, head).is_loop for head in (above, *above.around()))


def _needs_no_condition(weave: Weave, suite: Strand | None, last: Strand | None) -> bool:
    """Whether what upstream added behind ``last``, at the end of its suite, runs whatever the condition ``suite`` says
    that omni has put around ``last``: it uses nothing that is set under it."""
    if suite is None or suite.sides != "o" or last is None:
        return False
    head = weave.omni[suite.in_omni]
    if not head.is_condition:
        return False
    inside = [weave.omni[k] for k in below(weave.omni, suite.in_omni)]
    end = below(weave.upstream, last.in_upstream)[-1]
    added = (k for k in siblings(weave.upstream, last.in_upstream, step=1) if k > end)
    return not uses_anything_of(inside, [weave.upstream[k] for top in added for k in below(weave.upstream, top)])


def _wrapped(weave: Weave, wrapper: int, policy: Policy) -> Strand | None:
    """Where upstream put a statement that omni had wrapped into an own suite: the suite belongs there."""
    if not weave.omni[wrapper].compound:
        return None
    suites_ = {wrapper, *clauses(weave.omni, wrapper)}
    for k in range(wrapper + 1, len(weave.omni)):
        if weave.omni[k].parent not in suites_:
            continue
        strand = weave.of_omni[k]
        if strand.sides == "bou" and strand.kept:
            then, above = (_link(weave, strand, side, "parent") for side in "bu")
            if above is then:
                return _around_what_went(
                    weave, above, strand.parent and _link(weave, weave.of_omni[wrapper], "o", "parent"), "parent"
                )
            return above if policy.is_copy else None
    return None


def _is_around_others(weave: Weave, wrapper: int, side: str, above: Strand | None) -> bool:
    """Whether a new suite is around statements that are not in ``above`` on the side which has that: then it stays
    where it is, whatever became of its neighbours. The first statement that all three texts have tells."""
    nodes, of = weave.side(side)
    other = "u" if side == "o" else "o"
    if above is None or other not in above.sides or not nodes[wrapper].compound:
        return False
    inside = (of[k] for k in below(nodes, wrapper))
    first = next((strand for strand in inside if strand.sides == "bou" and strand.kept), None)
    link = first and _link(weave, first, other, "parent")
    while link is not None and link is not above:
        link = _link(weave, link, other, "parent")
    return first is not None and link is None


def _sibling(weave: Weave, addition: Strand, step: int) -> Strand | None:
    """The nearest statement beside an addition that both sides have, and that stays."""
    nodes, of = weave.side(addition.sides)
    around = (of[k] for k in siblings(nodes, addition.on(addition.sides), step=step))
    return next((strand for strand in around if len(strand.sides) > 1 and strand.kept), None)
