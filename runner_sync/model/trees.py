"""Describe trees and the files in them.

Goes out: frozen dataclasses. May touch: nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from runner_sync.model.words import Project


@dataclass(frozen=True, slots=True)
class Source:
    """Where a tree was read from. ``revision`` is a full commit hash if the tree is a git revision.

    ``altered``: files on disk that are no longer those of the release ``version``.
    """

    project: Project
    kind: Literal["path", "git", "release", "installed"]
    location: str
    version: str | None = None
    revision: str | None = None
    altered: bool = False

    @property
    def is_known_elsewhere(self) -> bool:
        """Whether ``ref`` identifies the tree on other machines too, because it is not a local folder."""
        return bool(self.revision or (self.version and not self.altered))

    @property
    def ref(self) -> str:
        """The shortest usual name: version, short commit, or path."""
        if self.altered:
            return self.revision[:10] if self.revision else self.location
        if self.kind in ("release", "installed") and self.version:
            return self.version
        if self.revision:
            return self.revision[:10]
        return self.version or self.location


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file before and after. ``before`` is ``None`` for a new file, ``after`` is ``None`` for a deleted file."""

    path: str
    before: str | None
    after: str | None
