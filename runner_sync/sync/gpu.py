"""The second upstream: port what the GPU twin's omni code gained.

Comes in: drafts and a ``ModuleJob``. Goes out: the same drafts with one more stage, new drafts for new members, and
decisions about every member of the GPU class. May touch: nothing.

What omni changed on the GPU side is the GPU twin's change less vLLM's own. It is taken by merging backwards: vLLM's
step from new to old, applied to the new GPU unit, gives that unit as it would read on the old vLLM.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from runner_sync import lineage, merge
from runner_sync.compose.members import Member, Twins, canonical, decide, predecessor
from runner_sync.lock import digest
from runner_sync.model import BaseRef, Triple
from runner_sync.statements import UnparsableText
from runner_sync.sync import texts
from runner_sync.sync.doubts import review
from runner_sync.sync.job import Draft, ModuleJob, Side
from runner_sync.transforms import translate, translate_unit


@dataclass(frozen=True, slots=True)
class GpuSide:
    """The GPU twin's units, translated to NPU names and keyed by the NPU units' qualified names."""

    old: Mapping[str, str] = field(default_factory=dict)
    new: Mapping[str, str] = field(default_factory=dict)
    new_module: str = ""
    old_module: str = ""
    full: Mapping[str, str] = field(default_factory=dict)
    foreign: Mapping[str, frozenset[str]] = field(default_factory=dict)


def read_side(job: ModuleJob) -> GpuSide:
    """Translate the GPU twin, old and new; the new one without what vLLM itself changed in between."""
    if job.gpu_new is None or job.module.gpu is None:
        return GpuSide()
    old = job.gpu_old or job.gpu_new
    view = _without_vllm(job, old, job.gpu_new)
    view_text, old_text, new_text = (_translated(job, side) for side in (view, old, job.gpu_new))
    new = texts.unit_texts(new_text)
    return GpuSide(
        texts.unit_texts(old_text), texts.unit_texts(view_text), new_text, old_text, new, _foreign(job, new)
    )


def _foreign(job: ModuleJob, names: Iterable[str]) -> dict[str, frozenset[str]]:
    """Per unit, the statements that vLLM itself added or removed between the two versions."""
    if job.vllm_old is None or job.vllm_new is None:
        return {}
    before, after = (texts.unit_texts(side.text) for side in (job.vllm_old, job.vllm_new))
    found = {}
    for name in names:
        origin = f"{job.profile.vllm_class}.{name.rpartition('.')[2]}" if "." in name else name
        pair = (before.get(origin, ""), after.get(origin, ""))
        old, new = (set(lineage.fingerprint(translate_unit(text, job.profile).text)) for text in pair)
        found[name] = frozenset(old ^ new)
    return found


def _translated(job: ModuleJob, side: Side) -> str:
    return translate(side.text, job.profile, path=side.path).text


def _without_vllm(job: ModuleJob, old: Side, new: Side) -> Side:
    """The new GPU module with vLLM's own changes since the old version taken back, unit by unit."""
    if job.vllm_old is None or job.vllm_new is None or job.vllm_old.text == job.vllm_new.text or old.text == new.text:
        return new
    before, after = (texts.unit_texts(side.text) for side in (job.vllm_old, job.vllm_new))
    owner = job.profile.vllm_class
    twin = texts.unit_texts(old.text)
    edits = {}
    for name, text in texts.unit_texts(new.text).items():
        origin = f"{owner}.{name.rpartition('.')[2]}" if "." in name else name
        if name not in twin or origin not in before or origin not in after or before[origin] == after[origin]:
            continue
        if _is_copy(twin[name], before[origin]):
            edits[name] = _rebased(text, after[origin], before[origin])
    return Side(new.ref, texts.edited(new.text, edits), new.path) if edits else new


def _is_copy(text: str, other: str) -> bool:
    return lineage.similarity(lineage.fingerprint(text), lineage.fingerprint(other)) >= lineage.COPY


def _rebased(text: str, base: str, upstream: str) -> str:
    try:
        result = merge.merge(Triple(base, text, upstream))
    except UnparsableText:
        return text
    return result.text if result.parses else text


def port(drafts: Sequence[Draft], job: ModuleJob, side: GpuSide, veto: Callable[[str], str]) -> None:
    """Merge the GPU twin's omni changes into each draft that has a twin."""
    assert job.gpu_new is not None
    for draft in drafts:
        old, new = side.old.get(draft.name), side.new.get(draft.name)
        if new is None or draft.removed:
            continue
        draft.gpu = _reference(draft, job, new)
        if old is None or canonical(old) == canonical(new):
            continue
        result = merge.merge(
            Triple(old, draft.text, new), policy=merge.PORT, veto=veto, foreign=side.foreign.get(draft.name, frozenset())
        )
        if not result.parses:
            reason = f"the port from {job.gpu_new.path} did not parse, so it was not taken"
            draft.reviews.append(review(draft, job.path, reason, 0.2, old, draft.text, new, draft.text))
            continue
        draft.texts.append(result.text)
        draft.reviews += [
            review(
                draft, job.path, _on_gpu_side(item.reason), item.confidence, item.base, item.omni, item.upstream,
                item.chosen, line=item.line,
            )
            for item in result.decisions
        ]


def _on_gpu_side(reason: str) -> str:
    return reason.replace("omni and upstream", "the NPU and the GPU runner").replace("upstream", "the GPU runner").replace(
        "omni", "the NPU runner"
    )


def _reference(draft: Draft, job: ModuleJob, text: str) -> BaseRef:
    assert job.gpu_new is not None
    score = lineage.similarity(lineage.fingerprint(draft.text), lineage.fingerprint(text))
    return BaseRef("vllm-omni", job.gpu_new.ref, job.gpu_new.path, draft.name, "twin", round(score, 3), digest(text))


def twins(class_name: str, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> Twins:
    """One class of the module beside its GPU twin."""
    ancestry = job.ancestry.get(class_name)
    prefix = f"{class_name}."
    return Twins(
        gpu_old={k.removeprefix(prefix): v for k, v in side.old.items() if k.startswith(prefix)},
        gpu_new={k.removeprefix(prefix): v for k, v in side.full.items() if k.startswith(prefix)},
        npu={d.member: d.text for d in drafts if d.owner == class_name and not d.removed},
        inherited=ancestry.members if ancestry else {},
        device=job.profile.unported,
        callers=job.callers,
        helpers=texts.whole_definitions(side.new_module) if side.new_module else {},
    )


def decide_members(class_name: str, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> list[Member]:
    """What becomes of each member that only the GPU class has; nothing is copied that the NPU class inherits."""
    ancestry = job.ancestry.get(class_name)
    pair = twins(class_name, drafts, job, side)
    if ancestry is not None and class_name in ancestry.classes:
        missing = [name for name in pair.gpu_new if name not in pair.npu]
        return [Member(name, "inherited", "the NPU class inherits from its GPU twin") for name in missing]
    return decide(pair)


def veto_for(bound: Mapping[str, str], device: Sequence[str]) -> Callable[[str], str]:
    """Refuse statements that call device-bound members or use device code themselves."""
    names = re.compile(r"\b(" + "|".join(map(re.escape, bound)) + r")\b") if bound else None
    words = [word for word in device]

    def refuse(canon: str) -> str:
        match = names.search(canon) if names else None
        if match:
            return f"it needs {match[1]}, which is not on the NPU side ({bound[match[1]]})"
        word = next((w for w in words if w in canon), "")
        return f"it uses {word}, which is device code of the GPU side" if word else ""

    return refuse


def new_members(class_name: str, decisions: Sequence[Member], drafts: Sequence[Draft], side: GpuSide) -> list[Draft]:
    """Drafts of the members to be ported, each behind the member it follows in the GPU class."""
    prefix = f"{class_name}."
    order = [name.removeprefix(prefix) for name in side.full if name.startswith(prefix)]
    have = {d.member for d in drafts if d.owner == class_name and not d.removed}
    added = []
    for decision in decisions:
        if decision.action not in ("port", "hook"):
            continue
        before = predecessor(decision.name, order, have)
        text = side.full[prefix + decision.name]
        draft = Draft(prefix + decision.name, ["", text], "own", "added", after=prefix + before if before else "")
        have.add(decision.name)
        added.append(draft)
    return added
