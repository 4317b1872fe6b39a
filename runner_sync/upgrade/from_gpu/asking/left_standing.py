"""Asks about statements that omni removed from vLLM's text on the GPU side and an NPU copy of vllm-ascend's text keeps.

Comes in: a ported draft, the twin's texts and the statements that the port must keep. Goes out: the draft with a
question. May touch: nothing.

A copy keeps vllm-ascend's statements, because the GPU runner usually loses a statement only when vLLM does. If vLLM
still has it, omni removed it on purpose, unless another statement replaced it or it moved to another method of the
module::

    vLLM, old and new   check(rows); run(rows)      twin, old   check(rows); run(rows)      twin, new   run(rows)
    NPU copy            check(rows); run(rows)      asked: is ``check(rows)`` wanted here?
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from difflib import SequenceMatcher

from runner_sync.confidence import CONTESTED
from runner_sync.lineage import fingerprint
from runner_sync.model import Triple
from runner_sync.statements import flatten
from runner_sync.texts.member_text import canonical
from runner_sync.thresholds import SHORT_STATEMENT
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.from_gpu.twin.readings import find_vllm_unit, translate_units
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, ask


def ask_about_left_standing(
    draft: Draft, job: ModuleJob, sides: Triple, side: GpuSide, pinned: Collection[str]
) -> Draft:
    """Ask one question about all such statements; ``pinned`` are those that a port must keep."""
    if draft.name not in side.bases:
        return draft
    names = _find_deleted(sides) & set(pinned) & fingerprint(draft.text).keys()
    names = {canon for canon in names if len(canon) > SHORT_STATEMENT} - _find_still_in_module(draft, job, side)
    if not names or not (names := names & _find_in_vllm(draft, job, side)):
        return draft
    nodes = [node for node in flatten(draft.text) if node.canon in names]
    reason = "the GPU runner removed statements that vLLM and vllm-ascend have; they stay here: does NPU need them?"
    had = "\n".join(node.text for node in nodes)
    shown = Shown(base=had, omni=had, chosen=had)
    return ask(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown, line=nodes[0].start, from_gpu=True)


def _find_deleted(sides: Triple) -> set[str]:
    """Return statements that the twin deleted without replacement."""
    old, new = canonical(sides.base), canonical(sides.upstream)
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return {canon for tag, i1, i2, _, _ in codes if tag == "delete" for canon in old[i1:i2]} - set(new)


def _find_still_in_module(draft: Draft, job: ModuleJob, side: GpuSide) -> set[str]:
    """Return statements that occur in the twin's module at least as often as before."""
    old, new = (
        Counter(canon for text in units.values() for canon in fingerprint(text).elements())
        for units in (translate_units(job, side.bases[draft.name].side), side.new)
    )
    return {canon for canon, count in old.items() if new[canon] >= count}


def _find_in_vllm(draft: Draft, job: ModuleJob, side: GpuSide) -> set[str]:
    """Return statements of vLLM's own method at both revisions and, if at hand, in the vLLM to run on."""
    revisions = side.bases[draft.name].vllm, job.twin.load_vllm()
    units = [find_vllm_unit(job, one, draft.name) for one in revisions if one is not None]
    if vllm := job.hierarchy.of(draft.owner).vllm:
        units.append(vllm.get(draft.member, ""))
    tables = [set(fingerprint(job.twin.translation.unit(text, job.profile))) for text in units]
    return set.intersection(*tables) if tables else set()
