"""What omni has of its own in a copied method, lifted out of it to be set into another revision of the method.

Comes in: a method as vllm-ascend has it and as omni has it. Goes out: ``Delta`` values, and a text with them set in.
May touch: nothing.

Two kinds: whole statements that omni added, and lines of vllm-ascend's that omni exchanged or took out. A place is safe
where the line in front, or the exchanged lines, stand exactly once.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from runner_sync import score
from runner_sync.statements import parses

_CLAUSE = re.compile(r"\s*(?:elif|else|except|finally)\b")


@dataclass(frozen=True, slots=True)
class Insertion:
    """Omni lines behind ``anchor`` (a stripped line); ``depth`` is their indentation relative to it."""

    anchor: str
    depth: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Lines of vllm-ascend's and what omni has in their place (nothing: taken out), less the indentation they share."""

    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Delta:
    """What omni changed in its copy of one method."""

    release: str
    method: str
    insertions: tuple[Insertion, ...]
    exchanges: tuple[Exchange, ...] = ()


def insertions(base: str, omni: str) -> Iterator[Insertion]:
    """Pure insertions of ``omni`` into ``base`` that are whole statements and nothing but."""
    old, new = base.split("\n"), omni.split("\n")
    matcher = SequenceMatcher(None, [x.strip() for x in old], [x.strip() for x in new], autojunk=False)
    for tag, at, _, start, end in matcher.get_opcodes():
        lines = new[start:end]
        anchor = next((line for line in reversed(old[:at]) if line.strip()), "")
        if tag != "insert" or not anchor or not any(_is_code(line) for line in lines):
            continue
        first = next(line for line in lines if line.strip())
        found = Insertion(anchor.strip(), _indent(first) - _indent(anchor), _dedented(lines, _indent(first)))
        if _is_whole(base, found):
            yield found


def _is_whole(base: str, insertion: Insertion) -> bool:
    """Whether the lines are statements by themselves and stay so in ``base``: no argument, no half of an ``if``."""
    alone, planted = "\n".join(insertion.lines), plant(base, [insertion])
    if planted is None or not parses(alone):
        return False
    return _statements(planted) == _statements(base) + _statements(alone)


def _statements(text: str) -> int:
    tree = ast.parse(textwrap.dedent(text))
    return sum(isinstance(node, ast.stmt) for node in ast.walk(tree))


def plant(text: str, inserted: Iterable[Insertion]) -> str | None:
    """``text`` with the insertions behind their anchors; ``None`` where one has no safe place."""
    lines = text.split("\n")
    for one in inserted:
        places = [k for k, line in enumerate(lines) if line.strip() == one.anchor]
        if len(places) != 1:
            return None
        depth = _indent(lines[places[0]]) + one.depth
        following = next((line for line in lines[places[0] + 1 :] if line.strip()), "")
        # Deeper lines below, or an ``else``, belong to what stands before: an insertion would cut that in two.
        if depth < 0 or (following and _indent(following) > depth) or _CLAUSE.match(following):
            return None
        lines[places[0] + 1 : places[0] + 1] = [" " * depth + line if line else "" for line in one.lines]
    planted = "\n".join(lines)
    return planted if parses(planted) else None


def exchanges(base: str, omni: str) -> Iterator[Exchange]:
    """Lines of ``base`` that ``omni`` exchanged or took out, where that alone makes another program of ``base``."""
    old, new = base.split("\n"), omni.split("\n")
    for tag, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag not in ("replace", "delete") or start == 0 or not any(line.strip() for line in old[start:end]):
            continue
        below = next((_indent(line) for line in old[end:] if line.strip()), 0)
        if _opened(old[start:end], below) != _opened(new[first:last], below):
            continue  # what stands below would come into another suite
        width = _width((*old[start:end], *new[first:last]))
        found = Exchange(_dedented(old[start:end], width), _dedented(new[first:last], width))
        made = exchange(base, [found])
        if made is not None and score.unparse_methods(as_class(made)) != score.unparse_methods(as_class(base)):
            yield found


def _opened(lines: Sequence[str], depth: int) -> list[int]:
    """The indentations of the lines that a line at ``depth`` behind them stands in."""
    found: list[int] = []
    for line in reversed([line for line in lines if line.strip()]):
        if _indent(line) < depth:
            depth = _indent(line)
            found.append(depth)
    return found


def exchange(text: str, exchanged: Iterable[Exchange]) -> str | None:
    """``text`` with the exchanges made; ``None`` where the lines of one do not stand there exactly once."""
    lines = text.split("\n")
    for one in exchanged:
        count, own = len(one.old), _width(one.old)
        found = [
            (k, width)
            for k in range(len(lines) - count + 1)
            for width in [_width(lines[k : k + count]) - own]
            if width >= 0 and _dedented(lines[k : k + count], width) == one.old
        ]
        if len(found) != 1:
            return None
        (place, width), *_ = found
        lines[place : place + count] = [" " * width + line if line else "" for line in one.new]
    made = "\n".join(lines)
    return made if parses(made) else None


def as_class(method: str, name: str = "OmniNPUModelRunner") -> str:
    """A module with one class that has ``method``."""
    return f"class {name}:\n{method.rstrip()}\n"


def _width(lines: Iterable[str]) -> int:
    return min((_indent(line) for line in lines if line.strip()), default=0)


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith("#")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _dedented(lines: Sequence[str], width: int) -> tuple[str, ...]:
    return tuple(line[min(width, _indent(line)) :] if line.strip() else "" for line in lines)
