"""Drop doubts about statements that omni has after all, with a local in place of an attribute.

Comes in: a ``Weave`` and doubts. Goes out: the doubts that omni's text does not answer. May touch: nothing.

    base      if not output.total_tokens:
    omni      tokens = output.total_tokens ... if tokens <= 0:
    upstream  if output.total_tokens <= 0:
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from runner_sync.merge.weave import Doubt, Weave
from runner_sync.statements import Node
from runner_sync.statements.dataflow import binds


def drop_answered_by_locals(weave: Weave, doubts: Sequence[Doubt]) -> list[Doubt]:
    """Drop doubts about a changed statement that omni seems to lack, but has with a local for an attribute."""
    named = _find_named_attributes(weave.omni)
    alone = [node for node, strand in zip(weave.omni, weave.of_omni, strict=True) if strand.upstream is None]
    have = {text for node in alone if (text := _insert_attributes(node.canon, named)) != node.canon}
    return [doubt for doubt in doubts if not _is_answered(weave, doubt, have)]


def _is_answered(weave: Weave, doubt: Doubt, have: set[str]) -> bool:
    if doubt.reason.kind != "removed statement changed" or doubt.strand.kept:
        return False
    node = weave.upstream[doubt.strand.in_upstream]
    return node.is_telling and node.canon in have


def _find_named_attributes(nodes: Sequence[Node]) -> Mapping[str, str]:
    """Return ``{local: attribute}`` of the locals bound once, to a plain attribute: ``tokens = output.total``."""
    count = Counter(name for node in nodes for name in binds(node))
    found = {node.facts.targets: node.facts.value for node in nodes if "." in node.facts.value}
    return {targets[0]: value for targets, value in found.items() if len(targets) == 1 and count[targets[0]] == 1}


def _insert_attributes(canon: str, named: Mapping[str, str]) -> str:
    """Replace each ``named`` local in a statement with its attribute, except keywords of a call."""
    return _LOCAL.sub(lambda match: named.get(match[0], match[0]), canon)


_LOCAL = re.compile(r"(?<![\w.])[A-Za-z_]\w*\b(?!=)")
