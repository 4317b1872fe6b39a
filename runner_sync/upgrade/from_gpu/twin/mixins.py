"""Removes uses of a mixin from the GPU twin, so that they count as new when NPU gets the mixin.

Comes in: the text of a unit and the names that a mixin adds to ``self``. Goes out: the text without their uses. May
touch: nothing.

A mixin does nothing by itself: the methods that set it up and call it are the other half of the change. If the GPU twin
has long had both, they would not count as changed, and only the base class would be ported.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from functools import lru_cache

from runner_sync.edits import margin
from runner_sync.rulers import is_drawn
from runner_sync.statements import bound_in, inside_strings, mentions, parameters, parse_unit, parses
from runner_sync.syntax import (
    Function,
    assigned_names,
    attribute_by_name,
    blocks_of,
    first_line,
    module_of,
    names_in,
    self_attribute,
    self_attributes_set,
    walk,
)

Span = tuple[int, int]


@lru_cache(maxsize=64)
def find_instance_names(text: str, class_name: str) -> frozenset[str]:
    """Return names that a class gives its instances: methods and attributes set on ``self``, without dunder names."""
    found: set[str] = set()
    for node in walk(module_of(text)):
        if not isinstance(node, ast.ClassDef) or node.name != class_name:
            continue
        found |= {member.name for member in node.body if isinstance(member, Function)}
        found |= self_attributes_set(node)
    return frozenset(name for name in found if not name.startswith("__"))


def remove_uses(text: str, names: Collection[str]) -> str:
    """Remove statements that use ``names`` on ``self``, with the comments directly above them.

    Also removes assignments that only these statements read. Replaces ``return self.name(x)``, a mixin's wrapper around
    the previous value, by ``return x``, and ``with self.name(x):`` by its body. Returns ``text`` unchanged if nothing
    would be left or the result would not parse.
    """
    if not parses(text):
        return text
    bare, opened, read = _remove_contexts(text, names)
    lines = bare.split("\n")
    for function in [n for n in walk(parse_unit(bare)) if isinstance(n, Function)][:1]:
        removal = _Removal(names, opened, read)
        removal.collect_suite(function.body)
        removal.drop_dead_stores(function)
        if removal.has_all(function.body):
            return text
        _remove_from(lines, removal)
    made = "\n".join(lines)
    return made if parses(made) else text  # fails with several statements on one line


def _remove_contexts(text: str, names: Collection[str]) -> tuple[str, frozenset[str], frozenset[str]]:
    """Remove ``with`` items that use ``names`` and keep their bodies.

    Also returns the names that only those items bound, and the names that they read. A name bound elsewhere is not
    among the former: ``out`` of ``with self.timed() as out`` stays if there is also ``out = self.finish()``.
    """
    bound: set[str] = set()
    opened: set[str] = set()
    read: set[str] = set()
    while (found := _find_first_context(text, _Removal(names, opened))) is not None:
        block, gone, end = found
        for item in gone:
            stored = assigned_names(item)
            read |= names_in(item) - stored
            bound |= stored
        text = _reduce_head(text, block, [item for item in block.items if item not in gone], end)
        opened = bound - _find_bound_names(text)
    return text, frozenset(opened), frozenset(read)


def _find_bound_names(text: str) -> set[str]:
    """Return the names that the functions of ``text`` bind, including their parameters."""
    found: set[str] = set()
    for function in walk(parse_unit(text)):
        if isinstance(function, Function):
            found |= {parameter.arg for parameter in parameters(function)}
            found |= bound_in(function.body)
    return found


def _find_first_context(
    text: str, removal: _Removal
) -> tuple[ast.With | ast.AsyncWith, list[ast.withitem], int] | None:
    """Return the first ``with`` that has items to remove, those items, and the line where its head ends."""
    lines = text.split("\n")
    for block in walk(parse_unit(text)):
        if not isinstance(block, ast.With | ast.AsyncWith):
            continue
        gone = [item for item in block.items if removal.uses(item)]
        end = _find_head_end(lines, block)
        if gone and end is not None:
            return block, gone, end
    return None


def _find_head_end(lines: Sequence[str], block: ast.With | ast.AsyncWith) -> int | None:
    """Return the line of the colon that ends the head of ``block``; ``None`` if the body starts on that line.

    After the last item come only brackets, commas and comments, so no string can contain a misleading ``#`` or colon.
    """
    last = block.items[-1].optional_vars or block.items[-1].context_expr
    line = last.end_lineno or block.lineno
    body = first_line(block.body[0])
    if line == body:
        return None
    rest = [lines[line - 1].encode()[last.end_col_offset or 0 :].decode(), *lines[line : body - 1]]
    return next((n for n, text in enumerate(rest, line) if text.partition("#")[0].rstrip().endswith(":")), None)


def _reduce_head(text: str, block: ast.With | ast.AsyncWith, items: Sequence[ast.withitem], end: int) -> str:
    """Keep only ``items`` in the head of ``block``.

    Without items, the dedented body replaces the block and the comment above it.
    """
    lines = text.split("\n")
    indent, first = margin(lines[block.lineno - 1]), block.lineno
    fixed = inside_strings(text)
    if items:
        word = "async with" if isinstance(block, ast.AsyncWith) else "with"
        head = [f"{indent}{word} {', '.join(map(ast.unparse, items))}:"]
    else:
        head = []
        step = len(margin(lines[block.body[0].lineno - 1])) - len(indent)
        first = _find_first_comment_line(lines, first, fixed)
        for n in range(end + 1, (block.end_lineno or end) + 1):
            if n - 1 not in fixed and not lines[n - 1][:step].strip():
                lines[n - 1] = lines[n - 1][step:]
    return "\n".join([*lines[: first - 1], *head, *lines[end:]])


class _Removal:
    """Collects the statements to remove, and the wrapper calls to replace by their argument (``unwrapped``).

    ``opened`` are locals whose uses are removed as well; ``read`` are locals that already removed code has read.
    """

    def __init__(self, names: Collection[str], opened: Collection[str] = (), read: Collection[str] = ()) -> None:
        self.names = names
        self.opened = opened
        self.read = read
        self.gone: list[ast.stmt] = []
        self.unwrapped: list[tuple[ast.expr, ast.expr]] = []

    def has_all(self, body: list[ast.stmt]) -> bool:
        return all(stmt in self.gone for stmt in body)

    def collect_suite(self, body: list[ast.stmt]) -> None:
        """Collect statements of a suite that use the names, and compound statements that would end up empty."""
        for stmt in body:
            suites = list(blocks_of(stmt))
            parts = ast.stmt | ast.ExceptHandler | ast.match_case
            heads = [n for n in ast.iter_child_nodes(stmt) if not isinstance(n, parts)]
            if any(self.uses(head) for head in heads):
                wrapped = _find_wrapper_call(stmt)
                if wrapped is not None and self._is_wrapper(*wrapped):
                    self.unwrapped.append(wrapped)
                else:
                    self.gone.append(stmt)
                continue
            for inner in suites:
                self.collect_suite(inner)
            if suites and all(self.has_all(inner) for inner in suites):
                self.gone.append(stmt)

    def drop_dead_stores(self, function: ast.AST) -> None:
        """Collect assignments to plain locals that only removed code reads."""
        kept = [n for n in walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        inside = {id(n) for stmt in self.gone for n in walk(stmt)}
        read = {n.id for n in kept if id(n) not in inside}
        served = {n.id for n in kept if id(n) in inside} | set(self.read)
        for stmt in walk(function):
            if isinstance(stmt, ast.Assign) and all(isinstance(t, ast.Name) for t in stmt.targets):
                targets = {t.id for t in stmt.targets if isinstance(t, ast.Name)}
                if targets <= served - read and id(stmt) not in inside:
                    self.gone.append(stmt)

    def uses(self, node: ast.AST) -> bool:
        for inner in walk(node):
            if self_attribute(inner) in self.names or attribute_by_name(inner) in self.names:
                return True
        return bool(self.opened) and any(
            mention.kind == "reads" and mention.name in self.opened for mention in mentions([node])
        )

    def _is_wrapper(self, call: ast.expr, argument: ast.expr) -> bool:
        assert isinstance(call, ast.Call)
        return self.uses(call.func) and not self.uses(argument)


def _find_wrapper_call(stmt: ast.stmt) -> tuple[ast.expr, ast.expr] | None:
    """Return call and argument of ``return f(x)``."""
    if not isinstance(stmt, ast.Return) or not isinstance(stmt.value, ast.Call):
        return None
    call = stmt.value
    return (call, call.args[0]) if len(call.args) == 1 and not call.keywords else None


def _remove_from(lines: list[str], removal: _Removal) -> None:
    """Remove the collected statements from ``lines`` in place, with ``pass`` where a suite would become empty.

    Their comments go as well: a comment left behind would count as old and not come in with its statement.
    """
    fixed = inside_strings("\n".join(lines))
    edits: list[tuple[Span, list[str]]] = [
        ((_find_first_comment_line(lines, first_line(stmt), fixed), stmt.end_lineno or stmt.lineno), [])
        for stmt in removal.gone
    ]
    for call, argument in removal.unwrapped:
        before = lines[call.lineno - 1].encode()[: call.col_offset].decode()
        edits.append(((call.lineno, call.end_lineno or call.lineno), [before + ast.unparse(argument)]))
    outer = [(span, text) for span, text in edits if not any(_contains(other, span) for other, _ in edits)]
    for (first, last), text in sorted(outer, key=lambda edit: edit[0], reverse=True):
        rest = text or ([margin(lines[first - 1]) + "pass"] if _is_whole_suite(lines, first, last) else [])
        lines[first - 1 : last] = rest


def _find_first_comment_line(lines: Sequence[str], first: int, fixed: Collection[int]) -> int:
    """Return the first line of the comment directly above the statement at ``first``, else ``first``.

    The comment must have the statement's indentation. ``fixed`` are the 0-based lines inside strings. A ruler does not
    count, because it covers more than one statement.
    """
    head = margin(lines[first - 1]) + "#"
    while first > 1 and (above := lines[first - 2]).startswith(head) and first - 2 not in fixed:
        if is_drawn(above.strip()):
            break
        first -= 1
    return first


def _contains(outer: Span, inner: Span) -> bool:
    return outer != inner and outer[0] <= inner[0] and inner[1] <= outer[1]


def _is_whole_suite(lines: list[str], first: int, last: int) -> bool:
    """Whether these lines form a whole suite, judged by the indentation of the nearest code lines above and below."""
    width = len(margin(lines[first - 1]))
    above = next((line for line in reversed(lines[: first - 1]) if line.strip() and line.lstrip()[0] != "#"), "")
    below = next((line for line in lines[last:] if line.strip() and line.lstrip()[0] != "#"), "")
    return len(margin(above)) < width and len(margin(below)) < width
