"""``lock`` with a vllm-ascend release that is older than the one the runners are on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pytest

from runner_sync.config import Config
from runner_sync.errors import InputError
from runner_sync.lock import Lock
from runner_sync.model import BaseRef, How, Project, Source, UnitReport
from runner_sync.sync.locks import later_copies
from runner_sync.sync.options import Progress, silent
from runner_sync.sync.trees import inputs
from runner_sync.upgrade import ModuleResult

PATH = "vllm_ascend/worker/model_runner_v1.py"
STEPS = ["a = first(rows)", "b = second(a)", "c = third(b)", "d = fourth(c)"]


@dataclass(frozen=True)
class Release:
    """vllm-ascend with one method of so many steps."""

    version: str
    steps: int

    @property
    def source(self) -> Source:
        return Source("vllm-ascend", "release", f"vllm_ascend-{self.version}.tar.gz", self.version)

    def read(self, path: str) -> str | None:
        return f"class NPUModelRunner:\n{run(self.steps)}" if path == PATH else None

    def paths(self, prefix: str = "") -> Iterable[str]:
        return [path for path in [PATH] if path.startswith(prefix)]


def run(steps: int) -> str:
    return (
        "    def run(self, rows):\n" + "".join(f"        {step}\n" for step in STEPS[:steps]) + "        return rows\n"
    )


def releases(*versions: tuple[str, int]) -> dict[str, Release]:
    return {version: Release(version, steps) for version, steps in versions}


def notes(
    monkeypatch: pytest.MonkeyPatch, known: dict[str, Release], *, steps: int, how: How = "inferred"
) -> tuple[str, ...]:
    """What a lock with the first of the ``known`` releases says of a copy that has so many ``steps``."""
    return notes_and_opened(monkeypatch, known, steps=steps, how=how)[0]


def notes_and_opened(
    monkeypatch: pytest.MonkeyPatch, known: dict[str, Release], *, steps: int, how: How = "inferred"
) -> tuple[tuple[str, ...], list[str]]:
    """The ``notes``, and the releases that were opened for them."""
    given, *_ = known
    opened: list[str] = []

    def open_at(_project: Project, ref: str, _like: object, _progress: Progress) -> Release:
        opened.append(ref)
        if ref not in known:
            raise InputError("there is no such release.")
        return known[ref]

    monkeypatch.setattr("runner_sync.sources.releases", lambda _project, **_: ["0.1.0", *known, "0.9.0"])
    monkeypatch.setattr("runner_sync.sync.trees.inputs.open_at", open_at)
    base = BaseRef("vllm-ascend", given, PATH, "NPUModelRunner.run", how, 0.9)
    unit = UnitReport("NPURunner.run", "npu.py", "copy", "unchanged", base)
    text = f"class NPURunner:\n{run(steps)}"
    trees = inputs.Inputs(known[given], None, Config(), Lock(), ascend=known[given])
    return later_copies.make_note([ModuleResult("npu.py", text, text, (unit,))], trees, silent), opened


def test_copies_of_a_later_release_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock would name the older one, and the next upgrade takes what came since for omni's own."""
    (said,) = notes(monkeypatch, releases(("0.2.0", 2), ("0.2.1", 2), ("0.3.0", 4)), steps=4)
    assert said.startswith(
        "1 copy is more like vllm-ascend 0.3.0 than any release up to 0.2.0 (NPURunner.run): lock with"
    )


@pytest.mark.parametrize(
    ("steps", "next_steps", "how"), [(2, 4, "inferred"), (2, 2, "inferred"), (4, 2, "inferred"), (4, 4, "lock")]
)
def test_nothing_is_told_of_copies_that_fit(
    monkeypatch: pytest.MonkeyPatch, steps: int, next_steps: int, how: How
) -> None:
    """Nor of what the lock records, nor where there is no later release that differs."""
    assert notes(monkeypatch, releases(("0.2.0", 2), ("0.3.0", next_steps)), steps=steps, how=how) == ()


@pytest.mark.parametrize(
    ("how", "opened"),
    [("inferred", ["0.2.1", "0.3.0", "0.2.0"]), ("composite", ["0.2.1", "0.3.0", "0.2.0"]), ("lock", [])],
)
def test_releases_are_opened_up_to_the_first_that_differs_and_only_for_copies(
    monkeypatch: pytest.MonkeyPatch, how: How, opened: list[str]
) -> None:
    """A run over what the lock records had opened each later release on the index."""
    known = releases(("0.2.0", 2), ("0.2.1", 2), ("0.3.0", 4), ("0.4.0", 4))
    assert notes_and_opened(monkeypatch, known, steps=2, how=how) == ((), opened)
