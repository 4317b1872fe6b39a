"""Protocols of a tree of one project, wherever it is read from. ``sources`` makes trees, all other rooms read them.

Comes in and goes out: paths, texts, git revisions. May touch: nothing; what a tree touches, ``sources`` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from runner_sync.model import Source


@dataclass(frozen=True, slots=True)
class Revision:
    """One revision of one file in git. ``blob`` is the git object id of its text, empty where the file was removed."""

    commit: str
    blob: str
    path: str
    subject: str


class Tree(Protocol):
    """A read-only tree of one project at one revision. Paths are POSIX, relative to the project's root."""

    @property
    def source(self) -> Source: ...

    def read(self, path: str) -> str | None:
        """Text of ``path`` with LF newlines, or ``None`` when the tree has no such file."""
        ...

    def paths(self, prefix: str = "") -> Iterable[str]:
        """Every ``.py`` path below ``prefix``, sorted."""
        ...


@runtime_checkable
class Remembering(Tree, Protocol):
    """Extra operation of a tree that knows without reading a file whether it has changed."""

    def remembered(self, what: str, find: Callable[[str], bytes]) -> dict[str, bytes]:
        """``{path: find(text)}`` for every ``.py`` file of the package; if a file has not changed since an earlier run
        asked for ``what``, the answer of that run."""
        ...


@runtime_checkable
class OnDisk(Protocol):
    """Extra attribute of a tree whose files lie in a folder."""

    root: Path


@runtime_checkable
class InGit(Tree, Protocol):
    """Extra operations of a tree that is in a git repository."""

    def history(self, path: str) -> Sequence[Revision]:
        """Every revision of ``path``, newest first."""
        ...

    def steps(self, paths: Sequence[str]) -> Sequence[Sequence[Revision]]:
        """For each first-parent commit that changed any of ``paths`` the new revisions of these, newest commit first.

        The oldest commit of a shallow clone seems to have added every file.
        """
        ...

    def read_blob(self, blob: str) -> str:
        """Text of a blob that ``history`` or ``steps`` names, with LF newlines."""
        ...

    def changed_lines(self, since: str) -> dict[str, frozenset[int]]:
        """1-based lines by path that changed since the branch left ``since``."""
        ...

    def renamed(self, since: str) -> dict[str, str]:
        """``{path now: path then}`` of the files that were renamed since the branch left ``since``."""
        ...

    def fork_point(self, since: str) -> str:
        """The commit at which the branch left ``since``."""
        ...

    def release_before(self) -> str | None:
        """The tag of the release before this one; ``None`` when this is no release, or the first."""
        ...


@runtime_checkable
class InWork(Protocol):
    """Extra operations of a git work tree."""

    def dirty(self, paths: Iterable[str]) -> list[str]:
        """Those of ``paths`` whose present content git could not restore."""
        ...

    def is_changed(self) -> bool:
        """Whether any tracked file differs from the commit checked out."""
        ...


@runtime_checkable
class Described(Protocol):
    """Extra operations of a tree that knows where its distribution's core metadata is."""

    def metadata(self) -> str | None:
        """Text of the core metadata, if there is one."""
        ...
