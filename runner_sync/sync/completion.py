"""Offer completions to a shell while a command line is being typed.

Comes in: the beginning of a word. Goes out: whole words. May touch: the lock of the current folder, the
cache and git, by reading; never the network.
"""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

from runner_sync import sources
from runner_sync.errors import InputError
from runner_sync.lock import load
from runner_sync.model import Project
from runner_sync.profile import BUILT_IN
from runner_sync.sync import asked
from runner_sync.verify.catalog import known_codes, known_names


def rules(beginning: str) -> list[str]:
    """Return the codes and names of rules that begin with ``beginning``."""
    return [word for word in (*known_codes(), *known_names()) if word.startswith(beginning)]


def selected_codes(beginning: str) -> list[str]:
    """Return the lists of rule codes that continue the list ``beginning``, whose codes commas separate."""
    before, comma, last = beginning.rpartition(",")
    return [f"{before}{comma}{code}" for code in known_codes() if code.startswith(last)]


def releases(beginning: str, project: Project, *others: str) -> list[str]:
    """Return the releases of ``project`` in the cache, and the words ``others``, that begin so."""
    try:
        known = sources.cached_releases(project)
    except InputError:
        known = []
    return [version for version in (*known, *others) if version.startswith(beginning)]


def revisions(beginning: str) -> list[str]:
    """Return the branches and tags of the checkout around the current folder that begin so."""
    try:
        known = sources.list_refs(Path())
    except InputError:
        known = []
    return [name for name in known if name.startswith(beginning)]


def cases(beginning: str) -> list[str]:
    """Return the ids of the cases that ``replay`` has of its own and that begin so."""
    corpus = tomllib.loads(resources.files("runner_sync").joinpath("corpus.toml").read_text("utf-8"))
    return [case["id"] for case in corpus["case"] if case["id"].startswith(beginning) and case.get("omni_after")]


def units(beginning: str) -> list[str]:
    """Return the units in the locks of the current folder that begin so, by qualified name and by member name."""
    names = [name for profile in BUILT_IN.values() for name in _read_units(Path(profile.lock_file))]
    names += [name.rpartition(".")[2] for name in names]
    return [name for name in dict.fromkeys(names) if name.startswith(beginning)]


def items(beginning: str) -> list[str]:
    """Return the ids that begin so, of the review items of upgrades that wrote to the current folder."""
    return [item.id for item in asked.load_items(Path()) if item.id.startswith(beginning)]


def _read_units(path: Path) -> list[str]:
    """Return the units of a lock file; none if it cannot be read, because a completion must not fail."""
    try:
        return [entry.qualname for entry in load(path.read_text("utf-8")).entries]
    except (OSError, UnicodeDecodeError, InputError):
        return []
