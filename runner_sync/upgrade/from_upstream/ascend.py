"""The first upstream: carry what vllm-ascend changed into the copied units.

Comes in: drafts and a ``ModuleJob``. Goes out: the drafts with one more stage, their base and their doubts. May touch:
nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from runner_sync import lineage, merge
from runner_sync.compose.assignment import locals_of
from runner_sync.compose.member_text import canonical
from runner_sync.compose.names import used_names
from runner_sync.confidence import INFERRED
from runner_sync.lock import digest
from runner_sync.model import BaseRef, Triple
from runner_sync.statements import as_module, flatten, parse_unit
from runner_sync.units import texts
from runner_sync.upgrade.base import Base, closest, find_base, upstream_name, versions_of
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_upstream import overriding, splitting, undivided
from runner_sync.upgrade.from_upstream.dropped_blocks import without_dropped_blocks
from runner_sync.upgrade.from_upstream.given_up import statements_of_given_up
from runner_sync.upgrade.from_upstream.spelling import as_upstream_calls
from runner_sync.upgrade.from_upstream.unions import in_omni_spelling
from runner_sync.upgrade.from_upstream.unsynced import asking_about_unsynced
from runner_sync.upgrade.job import ModuleJob, winner
from runner_sync.upgrade.questions.answered import without_answered
from runner_sync.upgrade.questions.in_helpers import naming_helpers
from runner_sync.upgrade.questions.reviews import Shown, review, review_of, unmerged


def follow(drafts: Sequence[Draft], job: ModuleJob) -> list[Draft]:
    """All drafts, with the new upstream text merged into the chosen ones that are copies.

    A chosen draft also gets its upstream text, its kind and its base. Methods that upstream split off a copied one are
    appended as new drafts. Without a new upstream revision the drafts come back as they are.
    """
    if job.upstream.new is None:
        return [*drafts]
    new = texts.unit_texts(job.upstream.new.text, job.upstream.new.path)
    followed, added = [], []
    for draft in drafts:
        rest = None
        if draft.chosen:
            upstream = new.get(upstream_name(draft.name, job.module))
            draft, rest = _followed(replace(draft, upstream=upstream), job)
        followed.append(draft)
        added += [rest] if rest is not None else []
    return without_dropped_blocks(followed, job) + added


def _followed(draft: Draft, job: ModuleJob) -> tuple[Draft, Draft | None]:
    """One draft with upstream's change, and the draft of the method that upstream split off it, if any."""
    assert job.upstream.new is not None
    locked, infer = job.upstream.locked.get(draft.name), job.upstream.infer or closest
    base = find_base(draft.name, draft.text, job.module, job.upstream.bases, locked=locked, infer=infer)
    if base is None:
        return replace(draft, kind="own"), None
    if base.kind == "copy" and draft.name in job.upstream.apart:
        base = replace(base, kind="override")  # one of the few revisions that a lock names may be similar by chance
    draft = replace(draft, kind=base.kind)
    if not job.upstream.is_followed:
        return replace(draft, own=_own_statements(draft.text, base.origin)) if base.kind == "copy" else draft, None
    if base.kind == "copy":
        return _copy_followed(draft, job, base)
    if base.kind == "override" and draft.upstream is not None:
        draft = overriding.followed(draft, job, base)
    return draft, None


def _copy_followed(draft: Draft, job: ModuleJob, base: Base) -> tuple[Draft, Draft | None]:
    """A copy of ``base`` with upstream's change, and the draft of the method that upstream split off it, if any."""
    assert job.upstream.new is not None
    origin = base.origin
    draft = replace(draft, base=base.ref, base_now=_base_now(draft, job))
    if base.ref.ref != job.upstream.new.ref:
        # If the base is the revision to follow, nothing is new, and the base must stay complete.
        origin = replace(origin, text=base.copied, heritage=origin.heritage | _given_up(draft, job, origin))
    draft = replace(draft, own=_own_statements(draft.text, origin))
    if draft.upstream is None:
        return draft, None
    origin = replace(origin, versions=versions_of(draft.text, base.ref, job.upstream.bases, origin))
    second = _second_half(draft, job, origin)
    halves = _merged_divided(draft, *second, job, origin) if second is not None else None
    first, rest = halves if halves is not None else (_merged(draft, job, origin), None)
    return asking_about_unsynced(first, job, base), rest


def _base_now(draft: Draft, job: ModuleJob) -> BaseRef | None:
    """What the lock will say that a copy follows: upstream's new text; ``None`` where upstream no longer has it."""
    assert job.upstream.new is not None
    if draft.upstream is None:
        return None
    anchor, name = job.module.upstreams[0], upstream_name(draft.name, job.module)
    return BaseRef(anchor.project, job.upstream.new.ref, anchor.path, name, "lock", 1.0, digest(draft.upstream))


def _given_up(draft: Draft, job: ModuleJob, origin: lineage.Origin) -> frozenset[str]:
    """Statements of the copy that replace statements of its base and come from methods which upstream has removed."""
    owner = job.module.upstreams[0].name
    if not draft.owner:
        return frozenset()
    return statements_of_given_up(draft.text, origin.text, owner, sides=job.upstream.bases, ref=origin.ref)


def _second_half(draft: Draft, job: ModuleJob, origin: lineage.Origin) -> tuple[str, str] | None:
    """Name and text of a method that upstream split off this one and the module lacks; ``None`` if there is none."""
    old, new = _methods(draft, job, origin)
    member = splitting.split_off(draft.member, base=origin.text, copy=draft.text, old=old, new=new)
    have = {*texts.unit_texts(job.text, job.path), *texts.beside_units(job.text, job.path)}
    if not member or f"{draft.owner}.{member}" in have:
        return None
    return member, new[member]


def _methods(draft: Draft, job: ModuleJob, origin: lineage.Origin) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """All methods of the upstream class, at the revision of ``origin`` and now; both empty where either is unknown."""
    owner, now = job.module.upstreams[0].name, job.upstream.new
    old = job.upstream.at(origin.ref)
    if not draft.owner or old is None or now is None:
        return {}, {}
    return texts.members(old.text, owner, old.path), texts.members(now.text, owner, now.path)


def _merged_divided(
    draft: Draft, member: str, text: str, job: ModuleJob, origin: lineage.Origin
) -> tuple[Draft, Draft] | None:
    """A copy merged with the two methods that upstream split it into: the drafts of the first and of the second one.

    ``text`` is upstream's second method, called ``member``. ``None`` if the merged text cannot be cut in two again, or
    if the second half has no statement of omni's: then it is inherited and needs no copy.
    """
    assert draft.upstream is not None
    result = _merge(draft, splitting.joined(draft.upstream, text), job, origin)
    halves = splitting.cut(result.text, text) if result.parses else None
    if halves is None or not set(draft.own) & set(canonical(halves[1])):
        return None
    first, rest = draft.grown(halves[0], "upstream"), _split_off(draft, member, halves[1], job, upstream=text)
    row, start = splitting.row_of_cut(result.text), splitting.first_row(rest.text)
    for item in without_answered(result.decisions, job.target.constructors):
        if item.line > row:
            rest = rest.asking(review_of(item, rest, job.path, line=item.line - row + start))
        else:
            first = first.asking(review_of(item, first, job.path, line=item.line))
    return first, rest


def _split_off(draft: Draft, member: str, text: str, job: ModuleJob, *, upstream: str) -> Draft:
    """A new draft for ``member``, which upstream split off the method of ``draft``, with a question about it."""
    now = draft.base_now
    if now is not None:
        now = replace(now, qualname=f"{job.module.upstreams[0].name}.{member}", digest=digest(upstream))
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
    reason = f"upstream split it off {draft.member}: what omni had added to this part of {draft.member} came along"
    shown = Shown(omni=draft.before, upstream=upstream, chosen=text)
    return rest.asking(review(rest, job.path, reason=reason, confidence=INFERRED, shown=shown))


def _own_statements(text: str, origin: lineage.Origin) -> tuple[str, ...]:
    """Canonical statements of a copy that no known upstream revision has; without the signature and plain returns."""
    known = set(lineage.fingerprint(origin.text)) | origin.heritage
    return tuple(c for c in canonical(text)[1:] if c not in known and not c.startswith("return"))


def _merged(draft: Draft, job: ModuleJob, origin: lineage.Origin) -> Draft:
    """A copy with upstream's change merged in.

    Omni's text stands, with a question, where the merge does not parse or would read locals that nothing sets any more.
    """
    assert job.upstream.new is not None
    assert draft.upstream is not None
    old, new = _methods(draft, job, origin)
    upstream, passages = undivided.with_passages(origin.text, draft.text, draft.upstream, old=old, new=new)
    result = _merge(draft, upstream, job, origin)
    if not result.parses:
        reason = f"the merge with {job.upstream.new.ref} did not parse, so omni's text stands"
        item = unmerged(draft, job.path, reason=reason, base=origin.text, upstream=draft.upstream)
        return replace(draft.asking(item), outcome="review")
    if orphans := _orphans(result.text, draft, origin):
        read = ", ".join(sorted(orphans)[:NAMED])
        reason = (
            f"upstream rebuilt it in {job.upstream.new.ref}: merged, it would read {read}, which nothing would set, so "
            "omni's text stands"
        )
        item = unmerged(draft, job.path, reason=reason, base=origin.text, upstream=draft.upstream)
        return replace(draft.asking(item), outcome="review")
    asked = naming_helpers(without_answered(result.decisions, job.target.constructors), draft, job, new)
    items = [review_of(item, draft, job.path, line=item.line) for item in asked]
    items += [undivided.question(passage, draft, result.text, job.path) for passage in passages]
    return draft.asking(*items).grown(result.text, "upstream")


def _merge(draft: Draft, upstream: str, job: ModuleJob, origin: lineage.Origin) -> merge.Merged:
    """Merges the change from the copy's origin to ``upstream`` into the copy."""
    assert job.upstream.new is not None
    is_class = isinstance(parse_unit(draft.text).body[0], ast.ClassDef)
    # Fields of a record are positional: upstream's code builds it in upstream's order, so omni's fields come last.
    policy = merge.settled_for(merge.RECORD if is_class else merge.FOLLOW, winner(job, draft.name))
    mine = draft.text
    if upstream != origin.text:
        mine = as_upstream_calls(mine, job.text, upstream=upstream, upstream_module=job.upstream.new.text)
    return _with_own_names_told(_with_locals_alike(_sides(origin.text, mine, upstream, job), policy, origin))


def _orphans(text: str, draft: Draft, origin: lineage.Origin) -> frozenset[str]:
    """Locals of omni's that the merged ``text`` reads and no longer sets.

    Only for a method that upstream rewrote, that is, whose new text is no longer similar to the origin; otherwise none,
    because the merge itself asks about such locals where they stand. For example, vllm-ascend's `_update_states` was a
    copy of vLLM's in 0.11.0rc1; in 0.25.1rc1 it calls vLLM's and does a little more.
    """
    if draft.upstream is None or lineage.similarity(origin.text, draft.upstream) >= lineage.COPY:
        return frozenset()
    mine = as_module(draft.text)
    return frozenset((used_names(as_module(text)) & locals_of(draft.text)) - used_names(mine))


def _sides(base: str, omni: str, upstream: str, job: ModuleJob) -> Triple:
    """Base, omni and upstream for a merge; base and upstream with type unions spelled as in omni's module."""
    old, new = (in_omni_spelling(text, unit=omni, module=job.text) for text in (base, upstream))
    return Triple(old, omni, new)


def _with_locals_alike(sides: Triple, policy: merge.Policy, origin: lineage.Origin) -> merge.Merged:
    """The merge; repeated with omni's local names in upstream's text if the first result reads locals that omni never
    sets.

    The second result is taken only if it parses and leaves less to ask about: omni may use a local of its own for what
    upstream newly does with another one.
    """
    result = merge.merge(sides, policy=policy, heritage=origin.heritage, versions=origin.versions)
    unset = {name for item in result.decisions if item.reason.kind == UNSET_BY_OMNI for name in item.reason.names}
    free = _free_locals(result.text, sides)
    named = merge.with_omni_names_behind(sides, sorted({name for name in unset if name.isidentifier()} | free))
    if named == sides:
        return result
    other = merge.merge(named, policy=policy, heritage=origin.heritage, versions=origin.versions)
    asked, asked_before = (_left_to_ask(one) + len(_free_locals(one.text, sides)) for one in (other, result))
    return other if other.parses and asked < asked_before else result


def _with_own_names_told(result: merge.Merged) -> merge.Merged:
    """The merge, whose decisions about uses of what omni does not set say under which name omni makes it, in its own
    form, where another decision of the merge has found that."""
    found = [item for item in result.decisions if item.reason.kind == OWN_NAME]
    made = [(node.facts.targets, item.reason.names) for item in found for node in flatten(item.base)[:1]]
    own = {old: new for olds, news in made for old, new in zip(olds, news, strict=False)}
    return replace(result, decisions=tuple(_told(item, own) for item in result.decisions))


def _told(item: merge.Decision, own: Mapping[str, str]) -> merge.Decision:
    known = [own[name] for name in item.reason.names if name in own]
    if item.reason.kind != UNSET_BY_OMNI or not known:
        return item
    detail = f", but makes in its own form, as {' and '.join(known)}"
    return replace(item, reason=replace(item.reason, detail=detail))


def _left_to_ask(result: merge.Merged) -> int:
    """How many questions a merge leaves, without those about what omni has under its own name: that names differ is no
    reason to prefer a merge in which they do not."""
    return sum(item.reason.kind != OWN_NAME for item in result.decisions)


def _free_locals(text: str, sides: Triple) -> frozenset[str]:
    """Upstream's locals that the merged ``text`` reads but does not bind, and that omni's text did not read."""
    try:
        return (used_names(as_module(text)) & locals_of(sides.upstream)) - used_names(as_module(sides.omni))
    except SyntaxError:
        return frozenset()


NAMED = 3
"""How many names a question gives at most."""

OWN_NAME: merge.Kind = "renamed statement changed"
"""Reason of a decision about a statement of upstream's that omni has in its own form, under another name."""

UNSET_BY_OMNI: merge.Kind = "addition reads what omni does not set"
"""Reason of a decision that leaves out an addition of upstream's, because it reads a local that omni does not set."""
