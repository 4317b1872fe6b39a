"""Open every tree that is given by path (a git checkout, at a revision or as it is, or a plain folder), and find the
folder of a tree in its git repository.

Comes in: a path and, for git checkouts, a revision; or a tree. Goes out: a ``Tree``; or a folder. May touch: files
below the path, read only, and the folders above it, to look for ``.git``; ``checkout`` does what needs git.
"""

from __future__ import annotations

from pathlib import Path

from runner_sync.errors import InputError
from runner_sync.model import TITLES, Project
from runner_sync.sources import layout
from runner_sync.sources.folder import FolderTree, open_folder
from runner_sync.trees import Tree
from runner_sync.user_paths import expanded, resolved


def open_path(project: Project, path: str | Path, *, ref: str | None = None) -> Tree:
    """Open a tree given by path: a git checkout at ``ref``, its work tree as it is, or a plain unpacked tree.

    ``path`` is the project's root (or ``site-packages``) or the package folder inside. Raises ``InputError`` if there
    is no such tree, if ``ref`` is given for something other than a git checkout, and for an unknown revision.
    """
    place = expanded(path)
    if not place.is_dir():
        raise InputError(
            f"{path} is not a folder: give the {TITLES[project]} tree with {layout.PATH_OPTIONS[project]}."
        )
    if _has_repository(place):
        from runner_sync.sources import checkout  # a plain folder does not need it

        tree = checkout.open_checkout(project, place, ref=ref)
        if tree is not None:
            return tree
    if ref is not None:
        raise InputError(
            f"{path} is not a git checkout of {TITLES[project]}, so it has no revision {ref}: leave the ref out."
        )
    return open_folder(project, place)


def _has_repository(place: Path) -> bool:
    """Whether ``place`` lies in a git work tree or is a bare repository, judged by its files, without git."""
    folder = resolved(place)
    is_bare = (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()
    return is_bare or any((parent / ".git").exists() for parent in (folder, *folder.parents))


def folder_in_repository(tree: Tree) -> str:
    """Return ``some/folder/`` for a tree in that folder of a git repository; ``""`` at its root or outside of any."""
    if isinstance(tree, FolderTree):
        root = resolved(tree.root)
        top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)
        return f"{root.relative_to(top).as_posix()}/" if top != root else ""
    if tree.source.kind != "git":
        return ""
    from runner_sync.sources.checkout import RevisionTree

    return tree.prefix if isinstance(tree, RevisionTree) else ""
