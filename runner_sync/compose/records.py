"""Unpackings of a record that has grown: a tuple of N names from a record of N + 1 fields fails on its first run.

Comes in: method texts and the fields of records such as ``ExecuteModelState``. Goes out: the text with the new names in
their places. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from runner_sync.statements import parse_unit

FEWEST = 4
"""Names in common below which a tuple is no unpacking of the record."""

Fields = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Fitted:
    """The text after a change, the record and the fields that an unpacking of it newly takes, and where it stands.

    ``line`` is its first line, ``statement`` its text.
    """

    text: str
    record: str
    added: Fields
    line: int
    statement: str


def fields(text: str, name: str) -> Fields:
    """The fields of a record class in order; empty when the text does not define it."""
    for node in _parsed(text).body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return tuple(
                s.target.id for s in node.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)
            )
    return ()


def fit_unpackings(text: str, records: Mapping[str, Fields]) -> Fitted | None:
    """The method with its first too short unpacking completed; ``None`` when there is none.

    An unpacking takes its names from an attribute of ``self``. It is one of a record when all its names are fields of
    it, in their order, or stand for one with an underscore in front.
    """
    for target in _unpackings(text):
        names = [element.id for element in target.elts if isinstance(element, ast.Name)]
        for record, wanted in records.items():
            added = _missing(names, wanted)
            if added and len(names) == len(target.elts):
                made, line = _completed(text, target, wanted), target.lineno
                grown = len(made.split("\n")) - len(text.split("\n"))
                last = line + (target.end_lineno or target.lineno) - target.lineno + grown
                return Fitted(made, record, added, line, "\n".join(made.split("\n")[line - 1 : last]))
    return None


def _missing(names: Sequence[str], wanted: Fields) -> Fields:
    """The fields between and behind ``names`` that make them the whole record; empty when they are none of it."""
    plain = [name if name in wanted else name.lstrip("_") for name in names]
    places = [wanted.index(name) for name in plain if name in wanted]
    if len(places) < max(len(plain), FEWEST) or places != sorted(set(places)) or 2 * len(places) < len(wanted):
        return ()
    return tuple(field for k, field in enumerate(wanted) if k not in places)


def _unpackings(text: str) -> Iterator[ast.Tuple]:
    for node in ast.walk(_parsed(text)):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Tuple):
            value = node.value
            if isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == "self":
                yield node.targets[0]


def _completed(text: str, target: ast.Tuple, wanted: Fields) -> str:
    """The text with each missing name in front of the element that follows it, or behind the last one."""
    lines = text.split("\n")
    elements = [element for element in target.elts if isinstance(element, ast.Name)]
    known = {element.id if element.id in wanted else element.id.lstrip("_"): element for element in elements}
    pending: list[str] = []
    edits: list[tuple[ast.Name, list[str], bool]] = []
    for field in wanted:
        if field not in known:
            pending.append(field)
        elif pending:
            edits.append((known[field], pending, True))
            pending = []
    if pending:
        edits.append((elements[-1], pending, False))
    for element, names, before in reversed(edits):
        _insert(lines, element.lineno - 1, element, names, before=before)
    return "\n".join(lines)


def _insert(lines: list[str], row: int, element: ast.Name, names: Sequence[str], *, before: bool) -> None:
    line = lines[row]
    start, end = (len(line.encode()[:offset].decode()) for offset in (element.col_offset, element.end_col_offset or 0))
    if not line[:start].strip():
        rows = [f"{line[:start]}{name}," for name in names]
        if not before and not line[end:].lstrip().startswith(","):
            lines[row] = f"{line[:end]},{line[end:]}"
        lines[row if before else row + 1 : row if before else row + 1] = rows
    elif before:
        lines[row] = line[:start] + "".join(f"{name}, " for name in names) + line[start:]
    else:
        lines[row] = line[:end] + "".join(f", {name}" for name in names) + line[end:]


def _parsed(text: str) -> ast.Module:
    try:
        return parse_unit(text)
    except SyntaxError:
        return ast.Module([], [])
