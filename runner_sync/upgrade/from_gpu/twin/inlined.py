"""The GPU twin of a method, with the helpers inlined whose code the NPU method has in place.

Comes in: the text of a GPU method and of the helpers of its class. Goes out: the text with the bodies of those helpers
in it. May touch: nothing.

The GPU runner sometimes moves part of a method into a helper; the NPU method, a copy of vllm-ascend's undivided one,
keeps that part where it was (for example `_build_omni_model_runner_output_from_snapshot` and `sample_tokens` in
0.24.0). Changes of the helper then are changes of that method, and the moved part is not gone. The inlined text is
never run: two of them, old and new, are compared, and their difference is merged into the NPU method::

    GPU        sample: self._build(rows)      _build: check(rows); pack(rows)
    NPU        sample: check(rows); pack(rows)
    inlined    sample: check(rows); pack(rows)
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from runner_sync.compose.member_text import self_names
from runner_sync.edits import Edit, Places, apply
from runner_sync.lineage import FEWEST, nodes_of
from runner_sync.statements import first_function, inside_strings, parses
from runner_sync.syntax import blocks_of, calls_on_self, statements_of, walk
from runner_sync.upgrade.from_gpu.twin.arguments import with_arguments

Twin = tuple[str, Mapping[str, str]]

IN_PLACE = 0.5
"""Share of a helper's telling statements that a method must have for the helper to count as in place there. A
judgement; RS202 uses the same figure to tell a call of a helper from a hook that NPU lacks."""


def sides_with_helpers(method: str, old: Twin, new: Twin) -> tuple[str, str]:
    """The texts of ``old`` and ``new`` with the helpers inlined that ``method`` has in place.

    Each side is the twin's text and its helpers by name. A helper stays a call if the other side does not have most of
    its statements, for example because they moved into another module, or if it can be inlined on one side only: its
    statements would seem to be gone from the other.
    """
    names = in_place(method, old[1]) | in_place(method, new[1])
    was, now = _with_bodies(old, names, other=new), _with_bodies(new, names, other=old)
    if uneven := (was.inlined ^ now.inlined) & _called(old) & _called(new):
        was, now = (_with_bodies(side, names - uneven, other=other) for side, other in ((old, new), (new, old)))
    return was.text, now.text


def _called(side: Twin) -> frozenset[str]:
    """The helpers that the text of ``side`` or another helper calls."""
    return frozenset(name for text in (side[0], *side[1].values()) for name in self_names(text)) & side[1].keys()


class _Inlined(NamedTuple):
    """A text, and the names of the helpers that are inlined in it."""

    text: str
    inlined: frozenset[str]


def in_place(method: str, helpers: Mapping[str, str]) -> frozenset[str]:
    """Names of the ``helpers`` whose statements ``method`` mostly has itself and which it does not call."""
    called = self_names(method)
    return frozenset(name for name, helper in helpers.items() if name not in called and _is_in_place(helper, [method]))


def _with_bodies(side: Twin, names: Collection[str], *, other: Twin) -> _Inlined:
    """The text of ``side`` with each of these helpers inlined where it is first used; helpers of helpers, too."""
    inlined = set()
    text, helpers = side
    there = [other[0], *other[1].values()]
    todo = [name for name in helpers if name in names and _is_in_place(helpers[name], there)]
    while used := [name for name in todo if name in self_names(text)]:
        todo.remove(used[0])
        made = _with_body(text, used[0], helpers[used[0]])
        inlined |= {used[0]} if made != text else set()
        text = made
    return _Inlined(text, frozenset(inlined))


def _is_in_place(helper: str, texts: Sequence[str]) -> bool:
    inside = Counter(_telling(helper))
    both = (inside & Counter(canon for text in texts for canon in _telling(text))).total()
    return both >= FEWEST and both >= inside.total() * IN_PLACE


def _telling(text: str) -> list[str]:
    return [node.canon for node in nodes_of(text)[1:] if node.is_telling]


def _with_body(text: str, name: str, helper: str) -> str:
    """The text with the helper's body in the place of the statement that calls it.

    The statement stays, with the body behind it, if it does more than call the helper, or is a nested function that
    uses it. The text is unchanged if the body cannot stand there: see ``_with_result_assigned`` and ``_body_lines``.
    """
    function = first_function(text)
    user = _using_statement(function.body, name) if function is not None else None
    if user is None:
        return text
    passed = with_arguments(helper, next(calls_on_self(user, name), None))
    body = _body_lines(_with_result_assigned(passed, user), " " * user.col_offset)
    if not body:
        return text
    lines = text.split("\n")
    first, last = user.lineno - 1, user.end_lineno or user.lineno
    kept = [] if _only_calls(user, name) else lines[first:last]
    made = "\n".join([*lines[:first], *kept, *body, *lines[last:]])
    return made if parses(made) else text  # it need not, with a suite on the line of its head


def _using_statement(body: Sequence[ast.stmt], name: str) -> ast.stmt | None:
    """The innermost statement that uses ``self.name``; a nested function or class counts as one statement."""
    for stmt in body:
        if not any(isinstance(node, ast.Attribute) and node.attr == name for node in walk(stmt)):
            continue
        if isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return stmt
        return next((user for inner in blocks_of(stmt) if (user := _using_statement(inner, name)) is not None), stmt)
    return None


def _only_calls(stmt: ast.stmt, name: str) -> bool:
    """Whether a statement only calls ``self.name`` and assigns or returns the result."""
    value = stmt.value if isinstance(stmt, ast.Expr | ast.Return | ast.Assign) else None
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == name


def _with_result_assigned(helper: str, user: ast.stmt) -> str:
    """The helper with its final ``return value`` turned into an assignment to the target of the calling statement
    ``user``.

    Empty if it also returns earlier: inlined, that would end the method. As it is if ``user`` is itself a ``return``.
    """
    function = first_function(helper)
    returns = [stmt for stmt in statements_of(function.body) if isinstance(stmt, ast.Return)] if function else []
    if function is None or not returns or isinstance(user, ast.Return):
        return helper
    last = returns[-1]
    if len(returns) > 1 or last is not function.body[-1]:
        return ""
    target = ast.unparse(user.targets[0]) if isinstance(user, ast.Assign) else ""
    places = Places(helper)
    value = places.source(last.value) if last.value is not None else "None"
    kept = f"{target} = {value}" if target else value
    return apply(helper, [Edit(places.start(last), places.end(last), "pass" if value == target else kept)])


def _body_lines(helper: str, margin: str) -> Sequence[str]:
    """The body lines of a method without docstring, indented by ``margin``; lines inside strings stay as they are."""
    function = first_function(helper)
    if function is None:
        return ()
    has_docstring = ast.get_docstring(function, clean=False) is not None
    statements = function.body[1:] if has_docstring else function.body
    if not statements or statements[0].lineno == function.lineno:
        return ()
    first, last = statements[0].lineno, statements[-1].end_lineno or statements[-1].lineno
    width = statements[0].col_offset
    fixed = inside_strings(helper)
    rows = list(enumerate(helper.split("\n")))[first - 1 : last]
    return tuple(
        row if n in fixed or not row.strip() else margin + row[_indent_to_cut(row, width) :] for n, row in rows
    )


def _indent_to_cut(row: str, width: int) -> int:
    """How many characters of indentation to remove: ``width``, or none for an outdented comment."""
    return width if not row[:width].strip() else 0
