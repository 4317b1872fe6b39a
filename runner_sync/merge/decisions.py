"""Doubts → decisions: at which line of the merged text each stands, which are one question, and what a side shows.

Comes in: a ``Weave``, what was written of it, ``Doubt`` values. Goes out: ``Decision`` values. May touch: nothing.
"""

from __future__ import annotations

import textwrap
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from runner_sync.merge.contents import Content
from runner_sync.merge.emit import Emitted
from runner_sync.merge.nesting import home
from runner_sync.merge.reason import Kind, Reason
from runner_sync.merge.shown import is_shown_whole, shown_together
from runner_sync.merge.weave import Doubt, Strand, Weave
from runner_sync.statements import Node, below, enclosing


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
class _Question:
    """Doubts that are asked about together, at their lines; it has the reason of the first, which the others follow
    from."""

    line: int
    end_line: int
    doubts: tuple[Doubt, ...]
    confidence: float
    chosen: str
    is_last: bool

    @property
    def reason(self) -> Reason:
        return self.doubts[0].reason

    @property
    def is_left_out(self) -> bool:
        """Whether it is about a change of upstream's to a part that omni had taken out."""
        return self.reason.kind in LEFT_OUT and not self.chosen and all(d.strand.omni is None for d in self.doubts)


def decisions(
    weave: Weave,
    strands: Sequence[Strand],
    emitted: Emitted,
    contents: Mapping[Strand, Content],
    doubts: Sequence[Doubt],
) -> tuple[Decision, ...]:
    """What a person is asked about the merged text."""
    nearby = _nearby(weave, strands, emitted)
    asked: dict[Reason, set[Strand]] = defaultdict(set)
    for doubt in doubts:
        asked[doubt.reason].add(doubt.strand)
    inside: dict[tuple[Reason, Strand], list[Doubt]] = defaultdict(list)
    alone = []
    for doubt in doubts:
        head = _asked_around(weave, doubt, asked[doubt.reason], emitted)
        if head is None:
            alone.append(doubt)
        else:
            inside[doubt.reason, head].append(doubt)
    questions = [
        _about_all_inside(
            weave, _question(doubt, inside[doubt.reason, doubt.strand], emitted, contents, nearby), emitted
        )
        for doubt in alone
    ]
    return tuple(_decision(weave, question) for question in _left_out_at_one_place(_grouped(questions)))


def _question(
    doubt: Doubt,
    inside: Sequence[Doubt],
    emitted: Emitted,
    contents: Mapping[Strand, Content],
    nearby: Mapping[Strand, tuple[int, bool]],
) -> _Question:
    """The question about a statement; where that was left out, about what is ``inside`` it as well."""
    shown = doubt.instead or doubt.strand
    line, is_last = nearby.get(shown, (0, False))
    first, last = emitted.place.get(shown, (line, line))
    chosen = "\n".join(contents[shown].lines) if shown in emitted.place else ""
    doubts = (doubt,) if chosen else (doubt, *inside)
    return _Question(first, last, doubts, doubt.confidence, chosen, is_last)


def _about_all_inside(weave: Weave, question: _Question, emitted: Emitted) -> _Question:
    """The question with all that stands in the suite that it is about, where its head alone tells no one what stayed.

    ``if …enable_return_routed_experts:`` of vllm-omni 0.27.0 is the same on both sides; its body was written anew.
    """
    omni = question.doubts[0].strand.omni
    if question.reason.kind not in WHOLE_SUITES or not question.chosen or omni is None:
        return question
    inside = [weave.of_omni[k] for k in below(weave.omni, omni)]
    last = max(emitted.place[strand][1] for strand in inside if strand in emitted.place)
    chosen = textwrap.dedent("\n".join(emitted.lines[question.line - 1 : last]))
    return replace(question, end_line=last, chosen=chosen)


def _decision(weave: Weave, question: _Question) -> Decision:
    strands = [doubt.strand for doubt in question.doubts]
    now = [doubt.instead or doubt.strand for doubt in question.doubts]
    now += [strand for doubt in question.doubts for strand in doubt.left_out]
    whole = question.reason.kind in WHOLE_SUITES
    return Decision(
        question.line,
        question.end_line,
        question.reason,
        question.confidence,
        base=_side(weave.base, weave.of_base, [strand.base for strand in strands], whole=whole),
        omni=_side(weave.omni, weave.of_omni, [strand.omni for strand in strands], whole=whole),
        upstream=_side(weave.upstream, weave.of_upstream, [strand.upstream for strand in now]),
        chosen=question.chosen,
        is_last=question.is_last,
    )


def _side(nodes: Sequence[Node], of: Sequence[Strand], indices: Sequence[int | None], *, whole: bool = False) -> str:
    return shown_together(nodes, of, sorted({index for index in indices if index is not None}), whole=whole)


def _asked_around(weave: Weave, doubt: Doubt, asked: Collection[Strand], emitted: Emitted) -> Strand | None:
    """The outermost block about which the same question is ``asked`` and that a statement is inside.

    A question about the text of a statement that stays is none about what is inside it."""
    found, around = None, _around(weave, doubt.strand, asked)
    while around is not None and not (doubt.reason.kind in OWN_TEXT and around in emitted.place):
        found, around = around, _around(weave, around, asked)
    return found


def _around(weave: Weave, strand: Strand, asked: Collection[Strand]) -> Strand | None:
    """The head that a statement is directly below, or the statement that shows it as its clause, if ``asked`` about."""
    for side, of, index in (
        (weave.omni, weave.of_omni, strand.omni),
        (weave.upstream, weave.of_upstream, strand.upstream),
        (weave.base, weave.of_base, strand.base),
    ):
        if index is None:
            continue
        above, owner = side[index].parent, side[index].owner
        if above >= 0 and of[above] in asked:
            return of[above]
        if owner >= 0 and of[owner] in asked and is_shown_whole(side, of, owner):
            return of[owner]
    return None


OWN_TEXT: Collection[Kind] = frozenset(
    {"both changed a part", "both added versions", "both added an argument", "keywords taken over"}
)
"""What is asked of the text of one statement, of a compound one of its head."""


ABSENT = 8
"""Lines between two statements that were left out within which they are one question."""


def _grouped(questions: Sequence[_Question]) -> list[_Question]:
    """Neighbouring doubts of one kind at one place are one question."""
    out: list[_Question] = []
    for item in questions:
        last = out[-1] if out else None
        reach = 1 if item.chosen else ABSENT
        if last is None or last.reason != item.reason or not 0 <= item.line - last.end_line <= reach:
            out.append(item)
            continue
        out[-1] = replace(
            last,
            end_line=max(last.end_line, item.end_line),
            doubts=(*last.doubts, *item.doubts),
            chosen="\n".join(text for text in (last.chosen, item.chosen) if text),
        )
    return out


def _left_out_at_one_place(questions: Sequence[_Question]) -> list[_Question]:
    """What of upstream's was left out at one place, for whatever reasons, is one question: does omni do without it?"""
    out: list[_Question] = []
    for item in questions:
        place = item.line, item.is_last
        alike = (k for k, other in enumerate(out) if (other.line, other.is_last) == place and other.is_left_out)
        at = next(alike, None) if item.is_left_out else None
        if at is None:
            out.append(item)
            continue
        both = (*out[at].doubts, *item.doubts)
        out[at] = replace(out[at], doubts=both, confidence=min(out[at].confidence, item.confidence))
    return out


LEFT_OUT: Collection[Kind] = frozenset(
    {
        "removed statement changed",
        "addition to a removed block",
        "addition to a removed passage",
        "addition reads what omni does not set",
        "exit of no loop",
        "suite around nothing",
        "branch of a removed condition",
        "read only in what was left out",
    }
)
"""What becomes of a change of upstream's to a part that omni had taken out."""


WHOLE_SUITES: Collection[Kind] = frozenset(
    {"edited block removed", "loop with additions removed", "condition of additions removed"}
)
"""What is asked of a suite that stays for what omni has inside it: that is what there is to decide about."""


def _nearby(weave: Weave, strands: Sequence[Strand], emitted: Emitted) -> dict[Strand, tuple[int, bool]]:
    """For every strand where a reader misses it: the line of the next one in its suite that is in the result, else of
    the nearest one before it there, and whether it is the latter.

    What omni does not have stands behind what it follows in upstream's text: in output order all that omni alone has
    there comes first, the whole forward pass for instance.
    """
    line, found = 0, {}
    last_in: dict[Strand | None, int] = {}
    for strand in strands:
        if strand in emitted.place:
            line = emitted.place[strand][0]
            last_in[strand.parent] = last_in[strand] = line
            found[strand] = line, False
        else:
            found[strand] = last_in.get(home(weave, strand), line), True
    next_in: dict[Strand | None, int] = {}
    for strand in reversed(strands):
        if strand in emitted.place:
            next_in[strand.parent] = emitted.place[strand][0]
        elif next_in.get(home(weave, strand), 0) > found[strand][0]:
            found[strand] = next_in[home(weave, strand)], False
    beside: dict[Strand | None, list[int]] = defaultdict(list)
    for strand in strands:
        if strand in emitted.place and strand.owner is None:
            beside[strand.parent].append(emitted.place[strand][0])
    for lines in beside.values():
        lines.sort()
    last: int | None = None
    for index, strand in enumerate(weave.of_upstream):
        if strand in emitted.place:
            last = index if not weave.upstream[index].is_comment else last
        elif strand in found and strand.omni is None and last is not None:
            before = _beside(weave, index, last, emitted)
            found[strand] = found[strand] if before is None else _behind(before, beside[before.parent], emitted)
    return found


def _beside(weave: Weave, index: int, last: int, emitted: Emitted) -> Strand | None:
    """The statement of upstream's that is written ``last`` before another, or the head around it that stands beside
    that; ``None`` where the suite of the other begins first. A clause is inside its statement for this."""
    nodes = weave.upstream
    heads = {k for k in enclosing(nodes, index) if k not in _owners(nodes, index)}
    if last in heads:
        return None
    around = (k for k in (last, *enclosing(nodes, last)) if k not in heads)
    return [other for k in around if (other := weave.of_upstream[k]) in emitted.place][-1]


def _owners(nodes: Sequence[Node], index: int) -> set[int]:
    """Those of them that a clause belongs to, in which the statement is."""
    return {nodes[k].owner for k in (index, *enclosing(nodes, index)) if nodes[k].is_clause}


def _behind(before: Strand, lines: Sequence[int], emitted: Emitted) -> tuple[int, bool]:
    """The line of what follows a statement in its suite in the result, or its own, and whether it is the last there.

    ``lines`` are those of the suite, in order.
    """
    first, _ = emitted.place[before]
    following = bisect_right(lines, first)
    return (lines[following], False) if following < len(lines) else (first, True)
