"""Finds earlier revisions of the GPU twin up to which a refused change may be ported.

Comes in: drafts, a ``ModuleJob`` and its GPU side. Goes out: the same as of those revisions. May touch: nothing.

If the twin took a method apart since its base, no merge of the whole change may be sound. What it gained before that
still is::

    base      self.note(out)      then      self.note(out, rows)      now      build = self.builder(rows)
              return out                    self.count(rows)                   return build()
                                            return out
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from runner_sync.lineage import list_nodes
from runner_sync.model import ReviewItem
from runner_sync.texts.member_text import canonical, is_same, self_names
from runner_sync.thresholds import STILL_THERE
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide, read_side
from runner_sync.upgrade.job import ModuleJob


def find_stages(
    draft: Draft, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide
) -> Iterator[tuple[ModuleJob, GpuSide]]:
    """Yield job and GPU side as of each twin between the draft's base and the current one, newest first.

    Skips those that have the draft's unit as a later one has it.
    """
    bases, base, later = job.twin.bases, side.bases.get(draft.name), side.new.get(draft.name)
    if base not in bases or later is None:
        return
    at_hand = [one for one in bases[bases.index(base) + 1 :] if one.side != job.twin.new]
    for stage in reversed(at_hand) if at_hand else job.twin.load_between(base.side.ref):
        twin = replace(job.twin, new=stage.side, bases=(base,), load_vllm=stage.load_vllm)
        then = replace(job, twin=replace(twin, load_earlier=tuple, load_between=lambda _ref: ()))
        read = read_side(then, drafts)
        text = read.new.get(draft.name)
        if text is not None and not is_same(text, later) and draft.name in read.bases:
            yield then, read
            later = text


def is_current(stage: Draft, before: Draft, side: GpuSide) -> bool:
    """Whether the current twin still has most of what a port up to an earlier one brings, and each name on ``self``."""
    if not self_names(stage.text) - self_names(before.text) <= {*re.findall(r"\w+", side.module_text)}:
        return False
    current = {node.canon for node in list_nodes(side.module_text)} | {*canonical(side.rebased.get(stage.name, ""))}
    brought = {*canonical(stage.text)} - {*canonical(before.text)}
    return len(brought & current) >= STILL_THERE * len(brought)


def ask_about_rest(refused: Sequence[ReviewItem], stage: Draft, then: str, ref: str) -> tuple[ReviewItem, ...]:
    """Return the questions of a refused port, about what is left of it after the port up to the twin at ``ref``."""
    reason = f"; its change up to vllm-omni {ref} was ported"
    return tuple(
        replace(item, reason=item.reason + reason, base=then, omni=stage.text, chosen=stage.text) for item in refused
    )
