"""Additions in a base that a copy never received, because it was made from a commit before that base.

Comes in: a copy, its base, and the same unit at earlier revisions. Goes out: the base without them. May touch: nothing.

People copy from the commit of the day; the next release then serves as the base. A condition with its suite that is new
in this release, and that tests something which the copy does not mention, was then not removed by omni. In the copies
of vllm-omni 0.12.0rc1 and 0.16.0, all six of these came with the next upgrade; of single statements that a base has and
its copy lacks, next to none::

    earlier, copy   run(rows)       base   run(rows)                result   run(rows)
                                           if self.has_pool:
                                               self.pool.flush()

So is a ``with`` or ``try`` that is new around statements which the copy has bare, as the earlier revision had::

    earlier, copy   run(rows)       base   try:                     result   run(rows)
                                               run(rows)
                                           finally:
                                               self.pool.release()
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from runner_sync.lineage.likeness import nodes_of
from runner_sync.statements import Node, below, clauses, in_suite, parses
from runner_sync.statements.dataflow import attributes_set
from runner_sync.syntax import indentation


def without_unsynced(base: str, earlier: Sequence[str], copy: str) -> tuple[str, tuple[str, ...]]:
    """``base`` without the conditions, branches and wrappers that are in none of ``earlier`` and never reached
    ``copy``; and the texts taken out, a wrapper with ``...`` for what it wraps."""
    theirs = {node.canon for text in (*earlier, base) for node in nodes_of(text)}
    others = [node for text in (*earlier, copy) for node in nodes_of(text)]
    known = _Known(
        frozenset(node.canon for node in others if node.is_telling),
        frozenset(name for node in others for name in node.names),
        frozenset(name for node in nodes_of(copy) if node.canon not in theirs for name in attributes_set(node)),
    )
    wrappers: list[str] = []
    while (unwrapped := _without_wrapper(base, [*earlier, copy], known)) is not None:
        base, wrapper = unwrapped
        wrappers.append(wrapper)
    base, conditions = _without_conditions(base, known)
    return base, (*wrappers, *conditions)


@dataclass(frozen=True, slots=True)
class _Known:
    """What the copy and the earlier revisions have: telling statements, and names; and the attributes that the copy
    sets in a way of its own."""

    statements: frozenset[str]
    names: frozenset[str]
    own: frozenset[str]

    def has_any(self, nodes: Iterable[Node]) -> bool:
        """Whether another text has one of these statements, or the copy sets what one of them sets."""
        return any(node.canon in self.statements or attributes_set(node) & self.own for node in nodes)


def _without_conditions(base: str, known: _Known) -> tuple[str, tuple[str, ...]]:
    """``base`` without new conditions and branches; and the texts taken out.

    A condition stays if another text has a telling statement of it or all names in its test, if the copy sets one of
    its attributes in its own way, or if the rest would not parse. Assignments directly in front of it go with it if
    they set names that its test reads or that nothing but its suite mentions.
    """
    nodes, lines = nodes_of(base), base.split("\n")
    cuts: list[range] = []
    for index, node in enumerate(nodes):
        if node.keyword not in ("if", "elif") or node.names <= known.names:
            continue
        whole = [nodes[k] for k in below(nodes, index)]
        if known.has_any(whole):
            continue
        last = max(one.start + len(one.lines) - 1 for one in whole)
        mentioned = node.names | frozenset[str]().union(*(one.names for one in whole)) - known.names
        first = node.start if node.is_clause else _beginning(nodes, index, known.statements, mentioned)
        cut = range(first, last + 1)
        if not any(cut[0] in one for one in cuts) and parses(_without(lines, [*cuts, cut])):
            cuts.append(cut)
    return _without(lines, cuts), tuple("\n".join(lines[at - 1] for at in cut) for cut in cuts)


def _without_wrapper(base: str, others: Sequence[str], known: _Known) -> tuple[str, str] | None:
    """``base`` without its first new ``with`` or ``try``, and that with ``...`` for what it wraps; ``None`` without
    one.

    It is new if its head and clauses have neither a telling statement of another text nor only known names, set nothing
    that the copy sets in its own way, and most of the statements inside stand bare in all ``others``.
    """
    nodes, lines = nodes_of(base), base.split("\n")
    for index, node in enumerate(nodes):
        if node.keyword not in WRAPPERS or node.one_line or any(nodes[k].one_line for k in clauses(nodes, index)):
            continue
        body = [k for k in in_suite(nodes, index) if not nodes[k].is_clause]
        inside = {i for k in body for i in below(nodes, k)}
        around = [nodes[k] for k in below(nodes, index) if k not in inside and not nodes[k].is_comment]
        names = frozenset[str]().union(*(one.names for one in around))
        if names <= known.names or known.has_any(one for one in around if one.is_telling):
            continue
        if all(_stand_bare([nodes[k].canon for k in body], _suite(nodes, index), nodes_of(text)) for text in others):
            first = _beginning(nodes, index, known.statements, names - known.names)
            return _unwrapped(nodes, index, lines, first)
    return None


WRAPPERS = ("with", "async with", "try")


def _stand_bare(statements: Sequence[str], suite: str, nodes: Sequence[Node]) -> bool:
    """Whether most of these statements are among ``nodes`` in a suite with this head."""
    found = {node.canon for index, node in enumerate(nodes) if _suite(nodes, index) == suite}
    return 0 < len(statements) <= 2 * len(found.intersection(statements))


def _suite(nodes: Sequence[Node], index: int) -> str:
    """The head of the suite that a node is in; empty for the suite of the unit itself, whatever its signature."""
    return nodes[nodes[index].parent].canon if nodes[index].parent > 0 else ""


def _unwrapped(nodes: Sequence[Node], index: int, lines: Sequence[str], first: int) -> tuple[str, str]:
    """The text with what is inside a ``with`` or ``try`` in its place, and that with ``...`` for what is inside.

    ``first`` is the first line of what goes with it.
    """
    node, whole = nodes[index], [nodes[k] for k in below(nodes, index)]
    last = max(one.start + len(one.lines) - 1 for one in whole)
    start = node.start + len(node.lines)
    end = min((nodes[k].start for k in clauses(nodes, index)), default=last + 1)
    inside = next(nodes[k] for k in in_suite(nodes, index))
    margin = indentation(lines[inside.start - 1])
    shift = len(margin) - len(indentation(lines[node.start - 1]))
    frozen = {one.start + offset for one in whole for offset in one.frozen}
    body = [
        line if at in frozen else _shifted(line, shift) for at, line in enumerate(lines[start - 1 : end - 1], start)
    ]
    taken = [*lines[first - 1 : start - 1], f"{margin}...", *lines[end - 1 : last]]
    return "\n".join([*lines[: first - 1], *body, *lines[last:]]), "\n".join(taken)


def _shifted(line: str, columns: int) -> str:
    """``line`` with less indentation, as far as it has any."""
    return line[min(columns, len(indentation(line))) :]


def _beginning(nodes: Sequence[Node], index: int, known: Collection[str], names: frozenset[str]) -> int:
    """First line of what belongs to a condition: comments and assignments to these ``names`` directly above it."""
    while index and nodes[index - 1].parent == nodes[index].parent and nodes[index - 1].canon not in known:
        before = nodes[index - 1]
        if not before.is_comment and not (before.facts.targets and names.issuperset(before.facts.targets)):
            break
        index -= 1
    return nodes[index].start


def _without(lines: Sequence[str], cuts: Sequence[range]) -> str:
    """The lines, counted from 1, that are in none of the ``cuts``."""
    return "\n".join(line for at, line in enumerate(lines, 1) if not any(at in cut for cut in cuts))
