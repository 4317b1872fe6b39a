"""Convert the text of a unit to nodes in source order.

Comes in: source text at any indentation. Goes out: ``Node`` values. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from runner_sync.model import Triple
from runner_sync.statements.canonical import canonical_statement
from runner_sync.statements.keywords import spell_out_keywords
from runner_sync.statements.nodes import ROOT, Node, UnparsableText
from runner_sync.statements.parsing import as_module
from runner_sync.statements.suites import list_suites
from runner_sync.statements.tokenizing import own_lines
from runner_sync.syntax import first_line, is_indented, is_string


@dataclass(slots=True)
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


@lru_cache(maxsize=4096)
def flatten(text: str) -> tuple[Node, ...]:
    """Return the nodes of ``text`` in source order. Raises ``UnparsableText``."""
    source, offset = as_module(text), int(is_indented(text))
    items = _parse_items(text)
    comments, inside = own_lines(source)
    moved = {line - offset: column for line, column in comments.items()}
    return _make_nodes(_add_comments(items, moved), text.split("\n"), {line - offset for line in inside})


def flatten_sides(triple: Triple) -> tuple[tuple[Node, ...], tuple[Node, ...], tuple[Node, ...]]:
    """Return the nodes of base, omni and upstream; raises ``UnparsableText`` for a side that is not Python."""
    return flatten(triple.base), flatten(triple.omni), flatten(triple.upstream)


def flatten_function(text: str) -> tuple[Node, ...]:
    """Return the nodes of a function, its head first; none for another unit, as its names are used elsewhere, too."""
    nodes = flatten(text)
    return nodes if nodes and nodes[0].keyword.endswith("def") else ()


@lru_cache(maxsize=4096)
def canons(text: str) -> tuple[str, ...]:
    """Return the canonical statements of ``text`` in source order, without docstrings, in half the time of ``flatten``.

    Raises ``UnparsableText``.
    """
    return tuple(item.canon for item in _parse_items(text) if item.kind != "docstring")


@lru_cache(maxsize=4096)
def nested_canons(text: str) -> tuple[tuple[int, str], ...]:
    """Return the ``canons`` of ``text``, each with the number of suites around it. Raises ``UnparsableText``."""
    depths: dict[int, int] = {}
    for item in _parse_items(text):
        depths[id(item)] = depths[id(item.parent)] + 1 if item.parent is not None else 0
    return tuple((depths[id(item)], item.canon) for item in _parse_items(text) if item.kind != "docstring")


@lru_cache(maxsize=4096)
def _parse_items(text: str) -> tuple[_Item, ...]:
    source, offset = as_module(text), int(is_indented(text))
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise _make_error(error, offset) from error
    body = module.body[0].body if offset else module.body  # type: ignore[attr-defined]
    items: list[_Item] = []
    try:
        spell_out_keywords(module, source)
        _collect(body, None, source.split("\n"), items)
    # A carriage return ends a line for the parser but not here, so that a statement may not be where it is looked for.
    except (SyntaxError, RecursionError) as error:
        raise _make_error(error, offset) from error
    for item in items:
        item.first -= offset
        item.last -= offset
    return tuple(items)


def _make_error(error: Exception, offset: int) -> UnparsableText:
    line = getattr(error, "lineno", None) or 1
    return UnparsableText(str(error), max(1, line - offset))


def _collect(body: Sequence[ast.stmt], parent: _Item | None, source: list[str], items: list[_Item]) -> None:
    for statement in body:
        first = first_line(statement)
        if items and items[-1].last >= first:
            _join_line(items[-1], statement)
            continue
        suite = getattr(statement, "body", None)
        if not suite or suite[0].lineno == statement.lineno:
            items.append(_make_simple_item(statement, first, parent, source))
            continue
        head: _Item | None = None
        for canon, suite, line in list_suites(statement, source):
            begin = first if head is None else _find_clause_line(source, canon, line, statement.col_offset)
            kind = "statement" if head is None else "clause"
            top = first_line(suite[0])
            last = _find_head_end(source, begin, top)
            item = _Item(kind, canon, begin, last, statement.col_offset, parent, head, compound=True)
            if kind == "clause" and suite[0].lineno == begin:
                item.last = suite[-1].end_lineno or line
                item.one_line = True
                items.append(item)
                continue
            items.append(item)
            head = head or item
            _collect(suite, item, source, items)


def _find_clause_line(source: list[str], canon: str, line: int, column: int) -> int:
    """Return the line of a clause.

    A negative ``line`` means ``else`` or ``finally``, whose line ``ast`` does not keep. It is the last line of the
    preceding suite; the search for the clause at ``column`` starts below it.
    """
    if line > 0:
        return line
    for number in range(1 - line, len(source) + 1):
        text = source[number - 1]
        if text.lstrip().startswith(canon) and len(text) - len(text.lstrip()) == column:
            return number
    raise UnparsableText(f"no {canon!r} after line {-line}", -line)


def _find_head_end(source: list[str], begin: int, top: int) -> int:
    """Return the last line of a head that is not blank or a comment, above ``top``, the first line of its suite."""
    last = top - 1
    while last > begin and (not source[last - 1].strip() or source[last - 1].lstrip().startswith("#")):
        last -= 1
    return last


def _join_line(item: _Item, statement: ast.stmt) -> None:
    """Add a statement to the node whose line it shares: ``a = 1; b = 2`` stays one node."""
    item.canon += "\n" + ast.unparse(statement)
    item.last = max(item.last, statement.end_lineno or item.last)


def _make_simple_item(statement: ast.stmt, first: int, parent: _Item | None, source: list[str]) -> _Item:
    """Return the node of a simple statement, or of a compound one that begins its suite on its first line."""
    last = statement.end_lineno or statement.lineno
    kind = "docstring" if is_string(statement) else "statement"
    # Cut out, a clause (``else``) would stand at another column than its statement.
    canon = ast.unparse(statement) if hasattr(statement, "body") else canonical_statement(statement, source)
    return _Item(kind, canon, first, last, statement.col_offset, parent)


def _add_comments(items: Sequence[_Item], comments: dict[int, int]) -> list[_Item]:
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
            item.parent = _find_comment_parent(merged, position)
            item.owner = _find_comment_owner(merged, position)
    return merged


def _find_comment_owner(items: list[_Item], position: int) -> _Item | None:
    """Return the statement of the clause directly below a comment at the same column, else ``None``.

    Like the clause, such a comment is between suites and in none of them.
    """
    following = next((i for i in items[position + 1 :] if i.kind != "comment"), None)
    is_on_clause = following is not None and following.kind == "clause" and following.column == items[position].column
    return following.owner if is_on_clause and following is not None else None


def _find_comment_parent(items: list[_Item], position: int) -> _Item | None:
    """Return the head of the suite of a comment.

    This is the suite of the next statement, if that has the same column or a deeper one, else the suite before the
    comment that has the comment's indentation.
    """
    comment = items[position]
    following = next((i for i in items[position + 1 :] if i.kind != "comment"), None)
    if following is not None and following.column >= comment.column and following.kind != "clause":
        return following.parent
    candidate = next((i for i in reversed(items[:position]) if i.kind != "comment"), None)
    if candidate is not None and candidate.compound and comment.column > candidate.column:
        return candidate
    while candidate is not None and candidate.column > comment.column:
        candidate = candidate.parent
    return candidate.parent if candidate is not None else None


def _make_nodes(items: list[_Item], lines: list[str], inside: set[int]) -> tuple[Node, ...]:
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
    """Return the line without its first ``column`` blanks; a continuation line with less indentation loses all of
    it."""
    lead = len(line) - len(line.lstrip())
    return line[min(lead, column) :]
