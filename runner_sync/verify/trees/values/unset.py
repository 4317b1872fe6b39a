"""Which names of a callee depend on arguments that a call leaves out or gives as a constant.

Comes in: a `Callee` and a call of it. Goes out: names, and whether they decide if a node of the callee runs. May touch:
nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set

from runner_sync.syntax import Function, assigned_names, statements_of, walk
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.values.guards import find_deciding_tests


def find_unset(callee: Callee, call: ast.Call, *names: str) -> Set[str]:
    """Return the parameters that a call leaves at their defaults or passes a constant to, further ``names``, and the
    locals that are computed from them, or set under a condition or loop over them."""
    found = {*names, *_find_unset_parameters(callee, call)}
    for statement in statements_of(callee.function.body) if callee.function is not None else ():
        match statement:
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
                depends = not found.isdisjoint(_read_names([statement]))
            case ast.If(test=condition) | ast.For(iter=condition):
                depends = not found.isdisjoint(_read_names([condition]))
            case _:
                depends = False
        found |= assigned_names(statement) if depends else set()
    return found


def is_decided_by(names: Set[str], function: Function, node: ast.AST) -> bool:
    """Whether a condition or loop over one of ``names`` decides if ``node`` of a function runs."""
    return not names.isdisjoint(_read_names(find_deciding_tests(function, node)))


def _find_unset_parameters(callee: Callee, call: ast.Call) -> Iterator[str]:
    given = callee.placed(call)
    for name in callee.signature.names:
        if isinstance(given.get(name, ast.Constant(None)), ast.Constant):
            yield name


def _read_names(nodes: Iterable[ast.AST]) -> Set[str]:
    return {node.id for top in nodes for node in walk(top) if isinstance(node, ast.Name)}
