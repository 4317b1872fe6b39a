"""Find the suite that each strand of a weave stands in.

Comes in: a ``Weave`` and its strands in order. Goes out: the same strands with their parents. May touch: ``owner`` and
``parent`` of the strands.

A side may have changed the parent of a node as well as its text. The parents are merged three-way, too, as in the 3DM
merge of ordered trees (Lindholm, "A three-way merge for XML documents", 2004).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from runner_sync.merge.placing.interleaving import interleave
from runner_sync.merge.policy import Policy
from runner_sync.merge.weave import Nodes, Strand, Weave, any_node
from runner_sync.statements import ROOT, ancestors, below, clauses, in_suite, siblings
from runner_sync.statements.dataflow import uses_anything_of


def parents(weave: Weave, strands: Sequence[Strand], policy: Policy) -> None:
    """Set the enclosing head (``parent``) and the statement of a clause (``owner``) of every strand."""
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
    _hand_over_clauses(weave, strands)


def as_omni_has_them(weave: Weave) -> list[Strand]:
    """Omni's strands, all of which stay, in its order and suites."""
    for strand in weave.of_omni:
        strand.parent, strand.owner = (_link(weave, strand, "o", name) for name in ("parent", "owner"))
    return list(weave.of_omni)


def _return_home(weave: Weave, strands: Sequence[Strand]) -> None:
    """Put an addition back into its side's own new suite, where a sibling that it followed out of it is back there."""
    for strand in strands:
        if strand.sides not in ("o", "u") or not strand.kept:
            continue
        own = _link(weave, strand, strand.sides, "parent")
        if own is None or own is strand.parent or own.sides != strand.sides or not own.kept or is_inside(own, strand):
            continue
        around = [_sibling(weave, strand, step) for step in (-1, 1)]
        if any(sibling is not None and sibling.parent is own for sibling in around):
            strand.parent = own


def _hand_over_clauses(weave: Weave, strands: Sequence[Strand]) -> None:
    """Make a clause of omni's that stays one of the new statement that upstream put in place of its own: without any,
    what stands under it would run unconditionally.

    The new one has the same keyword, is around all that upstream has of the old one's suite, and has no clause yet.
    """
    taken = {strand.owner for strand in strands if strand.kept and strand.owner is not None}
    for old in strands:
        if old.kept or old.sides != "bo":
            continue
        mine = [weave.of_omni[k] for k in clauses(weave.omni, old.in_omni) if weave.of_omni[k].kept]
        inside = [weave.of_omni[k] for k in in_suite(weave.omni, old.in_omni)]
        new = {strand.parent for strand in inside if strand.sides == "bou"}
        head = new.pop() if len(new) == 1 else None
        if head is None or head.sides != "u" or not head.kept or head in taken:
            continue
        if any_node(weave, head).keyword == any_node(weave, old).keyword:
            for clause in mine:
                clause.owner, clause.parent = head, head.parent


def is_inside(strand: Strand | None, outer: Strand) -> bool:
    """Whether a strand is ``outer`` or stands below it: a suite that the one side put around some statements must not
    end up inside one of the other side's that is inside itself."""
    return strand is not None and (strand is outer or outer in strand.around())


def _link(weave: Weave, strand: Strand, side: str, name: str) -> Strand | None:
    """The ``"parent"`` or ``"owner"`` of a strand on one side; ``None`` without one, and where the side lacks it."""
    if side not in strand.sides:
        return None
    (nodes, of), index = weave.side(side), strand.on(side)
    link = nodes[index].parent if name == "parent" else nodes[index].owner
    return of[link] if link != ROOT else None


def home(weave: Weave, strand: Strand) -> Strand | None:
    """The innermost kept suite around a strand, on upstream's side, else omni's, else the base's."""
    side = strand.sides[-1]
    above = _link(weave, strand, side, "parent")
    while above is not None and not above.kept:
        above = _link(weave, above, side if side in above.sides else above.sides[-1], "parent")
    return above


def _merge_link(weave: Weave, strand: Strand, name: str, policy: Policy) -> Strand | None:
    """The merged parent or owner. The side that changed it wins; if both did, upstream in a copy, else omni; but a
    side's new suite around the strand is not lost by that."""
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
    """The new suite that upstream put around a suite which omni removed from around a statement: the statement goes
    into the new one all the same. ``None`` if omni has a suite of its own instead."""
    while suite is not None and suite.sides == "bu" and not suite.kept:
        then, suite = (_link(weave, suite, side, name) for side in "bu")
        if suite is not then and _is_wrapper(suite, "u"):
            return suite if omni is then else None
    return None


def _is_wrapper(strand: Strand | None, side: str) -> bool:
    """Whether a strand is a kept head that only this side has."""
    return strand is not None and strand.sides == side and strand.kept


def _follow_siblings(
    weave: Weave, strand: Strand, side: str, policy: Policy, place: Mapping[Strand, int]
) -> Strand | None:
    """The suite of an addition: the one that its nearest shared siblings are in now.

    If the two siblings are in different suites, it is the innermost around both, or, where the second went inside the
    first, the second one's; the first one's where the addition's side enters the same context managers (`_enters`). A
    suite of omni's around statements that upstream moved goes with them (`_wrapped`).

    The addition stays where it was if that suite begins behind it (``place`` is each strand's place in the result), or
    as `_leaves_its_loop`, `_is_around_others` and `_needs_no_condition` say.
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
        both = before.parent if _enters(weave, strand, before, both) else both
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
    """Whether a statement is inside another one, or inside a clause of it."""
    return any(head in (above, above.owner) for above in strand.around())


def _around_both(first: Strand, second: Strand) -> Strand | None:
    """The innermost suite around both statements; ``None`` for the unit itself."""
    return next((suite for suite in first.around() if is_inside(second.parent, suite)), None)


def _enters(weave: Weave, addition: Strand, before: Strand, outer: Strand | None) -> bool:
    """Whether all suites around ``before`` inside ``outer`` are ``with`` statements whose context managers the addition
    has around it on its own side, too: there in one ``with``, say, of which the other side made two."""
    nodes, _ = weave.side(addition.sides)
    around = (nodes[k] for k in ancestors(nodes, addition.on(addition.sides)))
    entered = {manager for head in around for manager in head.facts.enters}
    inner = list(takewhile(lambda suite: suite is not outer, before.around()))
    managers = [any_node(weave, suite).facts.enters for suite in inner]
    return bool(inner) and all(one and one <= entered for one in managers)


def _has_stayed(of: Sequence[Strand], nodes: Nodes, index: int) -> bool:
    """Whether the suite that a statement has on its side is in the result, so that it can stay there."""
    above = nodes[index].parent
    return above == ROOT or of[above].kept


def _leaves_its_loop(weave: Weave, strand: Strand, above: Strand | None) -> bool:
    """Whether an addition would move, with its siblings, out of a loop that upstream removed to where there is none:
    there it would run once, and ``break`` would be no Python."""
    loop = strand.parent
    if loop is None or loop.sides != "bo" or not any_node(weave, loop).is_loop:
        return False
    return above is None or not any(any_node(weave, head).is_loop for head in (above, *above.around()))


def _needs_no_condition(weave: Weave, suite: Strand | None, last: Strand | None) -> bool:
    """Whether what upstream added behind ``last``, at the end of its suite, need not go under the condition ``suite``
    that omni put around ``last``, because it uses nothing that is set under it."""
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
    """The suite into which upstream moved a statement that omni had wrapped into a suite of its own: the wrapper goes
    there, too. ``None`` if upstream moved nothing in it."""
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
    """Whether a new suite stays where it is, whatever became of its neighbours, because the statements inside it are
    not in ``above`` on the side that has ``above``. Judged by the first of them that all three texts have."""
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
    """The nearest kept statement before (-1) or behind (1) an addition that its side shares with another."""
    nodes, of = weave.side(addition.sides)
    around = (of[k] for k in siblings(nodes, addition.on(addition.sides), step=step))
    return next((strand for strand in around if len(strand.sides) > 1 and strand.kept), None)
