"""Calls of a name or attribute that is no function: `f = lambda …`, `f = Class()` (RS302, RS306)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

ASCEND = """\
from vllm.runner import GPUModelRunner

class Paged:
    def __call__(self, batch, *, config=None):
        return False

class Plain:
    limit = 3

class Open(Unknown):
    def __init__(self):
        self.limit = 3

class Made(Paged):
    def __new__(cls):
        return print

@compiled
class Compiled(Paged):
    pass

class Counted(Paged, metaclass=Counting):
    pass

{made}

class NPUModelRunner(GPUModelRunner):
    pass
"""
HEAD = "from vllm_ascend.runner import is_paged"


def told(call: str, made: str) -> list[tuple[str, str]]:
    text = npu(f"def m(self, n):\n    return {call}", head=HEAD)
    return symbols(find(world(npu=text, ascend=ASCEND.format(made=made))))


@pytest.mark.parametrize(
    ("call", "made", "found"),
    [
        pytest.param("is_paged(n, 1)", "is_paged = lambda batch: batch.n", ("RS302", "is_paged()"), id="a lambda"),
        pytest.param("is_paged()", "is_paged = lambda batch: 1", ("RS302", "is_paged(batch)"), id="one is left out"),
        pytest.param("is_paged(n, m=1)", "is_paged = lambda n: 1", ("RS306", "is_paged(m=)"), id="a keyword"),
        pytest.param("is_paged(n, 1)", "is_paged = Paged()", ("RS302", "is_paged()"), id="an object"),
        pytest.param("is_paged(n, m=1)", "is_paged = Paged()", ("RS306", "is_paged(m=)"), id="a keyword of an object"),
    ],
)
def test_a_call_that_the_value_does_not_accept(call: str, made: str, found: tuple[str, str]) -> None:
    assert told(call, made) == [found]


@pytest.mark.parametrize(
    "made",
    [
        pytest.param("is_paged = lambda n, m: 1", id="two parameters"),
        pytest.param("is_paged = lambda *args: 1", id="any arguments"),
        pytest.param("is_paged = Plain()", id="an object that cannot be called"),
        pytest.param("is_paged = Open()", id="a class with an unknown base"),
        pytest.param("is_paged = make()", id="made out of sight"),
        pytest.param("is_paged = Made()", id="made by __new__"),
        pytest.param("is_paged = Compiled()", id="of a decorated class"),
        pytest.param("is_paged = Counted()", id="of a class with a metaclass"),
        pytest.param("is_paged = Paged()\nis_paged = lambda n, m: 1", id="one of two fits"),
        pytest.param("is_paged = Paged()\nis_paged = make()", id="one of two is unknown"),
    ],
)
def test_a_call_that_the_value_may_accept(made: str) -> None:
    assert told("is_paged(n, 1)", made) == []


MODULE = "import vllm_ascend.runner as kernels"


@pytest.mark.parametrize("head", [MODULE, "from vllm_ascend import runner as kernels"])
@pytest.mark.parametrize("made", ["is_paged = lambda batch: batch.n", "is_paged = Paged()"])
def test_a_value_that_is_read_from_its_module(head: str, made: str) -> None:
    text = npu("def m(self, n):\n    return kernels.is_paged(n, 1)", head=head)
    assert symbols(find(world(npu=text, ascend=ASCEND.format(made=made)))) == [("RS302", "is_paged()")]


@pytest.mark.parametrize(
    ("call", "made", "beside"),
    [
        pytest.param("is_paged(n, 1)", "is_paged = lambda n, m: 1", "", id="two parameters"),
        pytest.param("is_paged.limit(n, 1)", "is_paged = Paged()", "", id="a member of the value"),
        pytest.param("is_paged(n, 1)", "is_paged = Paged()", f"{MODULE}\nkernels.is_paged = make()", id="replaced"),
    ],
)
def test_a_value_of_a_module_that_may_accept_it(call: str, made: str, beside: str) -> None:
    text = npu(f"def m(self, n):\n    return kernels.{call}", head=MODULE)
    assert symbols(find(world(npu=text, ascend=ASCEND.format(made=made), **{"vllm_ascend/boot.py": beside}))) == []


HOLDERS = """\
import torch
from torch import nn
from vllm.runner import GPUModelRunner

class Sampler(nn.Module):
    def forward(self, logits, *, metadata=None):
        return logits

class Near(Sampler):
    def prepare(self):
        return 1

class Calling(nn.Module):
    def __call__(self, logits, sampling=None):
        return logits
    def forward(self, logits, metadata):
        return logits

class Plain:
    def forward(self, logits, metadata):
        return logits

class Called:
    def __call__(self, logits, metadata):
        return logits

class Mixed(Unknown, nn.Module):
    def forward(self, logits, metadata):
        return logits

@compiled
class Compiled(Sampler):
    pass

class Registered(Sampler):
    def __new__(cls):
        return print

class Late(nn.Module):
    def __init__(self):
        self.forward = print
    def forward(self, logits, metadata):
        return logits

class Holder:
    def __init__(self):
        self.inner = Sampler()

class NPUModelRunner(GPUModelRunner):
    def __init__(self, sampler: Sampler):
        self.sampler = {made}
        self.holder = Holder()
    def select(self):
        {select}
"""


@pytest.mark.parametrize(
    ("made", "select", "call", "found"),
    [
        pytest.param("Sampler()", "pass", "self.sampler(n, sampling=1)", True, id="a torch module"),
        pytest.param("Near()", "pass", "self.sampler(n, sampling=1)", True, id="it inherits forward"),
        pytest.param("Called()", "pass", "self.sampler(n, sampling=1, metadata=2)", True, id="an object with a call"),
        pytest.param("1", "pass", "self.holder.inner(n, sampling=1)", True, id="what another object holds"),
        pytest.param("Sampler()", "pass", "self.sampler(n, metadata=1)", False, id="a fitting call"),
        pytest.param("Calling()", "pass", "self.sampler(n, sampling=1)", False, id="it has a call of its own"),
        pytest.param("Plain()", "pass", "self.sampler(n, sampling=1)", False, id="no torch module"),
        pytest.param("Mixed()", "pass", "self.sampler(n, sampling=1)", False, id="another unknown base"),
        pytest.param("Compiled()", "pass", "self.sampler(n, sampling=1)", False, id="a decorated class"),
        pytest.param("Registered()", "pass", "self.sampler(n, sampling=1)", False, id="it may make another object"),
        pytest.param("Late()", "pass", "self.sampler(n, sampling=1)", False, id="forward is set"),
        pytest.param("sampler", "pass", "self.sampler(n, sampling=1)", False, id="an annotated argument"),
        pytest.param("torch.compile(Sampler())", "pass", "self.sampler(n, sampling=1)", False, id="compiled"),
        pytest.param(
            "Sampler()", "self.sampler = Calling()", "self.sampler(n, sampling=1)", False, id="one of two takes it"
        ),
    ],
)
def test_a_call_of_what_an_attribute_holds(made: str, select: str, call: str, *, found: bool) -> None:
    text = npu(f"def m(self, n):\n    return {call}")
    told = symbols(find(world(npu=text, ascend=HOLDERS.format(made=made, select=select))))
    assert told == ([("RS306", f"{call.split('(')[0].split('.')[-1]}(sampling=)")] if found else [])
