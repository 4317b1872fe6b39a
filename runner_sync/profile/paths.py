"""The paths of runners and workers in the three projects.

Goes out: paths in their trees. May touch: nothing.
"""

from __future__ import annotations

ASCEND_RUNNER = "vllm_ascend/worker/model_runner_v1.py"
ASCEND_WORKER = "vllm_ascend/worker/worker.py"
VLLM_RUNNER = "vllm/v1/worker/gpu_model_runner.py"
VLLM_RUNNER_V2 = "vllm/v1/worker/gpu/model_runner.py"
VLLM_WORKER = "vllm/v1/worker/gpu_worker.py"

OMNI_FOLDERS = ("vllm_omni/worker", "vllm_omni/platforms/npu")
"""The folders with the runners of both sides and the modules around them."""
