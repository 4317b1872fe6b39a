"""Merge a call to which one side added arguments while the other changed values of the old ones.

Comes in: the base, omni and upstream texts of a statement. Goes out: the text with both changes. May touch: nothing.

    base      logits = compute(rows)
    omni      logits = compute(gather(rows))
    upstream  logits = compute(rows, meta=meta)
    result    logits = compute(gather(rows), meta=meta)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from runner_sync.edits import Places, apply
from runner_sync.merge.phrases.trees import parse_or_empty
from runner_sync.statements import comments_in
from runner_sync.syntax import calls_in, names_in

Values = Mapping[int | str | None, ast.expr]
"""The values of a call by position or keyword; ``None`` stands for a ``**mapping``."""


def merge_values(base: str, omni: str, upstream: str, *, compound: bool) -> tuple[str, bool] | None:
    """Return the text of the side with more arguments, with the other side's values, and whether it is doubtful.

    It is doubtful if an added argument reads what an old value read that the other side replaced: in ``f(rows[:4],
    n=len(rows))`` it may have to follow. ``None`` if the other side changed anything else, if a text does not call the
    function exactly once, or if a comment of upstream's would go.
    """
    tail = "\n    pass" if compound else ""
    for grown, changed in ((upstream, omni), (omni, upstream)):
        for old, more, own in _find_calls(*(text + tail for text in (base, grown, changed))):
            keys = [key for key, value in old.items() if ast.dump(own[key]) != ast.dump(value)]
            back = _replace(changed, own, keys, base, old)
            if ast.unparse(parse_or_empty(back + tail)) == ast.unparse(parse_or_empty(base + tail)):
                made = _replace(grown, more, keys, changed, own)
                kept, upstreams = ({one.string for one in comments_in(text)} for text in (made, upstream))
                if not upstreams <= kept:
                    return None
                replaced = {name for key in keys for name in _find_names(old[key])}
                added = {name for key, value in more.items() if key not in old for name in _find_names(value)}
                return made, not replaced.isdisjoint(added)
    return None


def _find_names(value: ast.expr) -> set[str]:
    return names_in(value) - {"self"}


def _find_calls(base: str, grown: str, changed: str) -> Iterator[tuple[Values, Values, Values]]:
    """Yield the values of each function's only call in three texts.

    ``grown`` has all values of ``base`` and more, ``changed`` has the same arguments as ``base``.
    """
    sides = [calls_in(parse_or_empty(text)) for text in (base, grown, changed)]
    for called in {ast.unparse(call.func): None for call in sides[0]}:
        found = [[_read_values(call) for call in calls if ast.unparse(call.func) == called] for calls in sides]
        if any(len(values) != 1 for values in found):
            continue
        old, more, own = (values[0] for values in found)
        is_same = all(key in more and ast.dump(more[key]) == ast.dump(value) for key, value in old.items())
        if is_same and len(more) > len(old) and own.keys() == old.keys():
            yield old, more, own


def _read_values(call: ast.Call) -> Values:
    return {**dict(enumerate(call.args)), **{keyword.arg: keyword.value for keyword in call.keywords}}


def _replace(text: str, values: Values, keys: list[int | str | None], other: str, new: Values) -> str:
    """Return ``text`` with the values of ``keys`` as ``other`` has them."""
    places, source = Places(text), Places(other)
    return apply(text, [places.instead_of(values[key], source.source(new[key])) for key in keys])
