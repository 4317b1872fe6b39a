"""Replace files: all of them or none.

Comes in: ``FileChange`` values with LF texts and the root they are relative to. Goes out: the paths written. May touch:
the files named, and temporary files beside them while it runs. The only room that writes.

Everything that can be refused is refused before the first file is replaced. If the replacing is interrupted (also by
``KeyboardInterrupt``), every file is put back; Ctrl-C and SIGTERM are delayed until then (``interrupts``). A new file
inherits from the old one what the program's texts do not hold: mode and owner, and what ``endings`` restores.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from runner_sync.errors import InputError
from runner_sync.model import FileChange
from runner_sync.user_paths import resolved
from runner_sync.write.endings import find_lone_return, is_same, restore
from runner_sync.write.interrupts import delay_interrupts


@dataclass(slots=True)
class _Job:
    """One file to replace: the bytes to write (``None``: delete the file), and the temporary files in use meanwhile.

    ``fresh`` is the file with the new content, ``backup`` the old one; ``begun``: the replacing may have happened.
    """

    path: str
    target: Path
    content: bytes | None
    exists: bool
    new_folders: list[Path] = field(default_factory=list)
    fresh: Path | None = None
    backup: Path | None = None
    begun: bool = False


def write(
    changes: Sequence[FileChange],
    root: Path,
    *,
    prepare: Callable[[tuple[str, ...]], None] = lambda _paths: None,
    tell: Callable[[tuple[str, ...]], None] = lambda _paths: None,
) -> tuple[str, ...]:
    """Write every change below ``root`` or none; returns the paths that really changed.

    ``prepare`` is called with the same paths before anything is written, and may raise. ``tell`` is called with them at
    the end: a signal that arrived meanwhile is delivered after that call, and then nothing is returned. Raises
    ``InputError``, with nothing changed, for a target that is outside ``root``, a directory, not writable, not UTF-8,
    or different from the text that was read (``before``).
    """
    jobs = [job for job in _plan_all(changes, root) if job is not None]
    paths = tuple(job.path for job in jobs)
    prepare(paths)
    with delay_interrupts() as stop_if_asked:
        try:
            for job in jobs:
                stop_if_asked()
                _stage(job)
            _commit(jobs, stop_if_asked)
        except OSError as error:
            name = error.filename or (jobs[0].path if jobs else root)
            raise InputError(f"{name}: cannot be written ({error.strerror or error}); no file was changed.") from error
        finally:
            _sweep(jobs)
        tell(paths)
    return paths


def _plan_all(changes: Sequence[FileChange], root: Path) -> list[_Job | None]:
    base = resolved(root)
    targets = Counter(_resolve_target(change.path, base) for change in changes)
    for target, count in targets.items():
        if count > 1:
            raise InputError(f"{target}: would be written twice in one run; no file was changed.")
    return [_plan(change, base) for change in changes]


def _plan(change: FileChange, base: Path) -> _Job | None:
    target = _resolve_target(change.path, base)
    if not target.exists():
        if change.before is not None:
            raise InputError(f"{change.path}: is gone since it was read; run again.")
        _check_folder(target, change.path)
        return None if change.after is None else _Job(change.path, target, change.after.encode(), exists=False)
    _check_file(target, change.path)
    disk = _read(target, change.path)
    if change.before is None:
        raise InputError(f"{change.path}: exists already; move it away or name another place.")
    if not is_same(disk, change.before):
        _refuse_lone_return(disk, change.path)
        raise InputError(f"{change.path}: changed on disk since it was read; run again.")
    content = None if change.after is None else restore(disk, change.after).encode()
    return None if content == disk.encode() else _Job(change.path, target, content, exists=True)


def _resolve_target(path: str, base: Path) -> Path:
    pure = PurePosixPath(path)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        raise InputError(f"{path}: is no path below {base}; no file was changed.")
    target = resolved(base / pure)
    if not target.is_relative_to(base):
        link = _find_link_outside(pure, base)
        kind = "file" if link == str(pure) else "folder"
        where = path if link == path else f"{path}: its folder {link}"
        raise InputError(f"{where} is a symbolic link that leads outside {base}; replace it by a {kind}.")
    return target


def _find_link_outside(path: PurePosixPath, base: Path) -> str:
    """Return the shortest leading part of ``path`` that leads out of ``base``."""
    parts = [path, *path.parents][-2::-1]
    return next((str(part) for part in parts if not resolved(base / part).is_relative_to(base)), str(path))


def refuse_links(paths: Sequence[str], root: Path) -> None:
    """Raise ``InputError`` for a path that leads out of ``root`` by a symbolic link.

    ``write`` refuses such a path, too, but only after the work.
    """
    base = resolved(root)
    for path in paths:
        _resolve_target(path, base)


def refuse_lone_returns(paths: Sequence[str], root: Path) -> None:
    """Raise ``InputError`` for a file with a carriage return that ends no line: `endings` could not restore it."""
    for path in paths:
        _refuse_lone_return(_read(root / path, path), path)


def _refuse_lone_return(disk: str, path: str) -> None:
    line = find_lone_return(disk)
    if line:
        raise InputError(
            f"{path}:{line}: has a carriage return that ends no line; make it a line end or take it out, and run again."
        )


def _check_file(target: Path, path: str) -> None:
    mode = target.stat().st_mode
    if not stat.S_ISREG(mode):
        raise InputError(f"{path}: is not a regular file; move it away and run again.")
    # Root may write every file, but one without any write bit is still not meant to be changed.
    if not mode & 0o222 or not os.access(target, os.W_OK):
        raise InputError(f"{path}: is read-only; make it writable and run again.")
    _check_folder(target, path)


def _check_folder(target: Path, path: str) -> None:
    folder = next(parent for parent in target.parents if parent.exists())
    if not folder.is_dir():
        raise InputError(f"{path}: {folder} is not a directory; move it away and run again.")
    if not folder.stat().st_mode & 0o222 or not os.access(folder, os.W_OK):
        raise InputError(f"{path}: the directory {folder} is read-only; make it writable and run again.")


def _read(target: Path, path: str) -> str:
    try:
        return target.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 (byte {error.start}); convert it and run again.") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); make it readable and run again.") from error


def as_on_disk(changes: Sequence[FileChange], root: Path | None) -> tuple[FileChange, ...]:
    """Return ``changes`` with the byte order marks and line endings of the files below ``root``.

    ``write`` restores them as well; a patch without them does not apply. A change of an absent file stays as it is.
    """
    return tuple(_restore_form(change, root) if root is not None else change for change in changes)


def _restore_form(change: FileChange, root: Path) -> FileChange:
    target = root / change.path  # only read, so a link that leads out of `root` does no harm
    if change.before is None or not target.is_file():
        return change
    disk = _read(target, change.path)
    if not is_same(disk, change.before):
        return change
    return replace(change, before=disk, after=None if change.after is None else restore(disk, change.after))


def _stage(job: _Job) -> None:
    """Write the new content and a backup to files beside the target."""
    folder = job.target.parent
    for parent in reversed([folder, *folder.parents]):
        if not parent.exists():
            parent.mkdir()
            job.new_folders.append(parent)
    if job.content is not None:
        job.fresh = _name_beside(job.target, "new")
        _write_durably(job.fresh, job.content)
        if job.exists:
            _keep_owner_and_mode(job.fresh, job.target.stat())
    if job.exists:
        job.backup = _name_beside(job.target, "old")
        _back_up(job.target, job.backup)


def _keep_owner_and_mode(fresh: Path, old: os.stat_result) -> None:
    """Give ``fresh`` the mode of the old file and, as far as permitted, its owner and group.

    A file that root replaces in a container must not belong to root afterwards.
    """
    for owner in (old.st_uid, -1) if hasattr(os, "chown") else ():
        with contextlib.suppress(OSError):
            os.chown(fresh, owner, old.st_gid)
            break
    fresh.chmod(stat.S_IMODE(old.st_mode))  # after chown, which clears some bits of the mode


def _name_beside(target: Path, role: str) -> Path:
    return target.with_name(f".{target.name}.{uuid.uuid4().hex[:12]}.{role}")


def _write_durably(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _back_up(target: Path, backup: Path) -> None:
    try:
        os.link(target, backup)
    except OSError:
        shutil.copy2(target, backup)
        _keep_owner_and_mode(backup, target.stat())


def _commit(jobs: Sequence[_Job], stop_if_asked: Callable[[], None]) -> None:
    try:
        for job in jobs:
            stop_if_asked()
            # Set first: a call that fails may have renamed the file nevertheless.
            job.begun = True
            if job.fresh is not None:
                job.fresh.replace(job.target)
            else:
                job.target.unlink()
        for folder in {job.target.parent for job in jobs}:
            _sync_folder(folder)
    except BaseException as error:
        failures = [failure for job in reversed(jobs) if job.begun and (failure := _put_back(job))]
        if failures:
            raise InputError("; ".join(failures) + ".") from error
        raise


def _sync_folder(folder: Path) -> None:
    # Some file systems cannot sync a folder; the content of the files is on disk already.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _put_back(job: _Job) -> str:
    """Undo one replacement; returns what went wrong, or an empty string."""
    try:
        if job.backup is not None:
            job.backup.replace(job.target)
        else:
            job.target.unlink(missing_ok=True)
    except OSError as error:
        kept, job.backup = job.backup, None
        return f"{job.path}: could not be put back ({error.strerror or error}); its old text is in {kept}"
    return ""


def _sweep(jobs: Sequence[_Job]) -> None:
    """Remove the remaining temporary files, and new folders that are empty because their files were not written."""
    for job in jobs:
        for leftover in (job.fresh, job.backup):
            if leftover is not None:
                with contextlib.suppress(OSError):
                    leftover.unlink(missing_ok=True)
    # Folders come last: a folder that one job made may hold files of another.
    for folder in [folder for job in jobs for folder in job.new_folders][::-1]:
        with contextlib.suppress(OSError):
            folder.rmdir()
