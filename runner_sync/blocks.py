"""List the omni code inside the units of one module as ``model.Block`` values.

Comes in: the text, its units, the omni lines (from lineage) and the marked lines (from markers). Goes out: blocks with
their label and the names they use and define. May touch: nothing.
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
from runner_sync.rulers import get_note
from runner_sync.statements import mentions, parameters
from runner_sync.syntax import Function, children, first_line, walk
from runner_sync.units.splitting import parse

_BUILTINS = frozenset(dir(builtins))
_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!\W)\.\s+(?=[A-Z`])")
_OWN = re.compile(r"#\s*runner-sync:")
_LABEL_LENGTH = 160
"""The maximum length of a block's label, in characters."""
_LABEL_REACH = 5
"""How many lines below the first code line of a block may still hold the comment that becomes its label."""


def list_blocks(
    text: str,
    *,
    path: str,
    units: Sequence[Unit],
    marked: Collection[int] = (),
    omni_lines: Collection[int] | None = None,
    marker: str,
) -> list[Block]:
    """Return the blocks of ``text`` in line order; a block never leaves its unit.

    ``omni_lines`` are the omni lines found by lineage, without the comments and blank lines between them, which are
    added here. If ``omni_lines`` is ``None``, the ``marked`` lines are used. Imports are skipped because the blocks
    that use them name them. Raises ``InputError`` if ``text`` does not parse.
    """
    omni = frozenset(marked if omni_lines is None else omni_lines)
    source = _Source(text, path, marker)
    blocks: list[Block] = []
    for unit in units:
        if unit.kind == "import":
            continue
        inside = [line for line in range(unit.start, unit.end + 1) if line in omni]
        for start, end, is_marked in _group_lines(inside, frozenset(marked), source):
            label, code = source.make_label(start, end), source.get_text(start, end)
            used, defined = source.find_names(start, end)
            blocks.append(Block(path, unit.qualname, start, end, is_marked, label, code, used, defined))
    return blocks


def _group_lines(lines: Iterable[int], marked: frozenset[int], source: _Source) -> Iterator[tuple[int, int, bool]]:
    """Yield ``(first, last, is_marked)`` of each run of omni lines that no other code interrupts and that are all
    marked or all unmarked."""
    run: list[int] = []
    for line in lines:
        gap = range(run[-1] + 1, line) if run else ()
        if run and ((line in marked) != (run[-1] in marked) or any(source.has_code(other) for other in gap)):
            yield from source.trim(run[0], run[-1], run[0] in marked)
            run = []
        run.append(line)
    if run:
        yield from source.trim(run[0], run[-1], run[0] in marked)


class _Source:
    """The code lines, comments and names of one module."""

    def __init__(self, text: str, path: str, marker: str) -> None:
        self._lines = text.split("\n")
        self._comments: dict[int, str] = {}
        self._code: set[int] = set()
        self._marker = marker
        tree = parse(text, path=path)
        self._tree = tree
        self._scopes = [node for node in walk(tree) if isinstance(node, _Scope)]
        self._docstrings = _find_docstrings(self._scopes)
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
        """Whether ``line`` holds code, not just a comment or whitespace."""
        return line in self._code

    def get_text(self, start: int, end: int) -> str:
        """Return the source of the lines, with a final newline."""
        return "\n".join(self._lines[start - 1 : end]) + "\n"

    def trim(self, start: int, end: int, is_marked: bool) -> Iterator[tuple[int, int, bool]]:
        """Yield the range without blank lines at either end, or nothing if it holds no code."""
        while start <= end and not self._lines[start - 1].strip():
            start += 1
        while end >= start and not self._lines[end - 1].strip():
            end -= 1
        if any(self.has_code(line) for line in range(start, end + 1)):
            yield start, end, is_marked

    def make_label(self, start: int, end: int) -> str:
        """Return the first sentence of the nearest comment, else of a docstring in the block.

        Comments on or directly above the first code line come first, then those above the block, then those up to
        ``_LABEL_REACH`` lines below.
        """
        first = next(line for line in range(start, end + 1) if self.has_code(line))
        above = start
        while above - 1 in self._comments and not self.has_code(above - 1):
            above -= 1
        last = min(end, first + _LABEL_REACH)
        for group in (range(start, first + 1), range(above, start), range(first + 1, last + 1)):
            if label := self._find_label(group):
                return label
        return next((self._docstrings[line] for line in range(start, end + 1) if line in self._docstrings), "")

    def _find_label(self, lines: Iterable[int]) -> str:
        commented = [line for line in lines if line in self._comments]
        for _, run in groupby(enumerate(commented), key=lambda pair: pair[1] - pair[0]):
            purpose = " ".join(filter(None, (self._read_purpose(self._comments[line]) for _, line in run)))
            if purpose:
                return textwrap.shorten(_SENTENCE_END.split(purpose)[0], _LABEL_LENGTH, placeholder="…")
        return ""

    def _read_purpose(self, comment: str) -> str:
        """Return the words of a comment without the marker, or ``""`` for a comment that this tool wrote
        (``runner-sync: review …``)."""
        if _OWN.match(comment):
            return ""
        return get_note(comment, self._marker)

    def find_names(self, start: int, end: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the names that the lines read before defining them, and the names that they define, each sorted.

        ``self.x`` counts as one name. The names read exclude builtins.
        """
        bound: dict[str, int] = {}
        read: dict[str, int] = {}
        lines = [line for line in range(start, end + 1) if self.has_code(line)]
        mentioned = self._find_names(self._find_scope(lines[0], lines[-1]))
        first, last = (bisect_left(mentioned, limit, key=itemgetter(0)) for limit in (start, end + 1))
        for line, name, kind in mentioned[first:last]:
            if kind in ("binds", "updates"):
                bound.setdefault(name, line)
            if kind in ("reads", "updates", "deletes"):
                read.setdefault(name, line)
        used = (name for name, line in read.items() if line <= bound.get(name, line) and name not in _BUILTINS)
        return tuple(sorted(used)), tuple(sorted(bound))

    def _find_scope(self, start: int, end: int) -> ast.Module | _Scope:
        """Return the innermost function or class whose body contains the lines, else the module."""
        found: ast.Module | _Scope = self._tree
        for node in self._scopes:
            if first_line(node) <= start and end <= (node.end_lineno or 0):
                found = found if start <= node.lineno <= end else node
        return found

    def _find_names(self, scope: ast.Module | _Scope) -> list[tuple[int, str, str]]:
        """Return the names mentioned in a scope, sorted by line; cached because a scope has many blocks."""
        if scope not in self._mentions:
            self._mentions[scope] = sorted(_iter_names(scope))
        return self._mentions[scope]


_Scope = Function | ast.ClassDef


def _find_docstrings(scopes: Iterable[_Scope]) -> dict[int, str]:
    """Return the first line of each docstring, keyed by the line of the ``def`` or ``class`` keyword."""
    found = ((node.lineno, ast.get_docstring(node)) for node in scopes)
    return {line: text.strip().split("\n")[0].removesuffix(".") for line, text in found if text and text.strip()}


def _iter_names(scope: ast.Module | _Scope) -> Iterator[tuple[int, str, str]]:
    """Yield ``(line, name, kind)`` for each name mentioned in a scope and its head, including parameters and
    ``self.x``."""
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
