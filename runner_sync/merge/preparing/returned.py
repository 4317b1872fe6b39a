"""Return at once what the twin names first, where omni has it so.

Comes in: a ``Triple``. Goes out: the same, with base and upstream in omni's form. May touch: nothing.

Only for a text that is no copy of upstream's. The return would otherwise be a statement that omni does not have::

    base      result = self.wait(rows)        omni    return self.wait(rows)
              return result
    upstream  result = self.wait(rows)        as      return self.handed_on(self.wait(rows))
              return self.handed_on(result)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from runner_sync.model import Triple
from runner_sync.statements import Node, flatten, siblings
from runner_sync.syntax import indentation, walk


def with_values_returned_at_once(triple: Triple) -> Triple:
    """The triple with each named value of base and upstream in the return behind it, if omni returns that value."""
    omni = {node.canon for node in flatten(triple.omni)}
    for pair in _named(flatten(triple.base)):
        said = f"return {pair.value}" in omni and pair.assignment.canon not in omni
        if pair.returned != pair.name or not said:
            continue
        old, new = (
            [one for one in _named(flatten(text)) if one.assignment.canon == pair.assignment.canon]
            for text in (triple.base, triple.upstream)
        )
        if len(old) == len(new) == 1:
            base, upstream = old[0].joined(triple.base), new[0].joined(triple.upstream)
            triple = replace(triple, base=base, upstream=upstream)
    return triple


@dataclass(frozen=True, slots=True)
class _Pair:
    """``name = value`` and the return right behind it, which is all that reads the name: ``return returned``."""

    name: str
    value: str
    returned: str
    assignment: Node
    exit: Node

    def joined(self, text: str) -> str:
        """The text with both as one return."""
        lines = text.split("\n")
        first, last = self.assignment.start - 1, self.exit.start - 1 + len(self.exit.lines)
        said = re.sub(rf"(?<![\w.]){re.escape(self.name)}\b(?!=)", lambda _: self.value, self.returned)
        return "\n".join([*lines[:first], f"{indentation(lines[first])}return {said}", *lines[last:]])


def _named(nodes: Sequence[Node]) -> Iterator[_Pair]:
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
    found = [node for node in walk(tree) if isinstance(node, ast.Name) and node.id == name]
    arguments = [arg for call in walk(tree) if isinstance(call, ast.Call) for arg in call.args]
    return len(found) == 1 and (tree is found[0] or any(arg is found[0] for arg in arguments))
