"""The values that rooms exchange.

Comes in and goes out: ``str``, numbers and frozen dataclasses. May touch: the standard library.

Vocabulary (standard three-way-merge terms, never "ours" and "theirs"): *base* is the revision a copy was taken from,
*omni* the runner file as it is, *upstream* the revision to follow. Line numbers are 1-based and inclusive. All texts
have LF newlines; ``write`` restores the newlines of the file.

A part is imported at the first use of one of its names: Python takes about a millisecond to make each dataclass, and
``check`` needs few of them.

- ``words``: projects, kinds and outcomes; ``trees``, ``revisions`` and ``references``: what is read;
- ``units`` and ``reviews``: what an upgrade did, and left to a person; ``rules`` and ``findings``: what checks found;
- ``report``: all that a run says; ``replays``: how a replayed upgrade did.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner_sync.doors import part_loader
from runner_sync.model.words import (
    PACKAGES,
    TITLES,
    How,
    Lineage,
    Outcome,
    Project,
    Provenance,
    Severity,
    Side,
    UnitKind,
)

if TYPE_CHECKING:
    from runner_sync.model.findings import Finding
    from runner_sync.model.references import BaseRef
    from runner_sync.model.replays import RATIOS, ReplayHunk, ReplayRow, mean_ratios
    from runner_sync.model.report import Report
    from runner_sync.model.reviews import ReviewItem
    from runner_sync.model.revisions import Revision
    from runner_sync.model.rules import RuleText
    from runner_sync.model.trees import FileChange, Source
    from runner_sync.model.units import Block, Hunk, Triple, Unit, UnitReport

__all__ = [
    "PACKAGES",
    "RATIOS",
    "TITLES",
    "BaseRef",
    "Block",
    "FileChange",
    "Finding",
    "How",
    "Hunk",
    "Lineage",
    "Outcome",
    "Project",
    "Provenance",
    "ReplayHunk",
    "ReplayRow",
    "Report",
    "ReviewItem",
    "Revision",
    "RuleText",
    "Severity",
    "Side",
    "Source",
    "Triple",
    "Unit",
    "UnitKind",
    "UnitReport",
    "mean_ratios",
]

_MODULES = {
    "findings": "Finding",
    "references": "BaseRef",
    "replays": "RATIOS ReplayHunk ReplayRow mean_ratios",
    "report": "Report",
    "reviews": "ReviewItem",
    "revisions": "Revision",
    "rules": "RuleText",
    "trees": "FileChange Source",
    "units": "Block Hunk Triple Unit UnitReport",
}

__getattr__ = part_loader(__name__, _MODULES)
