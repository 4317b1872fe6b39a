"""The second upstream: port what the GPU twin's omni code gained.

Comes in: drafts and a ``ModuleJob``. Goes out: the same drafts with one more stage, new drafts for new members, and
decisions about every member of the GPU class. May touch: nothing.

What omni changed on the GPU side is the GPU twin's change less vLLM's own. It is taken by merging backwards: vLLM's
step from new to old, applied to the new GPU unit, gives that unit as it would read on the old vLLM.
"""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from runner_sync import lineage, merge
from runner_sync.compose.hooks import fit_sampler_hook
from runner_sync.compose.members import Member, Twins, canonical, decide, predecessor, self_names
from runner_sync.compose.names import defined_names
from runner_sync.compose.notes import NOT_PORTED
from runner_sync.compose.soundness import problems
from runner_sync.lock import digest
from runner_sync.model import BaseRef, ReviewItem, Triple
from runner_sync.profile import Profile
from runner_sync.statements import UnparsableText
from runner_sync.sync import mixing, texts
from runner_sync.sync.doubts import review
from runner_sync.sync.job import Draft, GpuBase, ModuleJob, Side, winner
from runner_sync.transforms import translate, translate_unit


@dataclass(frozen=True, slots=True)
class GpuSide:
    """The GPU twin's units, translated to NPU names and keyed by the NPU units' qualified names.

    ``new`` is the twin as it would read on the old vLLM, ``full`` as it is; ``foreign`` are per unit the statements
    that vLLM itself added or removed; ``bases`` where each ``old`` text is from; ``neutral`` the
    units that had device code and have none now; ``plain`` has ``(qualified name, text)`` of the twin as written;
    ``former`` are the units that some earlier revision of the twin has.
    """

    old: Mapping[str, str] = field(default_factory=dict)
    new: Mapping[str, str] = field(default_factory=dict)
    new_module: str = ""
    full: Mapping[str, str] = field(default_factory=dict)
    foreign: Mapping[str, frozenset[str]] = field(default_factory=dict)
    bases: Mapping[str, GpuBase] = field(default_factory=dict)
    neutral: frozenset[str] = frozenset()
    plain: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    former: frozenset[str] = frozenset()


def read_side(job: ModuleJob, drafts: Sequence[Draft]) -> GpuSide:
    """Translate the GPU twin, old and new; the new one without what vLLM itself changed in between.

    The old text of a unit is the one of ``gpu_bases`` that the NPU unit is closest to.
    """
    if job.gpu_new is None or job.module.gpu is None:
        return GpuSide()
    new_text = translate(job.gpu_new.text, job.profile, path=job.gpu_new.path).text
    new = _fully_translated(new_text, job.profile)
    chosen = _chosen_bases(job, drafts, new)
    old = {name: _before_mixins(job, name, _translated_units(job, base.side)[name]) for name, base in chosen.items()}
    view, foreign = dict(new), {}
    followers = {draft.name for draft in drafts if draft.kind == "copy"}
    for name, base in chosen.items():
        # vLLM's own changes reach a copied unit through the upstream it follows, and any other unit only from here.
        if name not in followers or name not in new or canonical(old[name]) == canonical(new[name]):
            continue
        vllm_old, vllm_new = base.vllm, job.load_vllm()
        if vllm_old is None or vllm_new is None or vllm_old.text == vllm_new.text:
            continue
        before, after = (_vllm_unit(job, side, name) for side in (vllm_old, vllm_new))
        foreign[name] = frozenset(set(_canons(job, before)) | set(_canons(job, after)))
        if before and after and before != after and _is_copy(old[name], before):
            view[name] = _rebased(new[name], *(translate_unit(text, job.profile).text for text in (after, before)))
    plain = _by_npu_name(job, texts.unit_texts(job.gpu_new.text))
    earlier = [base.side for base in job.gpu_bases if base.side.ref != job.gpu_new.ref]
    if job.gpu_synced:
        earlier.append(job.gpu_new)
    former = frozenset(name for base in earlier for name in _translated_units(job, base))
    return GpuSide(old, view, new_text, new, foreign, chosen, _neutral(job, chosen, new, plain), plain, former)


def _before_mixins(job: ModuleJob, name: str, text: str) -> str:
    """The old twin of a unit without what uses a mixin that the NPU class gets only now."""
    brought = job.mixins.get(name.rpartition(".")[0], {})
    names = frozenset[str]().union(*brought.values())
    return mixing.without(text, names) if names else text


def _neutral(
    job: ModuleJob,
    chosen: Mapping[str, GpuBase],
    new: Mapping[str, str],
    plain: Mapping[str, tuple[str, str]],
) -> frozenset[str]:
    """Units that the translation changed in the old twin and leaves alone in the new one."""
    found = set()
    for name, base in chosen.items():
        if name not in new:
            continue
        before = _by_npu_name(job, texts.unit_texts(base.side.text)).get(name, ("", ""))[1]
        had = canonical(before) != canonical(_translated_units(job, base.side)[name])
        has = canonical(plain[name][1]) != canonical(new[name]) or names_device(plain[name][1], job.profile)
        if had and not has:
            found.add(name)
    return frozenset(found)


def names_device(text: str, profile: Profile) -> bool:
    """Whether a unit mentions a GPU name at all, also one that its module binds to something of its own."""
    words = {row.name for row in profile.names if row.name != row.new_name} | {old for old, _ in profile.attributes}
    body = "\n".join(canonical(text))
    return any(re.search(rf"(?<![\w.]){re.escape(word)}\b", body) for word in words)


def _chosen_bases(job: ModuleJob, drafts: Sequence[Draft], new: Mapping[str, str]) -> dict[str, GpuBase]:
    """For each unit of the twin that some base has, also one that is gone: the base whose text the NPU unit is closest
    to."""
    tables = [(base, _translated_units(job, base.side)) for base in job.gpu_bases]
    mine = {draft.name: draft.text for draft in drafts}
    chosen = {}
    for name in dict.fromkeys([*new, *(name for _, table in tables for name in table if name in mine)]):
        options = [(base, table[name]) for base, table in tables if name in table]
        if not options:
            continue
        target = lineage.fingerprint(mine.get(name, options[-1][1]))
        scores = [lineage.similarity(target, lineage.fingerprint(text)) for _, text in options]
        chosen[name] = options[max(range(len(options)), key=lambda k: (scores[k], -k))][0]
    return chosen


def _translated_units(job: ModuleJob, side: Side) -> Mapping[str, str]:
    return _fully_translated(_translated(side.text, side.path, job.profile), job.profile)


@lru_cache(maxsize=64)
def _fully_translated(module_text: str, profile: Profile) -> dict[str, str]:
    """Names that the GPU module binds to something of its own (a subclass of the graph wrapper) are GPU names too."""
    return {name: translate_unit(text, profile).text for name, text in texts.unit_texts(module_text).items()}


@lru_cache(maxsize=64)
def _translated(text: str, path: str, profile: Profile) -> str:
    return translate(text, profile, path=path).text


def _by_npu_name(job: ModuleJob, table: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    names = dict(job.profile.classes)
    found = {}
    for name, text in table.items():
        owner, dot, member = name.rpartition(".")
        found[f"{names.get(owner, owner)}{dot}{member}"] = (name, text)
    return found


def _vllm_unit(job: ModuleJob, side: Side, name: str) -> str:
    origin = f"{job.profile.vllm_class}.{name.rpartition('.')[2]}" if "." in name else name
    return texts.unit_texts(side.text).get(origin, "")


def _canons(job: ModuleJob, text: str) -> Iterable[str]:
    return lineage.fingerprint(translate_unit(text, job.profile).text)


def _is_copy(text: str, other: str) -> bool:
    return lineage.similarity(lineage.fingerprint(text), lineage.fingerprint(other)) >= lineage.COPY


def _rebased(text: str, base: str, upstream: str) -> str:
    try:
        result = merge.merge(Triple(base, text, upstream))
    except UnparsableText:
        return text
    return result.text if result.parses else text


BROKEN = 0.15
"""Share of certain mistakes among the statements that a port changes above which it is not taken at all."""

RELATED = 0.15
"""Below this similarity to its GPU twin a method has no anchors to put the twin's changes at."""


def port(drafts: Sequence[Draft], job: ModuleJob, side: GpuSide, veto: Callable[[str], str]) -> None:
    """Merge the GPU twin's omni changes into each draft that has a twin."""
    assert job.gpu_new is not None
    known = _module_names(job, side)
    for draft in drafts:
        old, new = side.old.get(draft.name), side.new.get(draft.name)
        if new is None or draft.removed:
            continue
        _refer(draft, job, new, side)
        if old is None or canonical(old) == canonical(new):
            continue
        if lineage.similarity(lineage.fingerprint(draft.text), lineage.fingerprint(old)) < RELATED:
            reason = f"{NOT_PORTED}the GPU runner changed its version, and the NPU runner does this in another way"
            draft.reviews.append(review(draft, job.path, reason, 0.5, old, draft.text, new, draft.text))
            continue
        result = merge.merge(
            Triple(old, draft.text, new),
            policy=merge.settled_for(merge.PORT, winner(job, draft.name)),
            veto=veto,
            foreign=side.foreign.get(draft.name, frozenset()),
        )
        if not result.parses:
            reason = f"the port from {job.gpu_new.path} did not parse, so it was not taken"
            draft.reviews.append(review(draft, job.path, reason, 0.2, old, draft.text, new, draft.text))
            continue
        broken = problems(result.text, known) - problems(draft.text, known)
        idle = any(word.startswith("idle") for word in broken)
        if idle or len(broken) > BROKEN * changed_statements(draft.text, result.text):
            reason = f"{NOT_PORTED}the GPU runner's change does not fit here ({', '.join(sorted(broken)[:2])})"
            draft.reviews.append(review(draft, job.path, reason, 0.4, old, draft.text, new, draft.text))
            continue
        draft.reviews += _ported(draft, job, draft.text, result.text)
        draft.texts.append(result.text)
        draft.reviews += [
            review(
                draft,
                job.path,
                _on_gpu_side(item.reason),
                item.confidence,
                item.base,
                item.omni,
                item.upstream,
                item.chosen,
                line=item.line,
            )
            for item in result.decisions
        ]


PORTED = "ported from the GPU runner; no line of it has run on this platform yet"

NEAR = 3
"""Unchanged lines between two ported passages that make them two questions."""


def _ported(draft: Draft, job: ModuleJob, before: str, after: str) -> list[ReviewItem]:
    """One question for each passage that a port changes."""
    old, new = before.split("\n"), after.split("\n")
    runs: list[tuple[int, int, int, int]] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if runs and j1 - runs[-1][3] < NEAR:
            runs[-1] = (runs[-1][0], i2, runs[-1][2], j2)
        else:
            runs.append((i1, i2, j1, j2))
    return [
        review(draft, job.path, PORTED, 0.7, "", was, now, now, line=j1 + 1)
        for i1, i2, j1, j2 in runs
        for was, now in [(_passage(old[i1:i2]), _passage(new[j1:j2]))]
        if was.split() != now.split()
    ]


def _passage(lines: Sequence[str]) -> str:
    return textwrap.dedent("\n".join(lines)).strip("\n")


def changed_statements(before: str, after: str) -> int:
    """How many statements a port adds or changes."""
    return (lineage.fingerprint(after) - lineage.fingerprint(before)).total()


def _module_names(job: ModuleJob, side: GpuSide) -> set[str]:
    """Names that a unit of the module may read: its own, and what the upstreams' modules could lend it by import."""
    texts_ = [job.text, side.new_module, *([job.upstream.text] if job.upstream is not None else [])]
    return {row.new_name for row in job.profile.names}.union(*(defined_names(text) for text in texts_ if text))


def _on_gpu_side(reason: str) -> str:
    return (
        reason.replace("omni and upstream", "the NPU and the GPU runner")
        .replace("upstream", "the GPU runner")
        .replace("omni", "the NPU runner")
    )


def _refer(draft: Draft, job: ModuleJob, text: str, side: GpuSide) -> None:
    """Record which GPU text the draft was last aligned with, and which it is aligned with now."""
    assert job.gpu_new is not None
    score = round(lineage.similarity(lineage.fingerprint(draft.text), lineage.fingerprint(text)), 3)
    name, plain = side.plain.get(draft.name, (draft.name, text))
    path = job.gpu_new.path
    draft.gpu_now = BaseRef("vllm-omni", job.gpu_new.ref, path, name, "twin", score, digest(plain))
    base = side.bases.get(draft.name)
    if base is not None:
        old = texts.unit_texts(base.side.text)[name]
        draft.gpu = BaseRef("vllm-omni", base.side.ref, path, name, "twin", score, digest(old))


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
        upstream=ancestry.upstream if ancestry else (),
        vllm=ancestry.vllm if ancestry else {},
        helpers=_helpers(side.new_module, job) if side.new_module else {},
        former={k.removeprefix(prefix) for k in side.former if k.startswith(prefix)},
        awaited={job.profile.sampler_hook.method} | _newly_called(drafts, job),
    )


def _newly_called(drafts: Sequence[Draft], job: ModuleJob) -> set[str]:
    """Members of ``self`` that the NPU side calls since this upgrade: vllm-ascend's runner, or the module itself."""
    followed = {draft.base.ref for draft in drafts if draft.base is not None}
    before = [side.text for side in job.bases if side.ref in followed]
    now = [job.upstream.text] if job.upstream is not None and before else []
    before += [draft.before for draft in drafts]
    now += [draft.text for draft in drafts if not draft.removed]
    return _called(now) - _called(before)


def _called(texts_: Iterable[str]) -> set[str]:
    return {name for text in texts_ for name in self_names(text)}


def _helpers(module_text: str, job: ModuleJob) -> dict[str, str]:
    """The module-level definitions beside the runner classes: naming a runner is no use of its device code."""
    runners = {name for pair in job.profile.classes for name in pair}
    return {name: text for name, text in texts.whole_definitions(module_text).items() if name not in runners}


def decide_members(class_name: str, pair: Twins, job: ModuleJob) -> list[Member]:
    """What becomes of each member that only the GPU class has; nothing is copied that the NPU class inherits."""
    ancestry = job.ancestry.get(class_name)
    twin = next((gpu for gpu, npu in job.profile.classes if npu == class_name), class_name)
    if ancestry is not None and twin in ancestry.classes:
        missing = [name for name in pair.gpu_new if name not in pair.npu]
        return [Member(name, "inherited", "the NPU class inherits from its GPU twin") for name in missing]
    return decide(pair)


def veto_for(bound: Mapping[str, str], device: Sequence[str]) -> Callable[[str], str]:
    """Refuse statements that call device-bound members or use device code themselves."""
    names = re.compile(r"\b(" + "|".join(map(re.escape, bound)) + r")\b") if bound else None
    words = list(device)

    def refuse(canon: str) -> str:
        match = names.search(canon) if names else None
        if match:
            return f"it needs {match[1]}, which is not on the NPU side ({bound[match[1]]})"
        word = next((w for w in words if w in canon), "")
        return f"it uses {word}, which is device code of the GPU side" if word else ""

    return refuse


def new_members(
    class_name: str, decisions: Sequence[Member], drafts: Sequence[Draft], job: ModuleJob, side: GpuSide
) -> list[Draft]:
    """Drafts of the members to be ported, each behind the member it follows in the GPU class."""
    prefix = f"{class_name}."
    order = [name.removeprefix(prefix) for name in side.full if name.startswith(prefix)]
    have = {d.member for d in drafts if d.owner == class_name and not d.removed}
    added = []
    for decision in decisions:
        if decision.action not in ("port", "hook"):
            continue
        before = predecessor(decision.name, order, have)
        text, said = fit_sampler_hook(side.full[prefix + decision.name], job.profile.sampler_hook)
        draft = Draft(prefix + decision.name, ["", text], "own", "added", after=prefix + before if before else None)
        _refer(draft, job, text, side)
        draft.notes = said
        have.add(decision.name)
        added.append(draft)
    return added
