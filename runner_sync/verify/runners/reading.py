"""Reads one source file, parsed at most once and only as far as needed.

Comes in: a path and a text. Goes out: `Reading` (syntax tree, classes, imports, comments, units by line) and findings
placed in it. May touch: nothing; the text is parsed, never executed. Uses no libcst, because `check` runs in every pull
request.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from runner_sync.edits import characters
from runner_sync.model import Finding, Severity, Unit
from runner_sync.naming import Import, imported_by
from runner_sync.signatures import Field, fields_of
from runner_sync.statements.assigning import assigned_by
from runner_sync.syntax import (
    Function,
    dotted_name,
    first_line,
    head_end,
    indentation,
    lasting_module_of,
    statements_of,
    string_of,
    walk,
)
from runner_sync.verify.hits import Hit, Span

_DIRECTIVE = "runner-sync"
# An `ignore` with a rule code counts without the colon, too: its author believes that it silences something.
_ADDRESS = re.compile(r"runner-sync(?::|\s+ignore\s*\[?\s*(?:[Rr][Ss])?\d{3}\b)")
_PLAIN_ATTRIBUTE = re.compile(r"\bself\.(\w+)\b(?!\()")
_Scope = Function | ast.ClassDef


@dataclass(frozen=True, slots=True, eq=False)
class Comment:
    """One comment. ``alone``: no code precedes it on its line; ``column`` is 1-based."""

    line: int
    column: int
    text: str
    alone: bool


@dataclass(eq=False)
class ClassText:
    """A module-level class in a file."""

    name: str
    node: ast.ClassDef
    reading: Reading

    @cached_property
    def bases(self) -> tuple[str, ...]:
        """The dotted names of the bases; ``""`` for any other expression."""
        return tuple(dotted(base) for base in self.node.bases)

    @cached_property
    def methods(self) -> dict[str, list[Function]]:
        """All definitions of each method."""
        methods: dict[str, list[Function]] = {}
        for statement in statements_of(self.node.body):
            if isinstance(statement, Function):
                methods.setdefault(statement.name, []).append(statement)
        return methods

    @cached_property
    def assigned(self) -> dict[str, list[ast.expr]]:
        """The values that the body assigns, by name."""
        return assigned_in(self.node.body)

    @property
    def fields(self) -> dict[str, Field]:
        """The fields that the class body declares."""
        return fields_of(self.node)

    def text_of(self, method: str) -> str:
        """Return the text of the last definition of a method of the class."""
        return self.reading.text_of(self.methods[method][-1])


@dataclass(eq=False)
class Reading:
    """One file of the job. Every property is computed when first asked for."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree. Raises ``InputError`` naming file and line."""
        try:
            return _parse(self.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            # `units` words this error for every room; the late import costs more than parsing a runner.
            from runner_sync.units.splitting import parse

            return parse(self.text, path=self.path)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text, without line ends."""
        return self.text.split("\n")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree."""
        return walk(self.tree)

    @cached_property
    def plain_attributes(self) -> frozenset[str]:
        """The names that the text has as ``self.NAME`` without a call."""
        return frozenset(_PLAIN_ATTRIBUTE.findall(self.text))

    def parts(self, word: str) -> Iterator[ast.stmt]:
        """Yield module-level statements that contain ``word``; for a class with it only in the body, those members."""
        for statement in self.tree.body:
            members = statement.body if isinstance(statement, ast.ClassDef) else []
            if members and word not in "\n".join(self.lines[first_line(statement) - 1 : members[0].lineno]):
                yield from (member for member in members if word in self.text_of(member))
            elif word in self.text_of(statement):
                yield statement

    @cached_property
    def classes(self) -> dict[str, ClassText]:
        """Classes at module level (inside ``if`` and ``try`` too), by name."""
        nodes = [s for s in statements_of(self.tree.body) if isinstance(s, ast.ClassDef)]
        return {node.name: ClassText(node.name, node, self) for node in nodes}

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Functions at module level, by name."""
        return {s.name: s for s in statements_of(self.tree.body) if isinstance(s, Function)}

    @cached_property
    def imports(self) -> dict[str, list[Import]]:
        """Module-level imports by bound name, ``*`` included; relative imports are made absolute."""
        found: dict[str, list[Import]] = {}
        for node in statements_of(self.tree.body):
            for entry in imported_by(node, self.path) if isinstance(node, ast.Import | ast.ImportFrom) else ():
                found.setdefault(entry.bound, []).append(entry)
        return found

    @cached_property
    def values(self) -> dict[str, list[ast.expr]]:
        """The values that module-level statements assign, by name."""
        return assigned_in(self.tree.body)

    @cached_property
    def directives(self) -> tuple[Comment, ...]:
        """The comments addressed to runner-sync, in line order, without ``#`` inside strings."""
        if _ADDRESS.search(self.text) is None:
            return ()
        text = self.text.removeprefix("\ufeff")
        lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if _ADDRESS.search(line)]
        if any(start <= number <= end for start, end in self._long_strings for number, _ in lines):
            return tuple(_find_directives(text))
        # Outside long strings each line can be tokenized alone; a whole file would cost more than parsing it.
        return tuple(found for number, line in lines for found in _find_directives(f"{line}\n", first=number))

    @cached_property
    def _long_strings(self) -> list[tuple[int, int]]:
        """First and last lines of multi-line strings, in the parts that contain a directive."""
        nodes = (node for part in self.parts(_DIRECTIVE) for node in walk(part))
        return [
            (node.lineno, node.end_lineno)
            for node in nodes
            if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno and node.end_lineno > node.lineno
        ]

    @cached_property
    def units(self) -> Mapping[str, Unit]:
        """Units by qualified name, with the comments above: methods, functions, fields, and whole records."""
        from runner_sync.units import split
        from runner_sync.units.listing import unit_table

        return unit_table(split(self.text, path=self.path, tree=self.tree))

    @cached_property
    def digests(self) -> dict[str, str | None]:
        """The cache of ``locked``: digests of units by qualified name."""
        return {}

    def unit_at(self, line: int) -> str:
        """Return the qualified name of the definition around ``line``, or ``<module>``."""
        return next((name for start, end, name in self._unit_rows if start <= line <= end), "<module>")

    def unit_of_comment(self, line: int) -> str:
        """Return the qualified name of the definition right below an equally indented comment, else around ``line``."""
        below = line
        while below <= len(self.lines) and self.lines[below - 1].lstrip().startswith("#"):
            below += 1
        deep = [indentation(self.lines[number - 1]) for number in (line, below) if number <= len(self.lines)]
        named = (name for start, _, name in self._unit_rows if start == below and deep == deep[:1] * 2)
        return next(named, self.unit_at(line))

    @cached_property
    def _unit_rows(self) -> list[tuple[int, int, str]]:
        rows: list[tuple[int, int, str]] = []
        for node in statements_of(self.tree.body):
            if isinstance(node, ast.ClassDef):
                members = [m for m in statements_of(node.body) if isinstance(m, _Scope)]
                rows += [(first_line(m), m.end_lineno or m.lineno, f"{node.name}.{m.name}") for m in members]
            if isinstance(node, _Scope):
                rows.append((first_line(node), node.end_lineno or node.lineno, node.name))
        return rows

    def text_of(self, node: ast.stmt) -> str:
        """Return the source lines of a statement, decorators included."""
        return "\n".join(self.lines[first_line(node) - 1 : node.end_lineno])

    def span_of(self, node: ast.stmt) -> Span:
        """Return path, first and last line of a statement."""
        return self.path, first_line(node), node.end_lineno or node.lineno

    def span_around(self, function: Function, first: int, last: int) -> Span:
        """Return the span of the statements around two lines of a function; of the last, if compound, only its head."""
        inner = [_find_innermost(function, line) for line in (first, last)]
        body = getattr(inner[1], "body", None)
        end = max(body[0].lineno - 1, inner[1].lineno) if body else inner[1].end_lineno or last
        return self.path, first_line(inner[0]), end

    def hit(
        self,
        rule: tuple[str, Severity],
        node: ast.AST,
        *,
        symbol: str,
        message: str,
        fix: str = "",
        also: tuple[Span, ...] = (),
    ) -> Hit:
        """Make a finding at ``node``: on its whole span, or only on the header of a function or class."""
        line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
        end_line, end_column = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        if isinstance(node, _Scope):
            end_line, end_column = head_end(node)
        start = self._to_column(line, column)
        stop = self._to_column(end_line, end_column) if end_line == line else 0
        code, severity = rule
        unit = self.unit_at(line)
        found = Finding(code, severity, self.path, line, end_line, unit, symbol, message, fix, start, stop)
        return Hit(found, also)

    def hit_lines(
        self,
        rule: tuple[str, Severity],
        span: tuple[int, int],
        *,
        symbol: str,
        message: str,
        fix: str = "",
        unit: str | None = None,
        column: int = 0,
    ) -> Hit:
        """Make a finding on whole lines, for places without a node (comments, conflict markers)."""
        code, severity = rule
        line, end = span
        named = self.unit_at(line) if unit is None else unit
        found = Finding(code, severity, self.path, line, end, named, symbol, message, fix, column)
        return Hit(found, is_text=True)

    def _to_column(self, line: int, column: int) -> int:
        return characters(self.lines[line - 1], column) + 1


def _find_directives(text: str, *, first: int = 1) -> Iterator[Comment]:
    """Yield the directives in ``text``, which begins at line ``first`` and may end inside a statement."""
    with suppress(tokenize.TokenError):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and _ADDRESS.search(token.string):
                line, column = token.start
                yield Comment(first + line - 1, column + 1, token.string, not token.line[:column].strip())


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lasting_module_of(text.removeprefix("\ufeff"))


def assigned_in(body: Iterable[ast.stmt]) -> dict[str, list[ast.expr]]:
    """Return the names that statements assign, each with its values; ``a, b = …`` gives both names and no value."""
    found: dict[str, list[ast.expr]] = {}
    for statement in statements_of(body):
        for assignment in assigned_by(statement):
            if not assignment.is_bare:
                found.setdefault(assignment.name, []).extend([assignment.value] if assignment.value is not None else [])
    return found


def shorten_code(code: str, *, most: int) -> str:
    """Return code in one line, cut to fewer than ``most`` characters if it is longer."""
    line = " ".join(code.split())
    return line if len(line) <= most else f"{line[: most - 3]}…"


def dotted(node: ast.AST) -> str:
    """Return ``a.b.c`` of a name or attribute chain (of ``X`` in ``X[T]``); ``""`` for anything else."""
    return dotted_name(node.value if isinstance(node, ast.Subscript) else node) or ""


def constant_text(node: ast.AST | None) -> str:
    """Return the value of a string literal; ``""`` for anything else."""
    return string_of(node) or ""


def _find_innermost(function: Function, line: int) -> ast.stmt:
    around = [n for n in walk(function) if isinstance(n, ast.stmt) and first_line(n) <= line <= (n.end_lineno or 0)]
    return max(around, key=lambda node: (first_line(node), node.col_offset), default=function)
