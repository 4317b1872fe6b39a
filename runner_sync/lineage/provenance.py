"""Where each statement of a unit comes from: an upstream, a port of the GPU twin, or omni itself.

Comes in: the unit, its counterparts in upstream revisions and in the GPU twin, the lines that markers claim. Goes out:
``Span`` values that cover the unit's statements. May touch: nothing.

Statements are compared in canonical form (``statements``). Those that the base has in the same order are upstream's;
those out of order, or in another revision only, are upstream's, too, unless a marker claims them. Statements that occur
everywhere, like ``else`` or ``return``, get the origin of the statement they belong to.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from runner_sync.lineage.likeness import nodes_of
from runner_sync.model import Provenance, Unit
from runner_sync.statements import Node
from runner_sync.statements.likeness import dice


@dataclass(frozen=True, slots=True)
class Known:
    """A text that statements may come from. ``title`` names it, ``start`` is its first line in its file."""

    title: str
    text: str
    start: int = 1


@dataclass(frozen=True, slots=True)
class Span:
    """Lines of one origin (1-based, in the file). ``where`` names the source, ``lines`` the first and last line there.

    For an edited statement of omni's, ``where`` names what it was edited from. ``marked``: a marker claims it for omni.
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
    """One span with its origin for each statement of ``unit``, in line order.

    ``upstream`` are the unit's upstream counterparts, the one that it was copied from first.
    """
    nodes = nodes_of(unit.text)
    spans: list[Span | None] = [None] * len(nodes)
    for source in upstream[:1]:
        _take_in_order(spans, nodes, source, "upstream", unit)
    for source in upstream:
        _take_anywhere(spans, nodes, source, "upstream", unit, spared=marked)
    if gpu is not None:
        _take_in_order(spans, nodes, gpu, "gpu", unit)
        _take_anywhere(spans, nodes, gpu, "gpu", unit, spared=())
    for source in upstream[:1]:
        _mark_edits(spans, nodes, source, unit)
    whole = [span or _span(node, unit, "omni") for span, node in zip(spans, nodes, strict=True)]
    settled = _with_companions(whole, nodes, marked)
    return [replace(span, marked=any(n in marked for n in range(span.start, span.end + 1))) for span in settled]


def key(node: Node, unit: Unit) -> str:
    """What statements are compared by: the canonical form, or the name of a record's field (people change types
    freely)."""
    field = _FIELD.match(node.canon) if unit.kind == "class" else None
    return field[1] if field is not None else node.canon


_FIELD = re.compile(r"(\w+: )")


def _take_in_order(
    spans: list[Span | None], nodes: Sequence[Node], source: Known, provenance: Provenance, unit: Unit
) -> None:
    """Assign to ``source`` the open statements that it has in the same order; ``spans`` is filled in place."""
    theirs = nodes_of(source.text)
    open_ = [k for k, span in enumerate(spans) if span is None]
    matcher = SequenceMatcher(
        None, [key(nodes[k], unit) for k in open_], [key(n, unit) for n in theirs], autojunk=False
    )
    for first, other, size in matcher.get_matching_blocks():
        for step in range(size):
            k = open_[first + step]
            spans[k] = _span(nodes[k], unit, provenance, source, theirs[other + step])


def _take_anywhere(
    spans: list[Span | None],
    nodes: Sequence[Node],
    source: Known,
    provenance: Provenance,
    unit: Unit,
    *,
    spared: Collection[int],
) -> None:
    """Assign to ``source`` the open telling statements that it has anywhere, except on ``spared`` lines; in place."""
    first: dict[str, Node] = {}
    for node in nodes_of(source.text):
        first.setdefault(key(node, unit), node)
    for k, node in enumerate(nodes):
        if (
            spans[k] is None
            and key(node, unit) in first
            and node.is_telling
            and node.start + unit.start - 1 not in spared
        ):
            spans[k] = _span(node, unit, provenance, source, first[key(node, unit)])


def _mark_edits(spans: list[Span | None], nodes: Sequence[Node], source: Known, unit: Unit) -> None:
    """Note for omni's statements which missing statement of the base they were edited from; they remain omni's."""
    present = {key(node, unit) for node in nodes}
    left = [node for node in nodes_of(source.text) if key(node, unit) not in present and node.is_telling]
    for k, node in enumerate(nodes):
        if spans[k] is not None or not node.is_telling:
            continue
        near = [other for other in left if _head(other) == _head(node)]
        best = max(near, key=lambda other: dice(node.words, other.words), default=None)
        if best is not None and dice(node.words, best.words) >= _EDITED:
            spans[k] = _span(node, unit, "omni", source, best)


_EDITED = 0.6
"""Share of its words that a statement must have kept to count as edited."""


def _head(node: Node) -> str:
    """What a statement begins with: its keyword, or what it assigns to or calls."""
    return node.canon.partition(" ")[0].partition("(")[0]


def _span(
    node: Node, unit: Unit, provenance: Provenance, source: Known | None = None, there: Node | None = None
) -> Span:
    start = unit.start + node.start - 1
    lines = None
    if source is not None and there is not None:
        begin = source.start + there.start - 1
        lines = (begin, begin + len(there.lines) - 1)
    return Span(start, start + len(node.lines) - 1, provenance, source.title if source else "", lines)


def _with_companions(spans: Sequence[Span], nodes: Sequence[Node], marked: Collection[int]) -> list[Span]:
    """The spans; weak statements and docstrings get the origin of their head, comments that of the next statement."""
    settled = list(spans)
    for k, node in enumerate(nodes):
        if node.is_clause and node.owner >= 0 and settled[node.owner].provenance != "upstream":
            settled[k] = _with_origin_of(settled[k], settled[node.owner])
        elif node.kind == "docstring" and node.parent >= 0 and settled[k].provenance == "omni":
            settled[k] = _with_origin_of(settled[k], settled[node.parent])
        elif not node.is_comment and not node.is_telling and node.parent >= 0 and not node.is_clause:
            head = settled[node.parent]
            if head.provenance != "upstream" and not nodes[node.parent].defines:
                settled[k] = _with_origin_of(settled[k], head)
    following: Span | None = None
    for k in range(len(nodes) - 1, -1, -1):
        if not nodes[k].is_comment:
            following = settled[k]
        elif following is not None and settled[k].provenance == "omni" and settled[k].start not in marked:
            settled[k] = _with_origin_of(settled[k], following)
    return settled


def _with_origin_of(span: Span, other: Span) -> Span:
    return replace(span, provenance=other.provenance, where=other.where, lines=None)


def joined(spans: Sequence[Span]) -> Iterator[Span]:
    """The spans with neighbours of one origin joined; ``lines`` is then the whole range at the source."""
    run: Span | None = None
    for span in spans:
        if run is not None and _is_continued(run, span):
            run = replace(run, end=span.end, lines=_joint_range(run.lines, span.lines))
            continue
        if run is not None:
            yield run
        run = span
    if run is not None:
        yield run


def _is_continued(run: Span, span: Span) -> bool:
    same = (run.provenance, run.where, run.marked) == (span.provenance, span.where, span.marked)
    if not same or run.lines is None or span.lines is None:
        return same
    return run.lines[0] <= span.lines[0]


def _joint_range(one: tuple[int, int] | None, other: tuple[int, int] | None) -> tuple[int, int] | None:
    if one is None or other is None:
        return one or other
    return min(one[0], other[0]), max(one[1], other[1])
