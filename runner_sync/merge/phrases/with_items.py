"""Detect that upstream only removed items of a ``with`` that omni does not have.

Comes in: the base, omni and upstream heads of a ``with``. Goes out: the answer. May touch: nothing.

    base      with (randomize(ids), set_context(metadata)):
    omni      with set_ascend_context(metadata, model):
    upstream  with (set_context(metadata)):
"""

from __future__ import annotations

import ast

from runner_sync.statements import tree_of


def has_lost_only_absent_items(base: str, omni: str, upstream: str) -> bool:
    """Whether upstream removed items and changed nothing else, and omni's items call only what upstream kept."""
    old, own, new = (_read_items(head) for head in (base, omni, upstream))
    kept = [(called, item) for called, item in old.items() if called in new]
    return bool(own and new) and len(kept) < len(old) and kept == [*new.items()] and own.keys() <= new.keys()


def _read_items(head: str) -> dict[str, str]:
    """Return ``{what an item calls, or the item itself: item}`` in order; empty for another statement."""
    statement = next(iter(tree_of(f"{head}\n    pass").body), None)
    items = statement.items if isinstance(statement, ast.With | ast.AsyncWith) else []
    return {ast.unparse(getattr(item.context_expr, "func", item.context_expr)): ast.unparse(item) for item in items}
