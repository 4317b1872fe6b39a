"""Offer completions to a shell while a command line is being typed.

Comes in: the beginning of a word. Goes out: whole words. May touch: the lock of the current folder and the cache, by
reading.
"""

from __future__ import annotations

from pathlib import Path

from runner_sync.errors import InputError
from runner_sync.lock import load
from runner_sync.profile import BUILT_IN
from runner_sync.sync import asked
from runner_sync.verify.catalog import known_codes


def codes(beginning: str) -> list[str]:
    """Return the codes of rules that begin with ``beginning``."""
    return [code for code in known_codes() if code.startswith(beginning)]


def units(beginning: str) -> list[str]:
    """Return the units in the locks of the current folder that begin so, by qualified name and by member name."""
    names = [name for profile in BUILT_IN.values() for name in _read_units(Path(profile.lock_file))]
    names += [name.rpartition(".")[2] for name in names]
    return [name for name in dict.fromkeys(names) if name.startswith(beginning)]


def items(beginning: str) -> list[str]:
    """Return the ids of the review items of the last upgrade that wrote to the current folder that begin so."""
    return [item.id for item in asked.load_items(Path()) or () if item.id.startswith(beginning)]


def _read_units(path: Path) -> list[str]:
    """Return the units of a lock file; none if it cannot be read, because a completion must not fail."""
    try:
        return [entry.qualname for entry in load(path.read_text("utf-8")).entries]
    except (OSError, UnicodeDecodeError, InputError):
        return []
