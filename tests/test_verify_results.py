"""Values that a call hands back and nobody takes (RS311), and values that are used and never come."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

# What omni's own method says, written before the target's returned anything, and how the NPU runner uses it.
OWN = "from vllm.runner import GPUModelRunner\nclass OmniGPUModelRunner(GPUModelRunner):\n{own}\n"
NOTHING = (
    "    def step(self):\n        self.done = True\n        if self.config:\n            return\n        self.done = 2"
)

USES = {
    "called": "run = self.step()\nself.config = 1\nrun()",
    "tested and called": "run = self.step()\nif run is not None:\n    run()",
    "tested as part of a condition": "run = self.step()\nif self.config and not run:\n    return 1",
    "looked into": "run = self.step()\nreturn run.rows",
    "taken apart": "a, b = self.step()\nreturn a, b",
    "gone through": "return [row for row in self.step()]",
    "tested on the spot": "while self.step():\n    pass",
    "empty before": "run = None\nif self.config:\n    run = self.step()\nif run:\n    run()",
    "asked of the parent": "run = super().step()\nrun()",
}
NO_USES = {
    "a statement of its own": "self.step()",
    "handed on": "return self.step()",
    "kept": "self.config = self.step()",
    "only named": "run = self.step()\nreturn run",
    "something else as well": "run = self.step()\nif self.config:\n    run = self.config\nreturn run()",
    "a parameter of that name": "def inner(run):\n    return run()\nrun = self.step()\nreturn inner",
    "of another object": "run = self.config.step()\nrun()",
}
RETURNS = {
    "a value": "    def step(self):\n        self.done = 1\n        return self.finish",
    "a value sometimes": "    def step(self):\n        if self.config:\n            return self.finish",
    "an empty hook": '    def step(self):\n        """For a subclass."""',
    "a hook that is refused": "    def step(self):\n        raise NotImplementedError",
    "a written None": "    def step(self):\n        self.done = 1\n        return None",
    "another annotation": "    def step(self) -> Finish:\n        self.done = 1",
    "a generator": "    def step(self):\n        yield 1",
    "a coroutine": "    async def step(self):\n        self.done = 1",
    "a property": "    @property\n    def step(self):\n        self.done = 1",
    "an unknown decorator": "    @cached\n    def step(self):\n        self.done = 1",
    "an assigned callable": NOTHING + "\n    def late(self, f):\n        self.step = f",
}


def trees(*, use: str, own: str = NOTHING, body: str = "") -> list[tuple[str, str]]:
    method = "def run(self):\n    " + use.replace("\n", "\n    ")
    return symbols(find(world(npu=npu(f"{method}\n{body}"), gpu=OWN.format(own=own))))


@pytest.mark.parametrize("name", USES)
def test_a_value_that_never_comes(name: str) -> None:
    assert trees(use=USES[name]) == [("RS311", "step")]


@pytest.mark.parametrize("name", NO_USES)
def test_a_value_that_nobody_looks_into(name: str) -> None:
    assert trees(use=NO_USES[name]) == []


@pytest.mark.parametrize("name", RETURNS)
def test_a_method_that_may_return_one(name: str) -> None:
    assert trees(use="run = self.step()\nrun()", own=RETURNS[name] + "\n    finish = other = 1") == []


def test_the_override_that_the_mro_reaches_first_is_asked() -> None:
    returns = "def step(self):\n    return self.config"
    assert trees(use=USES["called"], body=returns) == []
    assert trees(
        use=USES["called"], own="    def step(self):\n        return 1", body="def step(self):\n    self.n = 1"
    ) == [("RS311", "step")]


def test_a_value_that_did_not_come_before_either_is_not_new() -> None:
    trees_of = world(npu=npu("def run(self):\n    run = self.step()\n    run()"), gpu=OWN.format(own=NOTHING))
    assert symbols(find(trees_of)) == [("RS311", "step")]
    assert find(trees_of, trees_of) == []
