"""An override of another kind than what it hides, where inherited code or the worker uses it as that (RS314)."""

from __future__ import annotations

import pytest
from verify_samples import NPU, find, npu, symbols, world

ASCEND = """\
import contextlib
from vllm.runner import GPUModelRunner

class NPUModelRunner(GPUModelRunner):
    {member}
    {use}
"""
METHOD = "def size(self):\n    return 1"
PROPERTY = "@property\ndef size(self):\n    return 1"
HOOK = "@property\ndef size(self):\n    return self.config.hook"
MANAGER = "@contextlib.contextmanager\ndef size(self):\n    yield 1"
COROUTINE = "async def size(self):\n    return 1"
HANDED_ON = "def size(self):\n    return super().size()"

READ = "def go(self):\n    return self.size + 1"
CALL = "def go(self):\n    return self.size()"
ENTER = "def go(self):\n    with self.size():\n        return 1"
AWAIT = "async def go(self):\n    return await self.size()"
PASS = "def go(self):\n    return [self.size]"

WRONG = {
    "a method that is read": (METHOD, PROPERTY, READ),
    "a property that is called": (PROPERTY, METHOD, CALL),
    "a value that is entered": (METHOD, MANAGER, ENTER),
    "a value that is awaited": (METHOD, COROUTINE, AWAIT),
    "a method that is handed on as a value": (METHOD, PROPERTY, PASS),
}
RIGHT = {
    "of one kind": (METHOD, METHOD, CALL),
    "a property of both": (PROPERTY, PROPERTY, READ),
    "nobody reads it": (METHOD, PROPERTY, "def go(self):\n    return 1"),
    "what may hand out something to call": (HOOK, METHOD, CALL),
    "what may be something to call": (METHOD, HOOK, PASS),
    "what the parent's enters": (HANDED_ON, MANAGER, ENTER),
    "what the parent's awaits": (HANDED_ON, COROUTINE, AWAIT),
    "asked for its kind": (
        METHOD,
        PROPERTY,
        "def go(self):\n    return self.size() if callable(self.size) else self.size",
    ),
    "caught": (
        METHOD,
        PROPERTY,
        "def go(self):\n    try:\n        return self.size + 1\n    except TypeError:\n        pass",
    ),
    "made out of sight": (METHOD, "@magic\ndef size(self):\n    return 1", READ),
    "read by what the runner overrides as well": (METHOD + "\ndef go(self):\n    return 2", PROPERTY, READ),
}


def ascend(member: str, use: str) -> str:
    return ASCEND.format(member=member.replace("\n", "\n    "), use=use.replace("\n", "\n    "))


@pytest.mark.parametrize("name", WRONG)
def test_an_override_that_inherited_code_uses_as_something_else(name: str) -> None:
    own, member, use = WRONG[name]
    assert symbols(find(world(npu=npu(own), ascend=ascend(member, use)))) == [("RS314", "size")]


@pytest.mark.parametrize("name", RIGHT)
def test_an_override_that_fits_what_inherited_code_does(name: str) -> None:
    own, member, use = RIGHT[name]
    assert not find(world(npu=npu(own), ascend=ascend(member, use)))


def test_upstream_means_its_own_and_not_what_omni_puts_between() -> None:
    gpu = (
        "from vllm.runner import GPUModelRunner\n"
        "class OmniGPUModelRunner(GPUModelRunner):\n    def size(self):\n        return 2\n"
    )
    assert symbols(find(world(npu=npu(METHOD), gpu=gpu, ascend=ascend(PROPERTY, READ)))) == [("RS314", "size")]


def test_a_worker_reads_what_its_runner_has() -> None:
    worker = "class NPUWorker:\n    def go(self):\n        return self.model_runner.size + 1\n"
    holder = (
        "from vllm_ascend.worker import NPUWorker\nfrom vllm_omni.npu import R\n"
        "class W(NPUWorker):\n    def init_device(self):\n        self.model_runner = R(1)\n"
    )
    own, paths = npu(METHOD), [NPU, "vllm_omni/worker.py"]
    for member, expected in ((PROPERTY, [("RS314", "size")]), (METHOD, [])):
        trees = world(npu=own, ascend=ascend(member, "x = 1"), ascend_worker=worker, **{"vllm_omni/worker.py": holder})
        assert symbols(find(trees, None, paths)) == expected
