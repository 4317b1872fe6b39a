"""Choose the releases to search for the base of a copy: a window of minor versions, extended for older copies.

Comes in: a project, versions, copies. Goes out: release numbers, and the copies that need a longer window. May touch:
the package index, through ``sources``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from runner_sync import sources
from runner_sync.model import Project
from runner_sync.profile import RunnerModule
from runner_sync.sync import memo
from runner_sync.sync.options import Progress
from runner_sync.upgrade import ModuleRevision, find_base

MINORS = 8
"""How many minor versions back a base is searched for at first; the longest lag of an NPU runner so far is six
(0.32.0rc1 on 0.26.0rc1)."""

MORE = 4
"""By how many minor versions the window grows.

A judgement between growing often and reading releases for nothing: methods of the GPU runners of 0.32.0rc1 are thirteen
minor versions of vLLM old.
"""

LONG = 30
"""How many lines a copy needs to show that it may be older than the window.

A short one, such as a record of ten fields, is most similar to the oldest release by chance, or because it has not
changed since.
"""


def find_earlier_releases(
    project: Project, newest: str, progress: Progress, *, behind: str | None = None, minors: int = MINORS
) -> list[str]:
    """Return releases of ``project`` up to ``newest`` and from ``minors`` minor versions back, oldest first.

    Counts back from ``behind``, the version of the omni that follows the project, if it is known and older, because a
    copy lags behind its own release, however new the target is. If the window does not reach the base, every statement
    that upstream has removed since looks like omni's own.
    """
    from packaging.version import Version

    limit = Version(newest)
    start = min(limit, Version(behind)) if behind is not None else limit
    names = sources.releases(project, progress=progress)
    known = [(name, version) for name in names if (version := Version(name)) <= limit]
    last: dict[int, int] = {}
    for _, version in known:
        last[version.major] = max(last.get(version.major, 0), version.minor)

    def count_minors(version: Version) -> int:
        """Return the number of a minor version counted through all majors: 1.0 comes right after the last 0.x."""
        return version.minor + sum(minor + 1 for major, minor in last.items() if major < version.major)

    floor = count_minors(start) - minors
    return [name for name, version in known if count_minors(version) >= floor]


def is_long(text: str) -> bool:
    """Whether a copy has enough lines to show that it may be older than the window."""
    return text.count("\n") >= LONG


def find_copies_at_the_end(
    units: Iterable[tuple[RunnerModule, str, str]], sides: Sequence[ModuleRevision]
) -> Mapping[tuple[str, str], float]:
    """Return the long copies whose base is the oldest of ``sides`` and may be older, with their similarity to it.

    ``units`` are triples of a module, the qualified name of a unit in it, and the unit's text. The result is keyed by
    module name and unit name.
    """
    found = {}
    for module, name, text in units:
        if is_long(text):
            base = find_base(name, text, module, sides, infer=memo.closest)
            if base is not None and base.kind == "copy" and base.ref.ref == sides[0].ref:
                found[module.name, name] = base.ref.similarity
    return found
