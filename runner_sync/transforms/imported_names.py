"""Imports names from their NPU modules, under the names that they have there.

Comes in: a `Job`. Goes out: edits of imports and uses, or doubts. May touch: libcst only.

Each row of ``TABLE`` is one rewrite, with an example, what it leaves alone, and why. The profile says where the names
go; `rename_imported` ensures that an import and all its uses are renamed together or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from runner_sync.transforms.job import Doubt, Job, NodeEdit
from runner_sync.transforms.renames import rename_imported


@dataclass(frozen=True, slots=True)
class Renaming:
    """A rewrite by the profile's rows for ``names``; ``before`` and ``after`` are the lines of an example."""

    names: tuple[str, ...]
    before: tuple[str, ...]
    after: tuple[str, ...]
    leaves_alone: str
    why: str

    def rewrite(self, job: Job) -> Iterator[NodeEdit | Doubt]:
        """Edits of the imports and of every use."""
        return rename_imported(job, job.profile.rows(self.names))


TABLE: Mapping[str, Renaming] = {
    "graph_wrapper": Renaming(
        names=("CUDAGraphWrapper", "BreakableCUDAGraphWrapper"),
        before=(
            "from vllm.compilation.cuda_graph import CUDAGraphWrapper",
            "if not isinstance(self.talker_mtp, CUDAGraphWrapper):",
        ),
        after=(
            "from vllm_ascend.compilation.acl_graph import ACLGraphWrapper",
            "if not isinstance(self.talker_mtp, ACLGraphWrapper):",
        ),
        leaves_alone="a class of that name defined or imported elsewhere, `hasattr(module, 'CUDAGraphWrapper')` and "
        "other strings, `CUDAGraphStat` and `CUDAGraphMode` (NPU code keeps those), comments",
        why="only the ACL wrapper captures NPU graphs; an `isinstance` against the CUDA one is silently always false",
    ),
    "attention_metadata": Renaming(
        names=("CommonAttentionMetadata",),
        before=(
            "from vllm.v1.attention.backend import CommonAttentionMetadata",
            "cm_base = CommonAttentionMetadata(query_start_loc=query_start_loc, seq_lens=seq_lens)",
        ),
        after=(
            "from vllm_ascend.attention.utils import AscendCommonAttentionMetadata",
            "cm_base = AscendCommonAttentionMetadata(query_start_loc=query_start_loc, seq_lens=seq_lens)",
        ),
        leaves_alone="the arguments (Ascend's class takes more, such as `attn_state`), `PerLayerAttnMetadata` and "
        "`AttentionMetadata`, which NPU code shares with vLLM",
        why="Ascend's builders read fields that vLLM's class does not have",
    ),
    "input_batch": Renaming(
        names=("InputBatch",),
        before=(
            "from vllm.v1.worker.gpu_input_batch import CachedRequestState, InputBatch",
            "self.input_batch = InputBatch(max_num_reqs=self.max_num_reqs)",
        ),
        after=(
            "from vllm.v1.worker.gpu_input_batch import CachedRequestState",
            "from vllm_ascend.worker.npu_input_batch import NPUInputBatch",
            "self.input_batch = NPUInputBatch(max_num_reqs=self.max_num_reqs)",
        ),
        leaves_alone="`CachedRequestState` (NPU code takes vLLM's), the arguments, `input_batch` attributes",
        why="Ascend's batch owns NPU block tables; vLLM's would allocate CUDA ones",
    ),
    "sampler": Renaming(
        names=("Sampler",),
        before=(
            "from vllm.v1.sample.sampler import Sampler",
            "self.sampler = Sampler(logprobs_mode=self.model_config.logprobs_mode)",
        ),
        after=(
            "from vllm_ascend.sample.sampler import AscendSampler",
            "self.sampler = AscendSampler(logprobs_mode=self.model_config.logprobs_mode)",
        ),
        leaves_alone="`Sampler` of another module, `SamplerOutput`, `RejectionSampler`, the arguments",
        why="Ascend's sampler picks NPU kernels for top-k and top-p",
    ),
    "graph_capture": Renaming(
        names=("graph_capture",),
        before=("from vllm.distributed.parallel_state import get_pp_group, graph_capture",),
        after=(
            "from vllm.distributed.parallel_state import get_pp_group",
            "from vllm_ascend.worker.model_runner_v1 import graph_capture",
        ),
        leaves_alone="the calls (the name is the same on both sides), the other names of `parallel_state`, a "
        "`graph_capture` of another module",
        why="vLLM's context captures on a CUDA stream and calls into its custom all-reduce",
    ),
    "reexports": Renaming(
        names=("IntermediateTensors", "EMPTY_MODEL_RUNNER_OUTPUT"),
        before=("from vllm.v1.worker.gpu_model_runner import EMPTY_MODEL_RUNNER_OUTPUT, AsyncGPUModelRunnerOutput",),
        after=(
            "from vllm.v1.worker.gpu_model_runner import AsyncGPUModelRunnerOutput",
            "from vllm.v1.outputs import EMPTY_MODEL_RUNNER_OUTPUT",
        ),
        leaves_alone="what vLLM's runner defines itself (`AsyncGPUModelRunnerOutput`, `PerLayerAttnMetadata`), uses",
        why="NPU runners import these from their own modules in every release; two spellings of one import would be "
        "two imports",
    ),
}
"""The rewrites by the names that reports, documentation and tests use."""
