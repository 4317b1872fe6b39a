"""Methods of the omni GPU runner that hide vllm-ascend's, and get calls meant for these (RS305)."""

from __future__ import annotations

import pytest
from verify_samples import GPU, find, npu, symbols, world

ASCEND = "from vllm.runner import GPUModelRunner\nclass NPUModelRunner(GPUModelRunner):\n"
TAKES = "    def extract(self, hidden, stage=0):\n        return hidden\n"
CALLS = "    def start(self):\n        return self.extract(1, stage=1)\n"
HIDES = GPU + "    def extract(self, hidden):\n        return hidden\n"
VLLM = "def helper(): ...\nclass GPUModelRunner:\n    def __init__(self, config):\n        self.config = config\n"

SAMPLES = {
    "vllm-ascend has the method and calls it": ({"ascend": ASCEND + TAKES + CALLS, "gpu": HIDES}, True),
    "vllm-ascend calls vLLM's method": ({"ascend": ASCEND + CALLS, "gpu": HIDES, "vllm": VLLM + TAKES}, True),
    "vLLM calls vllm-ascend's method": ({"ascend": ASCEND + TAKES, "gpu": HIDES, "vllm": VLLM + TAKES + CALLS}, True),
    "it takes the argument": ({"ascend": ASCEND + TAKES + CALLS, "gpu": GPU + TAKES}, False),
    "the hidden method does not take it": (
        {"ascend": ASCEND + TAKES.replace("stage", "part") + CALLS, "gpu": HIDES},
        False,
    ),
    "only vLLM has a part, and it fails on GPU as well": (
        {"ascend": ASCEND + "    pass\n", "gpu": HIDES, "vllm": VLLM + TAKES + CALLS},
        False,
    ),
    "an NPU runner has a method of its own": (
        {"ascend": ASCEND + TAKES + CALLS, "gpu": HIDES, "npu": npu("def extract(self, hidden, stage=0): ...")},
        False,
    ),
    "a class that no NPU runner derives from": (
        {"ascend": ASCEND + TAKES + CALLS, "gpu": GPU + "    pass\n" + HIDES.replace("Omni", "Other")},
        False,
    ),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_method_of_the_gpu_runner_that_a_call_no_longer_fits(name: str) -> None:
    changed, is_told = SAMPLES[name]
    found = find(world(**{"npu": npu("pass"), **changed}))
    assert symbols(found) == ([("RS305", "extract(stage=)")] if is_told else [])
    assert all(finding.path == "vllm_omni/gpu.py" for finding in found)
