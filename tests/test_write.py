"""Writing: every file or none, whatever fails and wherever, and nothing lost that a file had."""

from __future__ import annotations

import os
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import pytest

from runner_sync.errors import InputError
from runner_sync.model import FileChange
from runner_sync.write import write
from runner_sync.write.endings import restore


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "pkg").mkdir(parents=True)
    for name in ("a", "b", "c"):
        (folder / "pkg" / f"{name}.py").write_bytes(f"{name} = 1\n".encode())
    return folder


def snapshot(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def change(name: str, after: str | None = "new\n", before: str | None = "") -> FileChange:
    return FileChange(f"pkg/{name}.py", f"{name} = 1\n" if before == "" else before, after)


EDIT_ALL = [change("a", "a = 2\n"), change("b", None), change("c", "c = 2\n"), change("sub/d", "d = 1\n", None)]
AFTER_ALL = {"pkg/a.py": b"a = 2\n", "pkg/c.py": b"c = 2\n", "pkg/sub/d.py": b"d = 1\n"}


def test_changes_deletions_and_new_files_are_written(root: Path) -> None:
    assert write(EDIT_ALL, root) == ("pkg/a.py", "pkg/b.py", "pkg/c.py", "pkg/sub/d.py")
    assert snapshot(root) == AFTER_ALL


def test_files_that_stay_the_same_are_not_touched(root: Path) -> None:
    before = (root / "pkg/a.py").stat()
    assert write([change("a", "a = 1\n"), change("gone", None, None)], root) == ()
    after = (root / "pkg/a.py").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert write([], root) == ()


def test_the_mode_is_kept_and_new_files_follow_the_umask(root: Path) -> None:
    (root / "pkg/a.py").chmod(0o751)
    old = os.umask(0o027)
    try:
        write(EDIT_ALL, root)
    finally:
        os.umask(old)
    assert stat.S_IMODE((root / "pkg/a.py").stat().st_mode) == 0o751
    assert stat.S_IMODE((root / "pkg/sub/d.py").stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("permitted", "given"),
    [
        ((1234, -1), [(1234, 5678)]),
        ((-1,), [(1234, 5678), (-1, 5678)]),
        ((), [(1234, 5678), (-1, 5678)]),
    ],
    ids=["owner and group", "the group only", "neither"],
)
def test_owner_and_group_are_kept_as_far_as_permitted(
    root: Path, monkeypatch: pytest.MonkeyPatch, permitted: tuple[int, ...], given: list[tuple[int, int]]
) -> None:
    target = root / "pkg/a.py"
    target.chmod(0o751)
    seen: list[tuple[int, int]] = []

    def chown(path: Path, owner: int, group: int) -> None:
        assert path != target
        seen.append((owner, group))
        path.chmod(0o600)  # a new owner may take bits of the mode away
        if owner not in permitted:
            raise PermissionError(1, "Operation not permitted")

    def of_another(self: Path, **rest: bool) -> os.stat_result:
        found = real(self, **rest)
        return os.stat_result((*found[:4], 1234, 5678, *found[6:])) if self == target else found

    real = Path.stat
    monkeypatch.setattr(os, "chown", chown)
    monkeypatch.setattr(Path, "stat", of_another)
    write([change("a")], root)
    assert seen == given
    assert stat.S_IMODE(real(target).st_mode) == 0o751


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_root_gives_a_file_back_to_its_owner(root: Path) -> None:
    os.chown(root / "pkg/a.py", 1234, 5678)
    write([change("a")], root)
    found = (root / "pkg/a.py").stat()
    assert (found.st_uid, found.st_gid) == (1234, 5678)


def failing(call: Callable[..., None], *, at: int, error: BaseException, late: bool) -> Callable[..., None]:
    """``call``, which raises ``error`` the ``at``-th time: before its work, or behind it when ``late``."""
    seen = 0

    def run(*args: object, **options: object) -> None:
        nonlocal seen
        seen += 1
        if seen == at and not late:
            raise error
        call(*args, **options)
        if seen == at:
            raise error

    return run


@pytest.mark.parametrize("late", [False, True], ids=["before", "behind"])
@pytest.mark.parametrize("at", [1, 2, 3])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["disk", "ctrl-c"])
def test_a_failing_rename_changes_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, at: int, late: bool
) -> None:
    before = snapshot(root)
    monkeypatch.setattr(os, "replace", failing(os.replace, at=at, error=error, late=late))
    with pytest.raises(KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else InputError):
        write(EDIT_ALL, root)
    assert snapshot(root) == before
    assert not (root / "pkg/sub").exists()


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()], ids=["disk", "ctrl-c"])
@pytest.mark.parametrize(
    ("name", "at"), [("fsync", 1), ("fsync", 3), ("link", 1), ("unlink", 1), ("chmod", 1), ("mkdir", 1)]
)
def test_a_failure_at_any_other_step_changes_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str, at: int, error: BaseException
) -> None:
    before = snapshot(root)
    owner = os if name in ("fsync", "link") else Path
    monkeypatch.setattr(owner, name, failing(getattr(owner, name), at=at, error=error, late=False))
    if name == "link" and isinstance(error, OSError):
        # A file system without hard links gets copies for backups.
        write(EDIT_ALL, root)
        assert snapshot(root) == AFTER_ALL
        return
    with pytest.raises(KeyboardInterrupt if isinstance(error, KeyboardInterrupt) else InputError) as caught:
        write(EDIT_ALL, root)
    assert isinstance(caught.value, KeyboardInterrupt) or "no file was changed" in str(caught.value)
    assert snapshot(root) == before


def test_folders_made_for_several_files_go_with_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    full = failing(os.fsync, at=2, error=OSError(28, "No space left on device"), late=False)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left on device"):
        write([FileChange(f"new/pkg/{name}.py", None, "x = 1\n") for name in "ab"], tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_put_back_leaves_its_text_and_says_where(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.replace

    def replace(source: Path, target: Path) -> None:
        if str(source).endswith(".old") and Path(target).name == "a.py":
            raise OSError(5, "Input/output error")
        if Path(target).name == "c.py" and str(source).endswith(".new"):
            raise OSError(28, "No space left on device")
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(InputError, match=r"pkg/a\.py: could not be put back") as caught:
        write([change("a"), change("b"), change("c")], root)
    kept = Path(str(caught.value).split(" is in ")[1].rstrip("."))
    assert kept.read_bytes() == b"a = 1\n"
    assert (root / "pkg/b.py").read_bytes() == b"b = 1\n"


class Terminated(BaseException):
    """What the command line raises for SIGTERM."""


@pytest.fixture
def terminable() -> Iterator[None]:
    """SIGTERM raises, and a second thread is there to receive it, as that of a progress bar is.

    SIGINT raises also where whoever started the tests has it ignored, as a shell does for a job in the background."""

    def fail(_number: int, _frame: FrameType | None) -> None:
        raise Terminated

    before, interrupted = signal.signal(signal.SIGTERM, fail), signal.signal(signal.SIGINT, signal.default_int_handler)
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    yield
    done.set()
    thread.join()
    signal.signal(signal.SIGTERM, before)
    signal.signal(signal.SIGINT, interrupted)


def never(_paths: tuple[str, ...]) -> None:
    raise AssertionError("nothing was written")


def signalling(call: Callable[..., None], signals: dict[int, int]) -> Callable[..., None]:
    """``call``, behind which a signal is sent to this process: ``signals`` has which one, by the number of the call."""
    seen = 0

    def run(*args: object, **options: object) -> None:
        nonlocal seen
        seen += 1
        call(*args, **options)
        if seen in signals:
            os.kill(os.getpid(), signals[seen])

    return run


@pytest.mark.usefixtures("terminable")
@pytest.mark.parametrize(
    ("name", "signals", "raised"),
    [
        ("fsync", {1: signal.SIGTERM}, Terminated),
        ("fsync", {3: signal.SIGINT}, KeyboardInterrupt),
        ("link", {1: signal.SIGTERM}, Terminated),
        ("replace", {1: signal.SIGTERM}, Terminated),
        ("replace", {2: signal.SIGINT, 3: signal.SIGTERM}, KeyboardInterrupt),
        ("replace", {2: signal.SIGTERM, 3: signal.SIGINT, 4: signal.SIGTERM}, Terminated),
    ],
    ids=["first staged", "all staged", "backed up", "first", "second and putting back", "three in a row"],
)
def test_a_signal_before_the_last_file_changes_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str, signals: dict[int, int], raised: type[BaseException]
) -> None:
    before, handlers = snapshot(root), [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    monkeypatch.setattr(os, name, signalling(getattr(os, name), signals))
    with pytest.raises(raised):
        write([change("a"), change("b"), change("c")], root, tell=never)
    assert snapshot(root) == before
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers


@pytest.mark.usefixtures("terminable")
@pytest.mark.parametrize(("name", "at"), [("replace", 3), ("fsync", 4), ("unlink", 1), ("unlink", 3)])
def test_a_signal_behind_the_last_file_leaves_all_written_and_nothing_beside(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str, at: int
) -> None:
    owner = os if name != "unlink" else Path
    monkeypatch.setattr(owner, name, signalling(getattr(owner, name), {at: signal.SIGTERM}))
    told: list[tuple[str, ...]] = []
    with pytest.raises(Terminated):
        write([change("a"), change("b"), change("c")], root, tell=told.append)
    assert snapshot(root) == {f"pkg/{name}.py": b"new\n" for name in "abc"}
    assert told == [("pkg/a.py", "pkg/b.py", "pkg/c.py")]


@pytest.mark.parametrize(("handler", "written"), [(signal.SIG_IGN, True), (lambda *_: None, False)])
def test_a_signal_that_nobody_minds_is_not_lost(
    root: Path, monkeypatch: pytest.MonkeyPatch, handler: signal.Handlers, written: bool
) -> None:
    """One that is ignored stops nothing; one whose handler returns stops the writing, which cannot have ended well."""
    before = signal.signal(signal.SIGTERM, handler)
    try:
        monkeypatch.setattr(os, "replace", signalling(os.replace, {1: signal.SIGTERM}))
        if written:
            assert write([change("a"), change("b")], root) == ("pkg/a.py", "pkg/b.py")
        else:
            with pytest.raises(KeyboardInterrupt):
                write([change("a"), change("b")], root)
        assert ((root / "pkg/b.py").read_bytes() == b"new\n") is written
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.usefixtures("terminable")
def test_a_text_that_could_not_be_put_back_is_told_before_a_signal(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: Path, target: Path) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        if Path(target).name == "a.py" and str(source).endswith(".old"):
            raise OSError(5, "Input/output error")
        real(source, target)

    real = os.replace
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(InputError, match=r"pkg/a\.py: could not be put back"):
        write([change("a"), change("b")], root)


@pytest.mark.parametrize(
    ("disk", "after", "expected"),
    [
        ("a\nb\n", "a\nc\n", "a\nc\n"),
        ("a\r\nb\r\n", "a\nc\nb\n", "a\r\nc\r\nb\r\n"),
        ("a\r\nb\nc\r\n", "a\nb\nx\nc\n", "a\r\nb\nx\r\nc\r\n"),
        ("a\nb\r\nc\n", "a\nx\nb\n", "a\nx\nb\r\n"),
        ("a\nb", "a\nc\n", "a\nc"),
        ("a\nb", "a\nb\nc", "a\nb\nc"),
        ("a\r\nb", "a\nb\nc\n", "a\r\nb\r\nc"),
        ("a\nb\n", "a\nc", "a\nc\n"),
        ("\ufeffa\n", "b\n", "\ufeffb\n"),
        ("\ufeffa\n", "\ufeffb\n", "\ufeffb\n"),
        ("a\n", "\ufeffb\n", "b\n"),
        ("\ufeffa\r\nb", "a\nc\n", "\ufeffa\r\nc"),
        ("a\r\ns\rt\r\n", "a\ns\rt\nx\n", "a\r\ns\rt\r\nx\r\n"),
        ("", "a\n", "a\n"),
        ("a\n", "", ""),
        ("a\n\n\n", "b\n\n\n", "b\n\n\n"),
        ("a\n\fb\x85\n", "a\n\fc\x85\n", "a\n\fc\x85\n"),
    ],
    ids=["lf", "crlf", "mixed keeps", "majority", "no final newline", "line added without newline", "crlf no final",
         "final newline stays", "bom", "bom in both", "bom never added", "all at once", "lone cr", "was empty",
         "becomes empty", "several final newlines", "form feed"],
)  # fmt: skip
def test_what_the_file_had_comes_back(root: Path, disk: str, after: str, expected: str) -> None:
    target = root / "pkg/a.py"
    target.write_bytes(disk.encode())
    assert restore(disk, after) == expected
    write([FileChange("pkg/a.py", disk.replace("\r\n", "\n"), after)], root)
    assert target.read_bytes() == expected.encode()


@pytest.mark.parametrize("disk", ["a\r\nb\nc\r\n", "\ufeffa\r\nb", "x\r\n\r\n\ny"])
def test_an_unchanged_text_is_restored_byte_for_byte(disk: str) -> None:
    assert restore(disk, disk.removeprefix("\ufeff").replace("\r\n", "\n")) == disk


@pytest.mark.parametrize("other", ["\r\n", "\n"])
def test_the_endings_of_a_long_file_come_back_in_no_time(other: str) -> None:
    """A few lines stand there again and again, as blank ones do: comparing all with all takes seconds."""
    rows = [f"{number % 2}" if number % 10 else f"row {number}" for number in range(6000)]
    ends = ["\r\n" if number % 3 else other for number in range(6000)]
    changed = {2: "first", 3000: "second", 5990: "third"}
    after = "".join(f"{changed.get(number, row)}\n" for number, row in enumerate(rows))
    began = time.process_time()
    made = restore("".join(map("".join, zip(rows, ends, strict=True))), after)
    assert time.process_time() - began < 1
    assert made.replace("\r\n", "\n") == after
    back = made.split("\n")
    assert all(back[n].endswith("\r") == (ends[n] == "\r\n") for n in range(6000) if n not in changed)


def link_outside(root: Path) -> None:
    outside = root.parent / "outside.py"
    outside.write_text("a = 1\n")
    (root / "pkg/a.py").unlink()
    (root / "pkg/a.py").symlink_to(outside)


def folder_outside(root: Path) -> None:
    (root / "pkg").rename(root.parent / "moved")
    (root / "pkg").symlink_to(root.parent / "moved")


def as_directory(root: Path) -> None:
    (root / "pkg/a.py").unlink()
    (root / "pkg/a.py").mkdir()


def as_pipe(root: Path) -> None:
    (root / "pkg/a.py").unlink()
    os.mkfifo(root / "pkg/a.py")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (link_outside, r"^pkg/a\.py is a symbolic link that leads outside .*; replace it by a file"),
        (folder_outside, r"^pkg/c\.py: its folder pkg is a symbolic link that leads outside"),
        (as_directory, r"pkg/a\.py: is not a regular file"),
        (as_pipe, r"pkg/a\.py: is not a regular file"),
        (lambda root: (root / "pkg/a.py").chmod(0o444), r"pkg/a\.py: is read-only; make it writable"),
        (lambda root: (root / "pkg").chmod(0o555), r"pkg/c\.py: the directory .* is read-only"),
        (lambda root: (root / "pkg/a.py").write_text("a = 3\n"), r"pkg/a\.py: changed on disk since it was read"),
        (lambda root: (root / "pkg/a.py").write_bytes(b"a\n=\r1\n"), r"^pkg/a\.py:2: has a carriage return that"),
        (lambda root: (root / "pkg/a.py").unlink(), r"pkg/a\.py: is gone since it was read"),
        (lambda root: (root / "pkg/a.py").write_bytes(b"\xff = 1\n"), r"pkg/a\.py: is not UTF-8"),
    ],
    ids=["link outside", "folder outside", "directory", "pipe", "read-only", "read-only folder", "changed", "lone cr",
         "gone", "latin-1"],
)  # fmt: skip
def test_a_target_that_cannot_be_written_stops_all(root: Path, spoil: Callable[[Path], object], message: str) -> None:
    spoil(root)
    try:
        with pytest.raises(InputError, match=message):
            write([change("c"), change("a")], root)
        assert (root / "pkg/c.py").read_bytes() == b"c = 1\n"
    finally:
        (root / "pkg").chmod(0o755)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([FileChange("../x.py", None, "x\n")], r"\.\./x\.py: is no path below"),
        ([FileChange("/etc/x.py", None, "x\n")], "is no path below"),
        ([FileChange("", None, "x\n")], "is no path below"),
        ([FileChange("pkg/a.py", None, "x\n")], r"pkg/a\.py: exists already"),
        ([FileChange("pkg/a.py/x.py", None, "x\n")], "is not a directory"),
        ([change("a", "1\n"), change("a", "2\n")], "would be written twice"),
    ],
)
def test_changes_that_make_no_sense_are_refused(root: Path, changes: list[FileChange], message: str) -> None:
    before = snapshot(root)
    with pytest.raises(InputError, match=message):
        write([change("c"), *changes], root)
    assert snapshot(root) == before


def test_a_link_that_stays_inside_is_followed(root: Path) -> None:
    (root / "link.py").symlink_to("pkg/a.py")
    write([FileChange("link.py", "a = 1\n", "a = 2\n")], root)
    assert (root / "link.py").is_symlink()
    assert (root / "pkg/a.py").read_bytes() == b"a = 2\n"


def test_two_names_of_one_file_are_refused(root: Path) -> None:
    (root / "link.py").symlink_to("pkg/a.py")
    with pytest.raises(InputError, match="would be written twice"):
        write([FileChange("link.py", "a = 1\n", "a = 2\n"), change("a", "a = 3\n")], root)
    assert (root / "pkg/a.py").read_bytes() == b"a = 1\n"
