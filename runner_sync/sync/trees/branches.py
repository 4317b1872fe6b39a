"""Open the omni tree at the start of a branch (``--changed-since``).

Comes in: the ``Inputs`` of a run and a git revision. Goes out: the ``Inputs`` at the fork point. May touch: what
``sources`` touches.
"""

from __future__ import annotations

from dataclasses import replace

from runner_sync.errors import InputError
from runner_sync.lock import load
from runner_sync.sync.options import Progress
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.patched_tree import PatchedTree
from runner_sync.trees import InGit, Tree


def require_git(omni: Tree, revision: str) -> InGit:
    """Return the omni tree, to compare with ``revision``; raise ``InputError`` if it is no git checkout."""
    if not isinstance(omni, InGit):
        raise InputError(
            f"{omni.source.location} is no git checkout, so nothing changed there since {revision}: leave "
            "--changed-since out."
        )
    return omni


def had_lock(given: inputs.Inputs, revision: str, progress: Progress) -> bool:
    """Whether the tree had a lock where the branch began, and has it at ``revision``."""
    now = require_git(given.omni, revision)
    trees = (inputs.open_at("vllm-omni", ref, given.omni, progress) for ref in (now.fork_point(revision), revision))
    return all(inputs.read_lock_text(tree, given.lock_file) is not None for tree in trees)


def omni_before(given: inputs.Inputs, revision: str, progress: Progress) -> inputs.Inputs:
    """Return the inputs at the fork point of the branch from ``revision``.

    The lock is the one at that point, or else the present one. Files that moved or that the branch renamed can be read
    by their new names, too. Raises ``InputError`` if the tree is no git checkout, and for an unknown revision.
    """
    now = require_git(given.omni, revision)
    tree = inputs.open_at("vllm-omni", now.fork_point(revision), given.omni, progress)
    name = given.lock_file
    text = inputs.read_lock_text(tree, name)
    lock = load(text, path=name) if text is not None else given.lock
    renamed = {new: old for old, new in given.moves.items()} | now.renamed(revision)
    if renamed:
        names = {old: new for new, old in renamed.items()}
        # A file that moved before stays as it is, and the old names stay readable, too.
        later = {new: old for new, old in renamed.items() if new not in given.moves.values() or tree.read(new) is None}
        modules = ((new, tree.read(old)) for new, old in later.items() if new.endswith(".py"))
        tree = PatchedTree(tree, {path: module for path, module in modules if module is not None})
        lock = lock.with_paths(names) if text is not None else lock
    return replace(given, omni=tree, root=None, lock=lock, together={})
