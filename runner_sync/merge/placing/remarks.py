"""Keep comments with the statements that they are about.

Comes in: the kept strands of a ``Weave``, in output order or as suites. Goes out: the strands that stay, or reordered
suites. May touch: ``about``, ``kept``, ``parent`` and ``upstream`` of the strands, ``of_upstream`` of the weave, and
the suites.

A comment is about the statement directly below it. A comment with a blank line below it is about no single statement.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby

from runner_sync.merge.matching.successors import find_successor
from runner_sync.merge.weave import Strand, Weave, index_omni_only, pick_node
from runner_sync.rulers import is_drawn
from runner_sync.statements import Node
from runner_sync.statements.likeness import dice
from runner_sync.thresholds import REFLOWED, REWORDED

Nodes = Sequence[Node]


def move_comments_with_statements(weave: Weave, kept: Sequence[Strand]) -> list[Strand]:
    """Move comments to the present place of their statements, and drop obsolete comments.

    An upstream comment is obsolete if its statement did not come in and omni lacks the comment, or if omni has a
    comment on the statement that says the same. An omni comment is obsolete if its paragraph is gone.
    """
    alive = set(kept)
    kept = _move_comments_to_equals(weave, _move_comments_to_successors(weave, kept, alive), alive)
    out: set[Strand] = set()
    for block, about in find_remarks(weave.upstream):
        strand = weave.of_upstream[about]
        new = [weave.of_upstream[k] for k in block if weave.of_upstream[k].sides == "u"]
        if new and new[-1].about is not None:
            continue
        if strand not in alive or _is_reworded(weave, strand, block):
            out |= set(new)
        out |= {*_find_half_missing(weave, block), *_find_beside_own_wording(weave, block)}
    for block, about in find_remarks(weave.omni):
        own = [strand for k in block if (strand := weave.of_omni[k]).sides == "o" or _is_kept_omni_edit(strand, alive)]
        if own and own[-1].about is not None:
            continue
        if own and not _has_paragraph_left(weave, about, alive):
            out |= {comment for comment in own if not is_drawn(weave.omni[comment.in_omni].text)}
    for strand in kept:
        strand.kept = strand not in out
    _move_into_suites(weave)
    return [strand for strand in kept if strand.kept]


def _move_into_suites(weave: Weave) -> None:
    """Move omni's own comments on a statement into the new suite that upstream put around the statement."""
    for block, about in find_remarks(weave.omni):
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


def _move_comments_to_successors(weave: Weave, kept: Sequence[Strand], alive: Collection[Strand]) -> list[Strand]:
    """Move omni's own comments on a removed statement above its `find_successor`."""
    out = list(kept)
    for block, about in find_remarks(weave.omni):
        comments = [strand for k in block if (strand := weave.of_omni[k]).sides == "o" and strand in alive]
        comments = [comment for comment in comments if not is_drawn(weave.omni[comment.in_omni].text)]
        is_gone = weave.of_omni[about].sides == "bo" and weave.of_omni[about] not in alive
        target = find_successor(weave, weave.of_omni[about], kept) if comments and is_gone else None
        if target is None or target.omni is not None:
            continue
        out = _put_above(out, comments, target)
    return out


def _move_comments_to_equals(weave: Weave, kept: Sequence[Strand], alive: Collection[Strand]) -> list[Strand]:
    """Move upstream's new comments on a dropped addition above omni's own equal statement (`index_omni_only`)."""
    out, own = list(kept), index_omni_only(weave)
    upstream_counts = Counter(node.canon for node in weave.upstream)
    for block, about in find_remarks(weave.upstream):
        strand, node = weave.of_upstream[about], weave.upstream[about]
        target = own.get(node.canon) if strand.sides == "u" and upstream_counts[node.canon] == 1 else None
        new = [weave.of_upstream[k] for k in block]
        if target not in alive or strand in alive or target is None or _is_reworded(weave, target, block):
            continue
        if any(comment.sides != "u" or comment not in alive for comment in new):
            continue
        out = _put_above(out, new, target)
    return out


def _put_above(strands: Sequence[Strand], comments: Sequence[Strand], target: Strand) -> list[Strand]:
    """Return the strands with the lines of a comment moved directly above another statement."""
    out = [strand for strand in strands if strand not in comments]
    at = out.index(target)
    out[at:at] = comments
    for comment, below in zip(comments, [*comments[1:], target], strict=True):
        comment.parent, comment.about = target.parent, below
    return out


def keep_comments_on_untouched(weave: Weave, strands: Sequence[Strand]) -> None:
    """Keep omni's comments, and no others, on omni's statements that upstream's change leaves alone.

    For a text that is no copy: a comment that upstream moves, drops or adds there is about upstream's statements beside
    it. An upstream comment on a new statement stays as a whole or not at all. A comment with a blank line below it
    counts here as being about the next statement.
    """
    changed, handed_on, parted = set(_find_changed(weave, strands)), _find_handed_on(weave), set[int]()
    for block, about in find_remarks(weave.omni):
        strand = weave.of_omni[about]
        if not strand.kept or strand in changed or block in handed_on:
            continue
        for comment in (weave.of_omni[k] for k in block):
            comment.kept, comment.parent = True, strand.parent
            if comment.upstream is not None:
                parted.add(comment.upstream)
                weave.of_upstream[comment.upstream] = Strand(upstream=comment.upstream, kept=False)
                comment.upstream = None
    for block, about in find_remarks(weave.upstream, apart=True):
        strand = weave.of_upstream[about]
        if strand.omni is None and strand.kept and parted.isdisjoint(block):
            continue
        if strand.omni is None or strand not in changed:
            for k in block:
                if weave.of_upstream[k].sides == "u":
                    weave.of_upstream[k].kept = False


def _find_handed_on(weave: Weave) -> list[range]:
    """Return omni's unedited base comments that upstream now has on a new statement that comes in."""
    on_new = {
        weave.of_upstream[k]
        for block, about in find_remarks(weave.upstream)
        if weave.of_upstream[about].omni is None and weave.of_upstream[about].kept
        for k in block
    }
    return [
        block
        for block, _ in find_remarks(weave.omni)
        if any(weave.of_omni[k] in on_new for k in block)
        and all(weave.is_unedited(weave.of_omni[k], "o") for k in block)
    ]


def _find_changed(weave: Weave, strands: Sequence[Strand]) -> Iterator[Strand]:
    """Yield the statements that upstream's change adds, removes or edits, each with all heads around it."""
    for strand in strands:
        if pick_node(weave, strand).is_comment or not _is_change(weave, strand):
            continue
        around: Strand | None = strand
        while around is not None:
            yield around
            around = around.owner or around.parent


def _is_change(weave: Weave, strand: Strand) -> bool:
    """Whether upstream's change adds a statement to omni's text, removes it or edits it."""
    if strand.omni is None or not strand.kept:
        return strand.kept != (strand.omni is not None)
    return weave.is_edited(strand, "u")


def _find_half_missing(weave: Weave, block: range) -> Iterator[Strand]:
    """Yield the comment lines that upstream added next to lines that omni lacks: alone they are half a sentence."""
    lines = [weave.of_upstream[k] for k in block]
    for is_missing, run in groupby(lines, key=lambda strand: strand.omni is None):
        missing = list(run)
        if is_missing and any(strand.base is not None for strand in missing):
            yield from (strand for strand in missing if strand.base is None)


def _find_beside_own_wording(weave: Weave, block: range) -> Iterator[Strand]:
    """Yield the lines of a new upstream comment of which omni has another line in its own words: the two comments are
    about the same, and lines of both would form no sentence."""
    lines = [weave.of_upstream[k] for k in block]
    both = [(weave.omni[s.in_omni], weave.upstream[s.in_upstream]) for s in lines if s.sides == "ou"]
    if any(one.canon != other.canon for one, other in both):
        yield from (strand for strand in lines if strand.sides == "u")


def _is_kept_omni_edit(strand: Strand, alive: Collection[Strand]) -> bool:
    """Whether a comment line that upstream dropped is kept because omni edited it."""
    return strand.sides == "bo" and strand in alive


def put_above_their_statements(weave: Weave, suites: Iterable[list[Strand]]) -> None:
    """Move comments back directly above their statements where the merge put other statements in between, in place.

    Also rejoins the lines of a comment that the other side lacks. A comment of both sides moves as a whole, with the
    lines of either, if it is about the same statement on both. Works only inside one suite, and never moves a ruler,
    which is about everything up to the next ruler.
    """
    home = {strand: suite for suite in suites for strand in suite}
    for strand, comment in _find_blocks_of_both(weave):
        suite = home.get(strand, [])
        whole = _drop_up_to_ruler(weave, [line for line in suite if line in comment])
        if _is_parted(weave, suite, [*whole[:1], strand]):
            _put_in_front(suite, whole, strand)
    for side in ("o", "u"):
        nodes, strands = weave.side(side)
        for block, about in find_remarks(nodes):
            suite, strand = home.get(strands[about], []), strands[about]
            own, lines = (_find_last_lines(weave, side, block, sides) for sides in ({side}, {side, f"b{side}"}))
            if all(home.get(line) is suite for line in own) and _is_parted(weave, suite, [*own[-1:], strand]):
                _put_in_front(suite, own, strand)
            if all(home.get(line) is suite for line in lines) and _is_parted(weave, suite, [*lines[:1], *lines[-1:]]):
                _put_in_front(suite, lines, strand)


def _find_blocks_of_both(weave: Weave) -> Iterator[tuple[Strand, set[Strand]]]:
    """Yield each statement with the comment lines that either side has above it, if the two have one in common."""
    of_upstream = {
        weave.of_upstream[about]: {weave.of_upstream[k] for k in block} for block, about in find_remarks(weave.upstream)
    }
    for block, about in find_remarks(weave.omni):
        own, other = {weave.of_omni[k] for k in block}, of_upstream.get(weave.of_omni[about], set())
        if own & other:
            yield weave.of_omni[about], own | other


def _drop_up_to_ruler(weave: Weave, lines: Sequence[Strand]) -> list[Strand]:
    """Return the lines of a comment below its last ruler."""
    rulers = [k for k, line in enumerate(lines) if is_drawn(pick_node(weave, line).text)]
    return [*lines[rulers[-1] + 1 if rulers else 0 :]]


def _find_last_lines(weave: Weave, side: str, block: range, sides: Collection[str]) -> list[Strand]:
    """Return the last lines of a comment that only these ``sides`` have, below its last ruler."""
    nodes, strands = weave.side(side)
    found: list[Strand] = []
    for k in reversed(block):
        if strands[k].sides not in sides or is_drawn(nodes[k].text):
            break
        found.insert(0, strands[k])
    return found


def _is_parted(weave: Weave, suite: Sequence[Strand], ends: Sequence[Strand]) -> bool:
    """Whether the first strand is not above the last one with only comments in between."""
    if len(ends) < 2:
        return False
    first, last = (suite.index(strand) for strand in ends)
    return last < first or not all(pick_node(weave, other).is_comment for other in suite[first:last])


def _put_in_front(suite: list[Strand], lines: Sequence[Strand], strand: Strand) -> None:
    suite[:] = [other for other in suite if not any(other is line for line in lines)]
    at = suite.index(strand)
    suite[at:at] = lines


def is_directly_above(weave: Weave, comment: Strand, strand: Strand) -> bool:
    """Whether omni alone has a comment, directly above a statement without a blank line in between."""
    if comment.about is strand:
        return True
    if comment.sides != "o" or strand.omni is None or comment.omni is None:
        return False
    below = weave.omni[strand.omni]
    return weave.omni[comment.omni].is_comment and comment.omni == strand.omni - 1 and not below.blanks


def find_remarks(nodes: Nodes, *, apart: bool = False) -> Iterator[tuple[range, int]]:
    """Yield ``(comments, statement)``: consecutive comments and the statement directly below them in the same suite.

    Both are indices. With ``apart``, blank lines may stand in between.
    """
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
    """Whether omni's comment on the statement says much the same as upstream's comment ``block``."""
    if strand.omni is None:
        return False
    omni_block = next((b for b, about in find_remarks(weave.omni) if about == strand.omni), range(0))
    own = [weave.omni[k] for k in omni_block if weave.of_omni[k].sides == "o" and not is_drawn(weave.omni[k].text)]
    upstream = [weave.upstream[k] for k in block if weave.of_upstream[k].sides == "u"]
    if not upstream or any(_is_replaced(weave, weave.of_omni[k]) for k in omni_block):
        return False
    whole = [weave.omni[k] for k in omni_block], [weave.upstream[k] for k in block]
    return (bool(own) and _compare_words(own, upstream) >= REWORDED) or _compare_words(*whole) >= REFLOWED


def _is_replaced(weave: Weave, line: Strand) -> bool:
    """Whether upstream edited a line that omni left as in the base, so that upstream's text stands there."""
    return weave.is_unedited(line, "o") and weave.is_edited(line, "u")


def _compare_words(omni: Nodes, upstream: Nodes) -> float:
    return dice(*(sum((node.words for node in side), Counter[str]()) for side in (omni, upstream)))


def _has_paragraph_left(weave: Weave, first: int, alive: set[Strand]) -> bool:
    """Whether the result has a statement of omni's paragraph, which ends at a blank line or another comment."""
    nodes = weave.omni
    inside = {first}
    for k in range(first + 1, len(nodes)):
        node = nodes[k]
        follows = node.parent == nodes[first].parent and not node.is_comment and not node.blanks
        if not (follows or node.parent in inside or node.owner in inside):
            break
        inside.add(k)
    return any(weave.of_omni[k] in alive for k in inside if not nodes[k].is_comment)
