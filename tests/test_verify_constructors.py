"""Which constructor a call reaches: written, generated or inherited, in the order of the MRO."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

MADE_BY = """
from dataclasses import dataclass
from typing import NamedTuple
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

CONSTRUCTORS = {
    "the base is a dataclass": ("class Made(Output):\n    extra: int = 0", "gone"),
    "what the subclass annotates is no parameter": ("class Made(Output):\n    extra: int = 0", "extra"),
    "the base's base is one": ("class Middle(Plain, Output): ...\nclass Made(Middle): ...", "gone"),
    "the base is a NamedTuple": ("class Made(Record): ...", "gone"),
    "the subclass writes its own": ("class Made(Output):\n    def __init__(self, ids): ...", "probs"),
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
    "keyword-only fields are not modelled": (
        "@dataclass(kw_only=True)\nclass Named(Output): ...\nclass Made(Named): ...",
        "gone",
    ),
}


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_the_first_constructor_of_the_mro_is_called(name: str) -> None:
    made, keyword = CONSTRUCTORS[name]
    text = npu(f"def m(self):\n    return Made(ids=[], {keyword}=1)", head=MADE_BY.format(made=made))
    assert symbols(find(world(npu=text))) == [("RS306", f"Made({keyword}=)")]


@pytest.mark.parametrize("name", UNTOLD)
def test_a_constructor_that_accepts_it_or_cannot_be_told(name: str) -> None:
    made, keyword = UNTOLD[name]
    text = npu(f"def m(self):\n    return Made(ids=[], {keyword}=1)", head=MADE_BY.format(made=made))
    assert symbols(find(world(npu=text))) == []
