"""Extract omni's own changes from a copied method and apply them to another revision of the method.

Comes in: a method as in vllm-ascend and as in omni. Goes out: ``Delta`` values, and a text with them applied. May
touch: nothing.

There are two kinds: whole statements that omni added, and vllm-ascend lines that omni replaced or removed. A place is
safe if the preceding line, or the replaced lines, occur exactly once.
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
    """Omni lines behind ``anchor`` (a stripped line); ``depth`` is their indentation relative to the anchor."""

    anchor: str
    depth: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """Lines of vllm-ascend and omni's replacement (empty: removed), without their common indentation."""

    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Delta:
    """What omni changed in its copy of one method."""

    release: str
    method: str
    insertions: tuple[Insertion, ...]
    exchanges: tuple[Exchange, ...] = ()


def find_insertions(base: str, omni: str) -> Iterator[Insertion]:
    """Yield the pure insertions of ``omni`` into ``base`` that consist of whole statements."""
    old, new = base.split("\n"), omni.split("\n")
    matcher = SequenceMatcher(None, [x.strip() for x in old], [x.strip() for x in new], autojunk=False)
    for tag, at, _, start, end in matcher.get_opcodes():
        lines = new[start:end]
        anchor = next((line for line in reversed(old[:at]) if line.strip()), "")
        if tag != "insert" or not anchor or not any(_is_code(line) for line in lines):
            continue
        first = next(line for line in lines if line.strip())
        found = Insertion(anchor.strip(), _get_indent(first) - _get_indent(anchor), _dedent(lines, _get_indent(first)))
        if _is_whole(base, found):
            yield found


def _is_whole(base: str, insertion: Insertion) -> bool:
    """Whether the lines are statements both alone and in ``base``, not arguments or half an ``if``."""
    alone, planted = "\n".join(insertion.lines), plant(base, [insertion])
    if planted is None or not parses(alone):
        return False
    return _count_statements(planted) == _count_statements(base) + _count_statements(alone)


def _count_statements(text: str) -> int:
    tree = ast.parse(textwrap.dedent(text))
    return sum(isinstance(node, ast.stmt) for node in ast.walk(tree))


def plant(text: str, inserted: Iterable[Insertion]) -> str | None:
    """Return ``text`` with the insertions behind their anchors; ``None`` if one has no safe place."""
    lines = text.split("\n")
    for one in inserted:
        places = [k for k, line in enumerate(lines) if line.strip() == one.anchor]
        if len(places) != 1:
            return None
        depth = _get_indent(lines[places[0]]) + one.depth
        following = next((line for line in lines[places[0] + 1 :] if line.strip()), "")
        # Deeper lines below, or an ``else``, belong to the preceding statement, which an insertion would cut in two.
        if depth < 0 or (following and _get_indent(following) > depth) or _CLAUSE.match(following):
            return None
        lines[places[0] + 1 : places[0] + 1] = [" " * depth + line if line else "" for line in one.lines]
    planted = "\n".join(lines)
    return planted if parses(planted) else None


def find_exchanges(base: str, omni: str) -> Iterator[Exchange]:
    """Yield the lines of ``base`` that ``omni`` replaced or removed, if that alone changes the program of ``base``."""
    old, new = base.split("\n"), omni.split("\n")
    for tag, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag not in ("replace", "delete") or start == 0 or not any(line.strip() for line in old[start:end]):
            continue
        below = next((_get_indent(line) for line in old[end:] if line.strip()), 0)
        if _find_open_indents(old[start:end], below) != _find_open_indents(new[first:last], below):
            continue  # the lines below would move to another suite
        width = _get_common_indent((*old[start:end], *new[first:last]))
        found = Exchange(_dedent(old[start:end], width), _dedent(new[first:last], width))
        made = exchange(base, [found])
        if made is not None and score.unparse_methods(wrap_in_class(made)) != score.unparse_methods(
            wrap_in_class(base)
        ):
            yield found


def _find_open_indents(lines: Sequence[str], depth: int) -> list[int]:
    """Return the indentations of the ``lines`` that enclose a line at ``depth`` behind them."""
    found: list[int] = []
    for line in reversed([line for line in lines if line.strip()]):
        if _get_indent(line) < depth:
            depth = _get_indent(line)
            found.append(depth)
    return found


def exchange(text: str, exchanged: Iterable[Exchange]) -> str | None:
    """Return ``text`` after the exchanges; ``None`` if the lines of one do not occur exactly once."""
    lines = text.split("\n")
    for one in exchanged:
        count, own = len(one.old), _get_common_indent(one.old)
        found = [
            (k, width)
            for k in range(len(lines) - count + 1)
            for width in [_get_common_indent(lines[k : k + count]) - own]
            if width >= 0 and _dedent(lines[k : k + count], width) == one.old
        ]
        if len(found) != 1:
            return None
        (place, width), *_ = found
        lines[place : place + count] = [" " * width + line if line else "" for line in one.new]
    made = "\n".join(lines)
    return made if parses(made) else None


def wrap_in_class(method: str, name: str = "OmniNPUModelRunner") -> str:
    """Return a module with one class that contains ``method``."""
    return f"class {name}:\n{method.rstrip()}\n"


def _get_common_indent(lines: Iterable[str]) -> int:
    return min((_get_indent(line) for line in lines if line.strip()), default=0)


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.strip().startswith("#")


def _get_indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _dedent(lines: Sequence[str], width: int) -> tuple[str, ...]:
    return tuple(line[min(width, _get_indent(line)) :] if line.strip() else "" for line in lines)
