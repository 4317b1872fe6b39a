"""Additions in a base that a copy never received, because it was made from a commit before that base.

Comes in: a copy, its base, and the same unit at earlier revisions. Goes out: the base without them. May touch: nothing.

People copy from the commit of the day; the next release then serves as the base. A condition with its suite that is new
in this release, and that tests something which the copy does not mention, was then not removed by omni. In the copies
of vllm-omni 0.12.0rc1 and 0.16.0, all six of these came with the next upgrade; of single statements that a base has and
its copy lacks, next to none::

    earlier, copy   run(rows)       base   run(rows)                result   run(rows)
                                           if self.has_pool:
                                               self.pool.flush()
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from runner_sync.lineage.likeness import nodes_of
from runner_sync.statements import Node, below, parses
from runner_sync.statements.dataflow import attributes_set


def without_unsynced(base: str, earlier: Sequence[str], copy: str) -> tuple[str, tuple[str, ...]]:
    """``base`` without the conditions and branches that are in none of ``earlier`` and never reached ``copy``; and the
    texts taken out.

    A condition stays if another text has a telling statement of it or all names in its test, if ``copy`` sets one of
    its attributes in its own way, or if the rest would not parse. Assignments directly in front of it go with it if
    they set names that its test reads or that nothing but its suite mentions.
    """
    nodes, lines = nodes_of(base), base.split("\n")
    others = [node for text in (*earlier, copy) for node in nodes_of(text)]
    known = {node.canon for node in others if node.is_telling}
    names = {name for node in others for name in node.names}
    theirs = {node.canon for text in (*earlier, base) for node in nodes_of(text)}
    own = {name for node in nodes_of(copy) if node.canon not in theirs for name in attributes_set(node)}
    cuts: list[range] = []
    for index, node in enumerate(nodes):
        if node.keyword not in ("if", "elif") or node.names <= names:
            continue
        whole = [nodes[k] for k in below(nodes, index)]
        if any(one.canon in known or attributes_set(one) & own for one in whole):
            continue
        last = max(one.start + len(one.lines) - 1 for one in whole)
        mentioned = node.names | frozenset[str]().union(*(one.names for one in whole)) - names
        cut = range(node.start if node.is_clause else _beginning(nodes, index, known, mentioned), last + 1)
        if not any(cut[0] in one for one in cuts) and parses(_without(lines, [*cuts, cut])):
            cuts.append(cut)
    return _without(lines, cuts), tuple("\n".join(lines[at - 1] for at in cut) for cut in cuts)


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
