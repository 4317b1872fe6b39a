"""RS4xx: what each rule finds in one NPU file, and the near-misses that it leaves alone."""

from __future__ import annotations

import subprocess
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from check_samples import AR, BASE, GPU_BASE, NPU_BASE, NPU_HEAD, OMNI_GPU_BASE, dedent, found, job, symbols

from runner_sync.errors import InputError
from runner_sync.verify import check
from runner_sync.verify.codes import Codes

RULER = "# " + "-" * 30 + " Omni-new " + "-" * 30
BARE = "# " + "-" * (len(RULER) - 2)


def method(body: str, *, signature: str = "self, x") -> str:
    """A runner class with one method of that body."""
    lines = "\n".join(f"        {line}" if line else "" for line in dedent(body).rstrip().split("\n"))
    return f"class NPUARModelRunner:\n    def execute_model({signature}):\n{lines}\n"


NOOPS = [
    pytest.param("RS401", method(f"{RULER}\na = x\n{RULER}\nreturn a"), id="a block that closes"),
    pytest.param("RS401", method(f'doc = """\n{RULER}\n"""'), id="a ruler inside a string"),
    pytest.param("RS401", method("# ----------------\na = x\n# ----------------"), id="rulers without a label"),
    pytest.param("RS401", method("a = x  # Omni-new"), id="a trailing marker"),
    pytest.param("RS402", method('name = "torch.cuda.Stream"'), id="the words in a string"),
    pytest.param("RS402", method("# torch.cuda.synchronize()\nreturn x"), id="the words in a comment"),
    pytest.param("RS402", method("return torch.npu.synchronize()"), id="the NPU's call"),
    pytest.param("RS402", method("return self.torch.cuda"), id="an attribute that is called torch"),
    pytest.param(
        "RS402", method("if torch.cuda.is_available():\n    torch.cuda.synchronize()"), id="a branch for CUDA only"
    ),
    pytest.param("RS403", "from vllm.forward_context import BatchDescriptor\n", id="another name of the module"),
    pytest.param("RS403", "from vllm.compilation.cuda_graph import CUDAGraphStat\n", id="a name that only begins so"),
    pytest.param(
        "RS403",
        "if TYPE_CHECKING:\n    from vllm.compilation.cuda_graph import CUDAGraphWrapper\n",
        id="for annotations only",
    ),
    pytest.param("RS403", "from vllm.v1.sample.sampler import Sampler\n", id="a class that NPU subclasses"),
    pytest.param("RS404", method("return self._dummy_run(cudagraph_runtime_mode=x)"), id="the keyword elsewhere"),
    pytest.param(
        "RS404", method("with set_ascend_forward_context(aclgraph_runtime_mode=x): pass"), id="the right keyword"
    ),
    pytest.param(
        "RS404",
        method("with set_ascend_forward_context(aclgraph_runtime_mode=cudagraph_runtime_mode): pass"),
        id="a variable of that name",
    ),
    pytest.param(
        "RS405",
        "class A:\n    @property\n    def x(self): return 1\n    @x.setter\n    def x(self, value): pass\n",
        id="a property and its setter",
    ),
    pytest.param(
        "RS405",
        "from typing import overload\n@overload\ndef f(x: int): ...\n@overload\ndef f(x: str): ...\ndef f(x): pass\n",
        id="overloads",
    ),
    pytest.param("RS405", "if A:\n    def f(): pass\nelse:\n    def f(): pass\n", id="one definition per branch"),
    pytest.param("RS405", method("self.a = 1\nself.b = 2\nself.a = 1\nself.b = 2"), id="two short lines twice"),
    pytest.param("RS406", method("# runner-sync is a tool to review\nreturn x"), id="a comment about the tool"),
    pytest.param("RS406", method('return "# runner-sync: review R1"'), id="the words in a string"),
    pytest.param("RS407", method('return "x" in vars(self)'), id="vars of an object"),
    pytest.param("RS407", method('return "x" in self.locals()'), id="a method of that name"),
    pytest.param("RS407", method('return hasattr(self, "x")'), id="hasattr"),
    pytest.param("RS407", method("return locals()"), id="locals for another use"),
    pytest.param("RS408", method("out = None\nout = self.build(x)\nreturn out"), id="a default, then a value"),
    pytest.param("RS408", method("out = self.build(x)\nself.send(out)\nout = None"), id="read in between"),
    pytest.param("RS408", method("out = self.build(x)\nif x:\n    out = None\nreturn out"), id="reset in a branch"),
    pytest.param("RS408", method("out = x\nout = None\nreturn out"), id="no call computed it"),
    pytest.param("RS408", method("ok = self.check(x)\nok = False\nreturn ok"), id="a value that says no"),
    pytest.param("RS408", method("_ = self.build(x)\n_ = None"), id="the name for nothing"),
    pytest.param(
        "RS408", method("try:\n    out = self.build(x)\n    out = None\nexcept ValueError:\n    pass"), id="in a try"
    ),
    pytest.param(
        "RS408", method("try:\n    out = self.build(x)\n    out = None\nexcept* ValueError:\n    pass"), id="in a try*"
    ),
    pytest.param(
        "RS408",
        method("out = self.build(x)\ndef send():\n    return out\nsend()\nout = None"),
        id="captured by a nested function",
    ),
    pytest.param("RS408", method("out, n = self.build(x)\nout = None\nreturn n"), id="unpacked together with another"),
    pytest.param(
        "RS408",
        method("try:\n    out = self.build(x)\nexcept ValueError:\n    pass\nout = None"),
        id="in a try body",
    ),
    pytest.param(
        "RS408",
        method("for row in x:\n    last = self.build(row)\n    if row:\n        break\n    last = None\nreturn last"),
        id="the loop ends in between",
    ),
    pytest.param(
        "RS408",
        method("for row in x:\n    self.send(last)\n    last = self.build(row)\n    if row: continue\n    last = None"),
        id="the loop goes on in between",
    ),
    pytest.param(
        "RS408",
        method(
            "for row in x:\n    if row:\n        last = self.build(row)\n        break\n    last = None\nreturn last"
        ),
        id="the loop ends with the value",
    ),
    pytest.param(
        "RS408",
        method(
            "for row in x:\n    last = self.build(row)\n    for part in row:\n        pass\n    else:\n        break\n"
            "    last = None\nreturn last"
        ),
        id="the loop ends after another one",
    ),
    pytest.param("RS409", method("return torch.ones(x, x)"), id="sizes from variables"),
    pytest.param("RS409", method("return torch.ones(16, 16)"), id="small"),
    pytest.param("RS409", method("return torch.ones(2048, 4096)"), id="not square"),
    pytest.param("RS409", method("return np.ones((2048, 2048))"), id="not a tensor"),
    pytest.param(
        "RS409", method("assert x <= 2048\nreturn torch.ones(2048, 2048)"), id="the length is compared with it"
    ),
    pytest.param("RS409", method("return torch.ones(2048, 2048)[:x, :x], min(x, 2048)"), id="the length is capped"),
    pytest.param("RS411", method("if x:\n    return 1\nreturn 2"), id="a return under a condition"),
    pytest.param("RS411", method("raise NotImplementedError\nyield x"), id="what makes a generator"),
    pytest.param("RS411", method("return x\n# self.f()"), id="a comment behind a return"),
    pytest.param("RS411", method("def f():\n    return x\nreturn f"), id="the return of a function in it"),
    pytest.param("RS410", method('return """\n=======\n"""'), id="a rule inside a string"),
    pytest.param("RS410", method("# <<<<<<< read this first\nreturn x"), id="arrows in a comment"),
]


@pytest.mark.parametrize(("code", "text"), NOOPS)
def test_near_misses_are_left_alone(code: str, text: str) -> None:
    assert found(job(text), code) == []


FINDINGS = [
    pytest.param("RS401", method(f"{RULER}\na = x"), [(3, 3, "unbalanced")], id="a block that never closes"),
    pytest.param(
        "RS401",
        method(f"{RULER}\na = x\n{RULER}\nb = a\n{BARE}\nc = b\n{RULER}\nreturn c"),
        [(7, 7, "unbalanced"), (9, 9, "unbalanced")],
        id="one that a bare ruler ended, and one that never closes",
    ),
    pytest.param("RS401", method(f"{RULER}\n{RULER}\nreturn x"), [(3, 4, "empty")], id="a block of nothing"),
    pytest.param(
        "RS401",
        method(f"if x:\n    {RULER}\n    a = x\n{RULER}\nreturn x"),
        [(4, 6, "crosses-block")],
        id="out of a branch",
    ),
    pytest.param("RS402", method("torch.cuda.synchronize()"), [(3, 3, "torch.cuda")], id="a call"),
    pytest.param("RS402", "from torch.cuda import Stream\n", [(1, 1, "torch.cuda")], id="an import from it"),
    pytest.param("RS402", "from torch import cuda\n", [(1, 1, "torch.cuda")], id="an import of it"),
    pytest.param(
        "RS403",
        "from vllm.compilation.cuda_graph import CUDAGraphStat, CUDAGraphWrapper\n",
        [(1, 1, "CUDAGraphWrapper")],
        id="the graph wrapper",
    ),
    pytest.param(
        "RS403",
        "from vllm_omni.worker.gpu_model_runner import CUDAGraphWrapper\n",
        [(1, 1, "CUDAGraphWrapper")],
        id="passed on by omni's GPU runner",
    ),
    pytest.param(
        "RS403",
        method("from vllm.forward_context import set_forward_context"),
        [(3, 3, "set_forward_context")],
        id="in a method",
    ),
    pytest.param(
        "RS404",
        method("with set_ascend_forward_context(None, cudagraph_runtime_mode=x): pass"),
        [(3, 3, "set_ascend_forward_context(cudagraph_runtime_mode=)")],
        id="the GPU's keyword",
    ),
    pytest.param(
        "RS404",
        method("with set_ascend_forward_context(self.f(self.g(x)), n=[h(x)],\n    cudagraph_runtime_mode=x): pass"),
        [(4, 4, "set_ascend_forward_context(cudagraph_runtime_mode=)")],
        id="behind nested calls, on another line",
    ),
    pytest.param(
        "RS405", "class A:\n    def f(self): return 1\n    def f(self): return 2\n", [(3, 3, "f")], id="a method twice"
    ),
    pytest.param(
        "RS406", method("# runner-sync: review R3 both changed it\nreturn x"), [(3, 3, "R3")], id="an open item"
    ),
    pytest.param("RS407", method('if "out" in locals(): pass'), [(3, 3, "out")], id="in locals"),
    pytest.param("RS407", method('if "out" not in locals(): pass'), [(3, 3, "out")], id="not in locals"),
    pytest.param("RS407", method('if "out" in locals().keys(): pass'), [(3, 3, "out")], id="in its keys"),
    pytest.param(
        "RS408",
        method("out = self.build(x)\nself.send(x)\nout = []\nreturn out"),
        [(5, 5, "out")],
        id="emptied at once",
    ),
    pytest.param(
        "RS408",
        method("if x:\n    out = self.build(x)\nelse:\n    out = self.other(x)\nout = None\nreturn out"),
        [(7, 7, "out")],
        id="computed in both branches",
    ),
    pytest.param(
        "RS408",
        method("out = self.build(x)\nfor row in x:\n    if row:\n        break\nout = None\nreturn out"),
        [(7, 7, "out")],
        id="another loop ends in between",
    ),
    pytest.param(
        "RS408",
        method("out = self.build(x)\nif x:\n    return None\nout = None\nreturn out"),
        [(6, 6, "out")],
        id="the method ends in between",
    ),
    *(
        pytest.param(
            "RS408",
            method(f"ok = self.check(x)\nok = {value}\nout = self.build(x)\nout = 0\nreturn ok, out"),
            [(6, 6, "out")],
            id=f"beside {value}, which is a value",
        )
        for value in ("False", "0.0")
    ),
    pytest.param(
        "RS409", method("return torch.triu(torch.ones(2048, 2048))"), [(3, 3, "2048x2048")], id="a causal mask"
    ),
    pytest.param("RS409", method("return torch.zeros((4096, 4096))"), [(3, 3, "4096x4096")], id="sizes in a tuple"),
    pytest.param("RS411", method("return x\nself.f()\nself.g()"), [(4, 4, "self.f()")], id="behind a return"),
    pytest.param("RS411", method("if x:\n    raise x\n    self.f()"), [(5, 5, "self.f()")], id="behind a raise"),
    pytest.param(
        "RS411",
        method("for y in x:\n    continue\n    self.f()\nelse:\n    return 1\n    if x:\n        return 2"),
        [(5, 5, "self.f()"), (8, 9, "if x:")],
        id="in a loop and its else",
    ),
    pytest.param(
        "RS410",
        "<<<<<<< omni\na = 1\n=======\na = 2\n>>>>>>> upstream\n",
        [(1, 5, "conflict at line 1")],
        id="a conflict",
    ),
]


@pytest.mark.parametrize(("code", "text", "expected"), FINDINGS)
def test_findings_are_placed_and_named(code: str, text: str, expected: list[tuple[int, int, str]]) -> None:
    findings = found(job(text), code)
    assert [(f.line, f.end_line, f.symbol) for f in findings] == expected


def test_a_pasted_block_is_found_where_it_stands_again() -> None:
    block = "\n".join(f"self.{name} = self.make_something({name!r}, size=64)" for name in "abcd")
    text = method(f"{block}\nself.other()\n{block}\nreturn x")
    assert [(f.line, f.end_line) for f in found(job(text), "RS405")] == [(8, 11)]


def test_a_block_in_another_branch_is_no_duplicate() -> None:
    block = "\n    ".join(f"self.{name} = self.make_something({name!r}, size=64)" for name in "abcd")
    assert found(job(method(f"if x:\n    {block}\nelse:\n    {block}")), "RS405") == []


@pytest.mark.parametrize(
    ("code", "body", "after"),
    [
        ("RS402", "torch.cuda.synchronize()", "torch.npu.synchronize()"),
        (
            "RS404",
            "with set_ascend_forward_context(None, cudagraph_runtime_mode=x): pass",
            "with set_ascend_forward_context(None, aclgraph_runtime_mode=x): pass",
        ),
    ],
)
@pytest.mark.parametrize(
    "above", ["", '"""\f\u2028\x1c"""\n'], ids=["", "below what only str.splitlines takes for line ends"]
)
def test_a_patch_applies_and_settles_the_finding(code: str, body: str, after: str, above: str, tmp_path: Path) -> None:
    given = job(above + method(body))
    (finding,) = found(given, code)
    path = tmp_path / finding.path
    path.parent.mkdir(parents=True)
    path.write_text(given.modules[0].text, "utf-8")
    subprocess.run(["git", "apply", "-"], input=finding.fix, encoding="utf-8", cwd=tmp_path, check=True)
    assert path.read_text("utf-8") == above + method(after)
    assert symbols(job(path.read_text("utf-8")), code) == []


def test_columns_count_characters_not_bytes() -> None:
    (finding,) = found(job(method('a = "über"; torch.cuda.synchronize()')), "RS402")
    assert (finding.column, finding.end_column) == (21, 31)


EMPTY_AR = NPU_HEAD + "class NPUARModelRunner(OmniNPUModelRunner):\n    pass\n"


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


HELPER = AR.replace("npu_ar_model_runner", "helper")
NEW_RUNNER = """\
from vllm.compilation.cuda_graph import CUDAGraphWrapper
from vllm.forward_context import set_forward_context
from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner

class NPUDiffusionModelRunner(OmniNPUModelRunner):
    def execute_model(self, x):
        with set_forward_context(x):
            return torch.cuda.synchronize()
"""


def test_a_runner_that_no_profile_names_and_a_helper_are_read_as_npu_code() -> None:
    files = {HELPER: "def _sync():\n    torch.cuda.synchronize()\n", AR.replace("_ar_", "_diffusion_"): NEW_RUNNER}
    given = job(EMPTY_AR, "", files=files)
    assert [(f.path, f.line) for f in found(given, "RS402")] == [(HELPER, 2), (AR.replace("_ar_", "_diffusion_"), 8)]
    assert symbols(given, "RS403") == ["CUDAGraphWrapper", "set_forward_context"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        pytest.param("vllm_omni/worker/helper.py", "torch.cuda.synchronize()\n", id="in the folder of the GPU's"),
        pytest.param(HELPER, "torch.npu.synchronize()\n# torch.cuda\n", id="only in a comment"),
        pytest.param(HELPER, "if torch.cuda.is_available():\n    torch.cuda.synchronize()\n", id="asked for"),
    ],
)
def test_a_helper_that_is_left_alone(path: str, text: str) -> None:
    given = job(EMPTY_AR, "", files={path: text})
    assert found(given, "RS402") == []


def test_a_helper_that_is_no_python_ends_the_run_unless_a_branch_left_it_alone() -> None:
    given = job(EMPTY_AR, "", files={HELPER: "def _sync(:\n    torch.cuda.synchronize()\n"})
    with pytest.raises(InputError, match=r"helper\.py:1: does not parse"):
        check.run(given, Codes(("RS402",)))
    assert check.run(given, Codes(("RS402",)), changed={}).findings == ()


@pytest.mark.parametrize(
    ("branch", "ends"),
    [
        pytest.param(None, True, id="no branch"),
        pytest.param("helper", True, id="of the branch"),
        pytest.param("npu_ar_model_runner", False, id="of others"),
    ],
)
@pytest.mark.parametrize("folder", ["", "deep/"])
def test_a_helper_that_is_no_text_ends_the_run_unless_a_branch_left_it_alone(
    folder: str, branch: str | None, ends: bool
) -> None:
    path = HELPER.replace("helper", f"{folder}helper")
    changed = {path.replace("helper", branch): {1}} if branch is not None else None

    def read(asked: str) -> str | None:
        if asked == path:
            raise InputError(f"{path}:1 is not UTF-8 text")
        return given.read(asked) if given.read is not None else None

    given = job(EMPTY_AR, "", files={path: ""})
    unread = replace(given, read=read)
    with pytest.raises(InputError, match="is not UTF-8 text") if ends else nullcontext():
        result = check.run(replace(unread, before=lambda: unread), Codes(("RS402",)), changed=changed)
        assert (result.findings, result.branch_error) == ((), None)
    assert check.run(unread, Codes(("RS407",)), changed={}).findings == (), "no rule reads it"


def test_a_mixin_in_the_folder_is_told_once_and_where_it_stands() -> None:
    mixin = {HELPER: "class Mixin:\n    def nap(self):\n        torch.cuda.synchronize()\n"}
    head = "from vllm_omni.platforms.npu.worker.helper import Mixin\n"
    text = head + EMPTY_AR.replace("(OmniNPUModelRunner)", "(OmniNPUModelRunner, Mixin)")
    assert [(f.path, f.symbol) for f in found(job(text, "", files=mixin), "RS402")] == [(HELPER, "torch.cuda")]


def test_a_conflict_in_a_helper_is_told() -> None:
    text = "<<<<<<< HEAD\nx = torch.cuda\n=======\nx = 2\n>>>>>>> other\n"
    given = job(EMPTY_AR, "", files={HELPER: text})
    assert [(f.code, f.path) for f in check.run(given, Codes(("RS402", "RS410"))).findings] == [("RS410", HELPER)]


ENDS = "if x:\n    return 1\nself.run()\nreturn 2"
FALLS_OFF = {
    "the last line is gone": (ENDS, "if x:\n    return 1\nself.run()", True),
    "it is a call now": (ENDS, "if x:\n    return 1\nself.run()\nself.two()", True),
    "one of two branches": (
        "if x:\n    return 1\nelse:\n    return 2",
        "if x:\n    return 1\nelse:\n    self.run()",
        True,
    ),
    "it returns in a with": (ENDS, "with self.lock:\n    return 1", False),
    "nothing is returned any more": (ENDS, "self.run()", False),
    "it falls off as before": ("if x:\n    return 1", "if x:\n    return 2", False),
    "it returned None there": ("if x:\n    return 1\nreturn None", "if x:\n    return 1", False),
    "it raises there": (ENDS, "if x:\n    return 1\nraise ValueError", False),
    "it is a generator now": (ENDS, "if x:\n    return 1\nyield 2", False),
    "it goes on for ever": (ENDS, "while True:\n    if x:\n        return 1", False),
    "only a function in it returns": (ENDS, "def f():\n    return 1\nself.run(f)", False),
}


@pytest.mark.parametrize("name", FALLS_OFF)
def test_a_method_that_comes_to_its_end_since_the_branch_began(name: str) -> None:
    before, now, is_told = FALLS_OFF[name]
    then = job(method(before))
    assert symbols(replace(job(method(now)), before=lambda: then), "RS412") == (["execute_model"] if is_told else [])
    assert symbols(job(method(now)), "RS412") == []


@pytest.mark.parametrize(
    ("result", "expected"),
    [("int", ["execute_model"]), ("int | None", []), ("Any", [])],
    ids=["promised", "or none", "any"],
)
def test_the_result_that_a_method_promises(result: str, expected: list[str]) -> None:
    then, now = (method(body).replace("x):", f"x) -> {result}:") for body in ("return 1", "self.run()"))
    before = job(then)
    assert symbols(replace(job(now), before=lambda: before), "RS412") == expected
