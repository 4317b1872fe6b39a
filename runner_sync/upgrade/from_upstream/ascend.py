"""Merges the change of vllm-ascend, the first upstream, into the copied units.

Comes in: drafts and a ``ModuleJob``. Goes out: the drafts with one more stage, their base, and questions. May touch:
nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from runner_sync import lineage, merge
from runner_sync.confidence import INFERRED
from runner_sync.digests import digest
from runner_sync.errors import attempt
from runner_sync.model import BaseRef, Triple
from runner_sync.statements import as_module, flatten, parse_unit
from runner_sync.texts.assignment import find_locals
from runner_sync.texts.member_text import canonical, split_head
from runner_sync.texts.names import used_names
from runner_sync.thresholds import NAMED
from runner_sync.units import texts
from runner_sync.upgrade.base import Base, collect_composite_statements, find_base_of, name_in_upstream
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_upstream import kept_in_place, overriding, splitting
from runner_sync.upgrade.from_upstream.class_methods import find_methods, find_reached_methods
from runner_sync.upgrade.from_upstream.dropped_blocks import remove_dropped_blocks
from runner_sync.upgrade.from_upstream.extracted import ask_about_extracted
from runner_sync.upgrade.from_upstream.given_up import collect_given_up_statements
from runner_sync.upgrade.from_upstream.spelling import call_as_upstream
from runner_sync.upgrade.from_upstream.taking_over import record_new_names, spell_origin, take_over_parameters
from runner_sync.upgrade.from_upstream.unions import respell_unions
from runner_sync.upgrade.from_upstream.unsynced import ask_about_unsynced
from runner_sync.upgrade.import_forms import spell_as_upstream
from runner_sync.upgrade.isolation import leave_alone
from runner_sync.upgrade.job import ModuleJob, find_conflict_winner
from runner_sync.upgrade.questions.answered import drop_answered, drop_tests_of_twin
from runner_sync.upgrade.questions.reviews import Shown, ask, make_review_of_decision, make_unmerged_review


def follow(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """Return all drafts, with the new upstream text merged into the chosen copies.

    A chosen draft also gets its upstream text, its kind and its base. Methods that upstream split off a copied one
    become new drafts at the end. Returns the drafts unchanged if there is no new upstream revision.
    """
    if job.upstream.new is None:
        return [*drafts]
    new = job.upstream.new.units
    followed, added = [], []
    for draft in drafts:
        rest = None
        if draft.chosen:
            upstream = new.get(name_in_upstream(draft.name, job.module))
            draft, rest = _attempt_unit(replace(draft, upstream=upstream), job)
        followed.append(draft)
        added += [rest] if rest is not None else []
    return remove_dropped_blocks(followed, job) + added


def _attempt_unit(draft: Draft, job: ModuleJob) -> tuple[Draft, Draft | None]:
    leave = partial(leave_alone, draft, job, draft.upstream or "", "upstream")
    return attempt(partial(_follow_unit, draft, job), lambda why: (leave(why), None), isolates=job.settings.isolates)


def _follow_unit(draft: Draft, job: ModuleJob) -> tuple[Draft, Draft | None]:
    """Return one draft with upstream's change, and the draft of a method that upstream split off, if any."""
    assert job.upstream.new is not None
    base = find_base_of(draft, job)
    if base is None:
        return replace(draft, kind="own"), None
    if base.kind == "copy" and draft.name in job.upstream.apart:
        base = replace(base, kind="override")  # a lock names few revisions, and one of them may be similar by chance
    draft = replace(draft, kind=base.kind)
    if not job.upstream.is_followed:
        return replace(draft, own=_find_own_statements(draft.text, base.origin)) if base.kind == "copy" else draft, None
    if base.kind == "copy":
        return _follow_copy(draft, job, base)
    if base.kind == "override" and draft.upstream is not None:
        draft = overriding.follow_overridden(draft, job, base)
    return draft, None


def _follow_copy(draft: Draft, job: ModuleJob, base: Base) -> tuple[Draft, Draft | None]:
    """Return a copy of ``base`` with upstream's change, and the draft of a method that upstream split off, if any."""
    assert job.upstream.new is not None
    origin = base.origin
    draft = replace(draft, base=base.ref, base_now=_make_base_now(draft, job))
    if not _is_followed_already(base, job):
        given_up = collect_given_up_statements(draft, job, origin)
        origin = replace(origin, text=base.copied, heritage=origin.heritage | given_up)
    draft, origin, put_back = _put_back(draft, job, origin)
    draft = replace(draft, own=_find_own_statements(draft.text, origin))
    if draft.upstream is None:
        return draft, None
    origin = replace(origin, versions=collect_composite_statements(draft.text, base.ref, job.upstream.bases, origin))
    split_off = _find_split_off(draft, job, origin)
    halves = _merge_in_halves(draft, *split_off, job, origin) if split_off is not None else None
    first, rest = halves if halves is not None else (_merge_copy(draft, job, origin), None)
    if first.outcome != "review":
        first = kept_in_place.ask_about_kept(first, job.path, put_back, find_methods(draft, job, origin.ref).new)
    return ask_about_unsynced(first, job, base), rest


def _is_followed_already(base: Base, job: ModuleJob) -> bool:
    """Whether the lock or the user says that a copy is of the revision to follow: nothing is new, so the base must stay
    complete.

    Being the closest of several says less: an older copy may lack what that revision was the first to have.
    """
    assert job.upstream.new is not None
    candidates = {side.ref for side in job.upstream.bases if side.is_base}
    return base.ref.ref == job.upstream.new.ref and (base.ref.how == "lock" or len(candidates) == 1)


def _put_back(
    draft: Draft, job: ModuleJob, origin: lineage.Origin
) -> tuple[Draft, lineage.Origin, tuple[kept_in_place.Kept, ...]]:
    """Return draft and origin with upstream's methods in place whose code the copy has where the base calls them."""
    if draft.upstream is None:
        return draft, origin, ()
    methods = find_methods(draft, job, origin.ref)
    sides = kept_in_place.put_back(draft.text, base=origin.text, upstream=draft.upstream, methods=methods)
    return replace(draft, upstream=sides.upstream), replace(origin, text=sides.base), sides.kept


def _make_base_now(draft: Draft, job: ModuleJob) -> BaseRef | None:
    """Return the lock's new base of a copy, upstream's new text; ``None`` if upstream no longer has the unit."""
    assert job.upstream.new is not None
    if draft.upstream is None:
        return None
    anchor, name = job.module.anchor, name_in_upstream(draft.name, job.module)
    return BaseRef(anchor.project, job.upstream.new.ref, anchor.path, name, "lock", 1.0, digest(draft.upstream))


def _find_split_off(draft: Draft, job: ModuleJob, origin: lineage.Origin) -> tuple[str, str] | None:
    """Return name and text of a method that upstream split off this one and the module lacks, if any."""
    methods = find_methods(draft, job, origin.ref)
    old, new = methods.old, methods.new
    member = splitting.find_split_off(draft.member, base=origin.text, copy=draft.text, old=old, new=new)
    have = {*job.units, *texts.beside_units(job.text, job.path)}
    if not member or f"{draft.owner}.{member}" in have:
        return None
    return member, new[member]


def _merge_in_halves(
    draft: Draft, member: str, text: str, job: ModuleJob, origin: lineage.Origin
) -> tuple[Draft, Draft] | None:
    """Merge a copy with the two methods that upstream split it into; return the drafts of both halves.

    ``text`` is upstream's second method, called ``member``. Returns ``None`` if the merged text cannot be cut in two
    again, or if the second half has no omni statement: then the method is inherited and needs no copy.
    """
    assert draft.upstream is not None
    result = _merge(draft, splitting.join_halves(draft.upstream, text), job, origin)
    halves = splitting.cut_halves(result.text, text) if result.parses else None
    if halves is None or not set(draft.own) & set(canonical(halves[1])):
        return None
    first, rest = (
        draft.with_stage(halves[0], "upstream"),
        _draft_split_off(draft, member, halves[1], job, upstream=text),
    )
    first, rest = (record_new_names(half, draft.text, result, job) for half in (first, rest))
    row, start = splitting.find_cut_row(result.text), split_head(rest.text)[0].count("\n")
    for item in _drop_answered(result, draft, job):
        if item.reason.kind == OUT_OF_ORDER and splitting.is_in_order(result.text, draft.text, item.line):
            continue
        if item.line > row:
            rest = rest.with_questions(make_review_of_decision(item, rest, job.path, line=item.line - row + start))
        else:
            first = first.with_questions(make_review_of_decision(item, first, job.path, line=item.line))
    return first, rest


def _draft_split_off(draft: Draft, member: str, text: str, job: ModuleJob, *, upstream: str) -> Draft:
    """Return a draft with a question for ``member``, which upstream split off the method of ``draft``."""
    now = draft.base_now
    if now is not None:
        now = replace(now, qualname=f"{job.module.anchor.name}.{member}", digest=digest(upstream))
    rest = Draft(
        f"{draft.owner}.{member}",
        (Stage(""), Stage(text, "upstream")),
        "copy",
        "added",
        base=draft.base,
        base_now=now,
        upstream=upstream,
        after=draft.name,
        own=draft.own,
        split_from=draft.name,
        chosen=True,
    )
    reason = (
        f"upstream split this method off {draft.member}; omni's additions to this part of {draft.member} "
        "moved here, too"
    )
    shown = Shown(omni=draft.before, upstream=upstream, chosen=text)
    return ask(rest, job.path, reason=reason, confidence=INFERRED, shown=shown)


def _find_own_statements(text: str, origin: lineage.Origin, *, returns: bool = False) -> tuple[str, ...]:
    """Return canonical statements of a copy that no known upstream revision has, without signature; on request, with
    returns."""
    [alike] = merge.rename_alike(text, [origin.text])
    known = {*lineage.fingerprint(origin.text), *lineage.fingerprint(alike)} | origin.heritage
    return tuple(c for c in canonical(text)[1:] if c not in known and (returns or not c.startswith("return")))


def _merge_copy(draft: Draft, job: ModuleJob, origin: lineage.Origin) -> Draft:
    """Return a copy with upstream's change merged in.

    Keeps omni's text, with a question, if the merge does not parse or would read locals that nothing sets any more.
    """
    assert job.upstream.new is not None
    assert draft.upstream is not None
    methods = find_methods(draft, job, origin.ref)
    own = _find_own_statements(draft.text, origin, returns=True)
    sides = kept_in_place.keep_in_place(draft.text, own, base=origin.text, upstream=draft.upstream, methods=methods)
    draft = replace(draft, upstream=sides.upstream)
    result = _merge(draft, sides.upstream, job, origin)
    if reason := _explain_unusable(result, draft, origin, job.upstream.new.ref):
        item = make_unmerged_review(draft, job.path, reason=reason, base=origin.text, upstream=sides.upstream)
        return replace(draft.with_questions(item), outcome="review")
    asked = _drop_answered(result, draft, job)
    items = [make_review_of_decision(item, draft, job.path, line=item.line) for item in asked]
    merged = draft.with_questions(*items).with_stage(result.text, "upstream")
    merged = record_new_names(merged, draft.text, result, job)
    merged = kept_in_place.ask_about_kept(merged, job.path, sides.kept, methods.new)
    in_place = {canon for one in sides.kept for inside in one.inside for canon in canonical(inside)}
    return ask_about_extracted(merged, job.path, base=origin.text, old=methods.old, new=methods.new, in_place=in_place)


def _explain_unusable(result: merge.Merged, draft: Draft, origin: lineage.Origin, ref: str) -> str:
    """Return why omni's text stays instead of the result of a merge with upstream's at ``ref``; empty if it can go."""
    if not result.parses:
        return f"the merge with {ref} did not parse, so omni's text stays"
    if orphans := _find_orphans(result.text, draft, origin):
        read = ", ".join(sorted(orphans)[:NAMED])
        return (
            f"upstream rewrote this method in {ref}; omni's text stays, because the merged method would read {read}, "
            "which nothing would set"
        )
    return ""


def _drop_answered(result: merge.Merged, draft: Draft, job: ModuleJob) -> list[merge.Decision]:
    """Return the decisions of a merge without those that the texts at hand answer."""
    twin = job.twin.new
    units = twin.units if twin is not None else {}
    asked = drop_tests_of_twin(result.decisions, units.get(job.profile.gpu_name(draft.name), ""))
    return drop_answered(asked, job.target.constructors)


def _merge(draft: Draft, upstream: str, job: ModuleJob, origin: lineage.Origin) -> merge.Merged:
    """Merge the change from the copy's origin to ``upstream`` into the copy."""
    assert job.upstream.new is not None
    is_class = isinstance(parse_unit(draft.text).body[0], ast.ClassDef)
    # Fields of a record are positional. Upstream's code builds it in upstream's order, so omni's fields come last.
    policy = merge.settle_for(merge.RECORD if is_class else merge.FOLLOW, find_conflict_winner(job, draft.name))
    omni_text, origin, names = take_over_parameters(draft.text, origin, upstream)
    if upstream != origin.text:
        new = job.upstream.new.text
        omni_text = spell_as_upstream(omni_text, job.text, upstream=upstream, upstream_module=new)
        origin = spell_origin(origin, job, upstream)
        methods = find_reached_methods(draft, job)
        omni_text = call_as_upstream(omni_text, base=origin.text, upstream=upstream, methods=methods)
    result = _merge_with_local_names(_make_sides(origin.text, omni_text, upstream, job), policy, origin)
    return _name_omni_forms(replace(result, new_names=(*names.items(), *result.new_names)))


def _find_orphans(text: str, draft: Draft, origin: lineage.Origin) -> frozenset[str]:
    """Return omni's locals that the merged ``text`` reads and no longer sets, if upstream rewrote the method.

    A rewritten method's new text is no longer similar to the origin. For any other method the result is empty, because
    the merge itself asks about such locals. For example, vllm-ascend's `_update_states` was a copy of vLLM's method in
    0.11.0rc1; in 0.25.1rc1 it calls that method and does a little more.
    """
    if draft.upstream is None or lineage.similarity(origin.text, draft.upstream) >= lineage.COPY:
        return frozenset()
    return _find_newly_read(text, draft.text) & find_locals(draft.text)


def _make_sides(base: str, omni: str, upstream: str, job: ModuleJob) -> Triple:
    """Return base, omni and upstream for a merge; base and upstream spell type unions as omni's module does."""
    old, new = (respell_unions(text, unit=omni, module=job.text) for text in (base, upstream))
    return Triple(old, omni, new)


def _merge_with_local_names(sides: Triple, policy: merge.Policy, origin: lineage.Origin) -> merge.Merged:
    """Merge; merge again with omni's local names in upstream's text if the result reads locals that omni never sets.

    Takes the second result only if it parses and leaves fewer questions, because omni may use its local for another
    purpose than upstream's new code.
    """
    result = merge.merge(sides, policy=policy, heritage=origin.heritage, versions=origin.versions)
    unset = {name for item in result.decisions if item.reason.kind == UNSET_BY_OMNI for name in item.reason.names}
    unbound = _find_unbound_locals(result.text, sides)
    named = merge.with_omni_names_behind(sides, sorted({name for name in unset if name.isidentifier()} | unbound))
    if named == sides:
        return result
    other = merge.merge(named, policy=policy, heritage=origin.heritage, versions=origin.versions)
    asked, asked_before = (
        _count_questions(one) + len(_find_unbound_locals(one.text, sides)) for one in (other, result)
    )
    return other if other.parses and asked < asked_before else result


def _name_omni_forms(result: merge.Merged) -> merge.Merged:
    """Complete decisions about values that omni does not set with the name under which omni makes the value.

    Another decision of the same merge must have found that name.
    """
    own_name_decisions = [item for item in result.decisions if item.reason.kind == OWN_NAME]
    renamings = [
        (node.facts.targets, item.reason.names) for item in own_name_decisions for node in flatten(item.base)[:1]
    ]
    omni_names = {old: new for olds, news in renamings for old, new in zip(olds, news, strict=False)}
    return replace(result, decisions=tuple(_name_omni_form(item, omni_names) for item in result.decisions))


def _name_omni_form(item: merge.Decision, omni_names: Mapping[str, str]) -> merge.Decision:
    found = [omni_names[name] for name in item.reason.names if name in omni_names]
    if item.reason.kind != UNSET_BY_OMNI or not found:
        return item
    detail = f", but computes in its own form as {' and '.join(found)}"
    return replace(item, reason=replace(item.reason, detail=detail))


def _count_questions(result: merge.Merged) -> int:
    """Count the questions that a merge leaves, except those about statements that omni has under another name.

    Counting those would favour a merge just because its names agree.
    """
    return sum(item.reason.kind != OWN_NAME for item in result.decisions)


def _find_unbound_locals(text: str, sides: Triple) -> frozenset[str]:
    """Return upstream's locals that the merged ``text`` reads but does not bind, and that omni's text did not read."""
    try:
        return _find_newly_read(text, sides.omni) & find_locals(sides.upstream)
    except SyntaxError:
        return frozenset()


def _find_newly_read(text: str, omni: str) -> frozenset[str]:
    """Return the names from outside that the merged ``text`` reads and ``omni`` does not."""
    return frozenset(used_names(as_module(text)) - used_names(as_module(omni)))


OWN_NAME: merge.Kind = "renamed statement changed"
"""Reason of a decision about an upstream statement that omni has in its own form, under another name."""

OUT_OF_ORDER: merge.Kind = "on the other side"
"""Reason of a decision about a statement that has changed places with its neighbours."""

UNSET_BY_OMNI: merge.Kind = "addition reads what omni does not set"
"""Reason of a decision that leaves out an upstream addition, because it reads a local that omni does not set."""
