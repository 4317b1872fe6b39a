"""Edits of a text at the places that its syntax tree names.

Comes in: a text, nodes of its tree, and what is to stand there. Goes out: the text. May touch: nothing.

``ast`` counts columns in bytes of UTF-8, a text is cut by characters; `Places` is the one way from the former to the
latter. `apply` makes all edits of a text at once, so that none of them moves the place of another.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

_LINE_END = re.compile(r"\r\n?|\n")
"""Where Python's own line count goes up; `str.splitlines` also cuts at form feeds and Unicode's separators."""

_COMMA = re.compile(r"[ \t]*,[ \t]*")
_REST = re.compile(r"[ \t]*,?[ \t]*(?:#[^\r\n]*)?(?:\r\n?|\n)")
"""What may stand behind an element up to the end of its line where nothing follows there."""

Node = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Edit:
    """``text`` in place of the characters from ``start`` to ``end``; where the two are equal it is put in there."""

    start: int
    end: int
    text: str


def apply(text: str, edits: Iterable[Edit]) -> str:
    """``text`` with all ``edits``, whose places are those of ``text`` as it comes in.

    What is put in at one place stands in the order given, in front of what replaces the text that begins there.
    ``ValueError`` where two edits overlap or one lies outside the text: whoever made them meant something else.
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
    """How many characters of ``line`` stand before a ``column`` of ``ast``."""
    return column if line.isascii() else len(line.encode()[:column].decode())


def margin(line: str) -> str:
    """The blanks that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


class Places:
    """Where the nodes of ``text``'s own tree stand in it, in characters from its beginning."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(end.end() for end in _LINE_END.finditer(text)), len(text)]

    def offset(self, line: int, column: int) -> int:
        """The place of a line (from 1) and a column (in bytes) as ``ast`` counts them."""
        start, end = self._starts[line - 1 : line + 1]
        return start + characters(self.text[start:end], column)

    def start(self, node: Node) -> int:
        """The place of the first character of ``node``."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: Node) -> int:
        """The place behind the last character of ``node``."""
        return self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def removal(self, call: ast.Call, key: ast.keyword) -> Edit:
        """What takes ``key`` out of ``call``, with the comma that sets it apart."""
        return self.element_out(key, [*call.args, *call.keywords])

    def element_out(self, node: Node, elements: Iterable[Node]) -> Edit:
        """What takes ``node`` out of a list of ``elements``, with the comma that sets it apart and a comment of its
        own; comments of the others stay."""
        start, end = self.start(node), self.end(node)
        others = [other for other in elements if other is not node]
        before = max((self.end(other) for other in others if self.end(other) <= start), default=start)
        behind = min((self.start(other) for other in others if self.start(other) >= end), default=end)
        first, rest = self.line(node.lineno)[0], _REST.match(self.text, end)
        above = "#" in self.text[before:start]
        around = above or "#" in self.text[end : max(behind, rest.end() if rest is not None else end)]
        if rest is not None and (around or before == start) and not self.text[first:start].strip():
            return Edit(first, rest.end(), "")
        if before < start and not above:
            return Edit(before, end, "")
        comma = _COMMA.match(self.text, end)
        return Edit(start, behind if behind > end and not above else comma.end() if comma is not None else end, "")

    def source(self, node: Node) -> str:
        """The text of ``node``."""
        return self.text[self.start(node) : self.end(node)]

    def line(self, number: int) -> tuple[int, int]:
        """Between which places line ``number`` (from 1) stands, its end left out."""
        start, end = self._starts[number - 1 : number + 1]
        return start, start + len(self.text[start:end].rstrip("\r\n"))

    def column(self, line: int, column: int) -> int:
        """The column that an editor shows for a ``column`` of ``ast``: characters, from 1."""
        return self.offset(line, column) - self._starts[line - 1] + 1

    def instead_of(self, node: Node, text: str) -> Edit:
        """The edit that puts ``text`` in the place of ``node``."""
        return Edit(self.start(node), self.end(node), text)

    def before(self, node: Node, text: str) -> Edit:
        """The edit that puts ``text`` in front of ``node``."""
        return Edit(self.start(node), self.start(node), text)

    def ahead_of(self, element: Node, *others: str) -> Edit:
        """The edit that puts ``others`` in front of an element of a list, on their own lines where it begins one."""
        margin = self.text[self.line(element.lineno)[0] : self.start(element)]
        gap = " " if margin.strip() else f"\n{margin}"
        return self.before(element, "".join(f"{other},{gap}" for other in others))

    def behind(self, node: Node, text: str) -> Edit:
        """The edit that puts ``text`` behind ``node``."""
        return Edit(self.end(node), self.end(node), text)

    def with_keywords(self, call: ast.Call, *said: str, following: Collection[str] = ()) -> Edit:
        """The edit that gives ``call`` more keywords (``rows=rows``): in front of the first of ``following``, else
        behind the other arguments, but in front of what is unpacked into keywords."""
        after = next((one for one in call.keywords if one.arg in following), None)
        given: list[Node] = [*call.args, *(one for one in call.keywords if one.arg is not None)]
        if after is None and given:
            return self.behind(max(given, key=self.end), "".join(f", {one}" for one in said))
        if call.keywords:
            return self.ahead_of(after or call.keywords[0], *said)
        bracket = self.end(call) - 1
        return Edit(bracket, bracket, ", ".join(said))

    def with_parameter(self, function: Function, said: str, *, following: Collection[str], by_keyword: bool) -> Edit:
        """The edit that gives ``function``, which has no ``*args``, one more parameter, to be passed by place unless
        only ``by_keyword``: in front of the first of ``following``, else behind the last that stands ahead of those."""
        rows = function.args
        after = next((one for one in (rows.kwonlyargs if by_keyword else rows.args) if one.arg in following), None)
        if after is not None:
            return self.ahead_of(after, said)
        ahead: list[Node] = [*rows.posonlyargs, *rows.args, *rows.defaults]
        if by_keyword:
            ahead += [*rows.kwonlyargs, *(default for default in rows.kw_defaults if default is not None)]
            said = said if rows.kwonlyargs else f"*, {said}"
        if ahead:
            return self.behind(max(ahead, key=self.end), f", {said}")
        # The brackets of its type parameters stand ahead of those of its own.
        generic: Sequence[Node] = getattr(function, "type_params", ())
        bracket = self.text.index("(", self.end(generic[-1]) if generic else self.start(function)) + 1
        return Edit(bracket, bracket, f"{said}, " if rows.kwonlyargs or rows.kwarg is not None else said)
