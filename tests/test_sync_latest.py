"""``--ascend-version latest``: the newest release on the index, as a number."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_samples import replace_sync
from conftest import isolate_index
from sources_samples import FakeIndex, serve

from runner_sync import cli
from runner_sync.errors import InputError
from runner_sync.sources import cache
from runner_sync.sync.latest import name_latest
from runner_sync.sync.options import CheckOptions, TreeOptions
from runner_sync.sync.upgrade_options import UpgradeOptions

LATEST = TreeOptions(version="latest")


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeIndex]:
    fake = FakeIndex()
    for version in ("0.9.0", "0.14.0rc1", "0.13.0", "0.15.0"):
        fake.add("vllm-ascend", f"vllm_ascend-{version}.tar.gz", b"")
        fake.add("vllm", f"vllm-{version}.tar.gz", b"")
    fake.add("vllm-omni", "vllm_omni-0.14.0-py3-none-any.whl", b"")
    fake.yanked.add("vllm_ascend-0.15.0.tar.gz")
    server = serve(fake)
    isolate_index(monkeypatch, fake.url, tmp_path / "cache")
    yield fake
    server.shutdown()
    server.server_close()


def test_latest_is_the_newest_release_that_is_not_yanked_candidates_included(index: FakeIndex) -> None:
    named = name_latest(UpgradeOptions(omni=LATEST, ascend=LATEST, vllm=LATEST))
    assert [tree.version for tree in (named.omni, named.ascend, named.vllm)] == ["0.14.0", "0.14.0rc1", "0.15.0"]
    assert [path for path, _ in index.requests] == ["/simple/vllm-omni/", "/simple/vllm-ascend/", "/simple/vllm/"]


def test_other_versions_stay_and_ask_no_index(index: FakeIndex) -> None:
    options = CheckOptions(ascend=TreeOptions(version="0.13.0"), vllm=TreeOptions(path=Path("latest")))
    assert name_latest(options) == options
    assert index.requests == []


def test_offline_it_is_the_newest_in_the_cache(index: FakeIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNNER_SYNC_OFFLINE", "1")
    with pytest.raises(InputError, match=r"none is the latest: unset RUNNER_SYNC_OFFLINE or give .* --ascend-path\."):
        name_latest(CheckOptions(ascend=LATEST))
    digest = hashlib.sha256(index.url.encode()).hexdigest()[:12]
    cache.store("release", f"vllm-ascend/0.13.0/{digest}", b"")
    assert name_latest(CheckOptions(ascend=LATEST)).ascend.version == "0.13.0"


@pytest.mark.usefixtures("index")
@pytest.mark.parametrize("command", ["upgrade", "lock", "check", "verify", "blocks"])
def test_a_command_gets_the_number_and_says_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    sync = replace_sync(monkeypatch)
    assert cli.run([command, "--ascend-version", "latest", "--vllm-version", "0.13.0"]) == 0
    options = sync.asked[command][0]
    assert (options.ascend.version, options.vllm.version) == ("0.14.0rc1", "0.13.0")
    err = capsys.readouterr().err
    assert "--ascend-version latest is 0.14.0rc1.\n" in err
    assert err.count(" is 0.1") == 1
    if command == "upgrade":
        assert "verify --omni-path omni --ascend-version 0.14.0rc1" in err
