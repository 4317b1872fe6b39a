"""The merge cases of ``fixtures/merge``, and what several tests of merges have in common."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from runner_sync.merge import (
    FOLLOW,
    PORT,
    RECORD,
    Merged,
    Reason,
    merge,
)
from runner_sync.model import Triple

CASES = Path(__file__).parent / "fixtures" / "merge"
GAPS = CASES / "known-gaps"

POLICIES = {"follow": FOLLOW, "record": RECORD, "port": PORT}


@dataclass(frozen=True)
class Case:
    """One folder."""

    triple: Triple
    policy: str = "follow"
    heritage: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    pinned: list[str] = field(default_factory=list)
    veto: str = ""
    reviews: list[str] = field(default_factory=list)

    def run(self, triple: Triple | None = None) -> Merged:
        def refuse(canon: str) -> Reason | None:
            return Reason("uses refused code", (self.veto,)) if self.veto in canon else None

        return merge(
            triple or self.triple,
            policy=POLICIES[self.policy],
            heritage=frozenset(self.heritage),
            versions=frozenset(self.heritage),
            veto=refuse if self.veto else None,
            foreign=frozenset(self.foreign),
            pinned=frozenset(self.pinned),
        )


def read_case(folder: Path) -> Case:
    settings = folder / "case.toml"
    options = tomllib.loads(settings.read_text("utf-8")) if settings.exists() else {}
    return Case(
        Triple(*((folder / f"{side}.py").read_text("utf-8") for side in ("base", "omni", "upstream"))), **options
    )


def folders(root: Path) -> list[str]:
    return sorted(path.parent.name for path in root.glob("*/base.py"))


def kinds(result: Merged) -> list[str]:
    """What each question of a merge is about."""
    return [decision.reason.kind for decision in result.decisions]
