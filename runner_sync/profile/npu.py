"""The built-in profile of omni's NPU runners, which holds all names specific to them, so that the engine has none.

Goes out: one ``Profile``. May touch: nothing. Names were read from the releases vllm-omni 0.11.0rc1 … 0.32.0rc1 and
vllm-ascend 0.11.0rc1 … 0.30.0rc2.
"""

from __future__ import annotations

from runner_sync.profile.paths import ASCEND_RUNNER, ASCEND_WORKER, OMNI_FOLDERS, VLLM_RUNNER, VLLM_WORKER
from runner_sync.profile.platform import Anchor, KeywordRewrite, NameRewrite, Profile, RunnerModule

_ASCEND = Anchor("vllm-ascend", ASCEND_RUNNER, "NPUModelRunner", VLLM_RUNNER)
_ASCEND_WORKER = Anchor("vllm-ascend", ASCEND_WORKER, "NPUWorker", VLLM_WORKER, "Worker")


def _list_paths(stem: str) -> tuple[str, ...]:
    return (f"vllm_omni/platforms/npu/worker/{stem}.py", f"vllm_omni/worker/npu/{stem}.py")


NPU = Profile(
    name="vllm-omni-npu",
    package="vllm_omni",
    modules=(
        RunnerModule(
            _list_paths("npu_model_runner"),
            "OmniNPUModelRunner",
            (_ASCEND,),
            Anchor("vllm-omni", "vllm_omni/worker/gpu_model_runner.py", "OmniGPUModelRunner"),
            inherits=True,  # as in the releases since 0.16.0
        ),
        RunnerModule(
            _list_paths("npu_ar_model_runner"),
            "NPUARModelRunner",
            (_ASCEND,),
            Anchor("vllm-omni", "vllm_omni/worker/gpu_ar_model_runner.py", "GPUARModelRunner"),
        ),
        RunnerModule(
            _list_paths("npu_generation_model_runner"),
            "NPUGenerationModelRunner",
            (_ASCEND,),
            Anchor("vllm-omni", "vllm_omni/worker/gpu_generation_model_runner.py", "GPUGenerationModelRunner"),
        ),
        RunnerModule(
            _list_paths("npu_ar_worker"),
            "NPUARWorker",
            (_ASCEND_WORKER,),
            Anchor("vllm-omni", "vllm_omni/worker/gpu_ar_worker.py", "GPUARWorker"),
        ),
        RunnerModule(
            _list_paths("npu_generation_worker"),
            "NPUGenerationWorker",
            (_ASCEND_WORKER,),
            Anchor("vllm-omni", "vllm_omni/worker/gpu_generation_worker.py", "GPUGenerationWorker"),
        ),
        RunnerModule(
            _list_paths("base"),
            "OmniNPUWorkerBase",
            (_ASCEND_WORKER,),
            Anchor("vllm-omni", "vllm_omni/worker/base.py", "OmniGPUWorkerBase"),
        ),
    ),
    names=(
        # The kernels of vllm-ascend read fields that only its own context sets. `set_forward_context` of
        # `current_omni_platform` stays, and so does its keyword.
        NameRewrite(
            "set_forward_context",
            "vllm.forward_context",
            "set_ascend_forward_context",
            "vllm_ascend.ascend_forward_context",
        ),
        # Only `ACLGraphWrapper` captures NPU graphs. NPU code keeps `CUDAGraphStat` and `CUDAGraphMode`.
        NameRewrite(
            "CUDAGraphWrapper", "vllm.compilation.cuda_graph", "ACLGraphWrapper", "vllm_ascend.compilation.acl_graph"
        ),
        # omni 0.20 imports the name from its own GPU runner, which merely re-exports it.
        NameRewrite(
            "CUDAGraphWrapper",
            "vllm_omni.worker.gpu_model_runner",
            "ACLGraphWrapper",
            "vllm_ascend.compilation.acl_graph",
        ),
        # The class exists in vLLM since 0.22, in vllm-ascend since 0.27.1rc1.
        NameRewrite(
            "BreakableCUDAGraphWrapper",
            "vllm.compilation.breakable_cudagraph",
            "BreakableACLGraphWrapper",
            "vllm_ascend.compilation.breakable_aclgraph",
        ),
        # vLLM's function captures on a CUDA stream and calls its custom all-reduce.
        NameRewrite(
            "graph_capture",
            "vllm.distributed.parallel_state",
            "graph_capture",
            "vllm_ascend.worker.model_runner_v1",
        ),
        # `AscendSampler` picks NPU kernels for top-k and top-p.
        NameRewrite("Sampler", "vllm.v1.sample.sampler", "AscendSampler", "vllm_ascend.sample.sampler"),
        # `NPUInputBatch` owns NPU block tables; vLLM's class would allocate CUDA ones. NPU keeps `CachedRequestState`.
        NameRewrite(
            "InputBatch", "vllm.v1.worker.gpu_input_batch", "NPUInputBatch", "vllm_ascend.worker.npu_input_batch"
        ),
        # vllm-ascend 0.11 and 0.12 have their own InputBatch, not yet a subclass of the class in vLLM.
        NameRewrite("InputBatch", "vllm.v1.worker.gpu_input_batch", "InputBatch", "vllm_ascend.worker.npu_input_batch"),
        # The generation runners import these names from the AR runner of their own platform.
        NameRewrite(
            "ExecuteModelState",
            "vllm_omni.worker.gpu_ar_model_runner",
            "ExecuteModelState",
            "vllm_omni.platforms.npu.worker.npu_ar_model_runner",
        ),
        NameRewrite(
            "_ensure_tensor_values",
            "vllm_omni.worker.gpu_ar_model_runner",
            "_ensure_tensor_values",
            "vllm_omni.platforms.npu.worker.npu_ar_model_runner",
        ),
        # GPU runners import these names through vLLM's runner, NPU runners (all releases) from the defining modules.
        NameRewrite("IntermediateTensors", "vllm.v1.worker.gpu_model_runner", "IntermediateTensors", "vllm.sequence"),
        NameRewrite(
            "EMPTY_MODEL_RUNNER_OUTPUT",
            "vllm.v1.worker.gpu_model_runner",
            "EMPTY_MODEL_RUNNER_OUTPUT",
            "vllm.v1.outputs",
        ),
        # The builders of vllm-ascend read fields that vLLM's class lacks.
        # vLLM defines the class in attention.backend since 0.14, in attention.backends.utils before.
        NameRewrite(
            "CommonAttentionMetadata",
            "vllm.v1.attention.backend",
            "AscendCommonAttentionMetadata",
            "vllm_ascend.attention.utils",
        ),
        NameRewrite(
            "CommonAttentionMetadata",
            "vllm.v1.attention.backends.utils",
            "AscendCommonAttentionMetadata",
            "vllm_ascend.attention.utils",
        ),
    ),
    keywords=(KeywordRewrite("set_ascend_forward_context", "cudagraph_runtime_mode", "aclgraph_runtime_mode"),),
    attributes=(
        ("torch.cuda.CUDAGraph", "torch.npu.NPUGraph"),
        ("torch.cuda.graph", "torch.npu.graph"),
        ("torch.cuda", "torch.npu"),
        # The torch call is device-neutral, but NPU runners use the NPU call in every release since 0.22.
        ("torch.accelerator.synchronize", "torch.npu.synchronize"),
    ),
    classes=(
        ("OmniGPUModelRunner", "OmniNPUModelRunner"),
        ("GPUARModelRunner", "NPUARModelRunner"),
        ("GPUGenerationModelRunner", "NPUGenerationModelRunner"),
        ("GPUARWorker", "NPUARWorker"),
        ("GPUGenerationWorker", "NPUGenerationWorker"),
        ("OmniGPUWorkerBase", "OmniNPUWorkerBase"),
    ),
    # Both members map a batch descriptor to its graph, in vLLM 0.14 … 0.33 and vllm-ascend 0.11 … 0.30.0rc2.
    members=(("CUDAGraphWrapper.concrete_cudagraph_entries", "ACLGraphWrapper.concrete_aclgraph_entries"),),
    # The record that carries results of `execute_model` to `sample_tokens`.
    handovers=("ExecuteModelState",),
    surroundings=("vllm_ascend", *OMNI_FOLDERS, "vllm/v1"),
    # Other translated names (`Sampler`, `InputBatch`, …) have NPU subclasses and serve well as annotations.
    gpu_imports=("CUDAGraphWrapper", "BreakableCUDAGraphWrapper", "set_forward_context"),
    # Separate streams and pinned host copies: NPU has other calls or none; people port them by hand, if at all.
    unported=(
        "torch.npu.Stream",
        "torch.npu.stream(",
        "record_stream",
        "pin_memory=",
        "is_pin_memory_available",
        "CuMemAllocator",
        "CudaProfilerWrapper",
        "triton.",
        "Triton",  # what a docstring says that its code is for
        "flashinfer",
    ),
    # Missing or meaningless (get_device_capability) in torch_npu.npu, or about CUDA itself.
    device_only=(
        "torch.cuda.comm",
        "torch.cuda.cudart",
        "torch.cuda.get_arch_list",
        "torch.cuda.get_device_capability",
        "torch.cuda.jiterator",
        "torch.cuda.nccl",
        "torch.cuda.nvtx",
        "torch.cuda.profiler",
        "torch.backends.cuda",
        "torch.backends.cudnn",
        "torch.version.cuda",
    ),
)
