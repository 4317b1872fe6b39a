"""What was found out about a file is looked up as long as the file is what it was, and no longer."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest
from repo_samples import tagged_repository
from sources_samples import make_wheel, sha256
from sync_samples import commit

from runner_sync.sources import cache, open_path
from runner_sync.sources.archive import ArchiveTree, IndexFile
from runner_sync.sources.remembering import compute_cached
from runner_sync.sources.wheel import pack_wheel
from runner_sync.sync.trees.patched_tree import PatchedTree
from runner_sync.trees import Remembering, Tree

INIT, ONE, TWO = "vllm/__init__.py", "vllm/one.py", "vllm/two.py"


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "tree"
    (place / "vllm").mkdir(parents=True)
    for path, text in ((INIT, ""), (ONE, "one = 1\n"), (TWO, "two = 2\n")):
        (place / path).write_text(text)
    return place


class Finder:
    """Finds the first word of a text, and keeps what it was asked about."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, text: str) -> bytes:
        self.asked.append(text)
        return text.split(" ")[0].encode()


def ask(tree: Tree, what: str = "first") -> tuple[dict[str, bytes], list[str]]:
    """What is found out, and the texts that were read for it."""
    assert isinstance(tree, Remembering)
    find = Finder()
    return tree.remembered(what, find), find.asked


def test_a_second_run_reads_nothing(folder: Path) -> None:
    first = ask(open_path("vllm", folder))
    assert first == ({INIT: b"", ONE: b"one", TWO: b"two"}, ["", "one = 1\n", "two = 2\n"])
    assert ask(open_path("vllm", folder)) == (first[0], [])
    assert ask(open_path("vllm", folder), "other") == first


def test_only_what_has_changed_is_read_again(folder: Path) -> None:
    ask(open_path("vllm", folder))
    (folder / TWO).unlink()
    facts = (folder / ONE).stat()
    (folder / ONE).write_text("uno = 1\n")
    # As a tool does that sets the times of what it unpacks; the size is the same, too.
    os.utime(folder / ONE, ns=(facts.st_atime_ns, facts.st_mtime_ns))
    (folder / "vllm/three.py").write_text("three = 3\n")
    found = {INIT: b"", ONE: b"uno", "vllm/three.py": b"three"}
    assert ask(open_path("vllm", folder)) == (found, ["uno = 1\n", "three = 3\n"])
    assert ask(open_path("vllm", folder)) == (found, [])


def test_another_folder_is_another_tree(folder: Path, tmp_path: Path) -> None:
    ask(open_path("vllm", folder))
    other = tmp_path / "other"
    folder.rename(other)
    assert ask(open_path("vllm", other))[1] == ["", "one = 1\n", "two = 2\n"]


def test_a_damaged_entry_is_found_anew(folder: Path) -> None:
    found, _ = ask(open_path("vllm", folder))
    (entry,) = (cache.folder() / "first").glob("[!.]*")
    entry.write_bytes(entry.read_bytes()[:-1])
    assert ask(open_path("vllm", folder)) == (found, ["", "one = 1\n", "two = 2\n"])


@pytest.mark.parametrize("data", [b"", b"\0\0\0", bytes(8), (2).to_bytes(8) + b"{}", (4).to_bytes(8) + b"[{}]", b"[1]"])
def test_a_whole_entry_of_another_form_is_found_anew(folder: Path, data: bytes) -> None:
    found, _ = ask(open_path("vllm", folder))
    (place,) = cache.list_keys("first")
    cache.store("first", place, data)
    assert ask(open_path("vllm", folder)) == (found, ["", "one = 1\n", "two = 2\n"])
    assert ask(open_path("vllm", folder)) == (found, [])


def test_a_revision_is_known_by_its_git_objects(tmp_path: Path) -> None:
    tags = tagged_repository("ascend", tmp_path / "repo")
    old, new = sorted(tags)[:2]
    first, read = ask(open_path("vllm-ascend", tmp_path / "repo", ref=old))
    assert len(read) == len(first) > 0
    assert ask(open_path("vllm-ascend", tmp_path / "repo", ref=tags[old])) == (first, [])
    assert ask(open_path("vllm-ascend", tmp_path / "repo", ref=new))[1]
    assert ask(open_path("vllm-ascend", tmp_path / "repo", ref=old)) == (first, [])


def test_of_another_revision_what_changed_is_read(folder: Path) -> None:
    commit(folder)
    (folder / ONE).write_text("eins = 2\n")
    commit(folder)
    assert ask(open_path("vllm", folder, ref="HEAD~1"))[1] == ["", "one = 1\n", "two = 2\n"]
    assert ask(open_path("vllm", folder, ref="HEAD"))[1] == ["eins = 2\n"]
    for ref in ("HEAD~1", "HEAD"):
        assert ask(open_path("vllm", folder, ref=ref))[1] == []


def test_a_release_is_known_by_its_hash() -> None:
    def opened(files: dict[str, bytes]) -> ArchiveTree:
        data = make_wheel({"vllm_omni/__init__.py": b"", **files})
        packed = pack_wheel(io.BytesIO(data), IndexFile("w.whl", "vllm-omni", "0.14.0", "wheel", sha256(data), ""))
        return ArchiveTree(io.BytesIO(packed), project="vllm-omni")

    assert ask(opened({"vllm_omni/a.py": b"one = 1\n"}))[1] == ["", "one = 1\n"]
    assert ask(opened({"vllm_omni/a.py": b"one = 1\n"})) == (
        {"vllm_omni/__init__.py": b"", "vllm_omni/a.py": b"one"},
        [],
    )
    assert ask(opened({"vllm_omni/a.py": b"two = 1\n"}))[1] == ["", "two = 1\n"]


def test_of_a_patched_tree_the_exchanged_texts_are_read(folder: Path) -> None:
    tree = open_path("vllm", folder)
    patched = PatchedTree(tree, {ONE: "eins = 1\n", "vllm/new.py": "neu = 1\n"})
    found = {INIT: b"", ONE: b"eins", "vllm/new.py": b"neu", TWO: b"two"}
    ask(tree)
    answers, read = ask(patched)
    assert (answers, sorted(read)) == (found, ["eins = 1\n", "neu = 1\n"])
    assert ask(tree) == ({INIT: b"", ONE: b"one", TWO: b"two"}, [])


def test_answers_of_any_length_come_back() -> None:
    answers = {"a": b"", "b": bytes(range(256)), "c": b"\n"}
    states = dict.fromkeys(answers, "state")
    assert compute_cached("kind", "place", states, answers.__getitem__) == answers
    assert compute_cached("kind", "place", states, {}.__getitem__) == answers
