"""The built-in profile: every name of the vllm-omni NPU job that the engine must not know by itself.

Goes out: frozen dataclasses with names only (paths, classes, calls). May touch: nothing. ``config`` overlays a
``runner-sync.toml`` on top of ``NPU``; another platform is another value of ``Profile``.
Names were read from the releases vllm-omni 0.11.0rc1 … 0.32.0rc1 and vllm-ascend 0.11.0rc1 … 0.30.0rc2.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from runner_sync.model import Project
from runner_sync.naming import module_name


@dataclass(frozen=True, slots=True)
class Anchor:
    """A class (or a whole module, when ``name`` is empty) in one project's tree.

    ``vllm`` is the path of vLLM's module that both this class and the GPU twin derive from or edit, ``vllm_class`` the
    class there, where it is not the profile's; ``Profile.vllm_of`` says what an anchor without them means.
    """

    project: Project
    path: str
    name: str = ""
    vllm: str = ""
    vllm_class: str = ""


@dataclass(frozen=True, slots=True)
class RunnerModule:
    """One derived module: where it lives (newest location first), its classes' upstreams and its GPU twins.

    ``upstreams`` are the classes whose methods were copied; ``gpu`` is the twin runner whose omni code is ported;
    ``inherits`` says that the class is meant to have its twin as its first base.
    """

    paths: tuple[str, ...]
    name: str
    upstreams: tuple[Anchor, ...]
    gpu: Anchor | None = None
    inherits: bool = False


@dataclass(frozen=True, slots=True)
class NameRewrite:
    """``name`` imported from ``module`` becomes ``new_name`` from ``new_module`` (one GPU→NPU translation)."""

    name: str
    module: str
    new_name: str
    new_module: str


@dataclass(frozen=True, slots=True)
class KeywordRewrite:
    """On calls of ``call`` (after name rewrites) the keyword ``name`` becomes ``new_name``."""

    call: str
    name: str
    new_name: str


@dataclass(frozen=True, slots=True)
class SamplerHook:
    """The contract of a model's own sampler: the method that asks it, the call that makes the token history real, the
    platform's sampler, the attribute by which a model says that it wants to be asked, and the model's method."""

    method: str = "_sample"
    history: str = "self.input_batch.update_async_output_token_ids()"
    sampler: str = "self.sampler"
    flag: str = "prefer_model_sampler"
    asks: str = "sample"

    @property
    def update(self) -> str:
        """The bare name of what makes the token history real."""
        return self.history.partition("(")[0].rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Output:
    """The record that a runner hands on, and what a variable is called that holds one from elsewhere."""

    name: str = "OmniModelRunnerOutput"
    variable: str = "model_runner_output"


@dataclass(frozen=True, slots=True)
class Profile:
    """Everything the engine is told about one derived platform."""

    name: str
    package: str
    modules: tuple[RunnerModule, ...]
    names: tuple[NameRewrite, ...]
    keywords: tuple[KeywordRewrite, ...]
    attributes: tuple[tuple[str, str], ...]
    classes: tuple[tuple[str, str], ...]
    marker: str = "Omni-new"
    device_only: tuple[str, ...] = ()
    device: tuple[str, str] = ("cuda", "npu")
    unported: tuple[str, ...] = ()
    vllm_class: str = "GPUModelRunner"
    sampler_hook: SamplerHook = SamplerHook()
    output: Output = Output()
    gpu_imports: tuple[str, ...] = ()
    handovers: tuple[str, ...] = ()
    surroundings: tuple[str, ...] = ()

    @property
    def runners(self) -> tuple[RunnerModule, ...]:
        """The modules that come from vLLM's runner, as opposed to workers and the like."""
        return tuple(module for module in self.modules if self.vllm_of(module).name == self.vllm_class)

    def npu_name(self, qualname: str) -> str:
        """The name that a GPU class, or a member of one, has on the derived platform."""
        return _renamed(qualname, _npu_names(self))

    def gpu_name(self, qualname: str) -> str:
        """The name that a class of the derived platform, or a member of one, has on the GPU side."""
        return _renamed(qualname, {npu: gpu for gpu, npu in _npu_names(self).items()})

    @property
    def shared_names(self) -> tuple[NameRewrite, ...]:
        """The rewrites of what a GPU twin defines for others: they take it from the NPU twin."""
        pairs = [(module.gpu, module.paths) for module in self.modules if module.gpu is not None]
        moves = {(module_name(gpu.path), module_name(path)) for gpu, paths in pairs for path in paths}
        return tuple(row for row in self.names if (row.module, row.new_module) in moves)

    def vllm_of(self, module: RunnerModule) -> Anchor:
        """vLLM's own class that ``module`` and its GPU twin come from; its runner, if the upstream names none."""
        upstream = module.upstreams[0]
        return Anchor("vllm", upstream.vllm or VLLM_RUNNER, upstream.vllm_class or self.vllm_class)

    def fitted(self, lacks: Callable[[str, str], bool]) -> Profile:
        """This profile on trees of which ``lacks`` says whether a module is known not to have a name.

        Rows with the same source are alternatives: the first one that is there is kept, the first one if none is.
        """
        choices: dict[tuple[str, str], list[NameRewrite]] = {}
        for row in self.names:
            choices.setdefault((row.module, row.name), []).append(row)
        kept = {
            next((row for row in rows if len(rows) == 1 or not lacks(row.new_module, row.new_name)), rows[0])
            for rows in choices.values()
        }
        return self if len(kept) == len(self.names) else replace(self, names=tuple(r for r in self.names if r in kept))

    def rows(self, names: Container[str]) -> tuple[NameRewrite, ...]:
        """The name rewrites of ``names``, in the order in which they are tried."""
        return tuple(row for row in self.names if row.name in names)


@lru_cache(maxsize=8)
def _npu_names(profile: Profile) -> Mapping[str, str]:
    """``{GPU name: NPU name}`` of the runner classes, and of what else the twin modules name differently."""
    return {row.name: row.new_name for row in profile.shared_names} | dict(profile.classes)


def _renamed(qualname: str, classes: Mapping[str, str]) -> str:
    owner, dot, member = qualname.partition(".")
    return f"{classes.get(owner, owner)}{dot}{member}"


ASCEND_RUNNER = "vllm_ascend/worker/model_runner_v1.py"
ASCEND_WORKER = "vllm_ascend/worker/worker.py"
VLLM_RUNNER = "vllm/v1/worker/gpu_model_runner.py"
VLLM_WORKER = "vllm/v1/worker/gpu_worker.py"

SWALLOWERS = frozenset({"suppress", "raises", "assertRaises", "assertRaisesRegex"})
"""What makes context managers that may swallow an exception: the standard library, pytest. No runner has others."""

OMNI_FOLDERS = ("vllm_omni/worker", "vllm_omni/platforms/npu")
"""Where the runners of both sides live, with what is around them."""

_ASCEND = Anchor("vllm-ascend", ASCEND_RUNNER, "NPUModelRunner", VLLM_RUNNER)
_ASCEND_WORKER = Anchor("vllm-ascend", ASCEND_WORKER, "NPUWorker", VLLM_WORKER, "Worker")


def _npu(stem: str) -> tuple[str, ...]:
    return (f"vllm_omni/platforms/npu/worker/{stem}.py", f"vllm_omni/worker/npu/{stem}.py")


NPU = Profile(
    name="vllm-omni-npu",
    package="vllm_omni",
    modules=(
        RunnerModule(
            _npu("npu_model_runner"),
            "OmniNPUModelRunner",
            (_ASCEND,),
            Anchor("vllm-omni", "vllm_omni/worker/gpu_model_runner.py", "OmniGPUModelRunner"),
            inherits=True,  # so since 0.16.0
        ),
        RunnerModule(
            _npu("npu_ar_model_runner"),
            "NPUARModelRunner",
            (_ASCEND,),
            Anchor("vllm-omni", "vllm_omni/worker/gpu_ar_model_runner.py", "GPUARModelRunner"),
        ),
        RunnerModule(
            _npu("npu_generation_model_runner"),
            "NPUGenerationModelRunner",
            (_ASCEND,),
            Anchor("vllm-omni", "vllm_omni/worker/gpu_generation_model_runner.py", "GPUGenerationModelRunner"),
        ),
        RunnerModule(
            _npu("npu_ar_worker"),
            "NPUARWorker",
            (_ASCEND_WORKER,),
            Anchor("vllm-omni", "vllm_omni/worker/gpu_ar_worker.py", "GPUARWorker"),
        ),
        RunnerModule(
            _npu("npu_generation_worker"),
            "NPUGenerationWorker",
            (_ASCEND_WORKER,),
            Anchor("vllm-omni", "vllm_omni/worker/gpu_generation_worker.py", "GPUGenerationWorker"),
        ),
        RunnerModule(
            _npu("base"),
            "OmniNPUWorkerBase",
            (_ASCEND_WORKER,),
            Anchor("vllm-omni", "vllm_omni/worker/base.py", "OmniGPUWorkerBase"),
        ),
    ),
    names=(
        NameRewrite(
            "set_forward_context",
            "vllm.forward_context",
            "set_ascend_forward_context",
            "vllm_ascend.ascend_forward_context",
        ),
        NameRewrite(
            "CUDAGraphWrapper", "vllm.compilation.cuda_graph", "ACLGraphWrapper", "vllm_ascend.compilation.acl_graph"
        ),
        # omni 0.20 imports it from its own GPU runner, which only passes it on.
        NameRewrite(
            "CUDAGraphWrapper",
            "vllm_omni.worker.gpu_model_runner",
            "ACLGraphWrapper",
            "vllm_ascend.compilation.acl_graph",
        ),
        # vLLM has it from 0.22, vllm-ascend from 0.27.1rc1.
        NameRewrite(
            "BreakableCUDAGraphWrapper",
            "vllm.compilation.breakable_cudagraph",
            "BreakableACLGraphWrapper",
            "vllm_ascend.compilation.breakable_aclgraph",
        ),
        NameRewrite(
            "graph_capture",
            "vllm.distributed.parallel_state",
            "graph_capture",
            "vllm_ascend.worker.model_runner_v1",
        ),
        NameRewrite("Sampler", "vllm.v1.sample.sampler", "AscendSampler", "vllm_ascend.sample.sampler"),
        NameRewrite(
            "InputBatch", "vllm.v1.worker.gpu_input_batch", "NPUInputBatch", "vllm_ascend.worker.npu_input_batch"
        ),
        # vllm-ascend 0.11 and 0.12 have their own InputBatch, not yet a subclass of vLLM's.
        NameRewrite("InputBatch", "vllm.v1.worker.gpu_input_batch", "InputBatch", "vllm_ascend.worker.npu_input_batch"),
        # The generation runners take these from the AR runner of their own platform.
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
        # GPU runners import these through vLLM's runner, NPU runners (all releases) from where they are defined.
        NameRewrite("IntermediateTensors", "vllm.v1.worker.gpu_model_runner", "IntermediateTensors", "vllm.sequence"),
        NameRewrite(
            "EMPTY_MODEL_RUNNER_OUTPUT",
            "vllm.v1.worker.gpu_model_runner",
            "EMPTY_MODEL_RUNNER_OUTPUT",
            "vllm.v1.outputs",
        ),
        # vLLM defines it in attention.backend from 0.14 on, in attention.backends.utils before.
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
        # Device-neutral in torch, but NPU runners spell it out in every release since 0.22.
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
    # The record that takes what `execute_model` computed to `sample_tokens`.
    handovers=("ExecuteModelState",),
    surroundings=("vllm_ascend", *OMNI_FOLDERS, "vllm/v1"),
    # Other translated names (`Sampler`, `InputBatch`, …) have NPU subclasses and serve well as annotations.
    gpu_imports=("CUDAGraphWrapper", "BreakableCUDAGraphWrapper", "set_forward_context"),
    # Own streams and pinned host snapshots: NPU has other calls for them, or none; people port them by hand, if at all.
    unported=(
        "torch.npu.Stream",
        "torch.npu.stream(",
        "record_stream",
        "pin_memory=",
        "is_pin_memory_available",
        "CuMemAllocator",
        "CudaProfilerWrapper",
        "triton.",
        "flashinfer",
    ),
    # Not in torch_npu.npu, or there without a meaning (get_device_capability), or about CUDA itself.
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
