"""What upstream newly sets, and nothing reads in the result: what reads it was left out.

Comes in: the kept strands of a ``Weave`` with their contents. Goes out: ``Doubt`` values; statements that stay out are
marked, edits that are undone have omni's text. May touch: the contents that it is given.

Judged by the text that was chosen for a statement: upstream's version of one reads nothing where omni's stands.
What an import brings for a statement that was taken out of upstream before the merge is unread there already.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from runner_sync.merge.confidence import INFERRED
from runner_sync.merge.contents import Content, of_node
from runner_sync.merge.dataflow import binds, reads, uses
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave

UNREAD = Reason("read only in what was left out")


def unread_additions(
    weave: Weave, kept: Sequence[Strand], contents: dict[int, Content], *, records_fit: bool
) -> list[Doubt]:
    """Leave out new statements of upstream's that set such locals, and take its edits back that set nothing else.

    A call that fetches or resets something would do so for nothing, and a ``return`` that became an assignment for
    what follows it returns nothing without that. With ``records_fit`` the record that omni unpacks is not upstream's,
    and has the fields that omni takes out of it.
    """
    read_there = {name for node in weave.upstream for name in uses(node)}
    read_there |= {name for node in weave.upstream if node.canon.startswith("from ") for name in binds(node)}
    mine = {name for node in weave.omni for name in binds(node) | reads(node)}
    doubts: list[Doubt] = []
    while True:
        read_here = {name for s in kept if s.kept for name in _read_in(weave, s, contents)}
        unread = read_there - read_here
        strand = next(
            (
                s
                for s in kept
                if s.kept
                and (
                    _is_for_nothing(weave, s, contents, unread=unread, mine=mine)
                    or (records_fit and _unpacks_for_nothing(weave, s, contents, read=read_here))
                )
            ),
            None,
        )
        if strand is None:
            return doubts
        if strand.omni is None:
            strand.kept = False
        else:
            contents[id(strand)] = of_node(weave.omni[strand.omni])
        doubts.append(Doubt(strand, UNREAD, INFERRED))


def _read_in(weave: Weave, strand: Strand, contents: dict[int, Content]) -> frozenset[str]:
    """Locals that the chosen text of a strand mentions and one of the sides reads in it."""
    sides = ((weave.omni, strand.omni), (weave.upstream, strand.upstream))
    nodes = [nodes[index] for nodes, index in sides if index is not None]
    chosen = contents[id(strand)].lines
    for node in nodes:
        if node.lines == chosen:
            return uses(node)
    words = set(re.findall(r"(?<![\w.])[A-Za-z_]\w*", "\n".join(chosen)))
    return frozenset(name for node in nodes for name in uses(node) if name in words)


def _is_for_nothing(
    weave: Weave, strand: Strand, contents: dict[int, Content], *, unread: Collection[str], mine: Collection[str]
) -> bool:
    if strand.upstream is None:
        return False
    node = weave.upstream[strand.upstream]
    names = binds(node) | (reads(node) - uses(node))
    if not names or node.compound or not names <= set(unread):
        return False
    if strand.sides == "u":
        return True
    edited = strand.omni is not None and contents[id(strand)].lines == node.lines != weave.omni[strand.omni].lines
    return edited and names.isdisjoint(mine)


def _unpacks_for_nothing(weave: Weave, strand: Strand, contents: dict[int, Content], *, read: Collection[str]) -> bool:
    """Whether upstream only takes more out of a record than before, none of which is read."""
    if strand.base is None or strand.omni is None or strand.upstream is None:
        return False
    base, mine, node = weave.base[strand.base], weave.omni[strand.omni], weave.upstream[strand.upstream]
    if contents[id(strand)].lines == mine.lines or not all(_UNPACKED.match(one.canon) for one in (base, mine, node)):
        return False
    added = binds(node) - binds(base)
    return bool(added) and binds(base) <= binds(node) and added.isdisjoint(read)


_UNPACKED = re.compile(r"\(?[\w, ]+,[\w, ]*\)? = self\.\w+$")
