"""The line: sources → units → lineage → merge → rewrites → verify → render → write, as functions per command.

Comes in: option values. Goes out: ``Upgrade`` and ``Report`` values. May touch: what the rooms touch; only ``apply``
writes, through ``write``.
"""

from __future__ import annotations

from runner_sync.sync.commands import apply, lock, upgrade
from runner_sync.sync.options import CheckOptions, ReplayOptions, TreeOptions, UpgradeOptions
from runner_sync.sync.planning import Upgrade
from runner_sync.sync.replaying import replay

__all__ = [
    "CheckOptions",
    "ReplayOptions",
    "TreeOptions",
    "Upgrade",
    "UpgradeOptions",
    "apply",
    "lock",
    "replay",
    "upgrade",
]
