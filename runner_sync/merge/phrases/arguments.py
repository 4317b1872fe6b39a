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
from runner_sync.merge.phrases.trees import gives_twice, parse_statement

Keywords = Mapping[str, str]


def with_upstream_keywords(base: str, omni: str, upstream: str) -> str | None:
    """Return omni's statement with upstream's keywords.

    ``None`` if upstream changed anything else, or if keywords conflict or would be given twice.
    """
    calls = [_find_call(text) for text in (base, omni, upstream)]
    base_call, omni_call, upstream_call = calls
    if (
        base_call is None
        or omni_call is None
        or upstream_call is None
        or _strip_keywords(base) != _strip_keywords(upstream)
    ):
        return None
    in_base, in_omni, in_upstream = (_read_keywords(call) for call in (base_call, omni_call, upstream_call))
    if (
        not (omni_call.args or omni_call.keywords)
        or not _is_same_call(base_call, omni_call)
        or _has_replaced_mapping(in_base, in_omni, in_upstream)
    ):
        return None
    changed = {name: value for name, value in in_upstream.items() if in_base.get(name) != value != in_omni.get(name)}
    gone = [name for name in in_base if name not in in_upstream and name in in_omni]
    if not (changed or gone) or any(in_base.get(name) != in_omni.get(name) for name in [*changed, *gone]):
        return None
    made = _edit_keywords(omni, omni_call, changed, gone)
    result = _find_call(made) if made is not None else None
    wanted = {name: value for name, value in {**in_omni, **changed}.items() if name not in gone}
    return made if result is not None and _read_keywords(result) == wanted and not gives_twice(result) else None


def _is_same_call(base: ast.Call, omni: ast.Call) -> bool:
    """Whether omni's call stands for the base's.

    It does if both call the same function, or if more than half of omni's keywords are in the base's call.
    """
    if ast.unparse(base.func) == ast.unparse(omni.func):
        return True
    in_base, in_omni = _read_keywords(base), _read_keywords(omni)
    return 2 * len(in_base.keys() & in_omni.keys()) > len(in_omni)


def _has_replaced_mapping(base: Keywords, omni: Keywords, upstream: Keywords) -> bool:
    """Whether both sides replaced a ``**mapping`` of the base: one may be a version of the other."""
    old, own, new = ({name for name in side if name.startswith("**")} for side in (base, omni, upstream))
    return bool(old - own and old - new and own - old)


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
