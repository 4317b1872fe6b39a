"""Decide which nodes of base, omni and upstream are one strand.

Comes in: the flattened three sides. Goes out: a ``Weave``. May touch: ``moved``, ``omni`` and ``upstream`` of the
strands.

The base is aligned with both sides. Then strands are joined: additions of both sides that are the same, statements that
omni moved, and statements that the two sides kept from different branches of one condition.
"""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Collection, Sequence

from runner_sync.merge.matching.align import (
    Suite,
    add_only_statements,
    align,
    align_around,
    count_suites,
    find_common,
    measure_likeness,
    pair_similar,
)
from runner_sync.merge.matching.branches import are_branches
from runner_sync.merge.matching.by_other_side import agree_with_other_side, drop_false_places
from runner_sync.merge.matching.by_place import add_calls, add_checks, add_only_bindings, add_withs_by_names
from runner_sync.merge.matching.by_surroundings import correct_by_surroundings
from runner_sync.merge.matching.commonplace import is_frequent_exit
from runner_sync.merge.matching.pairs import Pair, Partners
from runner_sync.merge.phrases.phrase import is_part_of
from runner_sync.merge.weave import LAST_CLAUSES, Nodes, Strand, Weave
from runner_sync.statements import ROOT, Node
from runner_sync.statements.dataflow import rebinds, sets
from runner_sync.statements.likeness import VERSION, similarity
from runner_sync.thresholds import SIMILAR


def classify(base: Nodes, omni: Nodes, upstream: Nodes, *, is_copy: bool, firm: Collection[str] = frozenset()) -> Weave:
    """Put every node of the three sides into a strand.

    ``firm`` statements did not move when upstream has others on their other side (`align_around`).

    Omni's ``with`` are also paired with the base's by the names that they bind (`add_withs_by_names`). Unless
    ``is_copy``, such a pair requires that upstream put no other block around: omni does other things inside, and that
    block would not fit.
    """
    weave = Weave(base, omni, upstream, [Strand(base=i) for i in range(len(base))])
    of_upstream = add_only_statements(base, upstream, align_around(base, upstream, firm))
    of_upstream = add_calls(base, upstream, add_only_bindings(base, upstream, of_upstream))
    aligned = align(base, omni)
    of_omni = add_withs_by_names(base, omni, aligned)
    if not is_copy:
        stays = _find_in_same_suite(base, upstream, of_upstream)
        of_omni = [pair for pair in of_omni if pair.left in stays or pair in aligned]
    of_omni = correct_by_surroundings(base, omni, of_omni, of_upstream)
    of_omni = agree_with_other_side(base, omni, upstream, of_omni, of_upstream)
    of_upstream = _add_checks_that_omni_lacks(base, upstream, of_upstream, of_omni)
    pairs = drop_false_places(base, omni, upstream, of_omni, of_upstream)
    in_omni, in_upstream = _drop_false_versions(weave, *pairs)
    for j in range(len(omni)):
        strand = weave.of_base[in_omni[j]] if j in in_omni else Strand()
        strand.omni = j
        weave.of_omni.append(strand)
    for j in range(len(upstream)):
        strand = weave.of_base[in_upstream[j]] if j in in_upstream else Strand()
        strand.upstream = j
        weave.of_upstream.append(strand)
    inner = count_suites(omni), count_suites(upstream)
    for o, u in find_gaps(weave):
        _join_alternatives(weave, o, u, inner)
    _pair_moved(weave, inner[0])
    for o, u in find_gaps(weave):
        _join_additions(weave, o, u, inner)
    _join_clauses(weave)
    return weave


def _add_checks_that_omni_lacks(
    base: Nodes, upstream: Nodes, pairs: Sequence[Pair], of_omni: Sequence[Pair]
) -> list[Pair]:
    """Pair an ``assert`` that omni removed with the ``if`` that upstream has instead, which omni lacks, too."""
    kept = {pair.left for pair in of_omni}
    known = {pair.left: pair for pair in pairs}
    found = (pair for pair in add_checks(base, upstream, pairs) if pair.left in known or pair.left not in kept)
    return list(found)


def _find_in_same_suite(base: Nodes, nodes: Nodes, pairs: Sequence[Pair]) -> set[int]:
    """Return the base indices of the statements that stand in the same suite on the other side."""
    partners = Partners(pairs)
    return {pair.left for pair in pairs if partners.are_in_one_suite(base[pair.left], nodes[pair.right])}


def _drop_false_versions(
    weave: Weave, of_omni: Sequence[Pair], of_upstream: Sequence[Pair]
) -> tuple[dict[int, int], dict[int, int]]:
    """Return ``{index: index in the base}`` for omni and for upstream, without false versions.

    A false version merely resembles its base statement, and the other side added the very same text at that place: both
    sides made this addition.
    """
    in_omni, in_upstream = ({pair.right: pair.left for pair in pairs} for pairs in (of_omni, of_upstream))
    shared = {pair.left for pair in of_omni if pair.equal} & {pair.left for pair in of_upstream if pair.equal}
    known = {node.canon for node in weave.base}
    false = _find_false_versions(weave.omni, weave.upstream, of_omni, of_upstream, shared)
    other = _find_false_versions(weave.upstream, weave.omni, of_upstream, of_omni, shared)
    return (
        {j: i for j, i in in_omni.items() if j not in false or weave.omni[j].canon in known},
        {j: i for j, i in in_upstream.items() if j not in other or weave.upstream[j].canon in known},
    )


def _find_false_versions(
    nodes: Nodes, others: Nodes, pairs: Sequence[Pair], of_others: Sequence[Pair], shared: Collection[int]
) -> set[int]:
    """Return the nodes paired as edited base statements though the other side added the same text in the same gap.

    A gap lies between two nodes that all three sides have unchanged; ``shared`` are the indices of these in the base.
    """
    loose = [
        pair.right
        for pair in pairs
        if not pair.equal and nodes[pair.right].is_telling and not nodes[pair.right].is_clause
    ]
    paired = {pair.right for pair in of_others}
    added = [k for k in range(len(others)) if k not in paired]
    if not loose or not added:
        return set()
    marks, other_marks = (sorted(p.right for p in found if p.left in shared) for found in (pairs, of_others))
    places = {(others[k].canon, bisect(other_marks, k)) for k in added}
    return {j for j in loose if (nodes[j].canon, bisect(marks, j)) in places}


def _pair_moved(weave: Weave, inner: Sequence[Suite]) -> None:
    """Pair a base statement that upstream removed or rewrote with the place to which omni moved it.

    The statement must be telling and stand once among omni's own; a compound one must keep its whole suite unchanged.
    If upstream has it at the same new place, it is an addition of both sides instead.
    """
    new: dict[_MovedKey, list[int]] = defaultdict(list)
    both = {
        j
        for o, u in find_gaps(weave)
        for j in o
        if weave.of_omni[j].sides == "o"
        if any(weave.of_upstream[k].sides == "u" and weave.upstream[k].canon == weave.omni[j].canon for k in u)
    }
    for j, node in enumerate(weave.omni):
        if weave.of_omni[j].sides == "o":
            new[_get_moved_key(node, inner[j])].append(j)
    for node, strand, inside in zip(weave.base, weave.of_base, count_suites(weave.base), strict=True):
        places = new.get(_get_moved_key(node, inside), [])
        if len(places) != 1 or strand.sides != "b" or not node.is_telling or node.is_clause or is_frequent_exit(node):
            continue
        if both.intersection(places):
            continue
        strand.omni, strand.moved = places.pop(), True
        weave.of_omni[strand.omni] = strand


_MovedKey = tuple[str, frozenset[tuple[str, int]]]


def _get_moved_key(node: Node, suite: Suite) -> _MovedKey:
    return node.canon, frozenset(suite.items())


def find_gaps(weave: Weave) -> list[tuple[range, range]]:
    """Return the index ranges of omni and upstream between consecutive strands that all three sides have."""
    found = []
    o = u = 0
    for strand in weave.of_base:
        if strand.omni is not None and strand.upstream is not None:
            found.append((range(o, strand.omni), range(u, strand.upstream)))
            o, u = strand.omni + 1, strand.upstream + 1
    return [*found, (range(o, len(weave.omni)), range(u, len(weave.upstream)))]


def _join_additions(weave: Weave, o: range, u: range, inner: tuple[Sequence[Suite], Sequence[Suite]]) -> None:
    """Join what both sides added in one gap into one strand: the same statement, or two versions of it."""
    left = [j for j in o if weave.of_omni[j].base is None]
    right = [j for j in u if weave.of_upstream[j].base is None]
    if not left or not right:
        return
    nodes_l, nodes_r = [weave.omni[j] for j in left], [weave.upstream[j] for j in right]
    inner_l, inner_r = [inner[0][j] for j in left], [inner[1][j] for j in right]
    pairs = [
        (a, b)
        for a, b in find_common(nodes_l, nodes_r)
        if measure_likeness(nodes_l[a], nodes_r[b], inner_l[a], inner_r[b]) == 1
    ]
    i = k = 0
    joined = list(pairs)
    for a, b in [*pairs, (len(left), len(right))]:
        sides = (nodes_l[i:a], nodes_r[k:b], inner_l[i:a], inner_r[k:b])
        gap = pair_similar(*sides, similar=VERSION, measure=_measure_versions)
        joined += [(i + x, k + y) for x, y in gap]
        i, k = a + 1, b + 1
    for a, b in sorted(joined):
        if _are_in_one_place(weave, left[a], right[b]):
            strand = weave.of_omni[left[a]]
            strand.upstream = right[b]
            weave.of_upstream[right[b]] = strand


def _join_alternatives(weave: Weave, o: range, u: range, inner: tuple[Sequence[Suite], Sequence[Suite]]) -> None:
    """Join two statements from two branches of one condition in the base, if each side kept a different one.

    Unjoined, each would count as removed by the other side, and both would be lost. Under two separate conditions they
    stay apart: upstream removed one, omni the other.
    """
    left = [j for j in o if weave.of_omni[j].sides == "bo"]
    right = [k for k in u if weave.of_upstream[k].sides == "bu"]
    sides = [weave.omni[j] for j in left], [weave.upstream[k] for k in right]
    found = pair_similar(*sides, [inner[0][j] for j in left], [inner[1][k] for k in right], similar=VERSION)
    for a, b in found:
        strand, other = weave.of_omni[left[a]], weave.of_upstream[right[b]]
        first, second = strand.in_base, other.in_base
        is_alike = similarity(weave.base[first], weave.base[second]) >= VERSION
        if weave.base[first].is_telling and is_alike and are_branches(weave.base, first, second):
            strand.upstream, other.upstream = right[b], None
            weave.of_upstream[right[b]] = strand


def _join_clauses(weave: Weave) -> None:
    """Join the same clause of one statement on both sides, whatever is inside: no ``try`` has two ``finally``.

    A clause that may occur several times (``except KeyError``) is joined only if both sides added it; those of
    `LAST_CLAUSES` also if one or both are paired with a base clause.
    """
    for j, node in enumerate(weave.omni):
        if not node.is_clause or weave.of_omni[j].upstream is not None:
            continue
        for u, other in enumerate(weave.upstream):
            if other.canon == node.canon and _is_same_clause(weave, j, u):
                _join_clause(weave, j, u)
                break


def _is_same_clause(weave: Weave, j: int, u: int) -> bool:
    """Whether two equal clauses, one on each side and not yet joined, are to be one."""
    omni, upstream = weave.of_omni[j], weave.of_upstream[u]
    if upstream.omni is not None or not weave.upstream[u].is_clause or not _are_in_one_place(weave, j, u):
        return False
    return (omni.base is None and upstream.base is None) or weave.omni[j].canon in LAST_CLAUSES


def _join_clause(weave: Weave, j: int, u: int) -> None:
    """Make two clauses one strand, with a base clause if either has one; such a strand is ``joined``."""
    own, other = weave.of_omni[j], weave.of_upstream[u]
    if own.base is None and other.base is not None:
        other.omni, weave.of_omni[j] = j, other
    else:
        other.upstream, own.upstream, weave.of_upstream[u] = None, u, own
    if weave.of_omni[j].base is not None:
        weave.joined.add(weave.of_omni[j])


def _measure_versions(a: Node, b: Node, inside_a: Suite, inside_b: Suite) -> float:
    """Return the similarity of two additions, at least ``VERSION`` for two versions of one statement.

    Versions are docstrings, bind the same names to the value of the same function, set the same names to nearly the
    same expression, or are the same call, with more arguments on one side.
    """
    share = measure_likeness(a, b, inside_a, inside_b)
    is_one = (a.made_by and a.made_by == b.made_by) or _is_same_call(a, b) or a.kind == b.kind == "docstring"
    return max(share, VERSION) if is_one or (share >= SIMILAR and _is_same_assignment(a, b)) else share


def _is_same_call(a: Node, b: Node) -> bool:
    """Whether two statements call the same method of ``self``, and one merely passes more arguments."""
    if not a.called.startswith("self.") or a.called != b.called:
        return False
    return is_part_of(a.text, b.text) or is_part_of(b.text, a.text)


def _is_same_assignment(a: Node, b: Node) -> bool:
    """Whether two assignments set the same names, neither from a call nor from their old values.

    Two functions called, or two steps of a computation, are two statements.
    """
    is_plain = not (a.compound or a.made_by or b.made_by or rebinds(a) or rebinds(b))
    return is_plain and bool(sets(a)) and sets(a) == sets(b)


def _are_in_one_place(weave: Weave, o: int, u: int) -> bool:
    """Whether two additions may be one strand: they stand in the same suite, or are clauses of the same statement.

    In different suites, they must be telling and equal (or bind the same call's value). They are two things if each
    stands in a suite that its side added, and these suites stand in different ones. They also stay apart if omni runs
    the statement always and upstream only under a new condition.
    """
    omni, upstream = weave.omni[o], weave.upstream[u]
    if omni.is_clause or upstream.is_clause:
        return is_one_strand(weave, omni.owner, upstream.owner)
    if is_one_strand(weave, omni.parent, upstream.parent):
        return True
    same = omni.canon == upstream.canon or (omni.made_by and omni.made_by == upstream.made_by)
    if not same or not omni.is_telling or _are_apart(weave, omni.parent, upstream.parent):
        return False
    is_always = not _is_new_condition(weave.omni, weave.of_omni, omni.parent, "o")
    return not (is_always and _is_new_condition(weave.upstream, weave.of_upstream, upstream.parent, "u"))


def _is_new_condition(nodes: Nodes, strands: Sequence[Strand], head: int, side: str) -> bool:
    """Whether a head is a condition that only this side has."""
    return head != ROOT and strands[head].sides == side and nodes[head].is_condition


def _are_apart(weave: Weave, o: int, u: int) -> bool:
    """Whether two suites, each added by one side, stand in different suites."""
    if ROOT in (o, u) or weave.of_omni[o].base is not None or weave.of_upstream[u].base is not None:
        return False
    return not is_one_strand(weave, weave.omni[o].parent, weave.upstream[u].parent)


def is_one_strand(weave: Weave, o: int, u: int) -> bool:
    """Whether two suites, given by the indices of their heads, are the same strand; ``ROOT`` is the unit itself."""
    if ROOT in (o, u):
        return o == u
    return weave.of_omni[o] is weave.of_upstream[u]
