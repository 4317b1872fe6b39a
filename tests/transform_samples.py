"""What the tests of rewrites ask: is a text changed as it should be, or left alone?"""

from __future__ import annotations

import ast
from textwrap import dedent

from runner_sync.profile import NPU
from runner_sync.transforms import (
    Translated,
    translate,
)


def check_rewrite(before: str, after: str, *, by: tuple[str, ...], path: str = "") -> Translated:
    """``before`` becomes ``after`` by exactly the rewrites ``by``; the result parses and is a fixed point."""
    before, after = dedent(before), dedent(after)
    done = translate(before, NPU, path=path)
    assert done.text == after
    assert done.applied == by
    ast.parse(done.text)
    assert translate(done.text, NPU, path=path).text == after
    return done


AR = "vllm_omni/worker/gpu_ar_model_runner.py"
