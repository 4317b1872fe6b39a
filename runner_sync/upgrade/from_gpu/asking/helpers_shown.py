"""Adds helpers of the GPU twin that NPU lacks to questions where the twin calls them instead of NPU's lines.

Comes in: drafts with their questions, and the GPU side. Goes out: the drafts, with the text of the helper in such
questions. May touch: nothing.

The call alone does not show what is to be decided; the helper does::

    omni      for row in rows: …
    GPU twin  rows = self._merged(rows)

              def _merged(self, rows):
                  …

This runs last, because a helper's body must not relate a question to other questions.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from runner_sync.model import ReviewItem
from runner_sync.texts.member_text import self_mentions
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.job import ModuleJob


def show_helpers(drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> list[Draft]:
    """Add the helpers that the twin newly calls to each question about lines that stay."""
    have = {draft.name for draft in drafts if draft.text and not draft.removed}
    return [
        draft.with_each_question(partial(_show_in_item, draft=draft, have=have, job=job, side=side))
        if draft.owner
        else draft
        for draft in drafts
    ]


def _show_in_item(item: ReviewItem, draft: Draft, have: set[str], job: ModuleJob, side: GpuSide) -> ReviewItem:
    if not (item.from_gpu and item.in_file and item.chosen and item.omni == item.chosen):
        return item
    called = self_mentions(item.upstream) - self_mentions(item.base) - self_mentions(draft.text)
    called -= job.hierarchy.of(draft.owner).members.keys()
    names = [f"{draft.owner}.{name}" for name in sorted(called)]
    helpers = [textwrap.dedent(side.new[name]).strip("\n") for name in names if name in side.new and name not in have]
    return replace(item, upstream="\n\n".join([item.upstream, *helpers]))
