"""Note code that the runners run and no finding is about.

Covers inherited code that does not fit the target trees, and attributes set only in a method that nobody calls.

Comes in: findings, or the worlds of a job. Goes out: sentences. May touch: the trees, by reading.

Inherited omni code is not part of the profile's runners, and if it is broken on GPU as well, its own upgrade has to
mend it. Still, a report that the NPU runners fit must mention it. Code that fitted older trees is a finding and not
noted here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runner_sync.errors import InputError
from runner_sync.listing import at_most
from runner_sync.model import Finding
from runner_sync.profile import Profile
from runner_sync.sources import declared_vllm
from runner_sync.verify import breakage
from runner_sync.verify.check_job import CheckJob
from runner_sync.verify.trees.idle import Idle
from runner_sync.verify.trees.world import World


def make_notes(job: CheckJob, known: Sequence[Finding]) -> Iterator[str]:
    """Note code that does not fit the target trees, except what ``known`` findings report.

    If there are older trees, notes only what nothing sets any more.
    """
    if job.world is None:
        return
    own = [module.path for module in job.modules]
    try:
        found, idle = breakage.find_inherited_since(job.world, job.old_world, [*own, *job.world.beside(own)])
    except InputError:  # a file that the runners need cannot be read
        return
    yield from note_unfit(found, job.world, job.profile, reported=known)
    yield from note_never_set(idle, job.profile)


def note_never_set(idle: Sequence[Idle], profile: Profile) -> Iterator[str]:
    """Note each never called method (``setter``) that alone sets attributes, and where reading them fails."""
    reads: dict[tuple[str, str], list[Idle]] = {}
    for one in idle:
        reads.setdefault((one.setter, one.place), []).append(one)
    for (setter, place), found in reads.items():
        names = dict.fromkeys(f"self.{one.attribute}" for one in found)
        be, them = ("is", "it") if len(names) == 1 else ("are", "them")
        units = dict.fromkeys(map(_describe_read, found))
        text = (
            f"{at_most(_NAMED, names)} {be} set only in {setter} ({place}), which nothing on {profile.platform} calls"
        )
        yield f"{text}; reading {them} fails in {at_most(_NAMED, units)}."


_NAMED = 6
"""The most attributes, and the most reads of them, that a note names."""


def _describe_read(one: Idle) -> str:
    return f"{one.unit} ({one.where})" + (f" where `{one.condition}` holds" if one.condition else "")


def note_unfit(
    inherited: Sequence[Finding], world: World, profile: Profile, *, reported: Sequence[Finding]
) -> Iterator[str]:
    """Note in one sentence the inherited omni code that does not fit and that the upgrade leaves unchanged.

    Skips what the ``reported`` findings say. The sentence gives no advice if the omni tree is for the vLLM of ``world``
    already.
    """
    known = {(finding.path, finding.line, finding.symbol) for finding in reported}
    units: dict[str, list[str]] = {}
    for finding in inherited:
        if (finding.path, finding.line, finding.symbol) in known:
            continue
        symbols = units.setdefault(f"{finding.path} {finding.unit}", [])
        symbols += [finding.symbol] if finding.symbol not in symbols else []
    if units:
        listed = "; ".join(f"{unit} ({', '.join(symbols)})" for unit, symbols in units.items())
        whose = "GPU" if profile.has_twins else "other omni"
        is_current = declared_vllm(world.trees["vllm-omni"]) == world.trees["vllm"].source.version
        remedy = " Bring the GPU runners to this vLLM first." if profile.has_twins and not is_current else ""
        text = f"the {profile.platform} runners inherit {whose} code that does not fit the target trees"
        yield f"{text}: {listed}.{remedy}"
