"""Pair statements by their place where their text differs too much.

These are heads of equal suites, last ``return`` statements, only setters of a local, calls of one method, and checks.

Comes in: two node sequences and the pairs found so far. Goes out: these pairs plus new ones, still increasing on both
sides. May touch: nothing. Here the two ``if`` are paired, because their suites are equal:

    base    if self.use_aux:               upstream    if self.drafter and self.drafter.kind == EAGLE:
                rows, aux = rows                           rows, aux = rows
"""

from __future__ import annotations

import ast
import builtins
from collections import Counter, defaultdict
from collections.abc import Sequence

from runner_sync.merge.matching.pairs import Pair, Partners, add_free, index_unique
from runner_sync.statements import ROOT, Node, ancestors, clauses
from runner_sync.statements.dataflow import binds, sets
from runner_sync.statements.negating import negate
from runner_sync.thresholds import MOST_OF_A_SUITE

_BUILTINS = frozenset(dir(builtins))


def add_last_returns(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """Add the final ``return`` of every two matched suites, whatever they return: a suite has only one last exit."""
    partners, suites, others = Partners(pairs), index_suites(left), index_suites(right)
    matched = (
        (suite[-1], others[other][-1])
        for head, suite in suites.items()
        if (other := partners.of_left.get(head, ROOT)) in others
    )
    found = (
        (last, other)
        for last, other in matched
        if _is_return_of_value(left[last]) and _is_return_of_value(right[other])
    )
    return add_free(pairs, partners, found)


def _is_return_of_value(node: Node) -> bool:
    return node.keyword == "return" and node.canon != "return"


def add_heads_of_equal_suites(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """Add heads that differ, but whose suites are nearly the same (`MOST_OF_A_SUITE`): a block whose condition changed.

    Both must begin with the same keyword, stand in one matched suite, and have an equal telling statement inside. If
    they test the same name, half of the smaller suite is enough, but nothing of either may be paired elsewhere::

        if not rows:                            if len(rows) <= 0:
            self.note()                             self.note()
            return self.empty(rows)                 made = self.empty(rows)
                                                    return self.finish(made)
    """
    partners, suites, others = Partners(pairs), index_suites(left), index_suites(right)
    equal = {pair.left for pair in pairs if pair.equal}
    found = []
    for head, suite in suites.items():
        known = [k for k in suite if k in partners.of_left]
        other = right[partners.of_left[known[0]]].parent if known else ROOT
        if other == ROOT or not partners.are_in_one_suite(left[head], right[other]):
            continue
        is_one = left[head].keyword == right[other].keyword and any(
            left[k].is_telling and not left[k].is_clause for k in known if k in equal
        )
        direct = sum(right[partners.of_left[k]].parent == other for k in known)
        is_enough = direct >= MOST_OF_A_SUITE * max(len(suite), len(others[other])) or (
            left[head].names & right[other].names - _BUILTINS
            and 2 * len(known) >= min(len(suite), len(others[other]))
            and all(other in ancestors(right, partners.of_left[k]) for k in known)
            and all(head in ancestors(left, partners.of_right[j]) for j in others[other] if j in partners.of_right)
        )
        if is_one and is_enough:
            found.append((head, other))
    return add_free(pairs, partners, found)


def add_only_bindings(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """Add pairs of assignments in one matched suite that set the same locals.

    Nothing else on either side may set these locals. They are computed differently::

        pool = Pool.get_instance()              pool = get_pool()
    """
    partners, found, others = Partners(pairs), _index_only_bindings(left), _index_only_bindings(right)
    both = ((k, others[names]) for names, k in found.items() if names in others)
    return add_free(pairs, partners, ((k, j) for k, j in both if partners.are_in_one_suite(left[k], right[j])))


def _index_only_bindings(nodes: Sequence[Node]) -> dict[frozenset[str], int]:
    """Return ``{locals: index}`` of each simple statement, except imports, that alone sets its locals."""
    most = Counter(name for node in nodes for name in binds(node))
    plain = [k for k, node in enumerate(nodes) if not node.compound and node.keyword not in ("import", "from")]
    return {sets(nodes[k]): k for k in plain if sets(nodes[k]) and all(most[name] == 1 for name in sets(nodes[k]))}


def add_calls(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """Add calls of one method of ``self`` in one matched suite, in order and whatever their arguments.

    Both sides must make equally many there::

        self.clean(rows, size if not self.is_split else total)      self.clean(rows, size)
    """
    partners, found, others = Partners(pairs), _index_calls(left), _index_calls(right)
    more: list[tuple[int, int]] = []
    for (called, head), places in found.items():
        there = others.get((called, partners.of_left[head]), []) if head in partners.of_left else []
        more += zip(places, there, strict=True) if len(places) == len(there) else ()
    return add_free(pairs, partners, more)


def _index_calls(nodes: Sequence[Node]) -> dict[tuple[str, int], list[int]]:
    """Return ``{(method, head of the suite): indices}`` of the statements that call a method of ``self``."""
    found: dict[tuple[str, int], list[int]] = defaultdict(list)
    for k, node in enumerate(nodes):
        if node.called.startswith("self."):
            found[node.called, node.parent].append(k)
    return found


def add_withs_by_names(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """Add pairs of ``with`` that bind the same names after ``as``, whatever their suites hold.

    Each must be the only such ``with`` on its side, in the whole text or in the matched suite, and more than half of
    their words must be the same.
    """
    partners, both = Partners(pairs), dict[int, int]()
    for wide in (True, False):
        found, others = _index_withs(left, wide=wide), _index_withs(right, wide=wide)
        for (names, suite), k in found.items():
            other = others.get((names, partners.of_left[suite])) if suite in partners.of_left else None
            if other is not None:
                both.setdefault(k, other)
    more = ((k, other) for k, other in both.items() if _have_most_in_common(left[k], right[other]))
    return add_free(pairs, partners, more)


def _index_withs(nodes: Sequence[Node], *, wide: bool) -> dict[tuple[frozenset[str], int], int]:
    """Return ``{(names after ``as``, head of the suite): index}`` of each ``with`` that alone binds these names there.

    With ``wide`` the whole text counts as one suite.
    """
    keys = ((node.facts.opens, ROOT if wide else node.parent) for node in nodes)
    return index_unique((key, k) for k, key in enumerate(keys) if key[0])


def _have_most_in_common(one: Node, other: Node) -> bool:
    return 2 * (one.words & other.words).total() > max(one.words.total(), other.words.total())


def add_checks(left: Sequence[Node], right: Sequence[Node], pairs: Sequence[Pair]) -> list[Pair]:
    """Add each ``assert`` with the ``if`` in the matched suite that raises an error where the assertion would fail.

    Either side may have the ``if``. Both must be the only such check there::

        assert rows is not None             if rows is None:
                                                raise ValueError("no rows")
    """
    partners = Partners(pairs)
    both = ((_index_asserted(left), _index_raised(right)), (_index_raised(left), _index_asserted(right)))
    found = [
        (k, there[partners.of_left[head], canon])
        for here, there in both
        for (head, canon), k in here.items()
        if (partners.of_left.get(head), canon) in there
    ]
    return add_free(pairs, partners, found)


def _index_asserted(nodes: Sequence[Node]) -> dict[tuple[int, str], int]:
    """Return ``{(head of the suite, head of an ``if`` that is true where it fails): index}`` of each ``assert``."""
    asserted = ((k, node) for k, node in enumerate(nodes) if node.keyword == "assert")
    return index_unique(((node.parent, one), k) for k, node in asserted for one in _list_opposites(node.canon))


def _index_raised(nodes: Sequence[Node]) -> dict[tuple[int, str], int]:
    """Return ``{(head of the suite, head): index}`` of each ``if`` that only raises an error."""
    heads = ((k, suite) for k, suite in index_suites(nodes).items() if nodes[k].keyword == "if")
    only = [k for k, suite in heads if [nodes[j].keyword for j in suite] == ["raise"] and not clauses(nodes, k)]
    return index_unique(((nodes[k].parent, nodes[k].canon), k) for k in only)


def _list_opposites(canon: str) -> set[str]:
    """Return the heads of an ``if`` that is true where an ``assert`` fails."""
    match ast.parse(canon).body:
        case [ast.Assert(test)]:
            return {f"if {ast.unparse(one)}" for one in (negate(test), ast.UnaryOp(ast.Not(), test))}
        case _:
            return set()


def index_suites(nodes: Sequence[Node]) -> dict[int, list[int]]:
    """Return ``{head: indices}`` of the statements and clauses directly in each suite, without comments."""
    found: dict[int, list[int]] = defaultdict(list)
    for k, node in enumerate(nodes):
        if node.parent != ROOT and not node.is_comment:
            found[node.parent].append(k)
    return found
