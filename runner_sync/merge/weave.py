"""Three node sequences → one, with what became of every node.

Comes in: the flattened base, omni and upstream. Goes out: ``Strand`` values in output order, each with the nodes it
stands for on the three sides and its enclosing strand. May touch: nothing.

The sequences are aligned base↔omni and base↔upstream; a strand is one class of aligned nodes. Order is a diff3 over the
strands that all sides know, and between them the omni and upstream additions in the order of the base text they stand
next to. Nesting is merged separately (the parent of a node is one more thing that a side can have changed), after the
3DM merge of ordered trees (Lindholm, "A three-way merge for XML documents", 2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from runner_sync.merge.align import Suite, align, alike, common, pair_similar, similarity, suites
from runner_sync.merge.branches import are_branches
from runner_sync.merge.policy import Policy
from runner_sync.merge.reason import Reason
from runner_sync.statements import ROOT, Node

Nodes = Sequence[Node]


@dataclass(eq=False)
class Strand:
    """One class of aligned nodes: an index on each side, or ``None`` where the side does not have it.

    ``carried`` is its text where a change of omni's went to another statement than the one that omni has it in.
    """

    base: int | None = None
    omni: int | None = None
    upstream: int | None = None
    kept: bool = True
    parent: Strand | None = None
    owner: Strand | None = None
    carried: str = ""

    @property
    def sides(self) -> str:
        """Which sides have it: a subset of ``"bou"``."""
        first = "" if self.base is None else "b"
        second = first if self.omni is None else f"{first}o"
        return second if self.upstream is None else f"{second}u"


@dataclass
class Weave:
    """The classes of one triple and the strand of every node of every side."""

    base: Nodes
    omni: Nodes
    upstream: Nodes
    of_base: list[Strand] = field(default_factory=list)
    of_omni: list[Strand] = field(default_factory=list)
    of_upstream: list[Strand] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Doubt:
    """A decision that a person must look at, before it has a line. ``instead`` is what stands for the strand now."""

    strand: Strand
    reason: Reason
    confidence: float
    instead: Strand | None = None


def any_node(weave: Weave, strand: Strand) -> Node:
    """A node of the strand: omni's, else upstream's, else the base's."""
    if strand.omni is not None:
        return weave.omni[strand.omni]
    if strand.upstream is not None:
        return weave.upstream[strand.upstream]
    assert strand.base is not None
    return weave.base[strand.base]


def classify(base: Nodes, omni: Nodes, upstream: Nodes) -> Weave:
    """Put every node of the three sides into a strand."""
    weave = Weave(base, omni, upstream, [Strand(base=i) for i in range(len(base))])
    in_omni = {p.right: p.left for p in align(base, omni)}
    in_upstream = {p.right: p.left for p in align(base, upstream)}
    for j in range(len(omni)):
        strand = weave.of_base[in_omni[j]] if j in in_omni else Strand()
        strand.omni = j
        weave.of_omni.append(strand)
    for j in range(len(upstream)):
        strand = weave.of_base[in_upstream[j]] if j in in_upstream else Strand()
        strand.upstream = j
        weave.of_upstream.append(strand)
    inner = suites(omni), suites(upstream)
    for o, u in _gaps(weave):
        _join_alternatives(weave, o, u, inner)
    _pair_moved(weave, inner[0])
    for o, u in _gaps(weave):
        _join_additions(weave, o, u, inner)
    _join_clauses(weave)
    return weave


def _pair_moved(weave: Weave, inner: Sequence[Suite]) -> None:
    """A statement of the base that upstream removed or rewrote, and that omni has at another place: omni moved it.

    Only one that stands once in omni's text and says enough; a suite only with all that is in it.
    """
    new = {_moved_key(node, inner[j]): j for j, node in enumerate(weave.omni) if weave.of_omni[j].sides == "o"}
    for node, strand, inside in zip(weave.base, weave.of_base, suites(weave.base), strict=True):
        j = new.get(_moved_key(node, inside))
        if j is None or strand.sides != "b" or not _is_telling(node):
            continue
        strand.omni = j
        weave.of_omni[j] = strand


def _moved_key(node: Node, suite: Suite) -> tuple[str, frozenset[tuple[str, int]]]:
    return node.canon, frozenset(suite.items())


def _is_telling(node: Node) -> bool:
    return not node.is_comment and not node.is_clause and node.weight >= 1


def _gaps(weave: Weave) -> list[tuple[range, range]]:
    """The index ranges of omni and upstream between consecutive strands that all three sides have."""
    gaps = []
    o = u = 0
    for strand in weave.of_base:
        if strand.omni is not None and strand.upstream is not None:
            gaps.append((range(o, strand.omni), range(u, strand.upstream)))
            o, u = strand.omni + 1, strand.upstream + 1
    return [*gaps, (range(o, len(weave.omni)), range(u, len(weave.upstream)))]


def _join_additions(weave: Weave, o: range, u: range, inner: tuple[list[Suite], list[Suite]]) -> None:
    """What both sides added in one gap is one strand: the same statement, or two versions of it."""
    left = [j for j in o if weave.of_omni[j].base is None]
    right = [j for j in u if weave.of_upstream[j].base is None]
    if not left or not right:
        return
    nodes_l, nodes_r = [weave.omni[j] for j in left], [weave.upstream[j] for j in right]
    inner_l, inner_r = [inner[0][j] for j in left], [inner[1][j] for j in right]
    pairs = [(a, b) for a, b in common(nodes_l, nodes_r) if alike(nodes_l[a], nodes_r[b], inner_l[a], inner_r[b]) == 1]
    i = k = 0
    joined = list(pairs)
    for a, b in [*pairs, (len(left), len(right))]:
        sides = (nodes_l[i:a], nodes_r[k:b], inner_l[i:a], inner_r[k:b])
        gap = pair_similar(*sides, similar=VERSION, measure=_as_versions)
        joined += [(i + x, k + y) for x, y in gap]
        i, k = a + 1, b + 1
    for a, b in sorted(joined):
        if _in_one_place(weave, left[a], right[b]):
            strand = weave.of_omni[left[a]]
            strand.upstream = right[b]
            weave.of_upstream[right[b]] = strand


def _join_alternatives(weave: Weave, o: range, u: range, inner: tuple[list[Suite], list[Suite]]) -> None:
    """Where the base has a statement twice, in two branches of one condition, and each side one of the two: one strand.

    Else each side's would be a removal of the other's, and the statement would be gone. Under conditions of their own
    they are two statements: one that upstream removed, and one that omni did.
    """
    left = [j for j in o if weave.of_omni[j].sides == "bo"]
    right = [k for k in u if weave.of_upstream[k].sides == "bu"]
    sides = [weave.omni[j] for j in left], [weave.upstream[k] for k in right]
    found = pair_similar(*sides, [inner[0][j] for j in left], [inner[1][k] for k in right], similar=VERSION)
    for a, b in found:
        strand, other = weave.of_omni[left[a]], weave.of_upstream[right[b]]
        first, second = strand.base or 0, other.base or 0
        is_alike = similarity(weave.base[first], weave.base[second]) >= VERSION
        if weave.base[first].weight >= 1 and is_alike and are_branches(weave.base, first, second):
            strand.upstream, other.upstream = right[b], None
            weave.of_upstream[right[b]] = strand


def _join_clauses(weave: Weave) -> None:
    """The same clause that both sides added to one statement is one, whatever is inside: no ``try`` has two
    ``finally``."""
    for j, node in enumerate(weave.omni):
        if not node.is_clause or weave.of_omni[j].sides != "o":
            continue
        for u, other in enumerate(weave.upstream):
            strand = weave.of_upstream[u]
            if strand.sides == "u" and other.is_clause and other.canon == node.canon and _in_one_place(weave, j, u):
                weave.of_upstream[u] = weave.of_omni[j]
                weave.of_omni[j].upstream = u


def _as_versions(a: Node, b: Node, inside_a: Suite, inside_b: Suite) -> float:
    """Similarity of two additions; those that bind the same names to the value of the same function are versions."""
    share = alike(a, b, inside_a, inside_b)
    return max(share, VERSION) if a.made_by and a.made_by == b.made_by else share


def _in_one_place(weave: Weave, o: int, u: int) -> bool:
    """Whether two additions can be one: in the same suite, and clauses of the same statement.

    The same statement may stand in two suites when it says enough; an ``else`` or a version of it may not.
    """
    omni, upstream = weave.omni[o], weave.upstream[u]
    if omni.is_clause or upstream.is_clause:
        return _is_one_strand(weave, omni.owner, upstream.owner)
    same = omni.canon == upstream.canon or (omni.made_by and omni.made_by == upstream.made_by)
    return _is_one_strand(weave, omni.parent, upstream.parent) or (bool(same) and omni.weight >= 1)


def _is_one_strand(weave: Weave, o: int, u: int) -> bool:
    if ROOT in (o, u):
        return o == u
    return weave.of_omni[o] is weave.of_upstream[u]


VERSION = 0.8
"""Dice coefficient of words from which on two additions are versions of one statement; a judgement: well above
``SIMILAR``, for there is no base to compare with."""


def order(weave: Weave, policy: Policy) -> list[Strand]:
    """Every strand once, in output order (kept or not)."""
    if policy.updates_only:
        return list(weave.of_omni)
    out: list[Strand] = []
    o = u = 0
    anchors = [s for s in weave.of_omni if s.upstream is not None]
    for anchor in [*anchors, None]:
        end_o = anchor.omni if anchor is not None else len(weave.omni)
        end_u = anchor.upstream if anchor is not None else len(weave.upstream)
        assert end_o is not None
        assert end_u is not None
        behind = next((s.base for s in reversed(weave.of_omni[:o]) if s.base is not None), -1)
        out += _interleave(weave, weave.of_omni[o:end_o], weave.of_upstream[u:end_u], policy, behind)
        if anchor is not None:
            out.append(anchor)
        o, u = end_o + 1, end_u + 1
    return out


def _interleave(weave: Weave, omni: list[Strand], upstream: list[Strand], policy: Policy, behind: int) -> list[Strand]:
    """Two runs without a common strand: each addition goes behind the base text it follows, or where the base text
    stood that it replaces. ``behind`` is the base index that both runs follow."""
    rank = 0 if policy.first == "upstream" else 2
    rows = [*_places(weave, upstream, rank, behind, "upstream"), *_places(weave, omni, 1, behind, "omni")]
    return [strand for *_, strand in sorted(rows, key=lambda row: row[:3])]


def _places(weave: Weave, run: list[Strand], side: int, behind: int, name: str) -> list[tuple[float, int, int, Strand]]:
    place: float = behind
    rows = []
    for k, strand in enumerate(run):
        if strand.base is not None:
            place = strand.base
        else:
            place = _replaced(weave, place, name)
        rows.append((place, side, k, strand))
    return rows


def _replaced(weave: Weave, place: float, name: str) -> float:
    """The place of an addition behind base statement ``place``: that of the statement the side has removed there."""
    following = int(place) + 1
    if place != int(place) or following >= len(weave.of_base):
        return place
    return following - 0.5 if getattr(weave.of_base[following], name) is None else place


def parents(weave: Weave, strands: Sequence[Strand], policy: Policy) -> None:
    """Settle the enclosing strand and the clause owner of every kept strand."""
    for strand in strands:
        strand.parent = _merge_link(weave, strand, "parent", policy)
        strand.owner = _merge_link(weave, strand, "owner", policy)
    for strand in [] if policy.updates_only else strands:
        if strand.sides in ("o", "u") and strand.kept:
            above = _follow_siblings(weave, strand, strand.sides, policy)
            if not _is_inside(above, strand):
                strand.parent = above


def _is_inside(strand: Strand | None, outer: Strand) -> bool:
    """Two suites that the sides put around the same neighbours must not end up inside each other."""
    while strand is not None and strand is not outer:
        strand = strand.parent
    return strand is outer


def _link(weave: Weave, strand: Strand, side: str, name: str) -> Strand | None:
    nodes, of, index = {
        "b": (weave.base, weave.of_base, strand.base),
        "o": (weave.omni, weave.of_omni, strand.omni),
        "u": (weave.upstream, weave.of_upstream, strand.upstream),
    }[side]
    if index is None:
        return None
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
    match strand.sides:
        case "o" | "bo":
            side, link = "o", omni
        case sides if policy.updates_only and "o" in sides:
            side, link = "o", omni
        case "u" | "bu":
            side, link = "u", upstream
        case "bou" if upstream is base or (omni is not base and _is_wrapper(omni, "o")):
            side, link = "o", omni
        case "bou" | "ou" if policy.nesting == "omni" and not _is_wrapper(upstream, "u"):
            side, link = "o", omni
        case _:
            side, link = "u", upstream
    if side == "o" and link is not None and not link.kept and _is_wrapper(upstream, "u"):
        return upstream
    while link is not None and not link.kept:
        link = _link(weave, link, side if side in link.sides else link.sides[-1], name)
    return link


def _is_wrapper(strand: Strand | None, side: str) -> bool:
    return strand is not None and strand.sides == side and strand.kept


def _follow_siblings(weave: Weave, strand: Strand, side: str, policy: Policy) -> Strand | None:
    """An addition stays among its siblings: where they went into another suite, it goes with them."""
    of = weave.of_omni if side == "o" else weave.of_upstream
    nodes = weave.omni if side == "o" else weave.upstream
    index = strand.omni if side == "o" else strand.upstream
    assert index is not None
    mine = nodes[index].parent
    wrapped = _wrapped(weave, index) if side == "o" and policy.nesting == "upstream" else None
    if wrapped is not None and wrapped is not strand and wrapped.kept:
        return wrapped
    before = _sibling(of, nodes, range(index - 1, -1, -1), mine)
    after = _sibling(of, nodes, range(index + 1, len(nodes)), mine)
    options = [s.parent for s in (before, after) if s is not None]
    if options and all(p is options[0] for p in options) and options[0] is not strand:
        return options[0]
    return strand.parent


def _wrapped(weave: Weave, wrapper: int) -> Strand | None:
    """Where upstream put a statement that omni had wrapped into an own suite: the suite belongs there."""
    if not weave.omni[wrapper].compound:
        return None
    suites_ = {wrapper, *_clauses_of(weave, wrapper)}
    for k in range(wrapper + 1, len(weave.omni)):
        if weave.omni[k].parent not in suites_:
            continue
        strand = weave.of_omni[k]
        if strand.sides == "bou" and strand.kept:
            above = _link(weave, strand, "u", "parent")
            return above if above is not _link(weave, strand, "b", "parent") else None
    return None


def _clauses_of(weave: Weave, index: int) -> list[int]:
    return [k for k, node in enumerate(weave.omni) if node.owner == index]


def _sibling(of: Sequence[Strand], nodes: Nodes, indices: range, parent: int) -> Strand | None:
    for k in indices:
        if k == parent:
            return None
        if nodes[k].parent == parent and len(of[k].sides) > 1 and of[k].kept and not nodes[k].is_comment:
            return of[k]
    return None


def runs(strands: Sequence[Strand]) -> list[list[Strand]]:
    """Strands between two that both omni and upstream have."""
    runs: list[list[Strand]] = [[]]
    for strand in strands:
        if strand.omni is not None and strand.upstream is not None:
            runs.append([])
        else:
            runs[-1].append(strand)
    return runs
