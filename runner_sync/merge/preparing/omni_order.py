"""Put blocks of base and upstream into omni's order.

Comes in: base, omni and upstream texts. Goes out: base and upstream in omni's order. May touch: nothing.

For a text that is no copy: its own order is not a change. Statements are paired in order, so a block at another place
in omni would count as missing, and upstream's changes in it would be lost::

    base, upstream   if self.is_ready: …          omni   tokens = output.tokens
                     tokens = output.tokens              if self.is_ready: …

A block for which upstream now has one statement, as the call of a new helper, moves together with that statement.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from runner_sync.merge.matching.align import align
from runner_sync.merge.placing.remarks import find_remarks
from runner_sync.merge.preparing.successors import find_successors
from runner_sync.model import Triple
from runner_sync.statements import ROOT, Node, below, flatten, parses, said, siblings
from runner_sync.statements.dataflow import binds, reads


def in_omni_order(triple: Triple) -> Triple:
    """Move blocks of base and upstream to omni's place in the same suite, if upstream changed something in them.

    Raises ``UnparsableText``.
    """
    seen: set[str] = set()
    while (found := _move_next(triple, seen)) is not None:
        triple = found
    return triple


def _move_next(triple: Triple, seen: set[str]) -> Triple | None:
    """Move the next such block and add it to ``seen``; ``None`` if there is none left."""
    base, omni, upstream = flatten(triple.base), flatten(triple.omni), flatten(triple.upstream)
    in_base = {pair.right: pair.left for pair in align(base, omni)}
    in_upstream = {pair.left: pair.right for pair in align(base, upstream)}
    for i, j in _find_reordered(base, omni, in_base):
        before = next((in_base[k] for k in _walk_backwards(omni, j) if in_base.get(k) in in_upstream), ROOT)
        now = in_upstream[i] if i in in_upstream else _find_replacement(base, upstream, i, in_upstream)
        if omni[j].canon in seen or now == ROOT or before == ROOT:
            continue
        if said(base, [i]) == said(upstream, [now]):
            continue
        seen.add(omni[j].canon)
        old = _move_behind(triple.base, base, i, before)
        new = _move_behind(triple.upstream, upstream, now, in_upstream[before])
        if old and new:
            return Triple(old, triple.omni, new)
    return None


def _find_replacement(base: Sequence[Node], upstream: Sequence[Node], at: int, in_upstream: Mapping[int, int]) -> int:
    """Return the only statement that upstream has in place of block ``at``; ``ROOT`` if there is none such."""
    new = find_successors(base, upstream, [at], in_upstream)
    return new[0] if len(new) == 1 and not upstream[new[0]].compound else ROOT


def _find_reordered(
    base: Sequence[Node], omni: Sequence[Node], in_base: Mapping[int, int]
) -> Iterator[tuple[int, int]]:
    """Yield the base and omni index of each unpaired block that both have once, in one suite and another order.

    The blocks must share a statement inside.
    """
    paired, blocks = set(in_base.values()), _index_blocks(base)
    for text, j in _index_blocks(omni).items():
        i = blocks.get(text, ROOT)
        if i == ROOT or j in in_base or i in paired:
            continue
        is_one_suite = base[i].parent == (in_base.get(omni[j].parent) if omni[j].parent != ROOT else ROOT)
        if is_one_suite and set(said(base, [i])[1:]) & set(said(omni, [j])[1:]):
            yield i, j


def _index_blocks(nodes: Sequence[Node]) -> dict[str, int]:
    """Return ``{text: index}`` of heads, without texts that two heads have.

    Each head counts by its own text, and by its keyword and suite, because its condition may differ on the other side.
    """
    found: dict[str, list[int]] = defaultdict(list)
    for k, node in enumerate(nodes):
        if node.compound and not node.is_clause:
            found[node.canon].append(k)
            found["\n".join([node.keyword, *said(nodes, [k])[1:]])].append(k)
    return {text: places[0] for text, places in found.items() if len(places) == 1}


def _walk_backwards(nodes: Sequence[Node], at: int) -> Iterator[int]:
    """Yield the statements in front of one in its suite, nearest first, then the head of the suite."""
    yield from siblings(nodes, at, step=-1)
    yield from [nodes[at].parent] if nodes[at].parent != ROOT else ()


def _move_behind(text: str, nodes: Sequence[Node], at: int, before: int) -> str:
    """Move statement ``at`` behind ``before``, which is another statement of its suite or the head of the suite.

    Empty if the two are in different suites, if a local would be read before it is set, or if the result is no Python.
    """
    if nodes[at].parent not in (before, nodes[before].parent):
        return ""
    moved, last = below(nodes, at), _find_last(nodes, before, at)
    middle = (last + 1, at, moved[-1] + 1) if last < at else (at, moved[-1] + 1, last + 1)
    if _needs_first_part(nodes, *middle):
        return ""
    lines = text.split("\n")
    span, end = _find_lines(nodes, at), nodes[last].start - 1 + len(nodes[last].lines)
    inside = lines[span.start : span.stop]
    if end <= span.start:
        made = [*lines[:end], *inside, *lines[end : span.start], *lines[span.stop :]]
    else:
        made = [*lines[: span.start], *lines[span.stop : end], *inside, *lines[end:]]
    joined = "\n".join(made)
    return joined if parses(joined) else ""


def _find_last(nodes: Sequence[Node], before: int, at: int) -> int:
    """Return the last node of the statement ``before``; if it is the head around ``at``, the head or its docstring."""
    if before != nodes[at].parent:
        return below(nodes, before)[-1]
    return before + (nodes[before + 1].kind == "docstring")


def _needs_first_part(nodes: Sequence[Node], first: int, second: int, end: int) -> bool:
    """Whether ``nodes[second:end]`` read a local that is first set in ``nodes[first:second]``."""
    known, new = ({name for node in run for name in binds(node)} for run in (nodes[:first], nodes[first:second]))
    return any(name in new - known for node in nodes[second:end] for name in reads(node))


def _find_lines(nodes: Sequence[Node], at: int) -> range:
    """Return the 0-based lines of a statement, with everything inside it and the comments directly above it."""
    first = next((remarks.start for remarks, about in find_remarks(nodes) if about == at), at)
    last = nodes[below(nodes, at)[-1]]
    return range(nodes[first].start - 1, last.start - 1 + len(last.lines))
