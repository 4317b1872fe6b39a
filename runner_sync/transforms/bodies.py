"""Leaves out the function bodies that no rewrite can change while libcst reads a module.

Comes in: a module's text. Goes out: a shorter text, and the way back to the whole one. May touch: nothing.

libcst takes about ten times as long as ``ast`` (vLLM's runner of 320 kB: 0.37 s against 0.04 s), and most methods of a
runner have no GPU name in them.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from runner_sync.syntax import blocks_of, first_line, module_of

_SHORTEST = 3
"""Lines: to leave out a shorter body gains nothing."""


@dataclass(frozen=True, slots=True)
class Shortened:
    """A module's text, each of ``bodies`` replaced by one line with ``mark`` and the body's number."""

    text: str
    mark: str = ""
    bodies: tuple[str, ...] = ()
    starts: tuple[int, ...] = ()
    """The lines of ``text``, from 1, that stand for the bodies."""

    def restored(self, text: str) -> str:
        """``text``, a version of the shortened text, with the bodies in their places."""
        if not self.bodies:
            return text
        return re.sub(rf"^[ \t]*\.\.\.{self.mark}(\d+)$", lambda match: self.bodies[int(match[1])], text, flags=re.M)

    def line(self, line: int) -> int:
        """The line of the whole text that is ``line`` of the shortened one (first lines of bodies for what is left
        out)."""
        longer = [0, *accumulate(body.count("\n") for body in self.bodies)]
        return line + longer[bisect_right(self.starts, line - 1)]


def shortened(text: str, kept: re.Pattern[str]) -> Shortened:
    """``text`` without the bodies of functions in which ``kept`` matches nothing; whole if it does not parse."""
    if "\r" in text:
        return Shortened(text)
    try:
        tree = module_of(text)
    except (SyntaxError, ValueError):
        return Shortened(text)
    lines = text.split("\n")
    mark = "  # left out "
    while mark in text:
        mark += "- "
    bodies: list[str] = []
    starts: list[int] = []
    short: list[str] = []
    done = 0
    for first, last in sorted(_spans(tree.body, lines)):
        body = "\n".join(lines[first - 1 : last])
        if kept.search(body):
            continue
        short += lines[done : first - 1]
        short.append(f"{_indent(body)}...{mark}{len(bodies)}")
        starts.append(len(short))
        bodies.append(body)
        done = last
    return Shortened("\n".join([*short, *lines[done:]]), mark, tuple(bodies), tuple(starts))


def _spans(statements: Iterable[ast.stmt], lines: list[str]) -> Iterator[tuple[int, int]]:
    """First and last line of the body of each function that is in no other, without those that begin on the line of
    their head."""
    for node in statements:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first, last = first_line(node.body[0]), node.body[-1].end_lineno or 0
            if last - first + 1 >= _SHORTEST and _begins_its_line(node.body[0], lines):
                yield first, last
        else:
            for suite in [node.body] if isinstance(node, ast.ClassDef) else blocks_of(node):
                yield from _spans(suite, lines)


def _begins_its_line(statement: ast.stmt, lines: list[str]) -> bool:
    """Whether nothing, such as the end of a head of several lines, is in front of ``statement``."""
    line = lines[first_line(statement) - 1]
    return line.lstrip(" \t").startswith("@") or not line.encode()[: statement.col_offset].strip(b" \t")


def _indent(body: str) -> str:
    return body[: len(body) - len(body.lstrip(" \t"))]
