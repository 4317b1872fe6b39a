"""Open trees: a path, a git revision, a release on the package index, an installed distribution.

Comes in: a project name and a place, revision or version. Goes out: ``Tree`` values that give file texts. May touch:
files (read only), git, the network and the cache folder, as the only room. Nothing that is read is ever executed.

Each part is imported on first use: a ``check`` of a folder needs neither git nor the network.

- A path: ``opening`` decides between ``checkout`` (``repository`` runs git, ``history`` and ``changes`` read its
  answers) and ``folder``.
- A release: ``release`` asks the ``index`` (``pip_config``, ``addresses``, ``session``), reads a ``wheel`` or ``sdist``
  (``transfer``) and keeps it as an ``archive`` in the ``cache``.
- An installed distribution: ``installed``.
- What a tree says: ``layout``, ``version``, and ``declared`` for its vLLM. ``remembering`` keeps what was computed from
  its files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runner_sync.doors import part_loader

if TYPE_CHECKING:
    from runner_sync.sources.checkout import RevisionTree, WorkTree
    from runner_sync.sources.declared import declared_vllm, metadata, vllm_remedy
    from runner_sync.sources.folder import open_part
    from runner_sync.sources.installed import open_installed
    from runner_sync.sources.opening import folder_in_repository, open_path
    from runner_sync.sources.release import cached_releases, open_release, releases
    from runner_sync.sources.repository import list_refs

__all__ = [
    "RevisionTree",
    "WorkTree",
    "cached_releases",
    "declared_vllm",
    "folder_in_repository",
    "list_refs",
    "metadata",
    "open_installed",
    "open_part",
    "open_path",
    "open_release",
    "releases",
    "vllm_remedy",
]

_MODULES = {
    "checkout": "RevisionTree WorkTree",
    "declared": "declared_vllm metadata vllm_remedy",
    "folder": "open_part",
    "installed": "open_installed",
    "opening": "folder_in_repository open_path",
    "release": "cached_releases open_release releases",
    "repository": "list_refs",
}

__getattr__ = part_loader(__name__, _MODULES)
