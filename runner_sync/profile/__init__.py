"""What the engine is told of a platform, and the built-in profiles.

Goes out: ``Profile`` and its parts, and the built-in ``NPU``, ``GPU`` and ``GPU_V2``. May touch: nothing. ``config``
overlays a ``runner-sync.toml`` on top of one of them; another platform is another value of ``Profile``.
"""

from __future__ import annotations

from collections.abc import Mapping

from runner_sync.profile.gpu import GPU, GPU_V2
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

BUILT_IN: Mapping[str, Profile] = {"npu": NPU, "gpu": GPU, "gpu-v2": GPU_V2}
"""The built-in profiles by the name that an option or a configuration picks one by."""

__all__ = [
    "ASCEND_RUNNER",
    "ASCEND_WORKER",
    "BUILT_IN",
    "GPU",
    "GPU_V2",
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
