"""What a helper of the GPU twin does that NPU does not have, shown where the twin calls it in the place of NPU's lines.

Comes in: drafts with their questions, and the GPU side. Goes out: the drafts, such questions with the text of the
helper. May touch: nothing.

The call says nothing about what is to decide; the helper does::

    omni      for row in rows: …
    GPU twin  rows = self._merged(rows)

              def _merged(self, rows):
                  …

It is shown last of all: what is inside a helper ties a question to no other one.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import replace

from runner_sync.compose.member_text import self_mentions
from runner_sync.model import ReviewItem
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.job import ModuleJob


def show_helpers(drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> list[Draft]:
    """The drafts, each question about lines that stay with the helpers that the twin newly calls in their place."""
    have = {draft.name for draft in drafts if draft.text and not draft.removed}
    return [
        replace(draft, reviews=tuple(_showing(item, draft, have, job, side) for item in draft.reviews))
        if draft.reviews and draft.owner
        else draft
        for draft in drafts
    ]


def _showing(item: ReviewItem, draft: Draft, have: set[str], job: ModuleJob, side: GpuSide) -> ReviewItem:
    if not (item.from_gpu and item.in_file and item.chosen and item.omni == item.chosen):
        return item
    inherited = job.hierarchy.inherited.get(draft.owner)
    members = set(inherited.members) if inherited is not None else set[str]()
    called = self_mentions(item.upstream) - self_mentions(item.base) - self_mentions(draft.text) - members
    names = [f"{draft.owner}.{name}" for name in sorted(called)]
    helpers = [textwrap.dedent(side.new[name]).strip("\n") for name in names if name in side.new and name not in have]
    return replace(item, upstream="\n\n".join([item.upstream, *helpers]))
