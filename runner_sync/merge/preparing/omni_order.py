"""Put blocks of base and upstream into omni's order.

Comes in: base, omni and upstream texts. Goes out: base and upstream in omni's order. May touch: nothing.

Only for a text that is no copy of upstream's, whose own order is not a change. Statements are paired in order, so a
block that omni has elsewhere would count as missing, and upstream's changes in it would have no place to go::

    base, upstream   if self.is_ready: …          omni   tokens = output.tokens
                     tokens = output.tokens              if self.is_ready: …
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from runner_sync.merge.matching.align import align
from runner_sync.merge.placing.remarks import remarks_on
from runner_sync.model import Triple
from runner_sync.statements import ROOT, Node, below, flatten, parses, said, siblings
from runner_sync.statements.dataflow import binds, reads


def in_omni_order(triple: Triple) -> Triple:
    """The triple with blocks of base and upstream moved to where omni has them in the same suite, if upstream changed
    something in them. Raises ``UnparsableText``."""
    seen: set[str] = set()
    while (found := _with_next_moved(triple, seen)) is not None:
        triple = found
    return triple


def _with_next_moved(triple: Triple, seen: set[str]) -> Triple | None:
    """The triple with the next such block moved, which is then added to ``seen``; ``None`` if there is none left."""
    base, omni, upstream = flatten(triple.base), flatten(triple.omni), flatten(triple.upstream)
    in_base = {pair.right: pair.left for pair in align(base, omni)}
    in_upstream = {pair.left: pair.right for pair in align(base, upstream)}
    for i, j in _elsewhere(base, omni, in_base):
        before = next((in_base[k] for k in _before(omni, j) if in_base.get(k) in in_upstream), ROOT)
        if omni[j].canon in seen or i not in in_upstream or before == ROOT:
            continue
        if said(base, [i]) == said(upstream, [in_upstream[i]]):
            continue
        seen.add(omni[j].canon)
        old = _moved_behind(triple.base, base, i, before)
        new = _moved_behind(triple.upstream, upstream, in_upstream[i], in_upstream[before])
        if old and new:
            return Triple(old, triple.omni, new)
    return None


def _elsewhere(base: Sequence[Node], omni: Sequence[Node], in_base: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """``(index in base, index in omni)`` of unpaired blocks that both have once, in the same suite: their order
    differs. They must have a statement inside in common."""
    paired, blocks = set(in_base.values()), _blocks(base)
    for text, j in _blocks(omni).items():
        i = blocks.get(text, ROOT)
        if i == ROOT or j in in_base or i in paired:
            continue
        is_one_suite = base[i].parent == (in_base.get(omni[j].parent) if omni[j].parent != ROOT else ROOT)
        if is_one_suite and set(said(base, [i])[1:]) & set(said(omni, [j])[1:]):
            yield i, j


def _blocks(nodes: Sequence[Node]) -> dict[str, int]:
    """``{text: index}`` of heads, each by its own text, and by keyword and inside, because its condition may differ on
    the other side. Texts that two blocks have are left out."""
    found: dict[str, list[int]] = defaultdict(list)
    for k, node in enumerate(nodes):
        if node.compound and not node.is_clause:
            found[node.canon].append(k)
            found["\n".join([node.keyword, *said(nodes, [k])[1:]])].append(k)
    return {said: places[0] for said, places in found.items() if len(places) == 1}


def _before(nodes: Sequence[Node], at: int) -> Iterator[int]:
    """The statements in front of one in its suite, the nearest first, then the head of that suite."""
    yield from siblings(nodes, at, step=-1)
    yield from [nodes[at].parent] if nodes[at].parent != ROOT else ()


def _moved_behind(text: str, nodes: Sequence[Node], at: int, before: int) -> str:
    """The text with statement ``at`` moved behind ``before``, another one of its suite or the head of that.

    Empty if the two are in different suites, if a local would be read before it is set, or if the result is no Python.
    """
    if nodes[at].parent not in (before, nodes[before].parent):
        return ""
    moved, last = below(nodes, at), _last(nodes, before, at)
    middle = (last + 1, at, moved[-1] + 1) if last < at else (at, moved[-1] + 1, last + 1)
    if _needs_the_first(nodes, *middle):
        return ""
    lines = text.split("\n")
    span, end = _lines(nodes, at), nodes[last].start - 1 + len(nodes[last].lines)
    inside = lines[span.start : span.stop]
    if end <= span.start:
        made = [*lines[:end], *inside, *lines[end : span.start], *lines[span.stop :]]
    else:
        made = [*lines[: span.start], *lines[span.stop : end], *inside, *lines[end:]]
    joined = "\n".join(made)
    return joined if parses(joined) else ""


def _last(nodes: Sequence[Node], before: int, at: int) -> int:
    """The last node of the statement ``before``; if that is the head around ``at``, itself or its docstring."""
    if before != nodes[at].parent:
        return below(nodes, before)[-1]
    return before + (nodes[before + 1].kind == "docstring")


def _needs_the_first(nodes: Sequence[Node], first: int, second: int, end: int) -> bool:
    """Whether ``nodes[second:end]`` read a local that is first set in ``nodes[first:second]``."""
    known, new = ({name for node in run for name in binds(node)} for run in (nodes[:first], nodes[first:second]))
    return any(name in new - known for node in nodes[second:end] for name in reads(node))


def _lines(nodes: Sequence[Node], at: int) -> range:
    """The 0-based lines of a statement, with all inside it and the comments directly above it."""
    first = next((remarks.start for remarks, about in remarks_on(nodes) if about == at), at)
    last = nodes[below(nodes, at)[-1]]
    return range(nodes[first].start - 1, last.start - 1 + len(last.lines))
