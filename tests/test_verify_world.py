"""Names, MRO, signatures and return sizes, read without importing anything."""

from __future__ import annotations

import ast
import importlib
import pkgutil

import pytest
from verify_samples import NPU, npu, world

from runner_sync import signatures
from runner_sync.verify import rules
from runner_sync.verify.breakage import RULES
from runner_sync.verify.trees.classes import Classes
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.values import returns
from runner_sync.verify.trees.world import World

RESOLVES = {
    "own definition": ("def f(): ...", "f", ["function vllm_omni.npu.f"]),
    "re-export": ("from vllm_omni.gpu import GPUModelRunner", "GPUModelRunner", ["class vllm.runner.GPUModelRunner"]),
    "alias": ("from vllm.runner import helper as h", "h", ["function vllm.runner.helper"]),
    "attribute of a module": ("import vllm.runner", "vllm.runner.helper", ["function vllm.runner.helper"]),
    "module alias": ("import vllm.runner as r", "r.helper", ["function vllm.runner.helper"]),
    "submodule": ("from vllm import runner", "runner", ["module vllm.runner"]),
    "relative": (
        "from .gpu import OmniGPUModelRunner",
        "OmniGPUModelRunner",
        ["class vllm_omni.gpu.OmniGPUModelRunner"],
    ),
    "star": ("from vllm.runner import *", "Batch", ["class vllm.runner.Batch"]),
    "both branches": (
        "if x:\n    from vllm.runner import helper as f\nelse:\n    from vllm_ascend.runner import NPUModelRunner as f",
        "f",
        ["function vllm.runner.helper", "class vllm_ascend.runner.NPUModelRunner"],
    ),
    "outside the trees": ("from torch import nn", "nn", ["external torch.nn"]),
    "missing name": ("from vllm.runner import gone", "gone", ["missing vllm.runner.gone"]),
    "missing module": ("from vllm.gone import f", "f", ["missing vllm.gone"]),
    "unbound name": ("", "nothing", []),
    "an import cycle ends": ("from vllm_omni.npu import a", "a", ["missing vllm_omni.npu.a"]),
    "module with __getattr__": ("from vllm_omni.lazy import a", "a", ["external vllm_omni.lazy.a"]),
    "a name that no loader sets": ("from vllm_omni.loads import a", "a", ["missing vllm_omni.loads.a"]),
    "a name that run text may set": ("from vllm_omni.runs import a", "a", ["external vllm_omni.runs.a"]),
    "a name set through globals()": ("from vllm_omni.sets import a", "a", ["external vllm_omni.sets.a"]),
    "namespace package": ("from vllm_omni.space import part", "part", ["module vllm_omni.space.part"]),
}
EXTRA = {"vllm_omni/lazy.py": "def __getattr__(name): ...", "vllm_omni/space/part.py": ""}
EXTRA["vllm_omni/loads.py"] = "x = LazyLoader('x', globals(), 'y')\nif 'a' in globals():\n    globals()['a']"
EXTRA["vllm_omni/runs.py"] = "exec('a = 1', globals())"
EXTRA["vllm_omni/sets.py"] = "for name in NAMES:\n    globals()[name] = load(name)"


@pytest.mark.parametrize("name", RESOLVES)
def test_resolves(name: str) -> None:
    text, dotted, expected = RESOLVES[name]
    trees = world(npu=text, **EXTRA)
    module = trees.module_at(NPU)
    assert [f"{d.kind} {d.name}" for d in trees.resolve(module, dotted)] == expected


MROS = {
    "the runner": (
        "class R(OmniGPUModelRunner, NPUModelRunner): ...",
        "R OmniGPUModelRunner NPUModelRunner GPUModelRunner",
    ),
    "diamond": ("class A: ...\nclass B(A): ...\nclass C(A): ...\nclass R(B, C): ...", "R B C A"),
    "plain bases add nothing": ("class A(Generic[T]): ...\nclass R(A, ABC): ...", "R A"),
    "an unknown base opens it": ("class R(torch.nn.Module): ...", "R +"),
    "no consistent order opens it": ("class A: ...\nclass B(A): ...\nclass R(A, B): ...", "R A B +"),
    "a class that is its own base ends": ("class R(R): ...", "R +"),
    "__getattr__ opens it": ("class R:\n    def __getattr__(self, n): ...", "R +"),
    "a setattr of a name that is read first does not": (
        "class R:\n    def m(self, n):\n        getattr(self, n)\n        setattr(self, n, 1)",
        "R",
    ),
}


@pytest.mark.parametrize("name", MROS)
def test_linearises(name: str) -> None:
    text, expected = MROS[name]
    trees = world(npu=npu("pass").split("\nclass R")[0] + "\n" + text)
    (mro, *_) = mros(trees)
    assert " ".join([c.name for c in mro.classes] + ["+"] * mro.open) == expected


def mros(trees: World) -> list:  # type: ignore[type-arg]
    classes = Classes(trees)
    (definition, *_) = trees.resolve(trees.module_at(NPU), "R")
    info = classes.info(definition)
    assert info is not None
    return classes.mros(info)


CALLS = {
    ("a, b", "f(1, 2)"): [],
    ("a, b", "f(1)"): ["missing b"],
    ("a, b=1", "f(1)"): [],
    ("a", "f(1, 2)"): ["too many positional "],
    ("a", "f(1, a=2)"): ["given twice a"],
    ("a, /", "f(a=1)"): ["by position only a"],
    ("a, b, c=1, /", "f(b=1, c=2, a=3)"): ["by position only b, c, a"],
    ("a, b, /", "f(b=1)"): ["by position only b", "missing a"],
    ("a, /, b", "f(a=1, c=2)"): ["unknown keyword c", "by position only a", "missing b"],
    ("a, /, **rest", "f(a=1)"): ["missing a"],
    ("*, a", "f(1)"): ["too many positional "],
    ("a, *, b, c", "f(1, 2)"): ["too many positional ", "missing c"],
    ("a, *, b, c", "f(1, 2, 3, 4)"): ["too many positional "],
    ("a, *, b", "f(1, 2, b=3)"): ["too many positional "],
    ("a, *rest, b", "f(1, 2)"): ["missing b"],
    ("*, a=1", "f(a=2)"): [],
    ("a, *rest", "f(1, 2, 3)"): [],
    ("a, **rest", "f(1, b=2)"): [],
    ("a, b", "f(*x)"): [],
    ("a, b", "f(**x)"): [],
    ("a, b", "f(*x, c=1)"): ["unknown keyword c"],
    ("a, *, k", "f(*x)"): ["missing k"],
    ("a, /, **rest", "f(1, a=2)"): [],
}


@pytest.mark.parametrize(("parameters", "call"), CALLS)
def test_binds_as_python_does(parameters: str, call: str) -> None:
    found = misfits(parameters, call)
    assert [f"{misfit.kind} {misfit.name}" for misfit in found] == CALLS[parameters, call]


def misfits(parameters: str, call: str) -> list[signatures.Misfit]:
    function = ast.parse(f"def f({parameters}): ...").body[0]
    node = ast.parse(call, mode="eval").body
    assert isinstance(function, ast.FunctionDef)
    assert isinstance(node, ast.Call)
    return signatures.misfits(signatures.of_function(function, bound=False), signatures.of_call(node))


MISPLACED = {
    ("a, b, /, c=1", "f(1, b=2)"): ["takes `b` by position only"],
    ("a, b, c, /", "f(a=1, b=2, c=3)"): ["takes `a`, `b` and `c` by position only"],
    ("a, *, b", "f(1, 2)"): ["takes at most 1 positional argument, 2 are given; it takes `b` by keyword only"],
    # What `f` can do without was perhaps never meant.
    ("a, *, b=1", "f(1, 2)"): ["takes at most 1 positional argument, 2 are given"],
}


@pytest.mark.parametrize(("parameters", "call"), MISPLACED)
def test_what_is_passed_in_the_wrong_way_is_said_once(parameters: str, call: str) -> None:
    assert [misfit.text for misfit in misfits(parameters, call)] == MISPLACED[parameters, call]


STANDS_FOR = {
    ("a", "a"): True,
    ("a, b=1", "a"): True,
    ("a, *, k=1", "a"): True,
    ("*rest, **words", "a, b"): True,
    ("a=1", "a"): True,
    ("x, /", "a, /"): True,
    ("a, **words", "a, *, k"): True,
    ("a, b", "a"): False,
    ("a, *, k", "a"): False,
    ("a", "a=1"): False,
    ("a", "a, b"): False,
    ("b, a", "a, b"): False,
    ("*rest", "a"): False,
    ("a, /", "a"): False,
    ("a", "a, *, k"): False,
    ("a", "a, *rest"): False,
    ("a", "a, **words"): False,
    ("a, *rest", "a, b, /"): True,
    ("a, *rest", "a, *others"): True,
    ("a, *rest, b", "a, b"): False,
    ("a, *rest, b=1", "a, b"): False,
    ("a, c=0, *rest", "a, *rest"): False,
}
"""Parameters of a method and of the one it stands before, and whether it accepts whatever the other one does."""


@pytest.mark.parametrize(("mine", "other"), STANDS_FOR)
def test_tells_whether_one_signature_accepts_all_that_another_does(mine: str, other: str) -> None:
    nodes = [ast.parse(f"def f(self, {parameters}): ...").body[0] for parameters in (mine, other)]
    first, second = (signatures.of_function(n, bound=True) for n in nodes if isinstance(n, ast.FunctionDef))
    assert signatures.accepts(first, second) is STANDS_FOR[mine, other]


SIZES = {
    "def f(self):\n    return 1, 2": {2},
    "def f(self):\n    if self:\n        return 1, 2\n    return 1, 2, 3": {2, 3},
    "def f(self):\n    def g():\n        return 1\n    return 1, 2": {2},
    "def f(self) -> tuple[int, int]:\n    return self.unknown()": {2},
    "def f(self) -> tuple[int, ...]:\n    return self.unknown()": None,
    "def f(self):\n    return self.unknown()": None,
    "def f(self):\n    return self.two()\ndef two(self):\n    return 1, 2": {2},
    "def f(self):\n    return self.f()": None,
    "def f(self):\n    return (1, *self)": None,
    "def f(self):\n    yield 1, 2": None,
    "async def f(self):\n    return 1, 2": None,
    "def f(self):\n    return (1, 2) if self else (1, 2, 3)": {2, 3},
    "def f(self):\n    return None": None,
}


@pytest.mark.parametrize("text", SIZES)
def test_tells_return_sizes(text: str) -> None:
    program = Program(world(npu=npu(text)), [NPU])
    line = next(line for line in program.leaves() if line.head.name == "R")
    (callee,) = program.method(line, "f")
    expected = SIZES[text]
    assert returns.sizes(program, callee) == (None if expected is None else frozenset(expected))


def test_every_rule_module_is_run_and_tells_its_text() -> None:
    names = [name for _, name, _ in pkgutil.iter_modules(rules.__path__) if name.startswith("rs3")]
    found = [importlib.import_module(f"{rules.__name__}.{name}") for name in names]
    # RS390 is what the type checker says: `typecheck` runs it.
    assert [*(rule.CODE for rule in RULES), "RS390"] == sorted(rule.CODE for rule in found)
    for rule in found:
        headline, *paragraphs = (rule.__doc__ or "").split("\n\n")
        assert headline.startswith(f"{rule.CODE} {rule.NAME}: ")
        starts = {paragraph.split(":")[0].strip() for paragraph in paragraphs}
        assert {"What", "Example", "Why", "Fix", "Leaves alone"} <= starts


OWN_READS = {
    "in the method": ("def m(self):\n    return self.a + self.b.c", ["a", "b"]),
    "in what is nested in it": (
        "def m(self):\n    def f():\n        return self.a\n    return [self.b for _ in f()]",
        ["a", "b"],
    ),
    "by the name that it has there": ("@classmethod\ndef m(cls):\n    return cls.a, self.b", ["a"]),
    "no writes": ("def m(self):\n    self.a = 1\n    del self.b", []),
    "what is changed has to be there": ("def m(self):\n    self.a += 1\n    self.b.c += 1", ["a", "b"]),
    "nothing in a static method": ("@staticmethod\ndef m(self):\n    return self.a", []),
}


@pytest.mark.parametrize("name", OWN_READS)
def test_where_a_method_reads_attributes_of_itself(name: str) -> None:
    body, expected = OWN_READS[name]
    program = Program(world(npu=npu(body)), [NPU])
    (module,) = program.checked
    frame = next(frame for frame in program.frames(module) if frame.unit == "R.m")
    assert sorted(node.attr for node in frame.own_reads()) == expected


def test_a_function_has_no_attributes_of_itself() -> None:
    program = Program(world(npu="def m(self):\n    return self.a\n"), [NPU])
    (module,) = program.checked
    assert [node for frame in program.frames(module) for node in frame.own_reads()] == []
