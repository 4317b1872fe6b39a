"""Find upstream's new ``return`` statements that omni writes otherwise, and each ``break`` outside a loop.

Comes in: the kept strands of a ``Weave``. Goes out: ``Doubt`` values; a ``break`` outside a loop is marked as left out.
May touch: ``kept`` of the strands.

If omni changed every ``return`` to return more or to clean up, or has a statement of its own before each of them, a new
upstream ``return`` lacks that. Nothing fails, but the result is incomplete there.

Python rejects a ``break`` outside a loop. If omni emptied or removed the loop, upstream's new ``break`` is left out.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from runner_sync.confidence import CONTESTED
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, find_nearest_sibling, heads_around, pick_node
from runner_sync.statements import Node, siblings
from runner_sync.thresholds import DISTINCT


def find_added_exits(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """Return doubts about new upstream ``return`` statements whose text the base has and omni has nowhere.

    Omni changed every ``return`` with that text.
    """
    changed = {node.canon for node in weave.base if _is_distinct_return(node)} - {node.canon for node in weave.omni}
    doubts = []
    for strand in kept:
        node = pick_node(weave, strand)
        if strand.sides == "u" and node.canon in changed:
            doubts.append(Doubt(strand, Reason("exit that omni has otherwise"), CONTESTED))
    return doubts


def find_exits_without_own_statement(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """Return doubts about new upstream ``return`` statements without what omni has before each of the others.

    That is one simple statement of omni's own, with the same text directly before every ``return`` of the function. If
    there is only one other, the new one must return the result of the same function.
    """
    due = _find_own_before_all(weave, set(kept))
    doubts = []
    for strand in kept if due else ():
        node = pick_node(weave, strand)
        is_new = strand.sides == "u" and node.keyword == "return"
        own, others = due.get(_find_function(weave, strand, "u"), ("", [])) if is_new else ("", [])
        above = (weave.upstream[k].canon for k in siblings(weave.upstream, strand.in_upstream, step=-1)) if own else ()
        is_due = len(others) > 1 or any(
            _read_returned_call(other) == _read_returned_call(node) != "" for other in others
        )
        if own and is_due and own not in above:
            doubts.append(Doubt(strand, Reason("exit without omni's statement", (own,)), CONTESTED))
    return doubts


def _read_returned_call(node: Node) -> str:
    """Return the name of the function whose result a ``return`` gives back, else empty."""
    match = _RETURNED_CALL.match(node.canon)
    return match[1] if match is not None else ""


_RETURNED_CALL = re.compile(r"return (?:await )?([\w.]+)\(")


def _find_own_before_all(weave: Weave, alive: Collection[Strand]) -> dict[Strand | None, tuple[str, list[Node]]]:
    """Map each function to the statement of omni's own that stands directly before all its ``return``, and to these."""
    found, returns = defaultdict[Strand | None, list[str]](list), defaultdict[Strand | None, list[Node]](list)
    for k, strand in enumerate(weave.of_omni):
        if weave.omni[k].keyword == "return" and strand in alive:
            before = find_nearest_sibling(weave.omni, k, -1)
            above = None if before is None else weave.of_omni[before]
            own = pick_node(weave, above) if above is not None and above.sides == "o" and above in alive else None
            function = _find_function(weave, strand, "o")
            found[function].append("" if own is None or own.compound else own.canon)
            returns[function].append(weave.omni[k])
    return {one: (all_[0], returns[one]) for one, all_ in found.items() if all_[0] and len({*all_}) == 1}


def _find_function(weave: Weave, strand: Strand, side: str) -> Strand | None:
    return next((head for head in heads_around(weave, strand, side) if pick_node(weave, head).defines), None)


def drop_exits_outside_loops(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """Leave out each ``break`` and ``continue`` outside a loop, with suites that hold nothing else; return doubts."""
    inside = Counter(s.parent for s in kept if s.parent is not None and not pick_node(weave, s).is_comment)
    inside.update(s.owner for s in kept if s.owner is not None)
    doubts = []
    for strand in kept:
        if not _is_loop_exit(pick_node(weave, strand)) or _is_in_loop(weave, strand):
            continue
        strand.kept, outermost = False, strand
        while (above := outermost.parent) is not None and inside[above] == 1:
            above.kept, outermost = False, above
        if outermost.parent is not None:
            inside[outermost.parent] -= 1
        doubts.append(Doubt(outermost, Reason("exit of no loop"), CONTESTED))
    return doubts


_OUT_OF_A_LOOP = re.compile(r"^ *(?:break|continue)$", re.MULTILINE)
"""In canonical text each statement has a line of its own, even both of ``if late: note(); break``."""


def _is_loop_exit(node: Node) -> bool:
    return not node.is_comment and not node.is_loop and _OUT_OF_A_LOOP.search(node.canon) is not None


def _is_in_loop(weave: Weave, strand: Strand) -> bool:
    """Whether a statement stands in a loop of its own function; the ``else`` of a loop is outside it."""
    above = strand.parent
    while above is not None and not pick_node(weave, above).defines:
        if pick_node(weave, above).is_loop:
            return True
        above = (above.owner or above).parent
    return False


def _is_distinct_return(node: Node) -> bool:
    return node.keyword == "return" and node.weight >= DISTINCT
