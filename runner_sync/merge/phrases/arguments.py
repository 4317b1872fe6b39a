"""Make upstream's change of the keywords of a call in omni's edited call.

Comes in: a statement as base, omni and upstream have it. Goes out: omni's text with the keywords that upstream added or
gave another value, and without those that it removed. May touch: nothing.

    base      state = State(f(rows), mode=old, late=None)
    omni      state = OmniState(f(rows), mode=old, late=None, own=1)
    upstream  state = State(f(rows), mode=new, padded=True)
    result    state = OmniState(f(rows), mode=new, own=1, padded=True)

A keyword means the same whatever the other arguments are, so omni's changes to those are no conflict. ``**more`` counts
as a keyword without a name. A conflict remains if omni has another value for a keyword that upstream changed, or if
upstream changed anything else.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from runner_sync.edits import Places, apply
from runner_sync.merge.phrases.trees import statement_of

Keywords = Mapping[str, str]


def with_their_keywords(base: str, omni: str, upstream: str) -> str | None:
    """Omni's statement with upstream's keywords; ``None`` if upstream changed anything else, or keywords conflict."""
    calls = [_call(text) for text in (base, omni, upstream)]
    old, mine, new = calls
    if old is None or mine is None or new is None or _frame(base) != _frame(upstream):
        return None
    before, here, after = (_keywords(call) for call in (old, mine, new))
    if not (mine.args or mine.keywords) or not _is_for_one(old, mine) or _unpack_others(before, here, after):
        return None
    changed = {name: value for name, value in after.items() if before.get(name) != value != here.get(name)}
    gone = [name for name in before if name not in after and name in here]
    if not (changed or gone) or any(before.get(name) != here.get(name) for name in [*changed, *gone]):
        return None
    made = _edited(omni, mine, changed, gone)
    result = _call(made) if made is not None else None
    wanted = {name: value for name, value in {**here, **changed}.items() if name not in gone}
    return made if result is not None and _keywords(result) == wanted else None


def _is_for_one(old: ast.Call, mine: ast.Call) -> bool:
    """Whether omni's call stands for the base's: it calls the same function, or more than half of its keywords are the
    base's."""
    if ast.unparse(old.func) == ast.unparse(mine.func):
        return True
    before, here = _keywords(old), _keywords(mine)
    return 2 * len(before.keys() & here.keys()) > len(here)


def _unpack_others(before: Keywords, here: Keywords, after: Keywords) -> bool:
    """Whether both sides replaced a ``**mapping`` of the base: the one may be a version of the other."""
    old, mine, new = ({name for name in side if name.startswith("**")} for side in (before, here, after))
    return bool(old - mine and old - new and mine - old)


def _edited(text: str, call: ast.Call, changed: Keywords, gone: Collection[str]) -> str | None:
    """``text`` with the ``changed`` keywords in its ``call`` and without those ``gone``; ``None`` if a value to replace
    spans several lines."""
    values = [(keyword.value, changed[_name(keyword)]) for keyword in call.keywords if _name(keyword) in changed]
    if any(value.lineno != value.end_lineno for value, _ in values):
        return None
    more = [(name, value) for name, value in changed.items() if name not in _keywords(call)]
    added = [name if name.startswith("**") else f"{name}={value}" for name, value in more]
    places = Places(text)
    edits = [*(places.instead_of(value, new) for value, new in values), places.with_keywords(call, *added)]
    made = apply(text, edits)
    for name in gone:
        again = _call(made)
        key = next((it for it in again.keywords if _name(it) == name), None) if again is not None else None
        if again is None or key is None:
            return None
        made = apply(made, [Places(made).removal(again, key)])
    return made


def _call(text: str) -> ast.Call | None:
    """The call whose value a statement returns, assigns or ignores; ``None`` without one."""
    value = getattr(statement_of(text), "value", None)
    return value if isinstance(value, ast.Call) else None


def _keywords(call: ast.Call) -> Keywords:
    """``{keyword: value}``; a ``**mapping`` is its own key and value."""
    return {_name(keyword): ast.unparse(keyword.value) if keyword.arg else _name(keyword) for keyword in call.keywords}


def _name(keyword: ast.keyword) -> str:
    return keyword.arg or _unpacked(keyword.value)


def _unpacked(value: ast.expr) -> str:
    text = ast.unparse(value)
    return f"**({text})" if isinstance(value, ast.IfExp | ast.BoolOp | ast.Lambda) else f"**{text}"


def _frame(text: str) -> str:
    """The statement without the keywords of its call."""
    tree = ast.parse(text)
    call: ast.Call = tree.body[0].value  # type: ignore[attr-defined]
    call.keywords = []
    return ast.unparse(tree)
