"""Questions of a merge that texts at hand answer: does a record take the keywords that it is given now?

Comes in: decisions, and the keywords that constructors of omni's classes take. Goes out: the decisions that are left.
May touch: nothing.

omni's record takes the fields of vLLM's, its base::

    base      output = Output(rows=rows)
    omni      output = OmniOutput(rows=rows, payload=payload)
    upstream  output = Output(rows=rows, stats=stats)

What a record at hand does not take is set on it, with a question of its own (`compose.constructors`).

timid: only for calls by keywords. Which field a value by position goes to says the order of all bases.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence

from runner_sync.merge import Decision
from runner_sync.statements import tree_of
from runner_sync.syntax import walk


def without_answered(decisions: Sequence[Decision], constructors: Mapping[str, Collection[str]]) -> list[Decision]:
    """The decisions, without those whether another call takes what it is given now where each of these calls does."""
    return [item for item in decisions if not _is_answered(item, constructors)]


def _is_answered(item: Decision, constructors: Mapping[str, Collection[str]]) -> bool:
    if item.reason.kind != "arguments of another call":
        return False
    tree = tree_of(item.chosen)
    calls = [node for node in walk(tree) if isinstance(node, ast.Call)]
    asked = [call for call in calls if ast.unparse(call.func) in item.reason.names]
    made = [node.value for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)]
    return bool(asked) and all(_takes(call, constructors, is_named=call in made) for call in asked)


def _takes(call: ast.Call, constructors: Mapping[str, Collection[str]], *, is_named: bool) -> bool:
    """Whether a call passes nothing but keywords that its callee is known to take, or that are set on the record if
    ``is_named``; ``dict`` takes all."""
    name, given = ast.unparse(call.func), [key.arg for key in call.keywords]
    if call.args or None in given:
        return False
    known = constructors.get(name)
    return name == "dict" or (known is not None and (is_named or all(keyword in known for keyword in given)))
