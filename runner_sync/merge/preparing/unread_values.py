"""Give the values of a call that no text reads omni's names for them.

Comes in: base, omni and upstream texts. Goes out: the texts with these names. May touch: nothing.

Otherwise a port would replace omni's statement, only to bind a name for nothing::

    base, upstream   rows, outputs = self.take(rows)
    omni             rows, _ = self.take(rows)
    given            rows, _ = self.take(rows)
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from runner_sync.merge.preparing.renames import find_mentions, rename
from runner_sync.model import Triple
from runner_sync.statements import Node, flatten_function
from runner_sync.statements.dataflow import binds


def with_omni_names_of_unread_values(triple: Triple) -> Triple:
    """Rename in base and upstream the values of a call that neither they nor omni read, if they differ in no other."""
    omni = {_get_call(node): node for node in flatten_function(triple.omni) if _get_call(node)}
    used = _find_used(triple.omni)
    base, upstream = (_rename_unread(text, omni, used | _find_used(text)) for text in (triple.base, triple.upstream))
    return Triple(base, triple.omni, upstream)


def _rename_unread(text: str, omni: Mapping[str, Node], used: set[str]) -> str:
    for node in flatten_function(text):
        own = omni.get(_get_call(node))
        if own is None or len(own.facts.targets) != len(node.facts.targets):
            continue
        pairs = zip(node.facts.targets, own.facts.targets, strict=True)
        names = {name: new for name, new in pairs if name != new}
        unread = (binds(node) | binds(own)) - used
        if names and {*names, *names.values()} <= unread:
            text = rename(text, names, within=range(node.start, node.end + 1))
    return text


def _get_call(node: Node) -> str:
    """Return the call whose values a statement binds; else empty."""
    return node.canon.partition(" = ")[2] if node.facts.called and node.facts.targets else ""


def _find_used(text: str) -> set[str]:
    """Return the names that a text does more with than bind them in plain assignments."""
    return {m.name for m in find_mentions(text) if m.kind != "binds" or not isinstance(m.node, ast.Name)}
