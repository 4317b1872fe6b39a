"""Return a value at once that another side names first, or name a value that another side returns at once.

Comes in: a ``Triple``. Goes out: the triple with two sides in the form of the third. May touch: nothing.

A text that is no copy keeps its form. Otherwise the return would be a statement that omni lacks::

    base      result = self.wait(rows)        omni    return self.wait(rows)
              return result
    upstream  result = self.wait(rows)        as      return self.handed_on(self.wait(rows))
              return self.handed_on(result)

A copy gets upstream's form if upstream now does something between the call and the return. Otherwise omni's call would
return before that::

    base      return super().run(rows)        omni    return Omni.run(self, rows)
    upstream  result = super().run(rows)      as      result = Omni.run(self, rows)
              self.count(rows)                        return result
              return result

So does a copy in which omni does something with the value before it returns it, if upstream now returns another value
at once. Otherwise omni's code would stand behind the return::

    base      rows = self.run()               omni    rows = self.run()
              return rows                             self.mark(rows)
    upstream  return self.run_all()                   return rows
         as   rows = self.run_all()
              return rows
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from runner_sync.model import Triple
from runner_sync.statements import Node, flatten, flatten_sides, siblings
from runner_sync.statements.dataflow import reads
from runner_sync.syntax import calls_in, indentation, is_name, last_name, walk


def with_values_returned_at_once(triple: Triple) -> Triple:
    """Move each named value of base and upstream into the return behind it, if omni returns the value at once."""
    omni = {node.canon for node in flatten(triple.omni)}
    for pair in _find_pairs(flatten(triple.base)):
        is_returned = f"return {pair.value}" in omni and pair.assignment.canon not in omni
        if pair.returned != pair.name or not is_returned:
            continue
        old, new = (
            [one for one in _find_pairs(flatten(text)) if one.assignment.canon == pair.assignment.canon]
            for text in (triple.base, triple.upstream)
        )
        if len(old) == len(new) == 1:
            base, upstream = old[0].join(triple.base), new[0].join(triple.upstream)
            triple = replace(triple, base=base, upstream=upstream)
    return triple


def with_returned_values_named(triple: Triple) -> Triple:
    """Name each value that base returns at once and upstream names, in base and omni.

    Applies only where omni has one return of a call of that function, on whatever object, and the name is new.
    """
    base, omni, upstream = flatten_sides(triple)
    base_exits, omni_exits = (_group_returned_calls(nodes) for nodes in (base, omni))
    known = frozenset[str]().union(*(node.names for node in (*base, *omni)))
    for name, value in _find_named_returns(upstream):
        exits = [node for node in base if node.canon == f"return {value}"]
        called = _find_called(value)
        if name not in known and len(exits) == 1 and base_exits[called] == exits and len(omni_exits[called]) == 1:
            base_named, omni_named = (
                _name_returned(triple.base, exits[0], name),
                _name_returned(triple.omni, omni_exits[called][0], name),
            )
            return with_returned_values_named(replace(triple, base=base_named, omni=omni_named))
    return triple


def with_upstream_return_named(triple: Triple) -> Triple:
    """Give the value that upstream returns at the end omni's name, if omni has statements of its own before its return.

    Base and omni must return a local there, and upstream must not mention that name. Nor may its value be made of a new
    local, which may be what omni's statements mean.
    """
    base, omni, upstream = flatten_sides(triple)
    ends = _find_end(base), _find_end(omni), _find_end(upstream)
    before, own, new = (nodes[k].canon if k >= 0 else "" for nodes, k in zip((base, omni, upstream), ends, strict=True))
    name = own.removeprefix("return ")
    if (
        before != own
        or not name.isidentifier()
        or not new.startswith("return ")
        or not _find_called(new.removeprefix("return "))
    ):
        return triple
    last = next((k for k in siblings(omni, ends[1], step=-1) if not omni[k].is_comment and not omni[k].is_clause), -1)
    is_own = last >= 0 and all(node.canon != omni[last].canon for node in base)
    known = frozenset[str]().union(*(node.names | {"self"} for node in base))
    if not is_own or any(name in node.names for node in upstream) or not reads(upstream[ends[2]]) <= known:
        return triple
    return replace(triple, upstream=_name_returned(triple.upstream, upstream[ends[2]], name))


def _find_end(nodes: Sequence[Node]) -> int:
    """Return the index of the last statement of a method's body, or -1."""
    body = [k for k, node in enumerate(nodes) if node.parent == 0 and not node.is_comment and not node.is_clause]
    return body[-1] if body else -1


def _group_returned_calls(nodes: Sequence[Node]) -> Mapping[str, list[Node]]:
    """Group the returns of calls by the last part of the function's name."""
    found = defaultdict[str, list[Node]](list)
    for node in nodes:
        if node.canon.startswith("return ") and (called := _find_called(node.canon.removeprefix("return "))):
            found[called].append(node)
    return found


def _find_called(value: str) -> str:
    """Return the last part of the name of the function that an expression calls; empty for any other expression."""
    call = ast.parse(value, mode="eval").body
    return last_name(call.func) if isinstance(call, ast.Call) else ""


def _find_named_returns(nodes: Sequence[Node]) -> Iterator[tuple[str, str]]:
    """Yield the name and value of each ``name = value`` with statements between it and ``return name`` in its suite."""
    exits = defaultdict[str, list[int]](list)
    for k, node in enumerate(nodes):
        exits[node.canon].append(k)
    for k, node in enumerate(nodes):
        name = node.facts.targets[0] if len(node.facts.targets) == 1 else ""
        value = node.canon.removeprefix(f"{name} = ")
        if not name.isidentifier() or value == node.canon or not _find_called(value):
            continue
        later = [i for i in exits[f"return {name}"] if i > k and nodes[i].parent == node.parent]
        if later and next(siblings(nodes, k, step=1)) < later[-1]:
            yield name, value


def _name_returned(text: str, exit: Node, name: str) -> str:
    """Assign the value of a return to ``name``, and return the name behind it."""
    lines = text.split("\n")
    first, last = exit.start - 1, exit.end
    assignment = re.sub(r"return\b", lambda _: f"{name} =", lines[first], count=1)
    behind = f"{indentation(lines[first])}return {name}"
    return "\n".join([*lines[:first], assignment, *lines[first + 1 : last], behind, *lines[last:]])


@dataclass(frozen=True, slots=True)
class _Pair:
    """``name = value`` and the return right behind it (``return returned``), which alone reads the name."""

    name: str
    value: str
    returned: str
    assignment: Node
    exit: Node

    def join(self, text: str) -> str:
        """Write both as one return."""
        lines = text.split("\n")
        first, last = self.assignment.start - 1, self.exit.end
        expression = re.sub(rf"(?<![\w.]){re.escape(self.name)}\b(?!=)", lambda _: self.value, self.returned)
        return "\n".join([*lines[:first], f"{indentation(lines[first])}return {expression}", *lines[last:]])


def _find_pairs(nodes: Sequence[Node]) -> Iterator[_Pair]:
    for k, node in enumerate(nodes):
        behind = next(siblings(nodes, k, step=1), None)
        name = node.facts.targets[0] if len(node.facts.targets) == 1 else ""
        if (
            behind is None
            or behind != k + 1
            or not name.isidentifier()
            or not nodes[behind].canon.startswith("return ")
        ):
            continue
        returned = nodes[behind].canon.removeprefix("return ")
        value = node.canon.removeprefix(f"{name} = ")
        if value != node.canon and "\n" not in value and _reads_once(returned, name):
            yield _Pair(name, value, returned, node, nodes[behind])


def _reads_once(returned: str, name: str) -> bool:
    """Whether an expression is the name or hands it on once, as a whole argument of a call."""
    tree = ast.parse(returned, mode="eval").body
    found = [node for node in walk(tree) if is_name(node, name)]
    arguments = [arg for call in calls_in(tree) for arg in call.args]
    return len(found) == 1 and (tree is found[0] or any(arg is found[0] for arg in arguments))
