"""Choose the text of a strand that stays: one side's text, or a merge of both sides' changes.

Comes in: a kept strand of a ``Weave``. Goes out: its ``Content`` and the reason of a doubt. May touch: nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from runner_sync.merge.phrases.arguments import with_upstream_keywords
from runner_sync.merge.phrases.callees import find_retargeted_calls, has_other_arguments, lacks_changed_arguments
from runner_sync.merge.phrases.diff3 import diff3, merge_lines
from runner_sync.merge.phrases.inner_remarks import with_remarks
from runner_sync.merge.phrases.keyword_order import find_side_with_all_changes
from runner_sync.merge.phrases.moved_calls import find_moved_call
from runner_sync.merge.phrases.phrase import is_mixed_from, is_part_of, merge_phrases
from runner_sync.merge.phrases.positional import are_placed_by_guess
from runner_sync.merge.phrases.transplant import carry_over, is_order_guessed, merge_surrounded
from runner_sync.merge.phrases.values import merge_values
from runner_sync.merge.phrases.with_items import has_lost_only_absent_items
from runner_sync.merge.policy import Policy, Terms, Winner
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Strand, Weave
from runner_sync.model import Triple
from runner_sync.statements import Node, before_clause, inside_strings, is_python, last_comment, tree_of
from runner_sync.statements.likeness import dice, word_similarity, words
from runner_sync.thresholds import CLOSE, DISTINCT


@dataclass(frozen=True, slots=True)
class Content:
    """The chosen text of a strand: lines without indentation, ``frozen`` as in ``Node``."""

    lines: tuple[str, ...]
    frozen: frozenset[int]
    blanks: int


CARRIED = Reason("additions moved on")
KEYWORDS = Reason("keywords taken over")
SAME_PART = Reason("both changed a part")
VERSIONS = Reason("both added versions")
BY_PLACE = Reason("both added an argument")
AROUND = Reason("both put more around")

Heritage = Collection[str]


def choose_content(weave: Weave, strand: Strand, terms: Terms) -> tuple[Content, Reason | None]:
    """Return the text of a kept strand and, where both sides changed it, the reason of a doubt.

    Keeps a blank line that either side added in front. Drops one that a side removed only if that side has a kept
    statement of its own directly above: otherwise the statement above may just have gone with it.
    """
    chosen, reason = _choose_content(weave, strand, terms)
    base, omni, upstream = find_sides(weave, strand)
    chosen = _with_comment(chosen, base, omni)
    if base is None or omni is None or upstream is None:
        return chosen, reason
    if _has_remark(weave.omni, strand.in_omni) or _has_remark(weave.upstream, strand.in_upstream):
        return chosen, reason
    if not terms.policy.is_copy:
        return replace(chosen, blanks=max(chosen.blanks, omni.blanks)), reason  # its own layout stays
    is_below_own = _is_below_own_statement(weave, "o", strand.in_omni)
    if omni.blanks < base.blanks == upstream.blanks and is_below_own:
        return replace(chosen, blanks=omni.blanks), reason
    is_below_upstreams = not is_below_own and _is_below_own_statement(weave, "u", strand.in_upstream)
    if upstream.blanks < base.blanks == omni.blanks and is_below_upstreams:
        return replace(chosen, blanks=upstream.blanks), reason
    added = max(side.blanks if side.blanks > base.blanks else 0 for side in (omni, upstream))
    return replace(chosen, blanks=max(chosen.blanks, added)), reason


def _with_comment(chosen: Content, base: Node | None, omni: Node | None) -> Content:
    """Add omni's comment at the end of the statement (a linter's or a reason), unless the chosen text has one there."""
    if base is None or omni is None or "#" not in omni.lines[-1] or chosen.lines == omni.lines:
        return chosen
    comment = last_comment(omni.text)
    now = "\n".join(chosen.lines)
    if not comment or comment == last_comment(base.text) or last_comment(now):
        return chosen
    if _silences_lost_annotation(comment, omni.text, now):
        return chosen
    return replace(chosen, lines=(*chosen.lines[:-1], f"{chosen.lines[-1]}  {comment}"))


_IGNORES = re.compile(r"#\s*type:\s*ignore\[([\w\s,-]+)\]")
_OF_ANNOTATIONS = frozenset({"no-redef", "type-arg", "valid-type"})
"""What type checkers report about an annotation, and never about a plain assignment."""


def _silences_lost_annotation(comment: str, omni: str, chosen: str) -> bool:
    """Whether a comment only silences reports about omni's annotation, and the chosen text has no annotation."""
    found = _IGNORES.match(comment)
    codes = {code.strip() for code in found[1].split(",")} if found is not None else set[str]()
    return bool(codes) and codes <= _OF_ANNOTATIONS and _is_annotated(omni) and not _is_annotated(chosen)


def _is_annotated(text: str) -> bool:
    return any(isinstance(statement, ast.AnnAssign) for statement in tree_of(text).body)


def _is_below_own_statement(weave: Weave, side: str, index: int) -> bool:
    """Whether a side (``"o"`` or ``"u"``) has a kept statement of its own on the line above, in the same suite."""
    nodes, strands = weave.side(side)
    above = strands[index - 1] if index else None
    return (
        above is not None
        and above.sides == side
        and above.kept
        and nodes[index - 1].parent == nodes[index].parent
        and not nodes[index - 1].is_comment
    )


def _has_remark(nodes: Sequence[Node], index: int) -> bool:
    """Whether a comment stands directly above a statement."""
    return index > 0 and nodes[index - 1].is_comment and not nodes[index].blanks


def _choose_content(weave: Weave, strand: Strand, terms: Terms) -> tuple[Content, Reason | None]:
    base, omni, upstream = find_sides(weave, strand)
    present = upstream or omni
    if strand.carried and present is not None:
        return _make_content(strand.carried, present), None
    if omni is None or upstream is None:
        node = omni or upstream
        assert node is not None
        return make_content_of(node), None
    if base is None:
        is_foreign = not upstream.compound and upstream.canon in terms.foreign
        if omni.is_comment or omni.kind == "docstring" or is_foreign or omni.canon == upstream.canon:
            return make_content_of(omni), None
        base = find_moved_call(weave, omni, upstream)
    if base is None:
        more = terms.policy.is_copy and is_part_of(omni.text, upstream.text)
        chosen = omni if terms.policy.both_added == "omni" and not more else upstream
        return make_content_of(chosen), VERSIONS
    return choose_of_three(weave, (base, omni, upstream), terms)


def choose_of_three(weave: Weave, sides: tuple[Node, Node, Node], terms: Terms) -> tuple[Content, Reason | None]:
    """Choose the text of a statement that base, omni and upstream have."""
    (base, omni, upstream), heritage = sides, terms.heritage
    if omni.canon == upstream.canon:
        return make_content_of(upstream if _spells_as(omni, base) and not _spells_as(upstream, base) else omni), None
    if is_inherited(upstream, terms.foreign):
        return make_content_of(omni), None
    if upstream.canon == base.canon and not (is_inherited(omni, heritage) or _has_older_parts(omni, base, heritage)):
        return make_content_of(omni), None
    refused = terms.veto(upstream.canon) if terms.veto is not None else None
    if refused:
        return make_content_of(omni), refused
    if omni.canon == base.canon:
        return with_own_remarks(_with_omni_spelling(base, omni, upstream), None, sides)
    if is_upstream_text(omni, base, heritage):
        return make_content_of(upstream), None
    methods = (*weave.omni, *weave.upstream) if omni.is_with else ()
    if methods and has_lost_only_absent_items(base.text, omni.text, upstream.text, methods=methods):
        return make_content_of(omni), None
    return with_own_remarks(*_merge_both_changed(base, omni, upstream, terms), sides)


def with_own_remarks(
    chosen: Content, reason: Reason | None, sides: tuple[Node, Node, Node]
) -> tuple[Content, Reason | None]:
    """Add omni's inner comments to the chosen text; a comment without a place becomes the reason of a doubt."""
    base, omni, upstream = sides
    if "#" not in omni.text or chosen.lines == omni.lines:
        return chosen, reason
    chosen = _with_comment(chosen, base, omni)
    before = "\n".join(chosen.lines)
    text, lost = with_remarks(before, Triple(base.text, omni.text, upstream.text))
    lost = [remark for remark in lost if not _silences_lost_annotation(remark, omni.text, before)]
    if text != before:
        chosen = Content(tuple(text.split("\n")), inside_strings(text), chosen.blanks)
    return chosen, Reason("remark left out", tuple(lost)) if lost and reason is None else reason


def _with_omni_spelling(base: Node, omni: Node, upstream: Node) -> Content:
    """Return upstream's text, with omni's spelling of the annotations in a signature (see ``_spells_as``)."""
    if _spells_as(omni, base):
        return make_content_of(upstream)
    spelled = merge_phrases(base.text, omni.text, upstream.text, parses=lambda text: is_statement_like(text, omni))
    return make_content_of(upstream) if spelled is None else _make_content(spelled, upstream)


def _spells_as(one: Node, other: Node) -> bool:
    """Whether two equal signatures spell annotations alike (``X | None``, ``Optional[X]``); true for other nodes."""
    return not one.defines or "".join(one.text.split()) == "".join(other.text.split())


def _merge_both_changed(base: Node, omni: Node, upstream: Node, terms: Terms) -> tuple[Content, Reason | None]:
    """Merge a statement that both sides changed; no doubt if one side has all changes, apart from keyword order."""
    if omni.kind == "docstring" and terms.policy.is_copy:
        return _merge_docstrings(base, omni, upstream), None
    if omni.kind in ("docstring", "comment"):
        return make_content_of(omni), None
    chosen, reason = _merge_by_phrases(base, omni, upstream, terms)
    if reason is None or omni.compound:
        return chosen, reason
    has_all = find_side_with_all_changes(base.text, omni.text, upstream.text)
    return (make_content_of(omni if has_all == "omni" else upstream), None) if has_all else (chosen, reason)


def _merge_docstrings(base: Node, omni: Node, upstream: Node) -> Content:
    """Merge the lines of a docstring; omni's stand where both sides changed the same ones."""
    rows = diff3(list(base.lines), list(omni.lines), list(upstream.lines), merge_lines, prefer="omni")
    text = "\n".join(rows or omni.lines)
    return _make_content(text, omni) if is_statement_like(text, omni) else make_content_of(omni)


def _merge_by_phrases(base: Node, omni: Node, upstream: Node, terms: Terms) -> tuple[Content, Reason | None]:
    for old in (*_find_closer_versions(base, omni, upstream, terms.versions), base.text):
        merged = _merge_from(old, omni, upstream, terms.policy)
        if merged is not None:
            return merged
    chosen = omni if terms.policy.both_edited == "omni" else upstream
    part = _merge_words(base.text, omni, upstream, prefer=terms.policy.both_edited)
    if part is None:
        return make_content_of(chosen), SAME_PART
    return _make_content(part, chosen), SAME_PART


def _find_closer_versions(base: Node, omni: Node, upstream: Node, versions: Collection[str]) -> list[str]:
    """Return upstream versions of a statement that are closer to omni's text than the base's, closest first.

    Omni may have updated just this statement. Each version must share a name with omni's text that the base lacks.
    Skips upstream's present text: with that as base, omni's edit would win as the only change.
    """
    omni_words = words(omni.canon)
    least = dice(words(base.canon), omni_words)
    alike = [older for older in versions if older != upstream.canon and _have_similar_start(older, omni.canon)]
    scores = {older: dice(words(older), omni_words) for older in alike if words(older).keys() & omni.names - base.names}
    closer = [older for older, score in scores.items() if score > least]
    return sorted(closer, key=lambda older: (-scores[older], older))


def _merge_from(base: str, omni: Node, upstream: Node, policy: Policy) -> tuple[Content, Reason | None] | None:
    """Merge both sides' changes to the text ``base``; ``None`` if both changed the same part."""
    texts = (base, omni.text, upstream.text)

    def parses(text: str) -> bool:
        return is_statement_like(text, omni)

    merged = _merge_words(base, omni, upstream, has_records=not policy.is_copy)
    if merged is not None:
        if are_placed_by_guess(*(_as_module(text, omni) for text in (*texts, merged))):
            return _make_content(merged, upstream), BY_PLACE
        if merged not in texts and is_order_guessed(*texts, compound=omni.compound):
            return _make_content(merged, upstream), AROUND
        others = _find_retargeted_calls(base, omni, upstream, merged)
        return _make_content(merged, upstream), Reason("arguments of another call", others) if others else None
    valued = merge_values(*texts, compound=omni.compound)
    if valued is not None and parses(valued[0]) and not with_remarks(valued[0], Triple(*texts))[1]:
        return _make_content(valued[0], upstream), SAME_PART if valued[1] else None
    whole = merge_surrounded(*texts, compound=omni.compound)
    if whole is not None and parses(whole):
        is_guess = whole != omni.text and is_order_guessed(*texts, compound=omni.compound)
        is_other = omni.keyword == "return" and not words(base).keys() & upstream.names
        return _make_content(whole, upstream), AROUND if is_guess else SAME_PART if is_other else None
    follows = policy.is_copy and not omni.compound
    carried = carry_over(base, omni.text, [upstream.text]) if follows else None
    if carried is not None:
        return _make_content(carried[1], upstream), CARRIED
    called = None if omni.compound else with_upstream_keywords(*texts)
    if called is not None and parses(called):
        return _make_content(called, omni), KEYWORDS
    return None


def _merge_words(
    base: str, omni: Node, upstream: Node, *, prefer: Winner | None = None, has_records: bool = False
) -> str | None:
    """Merge by phrases; ``None`` for a conflict, or if a call would get an argument that a side gave to another.

    With ``prefer``, one side's changes may be missing, because a question shows them.
    """
    texts = (base, omni.text, upstream.text)
    is_wrong = has_other_arguments if prefer else lacks_changed_arguments

    def is_sound(text: str) -> bool:
        modules = [_as_module(each, omni) for each in (*texts, text)]
        return is_python(modules[-1]) and not is_wrong(*modules)

    return merge_phrases(*texts, parses=is_sound, prefer=prefer, has_records=has_records)


def _find_retargeted_calls(base: str, omni: Node, upstream: Node, merged: str) -> tuple[str, ...]:
    """Apply `find_retargeted_calls` to one statement."""
    return find_retargeted_calls(*(_as_module(text, omni) for text in (base, omni.text, upstream.text, merged)))


def find_sides(weave: Weave, strand: Strand) -> tuple[Node | None, Node | None, Node | None]:
    """Return the statement as base, omni and upstream have it."""
    return (
        weave.base[strand.base] if strand.base is not None else None,
        weave.omni[strand.omni] if strand.omni is not None else None,
        weave.upstream[strand.upstream] if strand.upstream is not None else None,
    )


def _make_content(text: str, like: Node) -> Content:
    """Return content with a text that no side has, and the blank lines of ``like``."""
    return Content(tuple(text.split("\n")), inside_strings(text), like.blanks)


def make_content_of(node: Node) -> Content:
    """Return the text of a side unchanged."""
    return Content(node.lines, node.frozen, node.blanks)


def is_statement_like(text: str, node: Node) -> bool:
    """Whether ``text`` is a statement of the same form as ``node``."""
    return is_python(_as_module(text, node))


def _as_module(text: str, node: Node) -> str:
    """Return a module with ``text``, a statement of the form of ``node``, where any statement is allowed."""
    source = text
    if node.compound:
        source += "\n    pass"
    if node.is_clause:
        source = before_clause(node.canon) + source
    body = "\n".join("    " + line for line in source.split("\n"))
    return f"async def _():\n while 1:\n{body}"


def is_inherited(node: Node, heritage: Heritage) -> bool:
    """Whether another upstream revision has this very statement; short statements (`DISTINCT`) do not count."""
    return not node.is_comment and node.weight >= DISTINCT and node.canon in heritage


def is_upstream_text(omni: Node, base: Node, heritage: Heritage) -> bool:
    """Whether omni's text is upstream's: the base's, another revision's, or a mix of these."""
    return omni.canon == base.canon or is_inherited(omni, heritage) or is_between(omni, base, heritage)


def is_between(node: Node, base: Node, heritage: Heritage) -> bool:
    """Whether a statement mixes parts of the base and another upstream revision: people may have synced only some."""
    if node.is_comment or node.weight < DISTINCT:
        return False
    return any(is_mixed_from(node.canon, base.canon, older) for older in heritage if _is_version(older, node.canon))


def _has_older_parts(omni: Node, base: Node, heritage: Heritage) -> bool:
    """Whether omni's text is such a mix, with words that the base lacks; without them omni just removed a part."""
    return bool(omni.words - base.words) and is_between(omni, base, heritage)


def _is_version(one: str, other: str) -> bool:
    """Whether two canonical statements begin alike and share most words."""
    return _have_similar_start(one, other) and word_similarity(one, other) >= CLOSE


def _have_similar_start(one: str, other: str) -> bool:
    return one.split(" ", 1)[0] == other.split(" ", 1)[0] and max(len(one), len(other)) < 2 * min(len(one), len(other))
