"""A type checker beside the rules of ``verify``.

Comes in: the job that the rules looked at and what they found. Goes out: RS390 findings that no comment silences. May
touch: what ``verify.typecheck`` touches (a scratch folder, the checker's process).
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.model import Finding
from runner_sync.sync.options import CheckOptions
from runner_sync.verify import typecheck
from runner_sync.verify.check import CheckJob
from runner_sync.verify.ignores import silence
from runner_sync.verify.reading import Hit, Reading


def second_opinion(options: CheckOptions, job: CheckJob, known: Sequence[Finding]) -> tuple[tuple[Finding, ...], str]:
    """What the type checker says about the target pair and not about the older one; and a remark when it cannot."""
    if options.typecheck == "none" or job.world is None:
        return (), ""
    if job.old_world is None:
        return (), f"{options.typecheck} was not asked: it compares with an older vllm-ascend; name it by --ascend-base"
    options.progress(f"asking {options.typecheck}", 0, 1)
    paths = [module.path for module in job.modules]
    found = typecheck.run(job.world, job.old_world, paths, kind=options.typecheck, known=known)
    options.progress(f"asking {options.typecheck}", 1, 1)
    readings = {module.path: Reading(module.path, module.text) for module in job.modules}
    left, _ = silence([Hit(finding) for finding in found], readings)
    return tuple(hit.finding for hit in left), ""
