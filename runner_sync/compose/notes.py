"""Puts a comment above every decision that a person must look at.

Comes in: module text and review items with their lines. Goes out: the text with comments, and the items with their
lines in that text. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from runner_sync.edits import margin
from runner_sync.model import ReviewItem
from runner_sync.syntax import module_of, same_code, walk

WORD = "# runner-sync: review"
WIDTH = 120


def annotate(text: str, items: Sequence[ReviewItem]) -> tuple[str, list[ReviewItem]]:
    """``text`` with ``# runner-sync: review <id> <reason>`` above the statement of each item, once per id; and the
    items.

    A comment about a member that is not in the file stands above its class and names the member. If the comments would
    change what the code does, the text stays as it is.
    """
    lines = text.split("\n")
    tree = module_of(text)
    starts, defined = _statement_starts(tree), _defined(tree)
    wanted: dict[int, list[ReviewItem]] = {}
    for item in items:
        if not item.in_file:
            continue
        wanted.setdefault(_start(starts, item.line, lines), []).append(item)
    out: list[str] = []
    shift: dict[int, int] = {}
    for number, line in enumerate(lines, start=1):
        for item in _once(wanted.get(number, [])):
            if f"{WORD} {item.id} " not in text:
                about = "" if item.unit in defined else f"{item.unit.rpartition('.')[2]}: "
                out.append(_cut(f"{margin(line)}{WORD} {item.id} {about}{item.reason}"))
        shift[number] = len(out) + 1 - number
        out.append(line)
    made = "\n".join(out)
    if not same_code(made, text):
        return text, list(items)
    return made, [_moved(item, shift) for item in items]


def _cut(line: str) -> str:
    """The line, shortened to the width that linters ask for; the report has the whole reason."""
    return line if len(line) <= WIDTH else line[: WIDTH - 1].rstrip() + "…"


def _statement_starts(tree: ast.Module) -> list[int]:
    """First lines (decorators included) of all statements, sorted."""
    found = set()
    for node in walk(tree):
        if isinstance(node, ast.stmt):
            found.add(min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]))
    return sorted(found)


def _defined(tree: ast.Module) -> set[str]:
    """Qualified names of what the file defines or assigns."""
    classes = [node for node in walk(tree) if isinstance(node, ast.ClassDef)]
    members = {f"{node.name}.{name}" for node in classes for name in _defined_in(node.body)}
    return {node.name for node in classes} | members | set(_defined_in(tree.body))


def _defined_in(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Names of the functions and variables of a suite."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


def _start(starts: Sequence[int], line: int, lines: Sequence[str]) -> int:
    """The first line of the statement at ``line``; for a blank or comment line, of the next statement."""
    text = lines[line - 1].strip() if line <= len(lines) else ""
    after = [start for start in starts if start >= line]
    if after and (not text or text.startswith("#")):
        return after[0]
    before = [start for start in starts if start <= line]
    return before[-1] if before else (starts[0] if starts else 1)


def _once(items: Iterable[ReviewItem]) -> list[ReviewItem]:
    return list({item.id: item for item in items}.values())


def _moved(item: ReviewItem, shift: dict[int, int]) -> ReviewItem:
    by = shift.get(item.line, 0)
    return replace(item, line=item.line + by, end_line=item.end_line + shift.get(item.end_line, by))
