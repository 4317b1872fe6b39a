"""The GPU twin as it would read without a mixin, so that what the mixin brings counts as new where NPU gets it now.

Comes in: the text of a unit and the names that a mixin gives to ``self``. Goes out: the text without their uses. May
touch: nothing.

A mixin among the bases does nothing by itself: the methods that set it up and call it are the other half of the same
change. Where the GPU twin had both for some time, only the bases would be ported.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from functools import lru_cache

from runner_sync.statements import parse_unit, parses
from runner_sync.syntax import walk

Span = tuple[int, int]


@lru_cache(maxsize=64)
def given_names(text: str, class_name: str) -> frozenset[str]:
    """Names that a class gives to its instances: its methods, and what they set on ``self``."""
    found: set[str] = set()
    for node in walk(ast.parse(text)):
        if not isinstance(node, ast.ClassDef) or node.name != class_name:
            continue
        found |= {member.name for member in node.body if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef)}
        for inner in walk(node):
            if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store) and _is_self(inner.value):
                found.add(inner.attr)
    return frozenset(name for name in found if not name.startswith("__"))


def without(text: str, names: Collection[str]) -> str:
    """A method without the statements that use one of ``names`` on ``self``, and without what served only them.

    ``return self.name(x)`` becomes ``return x``: a wrapper of the mixin's around what was returned before.
    """
    try:
        tree = parse_unit(text)
    except SyntaxError:
        return text
    lines = text.split("\n")
    for function in [n for n in walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)][:1]:
        out = _Removal(names)
        out.suite(function.body)
        out.drop_dead_stores(function)
        if out.is_all(function.body):
            return text
        _apply(lines, out)
    made = "\n".join(lines)
    return made if parses(made) else text  # several statements on one line


class _Removal:
    """Statements that go, and the values that lose a wrapper (the call node and its argument)."""

    def __init__(self, names: Collection[str]) -> None:
        self.names = names
        self.gone: list[ast.stmt] = []
        self.unwrapped: list[tuple[ast.expr, ast.expr]] = []

    def is_all(self, body: list[ast.stmt]) -> bool:
        return all(stmt in self.gone for stmt in body)

    def suite(self, body: list[ast.stmt]) -> None:
        for stmt in body:
            suites = list(_suites(stmt))
            heads = [n for n in ast.iter_child_nodes(stmt) if not isinstance(n, ast.stmt | ast.ExceptHandler)]
            if any(self._uses(head) for head in heads):
                wrapped = _wrapped(stmt)
                if wrapped is not None and self._is_wrapper(*wrapped):
                    self.unwrapped.append(wrapped)
                else:
                    self.gone.append(stmt)
                continue
            for inner in suites:
                self.suite(inner)
            if suites and all(self.is_all(inner) for inner in suites):
                self.gone.append(stmt)

    def drop_dead_stores(self, function: ast.AST) -> None:
        """Assignments of plain locals that only statements which go have read."""
        kept = [n for n in walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        inside = {id(n) for stmt in self.gone for n in walk(stmt)}
        read = {n.id for n in kept if id(n) not in inside}
        served = {n.id for n in kept if id(n) in inside}
        for stmt in walk(function):
            if isinstance(stmt, ast.Assign) and all(isinstance(t, ast.Name) for t in stmt.targets):
                targets = {t.id for t in stmt.targets if isinstance(t, ast.Name)}
                if targets <= served - read and id(stmt) not in inside:
                    self.gone.append(stmt)

    def _uses(self, node: ast.AST) -> bool:
        for inner in walk(node):
            if isinstance(inner, ast.Attribute) and inner.attr in self.names and _is_self(inner.value):
                return True
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str) and inner.value in self.names:
                return True
        return False

    def _is_wrapper(self, call: ast.expr, argument: ast.expr) -> bool:
        assert isinstance(call, ast.Call)
        return self._uses(call.func) and not self._uses(argument)


def _is_self(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _suites(stmt: ast.stmt) -> Iterator[list[ast.stmt]]:
    if isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        if inner := getattr(stmt, name, None):
            yield inner
    for handler in getattr(stmt, "handlers", ()):
        yield handler.body


def _wrapped(stmt: ast.stmt) -> tuple[ast.expr, ast.expr] | None:
    """Call and argument of ``return f(x)``."""
    if not isinstance(stmt, ast.Return) or not isinstance(stmt.value, ast.Call):
        return None
    call = stmt.value
    return (call, call.args[0]) if len(call.args) == 1 and not call.keywords else None


def _apply(lines: list[str], out: _Removal) -> None:
    edits: list[tuple[Span, list[str]]] = [((_first(stmt), stmt.end_lineno or stmt.lineno), []) for stmt in out.gone]
    for call, argument in out.unwrapped:
        before = lines[call.lineno - 1].encode()[: call.col_offset].decode()
        edits.append(((call.lineno, call.end_lineno or call.lineno), [before + ast.unparse(argument)]))
    outer = [(span, text) for span, text in edits if not any(_contains(other, span) for other, _ in edits)]
    for (first, last), text in sorted(outer, key=lambda edit: edit[0], reverse=True):
        rest = text or ([_margin(lines[first - 1]) + "pass"] if _is_alone(lines, first, last) else [])
        lines[first - 1 : last] = rest


def _contains(outer: Span, inner: Span) -> bool:
    return outer != inner and outer[0] <= inner[0] and inner[1] <= outer[1]


def _first(stmt: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(stmt, "decorator_list", [])
    return min([stmt.lineno, *(d.lineno for d in decorators)])


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _is_alone(lines: list[str], first: int, last: int) -> bool:
    """Whether a suite would be left without a statement: its head directly above, and less indentation below."""
    width = len(_margin(lines[first - 1]))
    above = next((line for line in reversed(lines[: first - 1]) if line.strip() and line.lstrip()[0] != "#"), "")
    below = next((line for line in lines[last:] if line.strip() and line.lstrip()[0] != "#"), "")
    return len(_margin(above)) < width and len(_margin(below)) < width
