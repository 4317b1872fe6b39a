"""The port: what the GPU twin changed of omni's, merged into each draft that has a twin.

Comes in: drafts, a ``ModuleJob`` and the GPU side. Goes out: the same drafts with one more stage and a question for
each passage that a port changed. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from runner_sync import lineage, merge
from runner_sync.compose import records
from runner_sync.compose.members import calls_by_class, canonical
from runner_sync.compose.names import defined_names
from runner_sync.compose.soundness import Problem, problems
from runner_sync.lock import digest
from runner_sync.merge import Reason, Veto
from runner_sync.merge.confidence import CONTESTED, REBUILT
from runner_sync.model import BaseRef, ReviewItem, Triple
from runner_sync.statements import flatten
from runner_sync.units import texts
from runner_sync.upgrade import calling, extracted, gpu, ported_passages, splitting, wording
from runner_sync.upgrade.doubts import advance, not_ported, review_of, unmerged
from runner_sync.upgrade.gpu import GpuSide, vllm_canons, vllm_unit
from runner_sync.upgrade.halves import half_ported
from runner_sync.upgrade.job import Draft, GpuBase, ModuleJob, winner
from runner_sync.upgrade.refusing import without_readers
from runner_sync.upgrade.untranslated import ask_about_untranslated

RELATED = 0.15
"""Below this similarity to its GPU twin a method has no anchors to put the twin's changes at."""


TRIES = 4
"""Merges of one unit, each without the statements that did not fit in the one before."""


def port(
    drafts: Sequence[Draft],
    job: ModuleJob,
    side: GpuSide,
    veto: Veto,
    *,
    beside: Sequence[Draft] = (),
    methods: Sequence[str] = (),
) -> None:
    """Merge the GPU twin's omni changes into each draft that has a twin.

    ``beside`` are the drafts of the same class that stay as they are, ``methods`` the texts of those methods that may
    use the records among the drafts.
    """
    known = _module_names(job, side)
    stages = {draft.name: (len(draft.stages), list(draft.reviews)) for draft in drafts}
    divided = {draft.split_from for draft in drafts}
    for draft in drafts:
        new = side.rebased.get(draft.name)
        if draft.name in divided:
            # Undoing vLLM's step would put the second half back.
            new = side.new.get(draft.name)
        if new is None or draft.removed:
            continue
        record_twin(draft, job, new, side)
        old, foreign = _old_twin(draft, job, side, new)
        then, now = _helpers(draft, drafts, job, side)
        if old is not None:
            old, new = extracted.sides_with_helpers(draft.text, (old, then), (new, now))
        foreign |= _fields_at_hand(draft, new) | _idle_fields(draft, new, methods)
        if old is not None and canonical(old) != canonical(new):
            before = draft.text
            found = len(draft.reviews)
            _port(draft, job, Triple(old, before, new), veto=veto, foreign=foreign, known=known)
            draft.reviews[found:] = [
                _with_new_home(item, now.keys() - then.keys(), job) for item in draft.reviews[found:]
            ]
            ask_about_untranslated(draft, job.path, before=before, doubts=side.untranslated)
    _take_back(drafts, job, side, stages, beside=beside)


def _take_back(
    drafts: Sequence[Draft],
    job: ModuleJob,
    side: GpuSide,
    stages: Mapping[str, tuple[int, Sequence[ReviewItem]]],
    *,
    beside: Sequence[Draft],
) -> None:
    """Undo ports that gave a method a signature which another one, whose port was not taken or not asked for, does not
    call."""
    before = {draft.name: draft.stages[stages[draft.name][0] - 1].text for draft in drafts}
    while found := calling.unfit([*drafts, *beside], before):
        for draft in [draft for draft in drafts if draft.name in found]:
            count, reviews = stages[draft.name]
            del draft.stages[count:]
            draft.reviews = list(reviews)
            why = f"{found[draft.name].rpartition('.')[2]} still calls it with the arguments that it takes now"
            sides = Triple(side.old.get(draft.name, ""), draft.text, side.rebased[draft.name])
            draft.reviews.append(_declined(draft, job, sides, why=why, confidence=CONTESTED))


def _old_twin(draft: Draft, job: ModuleJob, side: GpuSide, new: str) -> tuple[str | None, frozenset[str]]:
    """The twin's old text, and the statements that are vLLM's own."""
    old = side.old.get(draft.name)
    if old is None and draft.split_from in side.old:
        old = splitting.with_head(new, side.old[draft.split_from]) or None
        return old, _vllm_statements(job, draft, side.bases[draft.split_from])
    return old, side.from_vllm.get(draft.name, frozenset())


def _helpers(
    draft: Draft, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide
) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """The methods that the twin's class had and has beside a draft's own, and NPU has not, by their names."""
    base = side.bases.get(draft.split_from or draft.name)
    if base is None or not draft.owner:
        return {}, {}
    have = {other.name for other in drafts if not other.removed}
    then, now = (
        {
            name.rpartition(".")[2]: text
            for name, text in table.items()
            if name.startswith(f"{draft.owner}.") and name not in have
        }
        for table in (gpu.translated_units(job, base.side), side.new)
    )
    return then, now


def _with_new_home(item: ReviewItem, new: AbstractSet[str], job: ModuleJob) -> ReviewItem:
    """The question, with the ``new`` method of the twin that is called in the place of what stays here, if any.

    ``_merge_model_kv_transfer_metadata`` of vllm-omni 0.29.0 has a loop of ``execute_model``, with three mends. The id
    stays: it is the same decision whatever the method is called.
    """
    assert job.twin.new is not None
    homes = sorted(new & set(_CALLED.findall(item.upstream)))
    if not homes or not item.in_file or not item.chosen or item.omni != item.chosen:
        return item
    said = f"; it calls its new {' and '.join(homes)} in its place ({job.twin.new.path})"
    return replace(item, reason=item.reason + said)


def _fields_at_hand(draft: Draft, new: str) -> frozenset[str]:
    """Fields of the twin's record that this one has, too, whatever their types: it has them from vllm-ascend."""
    have = records.fields(draft.text, draft.name)
    nodes = [node for node in flatten(new) if node.canon.partition(":")[0] in have]
    mine = {node.canon for node in flatten(draft.text)}
    return frozenset(node.canon for node in nodes if node.canon not in mine)


def _idle_fields(draft: Draft, new: str, methods: Sequence[str]) -> frozenset[str]:
    """Fields that only the twin's record has, where methods make such records here and none gives or reads them."""
    have = records.fields(draft.text, draft.name)
    added = [field for field in records.fields(new, draft.name) if field not in have]
    if not have or not any(records.makes(text, draft.name) for text in methods):
        return frozenset()
    used = {field for text in methods for field in records.used(text, draft.name, have, added)}
    return frozenset(node.canon for node in flatten(new) if node.canon.partition(":")[0] in set(added) - used)


def _port(
    draft: Draft, job: ModuleJob, sides: Triple, *, veto: Veto, foreign: Collection[str], known: Collection[str]
) -> None:
    assert job.twin.new is not None
    if not _is_related(draft.text, sides):
        if draft.owner and calls_by_class(draft.text, job.profile.gpu_name(draft.owner), draft.member):
            return  # what the twin does, this one does by calling it
        why = "the GPU runner changed its version; the NPU runner's is too different to merge the change into"
        draft.reviews.append(_declined(draft, job, sides, why=why, confidence=CONTESTED))
        return
    policy = merge.settled_for(merge.PORT, winner(job, draft.name))
    result, broken = _merged(draft, sides, policy, veto=veto, foreign=foreign, known=known)
    if not result.parses:
        reason = f"the port from {job.twin.new.path} did not parse, so it was not taken"
        draft.reviews.append(
            unmerged(draft, job.path, reason=reason, base=sides.base, upstream=sides.upstream, from_gpu=True)
        )
        return
    if broken:
        why = f"the GPU runner's change cannot be applied: {'; '.join(map(str, sorted(broken)[:2]))}"
        draft.reviews.append(_declined(draft, job, sides, why=why, confidence=REBUILT))
        return
    passages = ported_passages.questions(draft, job, before=draft.text, after=result.text)
    advance(draft, result.text, "gpu")
    draft.reviews += passages
    draft.reviews += [
        review_of(item, draft, job.path, line=item.line, sides=wording.PORTED) for item in _together(result.decisions)
    ]


def _lost_calls(sides: Triple, text: str) -> frozenset[str]:
    """The statements that call a method of ``self`` which the twin still calls, and the result no more.

    The twin has them in another way, which may be one that does not come in: what they do is not gone.
    """
    kept, there = (set(_CALLED.findall("\n".join(canonical(side)))) for side in (text, sides.upstream))
    return frozenset(canon for canon in canonical(sides.omni) if (there - kept) & set(_CALLED.findall(canon)))


_CALLED = re.compile(r"\bself\.(\w+)\(")


def _declined(draft: Draft, job: ModuleJob, sides: Triple, *, why: str, confidence: float) -> ReviewItem:
    return not_ported(
        draft, job.path, why=why, confidence=confidence, base=sides.base, omni=draft.text, upstream=sides.upstream
    )


def _is_related(text: str, sides: Triple) -> bool:
    """Whether a method has anchors in its twin as it was and, unless it is a copy of that, in the twin as it is.

    A twin that grew much leaves a copy of its old text with little in common, and all of it in its place.
    """
    was, now = lineage.similarity(text, sides.base), lineage.similarity(text, sides.upstream)
    return was >= lineage.COPY or min(was, now) >= RELATED


READS_UNSET = ("reads what nothing sets", "reads what was left out")
"""Kinds of decisions about statements that stay out because of a name that they read."""


def _together(decisions: Sequence[merge.Decision]) -> list[merge.Decision]:
    """The decisions, with one for all statements that were left out because of what they read."""
    left_out = [item for item in decisions if item.reason.kind in READS_UNSET]
    if len(left_out) < 2:
        return list(decisions)
    names = sorted({name for item in left_out for name in item.reason.names})
    reason = Reason("reads what nothing sets", tuple(names), passages=len(left_out))
    whole = replace(left_out[0], reason=reason, upstream="\n".join(item.upstream for item in left_out), chosen="")
    return [whole if item is left_out[0] else item for item in decisions if item is left_out[0] or item not in left_out]


def _merged(
    draft: Draft, sides: Triple, policy: merge.Policy, *, veto: Veto, foreign: Collection[str], known: Collection[str]
) -> tuple[merge.Merged, set[Problem]]:
    """The merge and what is wrong with it, once the statements that read what is not set here have been left out."""
    # What the GPU runner dropped with vLLM's text around it, vllm-ascend may well have still.
    followed = draft.upstream if draft.kind == "copy" else None
    pinned = frozenset(lineage.fingerprint(followed or ""))
    before = problems(sides.omni, known)
    missing: set[str] = set()
    for attempt in range(TRIES):
        result = merge.merge(sides, policy=policy, veto=without_readers(missing, veto), foreign=foreign, pinned=pinned)
        broken = problems(result.text, known) - before if result.parses else set()
        names = {problem.what for problem in broken if problem.kind != "idle"}
        names |= half_ported(sides, result.text, foreign) if result.parses else set()
        lost = _lost_calls(sides, result.text) - pinned if result.parses else frozenset()
        if not (names - missing or lost) or attempt == TRIES - 1:
            break
        pinned |= lost
        sides, unnamed = merge.with_omni_names_behind(sides, sorted(names - missing)), sides
        missing |= names if sides == unnamed else set()
    # Of a renaming that came with the statement which binds the name, but not with all that read it.
    text = merge.with_old_reads_renamed(sides.omni, result.text, {item.what for item in broken if item.kind != "idle"})
    if text != result.text:
        result, broken = replace(result, text=text), problems(text, known) - before
    return result, broken


def _vllm_statements(job: ModuleJob, draft: Draft, base: GpuBase) -> frozenset[str]:
    """What vLLM itself has in the second half of a method, and had in the undivided one."""
    sides = (
        (base.vllm, draft.split_from),
        (job.twin.load_vllm(), draft.split_from),
        (job.twin.load_vllm(), draft.name),
    )
    units = [vllm_unit(job, side, name) for side, name in sides if side is not None]
    return frozenset(canon for text in units if text for canon in vllm_canons(job, text))


def _module_names(job: ModuleJob, side: GpuSide) -> set[str]:
    """Names that a unit of the module may read: its own, and what the upstreams' modules could lend it by import."""
    texts_ = [job.text, side.module_text, *([job.upstream.new.text] if job.upstream.new is not None else [])]
    return {row.new_name for row in job.profile.names}.union(*(defined_names(text) for text in texts_ if text))


def record_twin(draft: Draft, job: ModuleJob, text: str, side: GpuSide) -> None:
    """Record which GPU text the draft was last aligned with, and which it is aligned with now."""
    assert job.twin.new is not None
    score = round(lineage.similarity(draft.text, text), 3)
    name, plain = side.as_written.get(draft.name, (draft.name, text))
    path = job.twin.new.path
    draft.gpu_now = BaseRef("vllm-omni", job.twin.new.ref, path, name, "twin", score, digest(plain))
    base = side.bases.get(draft.name)
    if base is not None:
        old = texts.unit_texts(base.side.text)[name]
        draft.gpu = BaseRef("vllm-omni", base.side.ref, path, name, "twin", score, digest(old))
