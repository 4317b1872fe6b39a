"""Puts a comment above every decision that a person must look at.

Comes in: module text and review items with their lines. Goes out: the text with comments, and the items with their
lines in that text. May touch: nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from runner_sync.edits import margin
from runner_sync.model import ReviewItem
from runner_sync.rulers import ruler_title
from runner_sync.statements import inside_strings
from runner_sync.statements.assigning import assigned_by
from runner_sync.syntax import Function, module_of, same_code, walk

WORD = "# runner-sync: review"
WIDTH = 120
_NOT_HERE = ("left out", "not ported", "it stands where")
"""How reasons say that something did not come, or where it is."""

_DEFINITION = Function | ast.ClassDef


def annotate(text: str, items: Sequence[ReviewItem]) -> tuple[str, list[ReviewItem]]:
    """``text`` with ``# runner-sync: review <id> <reason>`` above the statement of each item, once per id; and the
    items.

    A comment about a member that is not in the file stands above its class and names the member; one about what was
    left out, above the comments on what follows (`_above_remarks`), or within the block that it was the end of; one
    about text that begins with a comment, above that. If the comments would change what the code does, the text stays
    as it is.
    """
    lines = text.split("\n")
    tree = module_of(text)
    starts, defined, inside = _statement_starts(tree), _defined(tree), inside_strings(text)
    defining = {_first_line(node) for node in walk(tree) if isinstance(node, _DEFINITION)}
    wanted: dict[int, list[ReviewItem]] = {}
    for item in items:
        if not item.in_file:
            continue
        start = _start(starts, item.line, lines)
        if _begins_at_comment(item, lines, inside) or (not item.chosen.strip() and _closes_block(lines, item.line - 1)):
            start = item.line
        elif _is_left_out(item) and start not in defining:
            start = _above_remarks(lines, start, inside)
        wanted.setdefault(start, []).append(item)
    out: list[str] = []
    shift: dict[int, int] = {}
    for number, line in enumerate(lines, start=1):
        for item in _once(wanted.get(number, [])):
            if f"{WORD} {item.id} " not in text:
                out.append(_fitted(f"{margin(line)}{WORD} {item.id} {_about(item, defined)}", item.reason))
        shift[number] = len(out) + 1 - number
        out.append(line)
    made = "\n".join(out)
    if not same_code(made, text):
        return text, list(items)
    return made, [_moved(item, shift) for item in items]


def _about(item: ReviewItem, defined: Container[str]) -> str:
    """What a reader of the file alone must know before the reason: which member, or that what is meant is not here. The
    statement below was not meant."""
    if item.unit not in defined:
        return f"{item.unit.rpartition('.')[2]}: "
    says_so = any(word in item.reason for word in _NOT_HERE)
    return "" if says_so or item.omni.strip() or not item.upstream.strip() or item.chosen.strip() else "left out: "


def _fitted(start: str, reason: str) -> str:
    """The comment in the width that linters ask for; the report has the whole reason.

    What can be said in fewer words is, and that nothing has proved a port gives way to whatever else is said of it.
    """
    short = reason.replace("on this platform", "here")
    lines = [f"{start}{said}" for said in (reason, short, _UNPROVEN.sub("", short))]
    return next((line for line in lines if len(line) <= WIDTH), lines[-1][: WIDTH - 1].rstrip() + "…")


_UNPROVEN = re.compile(r"; [^;]+ run here yet(?=;)")


def _statement_starts(tree: ast.Module) -> list[int]:
    """First lines (decorators included) of all statements, sorted."""
    return sorted({_first_line(node) for node in walk(tree) if isinstance(node, ast.stmt)})


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, _DEFINITION) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _defined(tree: ast.Module) -> set[str]:
    """Qualified names of what the file defines or assigns."""
    classes = [node for node in walk(tree) if isinstance(node, ast.ClassDef)]
    members = {f"{node.name}.{name}" for node in classes for name in _defined_in(node.body)}
    return {node.name for node in classes} | members | set(_defined_in(tree.body))


def _defined_in(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Names of the functions and variables of a suite."""
    for node in body:
        if isinstance(node, Function):
            yield node.name
        yield from (one.name for one in assigned_by(node))


def _start(starts: Sequence[int], line: int, lines: Sequence[str]) -> int:
    """The first line of the statement at ``line``; for a blank or comment line, of the next statement."""
    text = lines[line - 1].strip() if line <= len(lines) else ""
    after = [start for start in starts if start >= line]
    if after and (not text or text.startswith("#")):
        return after[0]
    before = [start for start in starts if start <= line]
    return before[-1] if before else (starts[0] if starts else 1)


def _is_left_out(item: ReviewItem) -> bool:
    """Whether an item is about text that is not in the file: it is not about the statement that it stands at."""
    return not item.chosen.strip() and bool(item.base.strip() or item.upstream.strip())


def _begins_at_comment(item: ReviewItem, lines: Sequence[str], inside: Container[int]) -> bool:
    """Whether what an item shows as chosen stands at its line and begins with a comment (``inside`` as below); not
    with a ruler, which is about the whole block."""
    line = lines[item.line - 1].strip() if item.line <= len(lines) else ""
    is_chosen = item.chosen.strip().partition("\n")[0].strip() == line
    return is_chosen and line.startswith("#") and ruler_title(line) is None and item.line - 1 not in inside


def _closes_block(lines: Sequence[str], at: int) -> bool:
    """Whether the line with offset ``at`` is a ruler that closes a block: what stood there was the end of the block."""
    return at < len(lines) and ruler_title(lines[at].strip()) is not None and not _opens(lines, at)


def _above_remarks(lines: Sequence[str], start: int, inside: Container[int]) -> int:
    """The first line of the comments directly above the statement at line ``start``, up to a ruler that opens the block
    of the statement, or ``start``; never a ruler that closes another block. ``inside`` are offsets of lines that begin
    inside a string."""
    beginning, first = f"{margin(lines[start - 1])}#", start
    while first > 1 and first - 2 not in inside and lines[first - 2].startswith(beginning):
        is_ruler = ruler_title(lines[first - 2].strip()) is not None
        if is_ruler and not _opens(lines, first - 2):
            break
        first -= 1
        if is_ruler:
            break
    return first


def _opens(lines: Sequence[str], at: int) -> bool:
    """Whether the ruler on the line with offset ``at`` opens a block: each closes the one before it in its suite."""
    indent = margin(lines[at])
    above = takewhile(lambda line: not line.strip() or margin(line).startswith(indent), reversed(lines[:at]))
    rulers = [line for line in above if margin(line) == indent and ruler_title(line.strip()) is not None]
    return len(rulers) % 2 == 0


def _once(items: Iterable[ReviewItem]) -> list[ReviewItem]:
    return list({item.id: item for item in items}.values())


def _moved(item: ReviewItem, shift: dict[int, int]) -> ReviewItem:
    by = shift.get(item.line, 0)
    return replace(item, line=item.line + by, end_line=item.end_line + shift.get(item.end_line, by))
