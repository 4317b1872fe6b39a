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

from runner_sync.compose.layout import LINE_LENGTH
from runner_sync.edits import margin
from runner_sync.model import ReviewItem
from runner_sync.rulers import ruler_title
from runner_sync.statements import inside_strings
from runner_sync.statements.assigning import assigned_by
from runner_sync.syntax import Function, module_of, same_code, walk

WORD = "# runner-sync: review"
CONFLICT = "<<<<<<< omni"
"""How a merge conflict begins that ``--conflict inline`` writes instead of a comment; the id follows."""

_NOT_HERE = ("left out", "not ported", "it stands where")
"""Phrases of reasons that say that something was left out, or where it is."""

_DEFINITION = Function | ast.ClassDef


def add_review_comments(text: str, items: Sequence[ReviewItem]) -> tuple[str, list[ReviewItem]]:
    """Put ``# runner-sync: review <id> <reason>`` above each item's statement in ``text``, once per id.

    Returns the text, and the items with their lines in that text. A comment about a member that is not in the file goes
    above its class and names the member. A comment about omitted text goes above the comments on what follows
    (`_find_comment_start`), or inside the block that the text ended. A comment about text that begins with a comment
    goes above that. The text stays unchanged if the comments would change what the code does.
    """
    lines = text.split("\n")
    tree = module_of(text)
    starts, defined, inside = _find_statement_starts(tree), _find_defined_names(tree), inside_strings(text)
    defining = {_first_line(node) for node in walk(tree) if isinstance(node, _DEFINITION)}
    wanted: dict[int, list[ReviewItem]] = {}
    for item in items:
        if not item.in_file:
            continue
        start = _find_statement_start(starts, item.line, lines)
        if _is_chosen_comment(item, lines, inside) or (
            not item.chosen.strip()
            and (_is_closing_ruler(lines, item.line - 1) or _ends_deeper_suite(lines, item.line, start))
        ):
            start = item.line
        elif _is_left_out(item) and start not in defining:
            start = _find_comment_start(lines, start, inside)
        wanted.setdefault(start, []).append(item)
    out: list[str] = []
    shift: dict[int, int] = {}
    for number, line in enumerate(lines, start=1):
        for item in _drop_duplicates(wanted.get(number, [])):
            if f"{WORD} {item.id} " not in text:
                out.append(_fit_comment(f"{margin(line)}{WORD} {item.id} {_make_prefix(item, defined)}", item.reason))
        shift[number] = len(out) + 1 - number
        out.append(line)
    made = "\n".join(out)
    if not same_code(made, text):
        return text, list(items)
    return made, [_shift_item(item, shift) for item in items]


def _make_prefix(item: ReviewItem, defined: Container[str]) -> str:
    """Return what a reader of the file alone must know before the reason: the member, or that text was left out."""
    if item.unit not in defined:
        return f"{item.unit.rpartition('.')[2]}: "
    is_clear = any(word in item.reason for word in _NOT_HERE)
    return "" if is_clear or item.omni.strip() or not item.upstream.strip() or item.chosen.strip() else "left out: "


def _fit_comment(start: str, reason: str) -> str:
    """Return the comment in the width that linters ask for; the report has the whole reason.

    Uses shorter wording first. Then drops the clause that nothing has proved a port, and cuts the rest.
    """
    short = reason.replace("on this platform", "here")
    lines = [f"{start}{wording}" for wording in (reason, short, _UNPROVEN.sub("", short))]
    return next((line for line in lines if len(line) <= LINE_LENGTH), lines[-1][: LINE_LENGTH - 1].rstrip() + "…")


_UNPROVEN = re.compile(r"; [^;]+ run here yet(?=;)")


def _find_statement_starts(tree: ast.Module) -> list[int]:
    """Return the first lines (decorators included) of all statements, sorted."""
    return sorted({_first_line(node) for node in walk(tree) if isinstance(node, ast.stmt)})


def _first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, _DEFINITION) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _find_defined_names(tree: ast.Module) -> set[str]:
    """Return qualified names of what the file defines or assigns."""
    classes = [node for node in walk(tree) if isinstance(node, ast.ClassDef)]
    members = {f"{node.name}.{name}" for node in classes for name in _find_names(node.body)}
    return {node.name for node in classes} | members | set(_find_names(tree.body))


def _find_names(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Yield names of the functions and variables of a suite."""
    for node in body:
        if isinstance(node, Function):
            yield node.name
        yield from (one.name for one in assigned_by(node))


def _find_statement_start(starts: Sequence[int], line: int, lines: Sequence[str]) -> int:
    """Return the first line of the statement at ``line``; for a blank or comment line, of the next statement."""
    text = lines[line - 1].strip() if line <= len(lines) else ""
    after = [start for start in starts if start >= line]
    if after and (not text or text.startswith("#")):
        return after[0]
    before = [start for start in starts if start <= line]
    return before[-1] if before else (starts[0] if starts else 1)


def _is_left_out(item: ReviewItem) -> bool:
    """Whether an item is about text that is not in the file, so not about the statement at its line."""
    return not item.chosen.strip() and bool(item.base.strip() or item.upstream.strip())


def _is_chosen_comment(item: ReviewItem, lines: Sequence[str], inside: Container[int]) -> bool:
    """Whether the chosen text of an item begins with a comment at the item's line, which is no ruler.

    A ruler is about the whole block. ``inside`` is as for `_find_comment_start`.
    """
    line = lines[item.line - 1].strip() if item.line <= len(lines) else ""
    is_chosen = item.chosen.strip().partition("\n")[0].strip() == line
    return is_chosen and line.startswith("#") and ruler_title(line) is None and item.line - 1 not in inside


def _is_closing_ruler(lines: Sequence[str], at: int) -> bool:
    """Whether the line with offset ``at`` is a ruler that closes a block, so the omitted text was the block's end."""
    return at < len(lines) and ruler_title(lines[at].strip()) is not None and not is_opening_ruler(lines, at)


def _ends_deeper_suite(lines: Sequence[str], line: int, start: int) -> bool:
    """Whether a line is a comment deeper than the statement at line ``start`` behind it, so it ends another suite."""
    is_comment = line < start and lines[line - 1].lstrip().startswith("#")
    return is_comment and len(margin(lines[line - 1])) > len(margin(lines[start - 1]))


def _find_comment_start(lines: Sequence[str], start: int, inside: Container[int]) -> int:
    """Return the first line of the comments directly above the statement at line ``start``, or ``start``.

    Includes a ruler that opens the statement's block, and stops below one that closes another block. ``inside`` are
    offsets of lines that begin inside a string.
    """
    beginning, first = f"{margin(lines[start - 1])}#", start
    while first > 1 and first - 2 not in inside and lines[first - 2].startswith(beginning):
        is_ruler = ruler_title(lines[first - 2].strip()) is not None
        if is_ruler and not is_opening_ruler(lines, first - 2):
            break
        first -= 1
        if is_ruler:
            break
    return first


def is_opening_ruler(lines: Sequence[str], at: int) -> bool:
    """Whether the ruler on the line with offset ``at`` opens a block: each closes the previous one in its suite."""
    indent = margin(lines[at])
    above = takewhile(lambda line: not line.strip() or margin(line).startswith(indent), reversed(lines[:at]))
    rulers = [line for line in above if margin(line) == indent and ruler_title(line.strip()) is not None]
    return len(rulers) % 2 == 0


def _drop_duplicates(items: Iterable[ReviewItem]) -> list[ReviewItem]:
    return list({item.id: item for item in items}.values())


def _shift_item(item: ReviewItem, shift: dict[int, int]) -> ReviewItem:
    by = shift.get(item.line, 0)
    return replace(item, line=item.line + by, end_line=item.end_line + shift.get(item.end_line, by))
