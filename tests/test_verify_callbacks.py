"""Local functions that are passed to a function which newly calls them in another way (RS302)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

ASCEND = """\
from vllm.runner import GPUModelRunner

class NPUModelRunner(GPUModelRunner):
    def draft(self, n, compute=lambda hidden: None, mask=None):
        {body}
"""
PASSES = {
    "a local function": "def compute(hidden):\n    return hidden\nself.draft(n, compute=compute)",
    "a lambda": "self.draft(n, lambda hidden: hidden)",
}
FITS = {
    "any arguments": "self.draft(n, lambda *args: args)",
    "a default": "self.draft(n, lambda hidden, m=None: hidden)",
    "a function from elsewhere": "self.draft(n, self.hook)",
    "a name that is bound twice": "def step(hidden):\n    return hidden\nstep = self.hook\nself.draft(n, step)",
    "caught": "try:\n    self.draft(n, lambda hidden: hidden)\nexcept TypeError:\n    pass",
    "another parameter": "self.draft(lambda hidden: hidden)",
}
ONE, TWO = "compute(n)", "compute(n, 1)"


def told(use: str, before: str, after: str) -> list[tuple[str, str]]:
    text = npu("def run(self, n):\n    " + use.replace("\n", "\n    "))
    old, new = (ASCEND.format(body=body.replace("\n", "\n        ")) for body in (before, after))
    return symbols(find(world(npu=text, ascend=new), world(npu=text, ascend=old)))


@pytest.mark.parametrize("use", PASSES.values(), ids=PASSES)
@pytest.mark.parametrize("after", [TWO, "if n:\n    compute(n, m=1)", "compute()"])
def test_a_local_function_that_is_called_in_another_way(use: str, after: str) -> None:
    assert told(use, ONE, after) == [("RS302", "draft(compute=)")]


@pytest.mark.parametrize("use", FITS.values(), ids=FITS)
def test_a_function_that_may_accept_it(use: str) -> None:
    assert told(use, ONE, TWO) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(TWO, TWO, id="before, too"),
        pytest.param(ONE, "compute(hidden=n)", id="by keyword"),
        pytest.param(ONE, "compute = n\ncompute(n, 1)", id="a name that is bound again"),
        pytest.param(ONE, "try:\n    compute(n, 1)\nexcept TypeError:\n    compute(n)", id="caught"),
        pytest.param(ONE, "if n:\n    compute(n, 1)\nelse:\n    compute(n)", id="in the old way, too"),
        pytest.param(ONE, "if mask is not None:\n    compute(n, mask)", id="only with another argument"),
        pytest.param(ONE, "if takes_two(compute):\n    compute(n, 1)", id="it is asked for its parameters"),
        pytest.param(ONE, "n.compute(n, 1)", id="a method of that name"),
    ],
)
def test_a_callee_that_calls_it_as_it_accepts(before: str, after: str) -> None:
    assert told(PASSES["a lambda"], before, after) == []


def test_a_condition_over_an_argument_that_the_call_gives() -> None:
    use = "self.draft(n, lambda hidden: hidden, mask=n)"
    assert told(use, ONE, "if mask is not None:\n    compute(n, mask)") == [("RS302", "draft(compute=)")]
