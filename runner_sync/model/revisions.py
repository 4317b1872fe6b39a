"""Describe a file in the history of a repository.

Goes out: frozen dataclasses. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of one file in git. ``blob`` is the git object id of its text, or empty if the file was removed."""

    commit: str
    blob: str
    path: str
    subject: str
