"""The port: what the GPU twin changed of omni's, merged into each draft that has a twin.

Comes in: drafts, a ``ModuleJob`` and the GPU side. Goes out: the drafts with one more stage and a question for
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
from runner_sync.merge import Reason, Veto
from runner_sync.merge.confidence import CONTESTED, REBUILT
from runner_sync.model import ReviewItem, Triple
from runner_sync.statements import flatten
from runner_sync.upgrade import call_fit, extracted, gpu, ported_passages, splitting, wording
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.gpu import GpuSide, vllm_canons, vllm_unit, with_twin_recorded
from runner_sync.upgrade.half_ported import half_ported
from runner_sync.upgrade.job import GpuBase, ModuleJob, winner
from runner_sync.upgrade.refusing import without_readers
from runner_sync.upgrade.reviews import advanced, not_ported, review_of, unmerged
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
) -> list[Draft]:
    """The drafts, each that has a GPU twin with the omni changes of that merged into it.

    ``beside`` are the drafts of the same class that stay as they are, ``methods`` the texts of those methods that may
    use the records among the drafts.
    """
    known = _module_names(job, side)
    divided = {draft.split_from for draft in drafts}
    ported = []
    for draft in drafts:
        # Undoing vLLM's step would put the second half of a divided method back.
        new = (side.new if draft.name in divided else side.rebased).get(draft.name)
        if new is None or draft.removed:
            ported.append(draft)
            continue
        recorded = with_twin_recorded(draft, job, new, side)
        helpers = _twins_helpers(draft, drafts, job, side)
        ported.append(_with_twin(recorded, job, side, new, veto=veto, helpers=helpers, methods=methods, known=known))
    return _fitting(ported, drafts, job, side, beside=beside)


def _with_twin(
    draft: Draft,
    job: ModuleJob,
    side: GpuSide,
    new: str,
    *,
    veto: Veto,
    helpers: tuple[Mapping[str, str], Mapping[str, str]],
    methods: Sequence[str],
    known: Collection[str],
) -> Draft:
    """One draft with the change of its twin, which is ``new`` now; ``helpers`` are those that the twin had and has."""
    old, foreign = _old_twin(draft, job, side, new)
    then, now = helpers
    if old is not None:
        old, new = extracted.sides_with_helpers(draft.text, (old, then), (new, now))
    foreign |= _fields_at_hand(draft, new) | _idle_fields(draft, new, methods)
    if old is None or canonical(old) == canonical(new):
        return draft
    ported = _ported(draft, job, Triple(old, draft.text, new), veto=veto, foreign=foreign, known=known)
    count, homes = len(draft.reviews), now.keys() - then.keys()
    items = (*ported.reviews[:count], *(_with_new_home(item, homes, job) for item in ported.reviews[count:]))
    asked = replace(ported, reviews=items)
    return ask_about_untranslated(asked, job.path, before=draft.text, doubts=side.untranslated)


def _fitting(
    ported: Sequence[Draft], before: Sequence[Draft], job: ModuleJob, side: GpuSide, *, beside: Sequence[Draft]
) -> list[Draft]:
    """The drafts without the ports that gave a method a signature which another one, whose port was not taken or not
    asked for, does not call."""
    left = [*ported]
    texts_before = {draft.name: draft.text for draft in before}
    while found := call_fit.unfit([*left, *beside], texts_before):
        pairs = zip(left, before, strict=True)
        left = [_taken_back(now, was, found[now.name], job, side) if now.name in found else now for now, was in pairs]
    return left


def _taken_back(draft: Draft, was: Draft, caller: str, job: ModuleJob, side: GpuSide) -> Draft:
    why = f"{caller.rpartition('.')[2]} still calls it with the arguments that it takes now"
    sides = Triple(side.old.get(draft.name, ""), was.text, side.rebased[draft.name])
    item = _declined(was, job, sides, why=why, confidence=CONTESTED)
    return replace(draft, stages=was.stages, reviews=was.reviews).asking(item)


def _old_twin(draft: Draft, job: ModuleJob, side: GpuSide, new: str) -> tuple[str | None, frozenset[str]]:
    """The twin's old text, and the statements that are vLLM's own."""
    old = side.old.get(draft.name)
    if old is None and draft.split_from in side.old:
        old = splitting.with_head(new, side.old[draft.split_from]) or None
        return old, _vllm_statements(job, draft, side.bases[draft.split_from])
    return old, side.from_vllm.get(draft.name, frozenset())


def _twins_helpers(
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


def _ported(
    draft: Draft, job: ModuleJob, sides: Triple, *, veto: Veto, foreign: Collection[str], known: Collection[str]
) -> Draft:
    """The draft with the change of its twin, or with a question why it is without."""
    assert job.twin.new is not None
    if not _is_related(draft.text, sides):
        if draft.owner and calls_by_class(draft.text, job.profile.gpu_name(draft.owner), draft.member):
            return draft  # what the twin does, this one does by calling it
        why = "the GPU runner changed its version; the NPU runner's is too different to merge the change into"
        return draft.asking(_declined(draft, job, sides, why=why, confidence=CONTESTED))
    policy = merge.settled_for(merge.PORT, winner(job, draft.name))
    result, broken = _merged_soundly(draft, sides, policy, veto=veto, foreign=foreign, known=known)
    if not result.parses:
        reason = f"the port from {job.twin.new.path} did not parse, so it was not taken"
        return draft.asking(
            unmerged(draft, job.path, reason=reason, base=sides.base, upstream=sides.upstream, from_gpu=True)
        )
    if broken:
        why = f"the GPU runner's change cannot be applied: {'; '.join(map(str, sorted(broken)[:2]))}"
        return draft.asking(_declined(draft, job, sides, why=why, confidence=REBUILT))
    passages = ported_passages.questions(draft, job, before=draft.text, after=result.text)
    decisions = [
        review_of(item, draft, job.path, line=item.line, sides=wording.PORTED) for item in _together(result.decisions)
    ]
    return advanced(draft, result.text, "gpu").asking(*passages, *decisions)


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


def _merged_soundly(
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
