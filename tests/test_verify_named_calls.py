"""Calls that vLLM's executors make of a worker by the name of a method (RS305)."""

from __future__ import annotations

import pytest
from verify_samples import ascend, find, npu, world

UPSTREAM = ascend("def profile(self, start=True, *, delay=None, most=None): ...")
OWN = "def profile(self, start=True, *, delay=None):\n    return start"
ONE_BY_ONE = """\
kwargs: dict = {}
if most is not None:
    kwargs["most"] = most
self.collective_rpc("profile", args=(True,), kwargs=kwargs or None)
"""

TOLD = {
    "a dictionary": ('self.collective_rpc("profile", kwargs={"most": 1})', "profile(most=)"),
    "made by dict()": ('self.collective_rpc("profile", kwargs=dict(delay=1, most=1))', "profile(most=)"),
    "item by item": (ONE_BY_ONE, "profile(most=)"),
    "of another object": ('self.engine.collective_rpc("profile", kwargs={"most": 1})', "profile(most=)"),
}
LEFT = {
    "what the override takes": 'self.collective_rpc("profile", args=(True,), kwargs={"delay": 1})',
    "nothing is given": 'self.collective_rpc("profile")',
    "what the hidden method refuses, too": 'self.collective_rpc("profile", kwargs={"other": 1})',
    "another method": 'self.collective_rpc("sleep", kwargs={"most": 1})',
    "a name that is worked out": 'self.collective_rpc(most or "profile", kwargs={"most": 1})',
    "a dictionary that is handed on": 'self.collective_rpc("profile", kwargs=most)',
    "arguments that are handed on": 'self.collective_rpc("profile", args=most)',
    "another way to call": 'self.call_utility("profile", kwargs={"most": 1})',
}


def told(call: str, own: str = OWN) -> list[str]:
    body = "".join(f"        {line}\n" for line in call.splitlines())
    executor = f"class Executor:\n    def profile(self, most=None):\n{body}"
    trees = world(npu=npu(own), ascend=UPSTREAM, **{"vllm/v1/executor.py": executor})
    return [finding.symbol for finding in find(trees) if finding.code == "RS305"]


@pytest.mark.parametrize("name", TOLD)
def test_a_call_by_name_that_an_override_does_not_take(name: str) -> None:
    call, symbol = TOLD[name]
    assert told(call) == [symbol]


@pytest.mark.parametrize("name", LEFT)
def test_a_call_by_name_that_fits_or_cannot_be_told(name: str) -> None:
    assert told(LEFT[name]) == []


def test_a_call_by_name_with_too_many_values() -> None:
    own = "def profile(self, *, delay=None, most=None):\n    return 1"
    assert told('self.collective_rpc("profile", args=(True,))', own) == ["profile()"]
    assert (
        told('self.collective_rpc("profile", args=(True,))', "def profile(self, *args, **kwargs):\n    return 1") == []
    )
