"""Recognise omni's own form of a call: to a similarly named function, assigned to another name.

Comes in: a weave and a statement of the base that omni lacks. Goes out: omni's statement. May touch: nothing.

    base      record = Output(ids=ids, rows=rows, names=names)
    omni      output = OmniOutput(ids=ids, rows=[], names=names)
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from runner_sync.merge.weave import Strand, Weave
from runner_sync.statements import Node, tree_of
from runner_sync.thresholds import FEWEST_KEYWORDS


def find_own_form(weave: Weave, node: Node) -> Strand | None:
    """Return omni's own assignment, to another name, of what the function in ``node`` makes.

    The name of one function must end with that of the other, and half of the keywords or more must be the same.
    ``None`` if there is no such assignment, or more than one.
    """
    keywords = _find_keywords(node)
    if len(keywords) < FEWEST_KEYWORDS:
        return None
    calling = {strand: None for strands in weave.omni_calls.values() for strand in strands if strand.sides == "o"}
    found = [strand for strand in calling if _is_alike(weave.omni[strand.in_omni], node, keywords)]
    return found[0] if len(found) == 1 else None


def _is_alike(omni: Node, node: Node, keywords: Collection[str]) -> bool:
    one, other = (n.facts.called.rpartition(".")[2] for n in (omni, node))
    is_named_alike = bool(one and other) and (one.endswith(other) or other.endswith(one))
    if not is_named_alike or set(omni.facts.targets) & set(node.facts.targets):
        return False
    return 2 * len(_find_keywords(omni) & set(keywords)) >= len(keywords)


def _find_keywords(node: Node) -> set[str]:
    """Return the keywords of a call that is the value of an assignment."""
    statement = tree_of(node.canon).body[0] if node.facts.targets and node.facts.called else None
    value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) else None
    return {key.arg for key in value.keywords if key.arg is not None} if isinstance(value, ast.Call) else set()
