"""Finds out that a folder is not the release whose version it has, because somebody changed its files.

Comes in: a run's options and inputs. Goes out: the inputs with that tree marked as altered. May touch: the tree, by
reading.

The version of a folder is what its metadata says. Without this check, a run would compare such a folder with itself: an
upgrade from the release would find nothing to merge, and `check` would refuse the lock of the release.
"""

from __future__ import annotations

import copy
from contextlib import suppress
from dataclasses import replace

from runner_sync.errors import InputError
from runner_sync.sources.folder import FolderTree
from runner_sync.sync.options import RunOptions
from runner_sync.sync.trees.inputs import Inputs, open_at
from runner_sync.trees import Tree


def mark_altered(options: RunOptions, given: Inputs) -> Inputs:
    """Return ``given`` with the followed tree marked as altered if its version cannot be believed.

    That is the version of the lock or of the base that an option names, and a module that the runners follow has other
    texts there than the lock or the release. A release that cannot be read proves nothing.
    """
    tree, project = given.followed, given.profile.followed
    if not isinstance(tree, FolderTree) or tree.source.version is None:
        return given
    is_named = tree.source.kind != "git" and options.base(project) == tree.source.version
    if not _differs_from_lock(tree, given) and not (is_named and _differs_from_release(tree, given, options)):
        return given
    altered = copy.copy(tree)
    altered.source = replace(tree.source, altered=True)
    return given.with_followed(altered)


def _differs_from_release(tree: Tree, given: Inputs, options: RunOptions) -> bool:
    source = tree.source
    paths = dict.fromkeys(m.anchor.path for m in given.profile.modules if m.anchor.project == source.project)
    with suppress(InputError):
        release = open_at(source.project, source.version or "", None, options.progress)
        return any(release.read(path) != tree.read(path) for path in paths)
    return False


def _differs_from_lock(tree: Tree, given: Inputs) -> bool:
    """Whether a unit that the lock records under the version of ``tree`` has another text there."""
    from runner_sync.sync.classes.whole_classes import read_whole  # most runs read a release or a git checkout
    from runner_sync.sync.synced.locked import find_changed_unit

    version, project = tree.source.version, tree.source.project
    named = [entry.upstream for entry in given.lock.entries if entry.upstream is not None]
    locked = [one for one in named if (one.project, one.ref) == (project, version)]
    for path in dict.fromkeys(one.path for one in locked):
        text = read_whole(tree, path, given)
        if text is not None and find_changed_unit([one for one in locked if one.path == path], text, path):
            return True
    return False
