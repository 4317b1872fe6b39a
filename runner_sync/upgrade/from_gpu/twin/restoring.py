"""Decides which statements that vLLM removed may return to the GPU twin when vLLM's step is undone.

Comes in: texts of one unit, all in NPU names. Goes out: vLLM's old text without what must not return. May touch:
nothing.

A statement returns if the twin had it, in that form or another, and lost it with vLLM. It does not return if the twin
never had it or has it still, or if it reads a local that the twin does not set::

    vLLM, old and new   finish()                    clear()
    twin, old and new   talk(); finish(later)       clear(); talk(); finish(later)
    undone              talk(); finish(later)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet

from runner_sync import merge
from runner_sync.lineage import list_nodes
from runner_sync.statements import ROOT, Node, below, in_suite, parses
from runner_sync.statements.dataflow import binds, reads, sets


def drop_unrestorable(then: str, *, now: str, old: str, new: str) -> str:
    """Return vLLM's old text ``then`` without statements that ``now`` lacks and that must not return to the twin.

    ``old`` and ``new`` are the twin's texts. Returns ``then`` unchanged if the result would not parse.
    """
    nodes, theirs, before, after = map(list_nodes, (then, now, old, new))
    pairs = merge.align(nodes, theirs)
    removed = _find_removed(nodes, theirs, {pair.left for pair in pairs})
    barred = removed - _find_restorable(nodes, removed, before, after)
    changed_back = [nodes[pair.left] for pair in pairs if not pair.equal]
    set_by_twin = {name for node in (*after, *changed_back) for name in binds(node)}
    unset = {name for node in nodes for name in binds(node)} - set_by_twin
    cut: set[int] = set()
    while more := _find_whole(nodes, removed, barred | _find_readers(nodes, removed - cut, unset)) - cut:
        cut |= more
        cut |= _find_emptied(nodes, cut)
    cut.update(_find_remarks(nodes, cut))
    rows = {row for k in cut for row in range(nodes[k].start, nodes[k].start + len(nodes[k].lines))}
    text = "\n".join(line for row, line in enumerate(then.split("\n"), 1) if row not in rows)
    return text if parses(text) else then


def _find_whole(nodes: Sequence[Node], removed: AbstractSet[int], tops: Collection[int]) -> set[int]:
    """Return the statements ``tops`` with all inside them, except a block of which not all was ``removed``."""

    def is_gone(k: int) -> bool:
        return k in removed or nodes[k].is_comment or nodes[k].is_clause

    blocks = (below(nodes, top) for top in tops)
    return {k for block in blocks if all(map(is_gone, block)) for k in block}


def _find_readers(nodes: Sequence[Node], returning: Collection[int], unset: AbstractSet[str]) -> set[int]:
    """Return the ``returning`` statements that read one of the ``unset`` names which none of them binds."""
    lacking = unset - {name for k in returning for name in binds(nodes[k])}
    return {k for k in returning if reads(nodes[k]) & lacking}


def _find_removed(nodes: Sequence[Node], others: Sequence[Node], paired: Collection[int]) -> set[int]:
    """Return the statements that ``others`` have neither here nor elsewhere; clauses go with their statement."""
    anywhere = {node.canon for node in others}
    return {
        k
        for k, node in enumerate(nodes)
        if k not in paired and node.canon not in anywhere and not node.is_comment and not node.is_clause
    }


def _find_restorable(
    nodes: Sequence[Node], removed: Collection[int], before: Sequence[Node], after: Sequence[Node]
) -> set[int]:
    """Return the statements that the twin had before, unless it still has, in some form, all that vLLM removed there.

    An assignment to the same names is another form of an assignment.
    """
    kept = merge.align(before, after)
    still, known = {pair.left for pair in kept}, {pair.right for pair in kept}
    newly_set = {sets(node) for k, node in enumerate(after) if k not in known} - {frozenset()}
    had = {pair.left: pair.right for pair in merge.align(nodes, before)}
    runs: list[list[int]] = [[]]
    for k, node in enumerate(nodes):
        if k in removed:
            runs[-1] += [k] if k in had else []
        elif not node.is_comment:
            runs.append([])
    lost = (run for run in runs if any(had[k] not in still and sets(nodes[k]) not in newly_set for k in run))
    return {k for run in lost for k in run}


def _find_emptied(nodes: Sequence[Node], cut: Collection[int]) -> set[int]:
    """Return the heads around suites of which nothing is left; not those before another clause, which may stay."""
    emptied: set[int] = set()
    for head in sorted({nodes[k].parent for k in cut} - {ROOT}, reverse=True):
        owners = {head, nodes[head].owner} - {ROOT}
        is_last = not any(node.owner in owners for node in nodes[head + 1 :])
        if is_last and all(k in cut or k in emptied for k in in_suite(nodes, head)):
            emptied.update(below(nodes, head))
    return emptied


def _find_remarks(nodes: Sequence[Node], cut: AbstractSet[int]) -> set[int]:
    """Return the comments directly above statements that are cut."""
    found: set[int] = set()
    for k in range(len(nodes) - 2, -1, -1):
        is_above = nodes[k].is_comment and nodes[k].parent == nodes[k + 1].parent and not nodes[k + 1].blanks
        if is_above and k + 1 in cut | found:
            found.add(k)
    return found
