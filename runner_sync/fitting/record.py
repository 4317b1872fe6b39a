"""The fields of a record before an upgrade and now, and which field a value or name in a list of them belongs to.

Comes in: the texts of the values or names. Goes out: fields. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from runner_sync.fitting.record_lists import Fields, is_match
from runner_sync.thresholds import FEWEST_FIELDS


@dataclass(frozen=True, slots=True)
class Record:
    """A record's ordered fields before an upgrade and now; ``optional`` have defaults, ``twin`` are the GPU side's."""

    before: Fields
    now: Fields
    optional: frozenset[str] = frozenset()
    twin: Fields = ()

    @property
    def has_only_grown(self) -> bool:
        return () != self.before != self.now and [f for f in self.now if f in self.before] == list(self.before)


def read_as_fields(words: Sequence[str], one: Record) -> list[str]:
    """Return the field for each name of an unpacking; of the old size, another name stands for the field at its place.

    A name that belongs to no field stays.
    """
    fields = {*one.before, *one.now}
    plain = [word if word in fields else word.lstrip("_") for word in words]
    if is_match(plain, one.before):
        plain = [word if word in fields else field for word, field in zip(plain, one.before, strict=True)]
    return plain


def is_field_selection(names: Sequence[str], one: Record) -> bool:
    """Whether the names are distinct fields, old or new: most of the new ones, and the old ones in their old order."""
    left = [word for word in names if word in one.now]
    old = [word for word in names if word in one.before]
    return (
        len({*names}) == len(names)
        and {*names} <= {*one.before, *one.now}
        and len(left) >= max(FEWEST_FIELDS, len(one.now) / 2)
        and old == [field for field in one.before if field in old]
    )


def name_by_place(words: Sequence[str], one: Record, gone: Collection[str]) -> list[str]:
    """Return the values of a construction, with the name of its lost field for each that is named like no field.

    Applies only if all fields with a value stand at their old places.
    """
    is_old = is_complete(words, one.before, one.optional) and all(
        word == field for word, field in zip(words, one.before, strict=False) if word in one.before
    )
    pairs = zip(words, one.before, strict=False)
    return [field if field in gone else word for word, field in pairs] if is_old else [*words]


def is_complete(values: Sequence[object], wanted: Fields, optional: Collection[str]) -> bool:
    """Whether there is a value for each field, apart from some at the end that have a default."""
    return len(values) <= len(wanted) and {*wanted[len(values) :]} <= {*optional}
