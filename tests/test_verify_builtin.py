"""A member that holds a list, a number and the like now, and was something else that had the attribute (RS308)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

ASCEND = """\
from vllm.runner import Buffer, GPUModelRunner

class Rows:
    def __init__(self):
        self.held = {held}

class NPUModelRunner(GPUModelRunner):
    def __init__(self, config, rows: Rows):
        self.own = {own}
        self.rows = Rows()
        self.given = rows
    {more}
"""


def ascend(value: str, more: str = "limit = 3") -> str:
    return ASCEND.format(held=value, own=value, more=more)


def lost(body: str, old: str, new: str) -> list[tuple[str, str]]:
    text = npu("def m(self, key):\n    " + body.replace("\n", "\n    "))
    return symbols(find(world(npu=text, ascend=new), world(npu=text, ascend=old)))


LOST = {
    "a list became a dictionary": ("self.own.append(1)", "[]", "{}", "own.append"),
    "a dictionary became a list": ("return self.own.items()", "{}", "[1]", "own.items"),
    "an object became a number": ("return self.own.rows", "make()", "3", "own.rows"),
    "of another object": ("self.rows.held.append(1)", "[]", "{}", "held.append"),
}
STILL_THERE = {
    "both have it": ("self.own.clear()", "[]", "{}"),
    "neither had it": ("self.own.wipe()", "[]", "{}"),
    "still the same": ("self.own.wipe()", "{}", "{}"),
    "made out of sight": ("self.own.append(1)", "[]", "make()"),
    "a placeholder": ("self.own.append(1)", "[]", "None"),
    "asked for its kind": ("if isinstance(self.own, list):\n    self.own.append(1)", "[]", "{}"),
    "asked for its truth": ("if self.own:\n    self.own.append(1)", "[]", "False"),
    "asked for the attribute": ("if hasattr(self.own, 'append'):\n    self.own.append(1)", "[]", "{}"),
    "caught": ("try:\n    self.own.append(1)\nexcept AttributeError:\n    pass", "[]", "{}"),
    "an object that is handed": ("self.given.held.append(1)", "[]", "{}"),
    "the runner sets it": ("self.own = key\nself.own.append(1)", "[]", "{}"),
}


@pytest.mark.parametrize("name", LOST)
def test_what_is_of_pythons_own_types_now(name: str) -> None:
    body, old, new, symbol = LOST[name]
    assert lost(body, ascend(old), ascend(new)) == [("RS308", symbol)]


@pytest.mark.parametrize("name", STILL_THERE)
def test_what_may_have_the_attribute_still(name: str) -> None:
    body, old, new = STILL_THERE[name]
    assert lost(body, ascend(old), ascend(new)) == []


def test_annotations_say_what_is_held() -> None:
    declared = "def set_up(self):\n        self.table: {kind} = None"
    old, new, other = (declared.format(kind=k) for k in ("dict[str, int] | None", "list[int] | None", "Table | None"))
    assert lost("return self.table.items()", ascend("0", old), ascend("0", new)) == [("RS308", "table.items")]
    assert lost("return self.table.items()", ascend("0", old), ascend("0", other)) == []


def test_what_others_put_there_is_not_known() -> None:
    patch = "def patch(runner):\n    runner.own = Table()\n"
    assert lost("self.own.append(1)", ascend("[]"), ascend("{}") + patch) == []


SLOTTED = """\
from vllm.runner import GPUModelRunner
class Row:
    {slots}
    def __init__(self):
        self.size = 1
def row() -> Row:
    return make()
{below}
class NPUModelRunner(GPUModelRunner):
    pass
"""


@pytest.mark.parametrize(
    ("slots", "below", "is_found"),
    [
        pytest.param('__slots__ = ("size",)', "", True, id="no class is below"),
        pytest.param('__slots__ = ("size",)', "class Wide(Row): ...", False, id="a class is below"),
        pytest.param('__slots__ = ("size", "name")', "", False, id="a slot for it"),
        pytest.param("limit = 1", "", False, id="no slots"),
    ],
)
def test_a_slot_of_an_annotated_object(slots: str, below: str, is_found: bool) -> None:
    text = npu("def m(self):\n    one = row()\n    one.name = 2", head="from vllm_ascend.runner import row")
    found = symbols(find(world(npu=text, ascend=SLOTTED.format(slots=slots, below=below))))
    assert found == ([("RS317", "Row.name")] if is_found else [])


DECLARED = """\
import numpy as np
from dataclasses import dataclass
from vllm.runner import Buffer, GPUModelRunner

class State:
    def __init__(self):
        self.size = 1

@dataclass
class Output:
    counts: {counts}

class NPUModelRunner(GPUModelRunner):
    def __init__(self, config):
        self.states: {states} = {{}}
    def give(self) -> Output:
        return make()
"""


def declared(counts: str = "dict[str, int]", states: str = "dict[str, State]") -> str:
    return DECLARED.format(counts=counts, states=states)


@pytest.mark.parametrize(
    ("body", "new", "symbol"),
    [
        pytest.param("self.give().counts.items()", declared("np.ndarray"), "counts.items", id="an array"),
        pytest.param("out = self.give()\nout.counts.keys()", declared("list[int]"), "counts.keys", id="a list"),
        pytest.param("self.give().counts.get(key)", declared("tuple[int, ...] | None"), "counts.get", id="a tuple"),
        pytest.param(
            "state = self.states[key]\nstate.size",
            declared(states="dict[str, tuple[State, int]]"),
            "state.size",
            id="an element of a dictionary",
        ),
    ],
)
def test_fields_and_elements_that_are_declared_as_another_kind(body: str, new: str, symbol: str) -> None:
    assert lost(body, declared(), new) == [("RS308", symbol)]


@pytest.mark.parametrize(
    ("body", "old", "new"),
    [
        pytest.param("self.give().counts.copy()", declared(), declared("np.ndarray"), id="both have it"),
        pytest.param("self.give().counts.items()", declared(), declared("dict | list"), id="one of them has it"),
        pytest.param("self.give().counts.items()", declared("Any"), declared("list"), id="anything before"),
        pytest.param("self.give().counts.items()", declared(), declared("Counts"), id="an unknown class"),
        pytest.param("self.give().counts.mean()", declared("list"), declared("np.ndarray"), id="it got the attribute"),
        pytest.param(
            "if isinstance(self.give().counts, dict):\n    self.give().counts.items()",
            declared(),
            declared("list[int]"),
            id="asked for its kind",
        ),
        pytest.param(
            "self.states[key].size",
            declared(states="dict[str, Any]"),
            declared(states="dict[str, tuple]"),
            id="any element before",
        ),
    ],
)
def test_fields_and_elements_that_may_have_the_attribute(body: str, old: str, new: str) -> None:
    assert lost(body, old, new) == []


SETTLED = {
    "stored": "out.counts = {}\nout.counts.items()",
    "stored anew": "out.counts = dict(out.counts)\nout.counts.items()",
    "made here": "out = Output(counts={})\nout.counts.items()",
    "matched": "match out.counts:\n    case dict():\n        out.counts.items()",
    "its type is asked for": "if type(out.counts) is dict:\n    out.counts.items()",
    "a tested local": "counts = out.counts\nif isinstance(counts, dict):\n    out.counts.items()",
    "a local of a tested field": "counts = out.counts\nif isinstance(out.counts, dict):\n    counts.items()",
    "bound again": "counts = out.counts\ncounts = make(counts)\ncounts.items()",
}
UNSETTLED = {
    "another field is stored": "out.other = {}\nout.counts.items()",
    "another local is tested": "other = out.other\nif isinstance(other, dict):\n    pass\nout.counts.items()",
    "another object is made": "other = Other({})\nout.counts.items()",
}


@pytest.mark.parametrize("name", [*SETTLED, *UNSETTLED])
def test_what_the_function_knows_of_a_field(name: str) -> None:
    use = (SETTLED | UNSETTLED)[name]
    use = use if name == "made here" else "out = self.give()\n" + use
    text = npu("def m(self):\n    " + use.replace("\n", "\n    "), head="from vllm_ascend.runner import Output")
    found = symbols(find(world(npu=text, ascend=declared("np.ndarray")), world(npu=text, ascend=declared())))
    assert found == ([("RS308", "counts.items")] if name in UNSETTLED else [])


@pytest.mark.parametrize(
    ("bases", "kind", "is_found"),
    [
        ("(str, Enum)", "str", False),
        ("(IntEnum)", "int", False),
        ("(NamedTuple)", "tuple[int, int]", False),
        ("", "tuple[int, int]", True),
        ("", "str", True),
    ],
)
def test_an_annotation_that_only_got_looser(bases: str, kind: str, is_found: bool) -> None:
    head = f"class Mode{bases}:\n    def __init__(self):\n        self.level = 1\n\n"
    new, old = (declared(one).replace("class State", head + "class State", 1) for one in (kind, "Mode"))
    found = lost("self.give().counts.level", old, new)
    assert found == ([("RS308", "counts.level")] if is_found else [])
