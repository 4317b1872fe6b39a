"""Typed access to one table of a configuration file.

Comes in: the table and the path of its file. Goes out: values of the types asked for. May touch: nothing. Errors name
the file and the key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from runner_sync.errors import InputError
from runner_sync.model import Project
from runner_sync.profile import Anchor, KeywordRewrite, NameRewrite, Output, RunnerModule, SamplerHook
from runner_sync.user_paths import CONTROL, expanded, resolved

if TYPE_CHECKING:
    import msgspec

Policy = Literal["upstream", "omni", "review"]

_CODE = re.compile(r"RS\d{0,3}|ALL")
_ROW_KINDS = {
    "modules": RunnerModule,
    "names": NameRewrite,
    "keywords": KeywordRewrite,
    "sampler-hook": SamplerHook,
    "output": Output,
}


_LISTS = ("select", "ignore", "device-only", "unported", "gpu-imports", "handovers", "surroundings")
"""Keys that hold a list of strings. People often write a single one without brackets, so the error shows them."""


class Reader:
    """Typed access to the keys of one configuration table."""

    def __init__(self, path: Path, table: Mapping[str, Any]) -> None:
        self._path = path
        self._table = table

    def value(self, key: str, kind: Any, default: Any) -> Any:
        """The value of ``key`` as ``kind``, or ``default`` when it is not set. Raises ``InputError`` for one of another
        kind, and for a list or table that holds a blank text or a control character: a name that is none fits
        everywhere or nowhere, and turns off in silence what looks for it."""
        if key not in self._table:
            return default
        import msgspec  # not needed in a repository without configuration

        try:
            found = msgspec.convert(self._prepared(key), kind)
        except msgspec.ValidationError as error:
            if isinstance(self._table[key], str) and key.removeprefix("extend-") in _LISTS:
                raise self.error(f"{key} is a list; write {key} = [{json.dumps(self._table[key])}].") from error
            raise self.error(f"{key}{_complaint(error, self._table[key], kind)}") from error
        for text in _texts_within(found) if not isinstance(found, str) else ():
            if not text.strip():
                raise self.error(f"{key} has an empty text ({text!r}); write it or take it out.")
            if CONTROL.search(text):
                raise self.error(f"{key} has {text!r}, which holds a control character; take it out.")
        return found

    def word(self, key: str, default: str) -> str:
        """The string that ``key`` is set to. Raises ``InputError`` for a blank one, and for control characters."""
        value: str = self.value(key, str, default)
        if not value.strip():
            raise self.error(f"{key} is empty; write it or leave the key out.")
        if CONTROL.search(value):
            raise self.error(f"{key} is {value!r}, which holds a control character; take it out.")
        return value

    def choice(self, key: str, allowed: Sequence[Any], default: Any) -> Any:
        """The value of ``key``, one of ``allowed``."""
        value = self.value(key, str, default)
        if value not in allowed:
            raise self.error(f"{key} is {value!r}; {_write_one_of(allowed)}")
        return value

    def error(self, message: str) -> InputError:
        """The error for a wrong value: ``message`` behind the path of the file."""
        return InputError(f"{self._path}: {message}")

    def _prepared(self, key: str) -> Any:
        kind = _ROW_KINDS.get(key.removeprefix("extend-"))
        return _rows(self._table[key], kind, f"{self._path}: {key}") if kind else self._table[key]

    def path(self, key: str) -> Path | None:
        """A path relative to the configuration file, made absolute."""
        value = self.value(key, str, None)
        if value == "":
            raise self.error(f"{key} is empty; name a path or leave it out.")
        if value is None:
            return None
        return resolved(self._path.parent / expanded(value, named_by=f"{self._path}: {key}"))

    def policies(self, key: str) -> dict[str, Policy]:
        """``{unit pattern: policy}`` from the table ``key``."""
        allowed = get_args(Policy)
        for pattern, policy in self.value(key, dict[str, str], {}).items():
            if policy not in allowed:
                raise self.error(f"{key} has {policy!r} for {pattern!r}; {_write_one_of(allowed)}")
        known: dict[str, Policy] = self.value(key, dict[str, Policy], {})
        return known

    def selected(self, key: str) -> tuple[str, ...]:
        """The rule codes that ``key`` selects. An empty list is refused: it could mean all rules, or none."""
        codes = self.codes(key, self.value(key, tuple[str, ...], ()))
        if key in self._table and not codes:
            raise self.error(f'{key} is empty; write rule codes, ["ALL"] for every rule, or leave the key out.')
        return codes

    def codes(self, key: str, codes: Sequence[str]) -> tuple[str, ...]:
        """``codes``, each checked to have the form of a rule code or of a prefix of one. Raises ``InputError``."""
        for code in codes:
            if not _CODE.fullmatch(code):
                raise self.error(f"{key} has {code!r}, which is no rule code; write RS203, RS2 or ALL.")
        return tuple(codes)


def _texts_within(value: Any) -> Iterator[str]:
    """The texts of a list, a table or a row of one, without those fields of a row that are empty by default."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts_within(tuple(value.items()))
    elif isinstance(value, tuple):
        for item in value:
            yield from _texts_within(item)
    elif is_dataclass(value):
        yield from _texts_within(tuple(getattr(value, f.name) for f in fields(value) if f.default != ""))


def _rows(value: Any, kind: Any, where: str) -> Any:
    """``value`` with the keys of its tables spelled like the fields of the dataclass ``kind`` (``new-name`` →
    ``new_name``). Raises ``InputError`` for a key that is no field."""
    if isinstance(value, list):
        return [_rows(item, kind, f"{where}[{index}]") for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    known = [row_field.name.replace("_", "-") for row_field in fields(kind)]
    for key in value:
        if key not in known:
            raise InputError(f"{where}: unknown key {key}; known are {', '.join(known)}.")
    return {
        key.replace("-", "_"): _rows(item, Anchor, f"{where}.{key}") if kind is RunnerModule else item
        for key, item in value.items()
    }


def _write_one_of(allowed: Sequence[str]) -> str:
    return f"write {', '.join(allowed[:-1])} or {allowed[-1]}."


_KINDS = {
    "str": ("a string", "write it in quotes"),
    "array": ("a list", "write it in brackets"),
    "object": ("a table", "write it as { KEY = VALUE }"),
    "bool": ("a boolean", "write true or false"),
    "int": ("an integer", ""),
    "float": ("a float", ""),
    "date": ("a date", ""),
    "datetime": ("a date", ""),
    "time": ("a time", ""),
}
"""For each of msgspec's names of types: what TOML calls such a value, and how to write one."""


def _complaint(error: msgspec.ValidationError, value: Any, kind: Any) -> str:
    """The rest of a sentence that begins with a key: the place within its value, what is wrong, and what to write."""
    what, _, where = str(error).partition(" - at `$")
    place = where.removesuffix("`").replace("_", "-")
    if place.startswith("[...]"):
        place = _place_of_entry(value, kind) + place.removeprefix("[...]")
    if found := re.fullmatch(r"Expected `(\w+)(?: \| null)?`, got `(\w+)`", what):
        (wanted, remedy), (got, _) = _KINDS[found[1]], _KINDS[found[2]]
        return f"{place}: expected {wanted}, got {got}; {remedy}."
    if found := re.fullmatch(r"Expected `array` of length (\d+), got (\d+)", what):
        return f"{place}: expected a list of {found[1]}, got {found[2]}; write {found[1]} values."
    if found := re.fullmatch(r"Object missing required field `(\w+)`", what):
        return f"{place}: has no {found[1].replace('_', '-')}; add it."
    if (found := re.fullmatch(r"Invalid enum value ('.*')", what)) and place.endswith(".project"):
        return f"{place}: is {found[1]}; {_write_one_of(get_args(Project))}"
    return f"{place}: {what[:1].lower()}{what[1:]}; see the table of keys in the documentation."


def _place_of_entry(table: Mapping[str, Any], kind: Any) -> str:
    """``.KEY`` of the first entry of ``table`` whose value does not have the value type of ``kind``, a ``dict`` type:
    msgspec does not say which entry is wrong."""
    import msgspec

    for key, entry in table.items():
        try:
            msgspec.convert(entry, get_args(kind)[1])
        except msgspec.ValidationError:
            return f".{key}"
    return ""
