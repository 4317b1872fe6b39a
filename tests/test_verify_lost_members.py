"""Members that a class has lost although a base outside the trees or ``__getattr__`` may answer for it (RS308);
and buffer pairs that are tensors, on other objects than the runner (RS309)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

ASCEND = """\
import torch
from torch import nn
from vllm.runner import Buffer, GPUModelRunner

class Sampler(nn.Module{base}):
    def __init__(self):
        super().__init__()
    def sample(self):
        return 1
    {member}

class Platform:
    def __getattr__(self, name):
        return getattr(torch.npu, name)

class NPUPlatform(Platform):
    {of_class}

class Rows:
    def __init__(self):
        self.lens = {lens}
        self.either = {lens}
        self.given: torch.Tensor
    def widen(self, rows):
        self.either = rows
    @property
    def made(self):
        return self.lens

class NPUModelRunner(GPUModelRunner):
    def __init__(self, config, rows: Rows):
        self.sampler = Sampler()
        self.annotated: Sampler = make()
        self.rows = Rows()
        self.handed = rows
        self.own = {lens}
"""
BUFFER, TENSOR = "Buffer(3)", "torch.zeros(3)"


def ascend(member: str = "", *, of_class: str = "x = 1", lens: str = BUFFER, base: str = "") -> str:
    return ASCEND.format(member=member, of_class=of_class, lens=lens, base=base)


def method(body: str) -> str:
    head = "from vllm_ascend.runner import NPUPlatform, Rows"
    return npu("def m(self, given):\n    " + body.replace("\n", "\n    "), head=head)


DRAW = "def draw(self):\n        return 1"


def lost(body: str, old: str, new: str) -> list[tuple[str, str]]:
    text = method(body)
    return symbols(find(world(npu=text, ascend=new), world(npu=text, ascend=old)))


def test_a_method_that_a_module_of_torch_has_no_longer() -> None:
    assert lost("self.sampler.draw()", ascend(DRAW), ascend()) == [("RS308", "Sampler.draw")]


FORWARD = DRAW.replace("draw", "forward")
STILL_THERE = {
    "still there": ("self.sampler.draw()", ascend(DRAW), ascend(DRAW)),
    "never there": ("self.sampler.register_hook()", ascend(), ascend()),
    "what torch gives every module": ("self.sampler.forward()", ascend(FORWARD), ascend()),
    "a new base outside": ("self.sampler.draw()", ascend(DRAW), ascend(base=", Drawing")),
    "an object that is handed": ("self.annotated.draw()", ascend(DRAW), ascend()),
    "a module that makes up its members": (
        "self.sampler.draw()",
        ascend(DRAW),
        ascend("def __getattr__(self, name):\n        return 1"),
    ),
    "asked for": ("if hasattr(self.sampler, 'draw'):\n    self.sampler.draw()", ascend(DRAW), ascend()),
}


@pytest.mark.parametrize("name", STILL_THERE)
def test_a_method_that_a_module_of_torch_may_have(name: str) -> None:
    assert not lost(*STILL_THERE[name])


def test_a_class_is_asked_for_what_only_its_objects_make_up() -> None:
    has = ascend(of_class="@classmethod\n    def wait(cls):\n        return 1")
    assert lost("NPUPlatform.wait()", has, ascend()) == [("RS308", "NPUPlatform.wait")]
    patched = ascend() + "torch.cuda.wait = torch.npu.wait\n"
    assert lost("NPUPlatform.wait()", has, patched) == [("RS308", "NPUPlatform.wait")]
    assert not lost("NPUPlatform.wait()", has, has)
    assert not lost("NPUPlatform().wait()", has, ascend())


TENSORS = {
    "an attribute of an object that is made": ("return self.rows.lens.np", "lens"),
    "a local": ("lens = self.own\nreturn lens.np[0]", "own"),
    "a local of another object's": ("lens = self.rows.lens\nreturn lens.gpu", "lens"),
}
SOUND = {
    "an object that is handed": "return self.handed.lens.np",
    "one of two assignments": "return self.rows.either.np",
    "a property": "return self.rows.made.np",
    "a local with two values": "lens = self.own\nif given:\n    lens = given\nreturn lens.np",
    "a local that is asked for its kind": "lens = self.own\nif isinstance(lens, given):\n    return lens.np",
    "an attribute that is asked for": "return self.rows.lens.np if hasattr(self.rows.lens, 'np') else 0",
    "a call": "return self.rows.lens.cpu()",
}


@pytest.mark.parametrize("name", TENSORS)
def test_a_buffer_of_another_object_became_a_tensor(name: str) -> None:
    body, symbol = TENSORS[name]
    assert symbols(find(world(npu=method(body), ascend=ascend(lens=TENSOR)))) == [("RS309", symbol)]
    assert not find(world(npu=method(body), ascend=ascend()))


@pytest.mark.parametrize("name", SOUND)
def test_what_may_be_a_buffer_still(name: str) -> None:
    assert not find(world(npu=method(SOUND[name]), ascend=ascend(lens=TENSOR)))


HANDED = {
    "a declared object": ("return self.handed.lens.np", "", True),
    "a local of a declared object's": ("lens = self.handed.lens\nreturn lens.gpu", "", True),
    "a subclass near the runners that has a tensor": ("return self.handed.lens.np", "pass", True),
    "one that has a buffer": (
        "return self.handed.lens.np",
        "def __init__(self):\n        super().__init__()\n        self.lens = Buffer(3)",
        False,
    ),
    "asked for its kind": ("if isinstance(self.handed.lens, given):\n    return self.handed.lens.np", "", False),
}


@pytest.mark.parametrize("name", HANDED)
def test_a_buffer_of_a_declared_object_became_a_tensor(name: str) -> None:
    """Told only where it was a buffer before: the declared class may have subclasses out of sight."""
    body, derived, fails = HANDED[name]
    more = f"class Wide(Rows):\n    {derived}\n" if derived else ""
    new = {"vllm_ascend/worker/wide.py": f"from vllm.runner import Buffer\nfrom vllm_ascend.runner import Rows\n{more}"}
    old, now = (world(npu=method(body), ascend=ascend(lens=lens), **new) for lens in (BUFFER, TENSOR))
    assert symbols(find(now, old)) == ([("RS309", "lens")] if fails else [])
    assert not find(now)
    assert not find(now, now)


def test_a_tensor_of_another_object_became_a_buffer() -> None:
    body = method("return self.rows.lens[0]")
    assert symbols(find(world(npu=body, ascend=ascend()))) == [("RS309", "lens")]
    assert not find(world(npu=body, ascend=ascend(lens=TENSOR)))
    assert symbols(find(world(npu=method("return self.rows.given.np"), ascend=ascend()))) == [("RS309", "given")]


BESIDE = """\
from vllm.runner import Batch

class Context:
    def __init__(self):
        self.there = 1
    {method}

def make() -> Context:
    context = Context()
    {statement}
    return context
"""


@pytest.mark.parametrize(
    ("statement", "method_of_it", "is_found"),
    [
        pytest.param("context.given = 1", "", False, id="a function sets it"),
        pytest.param("setattr(context, 'given', 1)", "", False, id="by its name"),
        pytest.param("context.other = 1", "", True, id="it sets another"),
        pytest.param("print(context.given == 1)", "", True, id="it compares it"),
    ],
)
def test_what_a_function_of_the_classs_module_gives_its_objects(
    statement: str, method_of_it: str, is_found: bool
) -> None:
    text = npu("def m(self):\n    return Context().given", head="from vllm.context import Context")
    beside = BESIDE.format(statement=statement, method=method_of_it)
    found = symbols(find(world(npu=text, **{"vllm/context.py": beside})))
    assert found == ([("RS308", "Context.given")] if is_found else [])
