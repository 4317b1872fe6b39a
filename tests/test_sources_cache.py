"""The cache: what is stored comes back or is missing, never something else."""

from __future__ import annotations

import concurrent.futures
import os
import time
from pathlib import Path

import pytest

from runner_sync.errors import InputError
from runner_sync.sources import cache

KEYS = ["a", "a/b", "../../etc/passwd", ".", "..", ".hidden", "ä b", "x" * 500, "A", "%2F", "a.b-c_d"]


pytestmark = pytest.mark.usefixtures("own_cache")


def entries() -> list[Path]:
    return [entry for entry in cache.folder().rglob("*") if entry.is_file()]


def test_every_key_has_an_entry_of_its_own_inside_the_cache(tmp_path: Path) -> None:
    for key in KEYS:
        assert cache.load("kind", key) is None
        cache.store("kind", key, key.encode())
    assert [cache.load("kind", key) for key in KEYS] == [key.encode() for key in KEYS]
    assert len(entries()) == len(KEYS)
    assert {entry.parent for entry in entries()} == {cache.folder() / "kind"}
    assert cache.folder().parent == tmp_path / "cache"
    assert cache.load("other", "a") is None


def test_keys_are_listed_as_they_were_given_save_very_long_ones() -> None:
    for key in KEYS:
        cache.store("kind", key, b"")
    assert cache.list_keys("kind") == sorted(key for key in KEYS if len(key) < 200)
    assert cache.list_keys("none") == []


@pytest.mark.parametrize("data", [b"", b"\n", b"a\nb\n", bytes(range(256)) * 1000])
def test_any_bytes_come_back(data: bytes) -> None:
    cache.store("kind", "key", b"old")
    cache.store("kind", "key", data)
    assert cache.load("kind", "key") == data


@pytest.mark.parametrize("damage", [b"", b"x", b"runner-sync 00\nhello"])
def test_a_damaged_entry_is_missing_and_removed(damage: bytes) -> None:
    cache.store("kind", "key", b"hello")
    (entry,) = entries()
    for broken in (damage, entry.read_bytes()[:-1], entry.read_bytes() + b"!", entry.read_bytes().replace(b"e", b"E")):
        entry.write_bytes(broken)
        assert cache.load("kind", "key") is None
        assert entries() == []
        cache.store("kind", "key", b"hello")
        assert cache.load("kind", "key") == b"hello"


def test_an_entry_under_another_key_is_missing() -> None:
    cache.store("kind", "one", b"hello")
    (entry,) = entries()
    entry.rename(entry.with_name("two"))
    assert cache.load("kind", "two") is None


def test_concurrent_writers_and_readers_see_whole_entries() -> None:
    texts = [bytes([number]) * 200_000 for number in range(8)]

    def write_and_read(text: bytes) -> bytes | None:
        cache.store("kind", "key", text)
        return cache.load("kind", "key")

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(write_and_read, texts * 5))
    assert set(seen) <= set(texts)
    assert len(entries()) == 1


def test_an_interrupted_write_leaves_the_old_entry_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    cache.store("kind", "key", b"old")

    def interrupt(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            cache.store("kind", "key", b"new")
    assert cache.load("kind", "key") == b"old"
    assert len(entries()) == 1


def test_a_cache_folder_that_cannot_be_is_an_error_only_when_it_was_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("RUNNER_SYNC_CACHE", str(tmp_path / "file" / "below"))
    with pytest.raises(
        InputError, match=r"cannot write to the cache folder .*: name another one with RUNNER_SYNC_CACHE\."
    ):
        cache.store("kind", "key", b"")
    monkeypatch.delenv("RUNNER_SYNC_CACHE")
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: str(tmp_path / "file" / name))
    cache.store("kind", "key", b"")
    assert cache.load("kind", "key") is None


def test_a_user_without_a_home_is_told_to_name_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def fail(_: str) -> str:
        raise RuntimeError("could not determine home directory")

    wanted = pytest.raises(InputError, match=r"no home folder .*: name a folder with RUNNER_SYNC_CACHE\.")
    monkeypatch.delenv("RUNNER_SYNC_CACHE", raising=False)
    monkeypatch.setattr("platformdirs.user_cache_dir", fail)
    with wanted:
        cache.load("kind", "key")
    monkeypatch.setattr("platformdirs.user_cache_dir", lambda name: f"~/.cache/{name}")
    with wanted:
        cache.load("kind", "key")
    monkeypatch.setenv("RUNNER_SYNC_CACHE", str(tmp_path / "~"))
    cache.store("kind", "key", b"found")
    assert cache.load("kind", "key") == b"found"


def test_what_is_large_is_read_in_parts() -> None:
    cache.store("kind", "key", b"first second")
    file = cache.open_stored("kind", "key")
    assert file is not None
    with file:
        assert (file.read(5), file.read()) == (b"first", b" second")
    assert cache.open_stored("kind", "none") is None


def age(entry: Path, days: float) -> None:
    at = time.time() - days * 24 * 60 * 60
    os.utime(entry, (at, at))


def test_answers_that_nobody_asks_for_go() -> None:
    for key in ("old", "used", "new"):
        cache.store_answer("answers", key, b"")
    for entry in entries():
        age(entry, 31)
    assert cache.load_answer("answers", "used") == b""
    cache.store_answer("answers", "new", b"")
    assert cache.list_keys("answers") == ["new", "used"]


def test_answers_are_looked_through_once_a_day() -> None:
    cache.store_answer("answers", "old", b"")
    age(next(entry for entry in entries() if entry.name == "old"), 31)
    cache.store_answer("answers", "new", b"")
    assert cache.list_keys("answers") == ["new", "old"]


def test_what_was_downloaded_stays() -> None:
    cache.store("releases", "old", b"")
    age(entries()[0], 1000)
    cache.store("releases", "new", b"")
    cache.store_answer("answers", "new", b"")
    assert cache.list_keys("releases") == ["new", "old"]
