"""Define the parsed options of a run that only reads, which ``cli`` makes and ``sync`` reads.

Comes in: option values. Goes out: frozen dataclasses. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from runner_sync.model import Project, Severity

Progress = Callable[[str, int, int | None], None]
"""A callback ``progress(label, done, total or None)``, in bytes during a download and in steps otherwise."""

Tell = Callable[[tuple[str, ...]], None]
"""A callback that receives the paths of files."""

Postponed = Callable[[Tell], object]
"""The writing of a file. It tells the callback what it wrote."""

LATEST = "latest"
"""The version that stands for the newest release on the package index."""

PATH_VARIABLES: Mapping[Project, str] = {"vllm-ascend": "VLLM_ASCEND_PATH", "vllm": "VLLM_PATH"}
"""Environment variables that name an upstream's tree."""


def silent(_label: str, _done: int, _total: int | None) -> None:
    """Show nothing, as a ``Progress``."""


def tell_nobody(_paths: tuple[str, ...]) -> None:
    """Do nothing, as a ``Tell``."""


def write_now(write: Postponed) -> None:
    """Write at once, as ``CheckOptions.postpone``."""
    write(tell_nobody)


@dataclass(frozen=True, slots=True)
class TreeOptions:
    """Where one project's tree is: a path with an optional git revision, or a version on the package index."""

    path: Path | None = None
    ref: str | None = None
    version: str | None = None

    @property
    def is_given(self) -> bool:
        return self.path is not None or self.version is not None


class OmniOptions(Protocol):
    """What all options say about the omni tree: its place, its configuration and the built-in profile to start from."""

    @property
    def omni(self) -> TreeOptions: ...
    @property
    def config(self) -> Path | None: ...
    @property
    def profile(self) -> str | None: ...
    @property
    def progress(self) -> Progress: ...


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options that ``upgrade``, ``check`` and ``verify`` share.

    ``ascend_base``, ``omni_base`` and ``vllm_base`` name the revision or version that the runners were last synced to.
    """

    omni: TreeOptions = TreeOptions(path=Path())
    ascend: TreeOptions = TreeOptions()
    vllm: TreeOptions = TreeOptions()
    ascend_base: str | None = None
    omni_base: str | None = None
    vllm_base: str | None = None
    config: Path | None = None
    profile: str | None = None
    progress: Progress = silent

    def tree(self, project: Project) -> TreeOptions:
        """Return where the tree of an upstream is."""
        return self.ascend if project == "vllm-ascend" else self.vllm

    def base(self, project: Project) -> str | None:
        """Return the revision or version of an upstream that the runners were last synced to, if an option names it."""
        return self.ascend_base if project == "vllm-ascend" else self.vllm_base

    def tree_words(self) -> list[str]:
        """Return the options that name the upstreams' trees, as words of a command line."""
        words: list[str] = []
        for name, tree in (("ascend", self.ascend), ("vllm", self.vllm)):
            for part, value in (("path", tree.path), ("ref", tree.ref), ("version", tree.version)):
                words += [f"--{name}-{part}", str(value)] if value is not None else []
        return words


@dataclass(frozen=True, slots=True)
class CheckOptions(RunOptions):
    """Options of ``check`` and ``verify``; ``changed_since`` is a git revision of the omni checkout.

    ``postpone`` receives the writing of the baseline, which the caller may do later. With ``isolates``, a mistake of
    this program in one rule is a finding.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Severity | None = None
    fail_on: Severity | None = None
    changed_since: str | None = None
    baseline: Path | None = None
    update_baseline: bool = False
    typecheck: Literal["ty", "mypy", "none"] = "none"
    isolates: bool = False
    postpone: Callable[[Postponed], None] = write_now
