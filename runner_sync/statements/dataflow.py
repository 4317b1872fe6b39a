"""Which names a statement reads and binds.

Comes in: nodes. Goes out: names. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from runner_sync.statements.nodes import Node


def reads(node: Node) -> frozenset[str]:
    """Names that must be set for a statement (or a head) to run."""
    return node.facts.reads


def uses(node: Node) -> frozenset[str]:
    """Those of ``reads`` whose value goes anywhere: ``total += 1`` and ``del total`` need it for nothing else."""
    return node.facts.uses


def binds(node: Node) -> frozenset[str]:
    """Names that a statement (or a head) binds: targets, loop variables, definitions, imports, parameters."""
    return node.facts.binds


def sets(node: Node) -> frozenset[str]:
    """Those of ``binds`` that are set behind it whatever was before: ``total += 1`` sets nothing."""
    return node.facts.sets


def rebinds(node: Node) -> frozenset[str]:
    """Those of ``sets`` whose new value an assignment makes of the old one: ``rows = pad(rows)``."""
    return node.facts.rebinds


def attributes_set(node: Node) -> frozenset[str]:
    """Attributes that an assignment sets, as dotted names: ``self.total``."""
    return frozenset(target for target in node.facts.targets if _ATTRIBUTE.fullmatch(target))


_ATTRIBUTE = re.compile(r"[\w.]+\.\w+")


def uses_anything_of(setting: Sequence[Node], using: Sequence[Node]) -> bool:
    """Whether statements name a local or an attribute that some others set."""
    names = {name for node in setting for name in (*binds(node), *attributes_set(node))}
    words = {word for node in using for word in _DOTTED.findall(node.canon)}
    return any(name == word or word.startswith(f"{name}.") for name in names for word in words)


_DOTTED = re.compile(r"[A-Za-z_][\w.]*")
