"""Resolve paths that people write on the command line, in the environment and in configuration files.

Comes in: a path. Goes out: a ``Path``. May touch: the folders and links on the way, read only.

For an impossible path, ``pathlib`` raises ``RuntimeError``, ``ValueError`` or ``OSError``, depending on the Python
version; here it is always an ``InputError``.
"""

from __future__ import annotations

import errno
import re
from pathlib import Path

from runner_sync.errors import InputError

CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""Characters that no name read from a file should contain: git and the operating system refuse some of them, and none
is intended."""


def expanded(path: str | Path, *, named_by: str = "") -> Path:
    """Expand a leading ``~`` or ``~user`` in ``path``.

    Raises ``InputError`` for an unknown user and for a character that no path can have. The message begins with
    ``named_by``, the setting that contains the path, if given.
    """
    place, subject = Path(path), f"{named_by}: {path!s}" if named_by else str(path)
    if "\0" in str(place):
        raise InputError(f"{subject.replace(chr(0), '?')}: holds a NUL character, which no path can have; correct it.")
    try:
        return place.expanduser()
    except RuntimeError as error:
        raise InputError(
            f"{subject}: {place.parts[0]} is no user with a home folder here; write the whole path."
        ) from error


def resolved(path: Path) -> Path:
    """Return ``path`` as an absolute path without symbolic links; missing or unreadable parts are kept as written.

    Raises ``InputError`` for circular links, which Python 3.13 reports only in strict mode.
    """
    try:
        return path.resolve(strict=True)
    except RuntimeError as error:
        raise _make_circle_error(path) from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _make_circle_error(path) from error
    try:
        return path.resolve()
    except (RuntimeError, OSError) as error:
        raise _make_circle_error(path) from error


def _make_circle_error(path: Path) -> InputError:
    return InputError(f"{path}: its symbolic links lead in a circle; name another path or mend them.")
