"""A method that is bound in another way than before, called through the class, `self` or `super()` (RS302, RS307)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

ASCEND = "from vllm.runner import GPUModelRunner, State\nclass NPUModelRunner(GPUModelRunner):\n    {}\n"
PLAIN = "def step(self, rows): ..."
STATIC = "@staticmethod\n    def step(rows): ..."
OF_CLASS = "@classmethod\n    def step(cls, rows): ..."
STATIC_WITH_SELF = "@staticmethod\n    def step(self, rows): ..."
LONG = "def step(self, rows, n=1): ..."
STATIC_LONG = "@staticmethod\n    def step(rows, n=1): ..."

BY_CLASS = "def m(self):\n    return NPUModelRunner.step(1)"
WITH_SELF = "def m(self):\n    return NPUModelRunner.step(self, 1)"
BY_SELF = "def m(self):\n    return self.step(1)"

WRONG = {
    "a static method needs an object": (STATIC, PLAIN, BY_CLASS, "RS302"),
    "a method of the class does": (OF_CLASS, PLAIN, BY_CLASS, "RS302"),
    "a method takes no object any more": (PLAIN, STATIC, WITH_SELF, "RS302"),
    "a method takes the class": (PLAIN, OF_CLASS, WITH_SELF, "RS302"),
    "self is no longer passed": (PLAIN, STATIC_WITH_SELF, BY_SELF, "RS302"),
    "nor by super": (PLAIN, STATIC_WITH_SELF, "def m(self):\n    return super().step(1)", "RS302"),
    "the object is taken for a value": (LONG, STATIC_LONG, WITH_SELF, "RS307"),
    "a value is taken for the object": (
        STATIC_LONG,
        LONG,
        "def m(self):\n    return NPUModelRunner.step(1, 2)",
        "RS307",
    ),
}
RIGHT = {
    "a static method that needs an object": (STATIC, PLAIN, BY_SELF),
    "a method that needs none": (PLAIN, STATIC, BY_SELF),
    "a static method that takes the class": (STATIC, OF_CLASS, BY_CLASS),
}


def told(before: str, after: str, body: str) -> list[str]:
    old, new = (world(npu=npu(body), ascend=ASCEND.format(member)) for member in (before, after))
    assert find(old) == []
    return [code for code, _ in symbols(find(new, old))]


@pytest.mark.parametrize("name", WRONG)
def test_a_call_that_binds_in_another_way(name: str) -> None:
    *given, code = WRONG[name]
    assert told(*given) == [code]


@pytest.mark.parametrize("name", RIGHT)
def test_a_call_that_binds_as_before(name: str) -> None:
    assert told(*RIGHT[name]) == []
