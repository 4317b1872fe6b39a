"""Attributes that omni itself lacks (RS304): whatever the older pair was, and where only a GPU runner has them."""

from __future__ import annotations

import textwrap

import pytest
from verify_samples import NPU, PROFILE, find, npu, symbols, world

from runner_sync.verify import breakage
from runner_sync.verify.world import World

GETATTR = "def __getattr__(self, name):\n    return 1\n"
ASCEND = """\
from vllm.runner import GPUModelRunner

class NPUModelRunner(GPUModelRunner):
    def start(self):
        self.size = 1
"""


def with_older_upstreams(new: World, **changed: str) -> World:
    """The same omni tree with other upstreams."""
    older = world(**changed).trees | {"vllm-omni": new.trees["vllm-omni"]}
    return World(older, surroundings=PROFILE.surroundings)


@pytest.mark.parametrize("body", ["self.hok()", "return self.hok", "return super().hook() or self.hok"])
def test_a_misspelt_name_is_told_though_the_older_pair_lacks_it_too(body: str) -> None:
    new = world(npu=npu(f"def hook(self):\n    {body}"))
    assert symbols(find(new, with_older_upstreams(new))) == [("RS304", "hok")]


def test_what_the_shared_gpu_runner_has_under_another_name_now() -> None:
    new = world(
        npu=npu("def m(self):\n    return self.hook()"),
        gpu="from vllm.runner import GPUModelRunner\nclass OmniGPUModelRunner(GPUModelRunner):\n    def hooks(self): ...\n",
    )
    assert symbols(find(new, with_older_upstreams(new))) == [("RS304", "hook")]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param('def m(self):\n    return self.hok if hasattr(self, "hok") else 1', id="asked for"),
        pytest.param("def m(self):\n    try:\n        self.hok()\n    except AttributeError:\n        pass", id="caught"),
        pytest.param(f"{GETATTR}def m(self):\n    return self.hok", id="made up when it is asked for"),
        pytest.param("def m(self, name):\n    setattr(self, name, 1)\n    return self.hok", id="set by name"),
        pytest.param("flag = False\ndef m(self):\n    if self.flag:\n        self.hok()", id="never run today"),
    ],
)
def test_what_may_be_there_is_no_new_break(body: str) -> None:
    new = world(npu=npu(body))
    assert find(new, with_older_upstreams(new)) == []


def test_what_upstream_never_had_is_no_break_of_a_branch() -> None:
    new = world(npu=npu("def m(self):\n    return self.hok"))
    before = new.with_omni(world(npu=npu("def m(self):\n    return self.hok")).trees["vllm-omni"])
    assert find(new, before) == []


def test_another_rule_still_goes_by_the_older_pair() -> None:
    new = world(npu=npu("def m(self):\n    return helper(1, 2, 3), self.hok"))
    assert symbols(find(new, with_older_upstreams(new))) == [("RS304", "hok")]
    assert symbols(find(new)) == [("RS302", "helper()"), ("RS304", "hok")]
