"""Finds the statements of one method in another that calls a local otherwise.

Comes in: canonical statements and two methods. Goes out: the statements that the other method has. May touch: nothing.

    the copy    tokens = [counts[i] for i in ids]           the other   rows = np.array([counts[key] for key in ids])
                scheduled = np.array(tokens)                            self.see(rows)
                self.see(scheduled)                                     return rows[:size]
                return scheduled[:size]

Here ``rows`` is ``scheduled``: some statements differ in the name alone, and the name has the same value.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from copy import deepcopy
from functools import lru_cache

from runner_sync.lineage import list_nodes
from runner_sync.statements import bound_in, parse_function
from runner_sync.syntax import blocks_of, calls_in, names_in, walk
from runner_sync.texts.assignment import find_locals
from runner_sync.texts.member_text import canonical
from runner_sync.thresholds import LONGEST_VALUE, SEEN_RENAMED


def find_held(own: Sequence[str], before: str, text: str) -> set[str]:
    """Return the ``own`` statements of ``before`` that ``text`` has, whatever its name for a local.

    At least ``SEEN_RENAMED`` of them must have the same other name, which ``before`` does not bind, and the two locals
    must have a value in common.
    """
    statements = {*canonical(text)}
    held = statements.intersection(own)
    if not held:
        return held
    own_locals, others = find_locals(before), find_locals(text)
    renamed: defaultdict[str, set[str]] = defaultdict(set)
    for canon in statements:
        for name, pattern in _blank(canon, others):
            if name not in own_locals:
                renamed[pattern].add(name)
    seen: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for canon in {*own} - held:
        for name, pattern in _blank(canon, own_locals):
            for other in renamed.get(pattern, ()):
                seen[name, other].add(canon)
    for (name, other), canons in seen.items():
        if len(canons) >= SEEN_RENAMED and not _find_values(before, name).isdisjoint(_find_values(text, other)):
            held |= canons
    return held


@lru_cache(maxsize=16384)
def _blank(canon: str, names: frozenset[str]) -> Sequence[tuple[str, str]]:
    """Return each of the names that a statement mentions, with the statement with a blank in place of it."""
    found = names.intersection(re.findall(r"(?<![\w.])\w+", canon))
    return [(name, re.sub(rf"(?<![\w.]){name}\b", "…", canon)) for name in found]


def _find_values(method: str, name: str) -> set[str]:
    """Return the statements that bind a local, with a blank in place of its name, and its values written out."""
    nodes = list_nodes(method)[1:]
    setters = {
        pattern for node in nodes if name in node.facts.binds for _, pattern in _blank(node.canon, frozenset({name}))
    }
    function = parse_function(method)
    return setters | (_write_values(function.body, name, {}) if function is not None else set())


def _write_values(suite: Sequence[ast.stmt], name: str, known: dict[str, ast.AST]) -> set[str]:
    """Return the values that a suite gives a local, each with the values that other locals have there.

    ``known`` are those that the suite begins with. A local's value is known only from a plain assignment on, and until
    a statement of another kind mentions it: that might change it.
    """
    written: set[str] = set()
    for statement in suite:
        match statement:
            case ast.Assign([ast.Name(local)], value) | ast.AnnAssign(ast.Name(local), value=ast.expr() as value):
                made = _Writer(known, {}).visit(deepcopy(value))
                written |= {ast.unparse(made)} if local == name else set()
                _forget(known, {local} | _find_changed_in(value))
                if len(walk(made)) <= LONGEST_VALUE:
                    known[local] = made
            case _:
                bound = bound_in([statement])
                kept = {local: value for local, value in known.items() if local not in bound}
                for block in blocks_of(statement):
                    written |= _write_values(block, name, {**kept})
                _forget(known, names_in(statement))
    return written


def _forget(known: dict[str, ast.AST], names: Set[str]) -> None:
    for name in names:
        known.pop(name, None)


def _find_changed_in(value: ast.expr) -> Set[str]:
    """Return the names that an expression binds, and those of objects whose methods it calls."""
    callees = [call.func for call in calls_in(value)]
    called = (names_in(callee) for callee in callees if isinstance(callee, ast.Attribute))
    return bound_in([value]).union(*called)


class _Writer(ast.NodeTransformer):
    """Writes the values of locals in place of their names, and numbers the variables of comprehensions."""

    def __init__(self, values: Mapping[str, ast.AST], variables: Mapping[str, str]) -> None:
        self._values = values
        self._variables = variables

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            targets = (each.id for one in node.generators for each in walk(one.target) if isinstance(each, ast.Name))
            numbered = {name: f"…{number}" for number, name in enumerate(targets, start=len(self._variables))}
            return _Writer(self._values, {**self._variables, **numbered}).generic_visit(node)
        if isinstance(node, ast.Name) and node.id in self._variables:
            return ast.Name(self._variables[node.id])
        if isinstance(node, ast.Name):
            return self._values.get(node.id, node)
        return self.generic_visit(node)
