"""The second upstream: the GPU twin, and which part of its change is omni's own.

Comes in: drafts and a ``ModuleJob``. Goes out: a ``GpuSide``, and drafts that record which revision of it they follow.
May touch: nothing.

Omni's own change on the GPU side is the twin's change without vLLM's. It is found by a merge backwards: vLLM's step
from new to old, applied to the new GPU unit, gives that unit as it would read on the old vLLM.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from runner_sync import lineage
from runner_sync.compose.member_text import canonical
from runner_sync.lineage.alignment import aligned_with
from runner_sync.lock import digest
from runner_sync.model import BaseRef, Finding
from runner_sync.profile import Profile
from runner_sync.units import texts
from runner_sync.upgrade.base import base_text
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin import mixins
from runner_sync.upgrade.from_gpu.twin.older_passages import with_older_passages
from runner_sync.upgrade.from_gpu.twin.readings import translated, translated_units, vllm_canons, vllm_unit
from runner_sync.upgrade.from_gpu.twin.vllm_step import OnNpu, without_decorators, without_step
from runner_sync.upgrade.job import GpuBase, ModuleJob, ModuleRevision


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuSide:
    """The GPU twin's units, translated to NPU names and keyed by the NPU units' qualified names."""

    old: Mapping[str, str] = field(default_factory=dict)
    """Units as the NPU unit was last aligned with them, from the revision in ``bases``."""
    rebased: Mapping[str, str] = field(default_factory=dict)
    """The new units, as they would read on the old vLLM."""
    new: Mapping[str, str] = field(default_factory=dict)
    """The units as they are now."""
    module_text: str = ""
    """The whole module as it is now, translated."""
    as_written: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """The new units before translation: NPU name to GPU name and text."""
    bases: Mapping[str, GpuBase] = field(default_factory=dict)
    """The revision of the twin that each NPU unit was last aligned with."""
    older: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The earlier revisions that passages of an NPU unit are from, oldest first."""
    from_vllm: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Per copied unit the canonical statements of vLLM's own old and new text, where vLLM changed in between."""
    device_free: frozenset[str] = frozenset()
    """Units that had device code and have none now."""
    known_before: frozenset[str] = frozenset()
    """Units that some earlier revision of the twin has."""
    unchanged: frozenset[str] = frozenset()
    """Units whose text is the same as at the last upgrade."""
    untranslated: tuple[Finding, ...] = ()
    """Findings about GPU names that the translation left as they are."""


def read_side(job: ModuleJob, drafts: Sequence[Draft]) -> GpuSide:
    """Translates the GPU twin, old and new, and takes vLLM's own changes out of the new one.

    The old text of a unit is the one among ``twin.bases`` that the NPU unit is most similar to. A new unit whose old
    text was a copy of vLLM's is rebased onto the old vLLM, so that only omni's change is left::

        old vLLM    run(total)            new vLLM    run(total, rows)
        old twin    run(total); note()    new twin    run(total, rows); note(); keep()
        rebased     run(total); note(); keep()
    """
    if job.twin.new is None or job.module.gpu is None:
        return GpuSide()
    now = translated(job, job.twin.new)
    new = now.units
    chosen = _chosen_bases(job, drafts, new)
    old = {name: _without_news(job, name, translated_units(job, base.side)[name]) for name, base in chosen.items()}
    # A copied unit gets vLLM's own changes through vllm-ascend, any other unit only through its twin.
    older: dict[str, tuple[str, ...]] = {}
    for draft in drafts:
        name = draft.name
        if name in chosen and name in new:
            old[name], older[name] = with_older_passages(
                draft, job, chosen[name], old=old[name], now=new[name], is_copied=_is_copied(draft, job)
            )
    copies = [draft for draft in drafts if _is_copied(draft, job) and draft.name in chosen]
    rebased, from_vllm = _without_vllm(job, copies, chosen, old=old, new=new)
    as_written = _by_npu_name(job, texts.unit_texts(job.twin.new.text, job.twin.new.path))
    return GpuSide(
        old=old,
        rebased={**new, **_without_vllms_decorators(job, drafts, old=old, new=new), **rebased},
        new=new,
        module_text=now.text,
        as_written=as_written,
        bases=chosen,
        older=older,
        from_vllm=from_vllm,
        device_free=_device_free(job, chosen, new, as_written),
        known_before=_known_before(job),
        unchanged=_unchanged(job, as_written),
        untranslated=now.findings,
    )


def side_since_earlier(draft: Draft, job: ModuleJob, side: GpuSide) -> GpuSide | None:
    """``side`` with an earlier base for ``draft``: the most similar of the revisions before those at hand.

    ``None`` if no earlier one is more similar than the base it has.
    """
    written = side.as_written.get(draft.name)
    if written is None or draft.name not in side.bases:
        return None
    bases = (*job.twin.load_earlier(), side.bases[draft.name])
    found = [(base, texts.unit_texts(base.side.text, base.side.path).get(written[0])) for base in bases]
    closeness = [lineage.similarity(draft.text, text) if text is not None else 0.0 for _, text in found]
    best = max(range(len(found)), key=lambda k: (closeness[k], k))
    if best == len(found) - 1 or (old := translated_units(job, bases[best].side).get(draft.name)) is None:
        return None
    here = {draft.name: _without_news(job, draft.name, old)}
    copies = [draft] if _is_copied(draft, job) else []
    plain = _without_vllms_decorators(job, [draft], old=here, new=side.new)
    rebased, from_vllm = _without_vllm(job, copies, {draft.name: bases[best]}, old=here, new=side.new)
    return replace(
        side,
        old={**side.old, **here},
        rebased={**side.rebased, draft.name: side.new[draft.name], **plain, **rebased},
        bases={**side.bases, draft.name: bases[best]},
        from_vllm={**side.from_vllm, draft.name: frozenset(), **from_vllm},
    )


def _is_copied(draft: Draft, job: ModuleJob) -> bool:
    return draft.kind == "copy" or may_be_copy(draft, job)


def may_be_copy(draft: Draft, job: ModuleJob) -> bool:
    """Whether a unit may be a copy, as far as a run without vllm-ascend can tell from the lock."""
    if job.upstream.is_followed or job.upstream.new is not None:
        return False
    return draft.name in job.upstream.locked or draft.name not in job.twin.locked


def with_twin_recorded(draft: Draft, job: ModuleJob, text: str, side: GpuSide) -> Draft:
    """The draft with references to the GPU text that it was last aligned with, if any, and to the current one."""
    assert job.twin.new is not None
    score = round(lineage.similarity(draft.text, text), 3)
    name, plain = side.as_written.get(draft.name, (draft.name, text))
    path = job.twin.new.path
    now = BaseRef("vllm-omni", job.twin.new.ref, path, name, "twin", score, digest(plain))
    base = side.bases.get(draft.name)
    if base is None:
        return replace(draft, gpu_now=now)
    old = texts.unit_texts(base.side.text, base.side.path)[name]
    also = side.older.get(draft.name, ())
    then = BaseRef("vllm-omni", base.side.ref, path, name, "twin", score, digest(old), also)
    return replace(draft, gpu_now=now, gpu=then)


def _without_vllm(
    job: ModuleJob,
    drafts: Sequence[Draft],
    bases: Mapping[str, GpuBase],
    *,
    old: Mapping[str, str],
    new: Mapping[str, str],
) -> tuple[dict[str, str], dict[str, frozenset[str]]]:
    """For each draft whose twin was a copy of vLLM's method, the twin rebased onto the old vLLM; and the statements of
    vLLM's old and new text, but for those that NPU gets from the twin alone.

    A unit is left out where vLLM's module is not at hand or has not changed, or where the twin's unit has not changed.
    """
    rebased, from_vllm = {}, {}
    for draft in drafts:
        name = draft.name
        if name not in new or canonical(old[name]) == canonical(new[name]):
            continue
        vllm_old, vllm_new = bases[name].vllm, job.twin.load_vllm()
        if vllm_old is None or vllm_new is None or vllm_old.text == vllm_new.text:
            continue
        before, after = (vllm_unit(job, side, name) for side in (vllm_old, vllm_new))
        from_vllm[name] = frozenset(set(vllm_canons(job, before)) | set(vllm_canons(job, after)))
        if before and after and before != after and _is_copy(old[name], before):
            then, now = (job.twin.translation.unit(text, job.profile) for text in (before, after))
            undone = without_step(new[name], old=old[name], then=then, now=now, npu=_on_npu(draft, job))
            rebased[name] = undone.text
            from_vllm[name] -= undone.only_here
    return rebased, from_vllm


def _without_vllms_decorators(
    job: ModuleJob, drafts: Sequence[Draft], *, old: Mapping[str, str], new: Mapping[str, str]
) -> dict[str, str]:
    """The new twins of overrides of vllm-ascend's methods, where these have new decorators: without vLLM's own."""
    texts_ = {}
    for draft in drafts:
        name = draft.name
        if draft.upstream is None or name not in old or name not in new or "@" not in new[name]:
            continue
        if canonical(old[name])[:1] != canonical(new[name])[:1] and (vllm := job.twin.load_vllm()) is not None:
            own = job.twin.translation.unit(vllm_unit(job, vllm, name), job.profile)
            texts_[name] = without_decorators(new[name], old=old[name], vllm=own, ascend=draft.upstream)
    return texts_


def _on_npu(draft: Draft, job: ModuleJob) -> OnNpu:
    """The NPU method, the versions of vllm-ascend's that it may have statements of (old, new, in between), and that of
    the vLLM at hand."""
    if draft.upstream is None or draft.base is None or (base := base_text(draft, job)) is None:
        return OnNpu(draft.text)
    sides = [side for side in job.upstream.bases if side.ref in draft.base.also]
    also = [texts.unit_texts(side.text, side.path).get(draft.base.qualname, "") for side in sides]
    inherited = job.hierarchy.inherited.get(draft.owner)
    vllm = inherited.vllm.get(draft.member, "") if inherited is not None else ""
    return OnNpu(draft.text, (base, draft.upstream, *also), job.twin.translation.unit(vllm, job.profile))


def _known_before(job: ModuleJob) -> frozenset[str]:
    """Units that an earlier revision of the twin has.

    If the lock names twins, a revision with the same module text as now does not count: ``settled`` tells instead what
    NPU did without on purpose. Where only news are asked for, what was there before is none.
    """
    new = job.twin.new
    assert new is not None
    sides = [base.side for base in job.twin.bases if base.side.ref != new.ref or job.twin.news_only]
    earlier = [side for side in sides if side.text != new.text or not job.twin.locked or job.twin.news_only]
    if job.twin.settled is not None:
        earlier.append(job.twin.settled)
    return frozenset(name for side in earlier for name in translated_units(job, side))


def _unchanged(job: ModuleJob, as_written: Mapping[str, tuple[str, str]]) -> frozenset[str]:
    if job.twin.settled is None:
        return frozenset()
    then = _by_npu_name(job, texts.unit_texts(job.twin.settled.text, job.twin.settled.path))
    return frozenset(
        name for name, (_, text) in as_written.items() if name in then and canonical(then[name][1]) == canonical(text)
    )


def _without_news(job: ModuleJob, name: str, text: str) -> str:
    """The old twin of a unit without the statements that use a mixin or a feature which the NPU class gets only now."""
    names = job.hierarchy.from_mixins(name.rpartition(".")[0]) | job.twin.owed.names
    return mixins.without_uses(text, names) if names else text


def _device_free(
    job: ModuleJob,
    chosen: Mapping[str, GpuBase],
    new: Mapping[str, str],
    as_written: Mapping[str, tuple[str, str]],
) -> frozenset[str]:
    """Units that had GPU device code in the old twin and have none now; told by what the translation changes."""
    found = set()
    sides = dict.fromkeys(base.side for base in chosen.values())
    written = {side: _by_npu_name(job, texts.unit_texts(side.text, side.path)) for side in sides}
    for name, base in chosen.items():
        if name not in new:
            continue
        before = written[base.side].get(name, ("", ""))[1]
        had = canonical(before) != canonical(translated_units(job, base.side)[name])
        has = canonical(as_written[name][1]) != canonical(new[name]) or names_device(as_written[name][1], job.profile)
        if had and not has:
            found.add(name)
    return frozenset(found)


def names_device(text: str, profile: Profile) -> bool:
    """Whether a unit mentions a GPU name at all, even one that its module rebinds to something of its own."""
    words = {row.name for row in profile.names if row.name != row.new_name} | {old for old, _ in profile.attributes}
    body = "\n".join(canonical(text))
    return any(re.search(rf"(?<![\w.]){re.escape(word)}\b", body) for word in words)


def _chosen_bases(job: ModuleJob, drafts: Sequence[Draft], new: Mapping[str, str]) -> dict[str, GpuBase]:
    """For each unit that some base of the twin has (units gone since included): the base to compare it with.

    That is the one that the lock names, else the one whose text the NPU unit is most similar to. The present twin is
    among these, also where an option names an older one: what people ported by hand since then is not ported again.
    """
    tables = [(base, translated_units(job, base.side)) for base in job.twin.bases]
    present = GpuBase(job.twin.new, job.twin.load_vllm) if job.twin.new is not None else None
    mine = {draft.name: draft.text for draft in drafts}
    chosen = {}
    for name in dict.fromkeys([*new, *(name for _, table in tables for name in table if name in mine)]):
        options = [(base, table[name]) for base, table in tables if name in table]
        if not options:
            continue
        locked = next((base for base, _ in options if _is_locked(job, base.side, name)), None)
        if locked is not None:
            chosen[name] = locked
            continue
        if present is not None and name in mine and name in new and options[-1][1] != new[name]:
            options.append((present, new[name]))
        target = mine.get(name, options[-1][1])
        chosen[name] = options[aligned_with(target, [text for _, text in options], new.get(name))][0]
    return chosen


def _is_locked(job: ModuleJob, side: ModuleRevision, name: str) -> bool:
    entry = job.twin.locked.get(name)
    text = texts.unit_texts(side.text, side.path).get(entry.qualname) if entry is not None else None
    return entry is not None and text is not None and digest(text) == entry.digest


def _by_npu_name(job: ModuleJob, table: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    return {job.profile.npu_name(name): (name, text) for name, text in table.items()}


def _is_copy(text: str, other: str) -> bool:
    return lineage.similarity(text, other) >= lineage.COPY
