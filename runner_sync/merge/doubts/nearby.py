"""Find the line of the result at which a reader would look for a left-out statement.

Comes in: a ``Weave`` and the written result. Goes out: lines of the merged text. May touch: nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence

from runner_sync.merge.placing.emit import Emitted
from runner_sync.merge.placing.nesting import find_kept_suite
from runner_sync.merge.weave import Strand, Weave, index_omni_only, pick_node
from runner_sync.statements import Node, enclosing
from runner_sync.statements.dataflow import binds
from runner_sync.statements.likeness import VERSION, similarity


def find_nearby_lines(weave: Weave, strands: Sequence[Strand], emitted: Emitted) -> dict[Strand, tuple[int, bool]]:
    """Return ``{strand: (line, is_behind)}``: the line where a reader looks for each strand.

    With ``is_behind``, the place is behind the statement on that line. The line is that of the next strand of the suite
    in the result, else of the nearest one before it. A statement that omni lacks is placed by what it follows in
    upstream's text, because in output order everything that only omni has in the same gap stands in between, possibly
    the whole forward pass.
    """
    found = _find_lines_in_output_order(weave, strands, emitted)
    beside: dict[Strand | None, list[int]] = defaultdict(list)
    for strand, (first, _) in emitted.place.items():
        if strand.owner is None:
            beside[emitted.above[strand]].append(first)
    for lines in beside.values():
        lines.sort()
    here, last = _find_standing(weave, emitted), None
    for index, strand in enumerate(weave.of_upstream):
        if index in here:
            last = index
        elif strand in found and strand not in emitted.place and strand.omni is None and last is not None:
            before = _find_predecessor(weave, index, last, here, emitted)
            if before is not None:
                found[strand] = _find_line_behind(before, beside[emitted.above[before]], emitted)
    return found


def _find_lines_in_output_order(
    weave: Weave, strands: Sequence[Strand], emitted: Emitted
) -> dict[Strand, tuple[int, bool]]:
    """Return the lines of `find_nearby_lines` by output order alone."""
    line, found = 0, {}
    last_in: dict[Strand | None, int] = {}
    for strand in strands:
        if strand in emitted.place:
            line = emitted.place[strand][0]
            last_in[strand.parent] = last_in[strand] = line
            found[strand] = line, False
        else:
            found[strand] = last_in.get(find_kept_suite(weave, strand), line), True
    next_in: dict[Strand | None, int] = {}
    for strand in reversed(strands):
        if strand in emitted.place:
            next_in[strand.parent] = emitted.place[strand][0]
        elif next_in.get(find_kept_suite(weave, strand), 0) > found[strand][0]:
            found[strand] = next_in[find_kept_suite(weave, strand)], False
    return found


def _find_standing(weave: Weave, emitted: Emitted) -> dict[int, Strand]:
    """Return ``{index in upstream: strand}`` of upstream's statements surely in the result, maybe as omni's own."""
    here: dict[int, Strand] = {}
    own = index_omni_only(weave)
    for index, (node, strand) in enumerate(zip(weave.upstream, weave.of_upstream, strict=True)):
        other = own.get(node.canon)
        if node.is_comment:
            continue
        if strand in emitted.place:
            if strand.omni is None or _is_surely_version(weave.omni[strand.omni], node):
                here[index] = strand
        elif other is not None and other in emitted.place:
            here[index] = other
    return here


def _is_surely_version(one: Node, other: Node) -> bool:
    """Whether two paired statements are surely versions of one: equal, nearly so, or binding the same names."""
    sets_the_same = bool(binds(one)) and binds(one) == binds(other)
    return one.canon == other.canon or sets_the_same or similarity(one, other) >= VERSION


def _find_predecessor(
    weave: Weave, index: int, last: int, here: Mapping[int, Strand], emitted: Emitted
) -> Strand | None:
    """Return the strand of the result behind which a reader looks for upstream's statement ``index``.

    This is the strand of ``last``, the nearest statement before it in the result, or the head around ``last`` in the
    suite of ``index``. If that head is not in the result, an omni head of the same keyword around ``last`` may stand
    for it. Returns ``None`` if ``last`` is the head of a suite around ``index``. Clauses count as inside their
    statement.
    """
    nodes = weave.upstream
    heads = {k for k in enclosing(nodes, index) if k not in _find_owners(nodes, index)}
    if last in heads:
        return None
    inner = [k for k in enclosing(nodes, last) if k not in heads]
    before = here[last]
    for k in inner:
        suite = weave.of_upstream[k]
        own = before.owner or emitted.above[before]
        if suite in emitted.place:
            before = suite
        elif own is not None and own.upstream is None and pick_node(weave, own).keyword == nodes[k].keyword:
            before = own
    return before


def _find_owners(nodes: Sequence[Node], index: int) -> set[int]:
    """Return the owners of the clauses among ``index`` and the heads around it."""
    return {nodes[k].owner for k in (index, *enclosing(nodes, index)) if nodes[k].is_clause}


def _find_line_behind(before: Strand, lines: Sequence[int], emitted: Emitted) -> tuple[int, bool]:
    """Return the line of the statement behind ``before`` in its suite, and ``False``; else its own line, and ``True``.

    ``lines`` are the first lines of the statements of that suite, in order.
    """
    first, _ = emitted.place[before]
    following = bisect_right(lines, first)
    return (lines[following], False) if following < len(lines) else (first, True)
