"""Detect a call whose arguments one side changed while the other side made another call of or in it.

Comes in: the base, omni, upstream and merged texts of a statement. Goes out: the functions that a person must look at.
May touch: nothing.

    base      request(rows, cache)
    omni      request_tolerant(rows, cache)
    upstream  request(rows, cache, weights)
    result    request_tolerant(rows, cache, weights)

No text shows whether ``request_tolerant`` takes ``weights``.

    base      compute(rows)
    omni      compute(gather(rows))
    upstream  compute(rows, meta=meta)
    result    compute(gather(rows, meta=meta))

``meta`` is for ``compute``; the brackets of ``gather`` matched those of the base's call.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping

from runner_sync.merge.phrases.positional import find_calls


def find_retargeted_calls(base: str, omni: str, upstream: str, merged: str) -> tuple[str, ...]:
    """Return the functions that one side calls in place of a base function and ``merged`` calls with other arguments.

    The arguments differ because the other side changed those of the base function. The texts are modules; one that does
    not parse counts as having no calls.
    """
    before, in_omni, in_upstream, made = (_group_calls(text) for text in (base, omni, upstream, merged))
    found = []
    for own, other in ((in_omni, in_upstream), (in_upstream, in_omni)):
        gone = before.keys() - own.keys()
        for called in own.keys() - before.keys() - other.keys():
            changed = any(name in other and other[name] != before[name] for name in gone)
            if changed and called in made and made[called] != own[called]:
                found.append(called)
    return tuple(found)


def lacks_changed_arguments(base: str, omni: str, upstream: str, merged: str) -> bool:
    """Whether ``merged`` lacks the only change of a call's arguments, or has one that no side made.

    Considers functions that each side calls exactly once and whose arguments at most one side changed.
    """
    before, in_omni, in_upstream, made = (_group_calls(text) for text in (base, omni, upstream, merged))
    for called in before.keys() & in_omni.keys() & in_upstream.keys():
        old, own, new = before[called], in_omni[called], in_upstream[called]
        is_clear = len(old) == len(own) == len(new) == 1 and old in (own, new)
        if is_clear and made.get(called) != (own if new == old else new):
            return True
    return False


def has_other_arguments(base: str, omni: str, upstream: str, merged: str) -> bool:
    """Whether ``merged`` gives a function arguments that no side gives it, unless both sides changed its arguments.

    Keywords may come from several sides, but a function that only one side calls gets what that side gives it.
    """
    *sides, made = (_group_calls(text) for text in (base, omni, upstream, merged))
    for called, now in made.items():
        old, own, new = (side.get(called) for side in sides)
        had = [shapes for shapes in (old, own, new) if shapes is not None]
        if not had or now in had or (old is not None and old not in (own, new)):
            continue
        placed = {shape[0] for shapes in had for shape in shapes}
        keywords = frozenset[str | None]().union(*(shape[1] for shapes in had for shape in shapes))
        if len(had) == 1 or any(shape[0] not in placed or not shape[1] <= keywords for shape in now):
            return True
    return False


_Shape = tuple[tuple[bool, ...], frozenset[str | None]]
"""Of a call: whether each positional argument is starred, and the keywords (``None`` for a ``**mapping``)."""


def _group_calls(text: str) -> Mapping[str, list[_Shape]]:
    """Return ``{function: [shape]}`` of all calls.

    Values do not matter, because a function that takes one value takes another.
    """
    found: dict[str, list[_Shape]] = defaultdict(list)
    for call in find_calls(text):
        starred = tuple(isinstance(argument, ast.Starred) for argument in call.args)
        found[ast.unparse(call.func)].append((starred, frozenset(keyword.arg for keyword in call.keywords)))
    return found
