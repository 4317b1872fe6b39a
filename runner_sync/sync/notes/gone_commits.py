"""Note commits that the lock names and the checkout does not have, as after a squash merge.

Comes in: what the lock records, the trees. Goes out: notes. May touch: git, by asking for these commits once.
"""

from __future__ import annotations

from collections.abc import Iterable

from runner_sync.model import BaseRef
from runner_sync.sync.trees import inputs
from runner_sync.trees import InGit


def make_note(references: Iterable[BaseRef | None], given: inputs.Inputs) -> list[str]:
    """Note the commits of vllm-omni in ``references`` that the checkout lacks; nothing for a shallow clone, whose
    remedy is another one."""
    refs = sorted({one.ref for one in references if one is not None and one.project == "vllm-omni"})
    commits = [ref for ref in refs if inputs.is_commit(ref)]
    if not commits or not isinstance(given.omni, InGit):
        return []
    gone = given.omni.list_missing(commits)
    if not gone or given.omni.is_shallow():
        return []
    named = f"{given.lock_file} names vllm-omni {', '.join(gone)}, which this clone does not have (a squash merge?)"
    return [f"{named}: fetch it, or name the commit that took its place with `runner-sync lock --omni-base REV`"]
