"""Which releases a base is looked for among: a window behind what follows them, and more where copies are older yet.

Comes in: a project, versions, copies. Goes out: release numbers, and the copies that a window is too short for. May
touch: the package index, by ``sources``.
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
"""How many minor versions back a base is looked for at first; the longest real lag of an NPU runner so far is six
(0.32.0rc1 on 0.26.0rc1)."""

MORE = 4
"""How many the window grows by where that is not enough; a judgement between how often it has to and what is read for
nothing. Methods of the GPU runners of 0.32.0rc1 are thirteen minor versions of vLLM old."""

LONG = 30
"""Lines from which on a copy tells that it is older than all that were looked at. A short one, such as a record of ten
fields, is closest to the oldest release by chance, or because nothing was done to it since."""


def earlier_releases(
    project: Project, newest: str, progress: Progress, *, behind: str | None = None, minors: int = MINORS
) -> list[str]:
    """Releases of ``project`` up to ``newest``, as many ``minors`` back, oldest first.

    ``behind`` is the version of what follows it, where that is told: what lags is as far behind its own version,
    however much newer the release is that it is to follow. A window that ends short of the base makes every statement
    that upstream has removed since look like omni's own.
    """
    from packaging.version import Version

    limit = Version(newest)
    start = min(limit, Version(behind)) if behind is not None else limit
    names = sources.releases(project, progress=progress)
    known = [(name, version) for name in names if (version := Version(name)) <= limit]
    last: dict[int, int] = {}
    for _, version in known:
        last[version.major] = max(last.get(version.major, 0), version.minor)

    def minors_up_to(version: Version) -> int:
        """The place of a minor version in one count through all majors: 1.0 comes right behind the last 0.x."""
        return version.minor + sum(minor + 1 for major, minor in last.items() if major < version.major)

    floor = minors_up_to(start) - minors
    return [name for name, version in known if minors_up_to(version) >= floor]


def at_the_end(
    units: Iterable[tuple[RunnerModule, str, str]], sides: Sequence[ModuleRevision]
) -> Mapping[tuple[str, str], float]:
    """How close each long copy is to the oldest of ``sides``, of those that are closest to that one.

    ``units`` are a module, the qualified name of a unit of it, and the unit's text.
    """
    found = {}
    for module, name, text in units:
        if text.count("\n") >= LONG:
            base = find_base(name, text, module, sides, infer=memo.closest)
            if base is not None and base.kind == "copy" and base.ref.ref == sides[0].ref:
                found[module.name, name] = base.ref.similarity
    return found
