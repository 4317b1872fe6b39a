"""Releases from a package index: a fake one on this machine, and a few real files of the corpus."""

from __future__ import annotations

import base64
import io
import json
import socket
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import requests
from conftest import CorpusRelease, isolate_index, open_pinned
from sources_samples import ASCEND, OMNI, RUNNER, FakeIndex, make_sdist, make_wheel, make_zip, serve, sha256

from runner_sync.errors import InputError
from runner_sync.model import Project
from runner_sync.sources import cache, declared_vllm, metadata, open_release, releases
from runner_sync.sources.archive import ArchiveTree
from runner_sync.sources.pip_config import IndexSettings
from runner_sync.sources.session import IndexSession
from runner_sync.sources.wheel import WheelTree

WHEEL = "vllm_omni-0.14.0-py3-none-any.whl"
SDIST = "vllm_ascend-0.14.0rc1.tar.gz"
ASCEND_RUNNER = "vllm_ascend/worker/model_runner_v1.py"


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeIndex]:
    fake = FakeIndex()
    fake.add("vllm-omni", WHEEL, make_wheel())
    fake.add("vllm-ascend", SDIST, make_sdist())
    server = serve(fake)
    isolate_index(monkeypatch, fake.url, tmp_path / "cache")
    monkeypatch.setattr("runner_sync.sources.transfer._PAUSE", 0.01)
    monkeypatch.setattr("runner_sync.sources.session._RETRY.backoff_factor", 0.01)
    yield fake
    server.shutdown()
    server.server_close()


def go_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNNER_SYNC_OFFLINE", "1")


def test_an_sdist_is_read_whole_and_keeps_only_what_is_needed(index: FakeIndex) -> None:
    tree = open_release("vllm-ascend", "0.14.0rc1")
    assert tree.paths() == sorted(name for name in ASCEND if name.startswith("vllm_ascend/"))
    assert tree.read(ASCEND_RUNNER) == ASCEND[ASCEND_RUNNER].decode()
    assert tree.read("tests/test_it.py") is None
    assert (tree.source.kind, tree.source.version, tree.source.ref) == ("release", "0.14.0rc1", "0.14.0rc1")
    assert declared_vllm(tree) == "0.14.1"
    assert [path for path, _ in index.requests] == ["/simple/vllm-ascend/", f"/files/{SDIST}"]


@pytest.mark.parametrize(("ranges", "kind"), [("all", WheelTree), ("front", WheelTree), ("none", ArchiveTree)])
@pytest.mark.parametrize("stored", [False, True])
def test_a_wheel_is_read_by_range_if_the_server_can(
    index: FakeIndex, ranges: str, kind: type[object], stored: bool
) -> None:
    index.ranges = ranges
    index.add("vllm-omni", WHEEL, make_wheel(stored=stored))
    tree = open_release("vllm-omni", "0.14.0")
    assert isinstance(tree, kind)
    assert tree.read(RUNNER) == OMNI[RUNNER].decode()
    assert tree.read("vllm_omni/config.yaml") is None
    assert tree.paths("vllm_omni/worker") == ["vllm_omni/worker/gpu_model_runner.py"]
    assert (metadata(tree) or "").startswith("Metadata-Version")
    assert declared_vllm(tree) == "0.14.0"


def test_members_are_fetched_when_read_and_only_once(index: FakeIndex) -> None:
    tree = open_release("vllm-omni", "0.14.0")
    before = len(index.requests)
    tree.read(RUNNER)
    assert len(index.requests) == before + 1
    tree.read(RUNNER)
    assert len(index.requests) == before + 1


def test_needed_files_that_lie_together_are_fetched_by_one_request(index: FakeIndex) -> None:
    open_release("vllm-omni", "0.14.0")
    before = len(index.requests)
    tree = open_release("vllm-omni", "0.14.0", needed=["vllm_omni"])
    ranges = [wanted for path, wanted in index.requests[before:] if path.startswith("/files")]
    assert len(ranges) == 1
    assert [tree.read(path) for path in tree.paths()] == [
        OMNI[path].decode() for path in sorted(OMNI) if path.endswith(".py")
    ]
    assert len(index.requests) == before + 2


def test_a_run_that_reads_on_gets_what_lies_beside_what_it_reads(index: FakeIndex) -> None:
    """A request takes a tenth of a second: 1,800 modules of vllm-omni, one by one, take three minutes."""
    extra = {f"vllm_omni/models/model_{number:02}.py": f"{number}\n".encode() for number in range(60)}
    index.add("vllm-omni", WHEEL, make_wheel(OMNI | extra))
    tree = open_release("vllm-omni", "0.14.0")
    tree.read(RUNNER)
    before = len(index.requests)
    assert [tree.read(path) for path in sorted(extra)] == [extra[path].decode() for path in sorted(extra)]
    assert len(index.requests) < before + 10


@pytest.mark.parametrize(("project", "version"), [("vllm-omni", "0.14.0"), ("vllm-ascend", "0.14.0rc1")])
def test_a_cached_release_needs_no_network(
    index: FakeIndex, monkeypatch: pytest.MonkeyPatch, project: Project, version: str
) -> None:
    texts = {path: tree.read(path) for tree in [open_release(project, version)] for path in tree.paths()}
    asked = len(index.requests)
    go_offline(monkeypatch)
    again = open_release(project, f"v{version.upper()}")
    assert {path: again.read(path) for path in again.paths()} == texts
    assert len(index.requests) == asked
    assert releases(project) == [version]


def test_a_cached_release_is_read_once_while_it_is_open(
    index: FakeIndex, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    open_release("vllm-ascend", "0.14.0rc1")
    opened = open_release("vllm-ascend", "0.14.0rc1")
    assert open_release("vllm-ascend", "0.14.0RC1") is opened
    monkeypatch.setenv("RUNNER_SYNC_CACHE", str(tmp_path / "another"))
    asked = len(index.requests)
    assert open_release("vllm-ascend", "0.14.0rc1") is not opened
    assert len(index.requests) > asked, "another cache folder has entries of its own"


def test_a_release_that_is_fetched_anew_is_read_anew(index: FakeIndex) -> None:
    open_release("vllm-ascend", "0.14.0rc1")
    before = open_release("vllm-ascend", "0.14.0rc1")
    index.add("vllm-ascend", SDIST, make_sdist({**ASCEND, ASCEND_RUNNER: b"import os\n"}))
    open_release("vllm-ascend", "0.14.0rc1", sha256=sha256(index.files["vllm-ascend"][SDIST]))
    now = open_release("vllm-ascend", "0.14.0rc1")
    assert (before.read(ASCEND_RUNNER), now.read(ASCEND_RUNNER)) == (ASCEND[ASCEND_RUNNER].decode(), "import os\n")


def test_offline_without_a_cached_release_names_the_remedy(index: FakeIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    go_offline(monkeypatch)
    with pytest.raises(
        InputError, match=r"not in the cache for the index at 127\.0\.0\.1:\d+, and RUNNER_SYNC_OFFLINE.*--ascend-path"
    ):
        open_release("vllm-ascend", "0.14.0rc1")
    assert releases("vllm-ascend") == []
    assert index.requests == []


@pytest.mark.usefixtures("index")
def test_a_member_never_read_before_cannot_be_had_offline(monkeypatch: pytest.MonkeyPatch) -> None:
    open_release("vllm-omni", "0.14.0").read(RUNNER)
    go_offline(monkeypatch)
    tree = open_release("vllm-omni", "0.14.0")
    assert tree.read(RUNNER) == OMNI[RUNNER].decode()
    assert tree.read("vllm_omni/none.py") is None
    with pytest.raises(InputError, match="RUNNER_SYNC_OFFLINE"):
        tree.read("vllm_omni/worker/gpu_model_runner.py")


@pytest.mark.parametrize(("variable", "outcome"), [("1", pytest.fail.Exception), ("", pytest.skip.Exception)])
@pytest.mark.usefixtures("closed_index")
def test_a_corpus_test_without_network_fails_under_ci_and_is_skipped_elsewhere(
    monkeypatch: pytest.MonkeyPatch, variable: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setenv("CI", variable)
    with pytest.raises(outcome, match="cannot read vllm-omni"):
        open_pinned("vllm-omni", "0.11.0rc1")


@pytest.mark.usefixtures("closed_index")
def test_no_network_is_one_sentence_with_the_remedy() -> None:
    with pytest.raises(InputError, match=r"127\.0\.0\.1.*no connection.*PIP_INDEX_URL.*--vllm-path") as caught:
        open_release("vllm", "0.20.0")
    assert "\n" not in str(caught.value)


def test_versions_are_sorted_by_number_without_yanked_ones(index: FakeIndex) -> None:
    for version in ("0.9.0", "0.14.0rc2", "0.100.0", "0.13.0"):
        index.add("vllm-omni", f"vllm_omni-{version}-py3-none-any.whl", b"")
    index.add("vllm-omni", "vllm_omni-0.14.0.zip.asc", b"")
    index.yanked = {"vllm_omni-0.13.0-py3-none-any.whl"}
    assert releases("vllm-omni") == ["0.9.0", "0.14.0rc2", "0.14.0", "0.100.0"]


def test_a_yanked_release_can_still_be_named(index: FakeIndex) -> None:
    index.yanked = {SDIST}
    assert open_release("vllm-ascend", "0.14.0rc1").read(ASCEND_RUNNER)


@pytest.mark.parametrize(
    ("project", "offered", "chosen"),
    [
        (
            "vllm-ascend",
            ["vllm_ascend-0.1-cp310-cp310-manylinux1_x86_64.whl", "vllm_ascend-0.1.tar.gz"],
            "vllm_ascend-0.1.tar.gz",
        ),
        ("vllm-omni", ["vllm_omni-0.1-py3-none-any.whl", "vllm_omni-0.1.tar.gz"], "vllm_omni-0.1-py3-none-any.whl"),
        ("vllm-omni", ["vllm_omni-0.1.tar.gz"], "vllm_omni-0.1.tar.gz"),
        (
            "vllm",
            ["vllm-0.1-cp38-abi3-manylinux2014_aarch64.whl", "vllm-0.1-cp38-abi3-manylinux1_x86_64.whl"],
            "vllm-0.1-cp38-abi3-manylinux1_x86_64.whl",
        ),
    ],
)
def test_the_preferred_kind_is_read_and_the_other_one_if_it_is_all_there_is(
    index: FakeIndex, project: Project, offered: list[str], chosen: str
) -> None:
    package = project.replace("-", "_")
    files = {f"{package}/__init__.py": b""}
    for name in offered:
        data = make_wheel(files) if name.endswith(".whl") else make_sdist(files, top=f"{package}-0.1")
        index.add(project, name, data)
    assert open_release(project, "0.1").source.location == chosen


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        ("0.99.0", ["0.9.1", "0.10.0"]),
        ("0.9.5", ["0.9.0", "0.9.1", "0.10.0"]),
        ("0.1", ["0.9.0"]),
    ],
)
def test_the_releases_around_an_unknown_one_are_named(index: FakeIndex, wanted: str, near: list[str]) -> None:
    for version in ("0.10.0", "0.9.0", "0.9.1"):
        index.add("vllm", f"vllm-{version}.tar.gz", make_sdist({"vllm/__init__.py": b""}, top=f"vllm-{version}"))
    with pytest.raises(InputError) as error:
        open_release("vllm", wanted)
    assert str(error.value).endswith(f"choose another, such as {', '.join(near)}.")


def test_an_unknown_version_names_near_ones(index: FakeIndex) -> None:
    with pytest.raises(InputError, match=r"no release 0\.14\.1.*0\.14\.0"):
        open_release("vllm-omni", "0.14.1")
    with pytest.raises(InputError, match="'latest' is no version"):
        open_release("vllm-omni", "latest")
    with pytest.raises(InputError, match="no release of vllm:"):
        open_release("vllm", "0.14.0")
    assert all(path.startswith("/simple/") for path, _ in index.requests)


@pytest.mark.parametrize(
    ("project", "version", "filename"), [("vllm-omni", "0.14.0", WHEEL), ("vllm-ascend", "0.14.0rc1", SDIST)]
)
def test_a_pin_is_compared_with_the_file_itself(
    index: FakeIndex, project: Project, version: str, filename: str
) -> None:
    right = sha256(index.files[project][filename])
    assert open_release(project, version, sha256=right).paths()
    with pytest.raises(InputError, match="expected SHA-256"):
        open_release(project, version, sha256="0" * 64)


def test_a_pin_is_not_met_by_a_wheel_that_was_only_read_by_range(index: FakeIndex) -> None:
    open_release("vllm-omni", "0.14.0")
    index.sent[WHEEL] = make_wheel({**OMNI, RUNNER: b"import os\n"})
    with pytest.raises(InputError, match="tampered"):
        open_release("vllm-omni", "0.14.0", sha256=sha256(index.files["vllm-omni"][WHEEL]))


def test_a_tampered_sdist_is_refused_and_not_cached(index: FakeIndex) -> None:
    index.sent[SDIST] = make_sdist({**ASCEND, ASCEND_RUNNER: b"import os\n"})
    with pytest.raises(InputError, match=r"vllm_ascend-0\.14\.0rc1\.tar\.gz is refused.*SHA-256.*tampered"):
        open_release("vllm-ascend", "0.14.0rc1")
    assert cache.list_keys("release") == []


@pytest.mark.parametrize("ranges", ["all", "none"])
def test_a_tampered_wheel_is_refused(index: FakeIndex, ranges: str) -> None:
    index.ranges = ranges
    good = make_wheel(stored=True)
    index.add("vllm-omni", WHEEL, good)
    index.sent[WHEEL] = good.replace(b"class OmniNPUModelRunner", b"class EvilNPUModelRunner")
    with pytest.raises(InputError, match="tampered"):
        open_release("vllm-omni", "0.14.0").read(RUNNER)
    assert cache.list_keys("member") == []


@pytest.mark.parametrize(("project", "version"), [("vllm-omni", "0.14.0"), ("vllm-ascend", "0.14.0rc1")])
def test_a_file_larger_than_any_release_is_refused(
    index: FakeIndex, monkeypatch: pytest.MonkeyPatch, project: Project, version: str
) -> None:
    index.ranges = "none"
    monkeypatch.setattr("runner_sync.sources.sdist.MAX_PACKED", 100)
    with pytest.raises(InputError, match="MB, unlike any release"):
        open_release(project, version)


def test_an_index_without_hashes_is_refused(index: FakeIndex) -> None:
    index.stated = {SDIST: None, WHEEL: None}
    with pytest.raises(InputError, match="states no SHA-256"):
        open_release("vllm-ascend", "0.14.0rc1")
    with pytest.raises(InputError, match="states no SHA-256"):
        open_release("vllm-omni", "0.14.0")


@pytest.mark.parametrize(("project", "version"), [("vllm-omni", "0.14.0"), ("vllm-ascend", "0.14.0rc1")])
@pytest.mark.parametrize("ranges", ["all", "none"])
def test_a_broken_transfer_is_begun_again_but_not_for_ever(
    index: FakeIndex, project: Project, version: str, ranges: str
) -> None:
    index.ranges, index.cut = ranges, 2
    tree = open_release(project, version)
    paths = list(tree.paths())
    assert paths
    assert all(tree.read(path) is not None for path in paths)
    index.add(project, f"{project.replace('-', '_')}-0.99.tar.gz", make_sdist(ASCEND))
    index.cut = 1_000
    with pytest.raises(InputError, match="broke off"):
        open_release(project, "0.99")
    assert index.cut > 980


def test_a_busy_server_is_asked_again_and_a_broken_one_reported(index: FakeIndex) -> None:
    index.failures = 2
    assert releases("vllm-omni") == ["0.14.0"]
    index.failures = 1_000
    with pytest.raises(InputError, match="HTTP status 503"):
        releases("vllm-omni")


@pytest.mark.parametrize(("project", "version"), [("vllm-omni", "0.14.0"), ("vllm-ascend", "0.14.0rc1")])
def test_a_file_that_is_gone_from_the_server_is_said(index: FakeIndex, project: Project, version: str) -> None:
    index.gone = {WHEEL, SDIST}
    with pytest.raises(InputError, match="HTTP status 404"):
        open_release(project, version)


def test_a_wheel_whose_server_gave_up_ranges_is_said(index: FakeIndex) -> None:
    tree = open_release("vllm-omni", "0.14.0")
    index.ranges = "none"
    with pytest.raises(InputError, match="gives no ranges any more: remove"):
        tree.read(RUNNER)


def test_credentials_in_the_index_url_reach_the_files_and_no_message(
    index: FakeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.login = "Basic " + base64.b64encode(b"me:s3cret").decode()
    monkeypatch.setenv("PIP_INDEX_URL", index.url.replace("http://", "http://me:s3cret@"))
    assert open_release("vllm-ascend", "0.14.0rc1").read(ASCEND_RUNNER)
    index.failures = 1_000
    with pytest.raises(InputError) as caught:
        releases("vllm-omni")
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "https://me:s3cret@/simple/",
        "me:s3cret@host.invalid/simple",
        "https://me:s3cret/s3cret@host.invalid/simple/",
        "http://me:s3cret@[host.invalid/simple/",
        "http://me:s3cret@host.invalid:abc/simple/",
    ],
)
def test_a_mistyped_index_is_said_without_its_password(
    index: FakeIndex, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", url)
    with pytest.raises(InputError) as caught:
        releases("vllm-omni")
    assert "s3cret" not in str(caught.value)
    assert index.requests == []


def test_pip_settings_win_over_general_ones_and_credentials_stay_with_their_host(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/general.pem")
    monkeypatch.setenv("HTTPS_PROXY", "http://general:1")
    settings = IndexSettings(
        urls=("https://me:p%40ss@index.test/simple/",),
        cert="/pip.pem",
        proxy="http://pip:1",
        trusted_hosts=frozenset({"lax.test"}),
    )
    with IndexSession(settings) as session:
        merged = session.merge_environment_settings("https://index.test/a", {}, None, None, None)
        lax = session.merge_environment_settings("https://lax.test/a", {}, None, None, None)
        own, other = (
            session.prepare_request(requests.Request("GET", f"https://{host}/a")).headers.get("Authorization")
            for host in ("index.test", "other.test")
        )
    assert (merged["verify"], merged["proxies"]["https"], lax["verify"]) == ("/pip.pem", "http://pip:1", False)
    assert own == "Basic " + base64.b64encode(b"me:p@ss").decode()
    assert other is None


def test_credentials_come_from_netrc_too(index: FakeIndex, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    index.login = "Basic " + base64.b64encode(b"me:s3cret").decode()
    with pytest.raises(InputError, match="HTTP status 401"):
        releases("vllm-omni")
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password s3cret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    assert releases("vllm-omni") == ["0.14.0"]


def test_the_sdist_that_was_built_from_another_commit_than_its_tag_comes_last(index: FakeIndex) -> None:
    files = {"vllm_ascend/__init__.py": b""}
    index.add("vllm-ascend", "vllm_ascend-0.21.0rc1.tar.gz", make_sdist(files))
    index.add("vllm-ascend", "vllm_ascend-0.21.0rc1-cp310-cp310-manylinux_2_24_x86_64.whl", make_wheel(files))
    tree = open_release("vllm-ascend", "0.21.0rc1")
    assert tree.source.location.endswith(".whl")
    assert declared_vllm(tree) == "0.21.0"


@pytest.mark.usefixtures("index")
def test_a_second_index_adds_its_releases(monkeypatch: pytest.MonkeyPatch) -> None:
    other = FakeIndex()
    other.add("vllm-omni", "vllm_omni-0.15.0-py3-none-any.whl", make_wheel(version="0.15.0"))
    server = serve(other)
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", other.url)
    assert releases("vllm-omni") == ["0.14.0", "0.15.0"]
    assert open_release("vllm-omni", "0.15.0").read(RUNNER)
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("variable", "value", "sentence"),
    [
        ("PIP_NO_INDEX", "1", "no-index"),
        ("PIP_INDEX_URL", "/srv/packages", "no web address"),
        ("PIP_INDEX_URL", "http://[bad/simple/", r"index http://\[bad/simple/ is no web address: correct it"),
        ("PIP_INDEX_URL", "https:///simple", "index https:///simple/ is no web address"),
        ("PIP_TIMEOUT", "soon", "no number of seconds"),
    ],
)
def test_a_pip_configuration_that_names_no_index_is_said(
    index: FakeIndex, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, sentence: str
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(InputError, match=sentence):
        open_release("vllm-omni", "0.14.0")
    assert index.requests == []


def test_progress_counts_up_to_the_whole_file(index: FakeIndex) -> None:
    seen: list[tuple[str, int, int | None]] = []
    open_release("vllm-ascend", "0.14.0rc1", progress=lambda *facts: seen.append(facts))
    size = len(index.files["vllm-ascend"][SDIST])
    assert seen[-1] == (SDIST, size, size)
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)


@pytest.mark.usefixtures("index")
def test_what_is_fetched_piece_by_piece_is_counted_together() -> None:
    seen: list[tuple[str, int, int | None]] = []
    tree = open_release("vllm-omni", "0.14.0", progress=lambda *facts: seen.append(facts))
    listed = len(seen)
    for path in tree.paths()[:2]:
        tree.read(path)
    amounts = [done for _, done, _ in seen]
    assert len(amounts) > listed
    assert amounts == sorted(set(amounts)), "each counts what came before it"


@pytest.mark.parametrize("look", [partial(open_release, "vllm-omni", "0.14.0"), partial(releases, "vllm-omni")])
def test_an_index_that_never_answers_is_waited_for_three_times_and_every_wait_is_told_of(
    index: FakeIndex, monkeypatch: pytest.MonkeyPatch, look: Callable[..., object]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"127.0.0.1:{silent.getsockname()[1]}"
        isolate_index(monkeypatch, f"http://{host}/simple", cache.folder())
        monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "1")
        seen: list[str] = []
        with pytest.raises(InputError, match=rf"package index at {host} \(it does not answer in time\)"):
            look(progress=lambda label, *_: seen.append(label))
    assert seen == [f"waiting for the package index at {host} (try {number} of 3)" for number in (2, 3)]
    assert index.requests == []


def test_a_damaged_cache_entry_is_fetched_again(index: FakeIndex) -> None:
    open_release("vllm-ascend", "0.14.0rc1")
    open_release("vllm-omni", "0.14.0").read(RUNNER)
    for entry in cache.folder().rglob("*"):
        if entry.is_file():
            entry.write_bytes(entry.read_bytes()[:-5] + b"xxxxx")
    asked = len(index.requests)
    assert open_release("vllm-ascend", "0.14.0rc1").read(ASCEND_RUNNER) == ASCEND[ASCEND_RUNNER].decode()
    assert open_release("vllm-omni", "0.14.0").read(RUNNER) == OMNI[RUNNER].decode()
    assert len(index.requests) > asked


@pytest.mark.parametrize("kind", ["wheel", "release"])
@pytest.mark.parametrize("form", ["none", "list", "fewer", "more"])
def test_a_whole_entry_of_another_form_is_fetched_again(index: FakeIndex, kind: str, form: str) -> None:
    project: Project = "vllm-omni" if kind == "wheel" else "vllm-ascend"
    version, path = ("0.14.0", RUNNER) if kind == "wheel" else ("0.14.0rc1", ASCEND_RUNNER)
    first = open_release(project, version).read(path)
    (key,) = cache.list_keys(kind)
    cache.store(kind, key, other_forms(kind, cache.load(kind, key) or b"")[form])
    asked = len(index.requests)
    assert open_release(project, version).read(path) == first
    assert len(index.requests) > asked
    asked = len(index.requests)
    assert open_release(project, version).read(path) == first
    assert len(index.requests) == asked


def other_forms(kind: str, stored: bytes) -> dict[str, bytes]:
    """What other versions of the program might have stored."""
    if kind == "release":
        comments = {"list": b"[]", "fewer": b"{}", "more": b"sha256: 1"}
        return {"none": b"no zip"} | {form: with_comment(comment) for form, comment in comments.items()}
    facts = json.loads(stored)
    members = {path: member | {"mode": 0} for path, member in facts["members"].items()}
    forms = {"list": [], "fewer": {"file": "a"}, "more": facts | {"members": members}}
    return {"none": b"\x00"} | {form: json.dumps(value).encode() for form, value in forms.items()}


def with_comment(comment: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.comment = comment
    return packed.getvalue()


def test_an_interrupt_leaves_nothing_behind(index: FakeIndex) -> None:
    def interrupt(*_facts: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        open_release("vllm-ascend", "0.14.0rc1", progress=interrupt)
    assert [entry for entry in cache.folder().rglob("*") if entry.is_file()] == []
    assert open_release("vllm-ascend", "0.14.0rc1").read(ASCEND_RUNNER)
    assert index.requests[-1][0] == f"/files/{SDIST}"


def test_something_else_than_an_index_is_said(index: FakeIndex) -> None:
    index.files["vllm"] = {}
    with pytest.raises(InputError, match="no release of vllm:"):
        releases("vllm")
    index.add("vllm", "vllm-0.1-py3-none-any.whl", make_zip([("a", b"")])[:-9])
    with pytest.raises(InputError, match="damaged or no zip"):
        open_release("vllm", "0.1")


@pytest.mark.corpus
def test_one_file_of_a_real_wheel_is_read_by_range(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, corpus_release: CorpusRelease
) -> None:
    corpus_release("vllm-omni", "0.14.0")
    monkeypatch.setenv("RUNNER_SYNC_CACHE", str(tmp_path))
    fetched: list[int] = []
    tree = open_release("vllm-omni", "0.14.0", progress=lambda _label, done, _total: fetched.append(done))
    assert isinstance(tree, WheelTree)
    assert "class OmniNPUModelRunner" in (tree.read(RUNNER) or "")
    assert fetched[-1] < 200_000


@pytest.mark.corpus
@pytest.mark.parametrize(
    ("project", "version", "path", "vllm"),
    [
        ("vllm-omni", "0.12.0rc1", "vllm_omni/worker/npu/npu_model_runner.py", "0.12.0"),
        ("vllm-omni", "0.18.0rc1", RUNNER, "0.18.0"),
        ("vllm-ascend", "0.14.0rc1", ASCEND_RUNNER, "0.14.1"),
        ("vllm-ascend", "0.17.0rc1", ASCEND_RUNNER, "0.17.0"),
    ],
)
def test_real_releases_say_their_vllm(
    corpus_release: CorpusRelease, project: Project, version: str, path: str, vllm: str
) -> None:
    tree = corpus_release(project, version)
    assert path in tree.paths(path.rpartition("/")[0])
    assert tree.source.version == version
    assert declared_vllm(tree) == vllm
