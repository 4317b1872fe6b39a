"""What the runners run that is not theirs, or that only a method sets which nobody calls: notes of a run.

Comes in: findings, or the worlds of a job. Goes out: sentences. May touch: the trees, by reading.

Other omni code is no runner of the profile: where it is broken on GPU as well, that is for its own upgrade. Whoever
reads that the NPU runners fit has to hear of it all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner_sync.errors import InputError
from runner_sync.model import Finding
from runner_sync.profile import Profile
from runner_sync.verify import breakage
from runner_sync.verify.check import CheckJob
from runner_sync.verify.trees.idle import Idle


def notes(job: CheckJob, known: Sequence[Finding]) -> Iterator[str]:
    """What the target trees of a job have of both and the older ones have not, but for what is ``known``."""
    if job.world is None:
        return
    told = {(finding.path, finding.line, finding.symbol) for finding in known}
    own = [module.path for module in job.modules]
    try:
        found, idle = breakage.find_inherited_since(job.world, job.old_world, [*own, *job.world.beside(own)])
    except InputError:  # no runner can be told from what is broken in it
        return
    yield from unfit([one for one in found if (one.path, one.line, one.symbol) not in told], job.profile)
    yield from never_set(idle, job.profile)
    yield from _imports_elsewhere(job, own)


def _imports_elsewhere(job: CheckJob, own: Sequence[str]) -> Iterator[str]:
    """One sentence on the imports from the project that is followed which fail where no runner gets. All of omni
    imports vLLM: what that broke is no matter of the platform."""
    project = job.profile.followed
    if job.world is None or project == "vllm":
        return
    found = breakage.find_imports_elsewhere(job.world, job.old_world, own, project)
    if found:
        told = ", ".join(f"{finding.symbol} ({finding.path}:{finding.line})" for finding in found)
        yield f"omni imports from {project} what is not there, in modules that no runner imports: {told}."


def never_set(idle: Sequence[Idle], profile: Profile) -> Iterator[str]:
    """One sentence per attribute that would fail where it is read, though the MRO has a method that sets it."""
    reads: dict[tuple[str, str, str], list[str]] = {}
    for one in idle:
        reads.setdefault((one.attribute, one.setter, one.place), []).append(f"{one.unit} ({one.where})")
    for (attribute, setter, place), units in reads.items():
        said = f"nothing on {profile.platform} calls {setter} ({place}), and nothing else sets self.{attribute}"
        yield f"{said}, read in {', '.join(units)}; a run that gets there fails."


def unfit(inherited: Sequence[Finding], profile: Profile) -> Iterator[str]:
    """One sentence on code of omni's that an upgrade of the runners leaves as it is, and that they run."""
    units: dict[str, list[str]] = {}
    for finding in inherited:
        symbols = units.setdefault(f"{finding.path} {finding.unit}", [])
        symbols += [finding.symbol] if finding.symbol not in symbols else []
    if units:
        told = "; ".join(f"{unit} ({', '.join(symbols)})" for unit, symbols in units.items())
        whose, remedy = (
            ("GPU", " Bring the GPU runners to this vLLM first.") if profile.has_twins else ("other omni", "")
        )
        said = f"the {profile.platform} runners inherit {whose} code that does not fit the target trees"
        yield f"{said}: {told}.{remedy}"
