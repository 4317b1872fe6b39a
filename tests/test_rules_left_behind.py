"""RS210: what a branch takes out of omni's shared code while NPU code still uses it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from check_samples import found, job
from parity_samples import gpu, npu

from runner_sync.verify.check_job import CheckJob

HEAD = "from vllm.v1.worker.gpu_model_runner import GPUModelRunner\n\n\nclass OmniGPUModelRunner(GPUModelRunner):\n"
METHOD = "    def extract(self, x):\n        return x\n"
SHARED, RENAMED = HEAD + METHOD, HEAD + METHOD.replace("extract", "take_apart")
RUN = "def execute_model(self, x):\n    return self.{}(x)\n"
OWN = npu(RUN.format("extract"))


def branched(own: str = OWN, shared: str = RENAMED, twin: str = "take_apart", **rest: object) -> CheckJob:
    before = job(OWN, gpu(RUN.format("extract")), gpu_base=SHARED, **rest)  # type: ignore[arg-type]
    now = job(own, gpu(RUN.format(twin)), gpu_base=shared, **rest)  # type: ignore[arg-type]
    return replace(now, before=lambda: before)


def told(given: CheckJob) -> list[tuple[str, str]]:
    return [(finding.unit, finding.symbol) for finding in found(given, "RS210")]


def test_a_shared_method_that_the_branch_renamed() -> None:
    (finding,) = found(branched(), "RS210")
    assert (finding.unit, finding.symbol) == ("NPUARModelRunner.execute_model", "extract")
    assert finding.message.startswith("`OmniGPUModelRunner` had `extract` where the branch began (")


def test_a_remark_on_the_gpu_side_is_no_use() -> None:
    shared = RENAMED.replace("return x", '"""Was extract before."""\n        # like extract\n        return x')
    assert told(branched(shared=shared)) == [("NPUARModelRunner.execute_model", "extract")]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(branched(npu(RUN.format("take_apart"))), id="NPU follows"),
        pytest.param(branched(shared=SHARED), id="nothing is gone"),
        pytest.param(branched(twin="extract"), id="the GPU side still uses it, so upstream may have it"),
        pytest.param(branched(vllm="class GPUModelRunner:\n    def extract(self): ...\n"), id="vLLM has it"),
        pytest.param(branched(npu(RUN.format("extract") + METHOD.replace("    ", "", 1))), id="NPU has its own"),
        pytest.param(
            branched(npu("def __init__(self):\n    self.extract = None\n" + RUN.format("extract"))), id="NPU sets it"
        ),
        pytest.param(
            branched(npu("def execute_model(self, x):\n    if hasattr(self, 'extract'):\n        self.extract(x)\n")),
            id="NPU asks for it",
        ),
        pytest.param(branched(npu(RUN.format("model.extract"))), id="a member of another object"),
        pytest.param(job(OWN, gpu(RUN.format("take_apart")), gpu_base=RENAMED), id="no branch is named"),
    ],
)
def test_what_is_not_left_behind(given: CheckJob) -> None:
    assert told(given) == []
