"""The GPU twin of a method with what it keeps in helpers that NPU has in place.

Comes in: the text of a GPU method and of the helpers that its class has. Goes out: the text with the bodies of those
helpers in it. May touch: nothing.

The GPU runner takes a method apart now and then; the NPU method, a copy of vllm-ascend's undivided one, keeps what went
into the helper where it was (`sample_tokens` and `_build_omni_model_runner_output_from_snapshot` of 0.24.0). Changes of
the helper are changes of that method then, and what went into it is not gone. The text made here never runs. It is
compared with another one made alike, and what is different between the two is merged into the NPU method.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from runner_sync.compose.member_text import self_names
from runner_sync.edits import Edit, Places, apply
from runner_sync.lineage import FEWEST, nodes_of
from runner_sync.statements import first_function, inside_strings, parses
from runner_sync.syntax import blocks_of, statements_of, walk

Twin = tuple[str, Mapping[str, str]]

IN_PLACE = 0.5
"""Share of a helper's telling statements that a method must have for the helper to be a part of it; a judgement, and
the figure by which RS202 tells a call of a helper from a hook that NPU lacks."""


def sides_with_helpers(method: str, old: Twin, new: Twin) -> tuple[str, str]:
    """The texts of ``old`` and ``new`` with the bodies of those helpers that ``method`` has in place.

    Of each side comes the text of the twin and its helpers by name. A helper that is gone from the other side with what
    it did, into another module say, stays a call.
    """
    names = in_place(method, old[1]) | in_place(method, new[1])
    return _with_bodies(old, names, other=new), _with_bodies(new, names, other=old)


def in_place(method: str, helpers: Mapping[str, str]) -> frozenset[str]:
    """The names of those ``helpers`` of which ``method`` has most statements itself and which it does not call."""
    called = self_names(method)
    return frozenset(name for name, helper in helpers.items() if name not in called and _is_in_place(helper, [method]))


def _with_bodies(side: Twin, names: Collection[str], *, other: Twin) -> str:
    """The text with each helper in the place where it is first used; a helper of a helper comes in, too."""
    text, helpers = side
    there = [other[0], *other[1].values()]
    todo = [name for name in helpers if name in names and _is_in_place(helpers[name], there)]
    while used := [name for name in todo if name in self_names(text)]:
        todo.remove(used[0])
        text = _with_body(text, used[0], helpers[used[0]])
    return text


def _is_in_place(helper: str, texts: Sequence[str]) -> bool:
    inside = Counter(_telling(helper))
    both = (inside & Counter(canon for text in texts for canon in _telling(text))).total()
    return both >= FEWEST and both >= inside.total() * IN_PLACE


def _telling(text: str) -> list[str]:
    return [node.canon for node in nodes_of(text)[1:] if node.is_telling]


def _with_body(text: str, name: str, helper: str) -> str:
    """The helper's body as statements of the method itself, in the place of the one that calls it.

    Behind a statement that does more than that, and behind a function of its own that calls it.
    """
    function = first_function(text)
    user = _user(function.body, name) if function is not None else None
    body = _body(_handing(helper, user), " " * user.col_offset) if user is not None else ()
    if not body or user is None:
        return text
    lines = text.split("\n")
    first, last = user.lineno - 1, user.end_lineno or user.lineno
    kept = [] if _only_calls(user, name) else lines[first:last]
    made = "\n".join([*lines[:first], *kept, *body, *lines[last:]])
    return made if parses(made) else text  # a suite on the line of its head


def _user(body: Sequence[ast.stmt], name: str) -> ast.stmt | None:
    """The innermost statement of the method itself that uses ``self.name``."""
    for stmt in body:
        if not any(isinstance(node, ast.Attribute) and node.attr == name for node in walk(stmt)):
            continue
        if isinstance(stmt, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return stmt
        return next((user for inner in blocks_of(stmt) if (user := _user(inner, name)) is not None), stmt)
    return None


def _only_calls(stmt: ast.stmt, name: str) -> bool:
    """Whether a statement does nothing but call ``self.name`` and hand on or keep what it returns."""
    value = stmt.value if isinstance(stmt, ast.Expr | ast.Return | ast.Assign) else None
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == name


def _handing(helper: str, user: ast.stmt) -> str:
    """The helper with what it returns at its end given to what ``user`` keeps it in; empty where it ends earlier, too:
    a method does not end where its helper does."""
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


def _body(helper: str, margin: str) -> Sequence[str]:
    """The lines of a method's body behind ``margin``, without its docstring; those inside a string stay as they are."""
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
    return tuple(row if n in fixed or not row.strip() else margin + row[_blanks(row, width) :] for n, row in rows)


def _blanks(row: str, width: int) -> int:
    """How many of the ``width`` characters at the margin can go: a comment may stand further left."""
    return width if not row[:width].strip() else 0
