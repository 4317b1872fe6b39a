"""Describe all that a run reports.

Goes out: frozen dataclasses. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner_sync.model.findings import Finding
    from runner_sync.model.replays import ReplayHunk, ReplayRow
    from runner_sync.model.reviews import ReviewItem
    from runner_sync.model.rules import RuleText
    from runner_sync.model.trees import FileChange, Source
    from runner_sync.model.units import Block, UnitReport
    from runner_sync.model.words import Project, Severity


@dataclass(frozen=True, slots=True)
class Report:
    """All that a run reports about the runners of a ``platform``, which follow the project ``followed``.

    ``profile`` contains the options that select the same profile in the next command, ``place`` those that name the
    omni tree, and ``fitted`` those that name the trees that the runners fitted before an upgrade. ``advice`` is a
    sentence for people. Findings below ``fail_on`` are reported, but do not change the exit code. Paths are relative
    to the omni tree. ``folder`` is the tree's path in the repository (``""`` or ``some/folder/``); services that show
    findings in repository files need both.
    """

    command: str
    inputs: tuple[Source, ...] = ()
    units: tuple[UnitReport, ...] = ()
    reviews: tuple[ReviewItem, ...] = ()
    findings: tuple[Finding, ...] = ()
    changes: tuple[FileChange, ...] = ()
    blocks: tuple[Block, ...] = ()
    notes: tuple[str, ...] = ()
    advice: str = ""
    summary: dict[str, int | str] = field(default_factory=dict)
    replay: tuple[ReplayRow, ...] = ()
    replay_hunks: tuple[ReplayHunk, ...] = ()
    rules: tuple[RuleText, ...] = ()
    folder: str = ""
    platform: str = "NPU"
    followed: Project = "vllm-ascend"
    profile: str = ""
    place: str = ""
    fitted: str = ""
    fail_on: Severity = "info"
