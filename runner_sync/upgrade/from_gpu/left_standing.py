"""What omni took out of vLLM's text on the GPU side, and an NPU copy of vllm-ascend's text still has.

Comes in: a draft behind its port, the twin's texts and what must stay in the port. Goes out: the draft with a question.
May touch: nothing.

A copy keeps what vllm-ascend has, for the GPU runner loses statements with vLLM's own text. One that vLLM has as before
it has lost on purpose, unless other words stand in its place, or it stands in another method of its class now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from difflib import SequenceMatcher

from runner_sync.compose.member_text import canonical
from runner_sync.confidence import CONTESTED
from runner_sync.lineage import fingerprint
from runner_sync.model import Triple
from runner_sync.statements import flatten
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.gpu import GpuSide, translated_units, vllm_unit
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, review

_SHORT = 20
"""Characters of a statement below which it says too little: ``return``, ``else``, ``pass``."""


def ask_about_left_standing(
    draft: Draft, job: ModuleJob, sides: Triple, side: GpuSide, pinned: Collection[str]
) -> Draft:
    """One question about all of the statements, at the first one."""
    if draft.name not in side.bases:
        return draft
    names = _taken_out(sides) & set(pinned) & fingerprint(draft.text).keys()
    names = {canon for canon in names if len(canon) > _SHORT} - _moved(draft, job, side)
    if not names or not (names := names & _vllms(draft, job, side)):
        return draft
    nodes = [node for node in flatten(draft.text) if node.canon in names]
    reason = "the GPU runner took out what vLLM and vllm-ascend have; it stays, as in vllm-ascend: is it wanted here?"
    had = "\n".join(node.text for node in nodes)
    shown = Shown(base=had, omni=had, chosen=had)
    item = review(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown, line=nodes[0].start, from_gpu=True)
    return draft.asking(item)


def _taken_out(sides: Triple) -> set[str]:
    """The statements that went from the twin with nothing in their place."""
    old, new = canonical(sides.base), canonical(sides.upstream)
    codes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    return {canon for tag, i1, i2, _, _ in codes if tag == "delete" for canon in old[i1:i2]} - set(new)


def _moved(draft: Draft, job: ModuleJob, side: GpuSide) -> set[str]:
    """The statements that the twin's module has as often as before."""
    old = _counted(translated_units(job, side.bases[draft.name].side).values())
    new = _counted(side.new.values())
    return {canon for canon, count in old.items() if new[canon] >= count}


def _counted(units: Iterable[str]) -> Counter[str]:
    return sum((fingerprint(text) for text in units), Counter[str]())


def _vllms(draft: Draft, job: ModuleJob, side: GpuSide) -> set[str]:
    """The statements that vLLM's own method had and has."""
    revisions = side.bases[draft.name].vllm, job.twin.load_vllm()
    tables = [
        fingerprint(job.twin.translation.unit(vllm_unit(job, one, draft.name), job.profile)).keys()
        for one in revisions
        if one is not None
    ]
    return set.intersection(*map(set, tables)) if tables else set()
