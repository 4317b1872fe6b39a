"""RS404 runtime-mode-keyword: a keyword that vllm-ascend's call spells differently.

What: a keyword of the GPU's call on the NPU's call (the profile's keyword table): `cudagraph_runtime_mode=` on
`set_ascend_forward_context`, which calls it `aclgraph_runtime_mode=`.

Example:

    with set_ascend_forward_context(None, self.vllm_config, cudagraph_runtime_mode=mode): ...

Why: a `TypeError` in the first forward pass. The word is easy to miss when a GPU hunk is ported by hand, because
`cudagraph_runtime_mode` is right on every other call and as a variable.

Fix: the patch renames the keyword.

Leaves alone: the same keyword on other calls (`_build_attention_metadata(cudagraph_runtime_mode=…)`), the variable of
that name, a `**kwargs` call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.profile import KeywordRewrite
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.hygiene import find_calls
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.patch import patch
from runner_sync.verify.runners.reading import Reading

CODE = "RS404"
NAME = "runtime-mode-keyword"
SEVERITY: Severity = "error"


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per keyword."""
    npu = subject.npu
    for row in subject.profile.keywords:
        for call in find_calls(npu, row.call, keyword=row.name):
            yield from (_make_hit(npu, keyword, row) for keyword in call.keywords if keyword.arg == row.name)


def _make_hit(npu: Reading, keyword: ast.keyword, row: KeywordRewrite) -> Hit:
    line = npu.lines[keyword.lineno - 1]
    new = line.replace(f"{row.name}=", f"{row.new_name}=", 1)
    safe = line.count(f"{row.name}=") == 1
    return npu.hit(
        (CODE, SEVERITY),
        keyword,
        symbol=f"{row.call}({row.name}=)",
        message=f"`{row.call}` has no keyword `{row.name}`; it is called `{row.new_name}` there.",
        fix=patch(npu.path, npu.text, {keyword.lineno: new}) if safe else f"Write `{row.new_name}=`.",
    )
