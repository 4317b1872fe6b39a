"""Finds what an override sets again after it called upstream's method, if upstream now sets it in another way.

Comes in: texts of methods. Goes out: the statements of the override, with upstream's. May touch: nothing.

The AR runner's ``__init__`` calls upstream's method and then builds a buffer of its own::

    super().__init__(*args, **kwargs)
    self.input_ids = self._make_buffer(self.max_num_tokens)   # vllm-ascend 0.13.0 builds a larger one
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from runner_sync.lineage import list_nodes
from runner_sync.statements import Node, parse_function
from runner_sync.statements.parents import parent_calls


class SetAgain(NamedTuple):
    """A statement of an override that sets ``name`` again, and upstream's statements that set it before and now."""

    name: str
    mine: Node
    old: str
    new: str


def find_set_again(text: str, member: str, owners: Collection[str], *, old: str, new: str) -> Iterator[SetAgain]:
    """Yield what a method sets again after a call of ``member`` on one of ``owners``, which runs upstream's method.

    Only attributes that upstream's ``new`` text sets to something that ``old`` does not. Skips a statement that
    ``new`` has, too, and one that uses the value that upstream set.
    """
    function = parse_function(text)
    calls = parent_calls(function, member) if function is not None else []
    first = min((call.lineno for owner, call in calls if owner in owners), default=None)
    if first is None:
        return
    before, now = (_group_setters(list_nodes(side)) for side in (old, new))
    for name, (*_, last) in _group_setters(n for n in list_nodes(text) if n.start > first).items():
        was, is_now = ({node.canon for node in side[name]} for side in (before, now))
        if is_now - was and last.canon not in is_now and len(re.findall(rf"{re.escape(name)}\b", last.canon)) == 1:
            yield SetAgain(name, last, *("\n".join(node.text for node in side[name]) for side in (before, now)))


def _group_setters(nodes: Iterable[Node]) -> defaultdict[str, list[Node]]:
    """Return the plain assignments to each attribute of ``self``."""
    found = defaultdict[str, list[Node]](list)
    for node in nodes:
        for name in node.facts.targets:
            if name.startswith("self."):
                found[name].append(node)
    return found
