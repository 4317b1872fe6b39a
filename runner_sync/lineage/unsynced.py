"""Find additions in a base that a copy never received because the copy predates this base.

Comes in: a copy, its base, and the same unit at earlier revisions. Goes out: the base without these additions. May
touch: nothing.

People copy from the commit of the day; the next release then serves as the base. If a condition and its suite are new
in this release and test something that the copy does not mention, omni did not remove them: they were never there. In
the copies of vllm-omni 0.12.0rc1 and 0.16.0, all six such conditions came with the next upgrade; of single statements
that only the base has, next to none did::

    earlier, copy   run(rows)       base   run(rows)                result   run(rows)
                                           if self.has_pool:
                                               self.pool.flush()

The same holds for a new ``with`` or ``try`` around statements that the copy and the earlier revision have without it::

    earlier, copy   run(rows)       base   try:                     result   run(rows)
                                               run(rows)
                                           finally:
                                               self.pool.release()
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from runner_sync.edits import lines_of, without_lines
from runner_sync.lineage.likeness import list_nodes
from runner_sync.statements import WRAPPERS, Node, below, clauses, in_suite, parses
from runner_sync.statements.dataflow import attributes_set
from runner_sync.syntax import indentation


def without_unsynced(base: str, earlier: Sequence[str], copy: str) -> tuple[str, tuple[str, ...]]:
    """Remove conditions, branches and wrappers from ``base`` that no ``earlier`` revision has and ``copy`` never
    received.

    Returns the new base and the removed texts; a removed wrapper has ``...`` in place of its body.
    """
    upstream = {node.canon for text in (*earlier, base) for node in list_nodes(text)}
    others = [node for text in (*earlier, copy) for node in list_nodes(text)]
    known = _Known(
        frozenset(node.canon for node in others if node.is_telling),
        frozenset(name for node in others for name in node.names),
        frozenset(name for node in list_nodes(copy) if node.canon not in upstream for name in attributes_set(node)),
    )
    wrappers: list[str] = []
    while (unwrapped := _remove_wrapper(base, [*earlier, copy], known)) is not None:
        base, wrapper = unwrapped
        wrappers.append(wrapper)
    base, conditions = _remove_conditions(base, known)
    return base, (*wrappers, *conditions)


@dataclass(frozen=True, slots=True)
class _Known:
    """Telling statements and names of the copy and the earlier revisions.

    ``own`` holds the attributes that the copy sets in statements of its own.
    """

    statements: frozenset[str]
    names: frozenset[str]
    own: frozenset[str]

    def has_any(self, nodes: Iterable[Node]) -> bool:
        """Whether another text has one of these statements, or the copy sets an attribute that one of them sets."""
        return any(node.canon in self.statements or attributes_set(node) & self.own for node in nodes)


def _remove_conditions(base: str, known: _Known) -> tuple[str, tuple[str, ...]]:
    """Remove new conditions and branches from ``base``; returns the new base and the removed texts.

    A condition stays if another text has one of its telling statements or all names of its test, if the copy sets one
    of its attributes in its own way, or if the rest would not parse. Assignments directly above it are removed with it
    if they set only names that its test reads or that only its suite mentions.
    """
    nodes = list_nodes(base)
    cuts: list[range] = []
    for index, node in enumerate(nodes):
        if node.keyword not in ("if", "elif") or node.names <= known.names:
            continue
        whole = [nodes[k] for k in below(nodes, index)]
        if known.has_any(whole):
            continue
        last = max(one.start + len(one.lines) - 1 for one in whole)
        mentioned = node.names | frozenset[str]().union(*(one.names for one in whole)) - known.names
        first = node.start if node.is_clause else _find_first_line(nodes, index, known.statements, mentioned)
        cut = range(first, last + 1)
        if not any(cut[0] in one for one in cuts) and parses(without_lines(base, {*chain(*cuts, cut)})):
            cuts.append(cut)
    return without_lines(base, {*chain(*cuts)}), tuple(lines_of(base, cut[0], cut[-1]) for cut in cuts)


def _remove_wrapper(base: str, others: Sequence[str], known: _Known) -> tuple[str, str] | None:
    """Remove the first new ``with`` or ``try`` from ``base``, keeping its body; ``None`` if there is none.

    Returns the new base and the wrapper with ``...`` as its body. A wrapper is new if its head and clauses have an
    unknown name, contain no telling statement of another text and set nothing that the copy sets in its own way, and if
    in all ``others`` at least half of its body stands without it.
    """
    nodes, lines = list_nodes(base), base.split("\n")
    for index, node in enumerate(nodes):
        if node.keyword not in WRAPPERS or node.one_line or any(nodes[k].one_line for k in clauses(nodes, index)):
            continue
        body = [k for k in in_suite(nodes, index) if not nodes[k].is_clause]
        inside = {i for k in body for i in below(nodes, k)}
        around = [nodes[k] for k in below(nodes, index) if k not in inside and not nodes[k].is_comment]
        names = frozenset[str]().union(*(one.names for one in around))
        if names <= known.names or known.has_any(one for one in around if one.is_telling):
            continue
        if all(
            _are_bare([nodes[k].canon for k in body], _get_suite_head(nodes, index), list_nodes(text))
            for text in others
        ):
            first = _find_first_line(nodes, index, known.statements, names - known.names)
            return _unwrap(nodes, index, lines, first, _find_setters(nodes, body, names - known.names))
    return None


def _are_bare(statements: Sequence[str], suite: str, nodes: Sequence[Node]) -> bool:
    """Whether at least half of these statements are among ``nodes`` in a suite with this head."""
    found = {node.canon for index, node in enumerate(nodes) if _get_suite_head(nodes, index) == suite}
    return 0 < len(statements) <= 2 * len(found.intersection(statements))


def _get_suite_head(nodes: Sequence[Node], index: int) -> str:
    """Return the head of a node's suite; empty for the body of the unit, whatever its signature."""
    return nodes[nodes[index].parent].canon if nodes[index].parent > 0 else ""


def _find_setters(nodes: Sequence[Node], body: Sequence[int], names: frozenset[str]) -> set[int]:
    """Return the lines of the body's statements that only set locals of its wrapper, unless that is all of the body."""
    setters = [nodes[k] for k in body if nodes[k].facts.targets and names.issuperset(nodes[k].facts.targets)]
    lines = {one.start + offset for one in setters for offset in range(len(one.lines))}
    return lines if len(setters) < len(body) else set()


def _unwrap(
    nodes: Sequence[Node], index: int, lines: Sequence[str], first: int, setters: Collection[int]
) -> tuple[str, str]:
    """Replace a ``with`` or ``try`` by its body; returns the new text and the removed wrapper, with ``...`` as its
    body.

    ``first`` is the first line that is removed with the wrapper, ``setters`` are lines of the body that go, too.
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
        line if at in frozen else _dedent(line, shift)
        for at, line in enumerate(lines[start - 1 : end - 1], start)
        if at not in setters
    ]
    taken = [*lines[first - 1 : start - 1], f"{margin}...", *lines[end - 1 : last]]
    return "\n".join([*lines[: first - 1], *body, *lines[last:]]), "\n".join(taken)


def _dedent(line: str, columns: int) -> str:
    """Return ``line`` with up to ``columns`` of its indentation removed."""
    return line[min(columns, len(indentation(line))) :]


def _find_first_line(nodes: Sequence[Node], index: int, known: Collection[str], names: frozenset[str]) -> int:
    """Return the first line of a condition with the comments and the assignments to ``names`` directly above it."""
    while index and nodes[index - 1].parent == nodes[index].parent and nodes[index - 1].canon not in known:
        before = nodes[index - 1]
        if not before.is_comment and not (before.facts.targets and names.issuperset(before.facts.targets)):
            break
        index -= 1
    return nodes[index].start
