"""The steps of a merge: prepare the texts, match and settle their statements, choose contents, write, ask.

Comes in: a ``Triple``. Goes out: ``Merged``. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from runner_sync.confidence import CONTESTED
from runner_sync.merge.doubts.along import add_left_out_together
from runner_sync.merge.doubts.collisions import find_colliding_locals, find_lost_values, find_new_values
from runner_sync.merge.doubts.conditions import find_added_by_both, find_changed_conditions
from runner_sync.merge.doubts.decisions import Decision, make_decisions
from runner_sync.merge.doubts.exits import drop_exits_outside_loops, find_added_exits, find_exits_without_own_statement
from runner_sync.merge.doubts.misplaced import find_misplaced_moves, find_moved_apart, find_moves, find_out_of_order
from runner_sync.merge.doubts.overtaken import find_overtaken
from runner_sync.merge.doubts.own_calls import drop_answered_by_calls
from runner_sync.merge.doubts.own_statements import (
    add_unread_locals,
    drop_emptied_inside,
    find_hollow_suites,
    find_read_before_changed,
    find_set_beside_own_call,
    find_set_twice,
    find_stale_values,
    find_used_too_early,
    make_doubt_about_emptied,
)
from runner_sync.merge.doubts.repeated import (
    find_beside_changed_call,
    find_called_by_both,
    find_called_without_edit,
    find_repeated_without_edit,
)
from runner_sync.merge.doubts.replaced_callees import find_calls_of_replaced
from runner_sync.merge.doubts.replacements import add_successors_beside, find_replaced_in_own_blocks, join_replacements
from runner_sync.merge.doubts.rewritten import find_rewritten
from runner_sync.merge.doubts.same_calls import ask_at_same_calls
from runner_sync.merge.doubts.side_by_side import find_fed_beside
from runner_sync.merge.doubts.unread import undo_unread
from runner_sync.merge.keeping.foreign import is_foreign
from runner_sync.merge.keeping.presence import is_kept_out
from runner_sync.merge.keeping.resolve import leave_out_newly_undefined, settle_presence
from runner_sync.merge.keeping.returning import find_returned
from runner_sync.merge.matching.classify import classify
from runner_sync.merge.phrases.contents import Content, choose_content
from runner_sync.merge.placing.emit import print_strands
from runner_sync.merge.placing.interleaving import drop_crossing_suites, find_in_other_suites
from runner_sync.merge.placing.moved_remarks import carry_over_remarks
from runner_sync.merge.placing.nesting import set_parents
from runner_sync.merge.placing.pruning import drop_partial_wrappers, prune
from runner_sync.merge.placing.remarks import keep_comments_on_untouched, move_comments_with_statements
from runner_sync.merge.placing.sequence import order_strands
from runner_sync.merge.policy import FOLLOW, Policy, Terms
from runner_sync.merge.preparing.else_behind_exit import with_else_as_in_base
from runner_sync.merge.preparing.hints import plain, with_hints, without_new_hints
from runner_sync.merge.preparing.negated import with_branches_in_one_order
from runner_sync.merge.preparing.omni_order import in_omni_order
from runner_sync.merge.preparing.one_form import in_one_form
from runner_sync.merge.preparing.parameters import find_new_parameters, with_omni_parameters
from runner_sync.merge.preparing.records import find_records, with_records
from runner_sync.merge.preparing.renames import (
    rename_in,
    with_omni_names,
    with_omni_names_of_new_values,
    with_omni_names_of_values,
)
from runner_sync.merge.preparing.replaced_elsewhere import with_replaced_elsewhere
from runner_sync.merge.preparing.returned import (
    with_returned_values_named,
    with_upstream_return_named,
    with_values_returned_at_once,
)
from runner_sync.merge.preparing.two_branches import with_upstream_branches
from runner_sync.merge.preparing.unread_values import with_omni_names_of_unread_values
from runner_sync.merge.preparing.upstream_names import find_new_names, with_new_names
from runner_sync.merge.reason import Veto
from runner_sync.merge.weave import Doubt, Strand, Weave, pick_node
from runner_sync.model import Triple
from runner_sync.statements import compiles, flatten_sides, parses, tree_of
from runner_sync.syntax import Function, indentation


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged text of a unit, the doubtful decisions in it, and omni's and upstream's names of renamed locals."""

    text: str
    decisions: tuple[Decision, ...] = ()
    parses: bool = True
    new_names: tuple[tuple[str, str], ...] = ()


def merge(
    triple: Triple,
    *,
    policy: Policy | None = None,
    heritage: Collection[str] = frozenset(),
    versions: Collection[str] = frozenset(),
    veto: Veto | None = None,
    foreign: Collection[str] = frozenset(),
    pinned: Collection[str] = frozenset(),
    firm: Collection[str] = frozenset(),
) -> Merged:
    """Merge one unit.

    Raises ``UnparsableText`` if a side is not Python, unless only one side changed anything.

    Args:
        triple: the three texts, at any indentation.
        policy: which side wins where both changed the same; ``FOLLOW`` by default.
        heritage: canonical statements of other upstream revisions, which a composite copy may have.
        versions: the part of ``heritage`` from revisions that parts of the copy are known to come from.
        veto: returns why a canonical upstream statement must not come in, or ``None``.
        foreign: canonical statements that upstream has from a third party; they stay out.
        pinned: canonical statements that omni has from a third party; they stay even if upstream dropped them.
        firm: canonical statements that did not move, if upstream has others on their other side.
    """
    terms = Terms(
        policy=policy or FOLLOW,
        heritage=heritage,
        versions=versions,
        veto=veto,
        foreign=foreign,
        pinned=pinned,
        firm=firm,
    )
    settled = _merge_trivially(triple, terms)
    if settled is not None:
        return Merged(settled)
    hints: Mapping[str, str] = {}
    if terms.policy.is_copy:
        triple, hints = without_new_hints(triple)
        heritage, versions = ({*known, *map(plain, known)} for known in (terms.heritage, terms.versions))
        terms = replace(terms, heritage=heritage, versions=versions)
    return _write_hints(_merge_statements(triple, terms), hints)


def _merge_statements(triple: Triple, terms: Terms) -> Merged:
    triple = with_omni_parameters(triple)
    values = find_records(triple) if terms.policy.is_copy else {}
    triple, terms = with_records(triple, values), _rename_older(terms, values)
    names = find_new_parameters(triple)
    triple = _make_comparable(with_new_names(triple, names), terms)
    further = find_new_names(triple) if terms.policy.is_copy else {}
    triple, names = with_new_names(triple, further), {**names, **further}
    terms = _rename_older(terms, names)
    sides = flatten_sides(triple)
    weave = classify(*sides, is_copy=terms.policy.is_copy, firm=terms.firm)
    strands, doubts = _settle(weave, terms)
    chosen = _choose(weave, strands, terms)
    doubts = _add_consequences(weave, chosen, [*doubts, *chosen.left_out]) + chosen.both_changed
    if terms.policy.is_copy:
        # A port is asked about anyway.
        doubts = [*add_successors_beside(weave, chosen.kept, doubts), *find_called_by_both(weave, chosen.kept)]
        doubts += [*find_calls_of_replaced(weave, chosen.kept), *find_beside_changed_call(weave, chosen.kept)]
    else:
        doubts = join_replacements(weave, doubts)
    doubts = ask_at_same_calls(weave, doubts)
    doubts = add_left_out_together(weave, chosen.kept, doubts, terms.foreign)
    chosen, left_out = _carry_moved_remarks(weave, chosen, doubts, terms.heritage)
    result = _write_result(triple, weave, strands, chosen, [*doubts, *left_out], is_copy=terms.policy.is_copy)
    return replace(result, new_names=tuple(names.items()))


def _write_hints(merged: Merged, hints: Mapping[str, str]) -> Merged:
    """Return the result with upstream's type hints, in its decisions, too."""
    if not hints:
        return merged
    decisions = tuple(
        replace(item, upstream=with_hints(item.upstream, hints), chosen=with_hints(item.chosen, hints))
        for item in merged.decisions
    )
    return replace(merged, text=with_hints(merged.text, hints), decisions=decisions)


def _merge_trivially(triple: Triple, terms: Terms) -> str | None:
    """Return the result if only one side changed anything or both made the same change, else ``None``.

    The texts need not be Python. Terms that affect a side's statements rule the shortcut out.
    """
    if triple.upstream == triple.omni or (triple.upstream == triple.base and not terms.heritage):
        return triple.omni
    is_bound = terms.veto is not None or terms.foreign or terms.pinned
    if triple.base == triple.omni and not is_bound:
        return triple.upstream
    return None


def _make_comparable(triple: Triple, terms: Terms) -> Triple:
    """Give the sides one form, and omni's names for what they write differently; in a port, omni's order, too."""
    triple = with_else_as_in_base(with_branches_in_one_order(in_one_form(triple)))
    if terms.policy.is_copy:
        triple = with_upstream_return_named(with_returned_values_named(with_upstream_branches(triple)))
    triple = with_omni_names_of_values(with_omni_names(triple))
    triple = with_omni_names_of_new_values(triple)
    if terms.policy.is_copy:
        return triple
    ordered = in_omni_order(with_values_returned_at_once(with_omni_names_of_unread_values(triple)))
    return with_replaced_elsewhere(ordered, lambda node: is_kept_out(node, terms))


def _rename_older(terms: Terms, names: Mapping[str, str]) -> Terms:
    """Rename locals in the statements of other upstream revisions."""
    older, parts = (frozenset(rename_in(canon, names) for canon in all_) for all_ in (terms.heritage, terms.versions))
    return replace(terms, heritage=older, versions=parts) if names else terms


def _settle(weave: Weave, terms: Terms) -> tuple[list[Strand], list[Doubt]]:
    """Order all strands, give each a verdict and a suite, and return them with the doubts."""
    strands = order_strands(weave, terms.policy)
    doubts = drop_answered_by_calls(weave, settle_presence(weave, strands, terms))
    doubts += drop_crossing_suites(weave, strands, is_copy=terms.policy.is_copy)
    set_parents(weave, strands, terms.policy)
    if not terms.policy.is_copy:
        doubts += drop_partial_wrappers(weave, strands)
        keep_comments_on_untouched(weave, strands)
    return strands, doubts


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The kept strands, their texts, and the doubts about what was left out and what both sides changed."""

    kept: list[Strand]
    contents: dict[Strand, Content]
    left_out: list[Doubt]
    both_changed: list[Doubt]


def _choose(weave: Weave, strands: list[Strand], terms: Terms) -> _Chosen:
    """Prune heads without a body, choose each strand's text, drop new assignments nobody reads, then prune again."""
    suites = [s for s in strands if s.sides == "o" and s.kept and not pick_node(weave, s).is_comment]
    before = sum(strand.kept for strand in strands)
    kept, hollow = prune(weave, strands)
    lost_with_it = leave_out_newly_undefined(weave, strands, terms) if len(kept) < before else []
    kept, _ = prune(weave, kept) if lost_with_it else (kept, [])
    contents, both_changed = _choose_contents(weave, kept, terms)
    left_out = lost_with_it + undo_unread(weave, kept, contents, records_fit=not terms.policy.is_copy)
    kept, hollow_now = prune(weave, kept)
    hollow += [doubt for doubt in hollow_now if doubt not in hollow]
    left_out += drop_exits_outside_loops(weave, kept)
    kept, _ = prune(weave, kept)
    kept = move_comments_with_statements(weave, kept)
    left_out += [doubt for doubt in hollow if not is_foreign(weave, doubt.strand, terms.foreign)]
    lost = [
        make_doubt_about_emptied(weave, s)
        for s in [*(s for s in suites if not s.kept), *find_hollow_suites(weave, kept)]
    ]
    # A port is asked about anyway, together with what it replaces, so a replaced block needs no question of its own.
    left_out += [doubt for doubt in lost if terms.policy.is_copy or doubt.reason.kind != "added block replaced"]
    return _Chosen(kept, contents, left_out, both_changed)


def _add_consequences(weave: Weave, chosen: _Chosen, doubts: Sequence[Doubt]) -> list[Doubt]:
    """Add the doubts about unedited statements that do something else in the result."""
    kept = chosen.kept
    return [
        *add_unread_locals(weave, kept, chosen.contents, drop_emptied_inside(weave, doubts)),
        *find_set_twice(weave, kept, chosen.contents),
        *find_set_beside_own_call(weave, kept),
        *find_returned(weave, kept),
        *find_added_exits(weave, kept),
        *find_exits_without_own_statement(weave, kept),
        *find_repeated_without_edit(weave, kept),
        *find_called_without_edit(weave, kept),
        *find_rewritten(weave, kept),
        *find_replaced_in_own_blocks(weave, kept),
    ]


def _carry_moved_remarks(
    weave: Weave, chosen: _Chosen, doubts: Sequence[Doubt], heritage: Collection[str]
) -> tuple[_Chosen, list[Doubt]]:
    """Carry over omni's comments inside moved statements; return ``chosen`` and the doubts about lost comments."""
    asked = {doubt.strand for doubt in doubts}
    made, gone = carry_over_remarks(weave, chosen.kept, chosen.contents, asked=asked, heritage=heritage)
    return replace(chosen, contents=made), gone


def _write_result(
    triple: Triple, weave: Weave, strands: Sequence[Strand], chosen: _Chosen, doubts: Sequence[Doubt], *, is_copy: bool
) -> Merged:
    """Write the kept strands as text; turn all doubts, also those about its order, into questions at its lines."""
    kept, contents = chosen.kept, chosen.contents
    emitted = print_strands(
        weave, kept, contents, indent=len(indentation(triple.omni or triple.upstream)), is_copy=is_copy
    )
    asked = [*doubts, *find_changed_conditions(weave, kept, emitted)]
    asked += find_added_by_both(weave, kept, emitted) if is_copy else []
    moves = find_moves(weave, kept)
    asked += find_in_other_suites(weave, kept, moves) if is_copy else []
    asked += find_moved_apart(weave, kept, emitted, asked)
    lines = {key: first for key, (first, _) in emitted.place.items()}
    early = find_used_too_early(weave, kept, lines)
    early += [] if is_copy else find_read_before_changed(weave, strands, lines, asked={doubt.strand for doubt in early})
    asked += early
    asked += find_fed_beside(weave, kept, asked={doubt.strand for doubt in asked}) if is_copy else []
    asked += find_out_of_order(weave, emitted, asked)
    asked += find_misplaced_moves(weave, kept, emitted, asked)
    asked += find_overtaken(weave, moves, emitted, asked={doubt.strand for doubt in asked})
    asked += find_colliding_locals(weave, triple, emitted)
    asked += find_new_values(weave, triple, emitted) if is_copy else []
    asked += find_lost_values(weave, triple, emitted, asked={doubt.strand for doubt in asked}) if is_copy else []
    asked += find_stale_values(weave, kept, asked) if is_copy else []
    text = emitted.text if triple.omni.endswith("\n") or not triple.omni else emitted.text[:-1]
    return Merged(text, make_decisions(weave, strands, emitted, contents, asked), _is_well_formed(text, triple))


def _is_well_formed(text: str, triple: Triple) -> bool:
    """Whether the result compiles or, if a side does not compile itself, parses.

    Compiling rejects a ``break`` outside a loop. A side may be a part of a function, which does not compile. If each
    side is one definition, the result must be one of the same kind and name.
    """
    if not compiles(text):
        return parses(text) and not (compiles(triple.omni) and compiles(triple.upstream))
    sides = [_find_only_definition(side) for side in (triple.base, triple.omni, triple.upstream)]
    return None in sides or _find_only_definition(text) in sides


@lru_cache(maxsize=256)
def _find_only_definition(text: str) -> tuple[bool, str] | None:
    """Return whether the only definition in a text is a class, and its name; ``None`` for any other text."""
    body = tree_of(text).body
    if len(body) != 1 or not isinstance(body[0], Function | ast.ClassDef):
        return None
    return isinstance(body[0], ast.ClassDef), body[0].name


def _choose_contents(weave: Weave, kept: Sequence[Strand], terms: Terms) -> tuple[dict[Strand, Content], list[Doubt]]:
    """Return the chosen text of every strand, and the doubts about it."""
    contents, doubts = {}, []
    for strand in kept:
        contents[strand], reason = choose_content(weave, strand, terms)
        if reason is not None:
            doubts.append(Doubt(strand, reason, CONTESTED))
    return contents, doubts
