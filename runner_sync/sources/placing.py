"""Find the folder of a tree within its git repository.

Comes in: a tree. Goes out: a folder. May touch: the folders above the tree, to look for ``.git``; git is not run.
"""

from __future__ import annotations

from pathlib import Path

from runner_sync.sources.folder import FolderTree
from runner_sync.trees import Tree
from runner_sync.user_paths import resolved


def folder_in_repository(tree: Tree) -> str:
    """Return ``some/folder/`` for a tree in that folder of a git repository; ``""`` at its root or outside of any."""
    if isinstance(tree, FolderTree):
        return _find_path_in_repository(resolved(tree.root))
    if tree.source.kind != "git":
        return ""
    from runner_sync.sources.checkout import RevisionTree

    return tree.prefix if isinstance(tree, RevisionTree) else ""


def _find_path_in_repository(root: Path) -> str:
    top = next((folder for folder in (root, *root.parents) if (folder / ".git").exists()), root)
    return f"{root.relative_to(top).as_posix()}/" if top != root else ""
