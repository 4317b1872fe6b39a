"""What the engine is told of a platform, and the built-in profile.

Goes out: ``Profile`` and its parts, and ``NPU``. May touch: nothing. ``config`` overlays a ``runner-sync.toml`` on top
of ``NPU``; another platform is another value of ``Profile``.
"""

from __future__ import annotations

from runner_sync.profile.npu import NPU
from runner_sync.profile.paths import ASCEND_RUNNER, ASCEND_WORKER, OMNI_FOLDERS, VLLM_RUNNER, VLLM_WORKER
from runner_sync.profile.platform import (
    Anchor,
    KeywordRewrite,
    NameRewrite,
    Output,
    Profile,
    RunnerModule,
    SamplerHook,
)

__all__ = [
    "ASCEND_RUNNER",
    "ASCEND_WORKER",
    "NPU",
    "OMNI_FOLDERS",
    "VLLM_RUNNER",
    "VLLM_WORKER",
    "Anchor",
    "KeywordRewrite",
    "NameRewrite",
    "Output",
    "Profile",
    "RunnerModule",
    "SamplerHook",
]
