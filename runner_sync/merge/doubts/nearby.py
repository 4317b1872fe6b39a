"""Where a reader misses what was left out.

Comes in: a ``Weave`` and what was written of it. Goes out: lines of the merged text. May touch: nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence

from runner_sync.merge.placing.emit import Emitted
from runner_sync.merge.placing.nesting import home
from runner_sync.merge.weave import Strand, Weave, any_node, elsewhere
from runner_sync.statements import Node, enclosing
from runner_sync.statements.dataflow import binds
from runner_sync.statements.likeness import similarity

SURE = 0.8
"""Likeness from which on two statements are surely versions of one, so that what stands beside the one is missed beside
the other; a judgement, as for two that both sides added."""


def nearby(weave: Weave, strands: Sequence[Strand], emitted: Emitted) -> dict[Strand, tuple[int, bool]]:
    """For every strand the line at which a reader misses it, and whether it is missed behind the statement there.

    It is the line of the next strand in its suite that is in the result, else of the nearest one before it there. What
    omni does not have counts as behind what it follows in upstream's text: in output order all that omni alone has
    there comes first, the whole forward pass for instance.
    """
    found = _in_output_order(weave, strands, emitted)
    beside: dict[Strand | None, list[int]] = defaultdict(list)
    for strand, (first, _) in emitted.place.items():
        if strand.owner is None:
            beside[emitted.above[strand]].append(first)
    for lines in beside.values():
        lines.sort()
    here, last = _standing(weave, emitted), None
    for index, strand in enumerate(weave.of_upstream):
        if index in here:
            last = index
        elif strand in found and strand not in emitted.place and strand.omni is None and last is not None:
            before = _beside(weave, index, last, here, emitted)
            if before is not None:
                found[strand] = _behind(before, beside[emitted.above[before]], emitted)
    return found


def _in_output_order(weave: Weave, strands: Sequence[Strand], emitted: Emitted) -> dict[Strand, tuple[int, bool]]:
    line, found = 0, {}
    last_in: dict[Strand | None, int] = {}
    for strand in strands:
        if strand in emitted.place:
            line = emitted.place[strand][0]
            last_in[strand.parent] = last_in[strand] = line
            found[strand] = line, False
        else:
            found[strand] = last_in.get(home(weave, strand), line), True
    next_in: dict[Strand | None, int] = {}
    for strand in reversed(strands):
        if strand in emitted.place:
            next_in[strand.parent] = emitted.place[strand][0]
        elif next_in.get(home(weave, strand), 0) > found[strand][0]:
            found[strand] = next_in[home(weave, strand)], False
    return found


def _standing(weave: Weave, emitted: Emitted) -> dict[int, Strand]:
    """The strands of the result that are statements of upstream's, for what surely is the same, by upstream's index."""
    here: dict[int, Strand] = {}
    own = elsewhere(weave)
    for index, (node, strand) in enumerate(zip(weave.upstream, weave.of_upstream, strict=True)):
        other = own.get(node.canon)
        if node.is_comment:
            continue
        if strand in emitted.place:
            if strand.omni is None or _is_surely(weave.omni[strand.omni], node):
                here[index] = strand
        elif other is not None and other in emitted.place:
            here[index] = other
    return here


def _is_surely(one: Node, other: Node) -> bool:
    """Whether two statements that are paired are the same or two versions of one: nearly alike, or setting the same."""
    sets_the_same = bool(binds(one)) and binds(one) == binds(other)
    return one.canon == other.canon or sets_the_same or similarity(one, other) >= SURE


def _beside(weave: Weave, index: int, last: int, here: Mapping[int, Strand], emitted: Emitted) -> Strand | None:
    """The statement of the result behind which upstream's statement ``index`` is missed: that of ``last``, upstream's
    nearest one before it, or the head around ``last`` that stands in the suite of ``index``.

    ``None`` where the suite of ``index`` begins behind ``last``. A clause is inside its statement for this. Where
    upstream's ``if`` around ``last`` is not in the result, an ``if`` of omni's own may take its place.
    """
    nodes = weave.upstream
    heads = {k for k in enclosing(nodes, index) if k not in _owners(nodes, index)}
    if last in heads:
        return None
    inner = [k for k in enclosing(nodes, last) if k not in heads]
    before = here[last]
    for k in inner:
        suite = weave.of_upstream[k]
        own = before.owner or emitted.above[before]
        if suite in emitted.place:
            before = suite
        elif own is not None and own.upstream is None and any_node(weave, own).keyword == nodes[k].keyword:
            before = own
    return before


def _owners(nodes: Sequence[Node], index: int) -> set[int]:
    """The statements whose clauses a statement is in."""
    return {nodes[k].owner for k in (index, *enclosing(nodes, index)) if nodes[k].is_clause}


def _behind(before: Strand, lines: Sequence[int], emitted: Emitted) -> tuple[int, bool]:
    """The line of what follows a statement in its suite in the result, or its own, and whether it is the last there.

    ``lines`` are those of the suite, in order.
    """
    first, _ = emitted.place[before]
    following = bisect_right(lines, first)
    return (lines[following], False) if following < len(lines) else (first, True)
