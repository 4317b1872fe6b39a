"""Distributions installed in this environment, found through their metadata and read as files.

Comes in: a project name. Goes out: a ``Tree`` or nothing. May touch: files of the environment, read only. Nothing is
imported: a distribution for another machine (vllm-ascend without an NPU) can be read all the same.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from runner_sync.errors import InputError
from runner_sync.model import Project
from runner_sync.sources import version
from runner_sync.sources.folder import FolderTree, open_folder
from runner_sync.trees import Tree

if TYPE_CHECKING:
    from importlib.metadata import Distribution


def open_installed(project: Project, *, search: Sequence[str] | None = None) -> Tree | None:
    """The installed distribution of ``project``, also an editable one; ``None`` when there is none.

    ``search`` is the list of folders to look in, by default ``sys.path``. Raises ``InputError`` for an installation
    whose files are gone.
    """
    for found in _distributions(project, search):
        place = _editable_folder(found) or Path(str(found.locate_file("")))
        try:
            tree = open_folder(project, place)
        except InputError as error:
            raise InputError(
                f"{project} is installed but {place} does not hold its files: install it again or give its path."
            ) from error
        return _described(tree, version.canonical(found.metadata["Version"] or ""))
    return None


def _distributions(project: Project, search: Sequence[str] | None) -> list[Distribution]:
    folders = list(sys.path if search is None else search)
    if not any(_may_hold(folder, project) for folder in folders):
        return []
    # The import takes ten times as long as looking did, and most often nothing is installed.
    from importlib.metadata import Distribution

    return list(Distribution.discover(name=project, path=folders))


def _may_hold(folder: str, project: Project) -> bool:
    """Whether something in ``folder`` is named like the metadata of ``project``; an archive may hold anything."""
    place = Path(folder)
    try:
        entries = [place, *place.iterdir()]
    except OSError:
        return place.is_file()
    start = project.partition("-")[0]
    return any(_named_by(e.name) == project for e in entries if e.name.lower().startswith(start))


def _named_by(metadata: str) -> str:
    """The distribution that a folder of metadata names (``vllm_ascend-0.18.0.dist-info``, ``vllm.egg-info``)."""
    name = metadata.lower().rpartition(".")[0].partition("-")[0]
    return re.sub(r"[-_.]+", "-", name)


def _described(tree: FolderTree, found: str | None) -> FolderTree:
    return replace(tree, source=replace(tree.source, kind="installed", version=found or tree.source.version))


def _editable_folder(found: Distribution) -> Path | None:
    """Where an editable installation's sources are (PEP 610, ``direct_url.json``)."""
    try:
        facts = json.loads(found.read_text("direct_url.json") or "{}")
        is_editable = facts.get("dir_info", {}).get("editable", False)
        url = urlsplit(facts.get("url", ""))
    except (ValueError, AttributeError):
        return None
    return Path(unquote(url.path)) if is_editable and url.scheme == "file" else None
