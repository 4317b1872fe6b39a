"""Arguments that one side changes in a call, of which the other side has made a call of something else.

Comes in: a statement as base, omni and upstream have it, and merged. Goes out: the functions to be looked at. May
touch: nothing.

    base      request(rows, cache)
    omni      request_tolerant(rows, cache)
    upstream  request(rows, cache, weights)
    result    request_tolerant(rows, cache, weights)

Whether ``request_tolerant`` takes ``weights`` no text says.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping

from runner_sync.merge.phrases.positional import calls_of


def changed_for_another(base: str, omni: str, upstream: str, merged: str) -> tuple[str, ...]:
    """The functions that only one side calls, in place of one of the base's, and that are given in ``merged`` more than
    that side gave them, or less.

    The texts are modules; one that is no Python says nothing.
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
    """How many arguments and which keywords each function is given, call by call: other values are as good for another
    function."""
    found: dict[str, list[tuple[int, frozenset[str | None]]]] = defaultdict(list)
    for call in calls_of(text):
        found[ast.unparse(call.func)].append((len(call.args), frozenset(keyword.arg for keyword in call.keywords)))
    return found
