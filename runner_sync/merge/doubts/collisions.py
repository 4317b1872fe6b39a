"""Find locals that both sides set anew, where code of one side may read what the other side's code set.

Also finds values of omni's that nothing reads any more.

Comes in: a ``Weave``, its texts, and the written result. Goes out: ``Doubt`` values. May touch: nothing. For example,
upstream measures a step in which omni's own loop uses the same name::

    start = time.perf_counter()
    for row in rows:
        start = row.first           # omni's own
        self.fill(start, row.last)  # omni's own
    self.times.add(time.perf_counter() - start)

Each side's text is right, and so is each statement. Leaves alone: a local of the base that a statement computes from
its old value (``rows = pad(rows)``), because the reader is to get what both sides make of it.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from textwrap import shorten
from typing import NamedTuple

from runner_sync.confidence import CONTESTED
from runner_sync.merge.placing.emit import Emitted
from runner_sync.merge.reason import Kind, Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, other_side
from runner_sync.model import Triple
from runner_sync.statements.dataflow import binds, reads
from runner_sync.texts.reaching import Setting, find_settings

_SHOWN = 80
"""At most so many characters of omni's statement are part of the reason."""


def find_colliding_locals(weave: Weave, triple: Triple, emitted: Emitted) -> list[Doubt]:
    """Return doubts about upstream's new statements that set or read a local which omni's own code uses otherwise.

    In the result, a new setting of one side's replaces a new one of the other side's, and arrives at a read that gets
    the latter in that side's own text. The doubt is about upstream's setting, or else about its read.
    """
    new = {side: _find_new_settings(weave, emitted, side) for side in "ou"}
    names = new["o"].keys() & new["u"].keys()
    if not names:
        return []
    flows = {side: _follow_side(weave, triple, side, names) for side in "ou"}
    result = _follow(emitted.text, names, _index_lines(emitted))
    doubts: dict[tuple[str, Collection[Strand]], Doubt] = {}
    for side in "ou":
        for name, reader, setter, own in _find_mistaken(weave, side, result, flows, new):
            shown, other, kind = (reader, setter, _READS) if side == "u" else (setter, reader, _SETS)
            detail = shorten(weave.omni[other.in_omni].canon, _SHOWN, placeholder=" …")
            doubt = Doubt(shown, Reason(kind, (name,), detail), CONTESTED)
            doubts.setdefault((name, own if side == "u" else frozenset({setter})), doubt)
    return list(doubts.values())


def find_new_values(weave: Weave, triple: Triple, emitted: Emitted) -> list[Doubt]:
    """Return doubts about upstream's new statements that set a local of the base anew in front of omni's own reader.

    What set the local for the reader still stands above, unchanged on both sides, but no longer reaches it::

        size = len(rows)
        size = padded(batch)        # new in upstream
        self.fill(rows[:size])      # omni's own
    """
    set_anew = {name for strand in emitted.place if strand.sides == "u" for name in _bind_anew(weave, strand)}
    read = {name for strand in emitted.place if strand.sides == "o" for name in reads(weave.omni[strand.in_omni])}
    names = set_anew & read & {name for node in weave.base for name in binds(node)}
    if not names:
        return []
    before, result = _follow_side(weave, triple, "o", names), _follow(emitted.text, names, _index_lines(emitted))
    doubts: dict[Strand, Doubt] = {}
    for (name, reader), arriving in result.read.items():
        expected = before.read.get((name, reader), set())
        new = [one for one in arriving if one.sides == "u" and name in _bind_anew(weave, one)]
        is_shadowed = bool(expected) and expected.isdisjoint(arriving)
        if reader.sides == "o" and new and is_shadowed and all(_stands(weave, one, emitted) for one in expected):
            setter = min(new, key=lambda one: one.in_upstream)
            detail = shorten(weave.omni[reader.in_omni].canon, _SHOWN, placeholder=" …")
            doubts.setdefault(setter, Doubt(setter, Reason("sets what omni reads", (name,), detail), CONTESTED))
    return list(doubts.values())


def find_lost_values(weave: Weave, triple: Triple, emitted: Emitted, *, asked: Collection[Strand]) -> list[Doubt]:
    """Return doubts about omni's own statements that set a local of the base anew, for readers that no longer read it.

    Upstream's version of each reader takes the value from elsewhere, so that omni's has no effect::

        rows = self.talker.pad(rows)    # omni's own
        self.fill(batch.rows)           # upstream; it was self.fill(rows)

    Skips statements in ``asked``, and readers in it.
    """
    before = Counter(name for node in weave.base for name in reads(node))
    before.subtract(name for node in weave.upstream for name in reads(node))
    own = {s for s in emitted.place if s.sides == "o" and s not in asked}
    names = {name for s in own for name in binds(weave.omni[s.in_omni]) if before[name] > 0}
    if not names:
        return []
    was, result = (
        _invert(flow)
        for flow in (_follow_side(weave, triple, "o", names), _follow(emitted.text, names, _index_lines(emitted)))
    )
    doubts = []
    for strand in sorted(own, key=lambda one: one.in_omni):
        lost = [name for name in sorted(names) if not result.get((name, strand), set()) - {strand}]
        readers = {name: was.get((name, strand), set()) - {strand} for name in lost}
        lost = [
            name
            for name in lost
            if any(one.base is not None for one in readers[name]) and readers[name].isdisjoint(asked)
        ]
        if lost:
            doubts.append(Doubt(strand, Reason("no longer read", tuple(lost)), CONTESTED))
    return doubts


def _invert(flow: _Flow) -> Mapping[_At, set[Strand]]:
    """Map each local and statement that sets it to the statements that read this value."""
    found = defaultdict[_At, set[Strand]](set)
    for (name, reader), settings in flow.read.items():
        for setter in settings:
            found[name, setter].add(reader)
    return found


def _bind_anew(weave: Weave, strand: Strand) -> frozenset[str]:
    """Return the locals that an upstream statement binds and does not compute from their old values."""
    node = weave.upstream[strand.in_upstream]
    return binds(node) - reads(node) - {"_"}


def _stands(weave: Weave, strand: Strand, emitted: Emitted) -> bool:
    """Whether a statement of the base is in the result as all sides have it."""
    is_same = weave.is_unedited(strand, "o") and weave.is_unedited(strand, "u")
    return strand in emitted.place and is_same


_READS: Kind = "reads omni's local"
_SETS: Kind = "sets omni's local"

_At = tuple[str, Strand]
"""A local, and a statement that reads or sets it."""


class _Flow(NamedTuple):
    """The statements whose settings each statement of a text may read, and may replace."""

    read: Mapping[_At, set[Strand]]
    replaced: Mapping[_At, set[Strand]]


def _index_lines(emitted: Emitted) -> Mapping[int, Strand]:
    return {line: strand for strand, (first, last) in emitted.place.items() for line in range(first, last + 1)}


def _follow(text: str, names: set[str], places: Mapping[int, Strand]) -> _Flow:
    """Return the flow of ``names`` through a text; ``places`` maps its lines to strands."""

    def find_strands(found: Mapping[Setting, set[Setting]]) -> Mapping[_At, set[Strand]]:
        out = defaultdict[_At, set[Strand]](set)
        for one, settings in found.items():
            out[one.name, places[one.line]] |= {places[setting.line] for setting in settings}
        return out

    return _Flow(*map(find_strands, find_settings(text, names)))


def _follow_side(weave: Weave, triple: Triple, side: str, names: set[str]) -> _Flow:
    nodes, strands = weave.side(side)
    places = {
        line: strand for node, strand in zip(nodes, strands, strict=True) for line in range(node.start, node.end + 1)
    }
    return _follow(triple.omni if side == "o" else triple.upstream, names, places)


def _find_new_settings(weave: Weave, emitted: Emitted, side: str) -> dict[str, set[Strand]]:
    """Return the statements that set each name and that only this side added or edited.

    A statement that the side has no more often than the base is moved and not new.
    """
    nodes, _ = weave.side(side)
    counted, before = (Counter(node.canon for node in all_) for all_ in (nodes, weave.base))
    found = defaultdict[str, set[Strand]](set)
    for strand in emitted.place:
        if side not in strand.sides or (other_side(side) in strand.sides and not _is_edited_alone(weave, strand, side)):
            continue
        node = nodes[strand.on(side)]
        if counted[node.canon] > before[node.canon]:
            for name in binds(node) - {"_"}:
                found[name].add(strand)
    return found


def _is_edited_alone(weave: Weave, strand: Strand, side: str) -> bool:
    return weave.is_edited(strand, side) and weave.is_unedited(strand, other_side(side))


def _find_mistaken(
    weave: Weave, side: str, result: _Flow, flows: Mapping[str, _Flow], new: Mapping[str, Mapping[str, set[Strand]]]
) -> Iterator[tuple[str, Strand, Strand, frozenset[Strand]]]:
    """Yield (name, reader, setter, own) where code of one side's may read what the other side's setter set.

    In the side's own text the reader gets what its new statements ``own`` set. If in the other side's text the reader
    gets what the setter sets, it is mistaken only if all of ``own`` is lost, and never if both sides set it alike.
    """
    nodes, other = weave.side(side)[0], other_side(side)
    others = weave.side(other)[0]
    for (name, reader), arriving in result.read.items():
        expected = flows[side].read.get((name, reader), set())
        texts = {nodes[setter.on(side)].canon for setter in expected}
        meant = flows[other].read.get((name, reader), set())
        for setter in sorted(arriving & new[other].get(name, set()), key=lambda strand: strand.on(other)):
            if others[setter.on(other)].canon in texts or not _brings(weave, setter, other, name):
                continue
            own = _find_replaced(result, name, setter, new[other][name]) & expected & new[side].get(name, set())
            if own and (setter not in meant or own.isdisjoint(arriving)):
                yield name, reader, setter, frozenset(own)


def _brings(weave: Weave, setter: Strand, side: str, name: str) -> bool:
    """Whether a new statement brings a value of its own, and neither the base's statement nor its value."""
    node = weave.side(side)[0][setter.on(side)]
    if setter.base is not None and name in binds(weave.base[setter.base]):
        return False
    return name not in reads(node) or not any(name in binds(other) for other in weave.base)


def _find_replaced(flow: _Flow, name: str, setter: Strand, others: set[Strand]) -> set[Strand]:
    """Return the statements whose setting one replaces, itself or after ``others`` replaced it."""
    found, todo = set[Strand](), [setter]
    while todo:
        fresh = flow.replaced.get((name, todo.pop()), set()) - found
        found |= fresh
        todo += fresh & others
    return found
