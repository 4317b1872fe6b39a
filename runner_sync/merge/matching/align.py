"""Pair the nodes of two sequences in order.

Comes in: two node sequences. Goes out: index pairs, increasing on both sides. May touch: nothing.

The first step is a maximum-weight common subsequence of equal nodes (Hunt and Szymanski's sparse formulation of the
longest common subsequence, *CACM* 20(5), 1977, with weights). The second pairs similar nodes of the same kind in the
gaps, optimally, so that a changed statement does not count as one deletion and one insertion.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from runner_sync.merge.matching.by_place import add_heads_of_equal_suites, add_last_returns, index_suites
from runner_sync.merge.matching.commonplace import add_clauses, is_commonplace, pair_commonplace
from runner_sync.merge.matching.pairs import Pair, Partners, index_unique
from runner_sync.statements import ROOT, Node, ancestors
from runner_sync.statements.dataflow import binds
from runner_sync.statements.likeness import similarity
from runner_sync.thresholds import CELLS, FIRM, SIMILAR, UNRELATED

Gap = Callable[[Sequence[Node], Sequence[Node]], bool]


def align(left: Sequence[Node], right: Sequence[Node], *, wanted: Gap | None = None) -> list[Pair]:
    """Return pairs of equal and, between them, similar nodes, increasing on both sides.

    ``wanted`` decides for each gap between equal nodes whether to pair similar ones in it; by default in all.
    """
    return _align(left, right, wanted) if wanted is not None else [*_align_everywhere(tuple(left), tuple(right))]


def align_around(left: Sequence[Node], right: Sequence[Node], firm: Collection[str]) -> list[Pair]:
    """Align two texts in which ``firm`` statements stay where they are, if a few others changed places with them.

    The order alone does not tell which of two statements moved::

        self.update(rows)            if self.is_done:
        if self.is_done:                 self.notify()
            self.notify()            self.update(rows)
    """
    pairs = align(left, right)
    partners = Partners(pairs)
    gone, come = (_index_unpaired(nodes, of) for nodes, of in ((left, partners.of_left), (right, partners.of_right)))
    moved = {
        canon
        for canon, k in gone.items()
        if canon in firm and canon in come and partners.are_in_one_suite(left[k], right[come[canon]])
    }
    return _align(left, right, None, moved) if moved else pairs


def _index_unpaired(nodes: Sequence[Node], paired: Collection[int]) -> dict[str, int]:
    """Return ``{text: index}`` of the telling statements without a partner, without texts that stand more than once."""
    found = index_unique((node.canon, k) for k, node in enumerate(nodes) if node.is_telling)
    return {canon: k for canon, k in found.items() if k not in paired}


# Each step of a merge aligns the same texts again.
@lru_cache(maxsize=64)
def _align_everywhere(left: tuple[Node, ...], right: tuple[Node, ...]) -> tuple[Pair, ...]:
    return tuple(_align(left, right, None))


def _align(
    left: Sequence[Node], right: Sequence[Node], wanted: Gap | None, firm: Collection[str] = frozenset()
) -> list[Pair]:
    inner_left, inner_right = count_suites(left), count_suites(right)
    equal = _drop_lonely_pairs(left, find_common(left, right, (inner_left, inner_right), firm))
    pairs: list[Pair] = []
    i = j = 0
    for a, b in [*equal, (len(left), len(right))]:
        if wanted is None or wanted(left[i:a], right[j:b]):
            gap = pair_similar(left[i:a], right[j:b], inner_left[i:a], inner_right[j:b], similar=SIMILAR)
            pairs += [Pair(i + x, j + y, equal=False) for x, y in gap]
        if a < len(left):
            pairs.append(Pair(a, b, equal=True))
        i, j = a + 1, b + 1
    pairs = _drop_unrelated_clauses(left, right, pair_commonplace(left, right, pairs))
    return add_clauses(left, right, add_heads_of_equal_suites(left, right, add_last_returns(left, right, pairs)))


def add_only_statements(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """Add a pair for every two matched suites that hold a single simple statement each.

    One replaced the other, however little they have in common. Both must begin with the same keyword, or with none::

        if self.is_ready:                          if self.is_ready:
            rows = rows_of(batch, self.limit)          lists = self._lists(batch)
    """
    partners, on_left, on_right = Partners(pairs), _index_only_statements(left), _index_only_statements(right)
    matched = [(head, other) for head, other in partners.of_left.items() if head in on_left and other in on_right]
    found = [
        Pair(on_left[head], on_right[other], equal=False)
        for head, other in matched
        if partners.are_free(on_left[head], on_right[other])
    ]
    alone = [pair for pair in found if left[pair.left].keyword == right[pair.right].keyword]
    both = sorted([*pairs, *alone], key=lambda pair: pair.left)
    crossing = any(first.right >= second.right for first, second in pairwise(both))
    return list(pairs) if not alone or crossing else both


def _index_only_statements(nodes: Sequence[Node]) -> dict[int, int]:
    """Return ``{head: statement}`` of each suite that consists of one simple statement."""
    held = index_suites(nodes).items()
    return {head: found[0] for head, found in held if len(found) == 1 and not nodes[found[0]].compound}


def _drop_unrelated_clauses(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """Drop pairs of clauses (``else``, ``except``) with neither their statements nor anything inside paired.

    Every ``else`` reads the same.
    """
    paired = {pair.left: pair.right for pair in pairs}
    related = {(left[pair.left].parent, right[pair.right].parent) for pair in pairs}
    out = []
    for pair in pairs:
        a, b = left[pair.left], right[pair.right]
        if not a.is_clause or (pair.left, pair.right) in related or paired.get(a.owner, ROOT) == b.owner != ROOT:
            out.append(pair)
        else:
            del paired[pair.left]
    return out


def _get_key(node: Node) -> str:
    return f"{node.kind[0]}{node.canon}"


def find_common(
    left: Sequence[Node],
    right: Sequence[Node],
    inner: tuple[Sequence[Suite], Sequence[Suite]] | None = None,
    firm: Collection[str] = frozenset(),
) -> list[tuple[int, int]]:
    """Return a maximum-weight common subsequence of equal nodes, with ties broken towards contiguous runs.

    With ``inner``, the contents of all suites on both sides (`count_suites`), two equal heads weigh less if their
    suites have no statement in common: a method may test the same condition twice, for two purposes. ``firm``
    statements weigh more.
    """
    head = 0
    while head < min(len(left), len(right)) and _get_key(left[head]) == _get_key(right[head]):
        head += 1
    # A head whose suite differs may be another statement, so it is not yet paired.
    while head and _is_unrelated(inner, head - 1, head - 1):
        head -= 1
    tail = 0
    limit = min(len(left), len(right)) - head
    while tail < limit and _get_key(left[-1 - tail]) == _get_key(right[-1 - tail]):
        tail += 1
    # A commonplace statement next to the first or last difference may belong to it, so it is not yet paired either.
    while head and is_commonplace(left[head - 1]):
        head -= 1
    while tail and is_commonplace(left[-tail]):
        tail -= 1
    sides = left[head : len(left) - tail], right[head : len(right) - tail]
    inside = None if inner is None else (inner[0][head:], inner[1][head:])
    middle = _find_heaviest_chain(*sides, inside, firm)
    return [
        *((i, i) for i in range(head)),
        *((i + head, j + head) for i, j in middle),
        *((len(left) - k, len(right) - k) for k in range(tail, 0, -1)),
    ]


_RUN = 0.05
"""Bonus, in ``Node.weight``, for a pair that directly follows another pair: a sixth of a comment's weight, so that it
only breaks ties."""


def _find_heaviest_chain(
    left: Sequence[Node],
    right: Sequence[Node],
    inner: tuple[Sequence[Suite], Sequence[Suite]] | None,
    firm: Collection[str],
) -> list[tuple[int, int]]:
    places: dict[str, list[int]] = defaultdict(list)
    for j, node in enumerate(right):
        places[_get_key(node)].append(j)
    # ``row`` and ``above`` map right indices to the chains that end at this and at the previous node of ``left``.
    # ends[k] is a right index, best[k] the weight of the heaviest chain that ends no later; both increase.
    ends: list[int] = []
    best: list[float] = []
    tips: list[tuple[int, int, _Chain | None]] = []
    row: dict[int, tuple[float, _Chain]] = {}
    for i, node in enumerate(left):
        above, row = row, {}
        found = []
        own = node.weight * (FIRM if node.canon in firm else 1)
        for j in places.get(_get_key(node), ()):
            before = bisect_left(ends, j) - 1
            weight, chain = (best[before], tips[before][2]) if before >= 0 else (0.0, None)
            run = above.get(j - 1)
            if run is not None and run[0] + _RUN >= weight:
                weight, link = run[0] + _RUN, run[1].extend()
            else:
                link = _Chain(i, j, 1, chain)
            found.append((j, weight + own * (UNRELATED if _is_unrelated(inner, i, j) else 1), link))
        for j, weight, link in reversed(found):
            row[j] = (weight, link)
            _insert(ends, best, tips, j, weight, link)
    return tips[-1][2].list_pairs() if tips and tips[-1][2] is not None else []


def _is_unrelated(inner: tuple[Sequence[Suite], Sequence[Suite]] | None, i: int, j: int) -> bool:
    """Whether two heads are known to have suites with nothing in common."""
    return inner is not None and _have_nothing_in_common(inner[0][i], inner[1][j])


@dataclass(frozen=True, slots=True)
class _Chain:
    """A run of ``size`` consecutive pairs that ends at ``left`` and ``right``, and the chain ``before`` the run."""

    left: int
    right: int
    size: int
    before: _Chain | None

    def extend(self) -> _Chain:
        """Return the chain with the next pair added to its run; both share the chain before it."""
        return _Chain(self.left + 1, self.right + 1, self.size + 1, self.before)

    def list_pairs(self) -> list[tuple[int, int]]:
        out: list[tuple[int, int]] = []
        link: _Chain | None = self
        while link is not None:
            out += [(link.left - k, link.right - k) for k in range(link.size)]
            link = link.before
        return out[::-1]


def _insert(
    ends: list[int], best: list[float], tips: list[tuple[int, int, _Chain | None]], j: int, weight: float, link: _Chain
) -> None:
    """Record a chain that ends at ``j``, unless one at least as heavy ends no later; drop those that it beats."""
    at = bisect_left(ends, j)
    if (at > 0 and best[at - 1] >= weight) or (at < len(ends) and ends[at] == j and best[at] >= weight):
        return
    last = at
    while last < len(ends) and best[last] <= weight:
        last += 1
    ends[at:last] = [j]
    best[at:last] = [weight]
    tips[at:last] = [(link.left, j, link)]


def _drop_lonely_pairs(left: Sequence[Node], pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Drop pairs of nodes that identify no place (``else``, comments) unless a neighbour is paired alongside."""
    taken = dict(pairs)
    return [(i, j) for i, j in pairs if left[i].weight >= 1 or taken.get(i - 1) == j - 1 or taken.get(i + 1) == j + 1]


Suite = Counter[str]


def count_suites(nodes: Sequence[Node]) -> Sequence[Suite]:
    """Return for each node the multiset of the statements inside it, at any depth, and of what these call or else
    bind. The multisets are shared: never change them."""
    return _count_suites(tuple(nodes))


@lru_cache(maxsize=16)
def _count_suites(nodes: tuple[Node, ...]) -> tuple[Suite, ...]:
    inner: list[list[str]] = [[] for _ in nodes]
    for k, node in enumerate(nodes):
        if node.parent == ROOT or node.is_comment:
            continue
        called = node.called.rpartition(".")[2]
        texts = [node.canon, *([f"{called}()"] if called else [f"{name} =" for name in binds(node)])]
        for above in ancestors(nodes, k):
            inner[above] += texts
    return tuple(Counter(texts) if texts else _EMPTY for texts in inner)


_EMPTY: Suite = Counter()


def measure_likeness(a: Node, b: Node, inside_a: Suite, inside_b: Suite) -> float:
    """Return the similarity of two nodes, lowered for two heads whose suites have nothing in common (`UNRELATED`)."""
    share = similarity(a, b)
    if share and not a.defines and _have_nothing_in_common(inside_a, inside_b):
        return share * UNRELATED
    return share


def _have_nothing_in_common(inside_a: Suite, inside_b: Suite) -> bool:
    """Whether two heads both have suites, with nothing in common."""
    return bool(inside_a and inside_b) and inside_a.keys().isdisjoint(inside_b)


Measure = Callable[[Node, Node, Suite, Suite], float]


def pair_similar(
    left: Sequence[Node],
    right: Sequence[Node],
    inner_left: Sequence[Suite],
    inner_right: Sequence[Suite],
    *,
    similar: float,
    measure: Measure = measure_likeness,
) -> list[tuple[int, int]]:
    """Return the in-order pairing of nodes alike by at least ``similar``, with the greatest total.

    Uses dynamic programming. A pair counts half of ``similar`` less than it is alike, so that one good pair beats two
    that are barely alike.
    """
    if not left or not right or len(left) * len(right) > CELLS:
        return []
    pairs = [list(zip(side, inner, strict=True)) for side, inner in ((left, inner_left), (right, inner_right))]
    shares = [[measure(a, b, x, y) for b, y in pairs[1]] for a, x in pairs[0]]
    score = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in range(len(left) - 1, -1, -1):
        row, below = score[i], score[i + 1]
        for j in range(len(right) - 1, -1, -1):
            value = max(below[j], row[j + 1])
            if shares[i][j] >= similar:
                value = max(value, below[j + 1] + shares[i][j] - similar / 2)
            row[j] = value
    return _read_best_pairs(shares, score, similar)


def _read_best_pairs(shares: list[list[float]], score: list[list[float]], similar: float) -> list[tuple[int, int]]:
    """Read the pairs of the best pairing back from the table of scores."""
    pairs = []
    i = j = 0
    while i < len(shares) and j < len(shares[0]):
        share = shares[i][j]
        if share >= similar and score[i][j] == score[i + 1][j + 1] + share - similar / 2:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif score[i][j] == score[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs
