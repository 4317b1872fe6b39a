"""Tells this program, as it is installed, from any other version of it.

Comes in and goes out: a digest. May touch: the program's own files, read only, and the cache folder.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from time import time_ns

import runner_sync
from runner_sync.errors import InputError
from runner_sync.sources.cache import load_answer, store_answer

_KIND = "programs"
_SETTLED = 2 * 10**9
"""Nanoseconds that two changes must lie apart to give a file different times on every file system."""

State = tuple[str, int, int, int, int]
"""A file's path, number, size, and times of its content and of its entry."""


@cache
def program_digest() -> str:
    """Return a digest of this program's text and of Python, on which every remembered answer depends.

    The version number would not do: it is the same for all commits between two releases. A file that cannot be read,
    such as the link with which an editor locks a module, is no part of the program. As long as no file's state changes,
    the digest is recalled: that takes a quarter of the time of reading all files.
    """
    root = str(Path(runner_sync.__file__).parent)
    states = sorted(_find_modules(root))
    # A file may change twice within the precision of its times.
    if max((changed for state in states for changed in state[-2:]), default=0) > time_ns() - _SETTLED:
        return _digest_files(root, states)
    key = hashlib.sha256(repr((sys.version, root, states)).encode(errors="surrogateescape")).hexdigest()
    with suppress(InputError):
        if (known := load_answer(_KIND, key)) is not None:
            return known.decode()
    found = _digest_files(root, states)
    with suppress(InputError):
        store_answer(_KIND, key, found.encode())
    return found


def _digest_files(root: str, states: Sequence[State]) -> str:
    found = hashlib.sha256(sys.version.encode())
    for path, *_ in states:
        with suppress(OSError):
            digest = hashlib.sha256(Path(path).read_bytes()).digest()
            found.update(f"{path.removeprefix(root)}\0".encode(errors="surrogateescape") + digest)
    return found.hexdigest()


def _find_modules(folder: str) -> Iterator[State]:
    """Yield the states of the Python files below a folder."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                with suppress(OSError):
                    now = entry.stat()
                    yield entry.path, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns
            elif entry.is_dir(follow_symlinks=False):
                yield from _find_modules(entry.path)
