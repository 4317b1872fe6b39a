"""Find distributions installed in this environment through their metadata, and read them as files.

Comes in: a project name. Goes out: a ``Tree`` or ``None``. May touch: files of the environment, read only. Nothing is
imported, so a distribution that does not run on this machine (vllm-ascend without an NPU) can be read, too.
"""

from __future__ import annotations

import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from runner_sync.errors import InputError
from runner_sync.model import Project
from runner_sync.sources import version
from runner_sync.sources.folder import open_folder
from runner_sync.trees import Tree

if TYPE_CHECKING:
    from importlib.metadata import Distribution


def open_installed(project: Project) -> Tree | None:
    """Open the installed distribution of ``project``, which may be editable; ``None`` if there is none.

    Raises ``InputError`` if the files of the distribution are gone.
    """
    for found in _find_distributions(project):
        place = _find_editable_folder(found) or Path(str(found.locate_file("")))
        try:
            tree = open_folder(project, place)
        except InputError as error:
            raise InputError(
                f"{project} is installed but {place} does not hold its files: install it again or give its path."
            ) from error
        own = version.normalize(found.metadata["Version"] or "") or tree.source.version
        tree.source = replace(tree.source, kind="installed", version=own)
        return tree
    return None


def _find_distributions(project: Project) -> list[Distribution]:
    if not any(_may_hold(folder, project) for folder in sys.path):
        return []
    # The import takes ten times as long as the search above, and usually nothing is installed.
    from importlib.metadata import Distribution

    return list(Distribution.discover(name=project, path=sys.path))


def _may_hold(folder: str, project: Project) -> bool:
    """Whether ``folder`` may hold the metadata of ``project``, judged by the names of its entries.

    An archive (a zip on ``sys.path``) is not opened, so the answer for one is always yes.
    """
    try:
        names = [Path(folder).name, *_list_names(folder)]
    except OSError:
        return Path(folder).is_file()
    start = project.partition("-")[0]
    return any(_parse_distribution(name) == project for name in names if name.lower().startswith(start))


def _list_names(folder: str) -> list[str]:
    with os.scandir(folder or ".") as entries:
        return [entry.name for entry in entries]


def _parse_distribution(metadata: str) -> str:
    """Return the distribution that a metadata folder is named for: ``vllm_ascend-0.18.0.dist-info`` →
    ``vllm-ascend``."""
    name = metadata.lower().rpartition(".")[0].partition("-")[0]
    return re.sub(r"[-_.]+", "-", name)


def _find_editable_folder(found: Distribution) -> Path | None:
    """Return the source folder of an editable installation (PEP 610, ``direct_url.json``); ``None`` for any other."""
    try:
        facts = json.loads(found.read_text("direct_url.json") or "{}")
        is_editable = facts.get("dir_info", {}).get("editable", False)
        url = urlsplit(facts.get("url", ""))
    except (ValueError, AttributeError):
        return None
    return Path(unquote(url.path)) if is_editable and url.scheme == "file" else None
