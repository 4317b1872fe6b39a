"""Brings the plain locals that new code of the twin reads, and that NPU never had.

Comes in: the three texts of a unit, and names that nothing sets in the merge. Goes out: the texts with a shorter base.
May touch: nothing.

The twin has had the local for long, so its assignment is no change. Without it, the new code would have to stay out::

    twin, old   model = self.model                twin, new   model = self.model
                self.open(model)                              self.open(model)
                                                              self.has_hook = callable(model.hook)
    NPU         super().load()                    result      super().load()
                                                              model = self.model
                                                              self.has_hook = callable(model.hook)

timid: only a local that the twin sets once, in the same words as before, by a value that calls nothing but builtins
which change nothing. NPU's method must have neither its name nor its value: it would have its own form of the readers.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace

from runner_sync.edits import without_lines
from runner_sync.model import Triple
from runner_sync.statements import Node, flatten, parses, tree_of
from runner_sync.statements.dataflow import binds, reads
from runner_sync.syntax import walk

_HARMLESS = frozenset(
    {
        *("abs", "bool", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"),
        *("callable", "getattr", "hasattr", "isinstance", "issubclass", "len", "type"),
        *("all", "any", "enumerate", "max", "min", "range", "reversed", "round", "sorted", "sum", "zip"),
    }
)


def bring_plain_locals(sides: Triple, names: Iterable[str]) -> Triple:
    """Return ``sides`` without the old assignments of ``names``, and of what these read, so that they count as new."""
    base, omni, new = flatten(sides.base), flatten(sides.omni), flatten(sides.upstream)
    have = {name for node in omni for name in (*binds(node), *reads(node))}
    rows, todo, seen = set[int](), sorted(names), set[str]()
    while todo:
        name = todo.pop()
        was, now = _find_setters(base, name), _find_setters(new, name)
        if name in have | seen or len(was) != 1 or len(now) != 1 or was[0].canon != now[0].canon:
            continue
        seen.add(name)
        value = _find_plain_value(was[0])
        if value and not any(value in node.canon for node in omni):
            rows |= {*range(was[0].start, was[0].end + 1)}
            todo += sorted(reads(was[0]) - have)
    shorter = without_lines(sides.base, rows)
    return replace(sides, base=shorter) if rows and parses(shorter) else sides


def _find_setters(nodes: Sequence[Node], name: str) -> list[Node]:
    return [node for node in nodes if name in binds(node)]


def _find_plain_value(node: Node) -> str:
    """Return the value to which a statement sets one local; empty if it calls more than harmless builtins."""
    if node.compound or node.one_line:
        return ""
    match tree_of(node.canon).body:
        case [ast.Assign(targets=[ast.Name()], value=value)] | [
            ast.AnnAssign(target=ast.Name(), value=ast.expr() as value)
        ]:
            return ast.unparse(value) if all(_is_harmless(part) for part in walk(value)) else ""
    return ""


def _is_harmless(part: ast.AST) -> bool:
    match part:
        case ast.Call(func=ast.Name(id=name)):
            return name in _HARMLESS
        case ast.Call() | ast.Await() | ast.Yield() | ast.YieldFrom() | ast.NamedExpr() | ast.Lambda():
            return False
    return True
