"""What stands in containers, by their annotations."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

ROWS = """\
from typing import Optional
from vllm.runner import GPUModelRunner

class Row:
    def __init__(self):
        {field} = 1
    def put(self, {parameter}):
        return None

class Held:
    rows: "Optional[dict[str, Row]]"
    pairs: list[tuple[int, Row]]

class NPUModelRunner(GPUModelRunner):
    def __init__(self, config, held: Held):
        self.by_name: dict[str, Row] = {{}}
        self.rows: list[Row] = []
        self.nested: dict[str, list[Row]] = {{}}
        self.maybe: list[Row] | None = None
        self.either: list[Row] | dict[str, Row] = []
        self.plain = [Row()]
        self.held = held
    def all(self) -> list[Row]:
        return self.rows
"""


def rows(field: str = "self.size", parameter: str = "value") -> str:
    return ROWS.format(field=field, parameter=parameter)


TAKEN = {
    "an item of a dictionary": "self.by_name[key].size",
    "an item by a local": "(row := self.by_name[key]) and row.size",
    "what get hands out": "self.by_name.get(key).size",
    "what get hands out, or None": "self.by_name.get(key, None).size",
    "what pop hands out": "self.rows.pop().size",
    "an item of a list": "self.rows[0].size",
    "an item of a slice": "self.rows[1:][0].size",
    "an item of an item": "self.nested[key][0].size",
    "a list that may be missing": "self.maybe[0].size",
    "what a method hands out": "self.all()[0].size",
    "a field of another object": "self.held.rows[key].size",
    "a comprehension": "[row.size for row in self.rows]",
    "the values of a dictionary": "[row.size for row in self.by_name.values()]",
    "the items of a dictionary": "[row.size for name, row in self.by_name.items()]",
    "numbered": "[row.size for number, row in enumerate(self.rows)]",
    "side by side": "[row.size for name, row in zip(key, self.rows)]",
    "in reverse": "[row.size for row in reversed(self.rows)]",
    "pairs": "[row.size for number, row in self.held.pairs]",
}
UNKNOWN = {
    "a list of which nobody says what is in it": "self.plain[0].size",
    "one of two kinds of containers": "self.either[0].size",
    "a slice": "self.rows[1:].size",
    "the name of a row": "[name.size for name, row in self.by_name.items()]",
    "the key of a row": "[name.size for name in self.by_name]",
    "the number of a row": "[number.size for number, row in enumerate(self.rows)]",
    "what get has of its own": "self.by_name.get(key, self).size",
    "another enumerate": "[row.size for number, row in self.enumerate(self.rows)]",
    "a parameter of that name": "[row.size for row in self.rows for row in key]",
    "asked for": "self.rows[0].size if hasattr(self.rows[0], 'size') else 0",
}


def runner(expression: str) -> str:
    return npu(f"def m(self, key):\n    return {expression}")


@pytest.mark.parametrize("name", TAKEN)
def test_what_stands_in_a_container_has_lost_a_field(name: str) -> None:
    text = runner(TAKEN[name])
    old = world(npu=text, ascend=rows())
    assert symbols(find(world(npu=text, ascend=rows("self.length")), old)) == [("RS308", "Row.size")]
    assert not find(old)


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_nobody_says_to_stand_in_a_container(name: str) -> None:
    text = runner(UNKNOWN[name])
    assert not find(world(npu=text, ascend=rows("self.length")), world(npu=text, ascend=rows()))


LOOPS = {
    "a loop": "for row in self.rows:\n        row.put(1)",
    "a loop over items": "for name, row in self.by_name.items():\n        row.put(1)",
    "a loop over what a local holds": "rows = self.rows\n    for row in rows:\n        row.put(1)",
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_method_of_what_a_loop_goes_through(name: str) -> None:
    text = npu(f"def m(self):\n    {LOOPS[name]}")
    assert symbols(find(world(npu=text, ascend=rows(parameter="value, at")))) == [("RS302", "put(at)")]
    assert not find(world(npu=text, ascend=rows()))


KEPT = """\
from contextlib import contextmanager
from typing import Generator, Iterator

class Row:
    def __init__(self):
        self.size = 1

class Rows:
    def __getitem__(self, key) -> Row:
        return self.rows[key]

class GPUModelRunner:
    def __init__(self, config):
        self.config = config
        self.rows = Rows()
    def take(self) -> tuple[Row, int]:
        return self.config
    def one(self) -> Row:
        return self.config
    @contextmanager
    def entered(self) -> Generator[Row | None, None, None]:
        yield self.config
    @contextmanager
    def opened(self) -> Iterator[Row]:
        yield self.config
    @contextmanager
    def silent(self):
        yield self.config
"""
OVER = """\
from vllm.runner import GPUModelRunner
class NPUModelRunner(GPUModelRunner):
    def take(self):
        return super().take()
    def one(self):
        return self.config.one
"""
HANDED_OUT = {
    "by its own __getitem__": ("row = self.rows[1]\nreturn row.size", True),
    "by what an override's base says": ("row, n = self.take()\nreturn row.size", True),
    "by what the base of an override says of one value": ("return self.one().size", True),
    "by what a generator says that with enters": ("with self.entered() as row:\n    return row.size", True),
    "by an iterator that with enters": ("with self.opened() as row:\n    return row.size", True),
    "a slice": ("return self.rows[1:].size", False),
    "a part without a class": ("row, n = self.take()\nreturn n.size", False),
    "a generator that says nothing": ("with self.silent() as row:\n    return row.size", False),
    "what else with enters": ("with self.entered(), open(self) as row:\n    return row.size", False),
    "set elsewhere as well": ("with self.entered() as row:\n    row = row or self.x()\n    return row.size", False),
}


@pytest.mark.parametrize("name", HANDED_OUT)
def test_what_a_row_is_that_comes_by_key_by_override_or_by_with(name: str) -> None:
    body, is_told = HANDED_OUT[name]
    head = "def x(self): ...\ndef m(self):\n    "
    text = npu(head + body.replace("\n", "\n    ")).replace("from vllm.runner import helper\n", "")
    old = world(npu=text, vllm=KEPT, ascend=OVER)
    new = world(npu=text, vllm=KEPT.replace("self.size", "self.length"), ascend=OVER)
    assert symbols(find(new, old)) == ([("RS308", "Row.size")] if is_told else [])
