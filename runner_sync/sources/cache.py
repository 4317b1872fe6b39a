"""A content-checked cache on disk, shared by concurrent processes.

Comes in and goes out: bytes under a kind and a key. May touch: the folder ``RUNNER_SYNC_CACHE``, or the user's cache
folder for ``runner-sync``. An entry is written to a temporary file and renamed, so a reader sees all of it or none of
it; its first line holds a SHA-256 over key and payload, so a damaged or foreign entry reads as missing. Whether a whole
entry has the form that this version of the program writes, its reader finds out.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote, unquote

from runner_sync.errors import InputError
from runner_sync.user_paths import expanded

_LAYOUT = "v1"
_LONGEST_NAME = 200
_LONGEST_HEADER = 100
_CHUNK = 1024 * 1024
_DAY = 24 * 60 * 60
_SWEPT = ".swept"
_ESCAPED = "surrogateescape"
"""How keys become bytes: a path that is not UTF-8 is one, too."""

OTHER_FORM = (ValueError, TypeError, KeyError, AttributeError)
"""What reading an entry as JSON of a known form raises if it has another form; it then counts as missing, too."""
UNUSED = 30 * _DAY
"""Seconds after which an unused answer is removed. Answers add up: each commit of a checkout and each version of this
program has its own."""


def folder() -> Path:
    """The cache's root folder for this layout version; it need not exist yet."""
    chosen = os.environ.get("RUNNER_SYNC_CACHE")
    if chosen:
        return expanded(chosen, named_by="RUNNER_SYNC_CACHE") / _LAYOUT
    import platformdirs

    return Path(platformdirs.user_cache_dir("runner-sync")) / _LAYOUT


def load(kind: str, key: str) -> bytes | None:
    """The bytes stored under ``kind`` and ``key``, or ``None`` when there are none or they are damaged."""
    file = open_stored(kind, key)
    if file is None:
        return None
    with file:
        return file.read()


def open_stored(kind: str, key: str) -> BinaryIO | None:
    """``load`` as an open file at the first stored byte, for an entry that is large and read in parts."""
    entry = _entry(kind, key)
    try:
        file = entry.open("rb")
    except OSError:
        return None
    if _is_whole(file, key):
        return file
    file.close()
    with contextlib.suppress(OSError):
        entry.unlink()
    return None


def _is_whole(file: BinaryIO, key: str) -> bool:
    """Whether the digest in the header is that of the payload; leaves ``file`` at the first byte of the payload."""
    try:
        header = file.readline(_LONGEST_HEADER)
        start = file.tell()
        digest = _digest(key)
        while part := file.read(_CHUNK):
            digest.update(part)
        file.seek(start)
    except OSError:
        return False
    return header == _header(digest) + b"\n"


def store(kind: str, key: str, data: bytes) -> None:
    """Keep ``data`` for later runs.

    If the default cache folder cannot be written, nothing is kept; a folder named by ``RUNNER_SYNC_CACHE`` that cannot
    be written raises ``InputError``.
    """
    entry = _entry(kind, key)
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        _replace(entry, _header(_digest(key, data)) + b"\n" + data)
    except OSError as error:
        if os.environ.get("RUNNER_SYNC_CACHE"):
            reason = error.strerror or error
            raise InputError(
                f"cannot write to the cache folder {folder()} ({reason}): name another one with RUNNER_SYNC_CACHE."
            ) from error


def load_answer(kind: str, key: str) -> bytes | None:
    """``load`` for entries of ``store_answer``: marks the entry as used (its time, at most once a day)."""
    data = load(kind, key)
    if data is not None:
        entry = _entry(kind, key)
        with contextlib.suppress(OSError):
            if entry.stat().st_mtime < time.time() - _DAY:
                os.utime(entry)
    return data


def store_answer(kind: str, key: str, data: bytes) -> None:
    """``store`` for what can be computed again. Removes answers of the same kind that were not used for ``UNUSED``."""
    store(kind, key, data)
    _sweep(folder() / kind)


def _sweep(entries: Path) -> None:
    """Remove, at most once a day, entries that were not used for ``UNUSED``, and temporary files of killed runs."""
    done, now = entries / _SWEPT, time.time()
    with contextlib.suppress(OSError):
        if done.exists() and done.stat().st_mtime > now - _DAY:
            return
        done.touch()
        for entry in entries.iterdir():
            with contextlib.suppress(OSError):
                if entry.stat().st_mtime < now - UNUSED:
                    entry.unlink()


def keys(kind: str) -> list[str]:
    """The keys stored under ``kind``, sorted, without very long ones, whose file name is only a hash."""
    try:
        names = [entry.name for entry in (folder() / kind).iterdir()]
    except OSError:
        return []
    return sorted(unquote(name, errors=_ESCAPED) for name in names if not name.startswith((".", "~")))


def _replace(entry: Path, data: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=entry.parent, prefix=".")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.replace(entry)
    finally:
        temporary.unlink(missing_ok=True)


def _entry(kind: str, key: str) -> Path:
    name = quote(key, safe="+", errors=_ESCAPED)
    name = name.replace(".", "%2E", 1) if key.startswith(".") else name
    if not name or len(name) > _LONGEST_NAME:
        name = "~" + hashlib.sha256(key.encode(errors=_ESCAPED)).hexdigest()
    return folder() / kind / name


def _digest(key: str, data: bytes = b"") -> hashlib._Hash:
    digest = hashlib.sha256(key.encode(errors=_ESCAPED) + b"\0")
    digest.update(data)
    return digest


def _header(digest: hashlib._Hash) -> bytes:
    return b"runner-sync " + digest.hexdigest().encode()
