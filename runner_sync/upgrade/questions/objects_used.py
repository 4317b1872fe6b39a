"""Which parts of an object a passage uses, and whether two of them belong to one feature by their names.

Comes in: texts of methods and passages. Goes out: ``Part`` values. May touch: nothing.

Two hooks of one model are halves of a feature, as are a queue's way in and its way out::

    post = getattr(self.model, "post_sample_outputs", None)      self.model, post_sample_outputs
    self.cache.drain_async_writes()                              self.cache, drain_async_writes
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from runner_sync.statements import flatten
from runner_sync.statements.dataflow import sets


class Part(NamedTuple):
    """Something that an object has: ``owner`` is the object, as ``self.model``, and ``name`` what is called or asked
    for."""

    owner: str
    name: str


def parts(passage: str, unit: str = "") -> frozenset[Part]:
    """The parts of objects of ``self`` that a passage calls or asks for by ``getattr`` and ``hasattr``; also by a local
    for one, as ``unit``, a method with that passage, sets it."""
    found = {Part(*match) for match in _USED.findall(_as_attributes(passage))}
    called = {*_CALLED.findall(passage)}
    return frozenset(found.union(*(used for name, used in _locals(unit).items() if name in called)))


def are_of_one_feature(one: Part, other: Part) -> bool:
    """Whether two parts of an object share two words in a row of their names; one word says too little."""
    return one.owner == other.owner and one.name != other.name and not _pairs(one.name).isdisjoint(_pairs(other.name))


def _pairs(name: str) -> set[tuple[str, str]]:
    words = [word.removesuffix("s") for word in name.strip("_").split("_")]
    return {*pairwise(words)}


def _locals(unit: str) -> Mapping[str, frozenset[Part]]:
    """The locals of a method that are set to parts of objects alone, with these."""
    found: dict[str, frozenset[Part]] = {}
    for node in flatten(unit) if unit else ():
        looked_up = _as_attributes(node.canon)
        for name in sets(node) if _ASKED in looked_up else ():
            found[name] = frozenset(Part(*match) for match in _USED.findall(looked_up))
    return found


def _as_attributes(text: str) -> str:
    """The text with attributes that are asked for by name written as such, and marked: ``getattr(self, "rows", None)``
    as ``self.rows``."""
    was = ""
    while was != text:
        was, text = text, _BY_NAME.sub(rf"\1.\2{_ASKED}", text)
    return text


_ASKED = "`"
"""Marks an attribute that is asked for by name; no code has it."""

_BY_NAME = re.compile(r"\b(?:getattr|hasattr)\(\s*(self(?:\.\w+`?)*)\s*,\s*[\"'](\w+)[\"']\s*(?:,[^()]*)?\)")

_USED = re.compile(r"(?<![\w.])(self(?:\.\w+)+)`?\.(\w+)(?:`|\()")

_CALLED = re.compile(r"(?<![\w.])(\w+)\(")
