"""Calls of methods under a local name, what ``partial`` begins, and classes under another name, in `verify`."""

from __future__ import annotations

from textwrap import dedent

import pytest
from verify_samples import TREES, find, npu, symbols, world

HEAD = "from functools import partial\nimport functools\n"

# `forward(padded, tokens)` and `initialize(config, pool=None)` are vllm-ascend's, `helper(a, b=1, *, key=None)` vLLM's.
FITTING = [
    pytest.param("run = partial(self.forward, 1)\nreturn run(2)", id="the partial gives one, the call the other"),
    pytest.param("run = functools.partial(self.forward, tokens=2)\nreturn run(1)", id="by keyword"),
    pytest.param("run = partial(self.forward, 1, tokens=2)\nreturn run(tokens=3)", id="the call's own keyword wins"),
    pytest.param("return partial(self.forward, 1)", id="who calls it gives the rest"),
    pytest.param("run = self.forward\nreturn run(1, 2)", id="another name for the method"),
    pytest.param("run = self.forward\nrun = len\nreturn run(1)", id="a name with two meanings"),
    pytest.param("run = self.forward\ndef inner(run): return run(1)\nreturn inner", id="a parameter of that name"),
    pytest.param("for run in (self.forward,): run(1)", id="a name that a loop gives"),
    pytest.param("run = partial(self.forward, *self.config)\nreturn run()", id="anything may be in the star"),
    pytest.param("run = partial(run, 1)\nreturn run(2)", id="a name of itself"),
    pytest.param("one = partial(two, 1)\ntwo = partial(one, 2)\nreturn one(3)", id="names of each other"),
    pytest.param("try:\n    run = self.forward\n    run(1)\nexcept TypeError: pass", id="it may fail"),
]

BREAKING = [
    pytest.param("run = partial(self.forward, 1)\nreturn run()", ("RS302", "forward(tokens)"), id="one too few"),
    pytest.param("run = partial(self.forward, 1)\nreturn run(2, 3)", ("RS302", "forward()"), id="one too many"),
    pytest.param(
        "return partial(self.initialize, warm=1)", ("RS306", "initialize(warm=)"), id="a keyword to begin with"
    ),
    pytest.param("return partial(helper, 1, 2, 3)", ("RS302", "helper()"), id="too many to begin with"),
    pytest.param("run = partial(helper, 1)\nrun(gone=2)", ("RS306", "helper(gone=)"), id="the call's keyword"),
    pytest.param("run = self.forward\nreturn run(1)", ("RS302", "forward(tokens)"), id="another name for the method"),
    pytest.param("run = self.prepare\na, b = run(1)\nreturn a, b", ("RS303", "prepare"), id="what it hands back"),
]


@pytest.mark.parametrize("body", FITTING)
def test_calls_that_fit_under_another_name(body: str) -> None:
    assert symbols(find(world(npu=_method(body)))) == []


@pytest.mark.parametrize(("body", "expected"), BREAKING)
def test_calls_that_do_not_fit_under_another_name(body: str, expected: tuple[str, str]) -> None:
    assert symbols(find(world(npu=_method(body)))) == [expected]


def test_a_keyword_that_an_open_partial_may_still_get_is_not_missing() -> None:
    """`target` is new and required: whoever calls the partial can give it."""
    text = _method("return partial(self.forward, padded=2)")
    forward = "def forward(self, padded, tokens"
    new = world(npu=text, ascend=TREES["vllm_ascend/runner.py"].replace(forward, f"{forward}, *, target"))
    assert symbols(find(new, world(npu=text))) == []


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("run = partial(self.forward, 1)\n        run(2, warm=3)", [("RS305", "forward(warm=)")]),
        ("start(partial(self.forward, warm=3))", [("RS305", "forward(warm=)")]),
        ("run = self.forward\n        run(1, 2, warm=3)", [("RS305", "forward(warm=)")]),
        ("run = partial(self.forward, 1)\n        run(2)", []),
        ("run = partial(self.forward, 1)\n        run = other\n        run(2, warm=3)", []),
    ],
)
def test_upstream_calls_an_override_under_another_name(call: str, expected: list[tuple[str, str]]) -> None:
    ascend = f"""\
from functools import partial
from vllm.runner import GPUModelRunner

class NPUModelRunner(GPUModelRunner):
    def capture(self):
        {call}
    def forward(self, padded, tokens, warm=None):
        return tokens
"""
    override = npu("def forward(self, padded, tokens):\n    return tokens")
    assert symbols(find(world(npu=override, ascend=ascend))) == expected


def test_a_partial_shifts_what_its_call_gives() -> None:
    """The value for `tokens` lands on `scale`: the first parameter is the partial's."""
    text = _method("run = partial(self.forward, 1)\nreturn run(2)")
    forward = "def forward(self, padded, tokens):"
    ascend = TREES["vllm_ascend/runner.py"]
    moved = world(npu=text, ascend=ascend.replace(forward, "def forward(self, padded, scale, tokens=0):"))
    behind = world(npu=text, ascend=ascend.replace(forward, "def forward(self, padded, tokens, scale=0):"))
    assert symbols(find(moved, world(npu=text))) == [("RS307", "forward")]
    assert symbols(find(behind, world(npu=text))) == []


def _method(body: str) -> str:
    return npu("def step(self):\n    " + body.replace("\n", "\n    "), head=HEAD)


@pytest.mark.parametrize("alias", ["Shape = Shape | None", "Shape = Form\nForm = Shape"], ids=["itself", "a circle"])
def test_a_name_that_stands_for_itself_is_unknown_and_the_rest_is_read(alias: str) -> None:
    uses = npu(
        "def run(self, shape: Shape):\n    shape.width()\n    return self.batch.gone_row",
        head="from vllm.runner import Shape",
    )
    vllm = f"{dedent(TREES['vllm/runner.py'])}\n{alias}\n"
    assert symbols(find(world(npu=uses, vllm=vllm))) == [("RS308", "Batch.gone_row")]


@pytest.mark.parametrize(
    "alias",
    [
        "Base = NPUModelRunner",
        "Base: type = NPUModelRunner",
        "Base = NPUModelRunner if FLAG else OmniGPUModelRunner",
        "import vllm_ascend.runner as home\nhere = home\nBase = here.NPUModelRunner",
    ],
)
def test_a_base_under_another_name_hides_no_missing_attribute(alias: str) -> None:
    text = npu("def step(self):\n    return self.sp, self.gone", head=alias, bases="OmniGPUModelRunner, Base")
    assert ("RS304", "gone") in symbols(find(world(npu=text)))
    direct = npu("def step(self):\n    return self.sp, self.gone")
    assert symbols(find(world(npu=direct))) == [("RS304", "gone")]
