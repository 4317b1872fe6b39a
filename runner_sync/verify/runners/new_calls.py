"""Finds what upstream newly calls in a method: keywords of calls, and methods of ``self``.

Comes in: the texts of a method at its base and now, and of its copy. Goes out: keywords and methods in calls of the new
text, absent from the base and the copy; none if a text does not parse. May touch: nothing.

timid: a keyword counts only for a function that the copy calls too, and only if no fewer arguments are positional than
before. Otherwise it may be an argument that was positional.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from runner_sync.statements import tree_of
from runner_sync.syntax import dotted_name, walk

_Calls = dict[str, list[ast.Call]]


def find_new_keywords(base: str, upstream: str, copy: str) -> Iterator[tuple[str, str]]:
    """Yield new keywords, each with the function that gets it: ``"rows", "pad"`` for a new ``pad(rows=…)``."""
    old, new, own = (_find_calls(text) for text in (base, upstream, copy))
    for name in sorted(new.keys() & old.keys() & own.keys()):
        if not _has_options(own[name]) and _count_positional(new[name]) >= max(
            _count_positional(old[name]), _count_positional(own[name])
        ):
            fresh = _find_keywords(new[name]) - _find_keywords(old[name]) - _find_keywords(own[name])
            yield from ((keyword, name.rpartition(".")[2]) for keyword in sorted(fresh))


def find_new_self_calls(base: str, upstream: str, copy: str) -> Iterator[str]:
    """Yield newly called methods of ``self`` that the copy does not mention: ``"flush"``."""
    words = set(re.findall(r"\w+", copy))
    for name in sorted(_find_calls(upstream).keys() - _find_calls(base).keys()):
        owner, _, method = name.rpartition(".")
        if owner == "self" and method not in words:
            yield method


def _find_calls(text: str) -> _Calls:
    found: _Calls = {}
    for node in walk(tree_of(text)):
        name = dotted_name(node.func) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and name:
            found.setdefault(name, []).append(node)
    return found


def _find_keywords(calls: list[ast.Call]) -> set[str]:
    return {keyword.arg for call in calls for keyword in call.keywords if keyword.arg is not None}


def _has_options(calls: list[ast.Call]) -> bool:
    """Whether a call passes ``**options``."""
    return any(keyword.arg is None for call in calls for keyword in call.keywords)


def _count_positional(calls: list[ast.Call]) -> int:
    """Return the largest number of positional arguments in a call."""
    return max(len(call.args) for call in calls)
