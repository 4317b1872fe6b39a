"""Blocks that base and upstream have in one order and omni in another.

Comes in: base, omni and upstream texts. Goes out: base and upstream in omni's order. May touch: nothing.

For a text that was not copied from upstream's its own order is no change of anybody's. Statements are paired in order,
so a block that stands elsewhere would count as lacking, and what upstream newly does in it would have no place::

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
    """The triple with those blocks of base and upstream where omni has them, which stand elsewhere in the same suite
    there and in which upstream has changed something. Raises ``UnparsableText``."""
    seen: set[str] = set()
    while (found := _with_next_moved(triple, seen)) is not None:
        triple = found
    return triple


def _with_next_moved(triple: Triple, seen: set[str]) -> Triple | None:
    """The triple with the first such block in its place that was not ``seen`` yet, if there is one."""
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
    """The places in base and in omni of the blocks that both have once in one suite, and in another order."""
    paired, blocks = set(in_base.values()), _blocks(base)
    for text, j in _blocks(omni).items():
        i = blocks.get(text, ROOT)
        if i == ROOT or j in in_base or i in paired:
            continue
        is_one_suite = base[i].parent == (in_base.get(omni[j].parent) if omni[j].parent != ROOT else ROOT)
        if is_one_suite and set(said(base, [i])[1:]) & set(said(omni, [j])[1:]):
            yield i, j


def _blocks(nodes: Sequence[Node]) -> dict[str, int]:
    """The places of the heads of suites, by what they say, and by what is inside: a condition may be another one here.
    Of those that are told apart by it."""
    found: dict[str, list[int]] = defaultdict(list)
    for k, node in enumerate(nodes):
        if node.compound and not node.is_clause:
            found[node.canon].append(k)
            found["\n".join([node.keyword, *said(nodes, [k])[1:]])].append(k)
    return {said: places[0] for said, places in found.items() if len(places) == 1}


def _before(nodes: Sequence[Node], at: int) -> Iterator[int]:
    """The statements in front of one in its suite, the nearest first, and the head of that."""
    yield from siblings(nodes, at, step=-1)
    yield from [nodes[at].parent] if nodes[at].parent != ROOT else ()


def _moved_behind(text: str, nodes: Sequence[Node], at: int, before: int) -> str:
    """The text with a statement behind another of its suite, or first in it, behind its head.

    Empty where a local would be read before it is set, and where the two are in different suites.
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
    """The last node of the statement ``before``; of the head of the suite that ``at`` is in, with its docstring."""
    if before != nodes[at].parent:
        return below(nodes, before)[-1]
    return before + (nodes[before + 1].kind == "docstring")


def _needs_the_first(nodes: Sequence[Node], first: int, second: int, end: int) -> bool:
    """Whether ``nodes[second:end]`` read a local that is first set in ``nodes[first:second]``."""
    known, new = ({name for node in run for name in binds(node)} for run in (nodes[:first], nodes[first:second]))
    return any(name in new - known for node in nodes[second:end] for name in reads(node))


def _lines(nodes: Sequence[Node], at: int) -> range:
    """The lines of a statement with all that is in it and the remarks directly above, as indices."""
    first = next((remarks.start for remarks, about in remarks_on(nodes) if about == at), at)
    last = nodes[below(nodes, at)[-1]]
    return range(nodes[first].start - 1, last.start - 1 + len(last.lines))
