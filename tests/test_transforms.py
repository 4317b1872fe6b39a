"""Every rewrite as a table: what it changes, and the near-misses it must leave alone."""

from __future__ import annotations

import gc
from dataclasses import replace
from textwrap import dedent

import pytest
from transform_samples import AR, check_rewrite

from runner_sync.errors import InputError
from runner_sync.profile import NPU
from runner_sync.transforms import (
    Translated,
    translate,
    translate_unit,
)

FC = "from vllm.forward_context import set_forward_context\n"
AFC = "from vllm_ascend.ascend_forward_context import set_ascend_forward_context\n"
CGW = "from vllm.compilation.cuda_graph import CUDAGraphWrapper\n"
AGW = "from vllm_ascend.compilation.acl_graph import ACLGraphWrapper\n"
CAM = "from vllm.v1.attention.backend import CommonAttentionMetadata\n"
ACAM = "from vllm_ascend.attention.utils import AscendCommonAttentionMetadata\n"


def check_noop(source: str, *, doubts: int = 0, path: str = "") -> Translated:
    """``source`` keeps every byte; ``doubts`` findings say what was seen and left."""
    source = dedent(source)
    done = translate(source, NPU, path=path)
    assert done.text == source
    assert done.applied == ()
    assert len(done.findings) == doubts, done.findings
    return done


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            CGW + "a = isinstance(m, CUDAGraphWrapper)\n", AGW + "a = isinstance(m, ACLGraphWrapper)\n", id="isinstance"
        ),
        pytest.param(
            CGW + "a = isinstance(m, (CUDAGraphWrapper, Other))\n",
            AGW + "a = isinstance(m, (ACLGraphWrapper, Other))\n",
            id="isinstance-tuple",
        ),
        pytest.param(
            CGW + "def f(m: CUDAGraphWrapper | None) -> CUDAGraphWrapper: ...\n",
            AGW + "def f(m: ACLGraphWrapper | None) -> ACLGraphWrapper: ...\n",
            id="annotation",
        ),
        pytest.param(
            CGW + 'def f(m: "CUDAGraphWrapper | None") -> list["CUDAGraphWrapper"]: ...\n',
            AGW + 'def f(m: "ACLGraphWrapper | None") -> list["ACLGraphWrapper"]: ...\n',
            id="quoted-annotation",
        ),
        pytest.param(
            CGW + "CUDAGraphWrapper.clear_all_graphs()\n",
            AGW + "ACLGraphWrapper.clear_all_graphs()\n",
            id="attribute-of-it",
        ),
        pytest.param(
            "def f(m):\n    " + CGW + "\n    return isinstance(m, CUDAGraphWrapper)\n",
            "def f(m):\n    " + AGW + "\n    return isinstance(m, ACLGraphWrapper)\n",
            id="import-inside-function",
        ),
        pytest.param(
            "from vllm.compilation.cuda_graph import CUDAGraphWrapper as Wrapper\nw = Wrapper(m)\n",
            "from vllm_ascend.compilation.acl_graph import ACLGraphWrapper as Wrapper\nw = Wrapper(m)\n",
            id="alias-keeps-its-name",
        ),
        pytest.param(
            "from vllm_omni.worker.gpu_model_runner import CUDAGraphWrapper\nw = CUDAGraphWrapper(m)\n",
            AGW + "w = ACLGraphWrapper(m)\n",
            id="re-exported-by-the-omni-runner",
        ),
        pytest.param(
            "from vllm.compilation.breakable_cudagraph import BreakableCUDAGraphWrapper as W\n",
            "from vllm_ascend.compilation.breakable_aclgraph import BreakableACLGraphWrapper as W\n",
            id="breakable-wrapper",
        ),
        pytest.param(
            "if TYPE_CHECKING:\n    " + CGW + 'w: "CUDAGraphWrapper"\n',
            "if TYPE_CHECKING:\n    " + AGW + 'w: "ACLGraphWrapper"\n',
            id="type-checking-import",
        ),
    ],
)
def test_graph_wrapper_rewrites(before: str, after: str) -> None:
    check_rewrite(before, after, by=("imported_names",))


@pytest.mark.parametrize(
    ("source", "doubts"),
    [
        pytest.param(
            "from elsewhere import CUDAGraphWrapper\nw = CUDAGraphWrapper(m)\n", 0, id="imported-from-elsewhere"
        ),
        pytest.param("class CUDAGraphWrapper: ...\nw = CUDAGraphWrapper()\n", 0, id="defined-here"),
        pytest.param("def f(CUDAGraphWrapper):\n    return CUDAGraphWrapper()\n", 0, id="parameter"),
        pytest.param("def f():\n    CUDAGraphWrapper = g()\n    return CUDAGraphWrapper\n", 0, id="local-variable"),
        pytest.param("# CUDAGraphWrapper\nx = 'CUDAGraphWrapper'\n", 0, id="comment-and-string"),
        pytest.param('h = hasattr(module, "CUDAGraphWrapper")\n', 0, id="hasattr-by-string"),
        pytest.param('"""Uses CUDAGraphWrapper."""\nw = module.CUDAGraphWrapper\n', 0, id="attribute-of-unknown"),
        pytest.param('x: Literal["CUDAGraphWrapper"]\n', 0, id="literal-annotation"),
        pytest.param(CGW + "CUDAGraphWrapper = patched(CUDAGraphWrapper)\n", 1, id="rebound"),
        pytest.param(CGW + "def f():\n    ACLGraphWrapper = 1\n    return CUDAGraphWrapper\n", 1, id="new-name-taken"),
        pytest.param(
            "try:\n    " + CGW + "except ImportError:\n    CUDAGraphWrapper = None\n", 1, id="optional-import"
        ),
        pytest.param("from vllm.compilation.cuda_graph import CUDAGraphStat\n", 0, id="statistics-are-shared"),
    ],
)
def test_graph_wrapper_noop(source: str, doubts: int) -> None:
    check_noop(source, doubts=doubts)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "a = self.mtp.concrete_cudagraph_entries\n", "a = self.mtp.concrete_aclgraph_entries\n", id="read"
        ),
        pytest.param(
            "a = len(w.concrete_cudagraph_entries.values())\n",
            "a = len(w.concrete_aclgraph_entries.values())\n",
            id="inside a chain",
        ),
    ],
)
def test_members_of_a_translated_class_rewrites(before: str, after: str) -> None:
    check_rewrite(before, after, by=("members",))


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("a = self.concrete_cudagraph_entries\n", id="the-runners-own"),
        pytest.param("concrete_cudagraph_entries = m.entries\n", id="variable"),
        pytest.param("a = f(concrete_cudagraph_entries=1)\n", id="keyword"),
        pytest.param("a = getattr(w, 'concrete_cudagraph_entries')\n", id="string"),
        pytest.param("a = w.concrete_cudagraph_entries_of(b)\n", id="longer-name"),
        pytest.param("a = w.cudagraph_entries\n", id="shorter-name"),
    ],
)
def test_members_noop(source: str) -> None:
    check_noop(source)


def test_a_shadowing_scope_keeps_its_own_name() -> None:
    check_rewrite(
        CGW + "def f(CUDAGraphWrapper):\n    return CUDAGraphWrapper\nx = [CUDAGraphWrapper for i in y]\n",
        AGW + "def f(CUDAGraphWrapper):\n    return CUDAGraphWrapper\nx = [ACLGraphWrapper for i in y]\n",
        by=("imported_names",),
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            FC + "with set_forward_context(m, c, cudagraph_runtime_mode=mode):\n    pass\n",
            AFC + "with set_ascend_forward_context(m, c, aclgraph_runtime_mode=mode):\n    pass\n",
            id="call-and-keyword",
        ),
        pytest.param(
            FC + "f(cudagraph_runtime_mode=1)\nset_forward_context(cudagraph_runtime_mode=cudagraph_runtime_mode)\n",
            AFC
            + "f(cudagraph_runtime_mode=1)\nset_ascend_forward_context(aclgraph_runtime_mode=cudagraph_runtime_mode)\n",
            id="only-the-keyword-of-that-call",
        ),
        pytest.param(
            "from vllm.forward_context import BatchDescriptor, set_forward_context\n",
            "from vllm.forward_context import BatchDescriptor\n" + AFC,
            id="split-import-last",
        ),
        pytest.param(
            "from vllm.forward_context import set_forward_context, BatchDescriptor  # noqa: F401\n",
            "from vllm.forward_context import BatchDescriptor  # noqa: F401\n" + AFC,
            id="split-import-first",
        ),
        pytest.param(
            "from vllm.forward_context import (\n    BatchDescriptor,\n    set_forward_context,\n)\nx = 1\n",
            "from vllm.forward_context import (\n    BatchDescriptor,\n)\n" + AFC + "x = 1\n",
            id="split-import-lines",
        ),
        pytest.param(
            "from vllm.forward_context import (\n    set_forward_context,\n)\n",
            "from vllm_ascend.ascend_forward_context import (\n    set_ascend_forward_context,\n)\n",
            id="alone-in-parentheses",
        ),
        pytest.param(
            "import torch; from vllm.forward_context import BatchDescriptor, set_forward_context\n",
            "import torch; from vllm.forward_context import BatchDescriptor; " + AFC,
            id="split-import-after-semicolon",
        ),
        pytest.param(
            FC.replace("\n", " as go\n") + "go(cudagraph_runtime_mode=1)\n",
            AFC.replace("\n", " as go\n") + "go(aclgraph_runtime_mode=1)\n",
            id="aliased-import",
        ),
        pytest.param(
            "import vllm.forward_context as fc\nwith fc.set_forward_context(m, cudagraph_runtime_mode=1): ...\n",
            "import vllm.forward_context as fc\nfrom vllm_ascend import ascend_forward_context\n"
            "with ascend_forward_context.set_ascend_forward_context(m, aclgraph_runtime_mode=1): ...\n",
            id="module-alias",
        ),
        pytest.param(
            "from vllm import forward_context\n"
            "forward_context.set_forward_context(m)\nforward_context.get_forward_context()\n",
            "from vllm import forward_context\nfrom vllm_ascend import ascend_forward_context\n"
            "ascend_forward_context.set_ascend_forward_context(m)\nforward_context.get_forward_context()\n",
            id="module-import-kept-for-the-rest",
        ),
        pytest.param(
            AFC + "set_ascend_forward_context(m, cudagraph_runtime_mode=1)\n",
            AFC + "set_ascend_forward_context(m, aclgraph_runtime_mode=1)\n",
            id="old-keyword-of-the-new-call",
        ),
    ],
)
def test_forward_context_rewrites(before: str, after: str) -> None:
    check_rewrite(before, after, by=("imported_names",))


@pytest.mark.parametrize(
    ("source", "doubts"),
    [
        pytest.param(
            "from vllm_omni.platforms import current_omni_platform\n"
            "current_omni_platform.set_forward_context(m, cudagraph_runtime_mode=1)\n",
            0,
            id="platform-hook",
        ),
        pytest.param(
            "def set_forward_context(): ...\nset_forward_context(cudagraph_runtime_mode=1)\n", 0, id="own-function"
        ),
        pytest.param("from vllm.forward_context import BatchDescriptor, get_forward_context\n", 0, id="neighbours"),
        pytest.param("self.set_forward_context(cudagraph_runtime_mode=1)\n", 0, id="method"),
        pytest.param("from vllm.forward_context import *\nset_forward_context(m)\n", 0, id="star-import"),
        pytest.param("def f():\n    global set_forward_context\n" + FC, 1, id="global-statement"),
        pytest.param(
            AFC + "set_ascend_forward_context(aclgraph_runtime_mode=1, cudagraph_runtime_mode=2)\n",
            1,
            id="both-keywords",
        ),
    ],
)
def test_forward_context_noop(source: str, doubts: int) -> None:
    check_noop(source, doubts=doubts)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("s: torch.cuda.Stream = torch.cuda.current_stream()", "s: torch.npu.Stream = torch.npu.current_stream()"),
        ('def f(s: "torch.cuda.Stream | None"): ...', 'def f(s: "torch.npu.Stream | None"): ...'),
        ("with torch.cuda.stream(s), torch.cuda.graph(g): ...", "with torch.npu.stream(s), torch.npu.graph(g): ..."),
        ("g = torch.cuda.CUDAGraph()", "g = torch.npu.NPUGraph()"),
        ("torch.cuda(1)", "torch.npu(1)"),
        ("raise Error(torch.device('cuda'))", "raise Error(torch.device('npu'))"),
        ("g = (torch\n  .cuda\n  .CUDAGraph)()", "g = (torch\n  .npu\n  .NPUGraph)()"),
        ("import torch as t; t.cuda.synchronize()", "import torch as t; t.npu.synchronize()"),
        ("e = torch . cuda . Event()", "e = torch . npu . Event()"),
        ("torch.cuda.current_stream().synchronize()", "torch.npu.current_stream().synchronize()"),
        ('x = f"{torch.cuda.memory_allocated()} bytes"', 'x = f"{torch.npu.memory_allocated()} bytes"'),
        ('d = torch.device("cuda")', 'd = torch.device("npu")'),
        ('d = torch.device("cuda:1")', 'd = torch.device("npu:1")'),
        ('d = torch.device(f"cuda:{self.local_rank}")', 'd = torch.device(f"npu:{self.local_rank}")'),
        ("t = torch.zeros(1, device='cuda')", "t = torch.zeros(1, device='npu')"),
        ('t = x[0].to("cuda", non_blocking=True)', 't = x[0].to("npu", non_blocking=True)'),
        ('if value.device.type == "cuda": ...', 'if value.device.type == "npu": ...'),
        ('if self.x[0].device.type != "cuda": ...', 'if self.x[0].device.type != "npu": ...'),
        (
            "if torch.cuda.is_available(): torch.cuda.synchronize()",
            "if torch.npu.is_available(): torch.npu.synchronize()",
        ),
        ("if hasattr(self, 'x'): torch.cuda.synchronize()", "if hasattr(self, 'x'): torch.npu.synchronize()"),
        (
            't = t.to("cuda" if torch.cuda.is_available() else "cpu")',
            't = t.to("npu" if torch.npu.is_available() else "cpu")',
        ),
        (
            't = f(device="cpu" if small else "cuda:0" if x else y)',
            't = f(device="cpu" if small else "npu:0" if x else y)',
        ),
        ('t = f(device=device or "cuda")', 't = f(device=device or "npu")'),
        ('d = torch.device(type="cuda", index=0)', 'd = torch.device(type="npu", index=0)'),
        ('g = torch.Generator("cuda")', 'g = torch.Generator("npu")'),
        ('with torch.autocast("cuda"): ...', 'with torch.autocast("npu"): ...'),
        ('with torch.amp.autocast(device_type="cuda"): ...', 'with torch.amp.autocast(device_type="npu"): ...'),
        ('if "cuda" == x.device.type: ...', 'if "npu" == x.device.type: ...'),
    ],
)
def test_device_calls_rewrites(before: str, after: str) -> None:
    done = check_rewrite(f"import torch\n{before}\n", f"import torch\n{after}\n", by=("device_calls",))
    assert done.findings == ()


@pytest.mark.parametrize(
    ("source", "doubts"),
    [
        pytest.param("x = profiler == 'cuda'", 0, id="some-string"),
        pytest.param("x = device_type in ('cuda', 'musa')", 1, id="membership"),
        pytest.param("x = t[0].device.type in ('cuda', 'musa')", 1, id="membership-of-a-part"),
        pytest.param("x = 'cuda' in device", 1, id="the-other-way-round"),
        pytest.param("x = kind in ('cuda', 'musa') or 'cuda' in table", 0, id="some-membership"),
        pytest.param("x = d.type == 'cuda'", 1, id="type-of-something"),
        pytest.param("t.cuda()", 1, id="method"),
        pytest.param("t[0].cuda(non_blocking=True)", 1, id="method-of-a-part"),
        pytest.param("x = t.cuda", 0, id="attribute"),
        pytest.param("d = 'cuda' if torch.accelerator.is_available() else 'cpu'", 1, id="choice"),
        pytest.param("d = x if torch.accelerator.is_available() else 'cuda graphs'", 0, id="choice-of-another-thing"),
        pytest.param("device = 'cuda'", 1, id="device-by-name"),
        pytest.param("self.device_type: str = 'cuda:0'", 1, id="annotated-device"),
        pytest.param("def f(x, init_device='cuda'): ...", 1, id="parameter-with-a-device"),
        pytest.param("x = {'device': 'cuda'}", 1, id="device-below-a-key"),
        pytest.param("options['device'] = 'cuda'", 1, id="device-in-an-item"),
        pytest.param("if (dev := 'cuda'): ...", 1, id="device-named-in-passing"),
        pytest.param("profiler = 'cuda'", 0, id="name-of-another-thing"),
        pytest.param("developer = {'devices_of': 'cuda'}", 0, id="longer-word-in-a-name"),
        pytest.param("device = 'cuda graphs'", 0, id="device-by-name-with-a-longer-word"),
        pytest.param("device: str", 0, id="device-without-a-value"),
        pytest.param("if t.is_cuda: ...", 1, id="tensor-asked-for-the-gpu"),
        pytest.param("if not self.buffer.is_cuda: ...", 1, id="attribute-asked-for-the-gpu"),
        pytest.param("if platform.is_cuda(): ...", 0, id="platform-asked-for-the-gpu"),
        pytest.param("self.is_cuda = False", 0, id="attribute-called-like-the-question"),
        pytest.param("x = {'cuda': 1}['cuda']", 0, id="key"),
        pytest.param("x = kinds.get('cuda', 1)", 0, id="key-that-is-looked-up"),
        pytest.param("self.logger.info('%s', 'cuda' if x else 'cpu')", 0, id="message"),
        pytest.param("raise ValueError('cuda: out of memory')", 0, id="a-word-and-more"),
        pytest.param("raise ValueError(f'cuda: {n} bytes')", 0, id="a-word-and-more-in-an-f-string"),
        pytest.param("raise ValueError('cuda')", 0, id="what-is-raised"),
        pytest.param("raise self.error(tell('cuda')) from None", 0, id="call-in-what-is-raised"),
        pytest.param("def f():\n  raise E\n  x = f('cuda')", 1, id="call-behind-a-raise"),
        pytest.param("@register('cuda')\ndef f(): ...", 0, id="decorator"),
        pytest.param("@register\ndef f(): g('cuda')", 1, id="call-in-what-is-decorated"),
        pytest.param("x = name.startswith('cuda')", 0, id="start-of-a-name"),
        pytest.param("x = self.names[0].replace('cuda', 'npu').split('cuda')", 0, id="methods-of-strings"),
        pytest.param("x = device.startswith('cuda')", 1, id="start-of-a-device"),
        pytest.param("x = str(self.device).startswith('cuda')", 1, id="start-of-a-devices-name"),
        pytest.param("x = startswith('cuda')", 1, id="function-named-like-a-method-of-strings"),
        pytest.param("with torch.profiler.record_function('cuda'): ...", 0, id="label"),
        pytest.param("torch.cuda = Placeholder\ntorch.version.cuda()", 2, id="call-that-is-told-already"),
        pytest.param("# torch.cuda.synchronize()", 0, id="comment"),
        pytest.param("x = f('cuda')", 1, id="argument-of-any-call"),
        pytest.param("x = f(profiler='cuda')", 0, id="keyword-of-another-thing"),
        pytest.param("x = f(device_type='cuda', init_device='cuda')", 2, id="keywords-of-any-call"),
        pytest.param("x = f(type='cuda')", 0, id="type-in-any-call"),
        pytest.param("x = t.to(torch.float32, 'cuda')", 1, id="second-argument"),
        pytest.param("x = f(device='cudagraph')", 0, id="longer-word"),
        pytest.param("x = f(device=f'{kind}:cuda')", 0, id="f-string-with-another-start"),
        pytest.param("x = self.torch.cuda.Event()", 0, id="not-the-module"),
        pytest.param("x = compilation_config.cudagraph_mode", 0, id="identifier"),
        pytest.param("torch.accelerator.empty_cache()", 0, id="device-neutral"),
        pytest.param("x = torch.version.cuda", 1, id="version"),
        pytest.param("torch.cuda.nvtx.range_push('x')", 1, id="device-only"),
        pytest.param("x = hasattr(torch.cuda, 'graph')", 1, id="hasattr"),
        pytest.param("if hasattr(torch.cuda, 'x'): torch.cuda.x()", 2, id="behind-hasattr"),
        pytest.param("y = hasattr(torch, 'cuda') and torch.cuda.x()", 1, id="behind-hasattr-and"),
        pytest.param("torch.cuda.Event = Placeholder", 1, id="patch"),
        pytest.param("from torch.cuda import Event\nEvent()", 1, id="from-import"),
        pytest.param("from torch import cuda\ncuda.Event()", 1, id="submodule-import"),
        pytest.param("import torch.cuda as tc\ntc.Event()", 1, id="submodule-alias"),
        pytest.param("import torch.cuda as tc\ntc.CUDAGraph()", 1, id="submodule-alias-of-a-longer-row"),
        pytest.param("def f(torch): torch.cuda.Event()", 0, id="parameter"),
    ],
)
def test_device_calls_noop(source: str, doubts: int) -> None:
    check_noop(f"import torch\n{source}\n", doubts=doubts)


@pytest.mark.parametrize(
    ("source", "after", "doubts"),
    [
        ("if t.is_cuda: ...", "if t.is_xpu: ...", 0),
        ("x = [not row.is_cuda for row in self.rows]", "x = [not row.is_xpu for row in self.rows]", 0),
        ("if self.is_cuda: ...", "", 1),
        ("if platform.is_cuda(): ...", "", 0),
        ("t.is_cuda = False", "", 0),
    ],
)
def test_a_tensor_is_asked_for_a_device_that_it_tells(source: str, after: str, doubts: int) -> None:
    """Torch's tensors have ``is_xpu``, but no ``is_npu`` of their own."""
    done = translate(f"{source}\n", replace(NPU, device=("cuda", "xpu")))
    assert (done.text, len(done.findings)) == (f"{after or source}\n", doubts)


def test_the_else_of_a_hasattr_guard_is_translated() -> None:
    check_rewrite(
        "import torch\nif hasattr(torch, 'accelerator'): pass\nelse: torch.cuda.synchronize()\n",
        "import torch\nif hasattr(torch, 'accelerator'): pass\nelse: torch.npu.synchronize()\n",
        by=("device_calls",),
    )


def test_class_names_follow_the_twins() -> None:
    check_rewrite(
        """\
        from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner

        class GPUARModelRunner(OmniGPUModelRunner, Mixin):
            def clone(self: "GPUARModelRunner") -> OmniGPUModelRunner:
                return OmniGPUModelRunner._clone(self)
        """,
        """\
        from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner

        class NPUARModelRunner(OmniNPUModelRunner, Mixin):
            def clone(self: "NPUARModelRunner") -> OmniNPUModelRunner:
                return OmniNPUModelRunner._clone(self)
        """,
        by=("class_names",),
        path=AR,
    )


def test_class_names_resolve_relative_imports() -> None:
    check_rewrite(
        "from .gpu_model_runner import OmniGPUModelRunner\n",
        "from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner\n",
        by=("class_names",),
        path=AR,
    )


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("class GPUARModelRunner: ...\n", id="defined-in-a-module-that-is-no-twin"),
        pytest.param("from tests.fakes import OmniGPUModelRunner\nx = OmniGPUModelRunner\n", id="from-elsewhere"),
        pytest.param(
            "from vllm.v1.worker.gpu_model_runner import GPUModelRunner\nx = GPUModelRunner\n", id="vllm's-own"
        ),
        pytest.param('"""OmniGPUModelRunner does it."""\n', id="docstring"),
    ],
)
def test_class_names_noop(source: str) -> None:
    check_noop(source, path="vllm_omni/other.py")


def test_names_that_go_the_same_way_stay_together() -> None:
    check_rewrite(
        "from vllm_omni.worker.gpu_ar_model_runner import ExecuteModelState, _ensure_tensor_values\n",
        "from vllm_omni.platforms.npu.worker.npu_ar_model_runner import ExecuteModelState, _ensure_tensor_values\n",
        by=("class_names",),
    )


def test_names_that_part_get_a_line_each() -> None:
    check_rewrite(
        "from vllm.v1.worker.gpu_model_runner import EMPTY_MODEL_RUNNER_OUTPUT, IntermediateTensors\n",
        "from vllm.v1.outputs import EMPTY_MODEL_RUNNER_OUTPUT\nfrom vllm.sequence import IntermediateTensors\n",
        by=("imported_names",),
    )


def test_a_shared_definition_keeps_its_name() -> None:
    check_noop("class ExecuteModelState(NamedTuple):\n    x: int\ny = ExecuteModelState(1)\n", path=AR)


@pytest.mark.parametrize(("path", "doubts"), [("vllm_omni/platforms/npu/worker/npu_model_runner.py", 0), ("", 1)])
def test_the_npu_twin_still_derives_from_the_gpu_runner(path: str, doubts: int) -> None:
    check_noop(
        """\
        from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner

        class OmniNPUModelRunner(OmniGPUModelRunner, NPUModelRunner): ...
        """,
        path=path,
        doubts=doubts,
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            CAM + "m = CommonAttentionMetadata(a=1)\n",
            ACAM + "m = AscendCommonAttentionMetadata(a=1)\n",
        ),
        (
            "from vllm.v1.attention.backends.utils import CommonAttentionMetadata, split\nx: CommonAttentionMetadata\n",
            "from vllm.v1.attention.backends.utils import split\n" + ACAM + "x: AscendCommonAttentionMetadata\n",
        ),
        (
            "try:\n    " + CAM + "except ImportError:\n"
            "    from vllm.v1.attention.backends.utils import CommonAttentionMetadata\nx = CommonAttentionMetadata\n",
            "try:\n    " + ACAM + "except ImportError:\n    " + ACAM + "x = AscendCommonAttentionMetadata\n",
        ),
        (
            "from vllm.v1.worker.gpu_input_batch import CachedRequestState, InputBatch\nb = InputBatch(n)\n",
            (
                "from vllm.v1.worker.gpu_input_batch import CachedRequestState\n"
                "from vllm_ascend.worker.npu_input_batch import NPUInputBatch\nb = NPUInputBatch(n)\n"
            ),
        ),
        (
            "from vllm.v1.sample.sampler import Sampler\nself.sampler = Sampler(mode)\n",
            "from vllm_ascend.sample.sampler import AscendSampler\nself.sampler = AscendSampler(mode)\n",
        ),
        (
            "from vllm.distributed.parallel_state import get_pp_group, graph_capture\nwith graph_capture(d): ...\n",
            (
                "from vllm.distributed.parallel_state import get_pp_group\n"
                "from vllm_ascend.worker.model_runner_v1 import graph_capture\nwith graph_capture(d): ...\n"
            ),
        ),
        (
            "from vllm.v1.worker.gpu_model_runner import GPUModelRunner, IntermediateTensors\nx: IntermediateTensors\n",
            (
                "from vllm.v1.worker.gpu_model_runner import GPUModelRunner\n"
                "from vllm.sequence import IntermediateTensors\nx: IntermediateTensors\n"
            ),
        ),
    ],
)
def test_other_names_rewrites(before: str, after: str) -> None:
    check_rewrite(before, after, by=("imported_names",))


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("from vllm.v1.worker.gpu.sample.sampler import Sampler\nSampler()\n", id="sampler-of-runner-v2"),
        pytest.param("from vllm.v1.worker.gpu.input_batch import InputBatch\nInputBatch()\n", id="batch-of-runner-v2"),
        pytest.param("class A:\n    InputBatch = 1\nx = A.InputBatch\n", id="class-attribute"),
        pytest.param("from vllm.sequence import IntermediateTensors\n", id="not-a-re-export"),
        pytest.param("from m import graph_capture\ngraph_capture()\n", id="other-graph-capture"),
        pytest.param("f(Sampler=1)\nx.Sampler\n", id="keyword-and-attribute"),
        pytest.param("match x:\n    case P(Sampler=y): ...\n    case Sampler: ...\n", id="patterns"),
    ],
)
def test_other_names_noop(source: str) -> None:
    check_noop(source)


def test_a_finding_names_its_unit_and_place() -> None:
    done = check_noop("import torch\nclass A:\n    def f(self):\n        return torch.version.cuda\n", doubts=1)
    (finding,) = done.findings
    assert (finding.unit, finding.line, finding.column, finding.symbol) == ("A.f", 4, 16, "torch.version.cuda")


METHOD = '''\
    # Omni-new
    @torch.inference_mode()
    def f(self) -> CUDAGraphWrapper:
        text = """
  torch.cuda stays
"""
        with set_forward_context(None, self.vllm_config, cudagraph_runtime_mode=mode):
            torch.cuda.synchronize()
'''


def test_a_fragment_is_translated_where_it_stands() -> None:
    done = translate_unit(METHOD, NPU)
    assert done.text == METHOD.replace("CUDAGraphWrapper", "ACLGraphWrapper").replace(
        "set_forward_context", "set_ascend_forward_context"
    ).replace("cudagraph_runtime_mode=", "aclgraph_runtime_mode=").replace("torch.cuda.sync", "torch.npu.sync")
    assert translate_unit(done.text, NPU).text == done.text


def test_a_fragment_keeps_what_it_binds_itself() -> None:
    source = "def f(Sampler):\n    return Sampler()\n"
    assert translate_unit(source, NPU).text == source


def test_findings_of_a_fragment_count_its_own_lines() -> None:
    (finding,) = translate_unit("    def f(self):\n        torch.version.cuda\n", NPU).findings
    assert finding.line == 2


def test_text_without_gpu_names_is_not_even_parsed() -> None:
    assert translate("not python at all: cudagraph_mode", NPU) == Translated("not python at all: cudagraph_mode")


def test_text_that_does_not_parse_is_named() -> None:
    with pytest.raises(InputError, match=r"a/b\.py, line 2"):
        translate("x = 'cuda'\ndef (:\n", NPU, path="a/b.py")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("last", ["", "x = 1"])
def test_layout_survives(ending: str, last: str) -> None:
    lines = [
        "\ufeff# head",
        "import torch  ;",
        "def f( a,b ):",
        "\ttorch.cuda.synchronize( )",
        "\t# end",
        last,
    ]
    source = ending.join(lines)
    assert translate(source, NPU).text == source.replace("torch.cuda", "torch.npu")


def test_another_profile_brings_its_own_tables() -> None:
    xpu = replace(
        NPU, names=(), keywords=(), classes=(), attributes=(("torch.cuda", "torch.xpu"),), device=("cuda", "xpu")
    )
    source = CGW + 'import torch\ntorch.cuda.synchronize()\nd = torch.device("cuda")\n'
    assert translate(source, xpu).text == CGW + 'import torch\ntorch.xpu.synchronize()\nd = torch.device("xpu")\n'


@pytest.mark.parametrize(
    ("row", "after"),
    [
        (("torch.cuda.Event", "torch.Event"), "torch.Event(1)"),
        (("torch.cuda", "torch.backends.xpu"), "torch.backends.xpu.Event(1)"),
        (("torch.cuda", "torch_xpu.xpu"), "torch.cuda.Event(1)"),
    ],
)
def test_attributes_of_another_length_or_root(row: tuple[str, str], after: str) -> None:
    done = translate("import torch\ntorch.cuda.Event(1)\n", replace(NPU, attributes=(row,)))
    assert done.text == f"import torch\n{after}\n"
    assert len(done.findings) == ("torch_xpu" in row[1])


def test_a_tree_goes_with_its_translation() -> None:
    """The commands run without the collector of circles, and a module's tree is a million objects."""
    text = "import torch\n\n\nclass Runner:\n" + "".join(
        f"    def step_{k}(self, row):\n        total = [torch.cuda.synchronize(r) for r in row]\n" for k in range(50)
    )
    translate(text, NPU)
    gc.collect()
    gc.disable()
    try:
        assert "torch.npu" in translate(text, NPU).text
        assert gc.collect() < 1000
    finally:
        gc.enable()


def test_what_is_left_of_a_device_says_where_and_why() -> None:
    done = check_noop('class A:\n    def f(self, t):\n        t.cuda()\n        g("cuda")\n', doubts=2)
    assert {(one.unit, one.line, one.symbol, one.message) for one in done.findings} == {
        ("A.f", 3, "t.cuda", "t.cuda was not translated: it may move something to cuda."),
        ("A.f", 4, '"cuda"', '"cuda" was not translated: it may mean a device.'),
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("def f[T: CUDAGraphWrapper](x: T): ...", "def f[T: ACLGraphWrapper](x: T): ..."),
        ("def f[T: (CUDAGraphWrapper, int)](x: T): ...", "def f[T: (ACLGraphWrapper, int)](x: T): ..."),
        ("class A[T: CUDAGraphWrapper]: ...", "class A[T: ACLGraphWrapper]: ..."),
        ("type A[T] = list[CUDAGraphWrapper | T]", "type A[T] = list[ACLGraphWrapper | T]"),
        (
            "def f[CUDAGraphWrapper]():\n    return CUDAGraphWrapper\nx = CUDAGraphWrapper",
            "def f[CUDAGraphWrapper]():\n    return CUDAGraphWrapper\nx = ACLGraphWrapper",
        ),
    ],
)
def test_type_parameters_are_read_where_they_are_bound(before: str, after: str) -> None:
    """Python 3.12 has them; the text is not parsed by the interpreter at hand."""
    assert translate(f"{CGW}{before}\n", NPU).text == f"{AGW}{after}\n"
