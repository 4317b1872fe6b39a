"""Asks whether NPU still needs an override of a method of its GPU twin that lost its device code in this upgrade.

Comes in: drafts, a ``ModuleJob`` and the GPU side. Goes out: the drafts with questions. May touch: nothing.

The NPU class inherits from its twin and overrides the method for the sake of device names. Since vllm-omni 0.22.0, for
example, `_talker_mtp_forward` asks the platform for them::

    twin, base   with set_forward_context(rows)                        override   with set_ascend_forward_context(rows)
    twin, new    with current_omni_platform.set_forward_context(rows)
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.confidence import CONTESTED
from runner_sync.fitting.members import find_refused_word, is_port
from runner_sync.listing import at_most
from runner_sync.texts.member_text import canonical, is_same
from runner_sync.thresholds import NAMED
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide, mentions_device
from runner_sync.upgrade.from_gpu.twin.readings import translate_units
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, ask


def ask_about_freed(drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> list[Draft]:
    """Ask about each override of which most statements are its twin's, and quote what differs."""
    return [_ask(draft, job, side) if _is_freed(draft, job, side) else draft for draft in drafts]


def _is_freed(draft: Draft, job: ModuleJob, side: GpuSide) -> bool:
    """Whether a draft overrides a twin's method that needed a translation at its base and needs none now."""
    inherited = job.hierarchy.of(draft.owner)
    twin = job.profile.gpu_name(draft.owner) if draft.owner else ""
    if not draft.chosen or draft.removed or twin not in inherited.classes or draft.name not in side.bases:
        return False
    name, plain = side.as_written.get(draft.name, ("", ""))
    if not is_port(draft.text, plain) or is_same(draft.text, plain):
        return False
    if not is_same(inherited.members.get(draft.member) or "", plain):
        return False
    base = side.bases[draft.name].side
    was = base.units[name]
    needed_one = canonical(was) != canonical(translate_units(job, base)[draft.name])
    needs_one = canonical(plain) != canonical(side.new[draft.name]) or mentions_device(plain, job.profile)
    return needed_one and not needs_one and not find_refused_word(job.refused, plain)


def _ask(draft: Draft, job: ModuleJob, side: GpuSide) -> Draft:
    plain = side.as_written[draft.name][1]
    own, twin = canonical(draft.text), canonical(plain)
    differing = (
        ("only here", [canon for canon in own if canon not in twin]),
        ("only there", [canon for canon in twin if canon not in own]),
    )
    ends = [f"; {where}: {at_most(NAMED, [f'`{canon}`' for canon in canons])}" for where, canons in differing if canons]
    ends = ends or ["; only the order or nesting of its statements differs"]
    reason = (
        f"the GPU runner's {draft.member}, which the class would inherit, has no device code since this upgrade, so "
        f"NPU may not need this override any more{''.join(ends)}"
    )
    shown = Shown(omni=draft.before, upstream=plain, chosen=draft.text)
    return ask(draft, job.path, reason=reason, confidence=CONTESTED, shown=shown, from_gpu=True)
