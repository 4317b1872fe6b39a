"""Swapped values: ``f(width, height)`` for ``def f(height, width)``, and the same when a returned tuple is unpacked.

Comes in: calls and their callees. Goes out: the pair of names. May touch: nothing.

One value under another name is common (``num_tokens=num_tokens_padded``); two names crosswise are a mistake.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import combinations

from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.values.returns import tuples_of

SHORTEST = 3
"""Letters that a name needs at least to count: ``dot(y, x)`` and ``f(j, i)`` may be intended."""


def arguments(call: ast.Call, callee: Callee) -> tuple[str, str] | None:
    """Two parameters of ``callee`` that each get the variable with the other's name; ``None`` when there are none."""
    if any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    given = dict(zip(callee.signature.positional, map(_name, call.args), strict=False))
    given |= {keyword.arg: _name(keyword.value) for keyword in call.keywords if keyword.arg is not None}
    return _crossed([(parameter, name) for parameter, name in given.items() if parameter is not None])


def values(target: ast.Tuple, callee: Callee) -> tuple[str, str] | None:
    """Two names that ``callee`` returns and ``target`` unpacks in exchanged places, in every ``return`` that has any of
    the names; ``None`` when there are none."""
    returned = tuples_of(callee.function) if callee.function is not None else []
    names = [_name(element) for element in target.elts]
    found = [_crossed(list(zip(row, names, strict=True))) if len(row) == len(names) else None for row in returned]
    # `return None, None` has none of the names, so it does not count.
    telling = [one for one, row in zip(found, returned, strict=True) if one is not None or set(row) & set(names)]
    return telling[0] if telling and all(one == telling[0] for one in telling) else None


def _crossed(pairs: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """The first pair (a, b), a ≠ b, for which there is a (b, a), too; pairs with a short name are left out."""
    long = [pair for pair in pairs if min(map(len, pair)) >= SHORTEST]
    crossed = (one for one, other in combinations(long, 2) if one == other[::-1] and one[0] != one[1])
    return next(crossed, None)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""
