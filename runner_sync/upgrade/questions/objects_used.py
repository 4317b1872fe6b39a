"""Finds the members of objects that a passage uses, and which members belong to one feature by their names.

Comes in: texts of methods and passages. Goes out: ``ObjectMember`` values. May touch: nothing.

Two hooks of one model are halves of a feature, as are the way into a queue and the way out::

    post = getattr(self.model, "post_sample_outputs", None)      self.model, post_sample_outputs
    self.cache.drain_async_writes()                              self.cache, drain_async_writes
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple

from runner_sync.statements import flatten
from runner_sync.statements.calls import names_called
from runner_sync.statements.dataflow import sets


class ObjectMember(NamedTuple):
    """A member of an object: ``owner`` is the object, such as ``self.model``, ``name`` the called or read member."""

    owner: str
    name: str


def find_object_members(passage: str, unit: str = "") -> frozenset[ObjectMember]:
    """Return the members of objects of ``self`` that a passage calls or reads by ``getattr`` and ``hasattr``.

    Includes members called through a local that ``unit``, a method with the passage, sets to them.
    """
    found = {ObjectMember(*match) for match in _USED.findall(_spell_as_attributes(passage))}
    called = names_called(passage)
    return frozenset(found.union(*(used for name, used in _find_member_locals(unit).items() if name in called)))


def is_on_kept_object(called: str) -> bool:
    """Whether a call is on an object that the runner keeps, not on the runner itself, whose methods say more."""
    return called.startswith("self.") and called.count(".") > 1


def get_object(called: str) -> str:
    """Return the object on which a call is made: ``self.loads`` of ``self.loads.begin``."""
    return called.rpartition(".")[0]


def find_related(members: Iterable[ObjectMember], others: Collection[ObjectMember]) -> list[ObjectMember]:
    """Return those of the ``members`` that are of one feature with one of the others."""
    return sorted(one for one in members if any(_are_of_one_feature(one, other) for other in others))


def _are_of_one_feature(one: ObjectMember, other: ObjectMember) -> bool:
    """Whether two members of an object share two successive words of their names; one word says too little."""
    return (
        one.owner == other.owner
        and one.name != other.name
        and not _pair_words(one.name).isdisjoint(_pair_words(other.name))
    )


def _pair_words(name: str) -> set[tuple[str, str]]:
    words = [word.removesuffix("s") for word in name.strip("_").split("_")]
    return {*pairwise(words)}


def _find_member_locals(unit: str) -> Mapping[str, frozenset[ObjectMember]]:
    """Return the locals of a method that are set from ``getattr`` or ``hasattr``, with the members read there."""
    found: dict[str, frozenset[ObjectMember]] = {}
    for node in flatten(unit) if unit else ():
        looked_up = _spell_as_attributes(node.canon)
        for name in sets(node) if _ASKED in looked_up else ():
            found[name] = frozenset(ObjectMember(*match) for match in _USED.findall(looked_up))
    return found


def _spell_as_attributes(text: str) -> str:
    """Spell attributes that are read by name as marked attributes: ``getattr(self, "rows", None)`` as ``self.rows``."""
    was = ""
    while was != text:
        was, text = text, _BY_NAME.sub(rf"\1.\2{_ASKED}", text)
    return text


_ASKED = "`"
"""Marks an attribute that is read by name; no code has this character."""

_BY_NAME = re.compile(r"\b(?:getattr|hasattr)\(\s*(self(?:\.\w+`?)*)\s*,\s*[\"'](\w+)[\"']\s*(?:,[^()]*)?\)")

_USED = re.compile(r"(?<![\w.])(self(?:\.\w+)+)`?\.(\w+)(?:`|\()")
