"""Read upstream's new assignments without type hints, and write the hints again in the result.

Comes in: a ``Triple``, then the result of its merge. Goes out: the triple, the hints taken out, the result with them.
May touch: nothing.

A hint tells nothing about which statements belong together. With it, an assignment that both sides added would stand
there twice, or be taken for a version of another statement that mentions the same names::

    base                    omni    rows = self.rows    upstream   rows: list[Row] = self.rows
                                                        as         rows = self.rows

timid: only hints on one line of a function; an assignment that the base has keeps its hint, and so does a name that has
one there.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from runner_sync.model import Triple
from runner_sync.statements import Node, flatten_function, tree_of


def without_new_hints(triple: Triple) -> tuple[Triple, dict[str, str]]:
    """Take the hints out of upstream's new assignments, except where omni has the same assignment with a hint.

    Returns also ``{line without its hint: line}`` for each such line that stands nowhere else in upstream's text and
    not in omni's.
    """
    base, omni, upstream = (flatten_function(text) for text in (triple.base, triple.omni, triple.upstream))
    had = {plain(node.canon) for node in base}
    hinted_in_base = {node.facts.targets for node in base if _read_hint(node) is not None}
    own = {plain(node.canon): hinted.hint for node in omni if (hinted := _read_hint(node)) is not None}
    lines, taken = triple.upstream.split("\n"), list[tuple[str, str]]()
    for node in upstream:
        if plain(node.canon) in had or node.facts.targets in hinted_in_base:
            continue
        hinted, row = _read_hint(node), node.start - 1
        line = lines[row]
        if hinted is not None:
            lines[row] = line.replace(node.lines[0], hinted.without, 1)
        name = node.facts.targets[0] if node.facts.targets else ""
        if (hint := own.get(plain(node.canon))) and lines[row].lstrip().startswith(f"{name} = "):
            lines[row] = lines[row].replace(name, f"{name}{hint}", 1)
        elif hinted is not None:
            taken.append((lines[row].strip(), line.strip()))
    counts, omni_lines = Counter(line.strip() for line in lines), {line.strip() for line in triple.omni.split("\n")}
    hints = {bare: line for bare, line in taken if counts[bare] == 1 and bare not in omni_lines}
    return replace(triple, upstream="\n".join(lines)), hints


def with_hints(text: str, hints: Mapping[str, str]) -> str:
    """Return ``text`` with the hints of its lines."""
    if not hints:
        return text
    lines = text.split("\n")
    return "\n".join(line.replace(line.strip(), hints.get(line.strip(), line.strip())) for line in lines)


class _Hinted(NamedTuple):
    """A hint with its colon, and the first line of the assignment without it."""

    hint: str
    without: str


def _read_hint(node: Node) -> _Hinted | None:
    """Return the hint of an assignment; ``None`` without one, or if it is not on one line."""
    first = node.lines[0]
    if node.compound or _HINTED.match(node.canon) is None or not first.isascii():
        return None
    match tree_of(node.text).body:
        case [ast.AnnAssign(target=target, annotation=annotation, value=ast.expr(), simple=simple)]:
            if annotation.end_lineno != 1 or not (simple or isinstance(target, ast.Attribute)):
                return None
            without = first[: target.end_col_offset] + first[annotation.end_col_offset :]
            if without[target.end_col_offset or 0 :].lstrip().startswith("="):
                return _Hinted(first[target.end_col_offset : annotation.end_col_offset], without)
    return None


@lru_cache(maxsize=16384)
def plain(canon: str) -> str:
    """Return a canonical assignment without its hint; any other statement as it is."""
    if _HINTED.match(canon) is None:
        return canon
    match tree_of(canon).body:
        case [ast.AnnAssign(target=target, value=ast.expr() as value)]:
            return f"{ast.unparse(target)} = {ast.unparse(value)}"
    return canon


_HINTED = re.compile(r"[\w.]+: .* = ", re.DOTALL)
