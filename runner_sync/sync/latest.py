"""Put the newest release in the place of ``--ascend-version latest``.

Comes in: options. Goes out: the same with version numbers. May touch: the package index, by listing releases.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from runner_sync import sources
from runner_sync.errors import UnreadableRelease
from runner_sync.model import Project
from runner_sync.sources.layout import PATH_OPTIONS
from runner_sync.sync.options import LATEST, Progress, RunOptions, TreeOptions

_Options = TypeVar("_Options", bound=RunOptions)


def name_latest(options: _Options) -> _Options:
    """Return ``options`` with the number of the newest release, candidates included, for each version ``latest``.

    Offline this is the newest release in the cache. Raises ``InputError`` if there is none, or no readable index.
    """
    return replace(
        options,
        omni=_name("vllm-omni", options.omni, options.progress),
        ascend=_name("vllm-ascend", options.ascend, options.progress),
        vllm=_name("vllm", options.vllm, options.progress),
    )


def _name(project: Project, tree: TreeOptions, progress: Progress) -> TreeOptions:
    if tree.version != LATEST:
        return tree
    known = sources.releases(project, progress=progress)
    if not known:
        raise UnreadableRelease(
            f"no release of {project} is in the cache, so none is the {LATEST}: unset RUNNER_SYNC_OFFLINE",
            option=PATH_OPTIONS[project],
        )
    return replace(tree, version=known[-1])
