"""Drops questions of a port about statements that only name an attribute in another way.

Comes in: decisions of a port, and the texts of both methods. Goes out: the remaining decisions. May touch: nothing.

A method may keep an attribute in a local, and the other method may read the attribute each time::

    NPU            count = plan.total            GPU twin       if plan.total <= 0:
                   if count <= 0:                                   self.wait()
                       self.wait()
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from runner_sync import merge
from runner_sync.lineage import list_nodes
from runner_sync.merge import Kind
from runner_sync.statements import Node, flatten
from runner_sync.statements.dataflow import attributes_set, binds

_KINDS: Collection[Kind] = ("removed statement changed", "both added versions", "both changed a part")


def drop_named_otherwise(decisions: Sequence[merge.Decision], omni: str, twin: str) -> list[merge.Decision]:
    """Drop decisions on a statement of the ``twin`` that ``omni`` has with other names for the same attributes.

    Both methods must have the statement once.
    """
    here, there = (_Spelled(flatten(text)) for text in (omni, twin))
    return [item for item in decisions if not _is_same(item, here, there)]


class _Spelled:
    """The statements of a method with attributes in place of the locals that hold them."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.names = _find_short_names(nodes)
        self.counts = Counter(self.spell(nodes))

    def spell(self, nodes: Collection[Node]) -> list[str]:
        """Return the canonical statements among ``nodes``, with the attributes."""
        return [_spell_out(node.canon, self.names) for node in nodes if not node.is_comment]


def _is_same(item: merge.Decision, here: _Spelled, there: _Spelled) -> bool:
    if item.reason.kind not in _KINDS or item.chosen != item.omni:
        return False
    steps = there.spell(_list_shown(item.upstream))
    if item.omni and steps != here.spell(_list_shown(item.omni)):
        return False
    return bool(steps) and all(here.counts[step] == there.counts[step] == 1 for step in steps)


def _list_shown(text: str) -> Sequence[Node]:
    """Return the statements that a decision shows; it may show a head without its suite."""
    return list_nodes(text) or list_nodes(f"{text}\n    pass")[:-1]


def _find_short_names(nodes: Sequence[Node]) -> dict[str, str]:
    """Map each local to the attribute that it always holds: it is set once, and nothing below sets the attribute."""
    bound = Counter(name for node in nodes for name in binds(node))
    found = {}
    for index, node in enumerate(nodes):
        targets, value = node.facts.targets, node.facts.value
        if len(targets) != 1 or bound[targets[0]] != 1 or not _ATTRIBUTE.fullmatch(value):
            continue
        below = nodes[index + 1 :]
        if not any(value.partition(".")[0] in binds(one) or value in attributes_set(one) for one in below):
            found[targets[0]] = value
    return found


def _spell_out(canon: str, names: Mapping[str, str]) -> str:
    return _WORD.sub(lambda found: names.get(found[0], found[0]), canon)


_ATTRIBUTE = re.compile(r"[A-Za-z_]\w*(?:\.\w+)+")
_WORD = re.compile(r"(?<![\w.])[A-Za-z_]\w*\b(?!=[^=])")
"""A name that is neither an attribute nor the keyword of an argument."""
