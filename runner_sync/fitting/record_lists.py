"""Finds the places where a method lists the fields of a record (unpackings, constructions), and edits them.

Comes in: method texts, fields. Goes out: the nodes of such lists, and texts with other lists. May touch: nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import TypeGuard

from runner_sync.edits import Edit, Places, apply, margin
from runner_sync.statements import tree_of
from runner_sync.syntax import is_name, self_attribute, walk
from runner_sync.thresholds import FEWEST_FIELDS

Fields = tuple[str, ...]


def is_construction(node: ast.AST, name: str) -> TypeGuard[ast.Call]:
    """Whether a node is a construction of the record ``name``."""
    return isinstance(node, ast.Call) and is_name(node.func, name)


def find_unpackings(text: str) -> Iterator[ast.Tuple]:
    """Yield the targets of assignments that unpack an attribute of ``self``."""
    for node in walk(tree_of(text)):
        match node:
            case ast.Assign(targets=[ast.Tuple() as target], value=value) if self_attribute(value):
                yield target


def find_field_lists(text: str, name: str) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """Yield all unpackings, and all positional constructions of the record ``name``, each with its elements."""
    yield from ((target, target.elts) for target in find_unpackings(text))
    for node in walk(tree_of(text)):
        if is_construction(node, name) and not node.keywords:
            yield node, node.args


def is_match(names: Sequence[str], wanted: Fields) -> bool:
    """Whether there are as many names as fields, and most names match the fields at their positions."""
    same = sum(field in (name, name.lstrip("_")) for name, field in zip(names, wanted, strict=False))
    return len(names) == len(wanted) and same >= max(FEWEST_FIELDS, len(wanted) / 2)


def reorder_elements(text: str, elements: Sequence[ast.expr], right: Sequence[str]) -> str:
    """Return the text with the ``elements`` of one list in another order; ``right`` are their texts in that order.

    Elements move together with the comments behind them.
    """
    lines, rows = text.split("\n"), [element.lineno - 1 for element in elements]
    own = [
        re.fullmatch(rf"(\s*{re.escape(ast.unparse(e))})(?:\s*,)?(\s*#.*|\s*)", lines[row])
        for e, row in zip(elements, rows, strict=True)
    ]
    if not all(own) or len({*rows}) < len(rows):
        moved = _reorder_in_rows(text, elements, right)
        places = Places(text)
        return moved or apply(text, [places.instead_of(e, word) for e, word in zip(elements, right, strict=True)])
    line_of = {ast.unparse(e): f"{m[1]},{m[2].rstrip()}" for e, m in zip(elements, own, strict=True) if m}
    for row, word in zip(rows, right, strict=True):
        lines[row] = line_of[word]
    return "\n".join(lines)


_GAP = re.compile(r"\s*,[ \t]*(#[^\n]*)?\s*")
"""What stands between two elements of a list; the comment is about the first."""


def _reorder_in_rows(text: str, elements: Sequence[ast.expr], right: Sequence[str]) -> str:
    """Return the text as `reorder_elements` does, with rows that end at comments; empty if there are none.

    Also empty if anything else stands between the elements, or two are alike.
    """
    places = Places(text)
    ends = [*map(places.start, elements[1:]), places.line(elements[-1].end_lineno or elements[-1].lineno)[1]]
    gaps = [text[places.end(element) : end] for element, end in zip(elements, ends, strict=True)]
    between = [_GAP.fullmatch(gap) for gap in gaps[:-1]]
    behind = re.match(r"[ \t]*,?[ \t]*(#.*)?", gaps[-1])
    if not all(between) or behind is None:
        return ""
    remarks = [match[1] if match else None for match in (*between, behind)]
    if not any(remarks) or len({ast.unparse(element) for element in elements}) < len(elements):
        return ""
    remark_of = {ast.unparse(element): remark for element, remark in zip(elements, remarks, strict=True)}
    indent = " " * elements[0].col_offset
    made = "".join(f"{word},  {remark_of[word]}\n{indent}" if remark_of[word] else f"{word}, " for word in right)
    rest = text[places.end(elements[-1]) + behind.end() :]
    if not remark_of[right[-1]] and rest.startswith(")"):
        made = made.removesuffix(", ")
    return text[: places.start(elements[0])] + (made.rstrip() if rest.startswith("\n") else made) + rest


def remove_elements(text: str, elements: Sequence[ast.expr], lost: Container[ast.expr]) -> str:
    """Return the text without those ``elements`` of one list that are ``lost``."""
    for at in reversed(range(len(elements))):  # one by one, because two neighbours share a comma
        if elements[at] in lost:
            text = apply(text, [Places(text).element_out(elements[at], elements[: at + 1])])
    return text


def insert_elements(text: str, wanted: Fields, elements: Mapping[str, ast.expr], new: Mapping[str, str]) -> str:
    """Return the text with each ``new`` element in front of the next field in the list, or behind its last element.

    ``wanted`` are all fields in order, ``elements`` the existing elements by field, ``new`` the texts to add by field.
    """
    places = Places(text)
    pending: list[str] = []
    edits: list[Edit] = []
    for field in wanted:
        if field in new:
            pending.append(new[field])
        elif field in elements and pending:
            edits.append(places.ahead_of(elements[field], *pending))
            pending = []
    if pending:
        last = [field for field in wanted if field in elements][-1]
        edits += _append_values(places, elements[last], pending)
    return apply(text, edits)


def _append_values(places: Places, element: ast.expr, values: Sequence[str]) -> list[Edit]:
    """Return edits that put ``values`` behind an element and its comment, on lines of their own if it has one."""
    first, last = places.line(element.end_lineno or element.lineno)
    start, end = places.start(element), places.end(element)
    ahead, rest = places.text[first:start], places.text[end:last]
    if first <= start and not ahead.strip():
        comma = [] if rest.lstrip().startswith(",") else [Edit(end, end, ",")]
        return [*comma, Edit(last, last, "".join(f"\n{ahead}{value}," for value in values))]
    if remark := re.fullmatch(r"\s*,?\s*(#.*)", rest):
        # The comment stays with its element.
        indent = " " * (len(margin(places.text[first:last])) + 4)
        return [Edit(end, last, f",  {remark[1]}" + "".join(f"\n{indent}{value}," for value in values))]
    return [Edit(end, end, "".join(f", {value}" for value in values))]
