"""One source file, parsed at most once and only as far as needed.

Comes in: a path and a text. Goes out: `Reading` (syntax tree, classes, imports, comments, units by line) and findings
placed in it. May touch: nothing; the text is parsed, never executed. No libcst: `check` runs in every pull request.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Container, Iterable, Iterator, Mapping
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
    has_word,
    head_end,
    indentation,
    lasting_module_of,
    statements_of,
    walk,
)

Span = tuple[str, int, int]
_IMPORT = re.compile(r"^(?:from [\w.]+ import (?:\([^()]*\)|[^\n(]+)|import [\w., ]+)$", re.MULTILINE)
_DIRECTIVE = "runner-sync:"
_Scope = Function | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Hit:
    """A finding, and what makes it the concern of a branch under `check --changed-since`.

    That is a change of its lines, or of one of the places ``also`` (path, first and last line); with ``is_branchs`` it
    always is. ``is_text``: the finding is about comments or layout, so that changes of these count, too. ``is_done``:
    the code is as it should be, and only the lock does not know; that is a note.
    """

    finding: Finding
    also: tuple[Span, ...] = ()
    is_branchs: bool = False
    is_text: bool = False
    is_done: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Comment:
    """One comment. ``alone``: no code stands before it on its line; ``column`` is 1-based."""

    line: int
    column: int
    text: str
    alone: bool


@dataclass(slots=True, eq=False)
class ClassText:
    """A module-level class as its file shows it: base expressions, methods (all definitions of a name), and the other
    names that its body assigns."""

    name: str
    node: ast.ClassDef
    reading: Reading
    bases: tuple[str, ...]
    methods: Mapping[str, list[Function]]
    assigned: Container[str] = ()

    @property
    def fields(self) -> dict[str, Field]:
        """The fields that the class body declares."""
        return fields_of(self.node)

    def text_of(self, method: str) -> str:
        """The text of the last definition of a method that the class has."""
        return self.reading.text_of(self.methods[method][-1])


@dataclass(eq=False)
class Reading:
    """One file of the job. Everything below is computed when first asked for."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """The syntax tree. Raises ``InputError`` naming file and line."""
        try:
            return _parse(self.text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            # `units` words this error for every room; imported late, as that costs more than parsing a runner.
            from runner_sync.units.splitting import parse

            return parse(self.text, path=self.path)

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text, without their ends."""
        return self.text.split("\n")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree."""
        return walk(self.tree)

    def parts(self, word: str) -> Iterator[ast.stmt]:
        """The module-level statements that contain ``word``; in place of a class that has it only in its body, the
        members that contain it."""
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
        return {node.name: self._class(node) for node in nodes}

    def _class(self, node: ast.ClassDef) -> ClassText:
        bases = tuple(dotted(base) for base in node.bases)
        return ClassText(node.name, node, self, bases, methods_of(node), assigned_in(node.body).keys())

    @cached_property
    def functions(self) -> dict[str, Function]:
        """Functions at module level, by name."""
        return {s.name: s for s in statements_of(self.tree.body) if isinstance(s, Function)}

    @cached_property
    def imports(self) -> dict[str, list[Import]]:
        """Module-level imports by the names that they bind, ``*`` among them; relative ones are made absolute."""
        found: dict[str, list[Import]] = {}
        for entry in self._entries(statements_of(self.tree.body)):
            found.setdefault(entry.bound, []).append(entry)
        return found

    def origins(self, name: str) -> list[Import]:
        """The module-level imports that bind ``name``; the file is parsed only where none stands plainly at the margin
        and the text has the name."""
        if name not in self._origins:
            plain = (statement for text in self._plain_imports if name in text for statement in _statements(text))
            found = [entry for entry in self._entries(plain) if entry.bound == name]
            is_there = "import *" in self.text if name == "*" else has_word(self.text, name)
            self._origins[name] = found or (self.imports.get(name, []) if is_there else [])
        return self._origins[name]

    def _entries(self, statements: Iterable[ast.stmt]) -> Iterator[Import]:
        for node in statements:
            yield from imported_by(node, self.path) if isinstance(node, ast.Import | ast.ImportFrom) else ()

    @cached_property
    def _origins(self) -> dict[str, list[Import]]:
        return {}

    @cached_property
    def _plain_imports(self) -> list[str]:
        return [found[0] for found in _IMPORT.finditer(self.text)]

    def values(self, name: str) -> list[ast.expr]:
        """The values that module-level statements assign to ``name``; nothing is parsed where the text lacks it."""
        return self._values.get(name, []) if has_word(self.text, name) else []

    @cached_property
    def _values(self) -> dict[str, list[ast.expr]]:
        return assigned_in(self.tree.body)

    @cached_property
    def directives(self) -> tuple[Comment, ...]:
        """The comments addressed to runner-sync, in line order; a ``#`` inside a string is none."""
        if _DIRECTIVE not in self.text:
            return ()
        text = self.text.removeprefix("\ufeff")
        lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if _DIRECTIVE in line]
        if any(start <= number <= end for start, end in self._long_strings for number, _ in lines):
            return tuple(_directives(text))
        # Outside long strings each line can be tokenized alone; a whole file would cost more than parsing it.
        return tuple(found for number, line in lines for found in _directives(f"{line}\n", first=number))

    @cached_property
    def _long_strings(self) -> list[tuple[int, int]]:
        """First and last lines of the strings on several lines, in the parts that hold a directive."""
        nodes = (node for part in self.parts(_DIRECTIVE) for node in walk(part))
        return [
            (node.lineno, node.end_lineno)
            for node in nodes
            if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno and node.end_lineno > node.lineno
        ]

    @cached_property
    def units(self) -> Mapping[str, Unit]:
        """Units by qualified name, with the comments above: methods, functions, fields, and records whole."""
        from runner_sync.units import split
        from runner_sync.units.listing import unit_table

        return unit_table(split(self.text, path=self.path, tree=self.tree))

    @cached_property
    def digests(self) -> dict[str, str | None]:
        """The cache of ``locked``: digests of units by qualified name."""
        return {}

    def unit_at(self, line: int) -> str:
        """Qualified name of the definition that holds ``line``, or ``<module>``."""
        return next((name for start, end, name in self._rows if start <= line <= end), "<module>")

    def unit_of_comment(self, line: int) -> str:
        """Qualified name of the definition that the comment at ``line`` stands right above, alone and as deep as that
        or its decorators; else of the one that holds the line."""
        below = line
        while below <= len(self.lines) and self.lines[below - 1].lstrip().startswith("#"):
            below += 1
        deep = [indentation(self.lines[number - 1]) for number in (line, below) if number <= len(self.lines)]
        named = (name for start, _, name in self._rows if start == below and deep == deep[:1] * 2)
        return next(named, self.unit_at(line))

    @cached_property
    def _rows(self) -> list[tuple[int, int, str]]:
        rows: list[tuple[int, int, str]] = []
        for node in statements_of(self.tree.body):
            if isinstance(node, ast.ClassDef):
                members = [m for m in statements_of(node.body) if isinstance(m, _Scope)]
                rows += [(first_line(m), m.end_lineno or m.lineno, f"{node.name}.{m.name}") for m in members]
            if isinstance(node, _Scope):
                rows.append((first_line(node), node.end_lineno or node.lineno, node.name))
        return rows

    def text_of(self, node: ast.stmt) -> str:
        """Source lines of a statement, decorators included."""
        return "\n".join(self.lines[first_line(node) - 1 : node.end_lineno])

    def span_of(self, node: ast.stmt) -> Span:
        """Path, first and last line of a statement."""
        return self.path, first_line(node), node.end_lineno or node.lineno

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
        """A finding at ``node``: its whole span, or only the header of a function or class."""
        line, column = node.lineno, node.col_offset  # type: ignore[attr-defined]
        end_line, end_column = node.end_lineno, node.end_col_offset  # type: ignore[attr-defined]
        if isinstance(node, _Scope):
            end_line, end_column = head_end(node)
        start = self._character(line, column)
        stop = self._character(end_line, end_column) if end_line == line else 0
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
        """A finding on whole lines, where there is no node (comments, conflict markers)."""
        code, severity = rule
        line, end = span
        named = self.unit_at(line) if unit is None else unit
        found = Finding(code, severity, self.path, line, end, named, symbol, message, fix, column)
        return Hit(found, is_text=True)

    def _character(self, line: int, column: int) -> int:
        return characters(self.lines[line - 1], column) + 1


def _directives(text: str, *, first: int = 1) -> Iterator[Comment]:
    """The directives in ``text``, which begins at line ``first`` and may end within a statement."""
    with suppress(tokenize.TokenError):
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT and _DIRECTIVE in token.string:
                line, column = token.start
                yield Comment(first + line - 1, column + 1, token.string, not token.line[:column].strip())


def _parse(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return lasting_module_of(text.removeprefix("\ufeff"))


def _statements(text: str) -> list[ast.stmt]:
    try:
        return ast.parse(text).body
    except SyntaxError:
        # Prose in a docstring that begins like an import.
        return []


def methods_of(node: ast.ClassDef) -> dict[str, list[Function]]:
    """The methods of a class, all definitions of a name."""
    methods: dict[str, list[Function]] = {}
    for statement in statements_of(node.body):
        if isinstance(statement, Function):
            methods.setdefault(statement.name, []).append(statement)
    return methods


def assigned_in(body: Iterable[ast.stmt]) -> dict[str, list[ast.expr]]:
    """The names that statements of a module or class assign, with the values that are single expressions: ``a, b = …``
    gives both names and no value."""
    found: dict[str, list[ast.expr]] = {}
    for statement in statements_of(body):
        for one in assigned_by(statement):
            if not one.is_bare:
                found.setdefault(one.name, []).extend([one.value] if one.value is not None else [])
    return found


def shortened(code: str, *, most: int) -> str:
    """Code in one line, cut to fewer than ``most`` characters where it is longer."""
    line = " ".join(code.split())
    return line if len(line) <= most else f"{line[: most - 3]}…"


def dotted(node: ast.AST) -> str:
    """``a.b.c`` of a name or attribute chain (of ``X`` in ``X[T]``), ``""`` for anything else."""
    return dotted_name(node.value if isinstance(node, ast.Subscript) else node) or ""


def constant_text(node: ast.AST | None) -> str:
    """The value of a string literal, ``""`` for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
