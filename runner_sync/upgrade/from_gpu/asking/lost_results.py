"""Finds results that a port no longer returns although the statement that keeps them for later stays out.

Comes in: the statements of a passage before and after a port, and the whole texts. Goes out: the end of a reason. May
touch: nothing. For example::

    before   return Output(rows)     twin   self.state = State(rows)     after
                                            return None                          return None
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.listing import at_most
from runner_sync.statements import flatten, in_suite
from runner_sync.statements.dataflow import attributes_set
from runner_sync.thresholds import NAMED

NOTHING = ("return", "return None")


def explain(was: Sequence[str], now: Sequence[str], *, after: str, twin: str) -> str:
    """Return the end of a reason if a passage returned a value and returns nothing ``now``; else an empty string.

    Names the attributes that the twin sets in the suite of such a return and that ``after`` sets nowhere.
    """
    if not any(map(_returns_value, was)) or any(map(_returns_value, now)) or not set(now) & set(NOTHING):
        return ""
    nodes = flatten(twin)
    kept = {
        name: None
        for end in (k for k, node in enumerate(nodes) if node.canon in NOTHING)
        for k in in_suite(nodes, nodes[end].parent)
        if k < end
        for name in sorted(attributes_set(nodes[k]))
    }
    lost = [name for name in kept if name not in {one for node in flatten(after) for one in attributes_set(node)}]
    what = f"this method does not set {at_most(NAMED, lost)} for later, as the GPU runner does"
    return f"; this returned a value before, and {what}" if lost else ""


def _returns_value(canon: str) -> bool:
    return canon.startswith("return ") and canon not in NOTHING
