"""Upstream's change of the keywords of a call, made to omni's call of the same function.

Comes in: a statement as base, omni and upstream have it. Goes out: omni's text with the keywords that upstream added or
gave another value. May touch: nothing.

    base      f(rows, mode=old)
    omni      f(own.rows[: own.count], mode=old)
    upstream  f(rows, mode=new, padded=True)
    result    f(own.rows[: own.count], mode=new, padded=True)

Keywords stand for themselves, so what omni did to the other arguments is no reason to do without them; what is
unpacked into keywords (``**more``) is a keyword without a name. A conflict remains where omni has another value for
such a keyword, or where upstream did more than that.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from runner_sync.edits import Places, apply

Keywords = Mapping[str, str]


def with_their_keywords(base: str, omni: str, upstream: str) -> str | None:
    """Omni's statement with upstream's keywords; ``None`` where that is not all there is to do."""
    calls = [_call(text) for text in (base, omni, upstream)]
    old, mine, new = calls
    if old is None or mine is None or new is None or ast.unparse(old.func) != ast.unparse(mine.func):
        return None
    before, here, after = (_keywords(call) for call in (old, mine, new))
    if _frame(base) != _frame(upstream) or before.keys() - after.keys() or not (mine.args or mine.keywords):
        return None
    changed = {name: value for name, value in after.items() if before.get(name) != value != here.get(name)}
    if not changed or any(before.get(name) != here.get(name) for name in changed):
        return None
    values = [(keyword.value, changed[keyword.arg]) for keyword in mine.keywords if keyword.arg in changed]
    if any(value.lineno != value.end_lineno for value, _ in values):
        return None
    more = [(name, value) for name, value in changed.items() if name not in here]
    added = "".join(f", {name}" if name.startswith("**") else f", {name}={value}" for name, value in more)
    places = Places(omni)
    arguments: list[ast.expr | ast.keyword] = [*mine.args, *mine.keywords]
    last = max(arguments, key=places.end)
    made = apply(omni, [*(places.instead_of(value, new) for value, new in values), places.behind(last, added)])
    result = _call(made)
    return made if result is not None and _keywords(result) == {**here, **changed} else None


def _call(text: str) -> ast.Call | None:
    """The call whose value a statement returns, binds or drops."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    value = getattr(tree.body[0], "value", None) if len(tree.body) == 1 else None
    return value if isinstance(value, ast.Call) else None


def _keywords(call: ast.Call) -> Keywords:
    """The keywords with their values; what is unpacked into keywords goes by itself."""
    named = {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg}
    return named | {text: text for keyword in call.keywords if not keyword.arg for text in [_unpacked(keyword.value)]}


def _unpacked(value: ast.expr) -> str:
    text = ast.unparse(value)
    return f"**({text})" if isinstance(value, ast.IfExp | ast.BoolOp | ast.Lambda) else f"**{text}"


def _frame(text: str) -> str:
    """The statement without the keywords of its call."""
    tree = ast.parse(text)
    call: ast.Call = tree.body[0].value  # type: ignore[attr-defined]
    call.keywords = []
    return ast.unparse(tree)
