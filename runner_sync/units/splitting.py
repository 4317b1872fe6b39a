"""Cut a module's text into pieces.

Comes in: source text. Goes out: a ``Module`` whose pieces cover the text. Raises ``InputError`` for text that is not a
Python module (syntax errors, NUL bytes, merge conflicts). May touch: nothing.

Comment lines directly above a definition belong to it. Ruler comments (a run of dashes or equals signs) never do, so
that the ends of a block around several methods stay in place. Comment lines indented deeper than a statement belong to
its body.
"""

from __future__ import annotations

import ast
import re
import tokenize
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from runner_sync import rulers
from runner_sync.errors import InputError, UnresolvedConflict, unparsable
from runner_sync.syntax import first_line, module_of
from runner_sync.units.pieces import ClassPiece, Module, Piece, PieceKind, split_lines
from runner_sync.unmerged import conflicts

_COMMENT = re.compile(r"[ \t\f]*#")
_WHOLE_HEADER = re.compile(r"[ \t\f]*class \w+(?:\([\w., ]*\))?:\s*\Z")
_DEF = re.compile(r"[ \t\f]*(?:async\s+)?def\b")
_OVERLOAD = re.compile(r"[ \t\f]*@[ \t]*(?:\w+\.)*overload[ \t]*(?:#.*)?$")
_TITLE_LENGTH = 60


@dataclass(frozen=True, slots=True)
class _Extent:
    """Lines ``start`` … ``end`` (1-based, inclusive) of one statement with its comments."""

    node: ast.stmt
    start: int
    end: int


def split(text: str, *, path: str = "", tree: ast.Module | None = None) -> Module:
    """Cut ``text`` into a ``Module``; ``path`` is only for errors and units, ``tree`` saves parsing again.

    Raises ``InputError`` if ``text`` is not a Python module or has an unresolved merge conflict.
    """
    parsed = parse(text, path=path) if tree is None else tree
    lines = split_lines(text)
    pieces = [
        _split_class(piece, lines) if isinstance(piece, _Extent) else piece for piece in _split_top(parsed, lines)
    ]
    return Module(path, number_names(pieces))


def parse(text: str, *, path: str = "") -> ast.Module:
    """Return the ``ast`` tree of ``text``. Raises ``InputError`` with file and line."""
    where = path or "the text"
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise InputError(f"{where}:{line}: contains a NUL byte and cannot be Python source; restore the file.")
    if found := conflicts(text):
        raise UnresolvedConflict(path, found[0][0])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return module_of(text.removeprefix("\ufeff"))
    except SyntaxError as error:
        raise unparsable(f"{where}:{error.lineno or 1}", error.msg) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{where}: does not parse ({error}); fix it and run again.") from error


def number_names(pieces: Sequence[Piece | ClassPiece]) -> tuple[Piece | ClassPiece, ...]:
    """Make names unique among ``pieces``: the second ``x`` becomes ``x#2``.

    Stubs (``@overload``) are counted last, so that the implementation keeps the plain name with or without stubs above
    it.
    """
    same: dict[str, list[int]] = {}
    for index, piece in enumerate(pieces):
        same.setdefault(bare_name(piece.name), []).append(index)
    named = list(pieces)
    for name, places in same.items():
        ranked = sorted(places, key=lambda index: is_stub(pieces[index])) if name and len(places) > 1 else places
        for count, index in enumerate(ranked, start=1):
            named[index] = replace(pieces[index], name=f"{name}#{count}" if name and count > 1 else name)
    return tuple(named)


def is_stub(piece: Piece | ClassPiece) -> bool:
    """Whether a piece is a function that is only a signature for type checkers (``@overload``)."""
    if piece.kind not in ("method", "function"):
        return False
    head = takewhile(lambda line: not _DEF.match(line), split_lines(piece.text))
    return any(_OVERLOAD.match(line) for line in head)


def number_parts(parts: Sequence[Piece]) -> tuple[Piece, ...]:
    """Make names unique among the parts of a class, except its header."""
    return (parts[0], *(part for part in number_names(parts[1:]) if isinstance(part, Piece)))


def bare_name(name: str) -> str:
    """Return ``name`` without the ``#2`` of a repeated definition."""
    return re.sub(r"#\d+\Z", "", name)


def _split_top(tree: ast.Module, lines: list[str]) -> Iterator[Piece | _Extent]:
    for item in _tile(tree.body, lines, first=1, last=len(lines)):
        if isinstance(item, _Extent) and not isinstance(item.node, ast.ClassDef):
            yield _make_piece(item, lines, in_class=False)
        else:
            yield item


def _split_class(extent: _Extent, lines: list[str]) -> ClassPiece:
    node = extent.node
    assert isinstance(node, ast.ClassDef)
    header_end = _find_header_end(node, lines)
    body = [statement for statement in node.body if first_line(statement) > header_end]
    if not body:
        header_end = extent.end
    parts = [Piece("header", "", _join_lines(lines, extent.start, header_end))]
    for item in _tile(body, lines, first=header_end + 1, last=extent.end):
        parts.append(_make_piece(item, lines, in_class=True) if isinstance(item, _Extent) else item)
    return ClassPiece(node.name, number_parts(parts))


def _make_piece(extent: _Extent, lines: list[str], *, in_class: bool) -> Piece:
    kind, name = _name_statement(extent.node, lines, in_class=in_class)
    return Piece(kind, name, _join_lines(lines, extent.start, extent.end))


def _name_statement(node: ast.stmt, lines: list[str], *, in_class: bool) -> tuple[PieceKind, str]:
    """Return kind and name of the unit of a statement."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return ("method" if in_class else "function"), node.name
        case ast.ClassDef():
            return "class", node.name
        case ast.Import():
            return "import", f"import {node.names[0].name}"
        case ast.ImportFrom():
            return "import", f"from {'.' * node.level}{node.module or ''}"
        case ast.Assign(targets=[target, *_]) | ast.AnnAssign(target=target) | ast.AugAssign(target=target):
            return ("field" if in_class else "statement"), ast.unparse(target)
        case ast.Expr(value=ast.Constant(value=str())):
            return "statement", "__doc__"
    # A conditional import or a bare call has no name; people recognise it by its first line.
    return "statement", lines[node.lineno - 1].strip().rstrip(":")[:_TITLE_LENGTH]


def _tile(body: Sequence[ast.stmt], lines: list[str], *, first: int, last: int) -> Iterator[Piece | _Extent]:
    """Cover lines ``first`` … ``last`` with the statements of ``body`` and the trivia between them."""
    position = first
    for extent in _find_extents(body, lines, first=first, last=last):
        if extent.start > position:
            yield Piece("trivia", "", _join_lines(lines, position, extent.start - 1))
        yield extent
        position = extent.end + 1
    if position <= last:
        yield Piece("trivia", "", _join_lines(lines, position, last))


def _find_extents(body: Sequence[ast.stmt], lines: list[str], *, first: int, last: int) -> Iterator[_Extent]:
    """Yield the statements of ``body`` as line ranges that include their comments."""
    spans = _find_spans(body)
    floor = first
    for index, span in enumerate(spans):
        ceiling = spans[index + 1].start - 1 if index + 1 < len(spans) else last
        start = _find_comments_start(lines, span.start, floor=floor)
        end = _find_comments_end(lines, span.end, ceiling=ceiling, width=_get_width(lines[span.start - 1]))
        floor = end + 1
        yield replace(span, start=start, end=end)


def _find_spans(body: Sequence[ast.stmt]) -> list[_Extent]:
    # Statements joined by a semicolon share a line, so they form one piece.
    spans: list[_Extent] = []
    for node in body:
        start, end = first_line(node), node.end_lineno or node.lineno
        if spans and start <= spans[-1].end:
            spans[-1] = replace(spans[-1], end=max(end, spans[-1].end))
        else:
            spans.append(_Extent(node, start, end))
    return spans


def _find_comments_start(lines: list[str], start: int, *, floor: int) -> int:
    line = start
    while line > floor and _COMMENT.match(lines[line - 2]) and not rulers.is_divider(lines[line - 2]):
        line -= 1
    # The first comment of a file is its licence or shebang; it does not belong to the first import.
    return start if line == 1 else line


def _find_comments_end(lines: list[str], end: int, *, ceiling: int, width: int) -> int:
    last = end
    for number_, line in enumerate(lines[end:ceiling], start=end + 1):
        if not line.strip():
            continue
        if not _COMMENT.match(line) or _get_width(line) <= width:
            break
        last = number_
    return last


def _find_header_end(node: ast.ClassDef, lines: list[str]) -> int:
    """Return the last line of the class header, ``class X(...):``, which ``ast`` does not give."""
    if _WHOLE_HEADER.match(lines[node.lineno - 1]):
        return node.lineno
    source = iter(lines[node.lineno - 1 : node.end_lineno])
    for token in tokenize.generate_tokens(source.__next__):
        if token.type == tokenize.NEWLINE:
            return node.lineno + token.start[0] - 1
    return node.lineno


def _get_width(line: str) -> int:
    blank = line.lstrip("\ufeff").lstrip("\f")
    return len(blank.expandtabs(8)) - len(blank.expandtabs(8).lstrip(" \t\f"))


def _join_lines(lines: list[str], start: int, end: int) -> str:
    return "".join(lines[start - 1 : end])
