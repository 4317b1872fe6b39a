"""Which constructor a call reaches: written, generated or inherited, in the order of the MRO."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

MADE_BY = """
from dataclasses import dataclass
from typing import NamedTuple
import msgspec
from torch import Base, traced
@dataclass
class Output:
    ids: list
    probs: list | None = None
class Record(NamedTuple):
    ids: list
class Plain:
    note: str = ""
{made}
"""

HANDS_ON = "    def __init__(self, *args, **kwargs):\n        super().__init__(*args, **kwargs)"
MADE_SO = f"class Made(Output):\n{HANDS_ON}"
TAKES_IDS = "\n        def __init__(self, ids): ..."

CONSTRUCTORS = {
    "the base is a dataclass": ("class Made(Output):\n    extra: int = 0", "gone"),
    "what the subclass annotates is no parameter": ("class Made(Output):\n    extra: int = 0", "extra"),
    "fields that can only be given by keyword": (
        "@dataclass(kw_only=True)\nclass Named(Output): ...\nclass Made(Named): ...",
        "gone",
    ),
    "a field that is not given": ("@dataclass\nclass Made(Output):\n    extra: int = field(init=False)", "extra"),
    "a field of the class itself": ("@dataclass\nclass Made(Output):\n    extra: ClassVar[int] = 0", "extra"),
    "the base's base is one": ("class Middle(Plain, Output): ...\nclass Made(Middle): ...", "gone"),
    "the base is a NamedTuple": ("class Made(Record): ...", "gone"),
    "the subclass writes its own": ("class Made(Output):\n    def __init__(self, ids): ...", "probs"),
    "every class before it hands everything on": (
        f"class Middle(Plain, Output):\n{HANDS_ON}\n        self.note = 1\nclass Made(Middle):\n{HANDS_ON}",
        "gone",
    ),
    "one branch of a conditional base does not take it": (
        f"if n:\n    class Part(Output): ...\nelse:\n    class Part(Plain):{TAKES_IDS}\nclass Made(Part):\n{HANDS_ON}",
        "probs",
    ),
    "a class before the dataclass does": (
        "class First:\n    def __init__(self, ids): ...\nclass Made(First, Output): ...",
        "probs",
    ),
}
UNTOLD = {
    "a parameter of the base": ("class Made(Output): ...", "probs"),
    "a field of a decorated subclass": ("@dataclass\nclass Made(Output):\n    extra: int = 0", "extra"),
    "its own __init__ takes it": ("class Made(Output):\n    def __init__(self, ids, extra=0): ...", "extra"),
    "its own __new__ decides": ("class Made(Output):\n    def __new__(cls, **kwargs): ...", "gone"),
    "a metaclass decides": ("class Made(Output, metaclass=Base): ...", "gone"),
    "a base outside the trees": ("class Made(Base, Output): ...", "gone"),
    "a decorator that may change it": ("@traced\nclass Made(Output): ...", "gone"),
    "a decorator on the way": ("@traced\nclass Middle(Output): ...\nclass Made(Middle): ...", "gone"),
    "an assigned __init__": ("class Made(Output):\n    __init__ = traced", "gone"),
    "what it hands on it changes": (MADE_SO.replace("\n        ", "\n        kwargs.pop('gone')\n        "), "gone"),
    "it hands on its positional arguments only": (MADE_SO.replace("(*args, **kwargs)", "(*args)"), "gone"),
    "it takes one for itself": (MADE_SO.replace("self, *args", "self, *args, gone=1"), "gone"),
    "it hands on under a condition": (MADE_SO.replace("super()", "if args: super()"), "gone"),
    "it hands on to another method": (MADE_SO.replace("super().__init__", "super().__setattr__"), "gone"),
    "a decorator around what hands everything on": (MADE_SO.replace("    def", "    @traced\n    def"), "gone"),
    "a base outside the trees takes what is handed on": (MADE_SO.replace("Output", "Base"), "gone"),
    "a field that can only be given by keyword": (
        "@dataclass(kw_only=True)\nclass Named(Output):\n    extra: int\nclass Made(Named): ...",
        "extra",
    ),
    "a value for the constructor only": ("@dataclass\nclass Made(Output):\n    extra: InitVar[int] = 0", "extra"),
    "an option that is no constant": ("@dataclass(kw_only=FLAG)\nclass Made(Output): ...", "gone"),
    "options from elsewhere": ("@dataclass(**OPTIONS)\nclass Made(Output): ...", "gone"),
    "an option of a field that is no constant": (
        "@dataclass\nclass Made(Output):\n    extra: int = field(init=FLAG)",
        "gone",
    ),
    "a constructor that is not generated": ("@dataclass(init=False)\nclass Made(Output): ...", "gone"),
}


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_the_first_constructor_of_the_mro_is_called(name: str) -> None:
    made, keyword = CONSTRUCTORS[name]
    text = npu(f"def m(self):\n    return Made(ids=[], {keyword}=1)", head=MADE_BY.format(made=made))
    assert symbols(find(world(npu=text))) == [("RS306", f"Made({keyword}=)")]


READ = "; `.gone` is read in vllm_omni/scheduler.py"


@pytest.mark.parametrize(
    ("scheduler", "said"),
    [
        pytest.param(
            "def done(output):\n    return output.gone\n", "; `.gone` is read in vllm_omni/scheduler.py", id="read"
        ),
        pytest.param("def done(output):\n    output.gone = 1\n", "", id="written"),
        pytest.param("class S:\n    def done(self):\n        return self.gone\n", "", id="of its own"),
        pytest.param("gone = 1\n", "", id="a variable"),
    ],
)
def test_who_reads_the_field_that_is_gone_is_named(scheduler: str, said: str) -> None:
    """`routed_experts_dict` of vLLM 0.21, which omni's schedulers read."""
    made, _ = CONSTRUCTORS["the base is a dataclass"]
    text = npu("def m(self):\n    return Made(ids=[], gone=1)", head=MADE_BY.format(made=made))
    (found,) = find(world(npu=text, **{"vllm_omni/scheduler.py": scheduler}))
    assert found.fix.endswith(f" declares it{said}.")


@pytest.mark.parametrize("name", UNTOLD)
def test_a_constructor_that_accepts_it_or_cannot_be_told(name: str) -> None:
    made, keyword = UNTOLD[name]
    text = npu(f"def m(self):\n    return Made(ids=[], {keyword}=1)", head=MADE_BY.format(made=made))
    assert symbols(find(world(npu=text))) == []


BY_POSITION = {
    "two fields": ("@dataclass\nclass Made:\n    ids: list\n    probs: list", []),
    "one by keyword only": (
        "@dataclass\nclass Made:\n    ids: list\n    probs: list = field(kw_only=True, default=None)",
        [("RS302", "Made()")],
    ),
    "all behind a mark": (
        "@dataclass\nclass Made:\n    ids: list\n    _: KW_ONLY\n    probs: list",
        [("RS302", "Made()")],
    ),
    "all of the class": (
        "@dataclass(kw_only=True)\nclass Made:\n    ids: list\n    probs: list",
        [("RS302", "Made()")],
    ),
    "not the base's": ("@dataclass(kw_only=True)\nclass Made(Output):\n    extra: int = 0", []),
    "one that must be given": (
        "@dataclass\nclass Made:\n    ids: list\n    probs: list\n    more: int = field(repr=False)",
        [("RS302", "Made(more)")],
    ),
    "a struct": ("class Made(msgspec.Struct):\n    ids: list\n    probs: list", []),
    "a struct by keyword only": (
        "class Made(msgspec.Struct, kw_only=True):\n    ids: list\n    probs: list",
        [("RS302", "Made()")],
    ),
    "a struct with one that must be given": (
        "class Made(msgspec.Struct):\n    ids: list\n    probs: list\n    more: int",
        [("RS302", "Made(more)")],
    ),
    "a struct from a struct": (
        "class Named(msgspec.Struct, kw_only=True):\n    more: int\nclass Made(Named):\n    ids: list\n    probs: list",
        [("RS302", "Made(more)")],
    ),
    "a struct with a constructor that nobody knows": (
        "class Made(Base, msgspec.Struct):\n    ids: list",
        [],
    ),
    "one more by keyword": (
        "@dataclass\nclass Made:\n    ids: list\n    probs: list\n    more: int = field(kw_only=True)",
        [("RS302", "Made(more)")],
    ),
}


@pytest.mark.parametrize("name", BY_POSITION)
def test_what_a_dataclass_takes_by_position(name: str) -> None:
    made, expected = BY_POSITION[name]
    text = npu("def m(self):\n    return Made([], [])", head=MADE_BY.format(made=made))
    assert symbols(find(world(npu=text))) == expected


HELD = {
    "its own __init__ requires more": (
        "class Made:\n    def __init__(self, ids, rank): ...",
        [("RS302", "Made(rank)")],
    ),
    "the constructor that it hands on to does": (
        f"class First:\n    def __init__(self, ids, *, rank): ...\nclass Made(First):\n{HANDS_ON}",
        [("RS302", "Made(rank)")],
    ),
    "it fits": ("class Made(Output): ...", []),
    "what it does without a word comes back as an instance": (
        "class Made:\n    def __init__(self, ids):\n        self.ids = ids\n        return",
        [],
    ),
    "a function": ("def Made(ids, rank): ...", []),
    "what makes a class": ("Made = traced(Output)", []),
}


@pytest.mark.parametrize("name", HELD)
def test_a_class_that_a_class_body_names_is_constructed(name: str) -> None:
    made, expected = HELD[name]
    text = npu("made_cls = Made\ndef m(self):\n    return self.made_cls([]).ids", head=MADE_BY.format(made=made))
    found = symbols(find(world(npu=text)))
    assert [pair for pair in found if pair != ("RS308", "Made.ids")] == expected


def test_a_class_that_is_chosen_at_run_time_is_unknown() -> None:
    body = "made_cls = Made\ndef pick(self, other):\n    self.made_cls = other\ndef m(self):\n    self.made_cls([])"
    made = "class Made:\n    def __init__(self, ids, rank): ..."
    assert symbols(find(world(npu=npu(body, head=MADE_BY.format(made=made))))) == []


@pytest.mark.parametrize(
    ("call", "symbol", "text"),
    [
        ("Made()", "Made(ids, rows)", "requires `ids` and `rows`, which are not given"),
        ("Made(1)", "Made(rows)", "requires `rows`, which is not given"),
        ("Made(rows=1)", "Made(ids)", "requires `ids`, which is not given"),
    ],
)
def test_all_parameters_that_a_call_leaves_out_are_one_finding(call: str, symbol: str, text: str) -> None:
    made = MADE_BY.format(made="class Made:\n    def __init__(self, ids, rows): ...")
    (found,) = find(
        world(npu=npu(f"def m(self):\n    {call}", head="from vllm.made import Made"), **{"vllm/made.py": made})
    )
    assert (found.code, found.symbol) == ("RS302", symbol)
    assert f"{text}." in found.message


def test_a_parameter_that_refuses_its_default_is_told_by_itself() -> None:
    fill = "def fill(ids, rows=None):\n    assert rows is not None"
    found = find(world(npu=npu("def m(self):\n    fill()", head=fill)))
    assert symbols(found) == [("RS302", "fill(ids)"), ("RS302", "fill(rows)")]
