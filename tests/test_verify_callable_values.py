"""Calls of a module's name that is no function: `f = lambda …`, `f = Class()` (RS302, RS306)."""

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
