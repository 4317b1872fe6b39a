"""Enter the Ascend forward context instead of vLLM's, with the keyword it knows.

    -from vllm.forward_context import BatchDescriptor, set_forward_context
    +from vllm.forward_context import BatchDescriptor
    +from vllm_ascend.ascend_forward_context import set_ascend_forward_context
     ...
    -with set_forward_context(attn, config, cudagraph_runtime_mode=mode):
    +with set_ascend_forward_context(attn, config, aclgraph_runtime_mode=mode):

Leaves alone: ``current_omni_platform.set_forward_context`` (the platform hook keeps vLLM's keyword), every other call
with a ``cudagraph_runtime_mode`` keyword, variables of that name, ``get_forward_context`` and ``BatchDescriptor``.
Why: vllm-ascend's kernels read NPU fields that only its own context sets, and it rejects vLLM's keyword.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import libcst as cst

from runner_sync.transforms.edits import Doubt, Edit, Job
from runner_sync.transforms.renames import rename_imported, uses_after

NAMES = ("set_forward_context",)


def rewrite(job: Job) -> Iterator[Edit | Doubt]:
    """Edits of the import, the calls and their runtime-mode keyword."""
    rows = job.profile.rows(NAMES)
    yield from rename_imported(job, rows)
    callees = uses_after(job, rows)
    keywords = {row.name: row.new_name for row in job.profile.keywords if row.call in {name.new_name for name in rows}}
    for call in job.code.calls:
        if call.callee in callees:
            yield from _renamed_keywords(call.node, call.scope.qualname, keywords)


def _renamed_keywords(call: cst.Call, unit: str, keywords: dict[str, str]) -> Iterator[Edit | Doubt]:
    given = {arg.keyword.value for arg in call.args if arg.keyword}
    for arg in call.args:
        new = keywords.get(arg.keyword.value, "") if arg.keyword else ""
        if new and new in given:
            yield Doubt(arg, unit, new, f"{new} is given under its old and its new name.", "drop one of the two")
        elif new and arg.keyword:
            yield Edit(arg, partial(_with_keyword, name=new))


def _with_keyword(arg: cst.Arg, *, name: str) -> cst.Arg:
    return arg.with_changes(keyword=cst.Name(name))
