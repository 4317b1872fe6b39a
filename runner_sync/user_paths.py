"""Paths as people name them, on the command line, in the environment and in configuration files.

Comes in: a path. Goes out: a ``Path``. May touch: the folders and links on the way, read only. For what cannot be a
path ``pathlib`` raises ``RuntimeError``, ``ValueError`` or ``OSError``, depending on the version of Python; here it is
always an ``InputError``.
"""

from __future__ import annotations

import errno
import re
from pathlib import Path

from runner_sync.errors import InputError

CONTROL = re.compile(r"[\x00-\x1f\x7f]")
"""What no name that is read from a file should hold: git and the operating system refuse some of it, and none is meant.
"""


def expanded(path: str | Path, *, named_by: str = "") -> Path:
    """``path`` with a leading ``~`` or ``~user`` as that home folder. Raises ``InputError`` for an unknown user, and
    for a character that no path can have. ``named_by``, if given, begins the message: the setting that has the path."""
    place, said = Path(path), f"{named_by}: {path!s}" if named_by else str(path)
    if "\0" in str(place):
        raise InputError(f"{said.replace(chr(0), '?')}: holds a NUL character, which no path can have; correct it.")
    try:
        return place.expanduser()
    except RuntimeError as error:
        raise InputError(
            f"{said}: {place.parts[0]} is no user with a home folder here; write the whole path."
        ) from error


def resolved(path: Path) -> Path:
    """``path`` as an absolute one without symbolic links; what is missing, or may not be looked into, is taken as it is
    written. Raises ``InputError`` for links that lead in a circle, which Python 3.13 only tells when it is strict."""
    try:
        return path.resolve(strict=True)
    except RuntimeError as error:
        raise _in_a_circle(path) from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _in_a_circle(path) from error
    try:
        return path.resolve()
    except (RuntimeError, OSError) as error:
        raise _in_a_circle(path) from error


def _in_a_circle(path: Path) -> InputError:
    return InputError(f"{path}: its symbolic links lead in a circle; name another path or mend them.")
