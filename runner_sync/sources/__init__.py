"""Where trees come from: a path, a git revision, a release on the package index, an installed distribution.

Comes in: a project name and a place, revision or version. Goes out: ``Tree`` values that give file texts.
May touch: files (read only), git, the network, and the cache folder; no other room does. Nothing read is ever executed.
"""

from runner_sync.sources.checkout import RevisionTree, WorkTree
from runner_sync.sources.declared import declared_vllm, metadata
from runner_sync.sources.folder import FolderTree, open_path
from runner_sync.sources.installed import open_installed
from runner_sync.sources.layout import PACKAGES, PATH_OPTIONS, Progress
from runner_sync.sources.release import ReleaseTree, open_release, releases

__all__ = [
    "PACKAGES",
    "PATH_OPTIONS",
    "FolderTree",
    "Progress",
    "ReleaseTree",
    "RevisionTree",
    "WorkTree",
    "declared_vllm",
    "metadata",
    "open_installed",
    "open_path",
    "open_release",
    "releases",
]
