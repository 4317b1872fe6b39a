"""Reads the GPU twin as the second upstream and separates omni's own change from vLLM's.

Comes in: drafts and a ``ModuleJob``. Goes out: a ``GpuSide``, and drafts that record the GPU revision they follow. May
touch: nothing.

Omni's own change is the twin's change without vLLM's. A merge backwards finds it: vLLM's change from new to old,
applied to the new GPU unit, gives that unit as it would read on the old vLLM.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from runner_sync import lineage
from runner_sync.digests import digest, name_state
from runner_sync.lineage.alignment import aligned_with
from runner_sync.lineage.inlined import append_helpers
from runner_sync.model import BaseRef, Finding
from runner_sync.profile import Profile
from runner_sync.texts.member_text import canonical, is_same
from runner_sync.upgrade.base import find_base_text
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin import mixins
from runner_sync.upgrade.from_gpu.twin.older_passages import restore_older_passages
from runner_sync.upgrade.from_gpu.twin.own_helpers import append_own_helpers
from runner_sync.upgrade.from_gpu.twin.readings import (
    find_vllm_unit,
    list_vllm_canons,
    translate_revision,
    translate_units,
)
from runner_sync.upgrade.from_gpu.twin.taken_apart import find_taken_apart
from runner_sync.upgrade.from_gpu.twin.vllm_step import (
    NpuVersions,
    drop_vllm_decorators,
    find_calls_of_vllm,
    undo_vllm_step,
)
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.revision import GpuBase, ModuleRevision


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuSide:
    """The GPU twin's units, translated to NPU names and keyed by the NPU units' qualified names."""

    old: Mapping[str, str] = field(default_factory=dict)
    """Old units, each from the revision in ``bases`` that the NPU unit was last aligned with."""
    rebased: Mapping[str, str] = field(default_factory=dict)
    """New units, rebased onto the old vLLM."""
    new: Mapping[str, str] = field(default_factory=dict)
    """Current units."""
    module_text: str = ""
    """The current module, translated."""
    as_written: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Current units before translation: NPU name to GPU name and text."""
    bases: Mapping[str, GpuBase] = field(default_factory=dict)
    """The revision of the twin that each NPU unit was last aligned with."""
    older: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Earlier revisions that passages of an NPU unit come from, oldest first."""
    from_vllm: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Per copied unit, the canonical statements of vLLM's old and new text, where vLLM's module changed in between."""
    known_before: frozenset[str] = frozenset()
    """Units that an earlier revision of the twin has."""
    taken_apart: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Units that it has, too, and that count as new, with the statements that a port takes out of another unit."""
    unchanged: frozenset[str] = frozenset()
    """Units whose text is the same as at the last upgrade and at a named base."""
    untranslated: tuple[Finding, ...] = ()
    """Findings about GPU names without a translation."""


def read_side(job: ModuleJob, drafts: Sequence[Draft]) -> GpuSide:
    """Translate the GPU twin, old and new, and take vLLM's own changes out of the new one.

    ``_choose_bases`` selects the old text of each unit. A new unit whose old text was a copy of vLLM's is rebased onto
    the old vLLM, so that only omni's change is left::

        old vLLM    run(total)            new vLLM    run(total, rows)
        old twin    run(total); note()    new twin    run(total, rows); note(); keep()
        rebased     run(total); note(); keep()
    """
    if job.twin.new is None or job.module.gpu is None:
        return GpuSide()
    now = translate_revision(job, job.twin.new)
    new = now.units
    chosen, known_before = _choose_bases(job, drafts, new), _find_known_before(job)
    apart = find_taken_apart(job, drafts, chosen, new, known_before)
    chosen = {name: base for name, base in chosen.items() if name not in apart}
    written = {name: translate_units(job, base.side)[name] for name, base in chosen.items()}
    old = {name: _remove_new_uses(job, name, text) for name, text in written.items()}
    # A copied unit gets vLLM's own changes from vllm-ascend, any other unit only from its twin.
    older: dict[str, tuple[str, ...]] = {}
    for draft in drafts:
        name = draft.name
        if name in chosen and name in new:
            old[name], older[name] = restore_older_passages(
                draft, job, chosen[name], old=old[name], now=new[name], is_copied=_is_copied(draft, job)
            )
    copies = [draft for draft in drafts if _is_copied(draft, job) and draft.name in chosen]
    rebased, from_vllm = _rebase_on_old_vllm(job, copies, chosen, old=written, new=new)
    as_written = _key_by_npu_name(job, job.twin.new.units)
    asked = [job.twin.asked] if job.twin.asked is not None else []
    if job.twin.news_only or (asked and job.twin.settled is None):
        # A named base: whoever catches up from there wants its questions again, but none about what is older.
        asked += [base.side for base in job.twin.bases[-1:]]
    tables = [_key_by_npu_name(job, side.units) for side in asked]
    return GpuSide(
        old=old,
        rebased={**new, **_drop_vllm_decorators(job, drafts, old=old, new=new), **rebased},
        new=new,
        module_text=now.text,
        as_written=as_written,
        bases=chosen,
        older=older,
        from_vllm=from_vllm,
        known_before=known_before - apart.keys(),
        taken_apart=apart,
        unchanged=frozenset(
            name
            for name, (_, text) in as_written.items()
            if tables and all(name in table and is_same(table[name][1], text) for table in tables)
        ),
        untranslated=now.findings,
    )


def use_earlier_base(draft: Draft, job: ModuleJob, side: GpuSide) -> GpuSide | None:
    """Return ``side`` with an earlier base for ``draft``, the most similar of those before ``twin.bases``.

    Returns ``None`` if no earlier revision is more similar than the current base.
    """
    written = side.as_written.get(draft.name)
    if written is None or draft.name not in side.bases:
        return None
    bases = (*job.twin.load_earlier(), side.bases[draft.name])
    found = [(base, base.side.units.get(written[0])) for base in bases]
    closeness = [lineage.similarity(draft.text, text) if text is not None else 0.0 for _, text in found]
    best = max(range(len(found)), key=lambda k: (closeness[k], k))
    if best == len(found) - 1 or (old := translate_units(job, bases[best].side).get(draft.name)) is None:
        return None
    here = {draft.name: _remove_new_uses(job, draft.name, old)}
    copies = [draft] if _is_copied(draft, job) else []
    plain = _drop_vllm_decorators(job, [draft], old=here, new=side.new)
    chosen = {draft.name: bases[best]}
    rebased, from_vllm = _rebase_on_old_vllm(job, copies, chosen, old={draft.name: old}, new=side.new)
    return replace(
        side,
        old={**side.old, **here},
        rebased={**side.rebased, draft.name: side.new[draft.name], **plain, **rebased},
        bases={**side.bases, draft.name: bases[best]},
        from_vllm={**side.from_vllm, draft.name: frozenset(), **from_vllm},
    )


def list_vllm_before(side: GpuSide) -> list[str]:
    """Return the texts of vLLM's modules that the twins of copied units were last made for."""
    found = (side.bases[name].vllm for name in side.from_vllm)
    return list(dict.fromkeys(revision.text for revision in found if revision is not None))


def _is_copied(draft: Draft, job: ModuleJob) -> bool:
    return draft.kind == "copy" or may_be_copy(draft, job)


def may_be_copy(draft: Draft, job: ModuleJob) -> bool:
    """Whether a unit may be a copy, as far as the lock tells without vllm-ascend."""
    if job.upstream.is_followed or job.upstream.new is not None:
        return False
    return draft.name in job.upstream.locked or draft.name not in job.twin.locked


def record_twin(draft: Draft, job: ModuleJob, text: str, side: GpuSide) -> Draft:
    """Record in the draft the current GPU text and, if any, the one it was last aligned with.

    A unit of which the run leaves older changes out goes on following the text that the lock names.
    """
    assert job.twin.new is not None
    score = round(lineage.similarity(draft.text, text), 3)
    name, plain = side.as_written.get(draft.name, (draft.name, text))
    path = job.twin.new.path
    now = BaseRef("vllm-omni", job.twin.new.ref, path, name, "twin", score, digest(plain))
    base = side.bases.get(draft.name)
    if base is None:
        return replace(draft, gpu_now=now)
    old = base.side.units[name]
    also = side.older.get(draft.name, ())
    then = BaseRef("vllm-omni", base.side.ref, path, name, "twin", score, digest(old), also)
    locked = job.twin.left_behind.get(draft.name)
    is_by_hand = base.side.ref == job.twin.new.ref
    if locked is not None and not is_by_hand and locked.digest not in (then.digest, now.digest):
        now = locked
    return replace(draft, gpu_now=now, gpu=then)


def _rebase_on_old_vllm(
    job: ModuleJob,
    drafts: Sequence[Draft],
    bases: Mapping[str, GpuBase],
    *,
    old: Mapping[str, str],
    new: Mapping[str, str],
) -> tuple[dict[str, str], dict[str, frozenset[str]]]:
    """Rebase each draft's twin that was a copy of vLLM's method onto the old vLLM.

    ``old`` are the old twins as written: without the uses of new mixins, they would seem to have changed with vLLM.
    Also returns the statements of vLLM's old and new text, except those that only the twin delivers to NPU, and the
    calls of `find_calls_of_vllm`. Skips units without vLLM's module at both revisions, or where vLLM's module or the
    twin's unit has not changed.
    """
    rebased, from_vllm = {}, {}
    for draft in drafts:
        name = draft.name
        if name not in new or is_same(old[name], new[name]):
            continue
        vllm_old, vllm_new = bases[name].vllm, job.twin.load_vllm()
        if vllm_old is None or vllm_new is None or vllm_old.text == vllm_new.text:
            continue
        before, after = (find_vllm_unit(job, side, name) for side in (vllm_old, vllm_new))
        from_vllm[name] = frozenset(set(list_vllm_canons(job, before)) | set(list_vllm_canons(job, after)))
        if not (before and after and before != after):
            continue
        then, now = (job.twin.translation.unit(text, job.profile) for text in (before, after))
        npu = _collect_npu_versions(draft, job)
        from_vllm[name] |= find_calls_of_vllm(new[name], old=old[name], then=then, now=now, npu=npu)
        if lineage.similarity(old[name], before) >= lineage.COPY:
            undone = undo_vllm_step(new[name], old=old[name], then=then, now=now, npu=npu)
            rebased[name] = undone.text
            from_vllm[name] -= undone.only_here
    return rebased, from_vllm


def _drop_vllm_decorators(
    job: ModuleJob, drafts: Sequence[Draft], *, old: Mapping[str, str], new: Mapping[str, str]
) -> dict[str, str]:
    """Remove vLLM's own decorators from new twins of overrides of vllm-ascend's methods."""
    texts_ = {}
    for draft in drafts:
        name = draft.name
        if draft.upstream is None or name not in old or name not in new or "@" not in new[name]:
            continue
        if canonical(old[name])[:1] != canonical(new[name])[:1] and (vllm := job.twin.load_vllm()) is not None:
            own = job.twin.translation.unit(find_vllm_unit(job, vllm, name), job.profile)
            texts_[name] = drop_vllm_decorators(new[name], old=old[name], vllm=own, ascend=draft.upstream)
    return texts_


def _collect_npu_versions(draft: Draft, job: ModuleJob) -> NpuVersions:
    """Collect the NPU method, vllm-ascend's versions that it may have statements of, and that of the vLLM at hand."""
    if draft.upstream is None or draft.base is None or (base := find_base_text(draft, job)) is None:
        return NpuVersions(draft.text)
    sides = [side for side in job.upstream.bases if side.ref in draft.base.also]
    also = [side.units.get(draft.base.qualname, "") for side in sides]
    vllm = job.hierarchy.of(draft.owner).vllm.get(draft.member, "")
    return NpuVersions(draft.text, (base, draft.upstream, *also), job.twin.translation.unit(vllm, job.profile))


def _find_known_before(job: ModuleJob) -> frozenset[str]:
    """Return units that an earlier revision of the twin has.

    If the lock names twins, skips revisions whose module text equals the current one: ``settled`` tells what NPU
    omitted on purpose. If only news are wanted, every base counts as earlier.
    """
    new = job.twin.new
    assert new is not None
    sides = [base.side for base in job.twin.bases if base.side.ref != new.ref or job.twin.news_only]
    earlier = [side for side in sides if side.text != new.text or not job.twin.locked or job.twin.news_only]
    if job.twin.settled is not None:
        earlier.append(job.twin.settled)
    return frozenset(name for side in earlier for name in translate_units(job, side))


def _remove_new_uses(job: ModuleJob, name: str, text: str) -> str:
    """Remove from an old twin's unit the uses of mixins and owed names that the NPU class gets only now."""
    owed = frozenset[str]() if name in job.twin.alone else job.twin.owed.names
    names = job.hierarchy.from_mixins(name.rpartition(".")[0]) | owed
    return mixins.remove_uses(text, names) if names else text


def mentions_device(text: str, profile: Profile) -> bool:
    """Whether a unit mentions a GPU name, even one that its module rebinds to something of its own."""
    words = {row.name for row in profile.names if row.name != row.new_name} | {old for old, _ in profile.attributes}
    body = "\n".join(canonical(text))
    return any(word in body and re.search(rf"(?<![\w.]){re.escape(word)}\b", body) for word in words)


def _choose_bases(job: ModuleJob, drafts: Sequence[Draft], new: Mapping[str, str]) -> dict[str, GpuBase]:
    """Choose the base to compare each unit with, including units that the twin has since lost.

    The base is the one in the lock, or else the one most similar to the NPU unit. The current twin is a candidate even
    if an option names an older one, so that changes already ported by hand are not ported again.
    """
    tables = [(base, translate_units(job, base.side)) for base in job.twin.bases]
    present = GpuBase(job.twin.new, job.twin.load_vllm) if job.twin.new is not None else None
    npu_units, by_name = ({draft.name: draft.text for draft in drafts}, {draft.name: draft for draft in drafts})

    def choose(name: str) -> GpuBase | None:
        options = [(base, table[name]) for base, table in tables if name in table]
        locked = next((base for base, _ in options if _is_locked(job, base.side, name)), None)
        if locked is not None or not options:
            return locked
        if present is not None and name in npu_units and name in new and options[-1][1] != new[name]:
            options.append((present, new[name]))
        target, texts_, now = npu_units.get(name, options[-1][1]), [text for _, text in options], new.get(name)
        if len({*texts_, now}) == 1:  # then only the helpers in place can tell
            texts_ = [append_helpers(name, npu_units, table) for _, table in tables if name in table]
            now = append_helpers(name, npu_units, new)
        elif name in by_name:
            target = append_own_helpers(by_name[name], drafts, [text for text in (*texts_, now) if text is not None])
        return options[aligned_with(target, texts_, now)][0]

    names = dict.fromkeys([*new, *(name for _, table in tables for name in table if name in npu_units)])
    return {name: base for name in names if (base := choose(name)) is not None}


def _is_locked(job: ModuleJob, side: ModuleRevision, name: str) -> bool:
    entry, units = job.twin.locked.get(name), side.units
    if entry is None or entry.qualname not in units or digest(units[entry.qualname]) != entry.digest:
        return False
    helpers = {helper.rpartition("@")[0] for helper in entry.helpers}
    return {name_state(helper, units[helper]) for helper in helpers & units.keys()} == {*entry.helpers}


def _key_by_npu_name(job: ModuleJob, table: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    return {job.profile.npu_name(name): (name, text) for name, text in table.items()}
