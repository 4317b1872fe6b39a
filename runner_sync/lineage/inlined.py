"""Inlines helpers of the GPU twin whose code the NPU method has in place.

Comes in: a GPU method and the helpers of its class. Goes out: the method with helper bodies inlined. May touch:
nothing.

The GPU runner sometimes extracts part of a method into a helper. The NPU method, a copy of vllm-ascend's undivided one,
keeps that part in place (for example `_build_omni_model_runner_output_from_snapshot` and `sample_tokens` in 0.24.0).
Changes of the helper then apply to the method, and the extracted part is not a deletion. The inlined texts never run:
the difference between the old and the new one is merged into the NPU method::

    GPU        sample: self._build(rows)      _build: check(rows); pack(rows)
    NPU        sample: check(rows); pack(rows)
    inlined    sample: check(rows); pack(rows)
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from runner_sync.edits import Edit, Places, apply
from runner_sync.lineage import FEWEST, list_nodes
from runner_sync.statements import first_function, inside_strings, parses, yields
from runner_sync.syntax import Function, blocks_of, statements_of, walk
from runner_sync.texts.member_text import self_names, self_names_of

Twin = tuple[str, Mapping[str, str]]

IN_PLACE = 0.5
"""Share of a helper's telling statements that a method must have for the helper to count as in place.

The value is a judgement; RS202 uses it, too, to tell a call of a helper from a hook that NPU lacks.
"""


def inline_helpers(method: str, old: Twin, new: Twin) -> tuple[str, str]:
    """Inline the helpers that ``method`` has in place into both sides and return the two texts.

    ``old`` and ``new`` are the twin's text and its helpers by name. A helper stays a call if the other side lacks most
    of its statements, for example because they moved into another module. It also stays a call if only one side can
    inline it, because its statements would then look deleted on the other side.
    """
    was, now = _inline_in_both(method, old, new)
    return was.text, now.text


def find_inlined_on_both_sides(method: str, old: Twin, new: Twin) -> frozenset[str]:
    """Return the names of the helpers that `inline_helpers` inlines into both sides, so that a merge sees them."""
    was, now = _inline_in_both(method, old, new)
    return was.inlined & now.inlined


def _inline_in_both(method: str, old: Twin, new: Twin) -> tuple[_Inlined, _Inlined]:
    names = find_helpers_in_place(method, old[1]) | find_helpers_in_place(method, new[1])
    was, now = _inline_bodies(old, names, other=new), _inline_bodies(new, names, other=old)
    if uneven := (was.inlined ^ now.inlined) & _find_called_helpers(old) & _find_called_helpers(new):
        was, now = (_inline_bodies(side, names - uneven, other=other) for side, other in ((old, new), (new, old)))
    return was, now


def _find_called_helpers(side: Twin) -> frozenset[str]:
    """Return the helpers that the text of ``side`` or another helper calls."""
    return self_names_of((side[0], *side[1].values())) & side[1].keys()


class _Inlined(NamedTuple):
    """A text, and the names of the helpers inlined in it."""

    text: str
    inlined: frozenset[str]


def find_helpers_in_place(method: str, helpers: Mapping[str, str]) -> frozenset[str]:
    """Return the names of ``helpers`` that ``method`` does not call and whose statements it mostly has itself."""
    called = self_names(method)
    return frozenset(name for name, helper in helpers.items() if name not in called and _is_in_place(helper, [method]))


def find_inlined(method: str, twin: Twin) -> frozenset[str]:
    """Return the names of the helpers that ``method`` has in place where its twin calls them, also through others."""
    text, helpers = twin
    found, todo = set[str](), [text]
    while todo:
        called = {name: helpers[name] for name in self_names(todo.pop()) & helpers.keys() - found}
        more = find_helpers_in_place(method, called)
        found |= more
        todo += [helpers[name] for name in more]
    return frozenset(found)


def find_twin_helpers(name: str, npu: Mapping[str, str], twin: Mapping[str, str]) -> list[str]:
    """Return the methods of ``twin`` that ``npu`` lacks and whose statements its unit ``name`` has in place.

    Both hold the texts of units by their NPU names.
    """
    prefix = f"{name.rpartition('.')[0]}."
    helpers = {n.removeprefix(prefix): text for n, text in twin.items() if n.startswith(prefix) and n not in npu}
    return [f"{prefix}{n}" for n in sorted(find_inlined(npu.get(name, ""), (twin.get(name, ""), helpers)))]


def append_helpers(name: str, npu: Mapping[str, str], twin: Mapping[str, str]) -> str:
    """Return the twin's text of a unit, followed by the helpers that NPU's unit has in place, to compare both."""
    return "\n".join([twin.get(name, ""), *(twin[helper] for helper in find_twin_helpers(name, npu, twin))])


def _inline_bodies(side: Twin, names: Collection[str], *, other: Twin) -> _Inlined:
    """Inline these helpers into the text of ``side`` where each is first used, including helpers of helpers."""
    inlined = set()
    text, helpers = side
    there = [other[0], *other[1].values()]
    todo = [name for name in helpers if name in names and _is_in_place(helpers[name], there)]
    while used := [name for name in todo if name in self_names(text)]:
        todo.remove(used[0])
        made = _inline_body(text, used[0], helpers[used[0]])
        inlined |= {used[0]} if made != text else set()
        text = made
    return _Inlined(text, frozenset(inlined))


def _is_in_place(helper: str, texts: Sequence[str]) -> bool:
    inside = _count_telling_statements(helper)
    there = [_count_telling_statements(text) for text in texts]
    both = sum(min(count, sum(counts[canon] for counts in there)) for canon, count in inside.items())
    return both >= FEWEST and both >= inside.total() * IN_PLACE


@lru_cache(maxsize=1024)
def _count_telling_statements(text: str) -> Counter[str]:
    """Return the multiset of the telling statements below the head of a method. It is shared: never change it."""
    return Counter(node.canon for node in list_nodes(text)[1:] if node.is_telling)


def _inline_body(text: str, name: str, helper: str) -> str:
    """Replace the statement that calls the helper by the helper's body.

    If the statement does more than the call, or is a nested function, it stays and the body follows it. Returns
    ``text`` unchanged if the body cannot stand there: see ``_assign_result`` and ``_indent_body``.
    """
    function = first_function(text)
    user = _find_using_statement(function.body, name) if function is not None else None
    body = _indent_body(_assign_result(helper, user), " " * user.col_offset) if user is not None else ()
    if not body or user is None:
        return text
    lines = text.split("\n")
    first, last = user.lineno - 1, user.end_lineno or user.lineno
    kept = [] if _is_only_call(user, name) else lines[first:last]
    made = "\n".join([*lines[:first], *kept, *body, *lines[last:]])
    return made if parses(made) else text  # fails if a suite is on the line of its head


def _find_using_statement(body: Sequence[ast.stmt], name: str) -> ast.stmt | None:
    """Return the innermost statement that uses ``self.name``; a nested function or class counts as one statement."""
    for stmt in body:
        if not any(isinstance(node, ast.Attribute) and node.attr == name for node in walk(stmt)):
            continue
        if isinstance(stmt, Function | ast.ClassDef):
            return stmt
        return next(
            (user for inner in blocks_of(stmt) if (user := _find_using_statement(inner, name)) is not None), stmt
        )
    return None


def _is_only_call(stmt: ast.stmt, name: str) -> bool:
    """Whether a statement only calls ``self.name`` and assigns or returns the result."""
    value = stmt.value if isinstance(stmt, ast.Expr | ast.Return | ast.Assign) else None
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == name


def _assign_result(helper: str, user: ast.stmt) -> str:
    """Turn the helper's final ``return value`` into an assignment to the target of the calling statement ``user``.

    Drops it if it would do nothing: ``rows = rows``, or just ``rows``. Returns an empty text if the helper also returns
    earlier: inlined, that would end the method; or if it yields: that would turn the method into a generator. Returns
    ``helper`` unchanged if ``user`` is itself a ``return``.
    """
    function = first_function(helper)
    if function is not None and yields(function.body):
        return ""
    returns = [stmt for stmt in statements_of(function.body) if isinstance(stmt, ast.Return)] if function else []
    if function is None or not returns or isinstance(user, ast.Return):
        return helper
    last = returns[-1]
    if len(returns) > 1 or last is not function.body[-1]:
        return ""
    target = ast.unparse(user.targets[0]) if isinstance(user, ast.Assign) else ""
    places = Places(helper)
    value = places.source(last.value) if last.value is not None else "None"
    is_idle = value == target if target else last.value is None or _is_plain(last.value)
    kept = "" if is_idle else f"{target} = {value}" if target else value
    return apply(helper, [Edit(places.start(last), places.end(last), kept)])


def _is_plain(value: ast.expr) -> bool:
    """Whether an expression consists of names, attributes, constants and tuples of them."""
    return all(isinstance(part, ast.Name | ast.Attribute | ast.Constant | ast.Tuple | ast.Load) for part in walk(value))


def _indent_body(helper: str, margin: str) -> Sequence[str]:
    """Return the method's body, indented by ``margin``, without its docstring; lines inside strings stay unchanged."""
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
        row if n in fixed or not row.strip() else margin + row[_measure_indent_to_cut(row, width) :] for n, row in rows
    )


def _measure_indent_to_cut(row: str, width: int) -> int:
    """Return how many characters of indentation to remove: ``width``, or 0 for an outdented comment."""
    return width if not row[:width].strip() else 0
