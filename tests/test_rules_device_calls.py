"""RS402: calls of the GPU, in NPU code and in what NPU inherits."""

from __future__ import annotations

from dataclasses import replace

import pytest
from check_samples import AR, BASE, EMPTY_AR, GPU_BASE, NPU_BASE, OMNI_GPU_BASE, dedent, found, job, symbols


def shared(body: str, *, signature: str = "self, x") -> str:
    """omni's GPU base, which the NPU base has in front of vllm-ascend's runner, with a method of that body."""
    lines = "\n".join(f"        {line}" for line in dedent(body).rstrip().split("\n"))
    methods = f"    def note(self, x):\n        return self.wait(x)\n\n    def wait({signature}):\n{lines}\n"
    return OMNI_GPU_BASE.replace("    pass\n", methods)


def test_a_gpu_call_in_a_method_that_npu_inherits_is_found_at_the_first_npu_class() -> None:
    given = job(EMPTY_AR, "", gpu_base=shared("torch.cuda.synchronize()\ntorch.cuda.empty_cache()"))
    (finding,) = found(given, "RS402")
    assert (finding.path, finding.unit, finding.symbol) == (BASE, "OmniNPUModelRunner", "OmniGPUModelRunner.wait")
    assert finding.message == (
        f"`OmniNPUModelRunner` runs `OmniGPUModelRunner.wait`, which uses `torch.cuda` ({GPU_BASE}:8); this fails or "
        "does nothing on the NPU."
    )


def test_a_value_that_says_nothing_of_the_device_is_no_question_about_it() -> None:
    given = job(EMPTY_AR, "", gpu_base=shared("return x and torch.cuda.current_stream()"))
    assert symbols(given, "RS402") == ["OmniGPUModelRunner.wait"]


def test_a_gpu_call_in_a_mixin_is_found_at_the_class_that_mixes_it_in() -> None:
    mixin = {"vllm_omni/worker/mixin.py": "class Mixin:\n    def nap(self):\n        torch.cuda.synchronize()\n"}
    head = "from vllm_omni.worker.mixin import Mixin\n"
    text = head + EMPTY_AR.replace("(OmniNPUModelRunner)", "(OmniNPUModelRunner, Mixin)")
    assert [(f.path, f.symbol) for f in found(job(text, "", files=mixin), "RS402")] == [(AR, "Mixin.nap")]


OVERRIDDEN = NPU_BASE.replace("    pass\n", "    def wait(self, x):\n        return x\n")


@pytest.mark.parametrize(
    ("gpu_base", "npu_base"),
    [
        pytest.param(shared("torch.cuda.synchronize()"), OVERRIDDEN, id="overridden on NPU"),
        pytest.param(shared("if x.is_cuda:\n    torch.cuda.synchronize()"), NPU_BASE, id="only for tensors on a GPU"),
        pytest.param(
            shared("if not current_omni_platform.is_rocm():\n    return\ntorch.cuda.synchronize()"),
            NPU_BASE,
            id="the platform is asked",
        ),
        pytest.param(
            shared('if self.device.type == "npu":\n    return\ntorch.cuda.synchronize()'), NPU_BASE, id="the device is"
        ),
        pytest.param(
            shared("if str(x.device).startswith('cuda:'):\n    torch.cuda.synchronize()"), NPU_BASE, id="by its text"
        ),
        pytest.param(shared("return x.is_cuda and torch.cuda.current_stream()"), NPU_BASE, id="in one expression"),
        pytest.param(
            shared("try:\n    torch.cuda.synchronize()\nexcept RuntimeError:\n    pass"), NPU_BASE, id="it may fail"
        ),
        pytest.param(shared("return x", signature="self, x: torch.cuda.Stream"), NPU_BASE, id="an annotation"),
        pytest.param(shared("stream: torch.cuda.Stream = x\nreturn stream"), NPU_BASE, id="that of a local"),
        pytest.param(shared("return torch.npu.synchronize()"), NPU_BASE, id="the NPU's call"),
        pytest.param(shared("return x.to(self.device)"), NPU_BASE, id="the runner's device"),
        pytest.param(
            shared("if x.is_cuda:\n    return x\nreturn x.to('cuda')"), NPU_BASE, id="what is placed after a test"
        ),
        pytest.param(
            shared("try:\n    return x()\nexcept torch.cuda.OutOfMemoryError:\n    return None"),
            NPU_BASE,
            id="an error that is caught",
        ),
        pytest.param(
            shared("try:\n    return x()\nexcept (ValueError, torch.cuda.OutOfMemoryError):\n    return None"),
            NPU_BASE,
            id="one of several",
        ),
        pytest.param(
            shared("with suppress(RuntimeError):\n    torch.cuda.synchronize()"), NPU_BASE, id="it may fail quietly"
        ),
        pytest.param(shared("return isinstance(x, torch.cuda.Event)"), NPU_BASE, id="a type that is asked for"),
        pytest.param(shared("return typing.cast(torch.cuda.Event, x)"), NPU_BASE, id="a type for the type checker"),
        pytest.param(
            shared('match current_omni_platform.device_type:\n    case "cuda":\n        torch.cuda.synchronize()'),
            NPU_BASE,
            id="the platform is matched",
        ),
        pytest.param(
            shared("match x:\n    case [one] if one.is_cuda:\n        torch.cuda.synchronize()"),
            NPU_BASE,
            id="a case asks",
        ),
        pytest.param(
            shared("return [torch.cuda.current_stream() for one in x if one.is_cuda]"),
            NPU_BASE,
            id="a comprehension asks",
        ),
        pytest.param(
            shared("on_gpu = current_platform.is_cuda_alike()\nif on_gpu:\n    torch.cuda.synchronize()"),
            NPU_BASE,
            id="the answer has a name",
        ),
        pytest.param(
            shared("on_gpu = torch.cuda.is_available()\nif on_gpu:\n    torch.cuda.synchronize()"),
            NPU_BASE,
            id="the answer of torch",
        ),
        pytest.param(
            shared("if not x.is_cuda:\n    return x\ntorch.cuda.synchronize()"), NPU_BASE, id="behind a question"
        ),
        pytest.param(
            shared('on_gpu = x.device_type == "cuda"\nif on_gpu:\n    torch.cuda.synchronize()'),
            NPU_BASE,
            id="the answer is compared",
        ),
    ],
)
def test_what_npu_inherits_without_gpu_calls_is_left_alone(gpu_base: str, npu_base: str) -> None:
    assert found(job(EMPTY_AR, "", gpu_base=gpu_base, npu_base=npu_base), "RS402") == []


@pytest.mark.parametrize(
    "body",
    [
        pytest.param("try:\n    return x()\nexcept OSError:\n    torch.cuda.synchronize()", id="in a handler"),
        pytest.param("with x.lock:\n    torch.cuda.synchronize()", id="below a lock"),
        pytest.param(
            "try:\n    torch.cuda.synchronize()\nexcept KeyError:\n    x()", id="where another error is caught"
        ),
        pytest.param("with suppress(KeyError):\n    torch.cuda.synchronize()", id="below another error"),
        pytest.param("return list(torch.cuda.Event, x)", id="a type that is used"),
        pytest.param("match x:\n    case 1 if x.ready:\n        torch.cuda.synchronize()", id="another match"),
        pytest.param("return [torch.cuda.current_stream() for one in x if one]", id="another comprehension"),
        pytest.param("return isinstance(torch.cuda.current_stream(), x)", id="what is asked for its type"),
        pytest.param("stream = torch.cuda.current_stream()\nif stream:\n    x(stream)", id="a test of what was made"),
        pytest.param("self.s = torch.cuda.Stream()\nif self.ready:\n    x()", id="another attribute of self"),
        pytest.param("on_gpu = x.is_cuda\nif x:\n    torch.cuda.synchronize()", id="an answer that nobody reads"),
        pytest.param("torch.cuda.synchronize()\nif x.is_cuda:\n    x()", id="in front of the first question"),
        pytest.param("if self.cudagraph_mode:\n    torch.cuda.synchronize()", id="a word that only begins like it"),
        pytest.param("assert x.ok('no cuda graphs')\ntorch.cuda.synchronize()", id="a message with the word"),
    ],
)
def test_a_gpu_call_that_nothing_of_this_guards_is_found(body: str) -> None:
    assert symbols(job(EMPTY_AR, "", gpu_base=shared(body)), "RS402") == ["OmniGPUModelRunner.wait"]


ASKING = "if current_platform.is_cuda_alike():\n            return self.wait(x)"
CALLING = "if _fast():\n            return self.wait(x)"
BY_FUNCTION = "\n\ndef _fast():\n    return torch.cuda.is_available()\n"


@pytest.mark.parametrize(
    ("caller", "more", "is_found"),
    [
        ("return self.wait(x)", "", True),
        (ASKING, "", False),
        (ASKING, "    def rest(self, x):\n        return self.wait(x)\n", True),
        (ASKING, "    def rest(self, x):\n        return x\n", False),
        (CALLING, BY_FUNCTION, False),
        (CALLING, BY_FUNCTION.replace("torch.cuda.is_available()", "FAST"), True),
    ],
    ids=[
        *("nobody asks", "the only caller asks", "another one does not", "another one does not call it"),
        *("by a function", "by another function"),
    ],
)
def test_a_method_whose_callers_all_ask_for_the_platform_is_left_alone(caller: str, more: str, is_found: bool) -> None:
    text = shared("torch.cuda.synchronize()").replace("return self.wait(x)", caller) + more
    assert bool(found(job(EMPTY_AR, "", gpu_base=text), "RS402")) == is_found


@pytest.mark.parametrize(("upstream", "is_called"), [("self.nap()", True), ("self.other()", False)])
def test_an_inherited_method_that_nobody_on_npu_calls_does_not_run(upstream: str, is_called: bool) -> None:
    """The helper of a method that NPU overrides is inherited, too; both upstreams tell who calls it."""
    text = OMNI_GPU_BASE.replace("    pass\n", "    def nap(self):\n        torch.cuda.synchronize()\n")
    given = job(EMPTY_AR, "", gpu_base=text)
    sides = {
        "upstream_text": f"class NPUModelRunner:\n    def run(self):\n        {upstream}\n",
        "vllm_text": "x = 1\n",
    }
    given = replace(given, modules=tuple(replace(module, **sides) for module in given.modules))
    assert bool(found(given, "RS402")) == is_called


HOST_COPY = "if x.is_cuda:\n    return x.to('host')\nreturn x"


@pytest.mark.parametrize("question", ["x.is_cuda", "not x.is_cuda"])
def test_a_tensor_that_is_asked_for_the_gpu_in_a_method_that_npu_inherits(question: str) -> None:
    (finding,) = found(job(EMPTY_AR, "", gpu_base=shared(HOST_COPY.replace("x.is_cuda", question, 1))), "RS402")
    assert (finding.severity, finding.symbol) == ("warning", "OmniGPUModelRunner.wait(is_cuda)")
    assert f"`x.is_cuda` ({GPU_BASE}:8) is never true on the NPU" in finding.message


@pytest.mark.parametrize(
    ("body", "npu_base"),
    [
        pytest.param(HOST_COPY, OVERRIDDEN, id="overridden"),
        pytest.param("if x.is_cuda or x.is_npu:\n    return x.to('host')", NPU_BASE, id="both are asked for"),
        pytest.param("if x.device.type != 'cpu' and x.is_cuda:\n    return 1", NPU_BASE, id="the device is asked for"),
        pytest.param("if x.is_cuda:\n    return 1\nif x.is_npu:\n    return 2", NPU_BASE, id="the NPU in turn"),
        pytest.param("if x.is_cuda:\n    torch.cuda.synchronize()", NPU_BASE, id="what is for the GPU"),
        pytest.param("return x.is_cuda", NPU_BASE, id="no condition"),
        pytest.param("if platform.is_cuda():\n    return 1", NPU_BASE, id="a platform"),
        pytest.param("if x.is_cuda and x.is_contiguous():\n    return 1", NPU_BASE, id="one of two conditions"),
    ],
)
def test_a_tensor_that_may_well_be_asked_for_the_gpu(body: str, npu_base: str) -> None:
    assert found(job(EMPTY_AR, "", gpu_base=shared(body), npu_base=npu_base), "RS402") == []


def module(head: str, use: str) -> str:
    """omni's GPU base with ``head`` above its class, and a method that NPU inherits which does ``use``."""
    return f"{dedent(head)}\n{shared(use)}"


ON_GPU = "def _on_gpu():\n    return torch.cuda.is_available()"
ALIASES = {
    "the module of torch": ("from torch import cuda", "cuda.synchronize()"),
    "under another name": ("from torch import nn, cuda as gpu", "gpu.synchronize()"),
    "a long import": ("from torch import (\n    nn,\n    cuda,\n)", "cuda.synchronize()"),
    "an import with a name": ("import torch.cuda as tc", "tc.synchronize()"),
    "a function of it": ("from torch.cuda import synchronize", "synchronize()"),
    "a function of a module below": ("from torch.cuda.memory import empty_cache as empty", "empty()"),
    "a name for it": ("_dev = torch.cuda", "_dev.synchronize()"),
    "a name for the name": ("from torch import cuda\n_dev = cuda\n_sync = _dev.synchronize", "_sync()"),
    "an import in the method": ("", "from torch import cuda\ncuda.synchronize()"),
    "a function of the module": ("def _sync():\n    torch.cuda.synchronize()", "_sync()"),
    "a function that knows it by a name": ("from torch import cuda\ndef _sync(x):\n    cuda.synchronize()", "_sync(x)"),
    "a function that asks afterwards": (
        "def _sync():\n    torch.cuda.synchronize()\n    if platform.is_cuda():\n        return",
        "_sync()",
    ),
    "a function that only asks, and whose answer nobody reads": (ON_GPU, "_on_gpu()\ntorch.cuda.synchronize()"),
    "a function that uses it before it asks": (
        "def _on_gpu():\n    torch.cuda.init()\n    return torch.cuda.is_available()",
        "if _on_gpu():\n    x()",
    ),
    "the answer of a function that asks for something else": (
        "def _big(x):\n    return x > 1",
        "if _big(x):\n    torch.cuda.synchronize()",
    ),
    "an answer that depends on a use": ("def _used():\n    return torch.cuda.memory_allocated() > 0", "return _used()"),
    "a local that is called like a function that asks": (ON_GPU, "_on_gpu = x\nif _on_gpu:\n    torch.cuda.init()"),
    "a function with another function in it": (
        "def _sync(x):\n    def more(): ...\n    torch.cuda.synchronize()",
        "_sync(x)",
    ),
    "a function in it that it runs": (
        "def _sync(x):\n    def go():\n        torch.cuda.synchronize()\n    go()",
        "_sync(x)",
    ),
    "a function in it that another one runs": (
        "def _sync(x):\n    def go():\n        torch.cuda.init()\n    def both():\n        go()\n    return [both()]",
        "_sync(x)",
    ),
    "a parameter in a function": ("def _sync(dev):\n    torch.cuda.synchronize(dev or 0)", "_sync(x)"),
}
NO_ALIASES = {
    "only asked, by a function": (ON_GPU, "return _on_gpu()"),
    "only asked": ("import torch", "return torch.cuda.is_available(), torch.cuda.device_count()"),
    "counted by a function": ("def _count():\n    return torch.cuda.device_count()", "return range(_count())"),
    "a function that only asks is asked": (ON_GPU, "if _on_gpu():\n    torch.cuda.synchronize()"),
    "that is asked before": (ON_GPU, "if not _on_gpu():\n    return\ntorch.cuda.synchronize()"),
    "its answer has a name": (ON_GPU, "on = _on_gpu()\nif on:\n    torch.cuda.synchronize()"),
    "a function that asks it": (
        f"{ON_GPU}\ndef _sync():\n    if _on_gpu():\n        torch.cuda.synchronize()",
        "_sync()",
    ),
    "a function that answers in two ways": (
        "def _ready():\n    if torch.cuda.is_available():\n        return True\n    return False",
        "if _ready():\n    torch.cuda.synchronize()",
    ),
    "a function that asks the platform": (
        "def _fast():\n    return current_platform.is_cuda()",
        "if _fast():\n    torch.cuda.synchronize()",
    ),
    "an answer that the module has": ("_FAST = torch.cuda.is_available()", "if _FAST:\n    torch.cuda.synchronize()"),
    "an import that only asks, by another name": (
        "from torch.cuda import is_available as _on",
        "if _on():\n    torch.cuda.synchronize()",
    ),
    "what a function makes of it runs elsewhere": (
        "def _later():\n    def run():\n        torch.cuda.synchronize()\n    return run",
        "self.later = _later()",
    ),
    "a function in it that only runs in one that is handed out": (
        "def _later():\n    def go():\n        torch.cuda.init()\n    def run():\n        go()\n    return run",
        "self.later = _later()",
    ),
    "a function in it that it runs where there is one": (
        "def _sync():\n    def go():\n        torch.cuda.init()\n    if torch.cuda.is_available():\n        go()",
        "_sync()",
    ),
    "a lambda that a function hands out": (
        "def _later():\n    return lambda: torch.cuda.init()",
        "self.later = _later()",
    ),
    "a function that may be given a device": (
        "def _sync(dev=None):\n    (dev or torch.cuda).synchronize()",
        "_sync(torch.npu)",
    ),
    "a function that chooses by what it is given": (
        "def _sync(dev=None):\n    (torch.cuda if dev is None else dev).synchronize()",
        "_sync(torch.npu)",
    ),
    "a default of a function": ("def _sync(dev=torch.cuda):\n    dev.synchronize()", "_sync(torch.npu)"),
    "another cuda": ("from .kernels import cuda", "cuda.synchronize()"),
    "another function": ("from torch.cuda import Event\nfrom torch.npu import synchronize", "synchronize()"),
    "a parameter": ("from torch import cuda as x", "x.synchronize()"),
    "a local": ("from torch import cuda", "cuda = self.device\ncuda.synchronize()"),
    "a chosen device": ("_dev = torch.cuda if FAST else torch.npu", "_dev.synchronize()"),
    "one of two devices": ("_dev = torch.npu\nif FAST:\n    _dev = torch.cuda", "_dev.synchronize()"),
    "set again elsewhere": (
        "_dev = torch.cuda\ndef choose():\n    global _dev\n    _dev = torch.npu",
        "_dev.synchronize()",
    ),
    "what it is set by": ("_count = torch.cuda.device_count()", "return _count"),
    "an import that may fail": ("try:\n    from torch import cuda\nexcept ImportError:\n    cuda = None", "cuda.x()"),
    "a type": ("from torch.cuda import Event", "event: Event = x\nreturn isinstance(x, Event)"),
    "the device is asked by its name": ("_dev = torch.cuda", "if _dev.is_available():\n    _dev.synchronize()"),
    "asked by a function of it": (
        "from torch.cuda import is_available, synchronize",
        "if is_available():\n    synchronize()",
    ),
    "it may fail": ("from torch import cuda", "try:\n    cuda.synchronize()\nexcept RuntimeError:\n    pass"),
    "a function that asks": (
        "def _sync():\n    if torch.cuda.is_available():\n        torch.cuda.synchronize()",
        "_sync()",
    ),
    "the caller asks": ("def _sync():\n    torch.cuda.synchronize()", "if x.is_cuda:\n    _sync()"),
    "one of two functions": (
        "if FAST:\n    def _sync():\n        torch.cuda.synchronize()\nelse:\n    def _sync(): ...",
        "_sync()",
    ),
    "another thing's method": ("def _sync():\n    torch.cuda.synchronize()", "self._sync()"),
    "two steps away": ("def _a():\n    torch.cuda.synchronize()\ndef _b():\n    _a()", "_b()"),
}


@pytest.mark.parametrize("name", ALIASES)
def test_a_gpu_call_under_another_name_in_a_method_that_npu_inherits(name: str) -> None:
    given = job(EMPTY_AR, "", gpu_base=module(*ALIASES[name]))
    assert symbols(given, "RS402") == ["OmniGPUModelRunner.wait"]


@pytest.mark.parametrize("name", NO_ALIASES)
def test_a_name_that_is_none_for_the_gpu(name: str) -> None:
    assert found(job(EMPTY_AR, "", gpu_base=module(*NO_ALIASES[name])), "RS402") == []


def test_the_place_of_a_gpu_call_in_a_function_is_told() -> None:
    given = job(EMPTY_AR, "", gpu_base=module("def _sync():\n    torch.cuda.synchronize()", "_sync()"))
    (finding,) = found(given, "RS402")
    assert f"({GPU_BASE}:2)" in finding.message


@pytest.mark.parametrize(
    ("code", "title"),
    [("x.cuda()", ".cuda()"), ("x.to('cuda')", ".to('cuda')"), ("x.new(2, device='cuda')", "device='cuda'")],
)
def test_what_an_inherited_method_places_on_the_gpu(code: str, title: str) -> None:
    (finding,) = found(job(EMPTY_AR, "", gpu_base=shared(f"return {code}")), "RS402")
    assert f"which uses `{title}` ({GPU_BASE}:8)" in finding.message


def test_the_fix_of_what_npu_code_places_on_the_gpu() -> None:
    text = EMPTY_AR.replace("    pass\n", "    def f(self, x):\n        return x.to('cuda:0')\n")
    (finding,) = found(job(text), "RS402")
    assert finding.message == "`.to('cuda:0')` names a GPU, which an NPU machine does not have."
    assert finding.fix == "Use the runner's `self.device`."
