"""Swapped values: ``f(width, height)`` for ``def f(height, width)``, and the same when a returned tuple is unpacked.

Comes in: calls and their callees. Goes out: the pair of names. May touch: nothing.

One value under another name is common (``num_tokens=num_tokens_padded``); two crossed names are a mistake.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import combinations

from runner_sync.syntax import dotted_name, dumped, self_attribute, walk
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.values.returns import tuples_of

SHORTEST = 3
"""The fewest letters of a name that counts: ``dot(y, x)`` and ``f(j, i)`` may be intended."""


def find_swapped_arguments(call: ast.Call, callee: Callee, module: ast.Module) -> tuple[str, str] | None:
    """Return two parameters of ``callee`` that each get the local or the attribute with the other's name, or ``None``.

    The two are of one kind: ``f(self.width, height)`` may be intended. Attributes count by position only. Theirs may be
    swapped on purpose to construct an object, or if ``module`` makes the call in order, too: to copy there and back.
    """
    found = _find_crossed([(parameter, _name_of(value)) for parameter, value in callee.placed(call).items()])
    if found is not None or callee.function is None:
        return found
    by_position = callee.placed(ast.Call(call.func, call.args, []))
    found = _find_crossed([(parameter, self_attribute(value)) for parameter, value in by_position.items()])
    return None if found is None or _is_made_in_order(call, callee, found, module) else found


def _is_made_in_order(call: ast.Call, callee: Callee, names: tuple[str, str], module: ast.Module) -> bool:
    """Whether a module also makes a call with each of the named values for the parameter of its name."""
    calls = (node for node in walk(module) if isinstance(node, ast.Call))
    given = (callee.placed(one) for one in calls if dumped(one.func) == dumped(call.func))
    return any(all(_name_last(one.get(name)) == name for name in names) for one in given)


def find_swapped_values(target: ast.Tuple, callee: Callee) -> tuple[str, str] | None:
    """Return two names that ``callee`` returns and ``target`` unpacks in exchanged places, or ``None``.

    Every ``return`` that has any of the names must show the exchange.
    """
    returned = tuples_of(callee.function) if callee.function is not None else []
    names = [_name_of(element) for element in target.elts]
    found = [_find_crossed(list(zip(row, names, strict=True))) if len(row) == len(names) else None for row in returned]
    # `return None, None` does not count: it has none of the names.
    telling = [one for one, row in zip(found, returned, strict=True) if one is not None or set(row) & set(names)]
    return telling[0] if telling and all(one == telling[0] for one in telling) else None


def _find_crossed(pairs: Sequence[tuple[str, str]]) -> tuple[str, str] | None:
    """Return the first pair (a, b), a ≠ b, for which there is also (b, a); skips pairs with a short name."""
    long_enough = [pair for pair in pairs if min(map(len, pair)) >= SHORTEST]
    crossed = (one for one, other in combinations(long_enough, 2) if one == other[::-1] and one[0] != one[1])
    return next(crossed, None)


def _name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _name_last(node: ast.expr | None) -> str:
    return (dotted_name(node) or "").rpartition(".")[2] if node is not None else ""
