"""Finds locals that a port sets although statements that read them on the GPU side are missing.

Comes in: the sides of a port and its result. Goes out: names. May touch: nothing.

A feature that is switched on without the code behind the switch runs in a state that neither side has tested::

    GPU twin    keep = self.keeps(rows)         result    keep = self.keeps(rows)
                if keep:
                    self.store(rows)

A local that is set to a constant is half ported, too, if all statements that change it are missing: it never varies.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher

from runner_sync.merge import Veto
from runner_sync.model import Triple
from runner_sync.statements import ROOT, Node, below, flatten
from runner_sync.statements.dataflow import binds, reads, sets, uses
from runner_sync.thresholds import COUNTERPART, INLINE


def find_half_ported(sides: Triple, text: str, foreign: Collection[str], veto: Veto) -> set[str]:
    """Return new locals of the twin that the result mentions although a statement that reads them is missing.

    For a name that NPU already has, only statements that the port brings count as mentions. Skips locals that only name
    a value which NPU has inline, and readers that are ``foreign``. If another reader came in, also skips readers inside
    a suite that ``veto`` refuses, because they belong to another feature, and conditions of nothing but locals that the
    result does not read. A local that only statements missing here change counts regardless of its readers.
    """
    old, omni, new, result = (_flatten_code(side) for side in (sides.base, sides.omni, sides.upstream, text))
    known, own = ({name for node in nodes for name in binds(node) | reads(node)} for nodes in (old, omni))
    have, omni_canons = ({node.canon for node in nodes} for nodes in (result, omni))
    ported = [node for node in new if node.canon not in foreign]
    refused = _find_refused(flatten(sides.upstream), veto)
    idle = _find_idle_conditions(flatten(sides.upstream), result)

    def is_half(name: str) -> bool:
        here = [node for node in result if name in binds(node) | reads(node)]
        here = [node for node in here if name not in own or node.canon not in omni_canons]
        if not here:
            return False
        is_read = any(name in uses(node) and name not in binds(node) for node in result)
        readers = [node for node in ported if name in uses(node) and node.canon not in have]
        missing = [node for node in readers if not (is_read and (node.canon in refused or node.canon in idle))]
        return _is_fixed(name, result, ported) or not (
            _is_inline(name, new, omni) or all(_has_counterpart(here, node, name) for node in missing)
        )

    return {name for node in new for name in binds(node) - known if is_half(name)}


def find_unread_parameters(sides: Triple, text: str) -> set[str]:
    """Return parameters that the port brings back from the twin although nothing but their own setters reads them.

    vllm-ascend dropped the parameter together with its readers; the twin has both. Returns none if the port brings
    other parameters of the twin along::

        GPU twin    def run(self, rows, keep=None):       vllm-ascend    def run(self, rows):
                        if keep is None:
                            keep = len(rows) > 0
                        self.store(rows, keep)                               self.store(rows, len(rows) > 0)
    """
    was, omni, new, result = (_flatten_unit(side) for side in (sides.base, sides.omni, sides.upstream, text))
    if not (was and omni and new and result):
        return set()
    back = binds(result[0]) - binds(omni[0])
    is_idle = back <= binds(was[0]) & binds(new[0]) and all(_is_read(name, new) for name in back)
    return set(back) if is_idle and not any(_is_read(name, result) for name in back) else set()


def _flatten_unit(text: str) -> Sequence[Node]:
    """Flatten a method or function, starting at its head; empty for any other text."""
    nodes = flatten(text)
    return nodes if nodes and nodes[0].defines else ()


def _is_read(name: str, nodes: Sequence[Node]) -> bool:
    """Whether a statement reads a name other than to set it; conditions around nothing but its setters do not count."""

    def is_setting(node: Node) -> bool:
        return node.is_comment or binds(node) == {name}

    def is_around_settings(k: int) -> bool:
        inside = [nodes[inner] for inner in below(nodes, k)][1:]
        return nodes[k].keyword in ("if", "elif") and all(map(is_setting, inside))

    return any(
        name in reads(node) and not is_setting(node) and not is_around_settings(k) for k, node in enumerate(nodes)
    )


def _find_idle_conditions(new: Sequence[Node], result: Sequence[Node]) -> set[str]:
    """Return conditions of the twin below which it only sets locals that the result does not read."""
    used = frozenset[str]().union(*(uses(node) for node in result))

    def is_idle(k: int) -> bool:
        inside = [new[inner] for inner in below(new, k)[1:] if not new[inner].is_comment]
        return all(sets(node) == binds(node) != frozenset() and used.isdisjoint(sets(node)) for node in inside)

    return {node.canon for k, node in enumerate(new) if node.keyword == "if" and is_idle(k)}


def _flatten_code(text: str) -> list[Node]:
    return [node for node in flatten(text) if not node.is_comment]


def _find_refused(nodes: Sequence[Node], veto: Veto) -> set[str]:
    """Return canonical statements that ``veto`` refuses, with everything nested in them."""
    found: list[bool] = []
    for node in nodes:
        found.append(veto(node.canon) is not None or (node.parent != ROOT and found[node.parent]))
    return {node.canon for node, is_refused in zip(nodes, found, strict=True) if is_refused}


def _is_inline(name: str, new: Sequence[Node], omni: Sequence[Node]) -> bool:
    """Whether the value that the twin assigns to this name is already part of an NPU statement."""
    values = [node.canon.partition(" = ")[2] for node in new if name in binds(node)]
    return len(values) == 1 and len(values[0]) > INLINE and any(values[0] in node.canon for node in omni)


def _is_fixed(name: str, result: Sequence[Node], new: Sequence[Node]) -> bool:
    """Whether a local is only ever set to a constant here but changes in the twin."""
    changes = re.compile(rf"{name}(?:\.\w+\(|\[)")

    def is_changing(node: Node) -> bool:
        is_constant = name in sets(node) and _CONSTANT.search(node.canon) is not None
        return (name in binds(node) and not is_constant) or changes.match(node.canon) is not None

    return any(map(is_changing, new)) and not any(map(is_changing, result)) and any(name in sets(n) for n in result)


_CONSTANT = re.compile(r" = (?:-?\d+(?:\.\d+)?|None|True|False|'[^']*'|\[\]|\{\}|\(\)|(?:set|list|dict)\(\))$")


def _has_counterpart(nodes: Sequence[Node], reader: Node, name: str) -> bool:
    """Whether one of ``nodes``, which set or read ``name``, corresponds to the GPU side's ``reader``.

    The counterpart is similar, or is a ``with`` that opens the same context for its body.
    """
    opened = [node for node in nodes if name in uses(node) and reader.facts.opens]
    return any(node.facts.opens == reader.facts.opens for node in opened) or any(
        SequenceMatcher(None, reader.canon, node.canon).ratio() >= COUNTERPART for node in nodes
    )
