"""Text of one unit ⇄ a flat sequence of statement nodes.

Comes in: the source text of a unit (a method, a class, a whole module body), at any indentation.
Goes out: ``Node`` values in source order, each a statement head, a clause (``else:``), or a comment line, with the
index of the node that encloses it. May touch: nothing.

Nodes are compared by ``canon``, the ``ast.unparse`` text of the statement (of its head, when it is compound), so that
layout, quotes and indentation never make two statements differ. Indentation is not part of a node: it follows from the
enclosing nodes, which is why a region that upstream wrapped into a new ``with`` still aligns line by line.
"""

from __future__ import annotations

import ast
import copy
import io
import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

INDENT = 4
ROOT = -1


class UnparsableText(ValueError):
    """The text of a unit is no Python. ``line`` is 1-based within the text."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Node:
    """One statement head, clause or comment line.

    ``lines`` are its physical lines without the indentation of the first; ``frozen`` are the offsets of those lines
    that begin inside a string and must never be re-indented. ``parent`` and ``owner`` are indices into the sequence
    (``ROOT`` for none); ``owner`` is the ``if`` of an ``else``, the ``try`` of an ``except``. ``start`` is the 1-based
    line of the text.
    """

    kind: str
    canon: str
    lines: tuple[str, ...]
    frozen: frozenset[int]
    parent: int
    owner: int
    blanks: int
    start: int
    compound: bool
    one_line: bool = False

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def is_comment(self) -> bool:
        return self.kind == "comment"

    @property
    def is_clause(self) -> bool:
        return self.kind == "clause"

    @cached_property
    def words(self) -> Counter[str]:
        """Multiset of the names, numbers and operators of ``canon``."""
        return Counter(_WORDS(self.canon))

    @cached_property
    def defines(self) -> str:
        """Name of the function or class that this head defines, else empty."""
        match = _DEFINITION.match(self.canon) if self.compound else None
        return match[1] if match else ""

    @cached_property
    def weight(self) -> float:
        """How much evidence an equal pair is: long statements identify a place, ``else:`` does not."""
        if self.is_comment:
            return 0.3
        if self.canon in _COMMON:
            return 0.4
        return 1.0 + min(len(self.canon), 120) / 60


_DEFINITION = re.compile(r"(?:@.* )?(?:async )?(?:def|class) (\w+)\(")
_COMMON = frozenset({"return", "pass", "continue", "break", "try", "else", "finally", "return None"})


def _WORDS(canon: str) -> Iterator[str]:  # noqa: N802
    word = ""
    for char in canon:
        if char.isalnum() or char == "_":
            word += char
            continue
        if word:
            yield word
            word = ""
        if not char.isspace() and char not in ",()'\"":
            yield char
    if word:
        yield word


@dataclass
class _Item:
    """A node under construction, with columns."""

    kind: str
    canon: str
    first: int
    last: int
    column: int
    parent: _Item | None
    owner: _Item | None = None
    compound: bool = False
    one_line: bool = False


def flatten(text: str) -> tuple[Node, ...]:
    """The nodes of ``text`` in source order. Raises ``UnparsableText``."""
    lines = text.split("\n")
    offset = 0
    source = text
    if text[:1] in (" ", "\t"):
        source, offset = "class _:\n" + text, 1
    try:
        module = ast.parse(source)
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (SyntaxError, tokenize.TokenError, ValueError, RecursionError) as error:
        line = getattr(error, "lineno", None) or 1
        raise UnparsableText(str(error), max(1, line - offset)) from error
    body = module.body[0].body if offset else module.body  # type: ignore[attr-defined]
    items: list[_Item] = []
    _collect(body, None, source.split("\n"), items)
    for item in items:
        item.first -= offset
        item.last -= offset
    comments, inside = _scan(tokens, offset)
    return _finish(_with_comments(items, comments), lines, inside)


def _scan(tokens: Sequence[tokenize.TokenInfo], offset: int) -> tuple[dict[int, int], set[int]]:
    """Own-line comments ``{line: column}`` and the lines that begin inside a string."""
    comments: dict[int, int] = {}
    inside: set[int] = set()
    opened: list[int] = []
    for token in tokens:
        if token.type == tokenize.COMMENT and token.line.lstrip().startswith("#"):
            comments[token.start[0] - offset] = token.start[1]
        elif token.type == tokenize.STRING:
            inside.update(range(token.start[0] + 1 - offset, token.end[0] + 1 - offset))
        elif token.type == _FSTRING_START:
            opened.append(token.start[0])
        elif token.type == _FSTRING_END and opened:
            inside.update(range(opened.pop() + 1 - offset, token.end[0] + 1 - offset))
    return comments, inside


_FSTRING_START: int = getattr(tokenize, "FSTRING_START", -2)
_FSTRING_END: int = getattr(tokenize, "FSTRING_END", -3)


def _collect(body: Sequence[ast.stmt], parent: _Item | None, source: list[str], items: list[_Item]) -> None:
    for statement in body:
        first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", []))])
        if items and items[-1].last >= first:
            _join_line(items[-1], statement)
            continue
        suites = _suites(statement)
        if not suites or suites[0][1][0].lineno == statement.lineno:
            items.append(_simple(statement, first, parent))
            continue
        head: _Item | None = None
        for canon, suite, line in suites:
            begin = first if head is None else _clause_line(source, canon, line, statement.col_offset)
            kind = "statement" if head is None else "clause"
            top = _first_line(suite[0])
            last = _head_end(source, begin, top)
            item = _Item(kind, canon, begin, last, statement.col_offset, parent, head, compound=True)
            if kind == "clause" and suite[0].lineno == begin:
                item.last = suite[-1].end_lineno or line
                item.one_line = True
                items.append(item)
                continue
            items.append(item)
            head = head or item
            _collect(suite, item, source, items)


def _clause_line(source: list[str], canon: str, line: int, column: int) -> int:
    """``ast`` keeps no line for ``else`` and ``finally``: a negative ``line`` is the end of the suite before it."""
    if line > 0:
        return line
    for number in range(1 - line, len(source) + 1):
        text = source[number - 1]
        if text.lstrip().startswith(canon) and len(text) - len(text.lstrip()) == column:
            return number
    raise UnparsableText(f"no {canon!r} after line {-line}", -line)


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(d.lineno for d in decorators)])


def _head_end(source: list[str], begin: int, top: int) -> int:
    """Last line of a head: before ``top``, the first line of its suite, leaving out blank and comment lines."""
    last = top - 1
    while last > begin and (not source[last - 1].strip() or source[last - 1].lstrip().startswith("#")):
        last -= 1
    return last


def _join_line(item: _Item, statement: ast.stmt) -> None:
    """``a = 1; b = 2`` on one line stays one node."""
    item.canon += "\n" + ast.unparse(statement)
    item.last = max(item.last, statement.end_lineno or item.last)


def _simple(statement: ast.stmt, first: int, parent: _Item | None) -> _Item:
    last = statement.end_lineno or statement.lineno
    kind = "docstring" if _is_docstring(statement) else "statement"
    if isinstance(statement, ast.AnnAssign):
        statement = copy.copy(statement)
        statement.annotation = _hint(statement.annotation) or statement.annotation
    return _Item(kind, ast.unparse(statement), first, last, statement.col_offset, parent)


def _is_docstring(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


class _Hints(ast.NodeTransformer):
    """Annotations in one spelling: unquoted, ``X | None`` for ``Optional[X]``, ``A | B`` for ``Union[A, B]``."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:  # noqa: N802
        if not isinstance(node.value, str):
            return node
        try:
            return self.visit(ast.parse(node.value, mode="eval").body)  # type: ignore[no-any-return]
        except SyntaxError:
            return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:  # noqa: N802
        self.generic_visit(node)
        match node.value:
            case ast.Name(id="Optional"):
                return ast.BinOp(node.slice, ast.BitOr(), ast.Constant(None))
            case ast.Name(id="Union") if isinstance(node.slice, ast.Tuple) and node.slice.elts:
                return reduce(lambda a, b: ast.BinOp(a, ast.BitOr(), b), node.slice.elts)
            case ast.Name(id="Literal"):
                return node
            case ast.Name(id=("List" | "Dict" | "Tuple" | "Set" | "Type") as name):
                node.value = ast.Name(name.lower(), ast.Load())
        return node


def _hint(annotation: ast.expr | None) -> ast.expr | None:
    if annotation is None or any(isinstance(n, ast.Name) and n.id == "Literal" for n in ast.walk(annotation)):
        return annotation
    return _Hints().visit(copy.deepcopy(annotation))  # type: ignore[no-any-return]


def _arguments(arguments: ast.arguments) -> str:
    """``ast.unparse`` of a parameter list with its annotations in one spelling."""
    plain = copy.deepcopy(arguments)
    for arg in ast.walk(plain):
        if isinstance(arg, ast.arg):
            arg.annotation = _hint(arg.annotation)
    return ast.unparse(plain)


def _suites(statement: ast.stmt) -> list[tuple[str, list[ast.stmt], int]]:
    """``(canonical head, body, head line)`` of each suite of a compound statement; empty for a simple one."""
    match statement:
        case ast.If():
            return _if_suites(statement)
        case ast.For() | ast.AsyncFor():
            word = "async for" if isinstance(statement, ast.AsyncFor) else "for"
            head = f"{word} {ast.unparse(statement.target)} in {ast.unparse(statement.iter)}"
            return [(head, statement.body, statement.lineno), *_else(head, statement.body, statement.orelse)]
        case ast.While():
            head = f"while {ast.unparse(statement.test)}"
            return [(head, statement.body, statement.lineno), *_else(head, statement.body, statement.orelse)]
        case ast.With() | ast.AsyncWith():
            word = "async with" if isinstance(statement, ast.AsyncWith) else "with"
            head = f"{word} {', '.join(ast.unparse(item) for item in statement.items)}"
            return [(head, statement.body, statement.lineno)]
        case ast.Try():
            return _try_suites(statement)
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [(_definition(statement), statement.body, statement.lineno)]
        case _:
            return []


def _if_suites(statement: ast.If) -> list[tuple[str, list[ast.stmt], int]]:
    test = ast.unparse(statement.test)
    suites = [(f"if {test}", statement.body, statement.lineno)]
    while statement.orelse:
        inner = statement.orelse[0]
        if len(statement.orelse) == 1 and isinstance(inner, ast.If) and inner.col_offset == statement.col_offset:
            suites.append((f"elif {ast.unparse(inner.test)}", inner.body, inner.lineno))
            statement = inner
            continue
        return [*suites, *_else(test, statement.body, statement.orelse)]
    return suites


def _else(_head: str, body: list[ast.stmt], orelse: list[ast.stmt]) -> list[tuple[str, list[ast.stmt], int]]:
    if not orelse:
        return []
    return [("else", orelse, -(body[-1].end_lineno or 0))]


def _try_suites(statement: ast.Try) -> list[tuple[str, list[ast.stmt], int]]:
    suites: list[tuple[str, list[ast.stmt], int]] = [("try", statement.body, statement.lineno)]
    body = statement.body
    for handler in statement.handlers:
        head = " ".join(["except", ast.unparse(handler.type) if handler.type else ""]).strip()
        suites.append((f"{head} as {handler.name}" if handler.name else head, handler.body, handler.lineno))
        body = handler.body
    suites += _else("try", body, statement.orelse)
    body = statement.orelse or body
    if statement.finalbody:
        suites.append(("finally", statement.finalbody, -(body[-1].end_lineno or 0)))
    return suites


def _definition(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> str:
    decorators = "".join(f"@{ast.unparse(d)} " for d in node.decorator_list)
    if isinstance(node, ast.ClassDef):
        parts = [*map(ast.unparse, node.bases), *(f"{k.arg}={ast.unparse(k.value)}" for k in node.keywords)]
        return f"{decorators}class {node.name}({', '.join(parts)})"
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    hint = _hint(node.returns)
    returns = f" -> {ast.unparse(hint)}" if hint is not None else ""
    return f"{decorators}{word} {node.name}({_arguments(node.args)}){returns}"


def _with_comments(items: list[_Item], comments: dict[int, int]) -> list[_Item]:
    covered: set[int] = set()
    for item in items:
        covered.update(range(item.first, item.last + 1))
    merged = list(items)
    for line, column in comments.items():
        if line not in covered:
            merged.append(_Item("comment", "", line, line, column, None))
    merged.sort(key=lambda item: item.first)
    for position, item in enumerate(merged):
        if item.kind == "comment":
            item.parent = _comment_parent(merged, position)
    return merged


def _comment_parent(items: list[_Item], position: int) -> _Item | None:
    """A comment belongs to the suite of the next statement at its column, else to the open suite it is indented into."""
    comment = items[position]
    following = next((i for i in items[position + 1 :] if i.kind != "comment"), None)
    if following is not None and following.column == comment.column and not following.kind == "clause":
        return following.parent
    previous = next((i for i in reversed(items[:position]) if i.kind != "comment"), None)
    if following is not None and following.column > comment.column and not following.kind == "clause":
        return following.parent
    here = previous
    if here is not None and here.compound and comment.column > here.column:
        return here
    while here is not None and here.column > comment.column:
        here = here.parent
    return here.parent if here is not None else None


def _finish(items: list[_Item], lines: list[str], inside: set[int]) -> tuple[Node, ...]:
    index = {id(item): i for i, item in enumerate(items)}
    nodes = []
    end = 0
    for item in items:
        text = lines[item.first - 1 : item.last]
        column = len(text[0]) - len(text[0].lstrip())
        frozen = frozenset(k for k in range(1, len(text)) if item.first + k in inside)
        body = tuple(line if k in frozen else _outdent(line, column) for k, line in enumerate(text))
        nodes.append(
            Node(
                kind=item.kind,
                canon=item.canon or " ".join(body[0].split()),
                lines=body,
                frozen=frozen,
                parent=index[id(item.parent)] if item.parent is not None else ROOT,
                owner=index[id(item.owner)] if item.owner is not None else ROOT,
                blanks=max(0, item.first - end - 1),
                start=item.first,
                compound=item.compound,
                one_line=item.one_line,
            )
        )
        end = item.last
    return tuple(nodes)


def _outdent(line: str, column: int) -> str:
    """Take ``column`` leading blanks off; a continuation line that is indented less keeps what it has."""
    lead = len(line) - len(line.lstrip())
    return line[min(lead, column) :]
