"""Detect that upstream only removed items of a ``with`` that omni does not have.

Comes in: the base, omni and upstream heads of a ``with``, and omni's and upstream's methods. Goes out: the answer. May
touch: nothing.

    base      with (randomize(ids), set_context(metadata)):
    omni      with set_ascend_context(metadata, model):
    upstream  with (set_context(metadata)):
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from runner_sync.statements import Node, tree_of


def has_lost_only_absent_items(base: str, omni: str, upstream: str, *, methods: Iterable[Node]) -> bool:
    """Whether upstream removed items and changed nothing else, and omni's items call only what upstream kept.

    Nothing in omni's and upstream's ``methods`` may name what a removed item calls: upstream may have moved it, and
    omni may have it at another place.
    """
    old, own, new = (_read_items(head) for head in (base, omni, upstream))
    kept = [(called, item) for called, item in old.items() if called in new]
    if not (own and new and len(kept) < len(old) and kept == [*new.items()] and own.keys() <= new.keys()):
        return False
    removed = {re.split(r"\W", called)[-1] for called in old.keys() - new.keys()}
    return not any(node.words.keys() & removed for node in methods) and "" not in removed


def _read_items(head: str) -> dict[str, str]:
    """Return ``{what an item calls, or the item itself: item}`` in order; empty for another statement, or if two items
    call the same."""
    statement = next(iter(tree_of(f"{head}\n    pass").body), None)
    items = statement.items if isinstance(statement, ast.With | ast.AsyncWith) else []
    found = {ast.unparse(getattr(item.context_expr, "func", item.context_expr)): ast.unparse(item) for item in items}
    return found if len(found) == len(items) else {}
