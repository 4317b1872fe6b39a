"""Read vllm-ascend's runner module over time: releases of the index, or every revision of a checkout.

Comes in: nothing, or a checkout. Goes out: ``Version`` values, oldest first. May touch: what ``runner_sync.sources``
touches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from packaging.version import Version as Number

from benchmarks.corpus import open_tree
from runner_sync import sources
from runner_sync.errors import InputError
from runner_sync.model import Revision
from runner_sync.profile import ASCEND_RUNNER, VLLM_RUNNER
from runner_sync.trees import Tree
from runner_sync.units import texts

EARLIEST = Number("0.11.0rc0")
"""Earlier releases of vllm-omni have no runners."""


@dataclass(frozen=True)
class Version:
    """The runner module at one release or revision."""

    ref: str
    text: str
    name: str = "NPUModelRunner"

    @cached_property
    def methods(self) -> dict[str, str]:
        """``{name: text}`` of the members of the runner class."""
        return texts.members(self.text, self.name, self.ref)


def load_releases(newest: str = "0.30.0rc2") -> list[Version]:
    """Return the module in every release up to ``newest`` that has it. Raises ``InputError`` without the package
    index."""
    names = [name for name in sources.releases("vllm-ascend") if EARLIEST <= Number(name) <= Number(newest)]
    read = [(name, open_tree("vllm-ascend", name).read(ASCEND_RUNNER)) for name in names]
    return [Version(name, text) for name, text in read if text]


def load_vllm_releases(newest: str = "0.33.0") -> list[Version]:
    """Return vLLM's runner module in every release since omni has copies of it. Raises ``InputError`` without the
    index."""
    names = [name for name in sources.releases("vllm") if EARLIEST <= Number(name) <= Number(newest)]
    read = [(name, open_tree("vllm", name).read(VLLM_RUNNER)) for name in names]
    return [Version(name, text, "GPUModelRunner") for name, text in read if text]


def open_checkout(path: Path, ref: str | None = None) -> Tree:
    """Open a vllm-ascend checkout, in its current state or at ``ref``. Raises ``InputError`` if it has no history."""
    found = sources.open_path("vllm-ascend", path, ref=ref)
    if found.source.kind != "git":
        raise InputError(f"{path} is no git checkout: give a clone of vllm-ascend with its history.")
    return found


def load_revisions(path: Path) -> list[Version]:
    """Return the module at every parsable revision of a checkout, each text once."""
    found = open_checkout(path)
    history: Sequence[Revision] = found.history(ASCEND_RUNNER)  # type: ignore[attr-defined]
    seen: dict[str, str] = {}
    for revision in reversed(history):
        seen.setdefault(revision.blob, revision.commit[:10])
    versions = [Version(commit, found.read_blob(blob)) for blob, commit in seen.items()]  # type: ignore[attr-defined]
    return [version for version in versions if _is_python(version)]


def _is_python(version: Version) -> bool:
    try:
        return bool(version.methods)
    except InputError:
        return False
