"""Locals that a port brought by half: they are set here, and statements that read them on the GPU side are missing.

Comes in: the sides of a port and its result. Goes out: names. May touch: nothing.

A feature that is switched on here without the code behind the switch runs in a state that neither side has tested::

    GPU twin    keep = self.keeps(rows)         result    keep = self.keeps(rows)
                if keep:
                    self.store(rows)

So is a local that is set to a constant, while all that changes it there is missing here: it is always the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher

from runner_sync.merge import Veto
from runner_sync.model import Triple
from runner_sync.statements import ROOT, Node, below, flatten
from runner_sync.statements.dataflow import binds, reads, sets, uses

ALIKE = 0.6
"""Similarity from which a statement counts as the local counterpart of a reader on the GPU side."""

INLINE = 8
"""A value must be longer than this, in characters, for its presence on both sides to mean anything."""


def half_ported(
    sides: Triple, text: str, foreign: Collection[str] = frozenset(), *, veto: Veto = lambda _canon: None
) -> set[str]:
    """New locals of the GPU twin that the result mentions while some statement that reads them is missing.

    Where NPU has a local of that name already, only what the port brings counts as a mention. Not counted: locals that
    only name a value which NPU has inline; readers that are ``foreign``; and, if another reader did come in, readers
    inside a suite that ``veto`` refuses, for those belong to another feature. A local that nothing here changes any
    more counts, whatever reads it.
    """
    old, mine, new, result = (_code(side) for side in (sides.base, sides.omni, sides.upstream, text))
    known, own = ({name for node in nodes for name in binds(node) | reads(node)} for nodes in (old, mine))
    mine_as_is = {node.canon for node in mine}
    have = {node.canon for node in result} | set(foreign)
    refused = _refused(flatten(sides.upstream), veto)
    found = set()
    for name in {name for node in new for name in binds(node)} - known:
        here = [node for node in result if name in binds(node) | reads(node)]
        here = [node for node in here if name not in own or node.canon not in mine_as_is]
        readers = [node for node in new if name in uses(node) and node.canon not in have]
        if any(name in uses(node) and not binds(node) & {name} for node in result):
            readers = [node for node in readers if node.canon not in refused]
        if here and not _is_inline(name, new, mine) and not all(_has_counterpart(here, node, name) for node in readers):
            found.add(name)
        if here and _is_fixed(name, result, [node for node in new if node.canon not in foreign]):
            found.add(name)
    return found


def unread_parameters(sides: Triple, text: str) -> set[str]:
    """Parameters that the result has again from the twin, NPU's text has no more, and nothing but what sets them reads.

    vllm-ascend gave up the parameter together with its readers; the twin has both. None if the head of the result has
    more of the twin's that NPU's has not::

        GPU twin    def run(self, rows, keep=None):       vllm-ascend    def run(self, rows):
                        if keep is None:
                            keep = len(rows) > 0
                        self.store(rows, keep)                               self.store(rows, len(rows) > 0)
    """
    was, mine, new, result = (_unit(side) for side in (sides.base, sides.omni, sides.upstream, text))
    if not (was and mine and new and result):
        return set()
    back = binds(result[0]) - binds(mine[0])
    is_idle = back <= binds(was[0]) & binds(new[0]) and all(_is_read(name, new) for name in back)
    return set(back) if is_idle and not any(_is_read(name, result) for name in back) else set()


def _unit(text: str) -> Sequence[Node]:
    """The statements of a method or function from its head on."""
    nodes = flatten(text)
    return nodes if nodes and nodes[0].defines else ()


def _is_read(name: str, nodes: Sequence[Node]) -> bool:
    """Whether a statement reads a name for more than to set it: conditions around nothing but that do no more."""

    def is_setting(node: Node) -> bool:
        return node.is_comment or binds(node) == {name}

    def is_around_settings(k: int) -> bool:
        return nodes[k].keyword in ("if", "elif") and all(
            is_setting(nodes[inner]) for inner in list(below(nodes, k))[1:]
        )

    return any(
        name in reads(node) and not is_setting(node) and not is_around_settings(k) for k, node in enumerate(nodes)
    )


def _code(text: str) -> list[Node]:
    return [node for node in flatten(text) if not node.is_comment]


def _refused(nodes: Sequence[Node], veto: Veto) -> set[str]:
    """Canonical statements that ``veto`` refuses, with everything nested in them."""
    found: list[bool] = []
    for node in nodes:
        found.append(veto(node.canon) is not None or (node.parent != ROOT and found[node.parent]))
    return {node.canon for node, is_refused in zip(nodes, found, strict=True) if is_refused}


def _is_inline(name: str, new: Sequence[Node], mine: Sequence[Node]) -> bool:
    """Whether the value that the twin assigns to this name already stands inside a statement of NPU's."""
    values = [node.canon.partition(" = ")[2] for node in new if name in binds(node)]
    return len(values) == 1 and len(values[0]) > INLINE and any(values[0] in node.canon for node in mine)


def _is_fixed(name: str, result: Sequence[Node], new: Sequence[Node]) -> bool:
    """Whether a local is only ever set to a constant here, and changed in the twin."""
    changes = re.compile(rf"{name}(?:\.\w+\(|\[)")

    def is_changing(node: Node) -> bool:
        is_constant = name in sets(node) and _CONSTANT.search(node.canon) is not None
        return (name in binds(node) and not is_constant) or changes.match(node.canon) is not None

    return any(map(is_changing, new)) and not any(map(is_changing, result)) and any(name in sets(n) for n in result)


_CONSTANT = re.compile(r" = (?:-?\d+(?:\.\d+)?|None|True|False|'[^']*'|\[\]|\{\}|\(\)|(?:set|list|dict)\(\))$")


def _has_counterpart(nodes: Sequence[Node], reader: Node, name: str) -> bool:
    """Whether one of ``nodes``, which set or read ``name``, is what ``reader`` is on the GPU side: alike, or a ``with``
    that opens the same for the body, whatever else it opens."""
    opened = [node for node in nodes if name in uses(node) and reader.facts.opens]
    return any(node.facts.opens == reader.facts.opens for node in opened) or any(
        SequenceMatcher(None, reader.canon, node.canon).ratio() >= ALIKE for node in nodes
    )
