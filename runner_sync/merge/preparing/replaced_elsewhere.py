"""Replace a block of omni's where upstream replaced the same block, which omni has in another suite.

Comes in: base, omni and upstream texts. Goes out: the three texts without this change, which omni has then. May touch:
nothing.

For a text that is no copy: statements are paired suite by suite, so the block would count as missing in omni, and
upstream's new form would come in beside it or stay out::

    base   with forward(rows):                   upstream   with forward(rows):
               out = self.run(rows)                             out = self.run(rows)
               if hasattr(model, "flush"):                      flush = getattr(model, "flush", None)
                   model.flush(rows)                            if callable(flush): …
    omni   with forward(rows):                   made       with forward(rows):
               out = self.run(rows)                             out = self.run(rows)
           if hasattr(model, "flush"):                      flush = getattr(model, "flush", None)
               model.flush(rows)                            if callable(flush): …

The statements above a block that set a local for it alone belong to it: a call of a new helper may replace both.

Leaves alone: a block that a side has twice; new statements that use few of the block's names, or a local that nothing
sets above omni's place, or that may not come in.
"""

from __future__ import annotations

import builtins
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence

from runner_sync.edits import margin
from runner_sync.merge.matching.align import align
from runner_sync.merge.placing.remarks import find_remarks
from runner_sync.merge.preparing.successors import find_successors
from runner_sync.model import Triple
from runner_sync.statements import ROOT, Node, below, flatten, parses, said, siblings
from runner_sync.statements.dataflow import binds, reads
from runner_sync.statements.surroundings import lines_of


def with_replaced_elsewhere(triple: Triple, is_kept_out: Callable[[Node], bool]) -> Triple:
    """Return the texts with upstream's new form of each such block in omni's, and without the change in the others.

    Nothing that ``is_kept_out`` comes. Raises ``UnparsableText``.
    """
    base, omni, upstream = flatten(triple.base), flatten(triple.omni), flatten(triple.upstream)
    in_base = {pair.right: pair.left for pair in align(base, omni)}
    in_upstream = {pair.left: pair.right for pair in align(base, upstream)}
    for was, now in _find_in_other_suites(base, omni, in_base):
        new = find_successors(base, upstream, was, in_upstream)
        nodes = [upstream[k] for top in new for k in below(upstream, top)]
        if not nodes or not _is_same_matter(base, was, nodes) or any(map(is_kept_out, nodes)):
            continue
        if not _is_runnable(nodes, upstream, omni[: now[0]]) or {n.canon for n in nodes} & {n.canon for n in omni}:
            continue
        made = Triple(
            _replace(triple.base, base, was, ""),
            _replace(triple.omni, omni, now, lines_of(triple.upstream, nodes), keep_remarks=True),
            _replace(triple.upstream, upstream, new, ""),
        )
        if all(parses(text) for text in (made.base, made.omni, made.upstream)):
            return with_replaced_elsewhere(made, is_kept_out)
    return triple


def _find_in_other_suites(
    base: Sequence[Node], omni: Sequence[Node], in_base: Mapping[int, int]
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the base and omni indices of each block that both have once, in suites that are not paired.

    Yields the block with the statements above that set a local for it first, then the block alone.
    """
    paired, blocks = set(in_base.values()), _index_blocks(base)
    for text, now in _index_blocks(omni).items():
        was = blocks.get(text, ROOT)
        if was == ROOT or (in_base.get(now, was) != was or (now not in in_base and was in paired)):
            continue
        suite = in_base.get(omni[now].parent, ROOT) if omni[now].parent != ROOT else ROOT
        if base[was].parent != suite:
            yield from _join_setters(base, omni, was, now)


def _join_setters(
    base: Sequence[Node], omni: Sequence[Node], was: int, now: int
) -> Iterator[tuple[list[int], list[int]]]:
    """Yield a block with the statements right above it that set a local which nothing else reads, then it alone."""
    old, own = [was], [now]
    while (above := _find_setter(base, old)) is not None and (there := _find_setter(omni, own)) is not None:
        if base[above].canon != omni[there].canon or there != own[0] - 1:
            break  # a comment of omni's between the two would be lost
        old, own = [above, *old], [there, *own]
    if len(old) > 1:
        yield old, own
    yield [was], [now]


def _find_setter(nodes: Sequence[Node], run: Sequence[int]) -> int | None:
    """Return the statement right above a run that sets a local for the run alone; ``None`` if there is none."""
    above = next(iter(siblings(nodes, run[0], step=-1)), ROOT)
    names = binds(nodes[above]) if above != ROOT and not nodes[above].compound else frozenset[str]()
    inside = {k for top in run for k in below(nodes, top)}
    users = {k for k, node in enumerate(nodes) if k != above and names & {*reads(node), *binds(node)}}
    return above if users and users <= inside else None


def _index_blocks(nodes: Sequence[Node]) -> dict[tuple[str, ...], int]:
    """Return ``{texts: index}`` of the blocks, without those that occur twice."""
    found: dict[tuple[str, ...], list[int]] = {}
    for k, node in enumerate(nodes):
        if node.compound and not node.is_clause and not node.defines:
            found.setdefault(said(nodes, [k]), []).append(k)
    return {texts: places[0] for texts, places in found.items() if len(places) == 1}


def _is_same_matter(base: Sequence[Node], was: Sequence[int], new: Sequence[Node]) -> bool:
    """Whether the new statements use at least half of the old ones' names and quoted names, except built-in ones."""
    words = {word for top in was for k in below(base, top) for word in base[k].words}
    names = {word for word in words if word.isidentifier() and not hasattr(builtins, word)}
    return 2 * len(names & {word for node in new for word in node.words}) >= len(names)


def _is_runnable(new: Sequence[Node], upstream: Sequence[Node], above: Sequence[Node]) -> bool:
    """Whether all locals of upstream's that the new statements read are set by them or ``above``."""
    locals_ = {name for node in upstream for name in binds(node)}
    known = {name for node in (*above, *new) for name in binds(node)}
    return {name for node in new for name in reads(node)} & locals_ <= known


def _replace(text: str, nodes: Sequence[Node], tops: Sequence[int], by: str, *, keep_remarks: bool = False) -> str:
    """Replace statements that stand one below the other, with the comments above the first unless these are kept."""
    remarks = {about: block.start for block, about in find_remarks(nodes)}
    first = tops[0] if keep_remarks else remarks.get(tops[0], tops[0])
    start, end = nodes[first].start - 1, max(nodes[k].end for k in below(nodes, tops[-1]))
    lines = text.split("\n")
    new = textwrap.indent(by, margin(lines[nodes[tops[0]].start - 1])).split("\n") if by else []
    return "\n".join([*lines[:start], *new, *lines[end:]])
