"""A ``sync`` that only remembers what it was asked for, and a command line to ask it with."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import runner_sync
from runner_sync.model import (
    BaseRef,
    FileChange,
    Finding,
    Hunk,
    ReplayRow,
    Report,
    ReviewItem,
    RuleText,
    Source,
    UnitReport,
)

RUNNER = "vllm_omni/platforms/npu/worker/npu_model_runner.py"
SOURCES = (
    Source("vllm-omni", "path", "."),
    Source("vllm-ascend", "release", "vllm_ascend-0.30.0rc2.tar.gz", version="0.30.0rc2"),
)
UNIT = UnitReport(
    "OmniNPUModelRunner._dummy_run",
    RUNNER,
    "copy",
    "updated",
    base=BaseRef("vllm-ascend", "0.28.0rc1", "vllm_ascend/worker/model_runner_v1.py", "X._dummy_run", "inferred", 0.9),
    taken=3,
    ported=2,
    hunks=(Hunk(2, 2, "upstream", "vllm-ascend 0.28.0rc1 → 0.30.0rc2"),),
)
CHANGE = FileChange(RUNNER, "a = 1\nb = 2\n", "a = 1\nb = 'é'\n")
LOCK = FileChange("runner-sync.lock", None, "format_version = 1\n")
REVIEW = ReviewItem("R1", "OmniNPUModelRunner._dummy_run", RUNNER, 2, 2, "both changed it", 0.5, "b", "o", "u", "o")
FINDING = Finding("RS301", "error", RUNNER, 1, 1, "OmniNPUModelRunner._dummy_run", "x", "x is gone")
PLAN = Report("upgrade", inputs=SOURCES, units=(UNIT,), changes=(CHANGE,))


@dataclass(frozen=True)
class Upgrade:
    """Stands for ``runner_sync.sync.Upgrade``, which a test compares it with."""

    report: Report
    changes: tuple[FileChange, ...]
    root: Path | None
    lock: FileChange | None = None
    patch: tuple[FileChange, ...] = ()


@dataclass
class FakeOpen:
    """Review items of which exactly those are open that somebody asks for."""

    items: tuple[str, ...] = ()

    def get(self, beginning: str) -> str:
        self.items += (beginning,)
        return beginning


@dataclass
class FakeSync:
    """What each command answers with, and what it was asked. ``before`` runs first in every command."""

    report: Report = PLAN
    root: Path | None = Path("omni")
    lock: FileChange | None = LOCK
    before: Callable[[], None] = lambda: None
    during_apply: Callable[[], None] = lambda: None
    behind_apply: Callable[[], None] = lambda: None
    refuse: Callable[[], None] = lambda: None
    asked: dict[str, Any] = field(default_factory=dict)

    def module(self) -> ModuleType:
        """This as ``runner_sync.sync``, without what the real one imports; ``options`` is the real one's."""
        made = ModuleType("runner_sync.sync")
        made.__path__ = [str(Path(runner_sync.__file__).parent / "sync")]
        for name in ("upgrade", "lock", "hoist"):
            setattr(made, name, self.plan(name))
        for name in ("check", "verify", "blocks", "explain", "explain_item"):
            setattr(made, name, self.look(name))
        for name in ("apply", "find_open", "kept_files", "require_place", "rules", "replay", "settle"):
            setattr(made, name, getattr(self, name))
        return made

    def plan(self, name: str) -> Callable[..., Upgrade]:
        def run(options: Any, *rest: Any) -> Upgrade:
            self.before()
            self.asked[name] = (options, *rest)
            changes = self.report.changes
            patch = (*changes, *([self.lock] if self.lock is not None else []))
            return Upgrade(replace(self.report, command=name), changes, self.root, self.lock, patch)

        return run

    def look(self, name: str) -> Callable[..., Report]:
        def run(options: Any, **rest: Any) -> Report:
            self.before()
            self.asked[name] = (options, *rest.values())
            return replace(self.report, command=name.partition("_")[0])

        return run

    def apply(
        self,
        upgrade: Upgrade,
        options: Any,
        *,
        prepare: Callable[[tuple[str, ...]], None],
        tell: Callable[[tuple[str, ...]], None],
    ) -> tuple[str, ...]:
        paths = (RUNNER, "runner-sync.lock")
        prepare(paths)
        self.asked["apply"] = (upgrade, options)
        self.during_apply()
        tell(paths)
        self.behind_apply()
        return paths

    def find_open(self, options: Any) -> FakeOpen:
        self.before()
        self.asked["settle"] = (options,)
        return FakeOpen()

    def settle(self, found: FakeOpen, decisions: list[Any], *, tell: Callable[[tuple[str, ...]], None]) -> Any:
        paths = (RUNNER,) if decisions and found.items else ()
        tell(paths)
        return paths

    def kept_files(self, options: Any) -> list[Path]:
        self.asked["kept_files"] = (options,)
        return []

    def require_place(self, options: Any, *, is_lock: bool = False) -> None:
        self.asked["require_place"] = (options, is_lock)
        self.refuse()

    def rules(self, code: str | None) -> Report:
        known = {"RS203": RuleText("RS203", "missing-hook", "A hook is missing.", "Why and how.")}
        self.asked["rules"] = (code,)
        return Report("rule", rules=tuple(text for name, text in known.items() if code is None or code.upper() == name))

    def replay(self, options: Any) -> Report:
        self.before()
        self.asked["replay"] = (options,)
        row = ReplayRow("P1", 10, 4, 0.4, 0.3, 0.8, 0.9, 0, True, 1, 2.0)
        return replace(self.report, command="replay", changes=(), units=(), replay=self.report.replay or (row,))


def replace_sync(monkeypatch: pytest.MonkeyPatch) -> FakeSync:
    """A ``FakeSync`` in place of ``runner_sync.sync`` for one test."""
    fake = FakeSync()
    module = fake.module()
    monkeypatch.setitem(sys.modules, "runner_sync.sync", module)
    monkeypatch.setattr(runner_sync, "sync", module, raising=False)
    for kind, names in {
        "options": ("CheckOptions", "TreeOptions"),
        "upgrade_options": ("ReplayOptions", "UpgradeOptions"),
    }.items():
        options = import_module(f"runner_sync.sync.{kind}")
        for name in names:
            setattr(module, name, getattr(options, name))
    return fake
