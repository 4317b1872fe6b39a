"""A key that a ``TypedDict`` of upstream has lost and that is still read (RS308), or has got and that is not given
(RS302)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

HEAD = "from typing import TypedDict\n"
OLD = HEAD + "class Row(TypedDict):\n    size: int\n    rank: int\ndef make() -> Row: ...\n"
NEW = OLD.replace("rank", "order")
BASE = HEAD + "class Rank(TypedDict):\n    {}: int\nclass Row(Rank, total=False):\n    size: int\n"
OPTIONAL = OLD.replace("TypedDict)", "TypedDict, total=False)")

GONE = {
    "of a parameter": (OLD, NEW, "def m(self, row: Row):\n    return row['rank']"),
    "of what a function returns": (OLD, NEW, "def m(self):\n    row = make()\n    return row['rank']"),
    "of one that may be there": (OLD, NEW, "def m(self, row: Row | None):\n    return row['rank']"),
    "of a base": (BASE.format("rank"), BASE.format("order"), "def m(self, row: Row):\n    return row['rank']"),
    "that need not be there": (
        OPTIONAL,
        OPTIONAL.replace("rank", "order"),
        "def m(self, row: Row):\n    return row['rank']",
    ),
}
FINE = {
    "another key": (OLD, NEW, "def m(self, row: Row):\n    return row['size']"),
    "a key that never was there": (OLD, NEW, "def m(self, row: Row):\n    return row['name']"),
    "a key that is not written down": (OLD, NEW, "def m(self, row: Row, rank):\n    return row[rank]"),
    "asked for": (OLD, NEW, "def m(self, row: Row):\n    return row['rank'] if 'rank' in row else 1"),
    "looked up": (OLD, NEW, "def m(self, row: Row):\n    return row.get('rank')"),
    "its lack is expected": (
        OLD,
        NEW,
        "def m(self, row: Row):\n    try:\n        return row['rank']\n    except KeyError:\n        return 1",
    ),
    "below a version switch": (OLD, NEW, "def m(self, row: Row):\n    if version >= 2:\n        return row['rank']"),
    "it is set": (OLD, NEW, "def m(self, row: Row):\n    row['rank'] = 1\n    return row['rank']"),
    "upstream sets it": (
        OLD,
        NEW + "def rank(row):\n    row['rank'] = 1\n",
        "def m(self, row: Row):\n    return row['rank']",
    ),
    "omni writes it": (
        OLD,
        NEW,
        "def m(self, row: Row):\n    return self.n({'rank': 2})\ndef n(self, row: Row):\n    return row['rank']",
    ),
    "another type has it": (
        OLD,
        NEW + "class More(Row):\n    rank: int\n",
        "def m(self, row: Row):\n    return row['rank']",
    ),
    "one of two types": (
        OLD + "class Other(TypedDict):\n    rank: int\n",
        NEW + "class Other(TypedDict):\n    rank: int\n",
        "def m(self, row: Row | Other):\n    return row['rank']",
    ),
    "a plain dictionary": (OLD, NEW, "def m(self, row: dict[str, int]):\n    return row['rank']"),
    "a class with items": (
        "class Row:\n    rank: int\n    def __getitem__(self, key): ...\ndef make(): ...\n",
        "class Row:\n    order: int\n    def __getitem__(self, key): ...\ndef make(): ...\n",
        "def m(self, row: Row):\n    return row['rank']",
    ),
    "a base out of the trees": (
        BASE.format("rank"),
        BASE.format("order").replace("class Rank(TypedDict)", "from torch import Rank\nclass Other(TypedDict)"),
        "def m(self, row: Row):\n    return row['rank']",
    ),
}


def keys(before: str, after: str, body: str) -> list[tuple[str, str]]:
    names = [name for name in ("Row", "Other", "make") if name in body and f" {name}(" in before]
    head = f"from vllm.part import {', '.join(names)}" if names else ""
    old, new = (world(npu=npu(body, head=head), **{"vllm/part.py": text}) for text in (before, after))
    assert find(old, old) == find(new, new) == []
    return [pair for pair in symbols(find(new, old)) if pair[0] == "RS308"]


@pytest.mark.parametrize("name", GONE)
def test_a_key_that_is_gone(name: str) -> None:
    assert keys(*GONE[name]) == [("RS308", "Row[rank]")]


@pytest.mark.parametrize("name", FINE)
def test_a_key_that_may_be_there(name: str) -> None:
    assert keys(*FINE[name]) == []


TWO = OLD.replace("    rank: int\n", "")
CALL = "def m(self):\n    return Row(size=1)"
LEFT_OUT = {
    "a key that is new": (TWO, OLD, CALL),
    "one that was optional": (OLD.replace("rank: int", "rank: NotRequired[int]"), OLD, CALL),
    "one of a base": (
        BASE.format("rank").replace(", total=False", ""),
        BASE.format("order"),
        "def m(self):\n    return Row(rank=1)",
    ),
    "one that says so": (TWO, OPTIONAL.replace("rank: int", "rank: Required[int]"), CALL),
}
GIVEN = {
    "it is given": (TWO, OLD, "def m(self):\n    return Row(size=1, rank=2)"),
    "it was left out before": (OLD, OLD, CALL),
    "it is optional": (TWO, OLD.replace("rank: int", "rank: NotRequired[int]"), CALL),
    "all are": (TWO, OPTIONAL, CALL),
    "it is set later": (TWO, OLD, "def m(self):\n    row = Row(size=1)\n    row['rank'] = 2\n    return row"),
    "it may come with others": (TWO, OLD, "def m(self, more):\n    return Row(size=1, **more)"),
    "it is made of another": (TWO, OLD, "def m(self, row):\n    return Row(row)"),
    "below a version switch": (TWO, OLD, "def m(self):\n    if version >= 2:\n        return Row(size=1)"),
}


def calls(before: str, after: str, body: str) -> list[tuple[str, str]]:
    text = npu(body, head="from vllm.part import Row")
    old, new = (world(npu=text, **{"vllm/part.py": part}) for part in (before, after))
    assert find(new, new) == []
    return symbols(find(new, old))


@pytest.mark.parametrize("name", LEFT_OUT)
def test_a_key_that_is_left_out(name: str) -> None:
    assert [code for code, _ in calls(*LEFT_OUT[name])] == ["RS302"]


@pytest.mark.parametrize("name", GIVEN)
def test_a_dictionary_that_has_what_it_must(name: str) -> None:
    assert calls(*GIVEN[name]) == []
