"""Calls that functions make of the runner or worker that a method hands them (RS305)."""

from __future__ import annotations

import pytest
from verify_samples import NPU, ascend, find, npu, world

WORKER = """\
from vllm.warm import warm_up

class NPUWorker:
    def __init__(self):
        self.model_runner: Unknown | None = None
        self.spare = None
    def start(self):
        {start}
"""
HOLDER = """\
from vllm_ascend.worker import NPUWorker
from vllm_omni.npu import R

class W(NPUWorker):
    def init_device(self):
        self.model_runner = R(1)
{more}
"""
WARM = "def warm_up(worker, *, runner=None):\n    worker.model_runner.forward(1, tokens=2)\n"
TUNED = """\
from vllm.tune import tune

def warm_up(worker):
    tune(runner=worker.model_runner)
"""
TUNE = """\
def tune(runner):
    options = dict(padded=1, tokens=2)
    if runner:
        runner.forward(**options)
"""
GIVEN = "def warm_up(runner):\n    runner.forward(1, tokens=2)\n"


def told(
    warm: str, *, start: str = "warm_up(self)", more: str = "", tune: str = TUNE, own: str = "def forward(self, padded)"
) -> list[tuple[str, str]]:
    trees = world(
        npu=npu(f"{own}:\n    return padded"),
        ascend_worker=WORKER.format(start=start),
        **{"vllm_omni/worker.py": HOLDER.format(more=more), "vllm/warm.py": warm, "vllm/tune.py": tune},
    )
    found = find(trees, None, [NPU, "vllm_omni/worker.py"])
    return [(f.symbol, f.message.split(", but ")[1].split(" calls")[0]) for f in found if f.code == "RS305"]


@pytest.mark.parametrize(
    ("warm", "start", "place"),
    [
        pytest.param(WARM, "warm_up(self)", "vllm/warm.py:2", id="through the worker"),
        pytest.param(TUNED, "warm_up(self)", "vllm/tune.py:4", id="from function to function"),
        pytest.param(GIVEN, "warm_up(self.model_runner)", "vllm/warm.py:2", id="the runner itself"),
        pytest.param(GIVEN, "warm_up(runner=self.model_runner)", "vllm/warm.py:2", id="by keyword"),
    ],
)
def test_a_function_that_is_given_the_runner_calls_it_as_the_override_refuses(
    warm: str, start: str, place: str
) -> None:
    assert told(warm, start=start) == [("forward(tokens=)", place)]


@pytest.mark.parametrize(
    ("warm", "change"),
    [
        pytest.param(WARM, {"start": "pass"}, id="nobody calls the function"),
        pytest.param(WARM, {"more": "    def start(self):\n        pass\n"}, id="what calls it is hidden"),
        pytest.param(WARM, {"own": "def forward(self, padded, tokens=None)"}, id="the override takes it"),
        pytest.param(WARM.replace("model_runner", "spare"), {}, id="another object"),
        pytest.param(GIVEN, {"start": "warm_up(self.spare)"}, id="given another object"),
        pytest.param(f"{GIVEN}    runner = None\n", {"start": "warm_up(self.model_runner)"}, id="a name set again"),
        pytest.param(TUNED, {"tune": TUNE.replace("tokens=2", "other=2")}, id="what the hidden method refuses, too"),
        pytest.param(TUNED, {"tune": TUNE.replace("dict(padded=1, tokens=2)", "made()")}, id="options made elsewhere"),
    ],
)
def test_a_function_that_calls_no_such_thing(warm: str, change: dict[str, str]) -> None:
    assert told(warm, **change) == []


def test_a_method_that_passes_a_dictionary_made_for_the_call() -> None:
    step = "def step(self):\n    options = {'tokens': 2}\n    return self.forward(1, **options)"
    upstream = ascend(f"{step}\ndef forward(self, padded, tokens=None):\n    return padded")
    found = find(world(npu=npu("def forward(self, padded):\n    return padded"), ascend=upstream))
    assert [f.symbol for f in found if f.code == "RS305"] == ["forward(tokens=)"]
