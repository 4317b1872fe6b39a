"""Replace vLLM's CUDA graph wrappers by the ACL graph wrappers.

    -from vllm.compilation.cuda_graph import CUDAGraphWrapper
    +from vllm_ascend.compilation.acl_graph import ACLGraphWrapper
     ...
    -if not isinstance(self.talker_mtp, CUDAGraphWrapper):
    +if not isinstance(self.talker_mtp, ACLGraphWrapper):

Leaves alone: a class of that name defined or imported elsewhere, ``hasattr(module, "CUDAGraphWrapper")`` and other
strings, ``CUDAGraphStat`` and ``CUDAGraphMode`` (NPU code keeps those), comments.
Why: only the ACL wrapper captures NPU graphs; an ``isinstance`` against the CUDA one is silently always false.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from runner_sync.profile import NameRewrite
from runner_sync.transforms.edits import Doubt, Edit, Job
from runner_sync.transforms.renames import rename_imported
from runner_sync.transforms.scopes import Use

NAMES = ("CUDAGraphWrapper", "BreakableCUDAGraphWrapper")
# vLLM's class keeps a register of its instances; vllm-ascend's has one in 0.21.0rc1 and 0.22.1rc1 only.
MEMBERS = ("clear_all_graphs", "_all_instances")


def rewrite(job: Job) -> Iterator[Edit | Doubt]:
    """Edits that put the ACL graph wrappers in place of the CUDA ones."""
    rows = job.profile.rows(NAMES)
    yield from rename_imported(job, rows)
    for use in job.code.uses:
        yield from _missing_member(job, use, rows)


def _missing_member(job: Job, use: Use, rows: Iterable[NameRewrite]) -> Iterator[Doubt]:
    owner, _, member = use.origin.rpartition(".")
    for row in rows if member in MEMBERS else ():
        new = f"{row.new_module}.{row.new_name}"
        if owner not in (new, f"{row.module}.{row.name}") or job.available(row.new_module, f"{row.new_name}.{member}"):
            continue
        message = f"{use.dotted} has no NPU twin: {new} of the target has no {member}."
        yield Doubt(use.parts[-1], use.scope.qualname, use.dotted, message, "leave the statement out on NPU")
        return
