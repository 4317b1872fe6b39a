"""Recognise a call to which one side added arguments, and in which the other side called another function.

Comes in: a statement as base, omni and upstream have it, and merged. Goes out: the functions that a person must look
at. May touch: nothing.

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

from runner_sync.merge.phrases.positional import calls_of


def changed_for_another(base: str, omni: str, upstream: str, merged: str) -> tuple[str, ...]:
    """The functions that only one side calls, in place of one of the base's, and that ``merged`` passes other arguments
    than that side does, because the other side changed those of the base's function.

    The texts are modules; one that is no Python counts as having no calls.
    """
    before, mine, theirs, made = (_calls_by_function(text) for text in (base, omni, upstream, merged))
    found = []
    for own, other in ((mine, theirs), (theirs, mine)):
        gone = before.keys() - own.keys()
        for called in own.keys() - before.keys() - other.keys():
            changed = any(name in other and other[name] != before[name] for name in gone)
            if changed and called in made and made[called] != own[called]:
                found.append(called)
    return tuple(found)


def _calls_by_function(text: str) -> Mapping[str, list[tuple[int, frozenset[str | None]]]]:
    """``{function: [(number of positional arguments, keywords)]}`` of its calls; values do not matter, because a
    function that takes one value takes another."""
    found: dict[str, list[tuple[int, frozenset[str | None]]]] = defaultdict(list)
    for call in calls_of(text):
        found[ast.unparse(call.func)].append((len(call.args), frozenset(keyword.arg for keyword in call.keywords)))
    return found
