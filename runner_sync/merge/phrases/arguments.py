"""Apply upstream's change of a call's keywords to omni's edited call.

Comes in: the base, omni and upstream texts of a statement. Goes out: omni's text with upstream's added, changed and
removed keywords. May touch: nothing.

    base      state = State(f(rows), mode=old, late=None)
    omni      state = OmniState(f(rows), mode=old, late=None, own=1)
    upstream  state = State(f(rows), mode=new, padded=True)
    result    state = OmniState(f(rows), mode=new, own=1, padded=True)

A keyword means the same whatever the other arguments are, so omni's changes to other arguments are no conflict.
``**more`` counts as a keyword without a name. A conflict remains if omni has another value for a keyword that upstream
changed, or if upstream changed anything else.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from runner_sync.edits import Places, apply
from runner_sync.merge.phrases.trees import parse_statement

Keywords = Mapping[str, str]


def with_upstream_keywords(base: str, omni: str, upstream: str) -> str | None:
    """Return omni's statement with upstream's keywords.

    ``None`` if upstream changed anything else, or if keywords conflict.
    """
    calls = [_find_call(text) for text in (base, omni, upstream)]
    old, mine, new = calls
    if old is None or mine is None or new is None or _strip_keywords(base) != _strip_keywords(upstream):
        return None
    before, here, after = (_read_keywords(call) for call in (old, mine, new))
    if not (mine.args or mine.keywords) or not _is_same_call(old, mine) or _has_replaced_mapping(before, here, after):
        return None
    changed = {name: value for name, value in after.items() if before.get(name) != value != here.get(name)}
    gone = [name for name in before if name not in after and name in here]
    if not (changed or gone) or any(before.get(name) != here.get(name) for name in [*changed, *gone]):
        return None
    made = _edit_keywords(omni, mine, changed, gone)
    result = _find_call(made) if made is not None else None
    wanted = {name: value for name, value in {**here, **changed}.items() if name not in gone}
    return made if result is not None and _read_keywords(result) == wanted else None


def _is_same_call(old: ast.Call, mine: ast.Call) -> bool:
    """Whether omni's call stands for the base's.

    It does if both call the same function, or if more than half of omni's keywords are in the base's call.
    """
    if ast.unparse(old.func) == ast.unparse(mine.func):
        return True
    before, here = _read_keywords(old), _read_keywords(mine)
    return 2 * len(before.keys() & here.keys()) > len(here)


def _has_replaced_mapping(before: Keywords, here: Keywords, after: Keywords) -> bool:
    """Whether both sides replaced a ``**mapping`` of the base: one may be a version of the other."""
    old, mine, new = ({name for name in side if name.startswith("**")} for side in (before, here, after))
    return bool(old - mine and old - new and mine - old)


def _edit_keywords(text: str, call: ast.Call, changed: Keywords, gone: Collection[str]) -> str | None:
    """Return ``text`` with the ``changed`` keywords in its ``call`` and without those in ``gone``.

    ``None`` if a value to replace spans several lines.
    """
    values = [
        (keyword.value, changed[_keyword_name(keyword)])
        for keyword in call.keywords
        if _keyword_name(keyword) in changed
    ]
    if any(value.lineno != value.end_lineno for value, _ in values):
        return None
    more = [(name, value) for name, value in changed.items() if name not in _read_keywords(call)]
    added = [name if name.startswith("**") else f"{name}={value}" for name, value in more]
    places = Places(text)
    edits = [*(places.instead_of(value, new) for value, new in values), places.with_keywords(call, *added)]
    made = apply(text, edits)
    for name in gone:
        again = _find_call(made)
        key = next((it for it in again.keywords if _keyword_name(it) == name), None) if again is not None else None
        if again is None or key is None:
            return None
        made = apply(made, [Places(made).removal(again, key)])
    return made


def _find_call(text: str) -> ast.Call | None:
    """Return the call whose value a statement returns, assigns or ignores; ``None`` if there is none."""
    value = getattr(parse_statement(text), "value", None)
    return value if isinstance(value, ast.Call) else None


def _read_keywords(call: ast.Call) -> Keywords:
    """Return ``{keyword: value}``; a ``**mapping`` is its own key and value."""
    return {
        _keyword_name(keyword): ast.unparse(keyword.value) if keyword.arg else _keyword_name(keyword)
        for keyword in call.keywords
    }


def _keyword_name(keyword: ast.keyword) -> str:
    return keyword.arg or _print_mapping(keyword.value)


def _print_mapping(value: ast.expr) -> str:
    text = ast.unparse(value)
    return f"**({text})" if isinstance(value, ast.IfExp | ast.BoolOp | ast.Lambda) else f"**{text}"


def _strip_keywords(text: str) -> str:
    """Return the statement without the keywords of its call."""
    tree = ast.parse(text)
    call: ast.Call = tree.body[0].value  # type: ignore[attr-defined]
    call.keywords = []
    return ast.unparse(tree)
