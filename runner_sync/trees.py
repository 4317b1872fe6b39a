"""Protocols of a tree of one project. ``sources`` creates trees, all other rooms read them.

Comes in and goes out: paths, texts, git revisions. May touch: nothing; ``sources`` states what each tree touches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from runner_sync.model import Revision, Source


class Tree(Protocol):
    """A read-only tree of one project at one revision. Paths are POSIX, relative to the project's root.

    Two trees are equal only if they are the same object, so that what is found out about one can be cached.
    """

    def __hash__(self) -> int: ...

    @property
    def source(self) -> Source: ...

    def read(self, path: str) -> str | None:
        """Return the text of ``path`` with LF newlines, or ``None`` if the tree has no such file."""
        ...

    def paths(self, prefix: str = "") -> Iterable[str]:
        """Return every ``.py`` path below ``prefix``, sorted."""
        ...


@runtime_checkable
class Remembering(Tree, Protocol):
    """A tree that knows without reading a file whether it has changed."""

    def remembered(self, what: str, find: Callable[[str], bytes]) -> dict[str, bytes]:
        """Return ``{path: find(text)}`` for every ``.py`` file of the package.

        For an unchanged file, the answer for ``what`` from an earlier run is reused.
        """
        ...


@runtime_checkable
class Keeping(Tree, Protocol):
    """A tree that keeps every text that ``read`` returned, so that a run sees each file in one state only."""

    def peek(self, path: str) -> str | None:
        """Return what ``read`` returns without keeping it: for a search through many files, of which few are parsed."""
        ...


@runtime_checkable
class OnDisk(Protocol):
    """A tree whose files are in a folder."""

    root: Path


@runtime_checkable
class InGit(Tree, Protocol):
    """A tree in a git repository."""

    def history(self, *places: str) -> Sequence[Revision]:
        """Return every revision of a file, which may have stood at several ``places``, newest first."""
        ...

    def steps(self, paths: Sequence[str]) -> Sequence[Sequence[Revision]]:
        """Return, for each first-parent commit that changed any of ``paths``, their new revisions, newest commit first.

        The oldest commit of a shallow clone seems to add every file.
        """
        ...

    def read_blob(self, blob: str) -> str:
        """Return the text, with LF newlines, of a blob that ``history`` or ``steps`` names."""
        ...

    def changed_lines(self, since: str) -> dict[str, frozenset[int]]:
        """Return the 1-based lines, by path, that changed since the branch left ``since``."""
        ...

    def renamed(self, since: str) -> dict[str, str]:
        """Return ``{new path: old path}`` of the files renamed since the branch left ``since``."""
        ...

    def fork_point(self, since: str) -> str:
        """Return the commit at which the branch left ``since``."""
        ...

    def is_shallow(self) -> bool:
        """Whether the clone has only a part of the history."""
        ...

    def list_missing(self, commits: Sequence[str]) -> Sequence[str]:
        """Return those of ``commits`` that the repository does not have."""
        ...

    def release_before(self) -> str | None:
        """Return the tag of the release before this one; ``None`` if this is not a release, or the first."""
        ...


@runtime_checkable
class InWork(Protocol):
    """A git work tree."""

    def dirty(self, paths: Iterable[str]) -> list[str]:
        """Return those of ``paths`` whose present content git could not restore."""
        ...

    def is_changed(self) -> bool:
        """Whether any tracked file differs from the commit checked out."""
        ...


def peek(tree: Tree, path: str) -> str | None:
    """Return the text of ``path`` as ``read`` does; a tree that keeps what it reads does not keep it."""
    return tree.peek(path) if isinstance(tree, Keeping) else tree.read(path)
