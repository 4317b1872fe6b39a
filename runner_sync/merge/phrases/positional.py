"""Detect a call to which both sides added a positional argument at the same place.

Comes in: the base, omni, upstream and merged texts of a statement. Goes out: whether a person must look at it. May
touch: nothing.

    base      pack(ids, rows)
    omni      pack(ids, rows, extra)
    upstream  pack(ids, rows, lora)
    result    pack(ids, rows, lora, extra)

No text shows whether ``pack`` takes them in that order. A call of a class-like name is accepted as a record, because
its fields are merged in the same order, upstream's first.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from runner_sync.merge.phrases.trees import parse_or_empty
from runner_sync.syntax import calls_in

UNORDERED = frozenset({"max", "min", "print"})
UNORDERED_METHODS = (".union", ".intersection", ".difference")
"""Functions and methods with any number of arguments, whose order does not matter or cannot break the call."""


def are_placed_by_guess(base: str, omni: str, upstream: str, merged: str) -> bool:
    """Whether a merged call has a new upstream positional argument directly before a new omni one.

    The texts are modules; one that does not parse counts as having no calls.
    """
    in_base, in_omni, in_upstream = (_group_arguments(find_calls(text)) for text in (base, omni, upstream))
    sizes = {(ast.unparse(call.func), len(call.args)) for text in (base, omni, upstream) for call in find_calls(text)}
    for call in find_calls(merged):
        called = ast.unparse(call.func)
        if _is_class_like(called) or called in UNORDERED or called.endswith(UNORDERED_METHODS):
            continue
        if {count for name, count in sizes if name == called} == {len(call.args)}:
            continue  # no argument was added: each replaces another
        new = in_upstream[called] - in_omni[called] - in_base[called]
        own = in_omni[called] - in_upstream[called] - in_base[called]
        if any(first in new and second in own for first, second in pairwise(map(ast.unparse, call.args))):
            return True
    return False


def find_calls(text: str) -> list[ast.Call]:
    """Return every call of a module; nothing if it is no Python."""
    return calls_in(parse_or_empty(text))


def _group_arguments(calls: Sequence[ast.Call]) -> Mapping[str, set[str]]:
    """Return ``{function: positional arguments}`` over all its calls."""
    found: dict[str, set[str]] = defaultdict(set)
    for call in calls:
        found[ast.unparse(call.func)].update(map(ast.unparse, call.args))
    return found


def _is_class_like(called: str) -> bool:
    return called.rpartition(".")[2].lstrip("_")[:1].isupper()
