"""Keep comments with the statements that they are about.

Comes in: the kept strands of a ``Weave``, in output order or as suites. Goes out: those of them that stay, or the
suites in another order. May touch: ``about``, ``kept``, ``parent`` and ``upstream`` of the strands.

A comment is about the statement directly below it; one with a blank line below it is about no single statement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby

from runner_sync.merge.matching.successors import successor
from runner_sync.merge.weave import Strand, Weave, any_node, only_in_omni
from runner_sync.rulers import is_drawn
from runner_sync.statements import Node
from runner_sync.statements.likeness import dice

REWORDED = 0.4
"""Dice coefficient of words from which on two comments on one statement count as one, reworded; of the lines that only
their own side has."""

REFLOWED = 0.9
"""The same for all lines of the two comments, which then merely break their lines at other words."""

Nodes = Sequence[Node]


def with_their_statements(weave: Weave, kept: Sequence[Strand], heritage: Collection[str]) -> list[Strand]:
    """The strands, with comments moved to where their statements are now, and without obsolete comments.

    Of upstream's comments, those are obsolete whose statement did not come in, and which omni does not have itself, or
    on which omni has a comment that says the same. Of omni's, those whose paragraph is gone, and those from another
    revision of upstream (``heritage``) where upstream now has another comment.
    """
    alive = set(kept)
    kept = _with_those_on_equals(weave, _with_those_of_moved(weave, kept, alive), alive)
    out: set[Strand] = set()
    for block, about in remarks_on(weave.upstream):
        strand = weave.of_upstream[about]
        new = [weave.of_upstream[k] for k in block if weave.of_upstream[k].sides == "u"]
        if new and new[-1].about is not None:
            continue
        if strand not in alive or _is_reworded(weave, strand, block):
            out |= set(new)
        out |= set(_half_missing(weave, block))
    for block, about in remarks_on(weave.omni):
        mine = [strand for k in block if (strand := weave.of_omni[k]).sides == "o" or _is_kept_edit(strand, alive)]
        if mine and mine[-1].about is not None:
            continue
        if mine and not _has_successor(weave, kept, mine[-1]) and not _is_any_left(weave, about, alive):
            out |= {comment for comment in mine if not is_drawn(weave.omni[comment.in_omni].text)}
        elif mine and _is_replaced_since(weave, block, about, heritage):
            out |= set(mine)
    for strand in kept:
        strand.kept = strand not in out
    _go_into_its_suite(weave)
    return [strand for strand in kept if strand.kept]


def _go_into_its_suite(weave: Weave) -> None:
    """Put omni's own comments on a statement into the new block that upstream put around the statement."""
    for block, about in remarks_on(weave.omni):
        strand = weave.of_omni[about]
        above = strand.parent
        if not strand.kept or above is None or above.sides != "u":
            continue
        for comment in (weave.of_omni[k] for k in block):
            if (
                comment.sides == "o"
                and comment.parent is above.parent
                and not is_drawn(weave.omni[comment.in_omni].text)
            ):
                comment.parent = above


def _with_those_of_moved(weave: Weave, kept: Sequence[Strand], alive: Collection[Strand]) -> list[Strand]:
    """The strands, with omni's own comments on a statement that is gone moved above its `successor`."""
    out = list(kept)
    for block, about in remarks_on(weave.omni):
        mine = [strand for k in block if (strand := weave.of_omni[k]).sides == "o" and strand in alive]
        mine = [comment for comment in mine if not is_drawn(weave.omni[comment.in_omni].text)]
        is_gone = weave.of_omni[about].sides == "bo" and weave.of_omni[about] not in alive
        there = successor(weave, weave.of_omni[about], kept) if mine and is_gone else None
        if there is None or there.omni is not None:
            continue
        out = [strand for strand in out if strand not in mine]
        at = out.index(there)
        out[at:at] = mine
        for comment, below in zip(mine, [*mine[1:], there], strict=True):
            comment.parent, comment.about = there.parent, below
    return out


def _with_those_on_equals(weave: Weave, kept: Sequence[Strand], alive: Collection[Strand]) -> list[Strand]:
    """The strands, with upstream's new comments on a new statement that did not come in moved above the same one of
    omni's own (`only_in_omni`)."""
    out, own = list(kept), only_in_omni(weave)
    theirs = Counter(node.canon for node in weave.upstream)
    for block, about in remarks_on(weave.upstream):
        strand, node = weave.of_upstream[about], weave.upstream[about]
        there = own.get(node.canon) if strand.sides == "u" and theirs[node.canon] == 1 else None
        new = [weave.of_upstream[k] for k in block]
        if there not in alive or strand in alive or there is None or _is_reworded(weave, there, block):
            continue
        if any(comment.sides != "u" or comment not in alive for comment in new):
            continue
        out = [other for other in out if other not in new]
        at = out.index(there)
        out[at:at] = new
        for comment, below in zip(new, [*new[1:], there], strict=True):
            comment.parent, comment.about = there.parent, below
    return out


def keep_on_untouched(weave: Weave, strands: Sequence[Strand]) -> None:
    """Keep omni's comments, and no others, on the statements of omni's that upstream's change leaves alone.

    For a text that is no copy: a comment that upstream moves, drops or adds there is about upstream's statements beside
    it. Upstream's comments stay on its new statements, each as a whole or not at all; one with a blank line below it
    counts as on the next statement here.
    """
    changed, handed_on, parted = set(_changed(weave, strands)), _handed_on(weave), set[int]()
    for block, about in remarks_on(weave.omni):
        strand = weave.of_omni[about]
        if not strand.kept or strand in changed or block in handed_on:
            continue
        for comment in (weave.of_omni[k] for k in block):
            comment.kept, comment.parent = True, strand.parent
            if comment.upstream is not None:
                parted.add(comment.upstream)
                weave.of_upstream[comment.upstream] = Strand(upstream=comment.upstream, kept=False)
                comment.upstream = None
    for block, about in remarks_on(weave.upstream, apart=True):
        strand = weave.of_upstream[about]
        if strand.omni is None and strand.kept and parted.isdisjoint(block):
            continue
        if strand.omni is None or strand not in changed:
            for k in block:
                if weave.of_upstream[k].sides == "u":
                    weave.of_upstream[k].kept = False


def _handed_on(weave: Weave) -> list[range]:
    """Omni's comments that are unedited since the base, and that upstream now has on a new statement that comes in."""
    on_new = {
        weave.of_upstream[k]
        for block, about in remarks_on(weave.upstream)
        if weave.of_upstream[about].omni is None and weave.of_upstream[about].kept
        for k in block
    }
    return [
        block
        for block, _ in remarks_on(weave.omni)
        if any(weave.of_omni[k] in on_new for k in block) and all(_is_of_base(weave, weave.of_omni[k]) for k in block)
    ]


def _is_of_base(weave: Weave, strand: Strand) -> bool:
    """Whether omni has a line with the base's text."""
    base, omni = strand.base, strand.omni
    return base is not None and omni is not None and weave.base[base].canon == weave.omni[omni].canon


def _changed(weave: Weave, strands: Sequence[Strand]) -> Iterator[Strand]:
    """The statements that upstream's change adds, removes or edits, each with all heads around it."""
    for strand in strands:
        if any_node(weave, strand).is_comment or not _is_change(weave, strand):
            continue
        around: Strand | None = strand
        while around is not None:
            yield around
            around = around.owner or around.parent


def _is_change(weave: Weave, strand: Strand) -> bool:
    """Whether upstream's change adds a statement to omni's text, removes it, or edits it."""
    if strand.omni is None or not strand.kept:
        return strand.kept != (strand.omni is not None)
    if strand.upstream is None or strand.base is None:
        return False
    return weave.base[strand.base].canon != weave.upstream[strand.upstream].canon


def _half_missing(weave: Weave, block: range) -> Iterator[Strand]:
    """The lines that upstream added next to comment lines that omni lacks: without those, they are half a sentence."""
    lines = [weave.of_upstream[k] for k in block]
    for is_missing, run in groupby(lines, key=lambda strand: strand.omni is None):
        missing = list(run)
        if is_missing and any(strand.base is not None for strand in missing):
            yield from (strand for strand in missing if strand.base is None)


def _is_kept_edit(strand: Strand, alive: Collection[Strand]) -> bool:
    """Whether a comment line that upstream dropped is kept, because omni edited it."""
    return strand.sides == "bo" and strand in alive


def _is_replaced_since(weave: Weave, block: range, about: int, heritage: Collection[str]) -> bool:
    """Whether a comment of omni's is all from an older revision of upstream, and upstream now has another one on the
    same statement."""
    there = weave.of_omni[about].upstream
    old = all(weave.of_omni[k].sides == "o" and weave.omni[k].canon in heritage for k in block)
    return old and there is not None and any(about == there for _, about in remarks_on(weave.upstream))


def put_above_their_statements(weave: Weave, suites: Iterable[list[Strand]]) -> None:
    """Put comments of one side back directly above their statement, where a merge put others in between; and comments
    that the other side lacks, where a merge put others between their lines.

    In place, and only inside one suite. Never a ruler, which is about all that stands between it and the next.
    """
    home = {strand: suite for suite in suites for strand in suite}
    for side in ("o", "u"):
        nodes, of = weave.side(side)
        for block, about in remarks_on(nodes):
            suite, strand = home.get(of[about], []), of[about]
            own, lines = (_last_lines(weave, side, block, sides) for sides in ({side}, {side, f"b{side}"}))
            if all(home.get(line) is suite for line in own) and _is_parted(weave, suite, [*own[-1:], strand]):
                _put_in_front(suite, own, strand)
            if all(home.get(line) is suite for line in lines) and _is_parted(weave, suite, [*lines[:1], *lines[-1:]]):
                _put_in_front(suite, lines, strand)


def _last_lines(weave: Weave, side: str, block: range, sides: Collection[str]) -> list[Strand]:
    """The last lines of a comment that only these ``sides`` have, down from the last ruler in it."""
    nodes, of = weave.side(side)
    found: list[Strand] = []
    for k in reversed(block):
        if of[k].sides not in sides or is_drawn(nodes[k].text):
            break
        found.insert(0, of[k])
    return found


def _is_parted(weave: Weave, suite: Sequence[Strand], ends: Sequence[Strand]) -> bool:
    """Whether the first of two strands of a suite does not stand above the second, with only comments in between."""
    if len(ends) < 2:
        return False
    first, last = (suite.index(strand) for strand in ends)
    return last < first or not all(any_node(weave, other).is_comment for other in suite[first:last])


def _put_in_front(suite: list[Strand], lines: Sequence[Strand], strand: Strand) -> None:
    suite[:] = [other for other in suite if not any(other is line for line in lines)]
    at = suite.index(strand)
    suite[at:at] = lines


def is_on(weave: Weave, comment: Strand, strand: Strand) -> bool:
    """Whether omni alone has a comment, and has it directly above a statement, without a blank line in between."""
    if comment.about is strand:
        return True
    if comment.sides != "o" or strand.omni is None or comment.omni is None:
        return False
    below = weave.omni[strand.omni]
    return weave.omni[comment.omni].is_comment and comment.omni == strand.omni - 1 and not below.blanks


def remarks_on(nodes: Nodes, *, apart: bool = False) -> Iterator[tuple[range, int]]:
    """``(comments, statement)``: consecutive comments and the statement directly below them in the same suite, as
    indices. With ``apart`` there may be blank lines in between."""
    start = None
    for k, node in enumerate(nodes):
        if start is not None and node.is_comment and node.blanks and not apart:
            start = None
        if node.is_comment:
            start = k if start is None else start
            continue
        if start is not None and (apart or not node.blanks) and node.parent == nodes[start].parent:
            yield range(start, k), k
        start = None


def _is_reworded(weave: Weave, strand: Strand, block: range) -> bool:
    """Whether omni has a comment on the statement that says much the same as upstream's, which is ``block``."""
    if strand.omni is None:
        return False
    mine = next((b for b, about in remarks_on(weave.omni) if about == strand.omni), range(0))
    ours = [weave.omni[k] for k in mine if weave.of_omni[k].sides == "o" and not is_drawn(weave.omni[k].text)]
    theirs = [weave.upstream[k] for k in block if weave.of_upstream[k].sides == "u"]
    if not theirs or any(_is_replaced(weave, weave.of_omni[k]) for k in mine):
        return False
    whole = [weave.omni[k] for k in mine], [weave.upstream[k] for k in block]
    return (bool(ours) and _likeness(ours, theirs) >= REWORDED) or _likeness(*whole) >= REFLOWED


def _is_replaced(weave: Weave, line: Strand) -> bool:
    """Whether upstream edited a line that omni has as the base has it, so that upstream's text stands there."""
    if line.base is None or line.omni is None or line.upstream is None:
        return False
    return weave.base[line.base].canon == weave.omni[line.omni].canon != weave.upstream[line.upstream].canon


def _likeness(ours: Nodes, theirs: Nodes) -> float:
    return dice(*(sum((node.words for node in side), Counter[str]()) for side in (ours, theirs)))


def _is_any_left(weave: Weave, first: int, alive: set[Strand]) -> bool:
    """Whether the result has any statement of omni's paragraph, which ends at a blank line or another comment."""
    nodes = weave.omni
    inside = {first}
    for k in range(first + 1, len(nodes)):
        node = nodes[k]
        follows = node.parent == nodes[first].parent and not node.is_comment and not node.blanks
        if not (follows or node.parent in inside or node.owner in inside):
            break
        inside.add(k)
    return any(weave.of_omni[k] in alive for k in inside if not nodes[k].is_comment)


def _has_successor(weave: Weave, kept: Sequence[Strand], comment: Strand) -> bool:
    """Whether the next kept statement behind a comment is a new one of upstream's, in the same suite: a new ``finally``
    belongs to what stands above."""
    at = next((k for k, strand in enumerate(kept) if strand is comment), len(kept))
    following = next((s for s in kept[at + 1 :] if not any_node(weave, s).is_comment), None)
    is_beside = following is not None and following.owner is None and following.parent is comment.parent
    return is_beside and following is not None and following.sides == "u"
