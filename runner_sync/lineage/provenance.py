"""Trace each statement of a unit to upstream, to the GPU twin or to omni itself.

Comes in: the unit, its counterparts in upstream revisions and in the GPU twin, the lines that markers claim. Goes out:
``Span`` values that cover the unit's statements. May touch: nothing.

Statements are compared in canonical form (``statements``). A statement that the base has in the same order comes from
upstream. A statement that is out of order, or only in another revision, comes from upstream, too, unless a marker
claims it. Statements that occur everywhere, such as ``else`` or ``return``, get the origin of the statement they belong
to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from runner_sync.lineage.likeness import list_nodes
from runner_sync.model import Provenance, Unit
from runner_sync.statements import Node
from runner_sync.statements.likeness import dice


@dataclass(frozen=True, slots=True)
class Known:
    """A text that statements may come from. ``title`` names the text, ``start`` is its first line in its file."""

    title: str
    text: str
    start: int = 1


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of one origin (1-based, in the file). ``where`` names the source, ``lines`` the first and last line there.

    For an omni statement that was edited, ``where`` names the source of the original. ``marked``: a marker claims the
    span.
    """

    start: int
    end: int
    provenance: Provenance
    where: str = ""
    lines: tuple[int, int] | None = None
    marked: bool = False


def trace(
    unit: Unit, upstream: Sequence[Known], gpu: Known | None = None, *, marked: Collection[int] = ()
) -> list[Span]:
    """Return one span for each statement of ``unit``, in line order.

    ``upstream`` holds the unit's upstream counterparts, the base first.
    """
    nodes = list_nodes(unit.text)
    spans: list[Span | None] = [None] * len(nodes)
    for source in upstream[:1]:
        _assign_in_order(spans, nodes, source, "upstream", unit)
    for source in upstream:
        _assign_anywhere(spans, nodes, source, "upstream", unit, spared=marked)
    if gpu is not None:
        _assign_in_order(spans, nodes, gpu, "gpu", unit)
        _assign_anywhere(spans, nodes, gpu, "gpu", unit, spared=())
    for source in upstream[:1]:
        _mark_edits(spans, nodes, source, unit)
    whole = [span or _make_span(node, unit, "omni") for span, node in zip(spans, nodes, strict=True)]
    settled = _settle_companions(whole, nodes, marked)
    return [replace(span, marked=any(n in marked for n in range(span.start, span.end + 1))) for span in settled]


def key(node: Node, unit: Unit) -> str:
    """Return the text that statements are compared by.

    This is the canonical form; for a field of a record it is the field's name, because people change types freely.
    """
    field = _FIELD.match(node.canon) if unit.kind == "class" else None
    return field[1] if field is not None else node.canon


_FIELD = re.compile(r"(\w+: )")


def _assign_in_order(
    spans: list[Span | None], nodes: Sequence[Node], source: Known, provenance: Provenance, unit: Unit
) -> None:
    """Assign to ``source`` the open statements that it has in the same order; changes ``spans`` in place."""
    source_nodes = list_nodes(source.text)
    open_ = [k for k, span in enumerate(spans) if span is None]
    matcher = SequenceMatcher(
        None, [key(nodes[k], unit) for k in open_], [key(n, unit) for n in source_nodes], autojunk=False
    )
    for first, other, size in matcher.get_matching_blocks():
        for step in range(size):
            k = open_[first + step]
            spans[k] = _make_span(nodes[k], unit, provenance, source, source_nodes[other + step])


def _assign_anywhere(
    spans: list[Span | None],
    nodes: Sequence[Node],
    source: Known,
    provenance: Provenance,
    unit: Unit,
    *,
    spared: Collection[int],
) -> None:
    """Assign to ``source`` the open telling statements that it has anywhere, except on ``spared`` lines; changes
    ``spans``."""
    first: dict[str, Node] = {}
    for node in list_nodes(source.text):
        first.setdefault(key(node, unit), node)
    for k, node in enumerate(nodes):
        if (
            spans[k] is None
            and key(node, unit) in first
            and node.is_telling
            and node.start + unit.start - 1 not in spared
        ):
            spans[k] = _make_span(node, unit, provenance, source, first[key(node, unit)])


def _mark_edits(spans: list[Span | None], nodes: Sequence[Node], source: Known, unit: Unit) -> None:
    """Record for omni statements which missing base statement they were edited from. Their provenance remains omni."""
    present = {key(node, unit) for node in nodes}
    left = [node for node in list_nodes(source.text) if key(node, unit) not in present and node.is_telling]
    for k, node in enumerate(nodes):
        if spans[k] is not None or not node.is_telling:
            continue
        near = [other for other in left if _get_head(other) == _get_head(node)]
        best = max(near, key=lambda other: dice(node.words, other.words), default=None)
        if best is not None and dice(node.words, best.words) >= _EDITED:
            spans[k] = _make_span(node, unit, "omni", source, best)


_EDITED = 0.6
"""Least likeness (Dice coefficient of the words) of an edited statement to the original."""


def _get_head(node: Node) -> str:
    """Return the beginning of a statement: its keyword, its target or the function it calls."""
    return node.canon.partition(" ")[0].partition("(")[0]


def _make_span(
    node: Node, unit: Unit, provenance: Provenance, source: Known | None = None, counterpart: Node | None = None
) -> Span:
    start = unit.start + node.start - 1
    lines = None
    if source is not None and counterpart is not None:
        begin = source.start + counterpart.start - 1
        lines = (begin, begin + len(counterpart.lines) - 1)
    return Span(start, start + len(node.lines) - 1, provenance, source.title if source else "", lines)


def _settle_companions(spans: Sequence[Span], nodes: Sequence[Node], marked: Collection[int]) -> list[Span]:
    """Give weak statements and docstrings the origin of their head, and comments the origin of the next statement."""
    settled = list(spans)
    for k, node in enumerate(nodes):
        if node.is_clause and node.owner >= 0 and settled[node.owner].provenance != "upstream":
            settled[k] = _copy_origin(settled[k], settled[node.owner])
        elif node.kind == "docstring" and node.parent >= 0 and settled[k].provenance == "omni":
            settled[k] = _copy_origin(settled[k], settled[node.parent])
        elif not node.is_comment and not node.is_telling and node.parent >= 0 and not node.is_clause:
            head = settled[node.parent]
            if head.provenance != "upstream" and not nodes[node.parent].defines:
                settled[k] = _copy_origin(settled[k], head)
    following: Span | None = None
    for k in range(len(nodes) - 1, -1, -1):
        if not nodes[k].is_comment:
            following = settled[k]
        elif following is not None and settled[k].provenance == "omni" and settled[k].start not in marked:
            settled[k] = _copy_origin(settled[k], following)
    return settled


def _copy_origin(span: Span, other: Span) -> Span:
    return replace(span, provenance=other.provenance, where=other.where, lines=None)


def joined(spans: Sequence[Span]) -> Iterator[Span]:
    """Join adjacent spans of one origin; ``lines`` of the result is the whole range at the source."""
    run: Span | None = None
    for span in spans:
        if run is not None and _is_continuation(run, span):
            run = replace(run, end=span.end, lines=_join_ranges(run.lines, span.lines))
            continue
        if run is not None:
            yield run
        run = span
    if run is not None:
        yield run


def _is_continuation(run: Span, span: Span) -> bool:
    same = (run.provenance, run.where, run.marked) == (span.provenance, span.where, span.marked)
    if not same or run.lines is None or span.lines is None:
        return same
    return run.lines[0] <= span.lines[0]


def _join_ranges(one: tuple[int, int] | None, other: tuple[int, int] | None) -> tuple[int, int] | None:
    if one is None or other is None:
        return one or other
    return min(one[0], other[0]), max(one[1], other[1])
