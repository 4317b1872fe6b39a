"""Plain trees, installed distributions, text decoding, and what a tree says about its versions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from runner_sync.errors import InputError
from runner_sync.model import Project, Source
from runner_sync.sources import declared_vllm, layout, metadata, open_installed, open_path, version, vllm_remedy
from runner_sync.sync.trees.patched_tree import PatchedTree
from runner_sync.trees import peek

INIT = "vllm_omni/__init__.py"


def fill(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    return folder


@pytest.mark.parametrize("inside", ["", "vllm_omni"])
def test_a_tree_is_given_by_its_root_or_by_its_package_folder(tmp_path: Path, inside: str) -> None:
    fill(tmp_path, {INIT: "", "vllm_omni/worker/a.py": "a = 1\r\n", "vllm_omni/b.txt": "", "vllm/__init__.py": ""})
    tree = open_path("vllm-omni", tmp_path / inside)
    assert tree.read("vllm_omni/worker/a.py") == "a = 1\n"
    assert tree.paths() == [INIT, "vllm_omni/worker/a.py"]
    assert tree.paths("vllm_omni/worker/") == tree.paths("vllm_omni/worker") == ["vllm_omni/worker/a.py"]
    assert tree.paths("vllm_omni/work") == tree.paths("vllm_omni/work/") == tree.paths("vllm_omni/../vllm/") == []
    assert tree.source == Source("vllm-omni", "path", str(tmp_path))


def test_one_folder_is_listed_without_the_others(tmp_path: Path) -> None:
    inside = ["vllm_omni/worker/a.py", "vllm_omni/worker/deep/c.py"]
    fill(tmp_path, {INIT: "", **dict.fromkeys(inside, ""), "vllm_omni/b.py": ""})
    tree = open_path("vllm-omni", tmp_path)
    assert tree.paths("vllm_omni/worker/") == inside
    (tmp_path / "vllm_omni/worker/late.py").write_text("", "utf-8")
    (tmp_path / "vllm_omni/late.py").write_text("", "utf-8")
    assert tree.paths("vllm_omni/worker/") == inside, "a run sees one state of a folder"
    assert tree.paths() == [INIT, "vllm_omni/b.py", "vllm_omni/late.py", *inside, "vllm_omni/worker/late.py"]


def test_a_search_keeps_no_texts_and_a_reading_does(tmp_path: Path) -> None:
    """A run sees one state of what it reads, also where it only searches later."""
    path = "vllm_omni/a.py"
    fill(tmp_path, {INIT: "", path: "a = 1\n"})
    tree = open_path("vllm-omni", tmp_path)
    replaced = PatchedTree(tree, {"vllm_omni/b.py": "b = 1\n"})
    assert peek(tree, path) == "a = 1\n"
    fill(tmp_path, {path: "a = 2\n", "vllm_omni/b.py": "b = 2\n"})
    assert (peek(tree, path), tree.read(path)) == ("a = 2\n", "a = 2\n"), "searching has kept nothing"
    fill(tmp_path, {path: "a = 3\n"})
    assert peek(tree, path) == peek(replaced, path) == "a = 2\n", "reading has"
    assert (peek(replaced, "vllm_omni/b.py"), peek(replaced, "vllm_omni/c.py")) == ("b = 1\n", None)


def test_a_checkout_named_like_its_package_is_not_taken_for_the_package(tmp_path: Path) -> None:
    root = fill(tmp_path / "vllm", {"vllm/__init__.py": "", "setup.py": ""})
    assert open_path("vllm", root).paths() == ["vllm/__init__.py"]
    assert open_path("vllm", root / "vllm").source.location == str(root)


def test_the_package_folder_given_as_a_dot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(fill(tmp_path, {INIT: ""}) / "vllm_omni")
    assert open_path("vllm-omni", ".").read(INIT) == ""


def test_a_folder_inside_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = fill(tmp_path / "omni", {INIT: "", "vllm_omni/platforms/npu/a.py": ""})
    monkeypatch.chdir(root / "vllm_omni" / "platforms" / "npu")
    tree = open_path("vllm-omni", ".")
    assert tree.read("vllm_omni/platforms/npu/a.py") == ""
    assert tree.source.location == str(root)


def test_hidden_and_generated_folders_are_not_listed(tmp_path: Path) -> None:
    fill(tmp_path, {INIT: "", "vllm_omni/__pycache__/a.py": "", "vllm_omni/.cache/a.py": "", "vllm_omni/_b.py": ""})
    assert open_path("vllm-omni", tmp_path).paths() == [INIT, "vllm_omni/_b.py"]


@pytest.mark.parametrize(
    "path", ["../secret.py", "/etc/hosts", "vllm_omni/../../secret.py", "vllm_omni//a.py", "", "."]
)
def test_a_path_out_of_the_tree_is_no_file_of_it(tmp_path: Path, path: str) -> None:
    fill(tmp_path, {"secret.py": "", f"tree/{INIT}": "", "tree/vllm_omni/a.py": ""})
    assert open_path("vllm-omni", tmp_path / "tree").read(path) is None


def test_what_is_no_regular_file_is_no_file_of_the_tree(tmp_path: Path) -> None:
    fill(tmp_path, {INIT: "", "vllm_omni/worker/a.py": ""})
    os.mkfifo(tmp_path / "vllm_omni" / "pipe.py")
    tree = open_path("vllm-omni", tmp_path)
    assert [tree.read(f"vllm_omni/{name}") for name in ("worker", "pipe.py", "none.py")] == [None, None, None]


@pytest.mark.parametrize("target", ["gone.py", "link.py", "gone/link.py"])
def test_a_link_that_leads_to_no_file_is_refused_where_it_is_read(tmp_path: Path, target: str) -> None:
    (fill(tmp_path, {INIT: ""}) / "vllm_omni/link.py").symlink_to(target)
    with pytest.raises(
        InputError, match=r"vllm_omni/link\.py is a symbolic link that leads to no file: mend or remove"
    ):
        open_path("vllm-omni", tmp_path).read("vllm_omni/link.py")


def test_a_link_that_leads_to_no_file_is_not_listed(tmp_path: Path) -> None:
    """Emacs puts one beside every file that is edited."""
    package = fill(tmp_path, {INIT: "", "vllm_omni/a.py": "", "other/b.py": "b = 1\n"}) / "vllm_omni"
    (package / ".#a.py").symlink_to("user@host.1234:5678")
    (package / "gone.py").symlink_to("nowhere.py")
    (package / "b.py").symlink_to("../other/b.py")
    tree = open_path("vllm-omni", tmp_path)
    assert tree.paths() == [INIT, "vllm_omni/a.py", "vllm_omni/b.py"]
    assert tree.read("vllm_omni/b.py") == "b = 1\n"


@pytest.mark.parametrize(
    ("given", "ref", "sentence"),
    [
        ("none", None, r"none is not a folder: give the vllm-omni tree with --omni-path\."),
        ("file.py", None, "is not a folder"),
        ("empty", None, r"is no vllm-omni tree: .* holds vllm_omni/__init__\.py"),
        ("half", None, "is no vllm-omni tree"),
        ("tree", "v0.18.0", "is not a git checkout of vllm-omni, so it has no revision v0.18.0"),
    ],
)
def test_a_path_that_is_no_tree_is_one_sentence(tmp_path: Path, given: str, ref: str | None, sentence: str) -> None:
    fill(tmp_path, {"file.py": "", "empty/a": "", "half/vllm_omni/a.py": "", f"tree/{INIT}": ""})
    with pytest.raises(InputError, match=sentence):
        open_path("vllm-omni", tmp_path / given, ref=ref)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\r\nb\r\n", "a\nb\n"),
        (b"a\nb", "a\nb"),
        (b"a\r\nb\n", "a\nb\n"),
        (b"a\rb\n", "a\nb\n"),
        (b"s = '\\r\\n'\n", "s = '\\r\\n'\n"),
        (b"\xef\xbb\xbfa\n", "a\n"),
        ("ä = '中'\n".encode(), "ä = '中'\n"),
        (b"", ""),
    ],
)
def test_bytes_become_text_with_lf(data: bytes, text: str) -> None:
    assert layout.decode(data, "a.py") == text


@pytest.mark.parametrize("data", [b"x = 1\ny = '\xe4'\n", "x = 1\n中".encode("gbk"), "a\nb".encode("utf-16")])
def test_another_encoding_is_refused_with_its_line(data: bytes) -> None:
    with pytest.raises(InputError, match=r"a\.py:[12] is not UTF-8 text: convert"):
        layout.decode(data, "a.py")


def test_a_file_beyond_any_source_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout, "MAX_TEXT", 3)
    assert layout.decode(b"abc", "a.py") == "abc"
    with pytest.raises(InputError, match=r"a\.py has 4 bytes"):
        layout.decode(b"abcd", "a.py")


def test_a_file_beyond_any_source_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = open_path("vllm-omni", fill(tmp_path, {INIT: "", "vllm_omni/big.py": "abcd"}))
    monkeypatch.setattr(layout, "MAX_TEXT", 3)
    monkeypatch.setattr(Path, "read_bytes", None)
    with pytest.raises(InputError, match=r"big\.py has 4 bytes, more than any source file"):
        tree.read("vllm_omni/big.py")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"PKG-INFO": "Metadata-Version: 2.1\nVersion: 0.18.0rc1\n\nVersion: 9\n"}, "0.18.0rc1"),
        ({"vllm_omni-0.16.0.dist-info/METADATA": "Version: 0.16.0\n"}, "0.16.0"),
        ({"vllm_omni_extra-9.dist-info/METADATA": "Version: 9\n"}, None),
        ({"vllm_omni/_version.py": "__version__ = version = '0.32.0rc1'\n"}, "0.32.0rc1"),
        ({"vllm_omni/version.py": '__version__ = "0.12.0rc1"\n'}, "0.12.0rc1"),
        ({"vllm_omni/_version.py": "__version__: str = '0.14.0'\n"}, "0.14.0"),
        ({"vllm_omni/_version.py": "    __version__ = 'dev'\n"}, None),
        ({"vllm_omni/_version.py": "__version__ = __import__('os').getcwd()\n"}, None),
        ({"PKG-INFO": "Name: x\n\nVersion: 9\n"}, None),
        ({"PKG-INFO": f"Version: {'1' * 5000}\n"}, None),
        ({}, None),
    ],
)
def test_a_plain_tree_says_its_version(tmp_path: Path, files: dict[str, str], expected: str | None) -> None:
    assert open_path("vllm-omni", fill(tmp_path, {INIT: ""} | files)).source.version == expected


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        (["v0.9.1", "v0.10.0rc1", "nightly"], "0.10.0rc1"),
        (["v0.10.0", "v0.10.0rc1"], "0.10.0"),
        (["x"], None),
        (["v0.10.0", "1" * 5000], "0.10.0"),
        ([], None),
    ],
)
def test_the_highest_version_among_tags_counts(tags: list[str], expected: str | None) -> None:
    assert version.find_in_tags(tags) == expected


class Texts:
    """A tree made of a dictionary."""

    def __init__(self, project: Project, own: str | None, files: dict[str, str]) -> None:
        self.source = Source(project, "path", "here", own)
        self.files = files

    def read(self, path: str) -> str | None:
        return self.files.get(path)

    def paths(self, prefix: str = "") -> list[str]:
        return sorted(path for path in self.files if path.startswith(prefix))


@pytest.mark.parametrize(
    ("project", "own", "files", "expected"),
    [
        ("vllm", "0.20.1", {}, "0.20.1"),
        ("vllm-omni", "0.18.0rc1", {}, "0.18.0"),
        ("vllm-omni", "0.20.3", {"Dockerfile": "ARG VLLM_TAG=v0.1.0"}, "0.20.0"),
        ("vllm-omni", None, {"docker/Dockerfile.ci": "ARG VLLM_BASE_TAG=v0.12.0\n"}, "0.12.0"),
        ("vllm-omni", "0.15.0rc2.dev7", {"docker/Dockerfile.ci": "ARG VLLM_BASE_TAG=v0.14.0\n"}, "0.14.0"),
        ("vllm-omni", None, {}, None),
        ("vllm-ascend", "0.14.0rc1", {"Dockerfile": "ARG OTHER\nARG VLLM_TAG=v0.14.1\n"}, "0.14.1"),
        ("vllm-ascend", "0.11.0rc0", {"Dockerfile": "ARG VLLM_TAG=v0.11.0rc3\n"}, "0.11.0"),
        ("vllm-ascend", "0.8.5rc1", {"Dockerfile": "ARG VLLM_TAG=v0.8.5.post1\n"}, "0.8.5.post1"),
        ("vllm-ascend", "0.23.0.post1", {}, "0.23.0"),
        ("vllm-ascend", "0.23.0", {"Dockerfile": "# ARG VLLM_TAG=v0.1.0\nARG VLLM_TAG=main\n"}, "0.23.0"),
        ("vllm-ascend", "0.23.0", {"PKG-INFO": "Requires-Dist: vllm==0.23.1\n"}, "0.23.1"),
        ("vllm-ascend", "0.23.0", {"PKG-INFO": "Requires-Dist: vllm>=0.20\nRequires-Dist: vllm-x==0.1\n"}, "0.23.0"),
        ("vllm-ascend", "0.23.0", {"PKG-INFO": "Requires-Dist: ???\n\nRequires-Dist: vllm==0.1\n"}, "0.23.0"),
        ("vllm-ascend", None, {}, None),
    ],
)
def test_a_tree_says_which_vllm_it_is_for(
    project: Project, own: str | None, files: dict[str, str], expected: str | None
) -> None:
    tree = Texts(project, own, files)
    assert declared_vllm(tree) == expected
    assert metadata(tree) == files.get("PKG-INFO")


@pytest.mark.parametrize(
    ("lines", "expected", "as_base"),
    [
        (
            "# ARG VLLM_TAG=v0.19.1\nARG VLLM_COMMIT=4d51588e2381018348f1022dfa3a7698899805b7\n",
            "--vllm-ref 4d51588e23",
            "--vllm-base 4d51588e23",
        ),
        (
            "# ARG VLLM_COMMIT=4d51588e2381018348f1022dfa3a7698899805b7\n",
            "name it with --vllm-version or --vllm-path",
            "name it with --vllm-base",
        ),
    ],
)
def test_an_image_on_a_commit_of_vllm_is_for_no_version(lines: str, expected: str, as_base: str) -> None:
    """As vllm-ascend's main branch was in May 2026 (ca4065f2e9)."""
    tree = Texts("vllm-ascend", None, {"Dockerfile": lines})
    assert declared_vllm(tree) is None
    assert expected in vllm_remedy(tree)
    assert as_base in vllm_remedy(tree, is_base=True)


def install(folder: Path, *, direct_url: object = None, files: dict[str, str] | None = None) -> Path:
    """A site-packages folder with vllm-ascend 0.18.0; its modules raise when they are imported."""
    info = "vllm_ascend-0.18.0.dist-info"
    fill(folder, {f"{info}/METADATA": "Metadata-Version: 2.1\nName: vllm-ascend\nVersion: 0.18.0\n\n"})
    if direct_url is not None:
        fill(folder, {f"{info}/direct_url.json": direct_url if isinstance(direct_url, str) else json.dumps(direct_url)})
    return fill(folder, {"vllm_ascend/__init__.py": "raise SystemExit\n"} if files is None else files)


@pytest.fixture
def search(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes the folders that it is given the only ones of ``sys.path``."""
    return lambda *folders: monkeypatch.setattr(sys, "path", [str(folder) for folder in folders])


def test_an_installed_distribution_is_read_as_files(tmp_path: Path, search: Callable[..., None]) -> None:
    site = install(tmp_path)
    search(site)
    tree = open_installed("vllm-ascend")
    assert tree is not None
    assert tree.read("vllm_ascend/__init__.py") == "raise SystemExit\n"
    assert tree.source == Source("vllm-ascend", "installed", str(site), "0.18.0")
    assert tree.source.ref == "0.18.0"
    assert declared_vllm(tree) == "0.18.0"


def test_an_editable_installation_is_read_where_its_sources_are(tmp_path: Path, search: Callable[..., None]) -> None:
    sources = fill(tmp_path / "my sources", {"vllm_ascend/__init__.py": "here = 1\n"})
    link = {"url": sources.as_uri(), "dir_info": {"editable": True}}
    search(install(tmp_path / "site", direct_url=link, files={}))
    tree = open_installed("vllm-ascend")
    assert tree is not None
    assert tree.read("vllm_ascend/__init__.py") == "here = 1\n"
    assert (tree.source.location, tree.source.version) == (str(sources), "0.18.0")


@pytest.mark.parametrize(
    "direct_url",
    [
        {"url": "file:///nowhere", "dir_info": {}},
        {"url": "https://example.org/x.git", "vcs_info": {}},
        {"url": "https://example.org/x", "dir_info": {"editable": True}},
        "not json",
        "[]",
    ],
)
def test_other_origins_do_not_change_where_the_files_are(
    tmp_path: Path, search: Callable[..., None], direct_url: object
) -> None:
    search(install(tmp_path, direct_url=direct_url))
    tree = open_installed("vllm-ascend")
    assert tree is not None
    assert tree.source.location == str(tmp_path)


def test_what_is_not_installed_is_none_and_what_is_gone_is_an_error(
    tmp_path: Path, search: Callable[..., None]
) -> None:
    search(tmp_path)
    assert open_installed("vllm-ascend") is None
    search(install(tmp_path / "a"))
    assert open_installed("vllm") is None
    search(install(tmp_path / "b", files={}))
    with pytest.raises(InputError, match=r"vllm-ascend is installed but .* install it again"):
        open_installed("vllm-ascend")


def test_metadata_of_another_project_is_not_read(tmp_path: Path) -> None:
    """It would be imported for every ``check`` in a checkout of vllm-omni, or where that is installed."""
    fill(tmp_path, {"vllm_omni-0.18.0.dist-info/METADATA": "Name: vllm-omni\n", "vllm_omni/__init__.py": ""})
    code = (
        f"import sys; from runner_sync.sources import open_installed; sys.path[:] = [{str(tmp_path)!r}]; "
        "print([open_installed(project) for project in ('vllm', 'vllm-ascend')], 'importlib.metadata' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[None, None] False\n"


@pytest.mark.parametrize("name", ["vllm_ascend-0.18.0.dist-info", "VLLM.Ascend-0.18.0.dist-info"])
def test_metadata_may_be_spelled_otherwise_or_lie_in_an_archive(
    tmp_path: Path, search: Callable[..., None], name: str
) -> None:
    archive = tmp_path / "any.egg"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr(f"{name}/METADATA", "Name: vllm-ascend\nVersion: 0.18.0\n")
    spelled = fill(tmp_path / "site", {f"{name}/METADATA": "Name: vllm-ascend\nVersion: 0.18.0\n"})
    for place in (archive, spelled):
        search(tmp_path / "gone", place)
        with pytest.raises(InputError, match="vllm-ascend is installed but"):
            open_installed("vllm-ascend")


def test_a_folder_that_is_a_link_is_listed_as_it_is_read(tmp_path: Path) -> None:
    fill(tmp_path, {"tree/" + INIT: "", "tree/vllm_omni/deep/b.py": "", "real/a.py": "a = 1\n"})
    package = tmp_path / "tree/vllm_omni"
    (package / "linked").symlink_to(tmp_path / "real")
    for back, target in (("round", package), ("deep/up", tmp_path), ("deep/to", tmp_path / "real")):
        (package / back).symlink_to(target)
    (tmp_path / "real/back").symlink_to(package / "deep")
    tree = open_path("vllm-omni", tmp_path / "tree")
    assert tree.read("vllm_omni/linked/a.py") == "a = 1\n"
    listed = tree.paths()
    assert {"vllm_omni/linked/a.py", "vllm_omni/linked/back/b.py", "vllm_omni/deep/to/a.py"} <= set(listed)
    assert not [path for path in listed if "/round/" in path or "/up/" in path or path.count("/") > 3]
