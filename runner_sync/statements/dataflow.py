"""Which names a statement reads and binds.

Comes in: nodes. Goes out: names. May touch: nothing.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from runner_sync.statements.mentions import mentions, parameters
from runner_sync.statements.nodes import Node
from runner_sync.statements.parsing import before_clause

_DECORATORS = re.compile(r"^@.*? (?=(?:async )?(?:def|class) \w+\()")


class _Names(NamedTuple):
    """What one statement or head does with names; see ``reads``, ``uses``, ``binds``, ``sets`` and ``rebinds``."""

    read: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()
    set_: frozenset[str] = frozenset()
    rebound: frozenset[str] = frozenset()


@lru_cache(maxsize=16384)
def _names(canon: str, compound: bool, clause: bool) -> _Names:
    source = f"{canon}:\n pass" if compound else canon
    try:
        body = ast.parse((before_clause(canon) if clause else "") + _DECORATORS.sub("", source)).body
    except SyntaxError:
        return _Names()
    found = defaultdict[str, set[str]](set)
    for mention in mentions(body):
        found[mention.kind].add(mention.name)
    if compound and isinstance(body[0], ast.FunctionDef | ast.AsyncFunctionDef):
        found["binds"].update(parameter.arg for parameter in parameters(body[0]))
    return _Names(
        frozenset(found["reads"] | found["updates"] | found["deletes"]),
        frozenset(found["reads"]),
        frozenset(found["binds"] | found["updates"]),
        frozenset(found["binds"]),
        frozenset(found["binds"] & found["reads"]) if isinstance(body[0], ast.Assign | ast.AnnAssign) else frozenset(),
    )


def _names_in(node: Node) -> _Names:
    return _Names() if node.is_comment else _names(node.canon, node.compound, node.is_clause)


def reads(node: Node) -> frozenset[str]:
    """Names that must be set for a statement (or a head) to run."""
    return _names_in(node).read


def uses(node: Node) -> frozenset[str]:
    """Those of ``reads`` whose value goes anywhere: ``total += 1`` and ``del total`` need it for nothing else."""
    return _names_in(node).used


def binds(node: Node) -> frozenset[str]:
    """Names that a statement (or a head) binds: targets, loop variables, definitions, imports, parameters."""
    return _names_in(node).bound


def sets(node: Node) -> frozenset[str]:
    """Those of ``binds`` that are set behind it whatever was before: ``total += 1`` sets nothing."""
    return _names_in(node).set_


def rebinds(node: Node) -> frozenset[str]:
    """Those of ``sets`` whose new value an assignment makes of the old one: ``rows = pad(rows)``."""
    return _names_in(node).rebound


_ATTRIBUTE = re.compile(r"([A-Za-z_]\w*(?:\.\w+)+)(?: = |: )")


def attributes_set(node: Node) -> frozenset[str]:
    """Attributes that an assignment sets, as dotted names: ``self.total``."""
    match = None if node.is_comment or node.compound else _ATTRIBUTE.match(node.canon)
    return frozenset({match[1]}) if match else frozenset()


def uses_anything_of(setting: Sequence[Node], using: Sequence[Node]) -> bool:
    """Whether statements name a local or an attribute that some others set."""
    names = {name for node in setting for name in (*binds(node), *attributes_set(node))}
    words = {word for node in using for word in _DOTTED.findall(node.canon)}
    return any(name == word or word.startswith(f"{name}.") for name in names for word in words)


_DOTTED = re.compile(r"[A-Za-z_][\w.]*")
