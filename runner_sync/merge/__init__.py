"""Three texts of one unit → the merged text, with every doubtful decision named.

Comes in: a ``Triple``. Goes out: ``Merged``. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from runner_sync.merge.classify import classify
from runner_sync.merge.confidence import CONTESTED
from runner_sync.merge.contents import Content, content
from runner_sync.merge.emit import Emitted, emit, prune, without_partial_wrappers
from runner_sync.merge.exits import added_exits
from runner_sync.merge.nesting import home, parents
from runner_sync.merge.passages import (
    emptied,
    set_for_nothing,
    set_twice,
    under_new_conditions,
    used_too_early,
)
from runner_sync.merge.policy import FOLLOW, PORT, RECORD, TOUCH_UP, Policy, Terms, settled_for
from runner_sync.merge.reason import Kind, Reason, Veto
from runner_sync.merge.remarks import with_their_statements
from runner_sync.merge.renames import (
    named_alike,
    with_old_reads_renamed,
    with_omni_names,
    with_omni_names_behind,
    with_omni_names_of_values,
    with_upstream_names,
)
from runner_sync.merge.replacing import go_where_the_old_one_is
from runner_sync.merge.resolve import settle_presence
from runner_sync.merge.returning import came_back
from runner_sync.merge.sequence import order
from runner_sync.merge.shown import is_shown_whole
from runner_sync.merge.shown import shown as text_of
from runner_sync.merge.unread import unread_additions
from runner_sync.merge.weave import Doubt, Strand, Weave, any_node
from runner_sync.model import Triple
from runner_sync.statements import UnparsableText, flatten, parses


@dataclass(frozen=True, slots=True)
class Decision:
    """A doubtful decision of a merge, in lines of the merged text, with the three sides and what was taken.

    What was left out has the line of what follows it in its suite; ``is_last`` where nothing does, and the line is that
    of the statement before."""

    line: int
    end_line: int
    reason: Reason
    confidence: float
    base: str
    omni: str
    upstream: str
    chosen: str
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged text of a unit, and what is doubtful about it."""

    text: str
    decisions: tuple[Decision, ...] = ()
    parses: bool = True


def merge(
    triple: Triple,
    *,
    policy: Policy | None = None,
    heritage: Collection[str] = frozenset(),
    veto: Veto | None = None,
    foreign: Collection[str] = frozenset(),
    pinned: Collection[str] = frozenset(),
) -> Merged:
    """Merge one unit. Raises ``UnparsableText`` when a side is no Python.

    Args:
        triple: the three texts, at any indentation.
        policy: which side wins where both changed the same; ``FOLLOW`` unless told.
        heritage: canonical statements of other revisions of upstream, which a composite copy may have.
        veto: the reason why a canonical statement of upstream must not come in, or ``None``.
        foreign: canonical statements that upstream has from a third party; they do not come in.
        pinned: canonical statements that omni has from a third party; that upstream dropped them is no reason to.
    """
    policy = policy or FOLLOW
    terms = Terms(policy, heritage, veto, foreign, pinned)
    if triple.upstream == triple.omni or (triple.upstream == triple.base and not heritage):
        return Merged(triple.omni)
    if triple.base == triple.omni and veto is None and not foreign:
        return Merged(triple.upstream)
    triple = with_omni_names_of_values(with_omni_names(triple))
    if policy.nesting == "upstream":
        triple = with_upstream_names(triple)
    weave = classify(flatten(triple.base), flatten(triple.omni), flatten(triple.upstream))
    strands = order(weave, policy)
    doubts = settle_presence(weave, strands, terms)
    parents(weave, strands, policy)
    if policy.nesting == "omni":
        doubts += without_partial_wrappers(weave, strands)
        go_where_the_old_one_is(weave)
    suites = [s for s in strands if s.sides == "o" and s.kept and not any_node(weave, s).is_comment]
    kept, hollow = prune(weave, strands)
    contents, both_changed = _contents(weave, kept, terms)
    doubts += unread_additions(weave, kept, contents, records_fit=policy.nesting == "omni")
    kept, hollow_now = prune(weave, kept)
    hollow += [doubt for doubt in hollow_now if doubt not in hollow]
    kept = with_their_statements(weave, kept, heritage)
    doubts += [doubt for doubt in hollow if any_node(weave, doubt.strand).canon not in foreign]
    doubts += [emptied(weave, s) for s in suites if not s.kept]
    doubts = set_for_nothing(weave, kept, doubts) + set_twice(weave, kept) + came_back(weave, kept)
    doubts += added_exits(weave, kept)
    doubts += both_changed
    return _written(triple, weave, strands, kept, contents, doubts, tight=policy.nesting == "upstream")


def _written(
    triple: Triple,
    weave: Weave,
    strands: Sequence[Strand],
    kept: Sequence[Strand],
    contents: dict[int, Content],
    doubts: Sequence[Doubt],
    *,
    tight: bool,
) -> Merged:
    """What is kept as text, and the doubts, with those that the order of the text brings, as questions at its lines."""
    emitted = emit(weave, kept, contents, indent=_indent(triple.omni or triple.upstream), tight=tight)
    asked = [*doubts, *under_new_conditions(weave, kept)]
    asked += used_too_early(weave, kept, {key: first for key, (first, _) in emitted.place.items()})
    nearby = _nearby(weave, strands, emitted)
    decisions = [
        _decision(weave, doubt, emitted, contents, nearby) for doubt in asked if not _is_nested(weave, doubt, asked)
    ]
    text = emitted.text if triple.omni.endswith("\n") or not triple.omni else emitted.text[:-1]
    return Merged(text, _left_out_at_one_place(_grouped(decisions)), parses(text))


def _contents(weave: Weave, kept: Sequence[Strand], terms: Terms) -> tuple[dict[int, Content], list[Doubt]]:
    """The chosen text of every strand, and what is doubtful about it."""
    contents, doubts = {}, []
    for strand in kept:
        contents[id(strand)], reason = content(weave, strand, terms)
        if reason is not None:
            doubts.append(Doubt(strand, reason, CONTESTED))
    return contents, doubts


def _indent(text: str) -> int:
    first = next((line for line in text.split("\n") if line.strip()), "")
    return len(first) - len(first.lstrip())


def _is_nested(weave: Weave, doubt: Doubt, doubts: Sequence[Doubt]) -> bool:
    """A statement inside a block about which the same question is asked already, or a clause that is shown there."""
    same = {id(d.strand) for d in doubts if d.reason == doubt.reason}
    for side, of, index in (
        (weave.omni, weave.of_omni, doubt.strand.omni),
        (weave.upstream, weave.of_upstream, doubt.strand.upstream),
        (weave.base, weave.of_base, doubt.strand.base),
    ):
        if index is None:
            continue
        above, owner = side[index].parent, side[index].owner
        if above >= 0 and id(of[above]) in same:
            return True
        if owner >= 0 and id(of[owner]) in same and is_shown_whole(side, of, owner):
            return True
    return False


ABSENT = 8
"""Lines between two statements that were left out within which they are one question."""


def _grouped(decisions: Sequence[Decision]) -> tuple[Decision, ...]:
    """Neighbouring decisions of one kind at one place are one question."""
    out: list[Decision] = []
    for item in decisions:
        last = out[-1] if out else None
        reach = 1 if item.chosen else ABSENT
        if last is None or last.reason != item.reason or not 0 <= item.line - last.end_line <= reach:
            out.append(item)
            continue
        out[-1] = replace(
            last,
            end_line=max(last.end_line, item.end_line),
            base=_lines(last.base, item.base),
            omni=_lines(last.omni, item.omni),
            upstream=_lines(last.upstream, item.upstream),
            chosen=_lines(last.chosen, item.chosen),
        )
    return tuple(out)


def _left_out_at_one_place(decisions: Sequence[Decision]) -> tuple[Decision, ...]:
    """What of upstream's was left out at one place, for whatever reasons, is one question: does omni do without it?

    It has the reason of the first, which the others follow from.
    """
    out: list[Decision] = []
    for item in decisions:
        place = item.line, item.is_last
        alike = (k for k, other in enumerate(out) if (other.line, other.is_last) == place and _is_left_out(other))
        at = next(alike, None) if _is_left_out(item) else None
        if at is None:
            out.append(item)
            continue
        out[at] = replace(
            out[at],
            confidence=min(out[at].confidence, item.confidence),
            base=_lines(out[at].base, item.base),
            upstream=_lines(out[at].upstream, item.upstream),
        )
    return tuple(out)


def _is_left_out(item: Decision) -> bool:
    return item.reason.kind in LEFT_OUT and not item.omni and not item.chosen


LEFT_OUT: Collection[Kind] = frozenset(
    {
        "removed statement changed",
        "addition to a removed block",
        "addition to a removed passage",
        "addition reads what omni does not set",
        "suite around nothing",
        "branch of a removed condition",
        "read only in what was left out",
    }
)
"""What becomes of a change of upstream's to a part that omni had taken out."""


def _lines(first: str, second: str) -> str:
    return "\n".join(text for text in (first, second) if text)


def _nearby(weave: Weave, strands: Sequence[Strand], emitted: Emitted) -> dict[int, tuple[int, bool]]:
    """For every strand where a reader misses it: the line of the next one in its suite that is in the result, else of
    the nearest one before it there, and whether it is the latter."""
    line, found = 0, {}
    last_in: dict[int, int] = {}
    for strand in strands:
        if id(strand) in emitted.place:
            line = emitted.place[id(strand)][0]
            last_in[id(strand.parent)] = last_in[id(strand)] = line
            found[id(strand)] = line, False
        else:
            found[id(strand)] = last_in.get(id(home(weave, strand)), line), True
    next_in: dict[int, int] = {}
    for strand in reversed(strands):
        if id(strand) in emitted.place:
            next_in[id(strand.parent)] = emitted.place[id(strand)][0]
        elif next_in.get(id(home(weave, strand)), 0) > found[id(strand)][0]:
            found[id(strand)] = next_in[id(home(weave, strand))], False
    return found


def _decision(
    weave: Weave, doubt: Doubt, emitted: Emitted, contents: dict[int, Content], nearby: Mapping[int, tuple[int, bool]]
) -> Decision:
    strand, shown = doubt.strand, doubt.instead or doubt.strand
    line, is_last = nearby.get(id(shown), (0, False))
    first, last = emitted.place.get(id(shown), (line, line))
    sides = [
        text_of(nodes, of, index) if index is not None else ""
        for nodes, of, index in (
            (weave.base, weave.of_base, strand.base),
            (weave.omni, weave.of_omni, strand.omni),
            (weave.upstream, weave.of_upstream, shown.upstream),
        )
    ]
    chosen = "\n".join(contents[id(shown)].lines) if id(shown) in emitted.place else ""
    return Decision(first, last, doubt.reason, doubt.confidence, sides[0], sides[1], sides[2], chosen, is_last)


__all__ = [
    "FOLLOW",
    "PORT",
    "RECORD",
    "TOUCH_UP",
    "Decision",
    "Kind",
    "Merged",
    "Policy",
    "Reason",
    "UnparsableText",
    "Veto",
    "any_node",
    "flatten",
    "merge",
    "named_alike",
    "settled_for",
    "with_old_reads_renamed",
    "with_omni_names_behind",
]
