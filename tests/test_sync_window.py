"""How far back the base of a copy is looked for among releases."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from runner_sync import sources
from runner_sync.config import Config
from runner_sync.lock import Lock
from runner_sync.model import Project, Source
from runner_sync.profile import GPU, RunnerModule
from runner_sync.sync.synced import window
from runner_sync.sync.synced.bases import Bases
from runner_sync.sync.synced.revisions import Revisions
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.runners import DerivedModule
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.upgrade import ModuleRevision

RELEASES = [f"0.{minor}.0" for minor in range(5, 31)]
NEXT_MAJOR = [*RELEASES, "1.0.0", "1.0.1", "1.1.0", "1.2.0rc1"]


@pytest.mark.parametrize(
    ("newest", "behind", "oldest"),
    [
        ("0.28.0", None, "0.20.0"),
        ("0.28.0", "0.25.0rc1", "0.17.0"),
        ("0.28.0", "0.28.0", "0.20.0"),
        # What is newer than the release that it follows may still have been copied from long before that release.
        ("0.28.0", "0.30.0", "0.20.0"),
    ],
)
def test_the_window_ends_behind_the_version_of_what_follows(
    monkeypatch: pytest.MonkeyPatch, newest: str, behind: str | None, oldest: str
) -> None:
    monkeypatch.setattr(sources, "releases", lambda _project, **_options: RELEASES)
    found = window.find_earlier_releases("vllm-ascend", newest, lambda *_: None, behind=behind)
    assert (found[0], found[-1]) == (oldest, newest)


@pytest.mark.parametrize(
    ("newest", "behind", "oldest"),
    [
        # 1.0 is one minor version behind 0.30.
        ("1.0.0", None, "0.23.0"),
        ("1.0.1", None, "0.23.0"),
        ("1.1.0", None, "0.24.0"),
        ("1.2.0rc1", "1.1.0", "0.24.0"),
        ("1.1.0", "0.30.0", "0.22.0"),
        ("1.0.0", "0.31.0", "0.23.0"),
    ],
)
def test_the_window_goes_on_behind_a_new_major_version(
    monkeypatch: pytest.MonkeyPatch, newest: str, behind: str | None, oldest: str
) -> None:
    monkeypatch.setattr(sources, "releases", lambda _project, **_options: NEXT_MAJOR)
    found = window.find_earlier_releases("vllm-ascend", newest, lambda *_: None, behind=behind)
    assert (found[0], found[-1]) == (oldest, newest)


def test_of_gaps_between_minor_versions_none_is_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every second one was left out: eight versions back are four releases."""
    monkeypatch.setattr(sources, "releases", lambda _project, **_options: RELEASES[::2])
    assert window.find_earlier_releases("vllm-omni", "0.21.0", lambda *_: None) == [
        "0.13.0",
        "0.15.0",
        "0.17.0",
        "0.19.0",
        "0.21.0",
    ]


LINES = [f"        self.step_{number}(rows)" for number in range(60)]


def side(minor: int) -> ModuleRevision:
    """vLLM's runner at 0.minor.0: each release exchanges one statement of a long method."""
    lines = [line.replace("(rows)", "(rows, now)") if number < minor else line for number, line in enumerate(LINES)]
    return ModuleRevision(
        f"0.{minor}.0", "\n".join(["class GPUModelRunner:", "    def run(self, rows):", *lines, ""]), "v.py"
    )


def copy_of(minor: int, *, lines: int = 60) -> list[tuple[RunnerModule, str, str]]:
    text = side(minor).text.split("\n")[1 : lines + 2]
    return [(GPU.modules[0], "OmniGPUModelRunner.run", "\n".join(text) + "\n")]


@pytest.mark.parametrize(
    ("units", "is_told"),
    [
        pytest.param(copy_of(10), True, id="of the oldest that was looked at"),
        pytest.param(copy_of(7), True, id="of an older one"),
        pytest.param(copy_of(12), False, id="of a later one"),
        pytest.param(copy_of(7, lines=12), False, id="too short to tell"),
    ],
)
@pytest.mark.usefixtures("own_cache")
def test_a_copy_that_is_closest_to_the_oldest_release_may_be_older(
    units: list[tuple[RunnerModule, str, str]], is_told: bool
) -> None:
    assert bool(window.find_copies_at_the_end(units, [side(minor) for minor in range(10, 15)])) == is_told


@pytest.fixture
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RUNNER_SYNC_CACHE", str(tmp_path))


@pytest.mark.parametrize(
    ("copied", "oldest"),
    [
        pytest.param(29, 22, id="within the window"),
        pytest.param(20, 18, id="one step further"),
        pytest.param(13, 10, id="three steps further"),
        pytest.param(3, 5, id="older than all there are"),
    ],
)
@pytest.mark.usefixtures("own_cache")
def test_the_window_grows_until_it_holds_what_was_copied(
    monkeypatch: pytest.MonkeyPatch, copied: int, oldest: int
) -> None:
    """Methods of the GPU runners of 0.32.0rc1 are as old as vLLM 0.19, and were taken for edited copies of 0.24."""
    text = side(copied).text.replace("GPUModelRunner", "OmniGPUModelRunner(GPUModelRunner)")
    module = GPU.modules[0]

    def at(_self: Revisions, _project: Project, ref: str, _path: str) -> ModuleRevision:
        return side(int(ref.split(".")[1]))

    monkeypatch.setattr(sources, "releases", lambda _project, **_options: RELEASES)
    monkeypatch.setattr(Revisions, "at", at)
    vllm = Text(Source("vllm", "release", "vllm-0.30.0.tar.gz", "0.30.0"), side(30).text)
    omni = Text(Source("vllm-omni", "release", "vllm_omni-0.30.0.whl", "0.30.0"), text)
    given = inputs.Inputs(omni, None, Config(profile=GPU), Lock(), vllm=vllm)
    found = DerivedModule(module, module.paths[0], text)
    bases = Bases(UpgradeOptions(profile="gpu"), given, [found]).find_upstream_bases(found)
    assert (bases[0].ref, bases[-1].ref) == (f"0.{oldest}.0", "0.30.0")


@dataclass(frozen=True)
class Text:
    """A tree that has one text in every file."""

    source: Source
    text: str

    def read(self, _path: str) -> str | None:
        return self.text

    def paths(self, _prefix: str = "") -> list[str]:
        return []
