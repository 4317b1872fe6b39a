"""Turn the options that name a tree into ``TreeOptions``, and refuse contradictory combinations.

Comes in: option values. Goes out: ``TreeOptions``. Raises ``InputError``. May touch: nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from runner_sync.errors import InputError

if TYPE_CHECKING:
    from runner_sync.model import Project
    from runner_sync.sync.options import TreeOptions

_PROJECTS: dict[str, Project] = {"ascend": "vllm-ascend", "vllm": "vllm"}
_REVIEW_ID = re.compile(r"R[0-9a-f]*")
_PLACE = re.compile(r"(?P<file>.+?)(?::(?P<line>\d+)(?::\d+)?)?")


def refuse_both(first: str, second: str, *, given: bool) -> None:
    """Raise an ``InputError`` that names both options if both are ``given``."""
    if given:
        raise InputError(f"{first} and {second} exclude each other: leave one of them out.")


def refuse_empty(**bases: str | None) -> None:
    """Raise ``InputError`` for a base that is an empty text, for example from an unset variable."""
    for name, value in bases.items():
        if value is not None and not value.strip():
            raise InputError(f"--{name.replace('_', '-')} is empty: name a revision or version, or leave it out.")


def make_omni_tree(path: Path | None, version: str | None) -> TreeOptions:
    """Return where vllm-omni is: a path, a release, or the current directory."""
    from runner_sync.sync.options import TreeOptions

    refuse_both("--omni-path", "--omni-version", given=path is not None and version is not None)
    return TreeOptions(version=version) if version is not None else TreeOptions(path=path or Path())


def make_upstream_tree(name: str, path: Path | None, ref: str | None, version: str | None) -> TreeOptions:
    """Return where ``name`` (``ascend`` or ``vllm``) is.

    A revision without a path belongs to the checkout that the environment variable names. Raises ``InputError`` if
    there is none.
    """
    from runner_sync.sync.options import PATH_VARIABLES, TreeOptions

    refuse_both(f"--{name}-path", f"--{name}-version", given=path is not None and version is not None)
    refuse_both(f"--{name}-ref", f"--{name}-version", given=ref is not None and version is not None)
    if ref is not None and path is None:
        named = os.environ.get(PATH_VARIABLES[_PROJECTS[name]])
        if not named:
            raise InputError(f"--{name}-ref {ref} names a revision of no checkout: add --{name}-path DIR.")
        path = Path(named)
    return TreeOptions(path=path, ref=ref, version=version)


def split_selected_codes(values: Sequence[str] | None) -> tuple[str, ...]:
    """Split the codes of ``--select``. Raises ``InputError`` if it is given without a rule: that could mean all, or
    none."""
    codes = split_codes(values)
    if values and not codes:
        raise InputError("--select is empty: write rule codes, ALL for every rule, or leave it out.")
    return codes


def split_codes(values: Sequence[str] | None) -> tuple[str, ...]:
    """Split repeated options at commas into rule codes in upper case; other words stay as written."""
    codes = [code.strip() for value in values or () for code in value.split(",") if code.strip()]
    return tuple(code.upper() if code.upper().startswith("RS") or code.upper() == "ALL" else code for code in codes)


def is_review_id(place: str) -> bool:
    """Whether ``place`` is the id of a review item, or the beginning of one, and no file."""
    return _REVIEW_ID.fullmatch(place) is not None


def split_place(place: str) -> tuple[str, int | None]:
    """Split ``FILE``, ``FILE:LINE`` or ``FILE:LINE:COLUMN`` into file and 1-based line."""
    found = _PLACE.fullmatch(place)
    if found is None:
        raise InputError(f"{place!r} names no file: write FILE or FILE:LINE.")
    file, separator, rest = found["file"].partition(".py:")
    if separator and not found["line"]:
        raise InputError(f"{rest!r} is no line: write one number behind the file, as in {file}.py:410.")
    line = int(found["line"]) if found["line"] else None
    if line == 0:
        raise InputError(f"{place}: lines are counted from 1; write {found['file']}:1.")
    return found["file"], line
