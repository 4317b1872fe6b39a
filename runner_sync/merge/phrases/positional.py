"""Recognise a call to which both sides added a positional argument at the same place.

Comes in: a statement as base, omni and upstream have it, and merged. Goes out: whether a person must look at it. May
touch: nothing.

    base      pack(ids, rows)
    omni      pack(ids, rows, extra)
    upstream  pack(ids, rows, lora)
    result    pack(ids, rows, lora, extra)

No text shows whether ``pack`` takes them in that order. A call of a class-like name is taken for a record and accepted,
because its fields are merged in the same order, upstream's first.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from runner_sync.merge.phrases.trees import parsed
from runner_sync.syntax import walk

UNORDERED = frozenset({"max", "min", "print"})
UNORDERED_METHODS = (".union", ".intersection", ".difference")
"""Functions and methods that take any number of arguments, whose order does not matter or cannot break the call."""


def are_placed_by_guess(base: str, omni: str, upstream: str, merged: str) -> bool:
    """Whether a merged call has a new positional argument of upstream's directly before a new one of omni's.

    The texts are modules; one that is no Python counts as having no calls.
    """
    before, mine, theirs = (_arguments_by_function(calls_of(text)) for text in (base, omni, upstream))
    sizes = {(ast.unparse(call.func), len(call.args)) for text in (base, omni, upstream) for call in calls_of(text)}
    for call in calls_of(merged):
        called = ast.unparse(call.func)
        if _is_class(called) or called in UNORDERED or called.endswith(UNORDERED_METHODS):
            continue
        if {count for name, count in sizes if name == called} == {len(call.args)}:
            continue  # none was added: each stands where another one stood
        new = theirs[called] - mine[called] - before[called]
        own = mine[called] - theirs[called] - before[called]
        if any(first in new and second in own for first, second in pairwise(map(ast.unparse, call.args))):
            return True
    return False


def calls_of(text: str) -> list[ast.Call]:
    """Every call of a module; none where it is no Python."""
    return [node for node in walk(parsed(text)) if isinstance(node, ast.Call)]


def _arguments_by_function(calls: Sequence[ast.Call]) -> Mapping[str, set[str]]:
    """``{function: its positional arguments}`` over all calls of it."""
    found: dict[str, set[str]] = defaultdict(set)
    for call in calls:
        found[ast.unparse(call.func)].update(map(ast.unparse, call.args))
    return found


def _is_class(called: str) -> bool:
    return called.rpartition(".")[2].lstrip("_")[:1].isupper()
