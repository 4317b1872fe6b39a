"""Profiles, which describe one platform to the engine, and the built-in ones.

Goes out: ``Profile`` and its parts, and the built-in ``NPU``, ``GPU`` and ``GPU_V2``. May touch: nothing.

``config`` changes one of them by a ``runner-sync.toml``; another platform is another value of ``Profile``.

- ``platform`` defines a ``Profile``, ``npu`` and ``gpu`` have the built-in ones, with the ``paths`` of the runners;
- ``vllm`` has names in vLLM's own code that rules rely on, ``releases`` what sets single releases apart.
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
"""The built-in profiles by their names in ``--profile`` and the configuration."""

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
