"""Objects that refuse an assignment, and dataclasses that cannot derive from what they derive from (RS317)."""

from __future__ import annotations

import pytest
from verify_samples import NPU, find, npu, symbols, world

OUTPUT = """\
from __future__ import annotations
from dataclasses import dataclass
from typing import NamedTuple
import msgspec
import pydantic
from pydantic import ConfigDict
from torch import Outside
from typing_extensions import dataclass_transform
@dataclass_transform()
def config(cls=None, *, config=None, **kwargs): ...
def plain(**kwargs): ...
{decorator}
class Base{bases}:
    ids: list
    {more}
EMPTY = Base([])
COUNTED = Base([])
def count():
    global COUNTED
def empty() -> Base:
    return EMPTY
"""
HEAD = "from copy import copy\nfrom vllm.output import COUNTED, EMPTY, Base, empty\n"
FROZEN = "@dataclass(frozen=True)"
SLOTTED = "@dataclass(slots=True)"
MADE = "out = Base([])\nout.{} = 1"

# How the class is declared, its bases, what else it has; what the runner does.
REFUSED = {
    "a field of a frozen object": (FROZEN, "", "pass", MADE.format("ids"), "ids"),
    "anything of a frozen object": (FROZEN, "", "pass", MADE.format("late"), "late"),
    "a field of a copy of a constant": (FROZEN, "", "pass", "out = copy(EMPTY)\nout.ids = 1", "ids"),
    "a field of an annotated object": (FROZEN, "", "pass", "empty().ids = []", "ids"),
    "a field that is counted up": (FROZEN, "", "pass", "out = empty()\nout.ids += [1]", "ids"),
    "a field that a tuple is taken to": (FROZEN, "", "pass", "out = empty()\nout.ids, n = [], 1", "ids"),
    "by a decorator that makes a dataclass": ("@config(frozen=True)", "", "pass", "empty().ids = []", "ids"),
    "by the configuration that it is given": (
        "@config(config=ConfigDict(frozen=True))",
        "",
        "pass",
        "empty().ids = []",
        "ids",
    ),
    "by that of a dataclass of pydantic": (
        "@pydantic.dataclasses.dataclass(config=pydantic.ConfigDict(extra='forbid', frozen=True))",
        "",
        "pass",
        MADE.format("ids"),
        "ids",
    ),
    "a field of a NamedTuple": ("", "(NamedTuple)", "pass", MADE.format("ids"), "ids"),
    "what a NamedTuple has not": ("", "(NamedTuple)", "pass", MADE.format("late"), "late"),
    "a field that is annotated and set": (FROZEN, "", "pass", "out = Base([])\nout.ids: list = []", "ids"),
    "another name is asked for": (
        SLOTTED,
        "",
        "pass",
        "out = Base([])\nif hasattr(out, 'ids'):\n    out.late = 1",
        "late",
    ),
    "in a try for something else": (
        FROZEN,
        "",
        "pass",
        "try:\n    EMPTY.ids = 1\nexcept KeyError:\n    pass",
        "ids",
    ),
    "a field of a frozen object that is deleted": (FROZEN, "", "pass", "out = Base([])\ndel out.ids", "ids"),
    "a deleted field beside a setter": (
        FROZEN,
        "",
        "def __setattr__(self, name, value): ...",
        "out = Base([])\ndel out.ids",
        "ids",
    ),
    "a field of a frozen struct": ("", "(msgspec.Struct, frozen=True)", "pass", MADE.format("ids"), "ids"),
    "what a struct has no field for": ("", "(msgspec.Struct)", "pass", MADE.format("late"), "late"),
    "what has no slot": (SLOTTED, "", "pass", MADE.format("late"), "late"),
    "what has no written slot": ("@dataclass", "", "__slots__ = ('ids',)", MADE.format("late"), "late"),
}
TAKEN = {
    "a field of a struct": ("", "(msgspec.Struct)", "pass", MADE.format("ids")),
    "a struct with a setter": ("", "(msgspec.Struct)", "def __setattr__(self, name, value): ...", MADE.format("late")),
    "a dataclass": ("@dataclass", "", "pass", MADE.format("late")),
    "a field that is deleted": (SLOTTED, "", "pass", "out = Base([])\ndel out.ids"),
    "a frozen one with a way to delete": (
        FROZEN,
        "",
        "def __delattr__(self, name): ...",
        "out = Base([])\ndel out.ids",
    ),
    "an item of a frozen one that is deleted": (FROZEN, "", "pass", "out = Base([])\ndel out.ids[0]"),
    "a dataclass that is told not to be frozen": ("@dataclass(frozen=False)", "", "pass", MADE.format("ids")),
    "one that may be frozen": ("@dataclass(frozen=STRICT)", "", "pass", MADE.format("ids")),
    "one that is told somewhere else": ("@dataclass(**OPTIONS)", "", "pass", MADE.format("ids")),
    "a decorator that makes no dataclass": ("@plain(frozen=True)", "", "pass", "empty().ids = []"),
    "a decorator from elsewhere": ("@pydantic.config(frozen=True)", "", "pass", "empty().ids = []"),
    "a configuration that leaves it": ("@config(config=ConfigDict(extra='forbid'))", "", "pass", "empty().ids = []"),
    "a configuration of somewhere else": ("@config(config=CONFIG)", "", "pass", "empty().ids = []"),
    "another kind of configuration": ("@config(config=Other(frozen=True))", "", "pass", "empty().ids = []"),
    "what a frozen configuration has no field for": (
        "@config(config=ConfigDict(frozen=True))",
        "",
        "pass",
        "empty().late = 1",
    ),
    "a field that has a slot": (SLOTTED, "", "pass", MADE.format("ids")),
    "a written slot": ("@dataclass", "", "__slots__ = ('ids', 'late')", MADE.format("late")),
    "slots that cannot be told": ("@dataclass", "", "__slots__ = SLOTS", MADE.format("late")),
    "a property": (SLOTTED, "", "@property\n    def late(self): ...", MADE.format("late")),
    "what a method sets": (SLOTTED, "", "def fill(self):\n        self.late = 1", MADE.format("late")),
    "its own __setattr__": (FROZEN, "", "def __setattr__(self, name, value): ...", MADE.format("late")),
    "a base outside the trees": (FROZEN, "(Outside)", "pass", MADE.format("late")),
    "a subclass may have room for it": (FROZEN, "", "pass", "out = empty()\nout.late = 1"),
    "a subclass may have a slot for it": (SLOTTED, "", "pass", "out = empty()\nout.late = 1"),
    "a constant that a function makes anew": (FROZEN, "", "pass", "out = copy(COUNTED)\nout.ids = 1"),
    "one of two kinds": (FROZEN, "", "pass", "out = EMPTY if self.config else self.batch\nout.ids = 1"),
    "it may fail": (FROZEN, "", "pass", "try:\n    EMPTY.ids = 1\nexcept AttributeError:\n    pass"),
    "slots and a dictionary": ("@dataclass", "", "__slots__ = ('ids', '__dict__')", MADE.format("late")),
    "it may be frozen": (FROZEN, "", "pass", "try:\n    EMPTY.ids = 1\nexcept FrozenInstanceError:\n    pass"),
    "it may be frozen, by its module": (
        FROZEN,
        "",
        "pass",
        "try:\n    EMPTY.ids = 1\nexcept (dataclasses.FrozenInstanceError, TypeError):\n    pass",
    ),
    "it is asked for": (SLOTTED, "", "pass", "out = Base([])\nif hasattr(out, 'late'):\n    out.late = 1"),
    "only annotated": (FROZEN, "", "pass", "out = Base([])\nout.ids: list"),
    "another object": (FROZEN, "", "pass", "self.ids = 1"),
}


def refused(decorator: str, bases: str, more: str, body: str) -> list[tuple[str, str]]:
    output = OUTPUT.format(decorator=decorator, bases=bases, more=more)
    method = "def m(self):\n    " + body.replace("\n", "\n    ")
    found = find(world(npu=npu(method, head=HEAD), **{"vllm/output.py": output}))
    return [pair for pair in symbols(found) if pair[0] == "RS317"]


@pytest.mark.parametrize("name", REFUSED)
def test_an_assignment_that_fails(name: str) -> None:
    *given, attribute = REFUSED[name]
    assert refused(*given) == [("RS317", f"Base.{attribute}")]


@pytest.mark.parametrize("name", TAKEN)
def test_an_assignment_that_may_be_right(name: str) -> None:
    assert refused(*TAKEN[name]) == []


def test_a_dataclass_cannot_derive_from_a_struct() -> None:
    output = OUTPUT.format(decorator="", bases="(msgspec.Struct)", more="pass")
    made = "from vllm.output import Base\n{}class Made(Base):\n    extra: list\n"
    told = [
        [(f.code, f.symbol) for f in find(world(npu=npu("pass", head=made.format(d)), **{"vllm/output.py": output}))]
        for d in ("@dataclass\n", "")
    ]
    assert told == [[("RS317", "Base")], []]
    late = OUTPUT.format(decorator="", bases="(msgspec.Struct)", more="late: int = 0")
    assert symbols(find(world(npu=npu("pass", head=made.format("")), **{"vllm/output.py": late}))) == [
        ("RS317", "extra")
    ]
    somewhere_else = made.format("").replace("(Base)", "(Base, **OPTIONS)")
    assert symbols(find(world(npu=npu("pass", head=somewhere_else), **{"vllm/output.py": late}))) == []


DERIVED = {
    "not frozen from frozen": (FROZEN, "@dataclass", True),
    "frozen from not frozen": ("@dataclass", FROZEN, True),
    "frozen from frozen": (FROZEN, FROZEN, False),
    "a plain class from frozen": (FROZEN, "", False),
    "from a plain class": ("", FROZEN, False),
    "nobody knows from frozen": (FROZEN, "@dataclass(frozen=STRICT)", False),
    "another decorator of that kind": ("@config(frozen=True)", "@dataclass", False),
}


@pytest.mark.parametrize("name", DERIVED)
@pytest.mark.parametrize("path", [NPU, "vllm_omni/outputs.py"])
def test_a_class_statement_that_fails_as_soon_as_a_runner_is_imported(path: str, name: str) -> None:
    above, own, fails = DERIVED[name]
    made = f"from vllm.output import Base\n{own}\nclass Made(Base):\n    extra: int = 0\n"
    text = npu("pass", head="from vllm_omni.outputs import Made\n" if path != NPU else made)
    output = OUTPUT.format(decorator=above, bases="", more="pass")
    trees = world(npu=text, **{"vllm/output.py": output, **({path: made} if path != NPU else {})})
    assert [(f.code, f.path, f.unit) for f in find(trees)] == ([("RS317", path, "Made")] if fails else [])
    assert find(trees, trees) == []


ORDERED = {
    "behind a default of the base": ("ids: list = None", "extra: int", "extra"),
    "behind one that a function makes": ("ids: list = field(default_factory=list)", "extra: int", "extra"),
    "an option is no default": ("ids: list = None", "extra: int = field(repr=False)", "extra"),
    "the base has no default": ("ids: list", "extra: int", ""),
    "both have one": ("ids: list = None", "extra: int = 0", ""),
    "it can only be given by keyword": ("ids: list = None", "extra: int = field(kw_only=True)", ""),
    "the base's can": ("_: KW_ONLY\n    ids: list = None", "extra: int", ""),
    "it is not given": ("ids: list = field(init=False, default=None)", "extra: int", ""),
    "it has the base's place": ("extra: int\n    ids: list = None", "extra: int", ""),
    "it takes the default away": ("late: int = 0\n    ids: list = None", "ids: list", "ids"),
    "of the class itself": ("ids: ClassVar[list] = None", "extra: int", ""),
    "options from elsewhere": ("ids: list = field(**OPTIONS)", "extra: int", ""),
}


@pytest.mark.parametrize("name", ORDERED)
@pytest.mark.parametrize("decorator", ["@dataclass", ""])
def test_a_field_without_a_default_behind_one_with(name: str, decorator: str) -> None:
    above, own, fails = ORDERED[name]
    made = f"from vllm.output import Base\n{decorator}\nclass Made(Base):\n    {own}\n"
    base = f"from dataclasses import dataclass\n@dataclass\nclass Base:\n    {above}\n"
    trees = world(npu=npu("pass", head=made), **{"vllm/output.py": base})
    assert symbols(find(trees)) == ([("RS317", fails)] if fails and decorator else [])


def test_a_frozen_base_decides_for_its_fields_only() -> None:
    made = f"{HEAD}class Made(Base):\n    extra: int = 0\n"
    body = "def m(self):\n    out = Made([])\n    out.extra = 1\n    out.late = 1\n    out.ids = 1"
    output = OUTPUT.format(decorator=FROZEN, bases="", more="pass")
    found = find(world(npu=npu(body, head=made), **{"vllm/output.py": output}))
    assert symbols(found) == [("RS317", "Made.ids")]
    assert found[0].message == "`out.ids` cannot be assigned: `Base` (vllm/output.py:13) is frozen."
