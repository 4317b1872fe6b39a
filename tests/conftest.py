"""Fixtures that every room's tests may use: releases of the corpus, and a package index without network."""

from __future__ import annotations

import gc
import os
import socket
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from sync_samples import Trees, stay_at_home

from runner_sync.errors import InputError
from runner_sync.model import PACKAGES, Project
from runner_sync.sources import open_release
from runner_sync.trees import Tree

# The benchmarks are no part of the package; behind everything installed, so that what is tested is what was installed.
sys.path.append(str(Path(__file__).parents[1]))

CorpusRelease = Callable[[Project, str], Tree]

ENVIRONMENT = (
    "COLUMNS",
    "FORCE_COLOR",
    "GITHUB_ACTIONS",
    "GITHUB_STEP_SUMMARY",
    "NO_COLOR",
    "VLLM_ASCEND_PATH",
    "VLLM_PATH",
)

PINS = tomllib.loads((Path(__file__).parent / "releases.toml").read_text("utf-8"))


def pytest_collection_finish() -> None:
    """Leave modules and the collected tests out of garbage collection: they live as long as the tests do."""
    _keep_what_lives_on()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item) -> None:
    """Leave the cached texts and trees of releases out of it, too."""
    if item.get_closest_marker("corpus"):
        _keep_what_lives_on()


def _keep_what_lives_on() -> None:
    """Hide all present objects from the garbage collector: an upgrade collects twice, and would visit each of them."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache folder for one test, empty at first."""
    monkeypatch.setenv("RUNNER_SYNC_CACHE", str(tmp_path / "cache"))


@pytest.fixture(autouse=True)
def plain_environment(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the terminal, the CI or the user's shell says about output and trees is not what a test is about.

    Only tests marked ``corpus`` may ask the package index. New repositories get no sample hooks, which are more files
    than most tests have.
    """
    if request.node.get_closest_marker("corpus") is None:
        monkeypatch.setenv("RUNNER_SYNC_OFFLINE", "1")
    for name in ENVIRONMENT:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("GIT_TEMPLATE_DIR", "")


@pytest.fixture(scope="session")
def corpus_release() -> CorpusRelease:
    """Open a release by version and the hash of ``releases.toml``, with all its package's files at hand; for tests
    marked ``corpus``. The engine finds what was opened here in the cache.

    What cannot be fetched fails the test under CI, where the network is part of the promise, and skips it elsewhere.
    """
    opened: dict[tuple[Project, str], Tree] = {}

    def open_once(project: Project, version: str) -> Tree:
        key = project, version
        opened[key] = opened.get(key) or open_pinned(project, version)
        return opened[key]

    return open_once


def open_pinned(project: Project, version: str) -> Tree:
    """What ``corpus_release`` does for a release that no test has opened yet."""
    pin = PINS[project].get(version)
    if pin is None:
        pytest.fail(f"{project} {version} has no hash in tests/releases.toml")
    try:
        return open_release(project, version, needed=(PACKAGES[project], "PKG-INFO"), sha256=pin)
    except InputError as error:
        refuse = pytest.fail if os.environ.get("CI") else pytest.skip
        refuse(str(error))


@pytest.fixture
def closed_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No network: pip's index is a port nobody listens on, and the cache is empty."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    isolate_index(monkeypatch, f"http://127.0.0.1:{port}/simple/", tmp_path / "cache")


def isolate_index(monkeypatch: pytest.MonkeyPatch, url: str, cache: Path) -> None:
    """Point pip's configuration at ``url`` alone, and the cache at a folder of the test's own."""
    for name in list(os.environ):
        if name.startswith("PIP_") or name.lower().endswith("_proxy") or name == "RUNNER_SYNC_OFFLINE":
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", url)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("RUNNER_SYNC_CACHE", str(cache))


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    """Small trees, without network and without trees that the environment names."""
    stay_at_home(monkeypatch, tmp_path)
    return Trees(tmp_path)


@pytest.fixture
def locked(trees: Trees) -> Trees:
    """The same with a lock that says: as on the old vllm-ascend."""
    trees.write_lock()
    return trees
