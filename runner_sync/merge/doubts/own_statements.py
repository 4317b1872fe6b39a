"""Find unedited statements of omni's own that do something else in the result.

Comes in: the kept strands of a ``Weave``. Goes out: ``Doubt`` values. May touch: nothing.

For example, a block lost its body, a local its last reader, an attribute is set twice, or a local is used above the
statement that sets it.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from runner_sync.confidence import CONTESTED, DOUBTFUL
from runner_sync.merge.doubts.unread import find_reads
from runner_sync.merge.phrases.contents import Content
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, heads_around, pick_node
from runner_sync.statements import below, tree_of
from runner_sync.statements.dataflow import attributes_set, binds, reads, sets, uses
from runner_sync.syntax import dotted_name, walk


def add_unread_locals(
    weave: Weave, kept: Sequence[Strand], contents: Mapping[Strand, Content], doubts: Sequence[Doubt]
) -> list[Doubt]:
    """Add a doubt about each omni statement whose locals nothing reads any more.

    If a doubt already says that upstream removed the statement, it gets the sharper reason instead.
    """
    found = {doubt.strand: doubt for doubt in _find_unread_locals(weave, kept, contents)}
    out = []
    for doubt in doubts:
        unread = found.get(doubt.strand) if doubt.reason.kind == "edited statement removed" else None
        if unread is not None:
            del found[doubt.strand]
            doubt = replace(doubt, reason=Reason("edited statement unread", unread.reason.names))
        out.append(doubt)
    return [*out, *found.values()]


def _find_unread_locals(weave: Weave, kept: Sequence[Strand], contents: Mapping[Strand, Content]) -> list[Doubt]:
    """Return a doubt about each omni statement with locals that omni read and nothing in the result reads.

    If upstream has a version of the statement, the doubt requires that nothing reads any of its locals, because
    upstream may read other fields of a record that it unpacks.
    """
    read_before = {name for node in weave.omni for name in uses(node)}
    read_now = {name for strand in kept for name in find_reads(weave, strand, contents)}
    doubts = []
    for strand in kept:
        if strand.omni is None or not _has_omni_text(weave, strand, contents):
            continue
        bound = binds(weave.omni[strand.omni])
        names = sorted(bound & (read_before - read_now))
        is_all = strand.upstream is None or len(names) == len(bound)
        if names and is_all and not weave.omni[strand.omni].compound:
            doubts.append(Doubt(strand, Reason("no longer read", tuple(names)), CONTESTED))
    return doubts


def make_doubt_about_emptied(weave: Weave, suite: Strand) -> Doubt:
    """Return the doubt about a block that omni added and that is empty now.

    The doubt shows the first kept statement of its body; the reason says whether it stands in a new upstream block.
    """
    inside = [weave.of_omni[k] for k in below(weave.omni, suite.in_omni)[1:] if not weave.omni[k].is_comment]
    left = next((strand for strand in inside if strand.kept), None) if not suite.kept else None
    if left is None:
        return Doubt(suite, Reason("added block emptied"), CONTESTED)
    is_in_another = left.parent is not None and left.parent.sides == "u" and left.parent.kept
    return Doubt(suite, Reason("added block replaced" if is_in_another else "added block left"), CONTESTED, left)


def drop_emptied_inside(weave: Weave, doubts: Sequence[Doubt]) -> list[Doubt]:
    """Drop doubts about emptied omni blocks inside a left-out statement: its question shows everything inside it."""
    gone = {
        doubt.strand for doubt in doubts if doubt.reason.kind == "edited statement removed" and not doubt.strand.kept
    }
    return [
        doubt
        for doubt in doubts
        if doubt.reason.kind != "added block emptied" or gone.isdisjoint(heads_around(weave, doubt.strand, "o"))
    ]


def find_hollow_suites(weave: Weave, kept: Sequence[Strand]) -> list[Strand]:
    """Return heads of omni's own that lost their suite and stay only because of a clause (``except``, ``else``)."""
    full = {strand.parent for strand in kept if not pick_node(weave, strand).is_comment}
    once = {node.parent for node in weave.omni if not node.is_comment}
    return [s for s in kept if s.sides == "o" and s not in full and s.in_omni in once]


def find_set_twice(weave: Weave, kept: Sequence[Strand], contents: Mapping[Strand, Content]) -> list[Doubt]:
    """Return doubts about new upstream code that gives an attribute a value although a statement of omni's own sets it.

    Upstream sets it, or passes a keyword of its name to a call below with the same object: ``Output(out, rows=1)``.
    """
    set_by_omni = {target for s in kept if s.sides == "o" for target in attributes_set(pick_node(weave, s))}
    set_above: set[str] = set()
    doubts = []
    for strand in kept:
        set_above |= attributes_set(pick_node(weave, strand)) if strand.sides == "o" else set()
        both = sorted(set_by_omni & attributes_set(pick_node(weave, strand))) if strand.sides == "u" else []
        passed = [] if both else sorted(_find_newly_passed(weave, strand, contents, set_above))
        if both or passed:
            reason = Reason("set by both" if both else "passed beside own", tuple(both or passed)[:1])
            doubts.append(Doubt(strand, reason, CONTESTED))
    return doubts


def _find_newly_passed(
    weave: Weave, strand: Strand, contents: Mapping[Strand, Content], attributes: Collection[str]
) -> set[str]:
    """Return which ``attributes`` of an object a call newly gets by keyword from upstream, beside that object."""
    if strand.upstream is None:
        return set()
    now = weave.upstream[strand.upstream].canon
    wanted = {name for name in attributes if f"{name.rpartition('.')[2]}=" in now}
    if not wanted:
        return wanted
    before = [weave.base[strand.base].canon] if strand.base is not None else []
    before += [weave.omni[strand.omni].canon] if strand.omni is not None else []
    wanted &= _find_passed("\n".join(contents[strand].lines))
    return wanted.difference(*map(_find_passed, before))


def _find_passed(text: str) -> set[str]:
    """Return ``out.rows`` for each call with an argument ``out`` and a keyword ``rows`` with another value.

    A call that gets ``self`` replaces nothing of it.
    """
    found = set[str]()
    for call in walk(tree_of(text)):
        if isinstance(call, ast.Call):
            objects = {dotted_name(value) for value in (*call.args, *(word.value for word in call.keywords))}
            passed = {
                (f"{one}.{word.arg}", dotted_name(word.value)) for one in objects for word in call.keywords if one
            }
            found |= {name for name, value in passed if name != value and not name.startswith("self.")}
    return found


def find_set_beside_own_call(weave: Weave, kept: Sequence[Strand]) -> list[Doubt]:
    """Return doubts about new upstream calls that set an attribute which omni sets by a call of its own instead.

    For example, upstream builds another runner in a new branch, and omni builds its own runner in the other one.
    """
    calls: dict[str, str] = {}
    for strand in kept:
        if strand.base is not None and strand.omni is not None:
            before, own = weave.base[strand.base].facts, weave.omni[strand.omni].facts
            if before.called and own.called and before.called != own.called:
                calls |= dict.fromkeys(before.attributes & own.attributes, own.called)
    doubts = []
    for strand in kept:
        facts = pick_node(weave, strand).facts
        both = sorted(facts.attributes & calls.keys()) if strand.sides == "u" and facts.called else []
        if both and facts.called != calls[both[0]]:
            doubts.append(Doubt(strand, Reason("set beside omni's call", (both[0],), calls[both[0]]), CONTESTED))
    return doubts


def find_used_too_early(weave: Weave, kept: Sequence[Strand], line: Mapping[Strand, int]) -> list[Doubt]:
    """Return doubts about omni's own statements that read a local above the statement that now sets it.

    Upstream moved or replaced that statement. ``line`` maps each strand to its line in the result.
    """
    doubts = []
    replacing: dict[str, int] = {}
    for place, name in ((line[s], name) for s in kept if s.sides == "u" for name in binds(pick_node(weave, s))):
        replacing[name] = min(place, replacing.get(name, place))
    setters: dict[str, list[int]] = defaultdict(list)
    for index, node in enumerate(weave.omni):
        for name in binds(node):
            setters[name].append(index)
    for strand in kept:
        if strand.sides != "o" or (omni := strand.omni) is None:
            continue
        for name in sorted(reads(weave.omni[omni])):
            above = bisect_left(setters[name], omni) - 1
            setter = weave.of_omni[setters[name][above] if above >= 0 else omni]
            gone = not setter.kept or _has_lost_binding(weave, setter, name)
            instead = replacing.get(name) if gone else None
            if (line.get(setter, 0) if instead is None else instead) > line[strand]:
                doubts.append(Doubt(strand, Reason("set below its use", (name,)), DOUBTFUL))
                break
    return doubts


def find_stale_values(weave: Weave, kept: Sequence[Strand], asked: Sequence[Doubt]) -> list[Doubt]:
    """Return doubts about omni's own statements that read a local which nothing sets to omni's value any more.

    Upstream's loop or assignment no longer binds it, and another one of that name still does, as in::

        for index, row in enumerate(rows): ...
        for row in others:              # it was enumerate(others)
            self.mark(index)            # omni's own

    Skips statements and names that are ``asked`` about. Of a name that nothing binds, every reader is an unknown name.
    """
    asked_strands = {doubt.strand for doubt in asked}
    newly_bound, bound = {name for doubt in asked for name in doubt.reason.names}, set[str]()
    for strand in kept:
        node = weave.upstream[strand.upstream] if strand.upstream is not None else pick_node(weave, strand)
        bound |= binds(node)
        if strand.upstream is not None:
            newly_bound |= binds(node) - (binds(weave.omni[strand.omni]) if strand.omni is not None else frozenset())
    setters: dict[str, Strand] = {}
    doubts = []
    for strand, node in zip(weave.of_omni, weave.omni, strict=True):
        if strand.sides == "o" and strand.kept and strand not in asked_strands:
            stale = sorted(
                name
                for name in reads(node) & bound - newly_bound
                if name in setters and _has_lost_binding(weave, setters[name], name)
            )
            doubts += [Doubt(strand, Reason("reads an older value", (name,)), CONTESTED) for name in stale[:1]]
        setters |= dict.fromkeys(binds(node), strand)
    return doubts


def find_read_before_changed(
    weave: Weave, strands: Sequence[Strand], line: Mapping[Strand, int], *, asked: Collection[Strand]
) -> list[Doubt]:
    """Return doubts about omni's own statements that now stand above a new upstream statement whose local they read.

    In the order of the merge (``strands``) they stand behind it. ``line`` maps each strand of the result to its line.
    Skips strands in ``asked``.
    """
    doubts = []
    setters: dict[str, int] = {}
    for strand in strands:
        if strand not in line:
            continue
        node = pick_node(weave, strand)
        if strand.sides == "u":
            setters |= dict.fromkeys(sets(node), line[strand])
        elif strand.sides == "o" and strand not in asked:
            names = [name for name in sorted(reads(node)) if setters.get(name, 0) > line[strand]]
            doubts += [Doubt(strand, Reason("set below its use", (name,)), DOUBTFUL) for name in names[:1]]
    return doubts


def _has_lost_binding(weave: Weave, setter: Strand, name: str) -> bool:
    """Whether omni has a statement unedited, and upstream's version of it no longer binds ``name``."""
    return (
        setter.upstream is not None
        and weave.is_unedited(setter, "o")
        and name not in binds(weave.upstream[setter.upstream])
    )


def _has_omni_text(weave: Weave, strand: Strand, contents: Mapping[Strand, Content]) -> bool:
    """Whether the result has omni's text of a statement, and upstream lacks the statement or has another text."""
    chosen = contents[strand].lines
    return (
        strand.upstream is None or chosen == weave.omni[strand.in_omni].lines != weave.upstream[strand.upstream].lines
    )
