"""An override that never returns a value, where inherited code or the worker uses the hidden method's (RS311)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

OWN = "def capture(self):\n    self.sp = False"
BYTES = "def capture(self):\n    return self.batch.rows"
DROPS = "def capture(self):\n    super().capture()"
BY_NAME = "def capture(self):\n    NPUModelRunner.capture(self)"
SUM = "n = self.capture()\nreturn n + 1"

# What omni's override says, the method of vllm-ascend that it hides, and how vllm-ascend uses it.
LOST = {
    "an operand": (OWN, BYTES, SUM),
    "an argument": (OWN, BYTES, "print(self.capture())"),
    "a condition": (OWN, BYTES, "if self.capture():\n    return 1"),
    "taken apart": (OWN, BYTES, "a, b = self.capture()"),
    "an item is set to it": (OWN, BYTES, "self.batch.rows[0] = self.capture()"),
    "an annotation says so": (OWN.replace("self)", "self) -> None"), BYTES, SUM),
    "it leaves early": ("def capture(self):\n    if self.sp:\n        return\n    self.sp = 1", BYTES, SUM),
    "the value is dropped on the way, and handed on": (DROPS, BYTES, "return self.capture()"),
    "the value is dropped on the way, and kept": (DROPS, BYTES, "self.sp = self.capture()"),
    "the value is dropped on the way": (DROPS, BYTES, SUM),
    "the value of a base by its name is dropped": (BY_NAME, BYTES, "self.sp = self.capture()"),
}

KEPT = {
    "it returns the value": ("def capture(self):\n    return super().capture()", BYTES, SUM),
    "it returns it sometimes": ("def capture(self):\n    if self.sp:\n        return 1", BYTES, SUM),
    "it returns `None` in words": (OWN + "\n    return None", BYTES, SUM),
    "it promises a value": (OWN.replace("self)", "self) -> int"), BYTES, SUM),
    "an empty body": ("def capture(self): ...", BYTES, SUM),
    "it only raises": ("def capture(self):\n    raise NotImplementedError", BYTES, SUM),
    "a generator": ("def capture(self):\n    yield 1", BYTES, SUM),
    "a decorator may add it": ("@counted\n" + OWN, BYTES, SUM),
    "the hidden method returns it sometimes": (OWN, "def capture(self):\n    if self.sp:\n        return 1", SUM),
    "the hidden method has none": (OWN, "def capture(self):\n    self.sp = 1", SUM),
    "it is dropped, and nobody uses it": (DROPS, BYTES, "self.capture()"),
    "another method's is dropped": ("def capture(self):\n    super().start()", BYTES, "return self.capture()"),
    "another object's is dropped": (
        "def capture(self):\n    NPUModelRunner.capture(self.batch)",
        BYTES,
        "return self.capture()",
    ),
    "that of a class that is no base is dropped": (
        "def capture(self):\n    Batch.capture(self)",
        BYTES,
        "return self.capture()",
    ),
    "what it drops is read first": (
        "def capture(self):\n    self.sp = super().capture()",
        BYTES,
        "return self.capture()",
    ),
    "nobody uses it": (OWN, BYTES, "self.capture()"),
    "it is handed on": (OWN, BYTES, "return self.capture()"),
    "it is kept": (OWN, BYTES, "self.sp = self.capture()"),
    "another object's": (OWN, BYTES, "return self.batch.capture() + 1"),
    "nothing is hidden": (OWN, "def other(self):\n    return 1", SUM),
}


FAR = {"vllm/far.py": "class Batch:\n    def capture(self): ..."}


def ascend(member: str, use: str) -> str:
    body = f"def start(self):\n    {use.replace(chr(10), chr(10) + '    ')}\n{member}"
    return (
        "from vllm.runner import GPUModelRunner\nclass NPUModelRunner(GPUModelRunner):\n    "
        "def __init__(self, config):\n        super().__init__(config)\n        self.sp = True\n    "
        + body.replace("\n", "\n    ")
    )


@pytest.mark.parametrize("name", LOST)
def test_an_override_that_keeps_back_what_inherited_code_uses(name: str) -> None:
    own, member, use = LOST[name]
    assert symbols(find(world(npu=npu(own), ascend=ascend(member, use)))) == [("RS311", "capture")]


@pytest.mark.parametrize("name", KEPT)
def test_an_override_that_keeps_nothing_back(name: str) -> None:
    own, member, use = KEPT[name]
    assert not find(world(npu=npu(own, head="from vllm.far import Batch\n"), ascend=ascend(member, use), **FAR))


def test_the_message_names_who_uses_the_value_and_who_returned_it() -> None:
    (found,) = find(world(npu=npu(OWN), ascend=ascend(BYTES, SUM)))
    assert "vllm_ascend/runner.py:7 uses" in found.message
    assert "vllm_ascend/runner.py:9" in found.message
    assert found.path == "vllm_omni/npu.py"


def test_upstream_never_saw_what_omni_puts_between() -> None:
    """vLLM's own method returns nothing: only omni's GPU runner does, which vllm-ascend does not know."""
    gpu = (
        "from vllm.runner import GPUModelRunner\n"
        "class OmniGPUModelRunner(GPUModelRunner):\n    def capture(self):\n        return 2\n"
    )
    nothing = "def capture(self):\n    self.sp = 1"
    assert not find(world(npu=npu(OWN), gpu=gpu, ascend=ascend(nothing, SUM)))


def test_a_worker_uses_what_its_runner_returned() -> None:
    worker = (
        "class NPUWorker:\n    def go(self):\n        size = self.model_runner.capture()\n        return size + 1\n"
    )
    holder = (
        "from vllm_ascend.worker import NPUWorker\nfrom vllm_omni.npu import R\n"
        "class W(NPUWorker):\n    def init_device(self):\n        self.model_runner = R(1)\n"
    )
    paths = ["vllm_omni/npu.py", "vllm_omni/worker.py"]
    for member, expected in ((BYTES, [("RS311", "capture")]), (OWN, [])):
        trees = world(
            npu=npu(OWN), ascend=ascend(member, "pass"), ascend_worker=worker, **{"vllm_omni/worker.py": holder}
        )
        assert symbols(find(trees, None, paths)) == expected
