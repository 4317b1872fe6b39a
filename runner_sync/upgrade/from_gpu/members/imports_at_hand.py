"""Leaves out of a ported function the imports that its module makes itself.

Comes in: the text of a function and that of its module. Goes out: the text of the function. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Sequence

from runner_sync.naming import imported_by
from runner_sync.rulers import is_drawn
from runner_sync.statements import parse_function
from runner_sync.statements.mentioning import mentions, parameters
from runner_sync.syntax import Function, module_of, walk
from runner_sync.texts.import_entries import IMPORTS


def without_imports_at_hand(function: str, module: str) -> str:
    """Return a function without the imports in its body that its module makes at its top, too.

    A comment directly above such an import goes with it, unless an import that stays follows directly. All stay if the
    function or the module binds one of the names again, which could then mean another object.
    """
    tree = parse_function(function)
    needless = _find_needless(tree, module_of(module)) if tree is not None else []
    if tree is None or not needless:
        return function
    lines = function.split("\n")
    kept = {one.lineno for one in tree.body if isinstance(one, IMPORTS) and one not in needless}
    for one in reversed(needless):
        first, end = one.lineno - 1, one.end_lineno or one.lineno
        while end + 1 not in kept and _is_remark(lines[first - 1]):
            first -= 1
        del lines[first : end + (lines[end : end + 1] == [""])]
    made = "\n".join(lines)
    rest = getattr(parse_function(made), "body", [])
    return made if rest and len(rest) == len(tree.body) - len(needless) else function


def _is_remark(line: str) -> bool:
    return line.lstrip().startswith("#") and not is_drawn(line)


def _find_needless(function: Function, module: ast.Module) -> list[ast.Import | ast.ImportFrom]:
    """Return the imports in the body of a function that its module makes at its top, too; none if one must stay."""
    at_hand = {entry for one in module.body if isinstance(one, IMPORTS) for entry in imported_by(one)}
    needless = [one for one in function.body if isinstance(one, IMPORTS) and at_hand.issuperset(imported_by(one))]
    entries = [entry for one in needless for entry in imported_by(one)]
    if not entries or any(entry.module.startswith(".") for entry in entries):
        return []
    inside, outside = _count_bound(function.body, function), _count_bound(module.body, module)
    inside.update(parameter.arg for parameter in parameters(function))
    inside.subtract(entry.bound for entry in entries)
    return needless if all(inside[one.bound] == 0 and outside[one.bound] == 1 for one in entries) else []


def _count_bound(body: Sequence[ast.stmt], top: ast.AST) -> Counter[str]:
    """Count how often each name of a scope is bound or deleted, or declared in it or inside."""
    declared = (name for one in walk(top) if isinstance(one, ast.Global | ast.Nonlocal) for name in one.names)
    return Counter([*(one.name for one in mentions(body) if one.kind not in ("reads", "declares")), *declared])
