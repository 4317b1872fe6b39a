"""What a shell offers while a command line is being typed.

Comes in: the beginning of a word. Goes out: whole words. May touch: the lock of the current folder, by reading.
"""

from __future__ import annotations

from pathlib import Path

from runner_sync.errors import InputError
from runner_sync.lock import FILE_NAME, load
from runner_sync.verify.catalog import known_codes


def codes(beginning: str) -> list[str]:
    """Codes of rules."""
    return [code for code in known_codes() if code.startswith(beginning)]


def units(beginning: str) -> list[str]:
    """Units that the lock of the current folder names, by qualified name and by member name; none without a lock."""
    try:
        names = [entry.qualname for entry in load(Path(FILE_NAME).read_text("utf-8")).entries]
    except (OSError, UnicodeDecodeError, InputError):
        return []
    names += [name.rpartition(".")[2] for name in names]
    return [name for name in dict.fromkeys(names) if name.startswith(beginning)]
