"""Detect a call to which one side added arguments while the other side called another function.

Comes in: the base, omni, upstream and merged texts of a statement. Goes out: the functions that a person must look at.
May touch: nothing.

    base      request(rows, cache)
    omni      request_tolerant(rows, cache)
    upstream  request(rows, cache, weights)
    result    request_tolerant(rows, cache, weights)

No text shows whether ``request_tolerant`` takes ``weights``.
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


def _group_calls(text: str) -> Mapping[str, list[tuple[int, frozenset[str | None]]]]:
    """Return ``{function: [(number of positional arguments, keywords)]}`` of all calls.

    Values do not matter, because a function that takes one value takes another.
    """
    found: dict[str, list[tuple[int, frozenset[str | None]]]] = defaultdict(list)
    for call in find_calls(text):
        found[ast.unparse(call.func)].append((len(call.args), frozenset(keyword.arg for keyword in call.keywords)))
    return found
