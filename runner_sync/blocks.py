"""Omni code inside the units of one module, as ``model.Block`` values.

Comes in: the text, its units, and which lines are omni's (from lineage) and which are marked (from markers). Goes out:
blocks with their label and the names they use and define. May touch: nothing.
"""

from __future__ import annotations

import ast
import builtins
import io
import re
import textwrap
import tokenize
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from runner_sync.model import Block, Unit
from runner_sync.rulers import note_of
from runner_sync.statements import mentions, parameters
from runner_sync.syntax import Function, children, first_line, walk
from runner_sync.units.splitting import parse

_BUILTINS = frozenset(dir(builtins))
_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!\W)\.\s+(?=[A-Z`])")
_OWN = re.compile(r"#\s*runner-sync:")
_LABEL_LENGTH = 160
"""Characters of a block's label."""
_LABEL_REACH = 5
"""Lines behind the first code line of a block that are searched last for the comment that becomes its label."""


def list_blocks(
    text: str,
    *,
    path: str,
    units: Sequence[Unit],
    marked: Collection[int] = (),
    omni_lines: Collection[int] | None = None,
    marker: str,
) -> list[Block]:
    """The blocks of ``text`` in line order; a block never leaves its unit.

    ``omni_lines`` are omni's lines according to lineage (comments and blank lines between them are added); without them
    the ``marked`` lines count. Imports are no blocks: the blocks that use them name them. Raises ``InputError`` when
    ``text`` does not parse.
    """
    omni = frozenset(marked if omni_lines is None else omni_lines)
    source = _Source(text, path, marker)
    blocks: list[Block] = []
    for unit in units:
        if unit.kind == "import":
            continue
        inside = [line for line in range(unit.start, unit.end + 1) if line in omni]
        for start, end, is_marked in _runs(inside, frozenset(marked), source):
            label, code = source.label(start, end), source.text(start, end)
            used, defined = source.names(start, end)
            blocks.append(Block(path, unit.qualname, start, end, is_marked, label, code, used, defined))
    return blocks


def _runs(lines: Iterable[int], marked: frozenset[int], source: _Source) -> Iterator[tuple[int, int, bool]]:
    """``(first, last, is_marked)`` of each run of omni lines without other code between them, all marked or none."""
    run: list[int] = []
    for line in lines:
        gap = range(run[-1] + 1, line) if run else ()
        if run and ((line in marked) != (run[-1] in marked) or any(source.has_code(other) for other in gap)):
            yield from source.trimmed(run[0], run[-1], run[0] in marked)
            run = []
        run.append(line)
    if run:
        yield from source.trimmed(run[0], run[-1], run[0] in marked)


class _Source:
    """One module read by line: its code lines, comments and names."""

    def __init__(self, text: str, path: str, marker: str) -> None:
        self._lines = text.split("\n")
        self._comments: dict[int, str] = {}
        self._code: set[int] = set()
        self._marker = marker
        tree = parse(text, path=path)
        self._tree = tree
        self._scopes = [node for node in walk(tree) if isinstance(node, _Scope)]
        self._docstrings = _docstrings(self._scopes)
        self._mentions: dict[ast.AST, list[tuple[int, str, str]]] = {}
        self._read_tokens(text)

    def _read_tokens(self, text: str) -> None:
        layout = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
        for token in tokenize.generate_tokens(io.StringIO(text.removeprefix("\ufeff")).readline):
            if token.type == tokenize.COMMENT:
                self._comments[token.start[0]] = token.string
            elif token.type not in layout:
                self._code.update(range(token.start[0], token.end[0] + 1))

    def has_code(self, line: int) -> bool:
        """Whether ``line`` holds anything but a comment or blanks."""
        return line in self._code

    def text(self, start: int, end: int) -> str:
        """Source of the lines, with a final newline."""
        return "\n".join(self._lines[start - 1 : end]) + "\n"

    def trimmed(self, start: int, end: int, is_marked: bool) -> Iterator[tuple[int, int, bool]]:
        """The lines without blank ones at either end; nothing when there is no code in them."""
        while start <= end and not self._lines[start - 1].strip():
            start += 1
        while end >= start and not self._lines[end - 1].strip():
            end -= 1
        if any(self.has_code(line) for line in range(start, end + 1)):
            yield start, end, is_marked

    def label(self, start: int, end: int) -> str:
        """The first sentence of the nearest comment: on or above the first code line, else above the block, else soon
        below; without any, the first line of a docstring in the block."""
        first = next(line for line in range(start, end + 1) if self.has_code(line))
        above = start
        while above - 1 in self._comments and not self.has_code(above - 1):
            above -= 1
        last = min(end, first + _LABEL_REACH)
        for group in (range(start, first + 1), range(above, start), range(first + 1, last + 1)):
            if label := self._first_label(group):
                return label
        return next((self._docstrings[line] for line in range(start, end + 1) if line in self._docstrings), "")

    def _first_label(self, lines: Iterable[int]) -> str:
        commented = [line for line in lines if line in self._comments]
        for _, run in groupby(enumerate(commented), key=lambda pair: pair[1] - pair[0]):
            purpose = " ".join(filter(None, (self._purpose(self._comments[line]) for _, line in run)))
            if purpose:
                return textwrap.shorten(_SENTENCE_END.split(purpose)[0], _LABEL_LENGTH, placeholder="…")
        return ""

    def _purpose(self, comment: str) -> str:
        """The words of a comment without the marker; none for a comment of this tool (``runner-sync: review …``), which
        does not say what the code is for."""
        if _OWN.match(comment):
            return ""
        return note_of(comment, self._marker)

    def names(self, start: int, end: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names that the lines read before they define them, and those that they define, each sorted; ``self.x``
        is one name. Builtins are left out of the former."""
        bound: dict[str, int] = {}
        read: dict[str, int] = {}
        lines = [line for line in range(start, end + 1) if self.has_code(line)]
        mentioned = self._names_in(self._scope_around(lines[0], lines[-1]))
        first, last = (bisect_left(mentioned, limit, key=itemgetter(0)) for limit in (start, end + 1))
        for line, name, kind in mentioned[first:last]:
            if kind in ("binds", "updates"):
                bound.setdefault(name, line)
            if kind in ("reads", "updates", "deletes"):
                read.setdefault(name, line)
        used = (name for name, line in read.items() if line <= bound.get(name, line) and name not in _BUILTINS)
        return tuple(sorted(used)), tuple(sorted(bound))

    def _scope_around(self, start: int, end: int) -> ast.Module | _Scope:
        """The innermost function or class that contains the lines but not with its own ``def`` or ``class`` line among
        them; else the module."""
        found: ast.Module | _Scope = self._tree
        for node in self._scopes:
            if first_line(node) <= start and end <= (node.end_lineno or 0):
                found = found if start <= node.lineno <= end else node
        return found

    def _names_in(self, scope: ast.Module | _Scope) -> list[tuple[int, str, str]]:
        """`_names_in` of a scope by line; read once, because a scope has many blocks."""
        if scope not in self._mentions:
            self._mentions[scope] = sorted(_names_in(scope))
        return self._mentions[scope]


_Scope = Function | ast.ClassDef


def _docstrings(scopes: Iterable[_Scope]) -> dict[int, str]:
    """The first line of each function's or class's docstring, by the line of its name."""
    found = ((node.lineno, ast.get_docstring(node)) for node in scopes)
    return {line: text.strip().split("\n")[0].removesuffix(".") for line, text in found if text and text.strip()}


def _names_in(scope: ast.Module | _Scope) -> Iterator[tuple[int, str, str]]:
    """``(line, name, kind)`` of every mention of a name in a scope and its head, also of parameters and ``self.x``."""
    found: list[tuple[str, Any, str]] = [mention[:3] for mention in mentions(children(scope))]
    if isinstance(scope, Function):
        found += [(parameter.arg, parameter, "binds") for parameter in parameters(scope)]
    yield from ((node.lineno, name, kind) for name, node, kind in found if name != "self")
    for node in walk(scope):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=context):
                is_bound = isinstance(context, ast.Store)
                yield node.end_lineno or node.lineno, f"self.{name}", "binds" if is_bound else "reads"
            case ast.AugAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=name)):
                yield node.lineno, f"self.{name}", "reads"
