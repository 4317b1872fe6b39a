"""Turn doubts into decisions: find their lines, join those that are one question, and add the text of each side.

Comes in: a ``Weave``, the written result, ``Doubt`` values. Goes out: ``Decision`` values. May touch: nothing.
"""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from runner_sync.edits import margin
from runner_sync.merge.doubts.kinds import (
    ADDITIONS,
    CHANGES,
    LEFT_OUT,
    OWN_BLOCKS,
    OWN_TEXT,
    PLACES,
    WHOLE_SUITES,
)
from runner_sync.merge.doubts.nearby import find_nearby_lines
from runner_sync.merge.doubts.shown import (
    find_lost_conditions,
    indent_under,
    is_explained_by_inside,
    is_shown_whole,
    show_together,
)
from runner_sync.merge.phrases.contents import Content
from runner_sync.merge.placing.emit import Emitted
from runner_sync.merge.placing.remarks import find_remarks
from runner_sync.merge.reason import Reason
from runner_sync.merge.replaced import REPLACED, find_gone_between, find_replaced
from runner_sync.merge.weave import Doubt, Strand, Weave, strands_inside
from runner_sync.statements import Node
from runner_sync.thresholds import ABSENT_LINES


@dataclass(frozen=True, slots=True)
class Decision:
    """A doubtful decision, in lines of the merged text, with the text of each side and the chosen text.

    If something was left out, the line is that of the next statement in its suite. With ``is_last`` none follows, and
    the line is that of the statement before. ``over_base`` and ``over_upstream`` are the conditions around these sides'
    text, as heads, outermost first, if none of it is in the result.
    """

    line: int
    end_line: int
    reason: Reason
    confidence: float
    base: str
    omni: str
    upstream: str
    chosen: str
    is_last: bool = False
    over_base: tuple[str, ...] = ()
    over_upstream: tuple[str, ...] = ()

    def under_conditions(self) -> Decision:
        """Return the decision as a person reads it, with left-out text below the conditions that it ran under."""
        base, upstream = indent_under(self.over_base, self.base), indent_under(self.over_upstream, self.upstream)
        return replace(self, base=base, upstream=upstream, over_base=(), over_upstream=())


@dataclass(frozen=True, slots=True)
class _Question:
    """Doubts that are asked about together, at their lines; the first, which led to the others, gives the reason."""

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
    def strands(self) -> list[Strand]:
        """The statements that the doubts are about."""
        return [doubt.strand for doubt in self.doubts]

    @property
    def is_left_out(self) -> bool:
        """Whether an upstream change was left out because omni had removed the part that it changes."""
        return self.reason.kind in LEFT_OUT and not self.chosen and all(d.strand.omni is None for d in self.doubts)


def make_decisions(
    weave: Weave,
    strands: Sequence[Strand],
    emitted: Emitted,
    contents: Mapping[Strand, Content],
    doubts: Sequence[Doubt],
) -> tuple[Decision, ...]:
    """Return the questions about the merged text that a person has to decide."""
    around = find_nearby_lines(weave, strands, emitted)
    asked: dict[Reason, set[Strand]] = defaultdict(set)
    for doubt in doubts:
        asked[doubt.reason].add(doubt.strand)
    inside: dict[tuple[Reason, Strand], list[Doubt]] = defaultdict(list)
    alone = []
    for doubt in doubts:
        head = _find_outermost_asked(weave, doubt, asked[doubt.reason], emitted)
        if head is None:
            alone.append(doubt)
        else:
            inside[doubt.reason, head].append(doubt)
    questions = [
        _extend_to_suite(
            weave, _make_question(doubt, inside[doubt.reason, doubt.strand], emitted, contents, around), emitted
        )
        for doubt in alone
    ]
    return tuple(_make_decision(weave, question) for question in _join_left_out(_join_neighbours(questions, emitted)))


def _make_question(
    doubt: Doubt,
    inside: Sequence[Doubt],
    emitted: Emitted,
    contents: Mapping[Strand, Content],
    around: Mapping[Strand, tuple[int, bool]],
) -> _Question:
    """Return the question about a statement; if it was left out, also about the doubts ``inside`` it."""
    shown = doubt.instead or doubt.strand
    line, is_last = around.get(shown, (0, False))
    first, last = emitted.place.get(shown, (line, line))
    chosen = "\n".join(contents[shown].lines) if shown in emitted.place else ""
    doubts = (doubt,) if chosen else (doubt, *inside)
    return _Question(first, last, doubts, doubt.confidence, chosen, is_last)


def _extend_to_suite(weave: Weave, question: _Question, emitted: Emitted) -> _Question:
    """Extend a question about a kept suite (`WHOLE_SUITES`) to the body.

    The head alone may be equal on both sides, and the body rewritten.
    """
    strand, kind = question.doubts[0].strand, question.reason.kind
    if kind not in WHOLE_SUITES or not question.chosen or strand.sides == "b":
        return question
    side = "o" if strand.omni is not None else "u"
    inside = strands_inside(weave, strand, side)
    shown = question.doubts[0].instead or strand
    inside += [other for other in emitted.place if shown in emitted.around(other)]
    last = max((emitted.place[one][1] for one in inside if one in emitted.place), default=question.end_line)
    lines = emitted.lines[question.line - 1 : last]
    return replace(question, end_line=last, chosen=textwrap.dedent("\n".join(lines)))


def _make_decision(weave: Weave, question: _Question) -> Decision:
    strands, kind = question.strands, question.reason.kind
    whole, together = kind in WHOLE_SUITES, len(strands) > 1 and kind in PLACES
    around = [doubt.strand.upstream for doubt in question.doubts if is_explained_by_inside(weave, doubt, strands)]
    has_lost_remark = _has_lost_remark(weave, question)
    has_grown = question.is_left_out and question.doubts[0].instead is not None
    in_both = whole or kind in OWN_BLOCKS or has_lost_remark
    base, upstream = _list_base(weave, question), _list_upstream(question)
    omni = _list_omni(weave, question, with_remarks=has_lost_remark)
    is_absent = not question.chosen and all(strand.omni is None for strand in strands)
    return Decision(
        question.line,
        question.end_line,
        question.reason,
        question.confidence,
        base=_show_side(weave.base, weave.of_base, base, whole=in_both or has_grown),
        omni=_show_side(weave.omni, weave.of_omni, omni, whole=in_both or together or _is_removed_edit(question)),
        upstream=_show_side(weave.upstream, weave.of_upstream, upstream, whole=whole or together, around=around),
        chosen=question.chosen,
        is_last=question.is_last,
        over_base=find_lost_conditions(weave.base, weave.of_base, base) if is_absent else (),
        over_upstream=find_lost_conditions(weave.upstream, weave.of_upstream, _clean(upstream)) if is_absent else (),
    )


def _list_base(weave: Weave, question: _Question) -> list[int]:
    """Return the base statements that a question shows: its own, and those that went with them or were replaced."""
    indices = [strand.in_base for strand in question.strands if strand.base is not None]
    indices += find_gone_between(weave, indices) if question.is_left_out else ()
    replaced = (doubt.strand for doubt in question.doubts if doubt.reason.kind in REPLACED)
    return [*indices, *(k for strand in replaced for k in find_replaced(weave, strand))]


def _list_omni(weave: Weave, question: _Question, *, with_remarks: bool) -> list[int | None]:
    """Return omni's statements that a question shows, on demand with the comments about them."""
    indices = [_get_omni_index(doubt) for doubt in question.doubts]
    remarks = find_remarks(weave.omni) if with_remarks else ()
    return [*indices, *(k for block, about in remarks if about in indices for k in block)]


def _list_upstream(question: _Question) -> list[int | None]:
    """Return the upstream statements that a question shows, with those that were left out along with them."""
    strands = [doubt.instead or doubt.strand for doubt in question.doubts]
    strands += [strand for doubt in question.doubts for strand in doubt.left_out]
    return [strand.upstream for strand in strands]


def _clean(indices: Iterable[int | None]) -> list[int]:
    """Return the distinct known indices in order."""
    return sorted({index for index in indices if index is not None})


def _is_removed_edit(question: _Question) -> bool:
    """Whether a question is about a statement that omni edited and of which nothing is left."""
    return question.reason.kind == "edited statement removed" and not question.chosen


def _has_lost_remark(weave: Weave, question: _Question) -> bool:
    """Whether a question is about a comment of omni's on a statement that went with everything inside it."""
    return question.reason.kind == "remark removed" and not any(
        strand.kept for doubt in question.doubts for strand in strands_inside(weave, doubt.strand, "o")
    )


def _get_omni_index(doubt: Doubt) -> int | None:
    """Return omni's index of the statement, or of the strand that stands ``instead`` of it."""
    return doubt.strand.omni if doubt.strand.omni is not None or doubt.instead is None else doubt.instead.omni


def _show_side(
    nodes: Sequence[Node],
    strands: Sequence[Strand],
    indices: Sequence[int | None],
    *,
    whole: bool = False,
    around: Sequence[int | None] = (),
) -> str:
    return show_together(nodes, strands, _clean(indices), whole=whole, around=_clean(around))


def _find_outermost_asked(weave: Weave, doubt: Doubt, asked: Collection[Strand], emitted: Emitted) -> Strand | None:
    """Return the outermost block around a statement among the strands ``asked`` about for the same reason.

    Stops at a kept head if the reason is only about its text (`OWN_TEXT`): that question does not cover its body.
    """
    found, around = None, _find_asked_parent(weave, doubt.strand, asked)
    while around is not None and not (doubt.reason.kind in OWN_TEXT and around in emitted.place):
        found, around = around, _find_asked_parent(weave, around, asked)
    return found


def _find_asked_parent(weave: Weave, strand: Strand, asked: Collection[Strand]) -> Strand | None:
    """Return the head around a statement, else the statement (shown whole) whose clause it is, if ``asked`` about."""
    for side, strands, index in (
        (weave.omni, weave.of_omni, strand.omni),
        (weave.upstream, weave.of_upstream, strand.upstream),
        (weave.base, weave.of_base, strand.base),
    ):
        if index is None:
            continue
        above, owner = side[index].parent, side[index].owner
        if above >= 0 and strands[above] in asked:
            return strands[above]
        if owner >= 0 and strands[owner] in asked and is_shown_whole(side, strands, owner):
            return strands[owner]
    return None


def _join_neighbours(questions: Sequence[_Question], emitted: Emitted) -> list[_Question]:
    """Join neighbouring questions with the same reason; for `PLACES`, a statement includes what is inside it."""
    out: list[_Question] = []
    for item in questions:
        last = out[-1] if out else None
        if last is not None and last.reason == item.reason and item.reason.kind in PLACES:
            end = _find_last_line(last.doubts[-1].strand, emitted)
            between = (line.strip() for line in emitted.lines[end : item.line - 1])
            if end < item.line and all(not line or line.startswith("#") for line in between):
                end = _find_last_line(item.doubts[-1].strand, emitted)
                chosen = textwrap.dedent("\n".join(emitted.lines[last.line - 1 : end]))
                out[-1] = replace(last, end_line=end, doubts=(*last.doubts, *item.doubts), chosen=chosen)
                continue
        reach = 1 if item.chosen else ABSENT_LINES
        if last is None or last.reason != item.reason or not 0 <= item.line - last.end_line <= reach:
            out.append(item)
            continue
        line = _find_first_line(last, item, emitted)
        out[-1] = replace(
            last,
            line=line,
            end_line=max(last.end_line, item.end_line),
            doubts=(*last.doubts, *item.doubts),
            chosen=_join_chosen(last, item, emitted, line),
        )
    return out


def _find_first_line(one: _Question, other: _Question, emitted: Emitted) -> int:
    """Return the first question's line; if it opens a suite beside whose head the other stands, that head's line."""
    shown, line = one.doubts[0].instead or one.doubts[0].strand, one.line
    if not (one.chosen and other.chosen) or shown not in emitted.place:
        return line
    column = _measure_indent(emitted, other.line)
    for head in emitted.around(shown):
        first, last = emitted.place[head]
        between = (row.strip() for row in emitted.lines[last : line - 1])
        if _measure_indent(emitted, line) <= column or any(row and not row.startswith("#") for row in between):
            break
        line = first
    return line if _measure_indent(emitted, line) == column else one.line


def _join_chosen(one: _Question, other: _Question, emitted: Emitted, line: int) -> str:
    """Join the chosen texts of two neighbouring questions; if indented unequally, take the lines from ``line`` on."""
    if one.chosen and other.chosen and _measure_indent(emitted, one.line) != _measure_indent(emitted, other.line):
        return textwrap.dedent("\n".join(emitted.lines[line - 1 : max(one.end_line, other.end_line)]))
    return "\n".join(text for text in (one.chosen, other.chosen) if text)


def _measure_indent(emitted: Emitted, line: int) -> int:
    return len(margin(emitted.lines[line - 1]))


def _find_last_line(strand: Strand, emitted: Emitted) -> int:
    """Return the last line of a statement in the result, with all that is inside it."""
    inside: set[Strand | None] = {strand}
    end = 0
    for other, (_, last) in emitted.place.items():
        if other is strand or emitted.above[other] in inside or (other.owner is not None and other.owner in inside):
            inside.add(other)
            end = last
    return end


def _join_left_out(questions: Sequence[_Question]) -> list[_Question]:
    """Join the questions about upstream changes left out at one place, whatever the reasons: does omni need them?"""
    out: list[_Question] = []
    for item in questions:
        place = item.line, item.is_last
        alike = (k for k, other in enumerate(out) if (other.line, other.is_last) == place and other.is_left_out)
        at = next(alike, None) if item.is_left_out else None
        if at is None:
            out.append(item)
            continue
        both = _unify_reason([*out[at].doubts, *item.doubts])
        out[at] = replace(out[at], doubts=both, confidence=min(out[at].confidence, item.confidence))
    return out


def _unify_reason(doubts: Sequence[Doubt]) -> tuple[Doubt, ...]:
    """Give the first doubt a reason that holds for all, if some are about changes and others about additions."""
    kinds = {doubt.reason.kind for doubt in doubts}
    if not (kinds & CHANGES and kinds & ADDITIONS):
        return tuple(doubts)
    return replace(doubts[0], reason=Reason("removed part changed")), *doubts[1:]
