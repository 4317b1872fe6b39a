"""Find additions of omni's that a statement which upstream moved has overtaken.

Comes in: the kept strands of a ``Weave``, and where each was written. Goes out: ``Doubt`` values. May touch: nothing.

A moved statement stands where upstream has it now, which says nothing about its order to what omni added in between.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from runner_sync.confidence import REBUILT
from runner_sync.merge.doubts.misplaced import OUT_OF_ORDER, find_crossed
from runner_sync.merge.placing.emit import Emitted
from runner_sync.merge.weave import Doubt, Strand, Weave, find_beside, heads_around, pick_node, strands_in_suite
from runner_sync.statements import JUMPS, Node, ancestors, below
from runner_sync.statements.dataflow import DOTTED, attributes_set, binds, mention_any

_IDLE = re.compile(
    r"""(?:\w*log(?:ger|ging)?|warnings)\.\w+\(|assert [^()]*$|f?['"]|pass$|(?:if|elif) [^()]*$|else\b|#""", re.I
)
"""A log line, an assertion, a string, or a condition without a call: it may run at any time."""


def find_overtaken(
    weave: Weave, moves: Mapping[Strand, Strand], emitted: Emitted, asked: Collection[Strand]
) -> list[Doubt]:
    """Return doubts about omni's additions whose order to a statement that upstream moved is another one than in omni.

    One of the two must use what the other changes, or the addition may leave its suite, or the two were neighbours and
    the addition sets nothing, so that only its place tells when it is due. There is also a doubt if a new upstream exit
    stands between an addition and the moved statement that it followed, or if the merge moved an addition over an
    unmoved statement on which it depends. ``moves`` maps the strand at the old place to the one at the new place. Skips
    strands in ``asked``.
    """
    moved = {old: new for old, new in moves.items() if new.sides == "u" and "o" in old.sides and new not in asked}
    crossed = set(find_crossed(weave, sorted(emitted.as_merged, key=lambda strand: emitted.place[strand]), "o"))
    unmoved = [s for s in emitted.place if "o" in s.sides and len(s.sides) > 1 and not s.moved] if crossed else []

    def is_overtaken(addition: Strand) -> bool:
        return any(
            _is_overtaken(weave, addition, old, new, emitted) or _is_cut_off(weave, addition, old, new, emitted)
            for old, new in moved.items()
        ) or any(
            _changed_places(addition, other, other, emitted) and _are_dependent(weave, addition, other)
            for other in (unmoved if addition in crossed else ())
        )

    additions = (addition for addition in _iter_additions(weave, emitted) if addition not in asked)
    return [Doubt(addition, OUT_OF_ORDER, REBUILT) for addition in additions if is_overtaken(addition)]


def _iter_additions(weave: Weave, emitted: Emitted) -> Iterator[Strand]:
    """Yield omni's own statements, but of a block of its own only the head."""
    for strand in emitted.place:
        node = pick_node(weave, strand)
        if strand.sides == "o" and not node.is_comment and not node.is_clause:
            above = next(heads_around(weave, strand, "o"), None)
            if above is None or above.sides != "o":
                yield strand


def _is_overtaken(weave: Weave, addition: Strand, old: Strand, new: Strand, emitted: Emitted) -> bool:
    if not _changed_places(addition, old, new, emitted):
        return False
    own = _find_own(weave, addition)
    sets_nothing = not any(binds(node) or attributes_set(node) or node.facts.targets for node in own)
    sets_nothing = sets_nothing and not all(_IDLE.match(node.canon) for node in own)
    is_neighbour = sets_nothing and old in _find_neighbours(weave, addition)
    return is_neighbour or _may_leave(weave, addition) or _are_dependent(weave, addition, old)


def _changed_places(addition: Strand, old: Strand, new: Strand, emitted: Emitted) -> bool:
    return (addition.in_omni < old.in_omni) != (emitted.place[addition] < emitted.place[new])


def _is_cut_off(weave: Weave, addition: Strand, old: Strand, new: Strand, emitted: Emitted) -> bool:
    """Whether an addition followed a moved statement in omni and now stands behind a new exit of upstream's, too."""
    followed = find_beside(weave, addition, "o", -1, lambda strand: strand.sides != "o")
    first, last = emitted.place[new], emitted.place[addition]
    return followed is old and any(
        strand.sides == "u" and first < line < last and pick_node(weave, strand).keyword in JUMPS
        for strand, line in emitted.place.items()
    )


def _find_neighbours(weave: Weave, addition: Strand) -> Iterator[Strand]:
    """Yield what omni has directly before and behind an addition, also as the first of a ``with`` behind it."""
    if (before := find_beside(weave, addition, "o", -1, _is_any)) is not None:
        yield before
    after = find_beside(weave, addition, "o", 1, _is_any)
    while after is not None:
        yield after
        is_entered = weave.omni[after.in_omni].is_with
        inside = strands_in_suite(weave, after, "o") if is_entered else []
        after = next((strand for strand in inside if not weave.omni[strand.in_omni].is_comment), None)


def _is_any(_: Strand) -> bool:
    return True


def _find_own(weave: Weave, addition: Strand) -> list[Node]:
    """Return an addition with what omni has inside it of its own."""
    return [weave.omni[k] for k in below(weave.omni, addition.in_omni) if weave.of_omni[k].sides == "o"]


def _may_leave(weave: Weave, addition: Strand) -> bool:
    """Whether an addition has an exit of its own that leaves more than a loop or a function inside it."""
    nodes, top = weave.omni, addition.in_omni
    for k in (k for k in below(nodes, top) if weave.of_omni[k].sides == "o"):
        inner = [nodes[head] for head in ancestors(nodes, k) if head >= top]
        ends_loop = any(head.is_loop for head in inner) and nodes[k].keyword != "return"
        if nodes[k].keyword in JUMPS and not ends_loop and not any(head.defines for head in inner):
            return True
    return False


def _are_dependent(weave: Weave, addition: Strand, other: Strand) -> bool:
    """Whether one of two statements mentions what the other changes, or the object of which the other sets a part."""
    own, shared = _find_own(weave, addition), [pick_node(weave, other)]
    known = {name for node in weave.omni for name in binds(node)}
    for one, two in (own, shared), (shared, own):
        changed = {name for node in one for name in _find_changed(node, known)}
        whole = {name.rpartition(".")[0] for name in changed} - {"", "self"}
        if mention_any(changed, two) or any(whole & {*DOTTED.findall(node.canon)} for node in two):
            return True
    return False


def _find_changed(node: Node, known: Collection[str]) -> Iterator[str]:
    """Yield the names that a statement sets, also by index, and the object in ``known`` of which it calls a method."""
    yield from binds(node)
    yield from attributes_set(node)
    yield from (target.partition("[")[0] for target in node.facts.targets if "[" in target)
    changed = node.called.rpartition(".")[0]
    if changed != "self" and changed.partition(".")[0] in known:
        yield changed
