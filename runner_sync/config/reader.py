"""Read typed values from one table of a configuration file.

Comes in: the table and the path of its file. Goes out: values of the requested types. May touch: nothing. Errors name
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
"""Keys that hold a list of strings. People often write one string without brackets, so the error shows the brackets."""


class Reader:
    """Typed access to the keys of one configuration table."""

    def __init__(self, path: Path, table: Mapping[str, Any]) -> None:
        self._path = path
        self._table = table

    def value(self, key: str, kind: Any, default: Any) -> Any:
        """Return the value of ``key`` as ``kind``, or ``default`` if the key is not set.

        Raises ``InputError`` for a value of another kind, and for a list or table with a blank text or a control
        character. Such a name would match everything or nothing, and silently disable the search for it.
        """
        if key not in self._table:
            return default
        import msgspec  # not needed in a repository without configuration

        try:
            found = msgspec.convert(self._prepare(key), kind)
        except msgspec.ValidationError as error:
            if isinstance(self._table[key], str) and key.removeprefix("extend-") in _LISTS:
                raise self.error(f"{key} is a list; write {key} = [{json.dumps(self._table[key])}].") from error
            raise self.error(f"{key}{_explain(error, self._table[key], kind)}") from error
        for text in _iter_texts(found) if not isinstance(found, str) else ():
            if not text.strip():
                raise self.error(f"{key} has an empty text ({text!r}); write it or take it out.")
            if CONTROL.search(text):
                raise self.error(f"{key} has {text!r}, which holds a control character; take it out.")
        return found

    def word(self, key: str, default: str) -> str:
        """Return the string that ``key`` is set to. Raises ``InputError`` for a blank string and for control
        characters."""
        value: str = self.value(key, str, default)
        if not value.strip():
            raise self.error(f"{key} is empty; write it or leave the key out.")
        if CONTROL.search(value):
            raise self.error(f"{key} is {value!r}, which holds a control character; take it out.")
        return value

    def choice(self, key: str, allowed: Sequence[Any], default: Any) -> Any:
        """Return the value of ``key``, one of ``allowed``. Raises ``InputError`` for another one."""
        value = self.value(key, str, default)
        if value not in allowed:
            raise self.error(f"{key} is {value!r}; {_write_one_of(allowed)}")
        return value

    def error(self, message: str) -> InputError:
        """Return the error for a wrong value: the path of the file, then ``message``."""
        return InputError(f"{self._path}: {message}")

    def _prepare(self, key: str) -> Any:
        kind = _ROW_KINDS.get(key.removeprefix("extend-"))
        return _spell_keys(self._table[key], kind, f"{self._path}: {key}") if kind else self._table[key]

    def path(self, key: str) -> Path | None:
        """Return a path relative to the configuration file, made absolute; ``None`` if it is not set."""
        value = self.value(key, str, None)
        if value == "":
            raise self.error(f"{key} is empty; name a path or leave it out.")
        if value is None:
            return None
        return resolved(self._path.parent / expanded(value, named_by=f"{self._path}: {key}"))

    def policies(self, key: str) -> dict[str, Policy]:
        """Return ``{unit pattern: policy}`` from the table ``key``."""
        allowed = get_args(Policy)
        for pattern, policy in self.value(key, dict[str, str], {}).items():
            if policy not in allowed:
                raise self.error(f"{key} has {policy!r} for {pattern!r}; {_write_one_of(allowed)}")
        known: dict[str, Policy] = self.value(key, dict[str, Policy], {})
        return known

    def selected(self, key: str) -> tuple[str, ...]:
        """Return the rule codes that ``key`` selects. An empty list is refused: it could mean all rules, or none."""
        codes = self.codes(key, self.value(key, tuple[str, ...], ()))
        if key in self._table and not codes:
            raise self.error(f'{key} is empty; write rule codes, ["ALL"] for every rule, or leave the key out.')
        return codes

    def codes(self, key: str, codes: Sequence[str]) -> tuple[str, ...]:
        """Return ``codes`` if each is a rule code or the prefix of one. Raises ``InputError`` otherwise."""
        for code in codes:
            if not _CODE.fullmatch(code):
                raise self.error(f"{key} has {code!r}, which is no rule code; write RS203, RS2 or ALL.")
        return tuple(codes)


def _iter_texts(value: Any) -> Iterator[str]:
    """Yield the texts of a list, a table or one of their rows, except row fields that are empty by default."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _iter_texts(tuple(value.items()))
    elif isinstance(value, tuple):
        for item in value:
            yield from _iter_texts(item)
    elif is_dataclass(value):
        yield from _iter_texts(tuple(getattr(value, f.name) for f in fields(value) if f.default != ""))


def _spell_keys(value: Any, kind: Any, where: str) -> Any:
    """Spell the keys of ``value``'s tables like the fields of the dataclass ``kind`` (``new-name`` → ``new_name``).

    Raises ``InputError`` for a key that is no field.
    """
    if isinstance(value, list):
        return [_spell_keys(item, kind, f"{where}[{index}]") for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    known = [row_field.name.replace("_", "-") for row_field in fields(kind)]
    for key in value:
        if key not in known:
            raise InputError(f"{where}: unknown key {key}; known are {', '.join(known)}.")
    return {
        key.replace("-", "_"): _spell_keys(item, Anchor, f"{where}.{key}") if kind is RunnerModule else item
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
"""For each type name of msgspec: what TOML calls such a value, and how to write one."""


def _explain(error: msgspec.ValidationError, value: Any, kind: Any) -> str:
    """Return the rest of a sentence that begins with a key: the place in its value, the mistake and what to write."""
    what, _, where = str(error).partition(" - at `$")
    place = where.removesuffix("`").replace("_", "-")
    if place.startswith("[...]"):
        place = _find_wrong_entry(value, kind) + place.removeprefix("[...]")
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


def _find_wrong_entry(table: Mapping[str, Any], kind: Any) -> str:
    """Return ``.KEY`` of the first entry of ``table`` whose value does not fit ``kind``, a ``dict`` type.

    msgspec does not say which entry is wrong.
    """
    import msgspec

    for key, entry in table.items():
        try:
            msgspec.convert(entry, get_args(kind)[1])
        except msgspec.ValidationError:
            return f".{key}"
    return ""
