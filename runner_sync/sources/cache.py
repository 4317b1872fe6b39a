"""Keep a content-checked cache on disk, shared by concurrent processes.

Comes in and goes out: bytes under a kind and a key. May touch: the folder ``RUNNER_SYNC_CACHE``, or the user's cache
folder for ``runner-sync``. An entry is written to a temporary file and renamed, so a reader sees all of it or none of
it. Its first line holds a SHA-256 over key and payload, so a damaged or foreign entry counts as missing. The caller
checks whether an intact entry has the form that this version of the program writes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
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
"""Error handler with which keys become bytes: a path that is not UTF-8 is a valid key."""

OTHER_FORM = (ValueError, TypeError, KeyError, AttributeError)
"""Errors raised by reading an entry as JSON of a known form if it has another form; the entry then counts as
missing."""
UNUSED = 30 * _DAY
"""Seconds after which an unused answer is removed. Answers accumulate: each commit of a checkout and each version of
this program has its own."""


def folder() -> Path:
    """Return the cache's root folder for this layout version; it need not exist yet.

    Raises ``InputError`` for a user without a home folder, as in some containers, if no folder is named.
    """
    chosen = os.environ.get("RUNNER_SYNC_CACHE")
    if chosen:
        return expanded(chosen, named_by="RUNNER_SYNC_CACHE") / _LAYOUT
    import platformdirs

    try:
        found = platformdirs.user_cache_dir("runner-sync")
    except RuntimeError:
        found = "~"
    if found.startswith("~"):  # older versions of platformdirs return this in place of an error
        raise InputError(
            "this user has no home folder that could hold the cache: name a folder with RUNNER_SYNC_CACHE."
        )
    return Path(found) / _LAYOUT


def load(kind: str, key: str) -> bytes | None:
    """Return the bytes stored under ``kind`` and ``key``; ``None`` if there are none or they are damaged."""
    file = open_stored(kind, key)
    if file is None:
        return None
    with file:
        return file.read()


def open_stored(kind: str, key: str) -> BinaryIO | None:
    """Like ``load``, but return a file open at the first stored byte, for a large entry that is read in parts."""
    entry = _locate_entry(kind, key)
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
    """Whether the header's digest matches the payload; leaves ``file`` at the first byte of the payload."""
    try:
        header = file.readline(_LONGEST_HEADER)
        start = file.tell()
        digest = _start_digest(key)
        while part := file.read(_CHUNK):
            digest.update(part)
        file.seek(start)
    except OSError:
        return False
    return header == _format_header(digest) + b"\n"


def store(kind: str, key: str, data: bytes) -> None:
    """Store ``data`` for later runs.

    If the default cache folder is not writable, nothing is stored; if a folder named by ``RUNNER_SYNC_CACHE`` is not
    writable, raises ``InputError``.
    """
    entry = _locate_entry(kind, key)
    try:
        entry.parent.mkdir(parents=True, exist_ok=True)
        _replace_entry(entry, _format_header(_start_digest(key, data)) + b"\n" + data)
    except OSError as error:
        if os.environ.get("RUNNER_SYNC_CACHE"):
            reason = error.strerror or error
            raise InputError(
                f"cannot write to the cache folder {folder()} ({reason}): name another one with RUNNER_SYNC_CACHE."
            ) from error


def load_answer(kind: str, key: str) -> bytes | None:
    """Like ``load``, for entries of ``store_answer``: updates the entry's time, at most once a day, to mark it as
    used."""
    data = load(kind, key)
    if data is not None:
        entry = _locate_entry(kind, key)
        with contextlib.suppress(OSError):
            if entry.stat().st_mtime < time.time() - _DAY:
                os.utime(entry)
    return data


def store_answer(kind: str, key: str, data: bytes) -> None:
    """Like ``store``, for data that can be computed again. Removes answers of this kind that were unused for
    ``UNUSED``."""
    store(kind, key, data)
    _sweep(folder() / kind)


def _sweep(entries: Path) -> None:
    """Remove, at most once a day, entries unused for ``UNUSED`` and temporary files of killed runs."""
    done, now = entries / _SWEPT, time.time()
    with contextlib.suppress(OSError):
        if done.exists() and done.stat().st_mtime > now - _DAY:
            return
        done.touch()
        for entry in entries.iterdir():
            with contextlib.suppress(OSError):
                if entry.stat().st_mtime < now - UNUSED:
                    entry.unlink()


def list_keys(kind: str) -> list[str]:
    """Return the keys stored under ``kind``, sorted; omits very long keys, of which only a hash is stored."""
    try:
        names = [entry.name for entry in (folder() / kind).iterdir()]
    except OSError:
        return []
    return sorted(unquote(name, errors=_ESCAPED) for name in names if not name.startswith((".", "~")))


def _replace_entry(entry: Path, data: bytes) -> None:
    import tempfile  # most runs only read

    handle, name = tempfile.mkstemp(dir=entry.parent, prefix=".")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        temporary.replace(entry)
    finally:
        temporary.unlink(missing_ok=True)


def _locate_entry(kind: str, key: str) -> Path:
    name = quote(key, safe="+", errors=_ESCAPED)
    name = name.replace(".", "%2E", 1) if key.startswith(".") else name
    if not name or len(name) > _LONGEST_NAME:
        name = "~" + hashlib.sha256(key.encode(errors=_ESCAPED)).hexdigest()
    return folder() / kind / name


def _start_digest(key: str, data: bytes = b"") -> hashlib._Hash:
    digest = hashlib.sha256(key.encode(errors=_ESCAPED) + b"\0")
    digest.update(data)
    return digest


def _format_header(digest: hashlib._Hash) -> bytes:
    return b"runner-sync " + digest.hexdigest().encode()
