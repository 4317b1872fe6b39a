"""Ask a type checker in addition to the rules of ``verify``.

Comes in: options, and the job of the rules. Goes out: a function from the rules' findings to RS390 findings. May touch:
what ``verify.typecheck`` touches (a scratch folder, the checker's process).
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.model import Finding
from runner_sync.sync.options import CheckOptions
from runner_sync.verify import typecheck
from runner_sync.verify.check_job import CheckJob
from runner_sync.verify.hits import Opinion


def typechecker_opinion(options: CheckOptions, job: CheckJob) -> tuple[Opinion | None, str]:
    """Make a function that finds what the type checker reports for the target pair but not for the older one.

    Returns ``None`` if no checker was asked for, or there is no older pair, which the remark then says.
    """
    kind, new, old = options.typecheck, job.world, job.old_world
    if kind == "none" or new is None:
        return None, ""
    if old is None:
        return (
            None,
            f"{kind} was not asked: it compares with an older upstream; name it by --ascend-base or --vllm-base",
        )

    def ask(known: Sequence[Finding]) -> list[Finding]:
        options.progress(f"asking {kind}", 0, None)
        return typecheck.run(new, old, [module.path for module in job.modules], kind=kind, known=known)

    return ask, ""
