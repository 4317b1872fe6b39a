"""Results that are another thing since the old trees: an object in place of values, values from `with`, `None` among
the values (RS303, RS311)."""

from __future__ import annotations

import textwrap

import pytest
from verify_samples import find, npu, symbols, world

ASCEND = """\
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Generator, Iterator, NamedTuple
from vllm.runner import Buffer, GPUModelRunner

@dataclass
class Plan:
    rows: object
    padded: object

class Pair(NamedTuple):
    rows: object
    padded: object

class Listing(Plan):
    def __iter__(self):
        yield self.rows

class NPUModelRunner(GPUModelRunner):
    {body}
"""


def told(use: str, before: str, after: str) -> list[tuple[str, str]]:
    text = npu("def run(self, n):\n    " + use.replace("\n", "\n    "))
    old, new = (ASCEND.format(body=body.replace("\n", "\n    ")) for body in (before, after))
    return symbols(find(world(npu=text, ascend=new), world(npu=text, ascend=old)))


TAKES = "rows, padded = self.split(n)\nreturn rows, padded"
SPLIT = "def split(self, n, {given}):\n    if {test}:\n        return {early}\n    return {late}"


def split(late: str, early: str = "None, None", test: str = "n == 0", given: str = "as_plan=False") -> str:
    return SPLIT.format(late=late, early=early, test=test, given=given)


PARTS = split("n, n + 1")


@pytest.mark.parametrize("after", [split("Plan(n, n)"), split("n, n", early="Plan(n, n)"), split("Plan(n, n)", "n, n")])
def test_an_object_on_some_path_in_place_of_the_values(after: str) -> None:
    assert told(TAKES, PARTS, after) == [("RS303", "split")]


@pytest.mark.parametrize(
    ("use", "before", "after"),
    [
        pytest.param(TAKES, PARTS, split("Pair(n, n)"), id="a NamedTuple"),
        pytest.param(TAKES, PARTS, split("Listing(n, n)"), id="a class that can be gone through"),
        pytest.param(TAKES, PARTS, split("n, n", "Plan(n, n)", "as_plan"), id="only if the call asks for it"),
        pytest.param(TAKES, split("Plan(n, n)"), split("Plan(n, n)"), id="before, too"),
        pytest.param(TAKES, PARTS, split("make(n)"), id="made out of sight"),
        pytest.param("plan = self.split(n)\nreturn plan", PARTS, split("Plan(n, n)"), id="nobody unpacks it"),
    ],
)
def test_what_can_still_be_unpacked(use: str, before: str, after: str) -> None:
    assert told(use, before, after) == []


OPTIONS = "def options(self, n):\n    made = {}\n    return made"
WITH_NUMBER = OPTIONS.replace("return made", "return made, n")


@pytest.mark.parametrize(
    ("use", "told_of"),
    [
        pytest.param("return self.run(**self.options(n))", True, id="named arguments"),
        pytest.param("given = self.options(n)\nreturn self.run(**given)", True, id="named arguments in a local"),
        pytest.param("given = self.options(n)\nreturn {**given, 'n': n}", True, id="merged"),
        pytest.param("given = self.options(n)\nreturn self.run(*given)", False, id="arguments by position"),
        pytest.param("given = self.options(n)\nreturn self.run(given)", True, id="an argument"),
        pytest.param("given = self.options(n)\nreturn given", False, id="returned"),
        pytest.param("given, n = self.options(n)\nreturn self.run(**given)", False, id="unpacked"),
        pytest.param("given = self.options(n)\nreturn self.run(**given[0])", False, id="an item of it"),
    ],
)
def test_values_in_place_of_a_dictionary_that_is_merged(use: str, told_of: bool) -> None:
    found = [one for one in told(use, OPTIONS, WITH_NUMBER) if one[0] == "RS303"]
    assert found == [("RS303", "options")] * told_of


HANDS_ON = "    {on}\ndef run_all(self, n):\n    {use}"
SINGLE = "def pick(self, n):\n    got = make(n)\n    return got"
BOTH = "def pick(self, n):\n    got = make(n)\n    return got, n"


@pytest.mark.parametrize(
    ("on", "use", "told_of"),
    [
        pytest.param("return self.pick(n)", "return self.run(n).rows", True, id="an attribute"),
        pytest.param("return self.pick(n)", "got = self.run(n)\n    return got.rows", True, id="of a local"),
        pytest.param("return self.pick(n)", "return self.step(**self.run(n))", True, id="merged"),
        pytest.param("return self.pick(n)", "got, n = self.run(n)\n    return got.rows", False, id="unpacked"),
        pytest.param("return self.pick(n)", "return self.run(n)", False, id="handed on again"),
        pytest.param("return self.pick(n)", "return self.step(self.run(n))", False, id="an argument"),
        pytest.param("return self.pick(n)[0]", "return self.run(n).rows", False, id="an item of it"),
        pytest.param("return self.pick(n), 1", "return self.run(n).rows", False, id="in a tuple"),
        pytest.param("got, n = self.pick(n)\n    return got", "return self.run(n).rows", False, id="mended"),
    ],
)
def test_values_in_place_of_one_that_a_method_hands_on(on: str, use: str, told_of: bool) -> None:
    text = npu("def run(self, n):\n" + HANDS_ON.format(on=on, use=use))
    old, new = (ASCEND.format(body=body.replace("\n", "\n    ")) for body in (SINGLE, BOTH))
    found = symbols(find(world(npu=text, ascend=new), world(npu=text, ascend=old)))
    assert found == [("RS303", "pick")] * told_of


MANAGER = "@contextmanager\ndef lock(self, n) -> {kind}:\n    yield {value}"
PLAIN = "def lock(self, n) -> {kind}:\n    return make(n) if n else nullcontext()"
ENTERS = "with self.lock(n) as held:\n    {use}"
ONE = PLAIN.format(kind="AbstractContextManager[Plan | None]")
TWO = PLAIN.format(kind="AbstractContextManager[tuple[Plan, int] | None]")
BARE = "@contextmanager\ndef lock(self, n):\n    held = make(n)\n    yield {value}"
ENTERED = {
    "an annotated manager": ("held.rows", ONE, TWO),
    "a generator": (
        "self.step(held)",
        MANAGER.format(kind="Generator[Plan, None, None]", value="make()"),
        MANAGER.format(kind="Generator[tuple[Plan, int], None, None]", value="make()"),
    ),
    "an iterator": (
        "print(held.rows)",
        MANAGER.format(kind="Iterator[Plan]", value="make()"),
        MANAGER.format(kind="Iterator[tuple[Plan, int]]", value="make(), 1"),
    ),
    "by what it yields": ("self.step(held)", BARE.format(value="held"), BARE.format(value="held, n")),
}
STILL_ONE = {
    "only kept": ("self.held = held", ONE, TWO),
    "taken apart": ("plan, count = held", ONE, TWO),
    "a tuple before, too": ("self.step(held)", TWO, TWO.replace("int", "str, int")),
    "of an unknown size": ("held.rows", ONE, PLAIN.format(kind="AbstractContextManager[tuple[Plan, ...]]")),
    "a class of values": ("held.rows", ONE, PLAIN.format(kind="AbstractContextManager[Pair]")),
    "sometimes a tuple": ("held.rows", ONE, PLAIN.format(kind="AbstractContextManager[Plan | tuple[Plan, int]]")),
    "a generator that is no manager": (
        "print(held.rows)",
        MANAGER.format(kind="Iterator[Plan]", value="make()").removeprefix("@contextmanager\n"),
        MANAGER.format(kind="Iterator[tuple[Plan, int]]", value="make(), 1").removeprefix("@contextmanager\n"),
    ),
    "another value": ("self.step(held)", BARE.format(value="n.held"), BARE.format(value="held, n")),
}


@pytest.mark.parametrize("name", ENTERED)
def test_a_with_that_newly_gets_a_tuple(name: str) -> None:
    use, before, after = ENTERED[name]
    assert told(ENTERS.format(use=use), before, after) == [("RS303", "lock")]


def test_the_values_of_a_with_are_yielded() -> None:
    use, before, after = ENTERED["by what it yields"]
    text = npu("def run(self, n):\n    " + ENTERS.format(use=use).replace("\n", "\n    "))
    old, new = (ASCEND.format(body=body.replace("\n", "\n    ")) for body in (before, after))
    (found,) = find(world(npu=text, ascend=new), world(npu=text, ascend=old))
    assert ") yielded one value and yields 2 now, which are used as one here." in found.message


@pytest.mark.parametrize("name", STILL_ONE)
def test_a_with_that_may_get_one_value(name: str) -> None:
    use, before, after = STILL_ONE[name]
    found = told(ENTERS.format(use=use), before, after)
    assert ("RS303", "lock") not in found


ROWS = """\
from dataclasses import dataclass
from vllm.runner import GPUModelRunner

@dataclass
class Row:
    ids: {kind}

class NPUModelRunner(GPUModelRunner):
    def give(self, n) -> Row:
        return make(n)
"""


NAMES = "from vllm_ascend.runner import Row"


def told_of_field(use: str, before: str, after: str, head: str = "") -> list[tuple[str, str]]:
    text = npu("def run(self, n):\n    row = self.give(n)\n    " + use.replace("\n", "\n    "), head=head)
    old, new = (ROWS.format(kind=kind) for kind in (before, after))
    return symbols(find(world(npu=text, ascend=new), world(npu=text, ascend=old)))


@pytest.mark.parametrize(
    "use", ["for one in row.ids:\n    print(one)", "return row.ids[0]", "ids = row.ids\nreturn ids + n"]
)
@pytest.mark.parametrize(
    "after", ["list[int] | None", "list[int] | None = None", "'list[int] | None'", "Optional[list[int]]"]
)
def test_a_field_that_may_be_none_now(use: str, after: str) -> None:
    assert told_of_field(use, "list[int]", after) == [("RS311", "ids")]


LOOP = "for one in row.ids:\n    print(one)"


@pytest.mark.parametrize(
    ("use", "before", "after"),
    [
        pytest.param(LOOP, "list[int] | None", "list[int] | None", id="before, too"),
        pytest.param(LOOP, "list[int] = None", "list[int] | None = None", id="a default of None before"),
        pytest.param(LOOP, "Any", "list[int] | None", id="anything before"),
        pytest.param(LOOP, "list[int]", "list[str]", id="not now"),
        pytest.param("if row.ids:\n    " + LOOP.replace("\n", "\n    "), "list[int]", "list[int] | None", id="tested"),
        pytest.param("if row.ids is None:\n    return\n" + LOOP, "list[int]", "list[int] | None", id="left before"),
        pytest.param("for one in row.ids or ():\n    print(one)", "list[int]", "list[int] | None", id="another for it"),
        pytest.param("self.take(row.ids)", "list[int]", "list[int] | None", id="handed on"),
        pytest.param("ids = row.ids\nif ids:\n    ids[0]", "list[int]", "list[int] | None", id="a tested local"),
    ],
)
def test_a_field_that_is_asked_for(use: str, before: str, after: str) -> None:
    assert told_of_field(use, before, after) == []


SETTLED = {
    "stored": "row.ids = []\nrow.ids.append(1)",
    "stored with a default": "row.ids = row.ids or []\nrow.ids.append(1)",
    "made here": "row = Row(ids=[1])\nrow.ids.append(1)",
    "made here by place": "row = Row([1])\nreturn row.ids[0]",
    "a tested local": "ids = row.ids\nif ids is None:\n    return\nreturn row.ids[0]",
    "a local in a test": "if (ids := row.ids) is not None:\n    return row.ids[0]",
    "a test of all": "rows = [row]\nif any(one.ids is None for one in rows):\n    return\nreturn row.ids[0]",
    "a filter": "rows = [one for one in n if one.ids is not None]\nfor row in rows:\n    row.ids[0]",
    "the object is asked": "if not row.has():\n    return\nreturn row.ids[0]",
}
UNSETTLED = {
    "another field is stored": "row.size = 1\nreturn row.ids[0]",
    "another local is tested": "size = row.size\nif size is None:\n    return\nreturn row.ids[0]",
    "an untested local": "ids = row.ids\nreturn ids[0]",
    "another object is made": "other = Other([1])\nreturn row.ids[0]",
}


@pytest.mark.parametrize("name", [*SETTLED, *UNSETTLED])
def test_what_the_function_knows_of_a_field(name: str) -> None:
    found = told_of_field((SETTLED | UNSETTLED)[name], "list[int]", "list[int] | None", NAMES)
    assert found == ([("RS311", "ids")] if name in UNSETTLED else [])


USES = "rows, padded = self.split(n)\nreturn rows.first"


@pytest.mark.parametrize("after", [split("n, n", "None, 1"), split("n, n", "(None, None)")])
def test_a_value_among_several_that_may_be_none_now(after: str) -> None:
    assert told(USES, split("n, n", "n, 1"), after) == [("RS311", "split")]


@pytest.mark.parametrize(
    ("use", "before", "after"),
    [
        pytest.param(USES, split("n, n", "n, 1"), split("n, n", "n, None"), id="another of them"),
        pytest.param(USES, split("n, n", "n, 1"), split("n, n", "None, 1", "as_plan"), id="only if asked for"),
        pytest.param(USES, split("n, n", "None, 1"), split("n, n", "None, 2"), id="before, too"),
        pytest.param(
            USES, split("n, n", "n, 1").replace("if", "n = None\n    if"), split("n, n", "None, 1"), id="a local"
        ),
        pytest.param(
            "rows, padded = self.split(n)\nif padded:\n    return rows.first",
            split("n, n", "n, 1"),
            split("n, n", "None, 1"),
            id="the other value tells",
        ),
        pytest.param(
            "rows, padded = self.split(n)\nif rows:\n    return rows.first",
            split("n, n", "n, 1"),
            split("n, n", "None, 1"),
            id="tested",
        ),
        pytest.param(
            "rows, padded = self.split(n)\nreturn rows", split("n, n", "n, 1"), split("n, n", "None, 1"), id="passed on"
        ),
    ],
)
def test_a_value_among_several_that_may_not_be_none(use: str, before: str, after: str) -> None:
    assert told(use, before, after) == []


DECLARING = """\
from typing import Any, Optional
from vllm.runner import Batch, GPUModelRunner
class NPUModelRunner(GPUModelRunner):
    def pick(self, n){arrow}:
        {body}
"""


def told_of_pick(use: str, before: tuple[str, str], after: tuple[str, str]) -> list[tuple[str, str]]:
    """The findings, where a result and a body of upstream's method become another."""
    (arrow_before, body_before), (arrow, body) = before, after
    old = DECLARING.format(arrow=arrow_before, body=body_before)
    new = DECLARING.format(arrow=arrow, body=body)
    text = npu("def use(self, n):\n" + textwrap.indent(use, "    "))
    return symbols(find(world(npu=text, ascend=new), world(npu=text, ascend=old)))


PLAIN_BATCH = (" -> Batch", "return self.rows[n]")
MAYBE_BATCH = (" -> Batch | None", "return self.rows.get(n)")


@pytest.mark.parametrize("use", ["self.pick(n).add(1)", "batch = self.pick(n)\nbatch.add(1)"])
@pytest.mark.parametrize("arrow", [" -> Batch | None", " -> 'Batch | None'", " -> Optional[Batch]"])
def test_a_result_that_newly_may_be_none_by_its_annotation(use: str, arrow: str) -> None:
    assert told_of_pick(use, PLAIN_BATCH, (arrow, "return self.rows.get(n)")) == [("RS311", "pick")]


@pytest.mark.parametrize(
    ("use", "before", "after"),
    [
        pytest.param(
            "batch = self.pick(n)\nif batch is not None:\n    batch.add(1)",
            PLAIN_BATCH,
            MAYBE_BATCH,
            id="tested",
        ),
        pytest.param("return self.pick(n)", PLAIN_BATCH, MAYBE_BATCH, id="handed on"),
        pytest.param("self.pick(n).add(1)", PLAIN_BATCH, (" -> Batch | None", PLAIN_BATCH[1]), id="annotation alone"),
        pytest.param("self.pick(n).add(1)", PLAIN_BATCH, (" -> Batch | None", "return Batch()"), id="made there"),
        pytest.param("self.pick(n).add(1)", PLAIN_BATCH, (" -> None", "return self.rows.get(n)"), id="None alone"),
        pytest.param("self.pick(n).add(1)", (" -> Any", "return self.rows[n]"), MAYBE_BATCH, id="anything"),
        pytest.param(
            "self.pick(n).add(1)", ("", "return self.rows[n]"), (" -> Batch | None", "return n"), id="not told"
        ),
        pytest.param(
            "self.pick(n).add(1)",
            (" -> Batch", "return self.rows[n] if n else None"),
            MAYBE_BATCH,
            id="before, too",
        ),
    ],
)
def test_a_result_of_which_nothing_new_is_known(use: str, before: tuple[str, str], after: tuple[str, str]) -> None:
    assert told_of_pick(use, before, after) == []
