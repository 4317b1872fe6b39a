"""Compare the units of a module text with those that the lock recorded.

Comes in: lock references and the present text. Goes out: answers, or an ``InputError``. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from runner_sync.digests import digest
from runner_sync.errors import InputError
from runner_sync.model import TITLES, BaseRef
from runner_sync.units.texts import unit_texts

ANEW = "make it anew with `runner-sync lock`, or name the base by option"


def find_changed_unit(references: Iterable[BaseRef], text: str, path: str) -> str:
    """Return the name of the first unit whose code in ``text`` differs from the locked one; empty if there is none.

    The lock may name a folder or a branch, whose texts can change.
    """
    now = unit_texts(text, path)
    names = ((one.qualname, one.digest) for one in references if one.qualname in now)
    return next((name for name, locked in names if digest(now[name]) != locked), "")


def require_locked(references: Sequence[BaseRef], text: str, path: str, lock_file: str) -> None:
    """Raise ``InputError`` if a unit in ``text`` differs from the locked one; all ``references`` have the same ref."""
    if name := find_changed_unit(references, text, path):
        where = f"{TITLES[references[0].project]} {references[0].ref}"
        raise InputError(f"{lock_file} was made with another {name} than {where} has now: {ANEW}.")
