"""Names in vLLM's and vllm-ascend's own code that rules rely on, whatever the platform of the runners.

Goes out: names. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

MODEL = "self.model"
"""The attribute of a runner that holds its model."""

CALL_BY_NAME = "collective_rpc"
"""The method of vLLM's executors that gets the name of a worker's method as a string."""

VERSION_TEST = "_version_is"
"""The end of the name of functions that compare an installed version: vllm-ascend's ``vllm_version_is("0.24.0")``."""

PLATFORM = "current_platform"
PLATFORM_ANSWERS: Mapping[str, bool] = {
    **dict.fromkeys(("is_cpu", "is_cuda", "is_cuda_alike", "is_rocm", "is_tpu", "is_xpu", "is_zen_cpu"), False),
    "is_out_of_tree": True,
}
"""The object that code asks for its platform, and its answers outside of vLLM's own tree: `Platform` in
``vllm/platforms/interface.py`` answers by its ``_enum``, and vllm-ascend's ``NPUPlatform`` has ``PlatformEnum.OOT``."""

BUFFER_MAKER = "_make_buffer"
BUFFER_MEMBERS = frozenset({"gpu", "np", "copy_to_gpu", "copy_to_cpu"})
"""The method of vLLM's runners that makes a ``CpuGpuBuffer``, and what only such a buffer has."""

BUILT = re.compile(r"(^|\.)(_C\w*|_\w+_C|\w+_C|_version|version|_build_info|vllm_flash_attn|third_party)(\.|$)")
"""Modules that the build writes or compiles. No source tree has them, so their absence proves nothing."""
