"""How many values come out of a call: at each turn of a loop, to ``with``, and one by one."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

GENERATORS = """\
import contextlib
from vllm.runner import GPUModelRunner

class NPUModelRunner(GPUModelRunner):
    def rows(self):
        for row in range(3):
            yield row, {values}
    @contextlib.contextmanager
    def lock(self):
        yield 1, {values}
    def maybe(self, given):
        if given:
            yield 1, {values}
        else:
            yield given
    def wrapped(self):
        def inner():
            yield 1, {values}
        return inner()
    def pair(self):
        return 1, {values}
    def either(self, given):
        return (1, 2, 3, 4) if given else (1, {values})
"""


def generators(values: str) -> str:
    return GENERATORS.format(values=values)


TURNS = {
    "a loop": ("for a, b in self.rows():\n    print(a)", "rows"),
    "a comprehension": ("x = [a for a, b in self.rows()]", "rows"),
    "a context manager": ("with self.lock() as (a, b):\n    print(a)", "lock"),
    "an item": ("x = self.pair()[1]", "pair"),
    "an item of a local": ("x = self.pair()\ny = x[1]", "pair"),
    "an item from behind": ("x = self.pair()[-2]", "pair"),
}
FITTING = {
    "one name for all": "for a in self.rows():\n    print(a)",
    "a star": "for a, *b in self.rows():\n    print(a)",
    "a generator that yields other things, too": "for a, b in self.maybe(1):\n    print(a)",
    "a generator of a function in it": "for a, b in self.wrapped():\n    print(a)",
    "an item that some of the tuples have": "x = self.either(1)[3]",
    "an item that is there": "x = self.pair()[0]",
    "counted": "x = self.pair()\ny = x[1] if len(x) > 1 else None",
    "of two calls": "x = self.either(1)\nif x:\n    x = self.pair()\ny = x[1]",
    "caught": "try:\n    x = self.pair()[1]\nexcept Exception:\n    pass",
    "a key": "x = self.pair()[self.state]",
}


def method(body: str) -> str:
    return npu("def m(self):\n    " + body.replace("\n", "\n    "))


@pytest.mark.parametrize("name", TURNS)
def test_another_number_of_values_at_each_turn(name: str) -> None:
    body, symbol = TURNS[name]
    text, is_item = method(body), "[" in body and "for" not in body
    more, fewer = generators("2, 3"), generators("*()").replace("1, *()", "1,").replace("row, *()", "row,")
    wrong = fewer if is_item else more
    assert symbols(find(world(npu=text, ascend=wrong))) == [("RS303", symbol)]
    assert not find(world(npu=text, ascend=generators("2")))


@pytest.mark.parametrize("name", FITTING)
def test_values_that_may_be_as_many_as_are_taken(name: str) -> None:
    text = method(FITTING[name])
    for values in ("2, 3", "*()"):
        ascend = generators(values).replace("1, *()", "1,").replace("row, *()", "row,")
        assert not find(world(npu=text, ascend=ascend)), values
