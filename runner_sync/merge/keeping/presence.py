"""Give each strand a first verdict by itself: which of the three texts have it, and which changed it.

Comes in: a weave. Goes out: a verdict on each strand, which later passes may turn because of its surroundings, and a
``Doubt`` where the texts do not settle it. May touch: ``carried`` and ``kept`` of the strands.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from runner_sync.confidence import CONTESTED, INFERRED, REBUILT
from runner_sync.merge.keeping.settling import Settling
from runner_sync.merge.matching.own_forms import find_moved, find_own_form, find_same_suite, with_keyword_of
from runner_sync.merge.matching.successors import find_moved_version, has_edit_at_hand
from runner_sync.merge.phrases.contents import CARRIED, choose_of_three, is_inherited
from runner_sync.merge.phrases.transplant import carry_over
from runner_sync.merge.policy import Terms
from runner_sync.merge.reason import Kind, Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, index_omni_only, pick_node
from runner_sync.statements import ROOT, Node, enclosing, siblings
from runner_sync.statements.dataflow import binds, reads, uses_anything_of


def judge_each(settling: Settling) -> None:
    """Give every strand its first verdict."""
    own = index_omni_only(settling.weave)
    for strand in settling.strands:
        strand.kept, doubt = _judge(settling.weave, strand, settling.terms, own)
        if doubt is not None:
            settling.doubts.append(doubt)


def _judge(weave: Weave, strand: Strand, terms: Terms, own: Collection[str]) -> tuple[bool, Doubt | None]:
    """Return whether a strand is kept, and the doubt about it; ``own`` are the texts that `index_omni_only` finds."""
    match strand.sides:
        case "o":
            omni = weave.omni[strand.in_omni]
            return not is_inherited(omni, terms.heritage) or _is_in_new_form(weave, omni), None
        case "bo":
            return _judge_gone_upstream(weave, strand, terms)
        case "bu":
            return _judge_gone_in_omni(weave, strand, terms, own)
        case _:
            return True, None


def _judge_gone_upstream(weave: Weave, strand: Strand, terms: Terms) -> tuple[bool, Doubt | None]:
    """Judge a base statement that only omni still has."""
    omni = weave.omni[strand.in_omni]
    if weave.is_unedited(strand, "o") or is_inherited(omni, terms.heritage):
        return False, None
    followed = (_follow_moved(weave, strand, terms) or _carry_over(weave, strand)) if terms.policy.is_copy else None
    if followed is not None:
        reason, successor = followed
        return False, Doubt(strand, reason, INFERRED, successor)
    if _is_rewritten(weave, strand):
        return False, _make_doubt(weave, strand, Reason("edited statement rewritten"), REBUILT)
    kept = terms.policy.edited_here_gone_there == "omni"
    return kept, _make_doubt(weave, strand, Reason("edited statement removed"), CONTESTED)


def _judge_gone_in_omni(weave: Weave, strand: Strand, terms: Terms, own: Collection[str]) -> tuple[bool, Doubt | None]:
    """Judge a base statement that only upstream still has, perhaps in a new version."""
    before, now = weave.base[strand.in_base], weave.upstream[strand.in_upstream]
    if weave.is_unedited(strand, "u"):
        return False, None
    if terms.policy.gone_here_edited_there == "upstream":
        return True, _make_doubt(weave, strand, Reason("removed statement changed"), INFERRED)
    if not now.compound and (now.canon in own or _has_as_many(weave, now)):
        return False, None  # omni has upstream's version at another place
    if _has_elif_on(weave, now):
        return False, None
    if not terms.policy.is_copy and (head := find_same_suite(weave, strand)) and not is_kept_out(now, terms):
        head.carried = with_keyword_of(now.text, weave.omni[head.in_omni])
        return False, None  # each passage of a port is asked about anyway
    if found := find_moved(weave, before):
        return False, _settle_moved(weave, strand, terms, found)
    if terms.policy.is_copy and (edited := _change_moved(weave, strand, terms)) is not None:
        return False, Doubt(strand, Reason("moved statement changed"), INFERRED, edited, (strand,))
    own_version = find_own_form(weave, before)
    if own_version is not None:
        reason = Reason("renamed statement changed", weave.omni[own_version.in_omni].facts.targets)
        return False, Doubt(strand, reason, INFERRED, own_version, (strand,))
    return False, _make_doubt(weave, strand, Reason("removed statement changed"), INFERRED)


def _settle_moved(weave: Weave, strand: Strand, terms: Terms, found: Sequence[Strand]) -> Doubt | None:
    """Give omni's moved copies ``found`` of a changed statement the new version where safe; return the doubt."""
    now = weave.upstream[strand.in_upstream]
    first, *others = found
    if others and _is_split_up(weave, strand, found) and not is_kept_out(now, terms):
        for place in found:
            place.carried = now.text
        # In a port, each passage is asked about anyway.
        is_told = terms.policy.is_copy
        return Doubt(strand, Reason("repeated statement followed"), INFERRED, first, (strand,)) if is_told else None
    if not others and _may_follow(weave, strand, terms) and _is_runnable_there(weave, strand, first):
        first.carried = now.text
        return None
    if others:
        return Doubt(strand, Reason("repeated statement changed"), INFERRED, first, (strand,))
    if terms.policy.is_copy and not now.compound and _is_runnable_there(weave, strand, first):
        first.carried = now.text
        if _has_same_values_there(weave, strand, first):
            return None
    return Doubt(strand, Reason("moved statement changed"), INFERRED, first, (strand,))


def _change_moved(weave: Weave, strand: Strand, terms: Terms) -> Strand | None:
    """Give the statement that omni moved and edited upstream's change, too, and return it; ``None`` without one."""
    own = [other for other in weave.of_omni if other.sides == "o" and not other.carried]
    moved = find_moved_version(weave, strand, own)
    if moved is None or not _is_runnable_there(weave, strand, moved):
        return None
    sides = weave.base[strand.in_base], weave.omni[moved.in_omni], weave.upstream[strand.in_upstream]
    joined = _join_edits(weave, sides, terms)
    if joined is None:
        return None
    moved.carried, _ = joined
    return moved


def _join_edits(weave: Weave, sides: tuple[Node, Node, Node], terms: Terms) -> tuple[str, Reason | None] | None:
    """Return a statement with both edits, and what to look at; ``None`` if they changed the same part."""
    content, doubt = choose_of_three(weave, sides, terms)
    if doubt is not None and doubt.kind not in _BOTH_EDITS:
        return None
    return "\n".join(content.lines), doubt


def _may_follow(weave: Weave, strand: Strand, terms: Terms) -> bool:
    """Whether a port may give a simple statement that omni has elsewhere its new version, which is asked about there.

    Both versions must call the same function, or set the same names without a call.
    """
    before, now = weave.base[strand.in_base], weave.upstream[strand.in_upstream]
    if terms.policy.is_copy or before.compound or now.compound or is_kept_out(now, terms):
        return False
    works = [(node.keyword, node.facts.called, node.facts.targets) for node in (before, now)]
    return any(works[0][1:]) and works[0] == works[1]


def _is_in_new_form(weave: Weave, omni: Node) -> bool:
    """Whether an omni statement equals upstream's new version of a base statement that omni lacks.

    Then it is up to date, and not a leftover of an older revision.
    """
    return any(
        strand.sides == "bu" and node.canon == omni.canon
        for node, strand in zip(weave.upstream, weave.of_upstream, strict=True)
    )


def _has_as_many(weave: Weave, node: Node) -> bool:
    """Whether omni has this text as its own at least as often as upstream has it as a new version of one omni lacks."""
    omni_count, upstream_count = (
        sum(one.canon == node.canon and strand.sides == sides for one, strand in zip(nodes, strands, strict=True))
        for nodes, strands, sides in ((weave.omni, weave.of_omni, "o"), (weave.upstream, weave.of_upstream, "bu"))
    )
    return omni_count >= upstream_count


def _has_elif_on(weave: Weave, node: Node) -> bool:
    """Whether omni has an ``elif`` of its own with this ``if`` condition, behind a branch that it put in front."""
    branch = f"el{node.canon}"
    return node.keyword == "if" and any(
        other.canon == branch and strand.sides == "o" for other, strand in zip(weave.omni, weave.of_omni, strict=True)
    )


def _is_split_up(weave: Weave, strand: Strand, found: Sequence[Strand]) -> bool:
    """Whether omni has, in the branches of a condition, what the base has in front of it, with the same values.

    Then upstream's version means the same in each branch as in front of the condition.
    """
    now = weave.upstream[strand.in_upstream]
    if now.compound or not all(_is_runnable_there(weave, strand, place) for place in found):
        return False
    around = set.intersection(*(set(enclosing(weave.omni, place.in_omni)) for place in found))
    heads = {weave.omni[head].canon for head in around if weave.omni[head].keyword == "if"}
    for k in siblings(weave.base, strand.in_base, step=1):
        if weave.base[k].canon in heads:
            return not uses_anything_of(weave.base[strand.in_base + 1 : k], [now])
    return False


def is_kept_out(upstream: Node, terms: Terms) -> bool:
    """Whether a statement of upstream's is a third party's, or is refused."""
    return is_inherited(upstream, terms.foreign) or (terms.veto is not None and terms.veto(upstream.canon) is not None)


def _is_runnable_there(weave: Weave, strand: Strand, moved: Strand) -> bool:
    """Whether all locals that only upstream's version of a statement reads are set above omni's place of it."""
    more = reads(weave.upstream[strand.in_upstream]) - reads(weave.base[strand.in_base])
    locals_ = {name for node in weave.upstream for name in binds(node)}
    return more & locals_ <= {name for node in weave.omni[: moved.in_omni] for name in binds(node)}


def _has_same_values_there(weave: Weave, strand: Strand, moved: Strand) -> bool:
    """Whether upstream's version of a statement is given the same values at omni's place.

    Omni must have it in the same suite as upstream, and nothing between the two places may set what the version
    mentions.
    """
    here, there = weave.omni[moved.in_omni].parent, weave.upstream[strand.in_upstream].parent
    if (weave.of_omni[here] if here != ROOT else None) is not (weave.of_upstream[there] if there != ROOT else None):
        return False
    shared = [k for k in siblings(weave.upstream, strand.in_upstream, step=-1) if weave.of_upstream[k].omni is not None]
    behind = [k for k in siblings(weave.upstream, strand.in_upstream, step=1) if weave.of_upstream[k].omni is not None]
    if not shared or not behind:
        return False
    first, last = shared[0], behind[0]
    places = sorted((weave.of_upstream[first].in_omni, weave.of_upstream[last].in_omni, moved.in_omni))
    between = [*weave.omni[places[0] : places[-1]], *weave.upstream[first:last]]
    return not uses_anything_of(between, [weave.upstream[strand.in_upstream]])


def _carry_over(weave: Weave, strand: Strand) -> tuple[Reason, Strand] | None:
    """Return the new upstream statement that passes on the arguments of a removed call, or ``None``.

    Its ``carried`` text gets the arguments that omni had added, if the locals that these read are set there.
    """
    new = _find_free(weave)
    nodes = [weave.upstream[s.in_upstream] for s in new]
    base, omni = weave.base[strand.in_base], weave.omni[strand.in_omni]
    if base.compound or omni.is_comment:
        return None
    texts = ["" if node.compound or node.is_comment else node.text for node in nodes]
    found = carry_over(base.text, omni.text, texts)
    if found is None or not has_edit_at_hand(weave, strand, new[found[0]]):
        return None
    new[found[0]].carried = found[1]
    return CARRIED, new[found[0]]


def _follow_moved(weave: Weave, strand: Strand, terms: Terms) -> tuple[Reason, Strand] | None:
    """Return the place to which upstream moved a statement that both sides edited, or ``None``.

    Its ``carried`` text has both edits; ``None`` if they changed the same part, or if a local that omni's edit reads is
    not set there.
    """
    moved = find_moved_version(weave, strand, _find_free(weave))
    if moved is None or not has_edit_at_hand(weave, strand, moved):
        return None
    sides = weave.base[strand.in_base], weave.omni[strand.in_omni], weave.upstream[moved.in_upstream]
    joined = _join_edits(weave, sides, terms)
    if joined is None:
        return None
    moved.carried, doubt = joined
    return doubt or Reason("edit moved on"), moved


_BOTH_EDITS: Collection[Kind] = frozenset({"additions moved on", "keywords taken over", "arguments of another call"})
"""What is to look at in a text that has the edits of both sides."""


def _find_free(weave: Weave) -> list[Strand]:
    """Return upstream's new statements that nothing was carried over to."""
    return [s for s in weave.of_upstream if s.sides == "u" and s.kept and not s.carried]


def _is_rewritten(weave: Weave, strand: Strand) -> bool:
    """Whether a new upstream statement replaces the removed one: with both kept, the work would be done twice.

    It binds what the removed one bound or, if that bound nothing, is the new final ``return`` in its place.
    """
    bound = binds(weave.omni[strand.in_omni])
    if not bound:
        return _has_new_final_return(weave, strand)
    return any(
        bound & binds(weave.upstream[s.upstream])
        for s in weave.of_upstream
        if s.sides == "u" and s.upstream is not None
    )


def _has_new_final_return(weave: Weave, strand: Strand) -> bool:
    """Whether the removed statement was the ``return`` at the end of a suite, and upstream ends it with a new one."""
    suite = _find_ended_suite(weave.omni, weave.of_omni, strand.in_omni)
    return suite is not None and any(
        other.sides == "u" and _find_ended_suite(weave.upstream, weave.of_upstream, index) == suite
        for index, other in enumerate(weave.of_upstream)
    )


def _find_ended_suite(nodes: Sequence[Node], strands: Sequence[Strand], index: int) -> Strand | int | None:
    """Return the head of the suite that a ``return`` ends (``ROOT`` for the unit); ``None`` for other statements."""
    node = nodes[index]
    if node.keyword != "return":
        return None
    if next(siblings(nodes, index, step=1), None) is not None:
        return None
    return ROOT if node.parent == ROOT else strands[node.parent]


def _make_doubt(weave: Weave, strand: Strand, reason: Reason, confidence: float) -> Doubt | None:
    """Return the doubt, or ``None`` for a comment or docstring."""
    node = pick_node(weave, strand)
    return None if node.is_comment or node.kind == "docstring" else Doubt(strand, reason, confidence)
