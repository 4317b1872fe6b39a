"""Find the suite of each strand of a weave.

Comes in: a ``Weave`` and its strands in order. Goes out: the strands with their parents. May touch: ``owner`` and
``parent`` of the strands.

Like texts, parents are merged three-way, as in the 3DM merge of ordered trees (Lindholm, "A three-way merge for XML
documents", 2004).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import takewhile

from runner_sync.merge.placing.interleaving import interleave
from runner_sync.merge.policy import Policy
from runner_sync.merge.weave import (
    Nodes,
    Strand,
    Weave,
    find_beside,
    other_side,
    pick_node,
    strands_in_suite,
    strands_inside,
)
from runner_sync.statements import ROOT, ancestors, below, clauses, siblings
from runner_sync.statements.dataflow import uses_anything_of


def set_parents(weave: Weave, strands: Sequence[Strand], policy: Policy) -> None:
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
    _return_to_own_suites(weave, strands)
    _hand_over_clauses(weave, strands)


def _return_to_own_suites(weave: Weave, strands: Sequence[Strand]) -> None:
    """Move an addition back into its side's new suite if a sibling that it had followed out is back there."""
    for strand in strands:
        if strand.sides not in ("o", "u") or not strand.kept:
            continue
        own = _find_link(weave, strand, strand.sides, "parent")
        if own is None or own is strand.parent or own.sides != strand.sides or not own.kept or is_inside(own, strand):
            continue
        around = [_find_sibling(weave, strand, step) for step in (-1, 1)]
        if any(sibling is not None and sibling.parent is own for sibling in around):
            strand.parent = own


def _hand_over_clauses(weave: Weave, strands: Sequence[Strand]) -> None:
    """Attach a kept omni clause to the new upstream statement that replaces its own removed statement.

    Without a clause, its suite would run unconditionally. The new statement must have the same keyword, enclose
    everything that upstream keeps of the old suite, and have no clause yet.
    """
    taken = {strand.owner for strand in strands if strand.kept and strand.owner is not None}
    for old in strands:
        if old.kept or old.sides != "bo":
            continue
        kept_clauses = [weave.of_omni[k] for k in clauses(weave.omni, old.in_omni) if weave.of_omni[k].kept]
        new = {strand.parent for strand in strands_in_suite(weave, old, "o") if strand.sides == "bou"}
        head = new.pop() if len(new) == 1 else None
        if head is None or head.sides != "u" or not head.kept or head in taken:
            continue
        if pick_node(weave, head).keyword == pick_node(weave, old).keyword:
            for clause in kept_clauses:
                clause.owner, clause.parent = head, head.parent


def is_inside(strand: Strand | None, outer: Strand) -> bool:
    """Whether a strand is ``outer`` or stands below it.

    A suite that one side put around statements must not end up inside a suite of the other side that it encloses.
    """
    return strand is not None and (strand is outer or outer in strand.around())


def _find_link(weave: Weave, strand: Strand, side: str, name: str) -> Strand | None:
    """Return a strand's ``"parent"`` or ``"owner"`` on one side; ``None`` without one, or if the side lacks it."""
    if side not in strand.sides:
        return None
    (nodes, strands), index = weave.side(side), strand.on(side)
    link = nodes[index].parent if name == "parent" else nodes[index].owner
    return strands[link] if link != ROOT else None


def find_kept_suite(weave: Weave, strand: Strand) -> Strand | None:
    """Return the innermost kept suite around a strand on upstream's side, else omni's, else the base's."""
    side = strand.sides[-1]
    suite = _find_link(weave, strand, side, "parent")
    while suite is not None and not suite.kept:
        suite = _find_link(weave, suite, side if side in suite.sides else suite.sides[-1], "parent")
    return suite


def _merge_link(weave: Weave, strand: Strand, name: str, policy: Policy) -> Strand | None:
    """Merge the parent or owner of a strand.

    The side that changed it wins. If both did, upstream wins in a copy, else omni. A new suite that one side put around
    the strand is not lost by this.
    """
    base, omni, upstream = (_find_link(weave, strand, side, name) for side in "bou")
    if strand.sides == "bou" and upstream is base:
        around = _find_suite_around_removed(weave, upstream, omni, name)
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
    if strand.sides == "ou" and side == "u" and _is_wrapper(omni, "o") and _is_within(weave, omni, link):
        return omni
    while link is not None and not link.kept:
        link = _find_link(weave, link, side if side in link.sides else link.sides[-1], name)
    return link


def _find_suite_around_removed(weave: Weave, suite: Strand | None, omni: Strand | None, name: str) -> Strand | None:
    """Return upstream's new suite around a base suite that omni removed from around a statement.

    The statement goes into the new suite although the suite between them is gone. ``None`` if omni has a suite of its
    own instead.
    """
    while suite is not None and suite.sides == "bu" and not suite.kept:
        old_suite, suite = (_find_link(weave, suite, side, name) for side in "bu")
        if suite is not old_suite and _is_wrapper(suite, "u"):
            return suite if omni is old_suite else None
    return None


def _is_within(weave: Weave, omni: Strand | None, suite: Strand | None) -> bool:
    """Whether an omni suite is inside the kept ``suite`` on omni's side; ``True`` if ``suite`` is the unit or gone."""
    if suite is None or not suite.kept:
        return True
    while omni is not None and omni is not suite:
        omni = _find_link(weave, omni, "o", "parent")
    return omni is suite


def _is_wrapper(strand: Strand | None, side: str) -> bool:
    """Whether a strand is kept and only this side has it."""
    return strand is not None and strand.sides == side and strand.kept


def _follow_siblings(
    weave: Weave, strand: Strand, side: str, policy: Policy, place: Mapping[Strand, int]
) -> Strand | None:
    """Return the suite of an addition: the suite that its nearest shared siblings are in now.

    If the two siblings are in different suites, the addition goes into the innermost suite around both. It follows the
    second sibling if that went inside the first, and the first if its side enters the same context managers
    (`_enters_same_contexts`). An omni suite around statements that upstream moved goes with them
    (`_find_suite_of_wrapped`).

    The addition stays in its old suite if the new one begins behind it (``place`` is the position of each strand in the
    result), or for the reasons of `_leaves_its_loop`, `_is_around_others` and `_needs_no_condition`.
    """
    nodes, strands = weave.side(side)
    index = strand.on(side)
    wrapped = _find_suite_of_wrapped(weave, index, policy) if side == "o" else None
    if wrapped is not None and wrapped is not strand and wrapped.kept:
        return wrapped
    before, after = (_find_sibling(weave, strand, step) for step in (-1, 1))
    options = [s.parent for s in (before, after) if s is not None]
    if before is not None and after is not None and before.parent is not after.parent:
        both = after.parent if _is_in_clause(after, before) else _find_common_suite(before, after)
        both = before.parent if _enters_same_contexts(weave, strand, before, both) else both
        options = [both] if strand.parent is None or is_inside(both, strand.parent) else []
    if options and options[0] is not strand:
        suite = options[0]
        begins_behind = suite is not None and place[suite] > place[strand]
        stays = begins_behind or _leaves_its_loop(weave, strand, suite) or _is_around_others(weave, strand, side, suite)
        is_free = after is None and side == "u" and _is_suite_kept(strands, nodes, index)
        stays = stays or (is_free and _needs_no_condition(weave, suite, before))
        return strand.parent if stays else suite
    return strand.parent


def _is_in_clause(strand: Strand, head: Strand) -> bool:
    """Whether a statement is inside another one or inside one of its clauses."""
    return any(head in (above, above.owner) for above in strand.around())


def _find_common_suite(first: Strand, second: Strand) -> Strand | None:
    """Return the innermost suite around both statements; ``None`` for the unit."""
    return next((suite for suite in first.around() if is_inside(second.parent, suite)), None)


def _enters_same_contexts(weave: Weave, addition: Strand, before: Strand, outer: Strand | None) -> bool:
    """Whether the suites around ``before`` inside ``outer`` only enter context managers that also enclose the addition.

    ``addition`` is judged on its own side. For example, one side splits a ``with`` statement that the other side keeps.
    """
    nodes, _ = weave.side(addition.sides)
    around = (nodes[k] for k in ancestors(nodes, addition.on(addition.sides)))
    entered = {manager for head in around for manager in head.facts.enters}
    inner = list(takewhile(lambda suite: suite is not outer, before.around()))
    managers = [pick_node(weave, suite).facts.enters for suite in inner]
    return bool(inner) and all(one and one <= entered for one in managers)


def _is_suite_kept(strands: Sequence[Strand], nodes: Nodes, index: int) -> bool:
    """Whether the suite around a statement on its side is in the result, so that the statement can stay there."""
    above = nodes[index].parent
    return above == ROOT or strands[above].kept


def _leaves_its_loop(weave: Weave, strand: Strand, above: Strand | None) -> bool:
    """Whether an addition would follow its siblings out of a loop that upstream removed.

    Outside any loop it would run once, and ``break`` would be a syntax error.
    """
    loop = strand.parent
    if loop is None or loop.sides != "bo" or not pick_node(weave, loop).is_loop:
        return False
    return above is None or not any(pick_node(weave, head).is_loop for head in (above, *above.around()))


def _needs_no_condition(weave: Weave, suite: Strand | None, last: Strand | None) -> bool:
    """Whether upstream's additions behind ``last`` can stay outside the omni condition ``suite`` around ``last``.

    They can if they stand at the end of their suite and use nothing that is set under the condition.
    """
    if suite is None or suite.sides != "o" or last is None:
        return False
    head = weave.omni[suite.in_omni]
    if not head.is_condition:
        return False
    inside = [weave.omni[k] for k in below(weave.omni, suite.in_omni)]
    end = below(weave.upstream, last.in_upstream)[-1]
    added = (k for k in siblings(weave.upstream, last.in_upstream, step=1) if k > end)
    return not uses_anything_of(inside, [weave.upstream[k] for top in added for k in below(weave.upstream, top)])


def _find_suite_of_wrapped(weave: Weave, wrapper: int, policy: Policy) -> Strand | None:
    """Return the suite into which upstream moved a statement that omni wrapped: the wrapper goes there, too.

    ``None`` if upstream moved nothing in the wrapper.
    """
    if not weave.omni[wrapper].compound:
        return None
    suites = {wrapper, *clauses(weave.omni, wrapper)}
    for k in range(wrapper + 1, len(weave.omni)):
        if weave.omni[k].parent not in suites:
            continue
        strand = weave.of_omni[k]
        if strand.sides == "bou" and strand.kept:
            old_suite, above = (_find_link(weave, strand, side, "parent") for side in "bu")
            if above is old_suite:
                return _find_suite_around_removed(
                    weave, above, strand.parent and _find_link(weave, weave.of_omni[wrapper], "o", "parent"), "parent"
                )
            return above if policy.is_copy else None
    return None


def _is_around_others(weave: Weave, wrapper: Strand, side: str, above: Strand | None) -> bool:
    """Whether a new suite stays in place because its statements are not in ``above`` on the side that has ``above``.

    Judged by the first of its statements that all three texts have.
    """
    other = other_side(side)
    if above is None or other not in above.sides or not pick_node(weave, wrapper).compound:
        return False
    inside = strands_inside(weave, wrapper, side)
    first = next((strand for strand in inside if strand.sides == "bou" and strand.kept), None)
    suite = first and _find_link(weave, first, other, "parent")
    while suite is not None and suite is not above:
        suite = _find_link(weave, suite, other, "parent")
    return first is not None and suite is None


def _find_sibling(weave: Weave, addition: Strand, step: int) -> Strand | None:
    """Return the nearest kept statement before (-1) or behind (1) an addition that its side shares with another."""
    return find_beside(weave, addition, addition.sides, step, lambda strand: len(strand.sides) > 1 and strand.kept)
