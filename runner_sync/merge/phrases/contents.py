"""Choose the text of a strand that stays: a side's, or a merge of what both sides made of the statement.

Comes in: a kept strand of a ``Weave``. Goes out: its ``Content`` and the reason of a doubt. May touch: nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from runner_sync.merge.phrases.arguments import with_their_keywords
from runner_sync.merge.phrases.callees import changed_for_another
from runner_sync.merge.phrases.inner_remarks import with_remarks
from runner_sync.merge.phrases.keyword_order import with_all_changes
from runner_sync.merge.phrases.operands import with_operands
from runner_sync.merge.phrases.other_suite import guards_of_another_suite
from runner_sync.merge.phrases.paths import with_their_paths
from runner_sync.merge.phrases.phrase import has_change, is_mixed_from, is_part_of, merge_phrases
from runner_sync.merge.phrases.positional import are_placed_by_guess
from runner_sync.merge.phrases.transplant import around, carry_over
from runner_sync.merge.policy import Policy, Terms
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Strand, Weave
from runner_sync.model import Triple
from runner_sync.statements import Node, before_clause, inside_strings, is_python, last_comment, tree_of
from runner_sync.statements.dataflow import binds, reads
from runner_sync.statements.likeness import dice, similarity, words

DISTINCT = 1.5
"""``Node.weight`` from which on its text identifies a statement: thirty characters."""


@dataclass(frozen=True, slots=True)
class Content:
    """The chosen text of a strand: lines without indentation, ``frozen`` as in ``Node``."""

    lines: tuple[str, ...]
    frozen: frozenset[int]
    blanks: int


CARRIED = Reason("additions moved on")
KEYWORDS = Reason("keywords taken over")
SAME_PART = Reason("both changed a part")
OPERANDS = Reason("both changed a condition")
VERSIONS = Reason("both added versions")
BY_PLACE = Reason("both added an argument")

CLOSE = 0.85
"""Dice coefficient of words from which on two texts are one statement at two revisions; a judgement."""

Heritage = Collection[str]


def content(weave: Weave, strand: Strand, terms: Terms) -> tuple[Content, Reason | None]:
    """The text of a kept strand and, where both sides changed it, the reason of a doubt.

    Whichever side's text is chosen, a blank line that either side added in front is kept. One that a side removed is
    removed only if that side has a kept statement of its own directly above; otherwise what stood above may just have
    gone along with it.
    """
    chosen, reason = _content(weave, strand, terms)
    base, omni, upstream = sides_of(weave, strand)
    chosen = _with_comment(chosen, base, omni)
    if base is None or omni is None or upstream is None:
        return chosen, reason
    if _has_remark(weave.omni, strand.in_omni) or _has_remark(weave.upstream, strand.in_upstream):
        return chosen, reason
    if not terms.policy.is_copy:
        return replace(chosen, blanks=max(chosen.blanks, omni.blanks)), reason  # another text's own layout
    mine = _is_below_an_own_statement(weave, "o", strand.in_omni)
    if omni.blanks < base.blanks == upstream.blanks and mine:
        return replace(chosen, blanks=omni.blanks), reason
    theirs = not mine and _is_below_an_own_statement(weave, "u", strand.in_upstream)
    if upstream.blanks < base.blanks == omni.blanks and theirs:
        return replace(chosen, blanks=upstream.blanks), reason
    added = max(side.blanks if side.blanks > base.blanks else 0 for side in (omni, upstream))
    return replace(chosen, blanks=max(chosen.blanks, added)), reason


def _with_comment(chosen: Content, base: Node | None, omni: Node | None) -> Content:
    """The chosen text with the comment that omni added at the end of the statement, unless it has one there: what
    silences a linter, or gives a reason, must survive when another side's text is chosen."""
    if base is None or omni is None or "#" not in omni.lines[-1] or chosen.lines == omni.lines:
        return chosen
    comment = last_comment(omni.text)
    now = "\n".join(chosen.lines)
    if not comment or comment == last_comment(base.text) or last_comment(now):
        return chosen
    if _goes_with_an_annotation(comment, omni.text, now):
        return chosen
    return replace(chosen, lines=(*chosen.lines[:-1], f"{chosen.lines[-1]}  {comment}"))


_IGNORES = re.compile(r"#\s*type:\s*ignore\[([\w\s,-]+)\]")
_OF_ANNOTATIONS = frozenset({"no-redef", "type-arg", "valid-type"})
"""What type checkers say of an annotation, and never of a plain assignment."""


def _goes_with_an_annotation(comment: str, omni: str, chosen: str) -> bool:
    """Whether a comment silences nothing but what is said of omni's annotation, and the chosen text has none."""
    found = _IGNORES.match(comment)
    codes = {code.strip() for code in found[1].split(",")} if found is not None else set[str]()
    return bool(codes) and codes <= _OF_ANNOTATIONS and _is_annotated(omni) and not _is_annotated(chosen)


def _is_annotated(text: str) -> bool:
    return any(isinstance(statement, ast.AnnAssign) for statement in tree_of(text).body)


def _is_below_an_own_statement(weave: Weave, side: str, index: int) -> bool:
    """Whether one side (``"o"`` or ``"u"``) has a kept statement of its own on the line above, in the same suite."""
    nodes, of = weave.side(side)
    above = of[index - 1] if index else None
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


def _content(weave: Weave, strand: Strand, terms: Terms) -> tuple[Content, Reason | None]:
    policy, heritage = terms.policy, terms.heritage
    base, omni, upstream = sides_of(weave, strand)
    here = upstream or omni
    if strand.carried and here is not None:
        return _written(strand.carried, here), None
    if omni is None or upstream is None:
        node = omni or upstream
        assert node is not None
        return of_node(node), None
    if base is None:
        is_foreign = not upstream.compound and upstream.canon in terms.foreign
        if omni.is_comment or is_foreign or is_same(omni, upstream):
            return of_node(omni), None
        more = policy.is_copy and is_part_of(omni.text, upstream.text)
        chosen = omni if policy.both_added == "omni" and not more else upstream
        return of_node(chosen), VERSIONS
    if is_same(omni, upstream):
        return of_node(upstream if _spells_as(omni, base) and not _spells_as(upstream, base) else omni), None
    if policy.updates_only and (omni.defines or similarity(base, omni) < CLOSE or _reads_more(weave, omni, upstream)):
        # Parameters of a method of omni's own are taken together with what passes them on (``follow_signature``).
        return of_node(omni), None
    if is_inherited(upstream, terms.foreign):
        return of_node(omni), None
    if is_same(upstream, base) and not (is_inherited(omni, heritage) or _has_older_parts(omni, base, heritage)):
        return of_node(omni), None
    refused = terms.veto(upstream.canon) if terms.veto is not None else None
    if refused:
        return of_node(omni), refused
    if is_same(omni, base):
        return with_own_remarks(_in_spelling(base, omni, upstream), None, (base, omni, upstream))
    if is_no_edit(omni, base, heritage):
        return of_node(upstream), None
    guards = guards_of_another_suite(weave, strand) if policy.is_copy and policy.both_edited == "omni" else ()
    if guards:
        return of_node(omni), Reason("guard of another suite", guards)
    return with_own_remarks(*_both_changed(base, omni, upstream, terms), (base, omni, upstream))


def with_own_remarks(
    chosen: Content, reason: Reason | None, sides: tuple[Node, Node, Node]
) -> tuple[Content, Reason | None]:
    """The chosen text with the comments that omni alone has inside the statement, and the reason of a doubt, also about
    those without a place in it."""
    base, omni, upstream = sides
    if "#" not in omni.text or chosen.lines == omni.lines:
        return chosen, reason
    chosen = _with_comment(chosen, base, omni)
    before = "\n".join(chosen.lines)
    text, lost = with_remarks(before, Triple(base.text, omni.text, upstream.text))
    lost = [remark for remark in lost if not _goes_with_an_annotation(remark, omni.text, before)]
    if text != before:
        chosen = Content(tuple(text.split("\n")), inside_strings(text), chosen.blanks)
    return chosen, Reason("remark left out", tuple(lost)) if lost and reason is None else reason


def _in_spelling(base: Node, omni: Node, upstream: Node) -> Content:
    """Upstream's text; a function's signature with omni's spelling of the annotations (see ``_spells_as``)."""
    if _spells_as(omni, base):
        return of_node(upstream)
    spelled = merge_phrases(base.text, omni.text, upstream.text, parses=lambda text: parses_alone(text, omni))
    return of_node(upstream) if spelled is None else _written(spelled, upstream)


def _spells_as(one: Node, other: Node) -> bool:
    """Whether two equal heads spell their annotations alike, too, unlike ``X | None`` and ``Optional[X]``; true if the
    node defines nothing."""
    return not one.defines or "".join(one.text.split()) == "".join(other.text.split())


def _reads_more(weave: Weave, omni: Node, upstream: Node) -> bool:
    """Whether upstream's version of a statement newly reads a local that only upstream's text binds."""
    locals_ = {name for node in weave.upstream for name in binds(node)}
    own = {name for node in weave.omni for name in binds(node)}
    return bool((reads(upstream) - reads(omni)) & locals_ - own)


def _both_changed(base: Node, omni: Node, upstream: Node, terms: Terms) -> tuple[Content, Reason | None]:
    """The merge of what both sides changed; no question where one side has it all, but for the order of keywords."""
    if omni.kind in ("docstring", "comment"):
        return of_node(omni), None
    chosen, reason = _merged_by_phrases(base, omni, upstream, terms)
    if reason is None or omni.compound:
        return chosen, reason
    if has_change(omni.text, base.text, upstream.text):
        return of_node(omni), None
    has_all = with_all_changes(base.text, omni.text, upstream.text)
    return (of_node(omni if has_all == "omni" else upstream), None) if has_all else (chosen, reason)


def _merged_by_phrases(base: Node, omni: Node, upstream: Node, terms: Terms) -> tuple[Content, Reason | None]:
    for old in (*_closer_versions(base, omni, upstream, terms.versions), base.text):
        merged = _merged_from(old, omni, upstream, terms.policy)
        if merged is not None:
            return merged
    moved = with_their_paths(base, omni, upstream)
    if moved is not None and parses_alone(moved, omni):
        return _written(moved, omni), None
    chosen = omni if terms.policy.both_edited == "omni" else upstream
    sides = base.text, omni.text, upstream.text
    part = merge_phrases(*sides, parses=lambda text: parses_alone(text, omni), prefer=terms.policy.both_edited)
    if part is None or _calls_another(base.text, omni, upstream, part):
        return of_node(chosen), SAME_PART
    return _written(part, chosen), SAME_PART


def _closer_versions(base: Node, omni: Node, upstream: Node, versions: Collection[str]) -> list[str]:
    """The texts of a statement in other revisions of upstream that are closer to omni's than the base's is, closest
    first: omni may have brought just this statement up to date.

    Each must share a name with omni's that the base lacks. Upstream's text of today is left out: merged from that,
    omni's edit would win as the only change.
    """
    mine = words(omni.canon)
    least = dice(words(base.canon), mine)
    alike = [older for older in versions if older != upstream.canon and _begin_alike(older, omni.canon)]
    scores = {older: dice(words(older), mine) for older in alike if words(older).keys() & omni.names - base.names}
    closer = [older for older, score in scores.items() if score > least]
    return sorted(closer, key=lambda older: (-scores[older], older))


def _merged_from(base: str, omni: Node, upstream: Node, policy: Policy) -> tuple[Content, Reason | None] | None:
    """The merge of both sides' changes to the text ``base``, and the reason of a doubt; ``None`` if both changed the
    same part."""
    texts = (base, omni.text, upstream.text)

    def parses(text: str) -> bool:
        return parses_alone(text, omni)

    merged = merge_phrases(*texts, parses=parses)
    if merged is not None:
        if are_placed_by_guess(*(_as_module(text, omni) for text in (*texts, merged))):
            return _written(merged, upstream), BY_PLACE
        others = _calls_another(base, omni, upstream, merged)
        return _written(merged, upstream), Reason("arguments of another call", others) if others else None
    whole = around(*texts, compound=omni.compound)
    if whole is not None and parses(whole):
        return _written(whole, upstream), None
    condition = with_operands(*texts) if omni.compound else None
    if condition is not None and parses(condition):
        return _written(condition, upstream), OPERANDS
    follows = policy.is_copy and not omni.compound
    carried = carry_over(base, omni.text, [upstream.text]) if follows else None
    if carried is not None:
        return _written(carried[1], upstream), CARRIED
    called = None if omni.compound else with_their_keywords(*texts)
    if called is not None and parses(called):
        return _written(called, omni), KEYWORDS
    return None


def _calls_another(base: str, omni: Node, upstream: Node, merged: str) -> tuple[str, ...]:
    """`changed_for_another` for one statement."""
    return changed_for_another(*(_as_module(text, omni) for text in (base, omni.text, upstream.text, merged)))


def sides_of(weave: Weave, strand: Strand) -> tuple[Node | None, Node | None, Node | None]:
    """The statement as base, omni and upstream have it."""
    return (
        weave.base[strand.base] if strand.base is not None else None,
        weave.omni[strand.omni] if strand.omni is not None else None,
        weave.upstream[strand.upstream] if strand.upstream is not None else None,
    )


def _written(text: str, like: Node) -> Content:
    """Content with a text that no side has, and the blank lines of ``like``."""
    return Content(tuple(text.split("\n")), inside_strings(text), like.blanks)


def of_node(node: Node) -> Content:
    """The text of a side as it stands."""
    return Content(node.lines, node.frozen, node.blanks)


def parses_alone(text: str, node: Node) -> bool:
    """Whether ``text`` is a statement of the same form as ``node``."""
    return is_python(_as_module(text, node))


def _as_module(text: str, node: Node) -> str:
    """A module with ``text``, a statement of the same form as ``node``, where any statement may stand."""
    source = text
    if node.compound:
        source += "\n    pass"
    if node.is_clause:
        source = before_clause(node.canon) + source
    body = "\n".join("    " + line for line in source.split("\n"))
    return f"async def _():\n while 1:\n{body}"


def is_inherited(node: Node, heritage: Heritage) -> bool:
    """Whether another revision of upstream has this statement word for word; short ones (`DISTINCT`) do not count."""
    return not node.is_comment and node.weight >= DISTINCT and node.canon in heritage


def is_no_edit(omni: Node, base: Node, heritage: Heritage) -> bool:
    """Whether omni's text of a statement is upstream's: the base's, another revision's, or a mix of these."""
    return is_same(omni, base) or is_inherited(omni, heritage) or is_between(omni, base, heritage)


def is_between(node: Node, base: Node, heritage: Heritage) -> bool:
    """Whether a statement mixes parts of the base and of another revision of upstream, and has none of its own: of two
    changes that upstream made to one call, people may have taken only one."""
    if node.is_comment or node.weight < DISTINCT:
        return False
    return any(is_mixed_from(node.canon, base.canon, older) for older in heritage if _is_version(older, node.canon))


def _has_older_parts(omni: Node, base: Node, heritage: Heritage) -> bool:
    """Whether a statement is such a mix and has words that the base lacks. If it merely lacks a part, and upstream has
    changed nothing since the base, then omni removed that part, and its text is not outdated."""
    return bool(omni.words - base.words) and is_between(omni, base, heritage)


def _is_version(one: str, other: str) -> bool:
    """Whether two canonical statements begin alike and have most words in common."""
    return _begin_alike(one, other) and dice(words(one), words(other)) >= CLOSE


def _begin_alike(one: str, other: str) -> bool:
    return one.split(" ", 1)[0] == other.split(" ", 1)[0] and max(len(one), len(other)) < 2 * min(len(one), len(other))


def is_same(a: Node, b: Node) -> bool:
    """Whether two statements are equal but for their layout."""
    return a.canon == b.canon
