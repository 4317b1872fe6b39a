"""Edit a text at the positions of its syntax tree's nodes.

Comes in: a text, nodes of its tree, and the new text for them. Goes out: the edited text. May touch: nothing.

``ast`` counts columns in UTF-8 bytes, but strings are indexed by characters. Only `Places` converts between the two.
`apply` makes all edits of a text at once, so that no edit shifts the position of another.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from runner_sync.syntax import Function

_LINE_END = re.compile(r"\r\n?|\n")
"""The line ends that Python's parser counts; `str.splitlines` also splits at form feeds and Unicode separators."""

_COMMA = re.compile(r"[ \t]*,[ \t]*")
_REST_OF_LINE = re.compile(r"[ \t]*,?[ \t]*(?:#[^\r\n]*)?(?:\r\n?|\n)")
"""What may follow the last element of a line: a comma, a comment and the line end."""

Node = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces the characters from ``start`` up to ``end`` by ``text``; inserts ``text`` if ``start`` equals
    ``end``."""

    start: int
    end: int
    text: str


def apply(text: str, edits: Iterable[Edit]) -> str:
    """Return ``text`` after all ``edits``, whose positions refer to the original text.

    Insertions at one position keep the order given, and precede a replacement that starts there. Raises ``ValueError``
    if two edits overlap or one lies outside the text, because such edits were made for another text.
    """
    parts: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if not done <= edit.start <= edit.end <= len(text):
            raise ValueError(
                f"an edit of the characters {edit.start} to {edit.end} of {len(text)} follows one to {done}"
            )
        parts += text[done : edit.start], edit.text
        done = edit.end
    return "".join([*parts, text[done:]])


def characters(line: str, column: int) -> int:
    """Return how many characters of ``line`` precede ``column``, which ``ast`` counts in bytes."""
    return column if line.isascii() else len(line.encode()[:column].decode())


def margin(line: str) -> str:
    """Return the leading whitespace of a line."""
    return line[: len(line) - len(line.lstrip())]


def lines_of(text: str, first: int, last: int | None) -> str:
    """Return the lines of ``text`` from ``first`` to ``last``, both included and counted from 1; to the end without
    ``last``."""
    return "\n".join(text.split("\n")[first - 1 : last])


def without_lines(text: str, lines: Collection[int]) -> str:
    """Return ``text`` without some of its lines, counted from 1."""
    return "\n".join(line for number, line in enumerate(text.split("\n"), start=1) if number not in lines)


class Places:
    """Converts node positions in ``text`` to character offsets and makes edits at them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(end.end() for end in _LINE_END.finditer(text)), len(text)]

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a line (from 1) and column (from 0, in bytes) as ``ast`` counts them."""
        start, end = self._starts[line - 1 : line + 1]
        return start + characters(self.text[start:end], column)

    def start(self, node: Node) -> int:
        """Return the offset of the first character of ``node``."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: Node) -> int:
        """Return the offset just behind the last character of ``node``."""
        return self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def removal(self, call: ast.Call, key: ast.keyword) -> Edit:
        """Return the edit that removes the argument ``key`` and its separating comma from ``call``."""
        return self.element_out(key, [*call.args, *call.keywords])

    def element_out(self, node: Node, elements: Iterable[Node]) -> Edit:
        """Return the edit that removes ``node`` and its separating comma from a list of ``elements``.

        If ``node`` has its lines to itself, the comment behind it is removed too. Comments of other elements stay.
        """
        start, end = self.start(node), self.end(node)
        others = [other for other in elements if other is not node]
        before = max((self.end(other) for other in others if self.end(other) <= start), default=start)
        behind = min((self.start(other) for other in others if self.start(other) >= end), default=end)
        first, rest = self.line(node.lineno)[0], _REST_OF_LINE.match(self.text, end)
        above = "#" in self.text[before:start]
        around = above or "#" in self.text[end : max(behind, rest.end() if rest is not None else end)]
        if rest is not None and (around or before == start) and not self.text[first:start].strip():
            return Edit(first, rest.end(), "")
        if before < start and not above:
            return Edit(before, end, "")
        comma = _COMMA.match(self.text, end)
        return Edit(start, behind if behind > end and not above else comma.end() if comma is not None else end, "")

    def source(self, node: Node) -> str:
        """Return the text of ``node``."""
        return self.text[self.start(node) : self.end(node)]

    def line(self, number: int) -> tuple[int, int]:
        """Return start and end offset of line ``number`` (from 1), without its line end."""
        start, end = self._starts[number - 1 : number + 1]
        return start, start + len(self.text[start:end].rstrip("\r\n"))

    def column(self, line: int, column: int) -> int:
        """Return the column that an editor shows (in characters, from 1) for ``column`` as ``ast`` counts it."""
        return self.offset(line, column) - self._starts[line - 1] + 1

    def instead_of(self, node: Node, text: str) -> Edit:
        """Return the edit that replaces ``node`` by ``text``."""
        return Edit(self.start(node), self.end(node), text)

    def before(self, node: Node, text: str) -> Edit:
        """Return the edit that inserts ``text`` in front of ``node``."""
        return Edit(self.start(node), self.start(node), text)

    def ahead_of(self, element: Node, *others: str) -> Edit:
        """Return the edit that inserts ``others`` in front of ``element`` of a list.

        If ``element`` starts its line, each of ``others`` gets a line of its own.
        """
        ahead = self.text[self.line(element.lineno)[0] : self.start(element)]
        gap = " " if ahead.strip() else f"\n{ahead}"
        return self.before(element, "".join(f"{other},{gap}" for other in others))

    def behind(self, node: Node, text: str) -> Edit:
        """Return the edit that inserts ``text`` behind ``node``."""
        return Edit(self.end(node), self.end(node), text)

    def with_keywords(self, call: ast.Call, *added: str, following: Collection[str] = ()) -> Edit:
        """Return the edit that adds keyword arguments (``rows=rows``) to ``call``.

        They go in front of the first passed keyword in ``following``, else behind the last argument that is not
        ``**mapping``, else in front of the first ``**mapping``.
        """
        successor = next((one for one in call.keywords if one.arg in following), None)
        given: list[Node] = [*call.args, *(one for one in call.keywords if one.arg is not None)]
        if successor is None and given:
            return self.behind(max(given, key=self.end), "".join(f", {one}" for one in added))
        if call.keywords:
            return self.ahead_of(successor or call.keywords[0], *added)
        bracket = self.end(call) - 1
        return Edit(bracket, bracket, ", ".join(added))

    def with_parameter(self, function: Function, added: str, *, following: Collection[str], by_keyword: bool) -> Edit:
        """Return the edit that adds a parameter (keyword-only if ``by_keyword``) to ``function``, which must not have
        ``*args``.

        The parameter goes in front of the first parameter of the same kind in ``following``, else behind the parameters
        that must precede it.
        """
        arguments = function.args
        successor = next(
            (one for one in (arguments.kwonlyargs if by_keyword else arguments.args) if one.arg in following), None
        )
        if successor is not None:
            return self.ahead_of(successor, added)
        ahead: list[Node] = [*arguments.posonlyargs, *arguments.args, *arguments.defaults]
        if by_keyword:
            ahead += [*arguments.kwonlyargs, *(default for default in arguments.kw_defaults if default is not None)]
            added = added if arguments.kwonlyargs else f"*, {added}"
        if ahead:
            return self.behind(max(ahead, key=self.end), f", {added}")
        # Type parameters come first, and may contain parentheses.
        generic: Sequence[Node] = getattr(function, "type_params", ())
        bracket = self.text.index("(", self.end(generic[-1]) if generic else self.start(function)) + 1
        return Edit(bracket, bracket, f"{added}, " if arguments.kwonlyargs or arguments.kwarg is not None else added)
