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
from collections.abc import Iterator, Mapping, Sequence, Set
from copy import deepcopy

from runner_sync.lineage import list_nodes
from runner_sync.statements import parse_function
from runner_sync.statements.assigning import assignments_of, target_names
from runner_sync.syntax import Function, statements_of, walk
from runner_sync.texts.assignment import find_locals
from runner_sync.texts.member_text import canonical
from runner_sync.thresholds import SEEN_RENAMED


def find_held(own: Sequence[str], before: str, text: str) -> set[str]:
    """Return the ``own`` statements of ``before`` that ``text`` has, whatever its name for a local.

    At least ``SEEN_RENAMED`` of them must have the same other name, which ``before`` does not bind, and the two locals
    must have a value in common.
    """
    theirs = {*canonical(text)}
    held = theirs.intersection(own)
    if not held:
        return held
    mine = find_locals(before)
    renamed: defaultdict[str, set[str]] = defaultdict(set)
    for canon in theirs:
        for name, pattern in _blank(canon, find_locals(text) - mine):
            renamed[pattern].add(name)
    seen: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for canon in {*own} - held:
        for name, pattern in _blank(canon, mine):
            for other in renamed.get(pattern, ()):
                seen[name, other].add(canon)
    for (name, other), canons in seen.items():
        if len(canons) >= SEEN_RENAMED and not _find_values(before, name).isdisjoint(_find_values(text, other)):
            held |= canons
    return held


def _blank(canon: str, names: Set[str]) -> Iterator[tuple[str, str]]:
    """Yield each of the names that a statement mentions, with the statement with a blank in place of it."""
    for name in names & {*re.findall(r"(?<![\w.])\w+", canon)}:
        yield name, re.sub(rf"(?<![\w.]){name}\b", "…", canon)


def _find_values(method: str, name: str) -> set[str]:
    """Return the statements that bind a local, with a blank in place of its name, and its values written out."""
    nodes = list_nodes(method)[1:]
    setters = {pattern for node in nodes if name in node.facts.binds for _, pattern in _blank(node.canon, {name})}
    function = parse_function(method)
    return setters | (_write_values(function, name) if function is not None else set())


def _write_values(function: Function, name: str) -> set[str]:
    """Return the values that a local gets, each with the values that other locals have there, by the order of lines."""
    known: dict[str, ast.AST] = {}
    written: set[str] = set()
    for statement in statements_of(function.body):
        for target, value, _annotation in assignments_of(statement):
            for one in target_names(target):
                local = one.id if isinstance(one, ast.Name) else ""
                known.pop(local, None)
                if one is target and value is not None and local:
                    known[local] = _Writer(known, {}).visit(deepcopy(value))
                    written |= {ast.unparse(known[local])} if local == name else set()
    return written


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
