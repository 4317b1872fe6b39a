"""A key that a ``TypedDict`` of upstream has lost, and that is still read (RS308)."""

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
