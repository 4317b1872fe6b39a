"""Finds what upstream newly calls in a method: keywords of calls, and methods of ``self``.

Comes in: a method at its base revision and now, and the copy of the base. Goes out: keywords and methods that the calls
now have, and neither the base's nor the copy's have; none where a text does not parse. May touch: nothing.

timid: a keyword counts only for functions that the copy calls, too, and where no fewer arguments are positional now
than before: else it may be an argument that was positional.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from runner_sync.statements import tree_of
from runner_sync.syntax import dotted_name, walk

_Calls = dict[str, list[ast.Call]]


def new_keywords(base: str, upstream: str, copy: str) -> Iterator[tuple[str, str]]:
    """New keywords, each with the function that gets it: ``"rows", "pad"`` for a new ``pad(rows=…)``."""
    was, now, mine = (_calls(text) for text in (base, upstream, copy))
    for name in sorted(now.keys() & was.keys() & mine.keys()):
        if not _is_open(mine[name]) and _places(now[name]) >= max(_places(was[name]), _places(mine[name])):
            fresh = _keywords(now[name]) - _keywords(was[name]) - _keywords(mine[name])
            yield from ((keyword, name.rpartition(".")[2]) for keyword in sorted(fresh))


def new_steps(base: str, upstream: str, copy: str) -> Iterator[str]:
    """Newly called methods of ``self`` that the copy does not mention: ``"flush"``."""
    words = set(re.findall(r"\w+", copy))
    for name in sorted(_calls(upstream).keys() - _calls(base).keys()):
        owner, _, method = name.rpartition(".")
        if owner == "self" and method not in words:
            yield method


def _calls(text: str) -> _Calls:
    found: _Calls = {}
    for node in walk(tree_of(text)):
        name = dotted_name(node.func) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and name:
            found.setdefault(name, []).append(node)
    return found


def _keywords(calls: list[ast.Call]) -> set[str]:
    return {keyword.arg for call in calls for keyword in call.keywords if keyword.arg is not None}


def _is_open(calls: list[ast.Call]) -> bool:
    """Whether some call has a ``**options``."""
    return any(keyword.arg is None for call in calls for keyword in call.keywords)


def _places(calls: list[ast.Call]) -> int:
    """The most arguments that a call passes by position."""
    return max(len(call.args) for call in calls)
