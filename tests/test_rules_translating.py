"""GPU code in NPU names, as rules compare it with NPU code."""

from __future__ import annotations

import pytest

from runner_sync.profile import NPU
from runner_sync.verify.runners.parity import translate_to_npu

TRANSLATED = {
    "Sampler()": "AscendSampler()",
    "x = Sampler": "x = AscendSampler",
    "x(Sampler, InputBatch)": "x(AscendSampler, NPUInputBatch)",
    "Sampler.sample": "AscendSampler.sample",
    "torch.cuda.graph(g)": "torch.npu.graph(g)",
    "torch.cuda.CUDAGraph()": "torch.npu.NPUGraph()",
    "torch.cuda.graphs": "torch.npu.graphs",
    "-torch.cuda\n": "-torch.npu\n",
    "BreakableCUDAGraphWrapper(CUDAGraphWrapper)": "BreakableACLGraphWrapper(ACLGraphWrapper)",
    "wrapper.concrete_cudagraph_entries[0]": "wrapper.concrete_aclgraph_entries[0]",
    "self.x.concrete_cudagraph_entries": "self.x.concrete_aclgraph_entries",
    "é Sampler": "é AscendSampler",
}

KEPT = [
    "MySampler()",
    "my_Sampler()",
    "éSampler()",
    "Samplers()",
    "Sampler_of()",
    "self.Sampler",
    "x.torch.cuda",
    "mytorch.cuda",
    "torch.cudagraph",
    "xBreakableCUDAGraphWrapper",
    "x.BreakableCUDAGraphWrapper",
    "concrete_cudagraph_entries",
    ".concrete_cudagraph_entries_of",
    "other.synchronize()",
    "",
]


@pytest.mark.parametrize("text", TRANSLATED)
def test_a_whole_name_is_translated(text: str) -> None:
    assert translate_to_npu(text, NPU) == TRANSLATED[text]


@pytest.mark.parametrize("text", KEPT)
def test_a_part_of_a_name_and_a_member_of_that_name_stay(text: str) -> None:
    assert translate_to_npu(text, NPU) == text
    assert translate_to_npu(f"Sampler, {text}", NPU) == f"AscendSampler, {text}"
