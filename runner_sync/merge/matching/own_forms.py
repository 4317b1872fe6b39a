"""Find what omni has for a statement of the base that it lacks: the same at another place, or a form of its own.

Comes in: a weave and a statement of the base that omni lacks. Goes out: omni's statements. May touch: nothing.

Omni's own form of a call is one to a similarly named function, assigned to another name::

    base      record = Output(ids=ids, rows=rows, names=names)
    omni      output = OmniOutput(ids=ids, rows=[], names=names)
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from itertools import pairwise

from runner_sync.merge.matching.branches import are_branches
from runner_sync.merge.weave import Strand, Weave
from runner_sync.statements import Node, said, tree_of
from runner_sync.thresholds import FEWEST_KEYWORDS


def find_moved(weave: Weave, node: Node) -> list[Strand]:
    """Return omni's own statements with the text of ``node`` of the base, which omni lacks at its old place.

    Returns none if the text is not telling, or if several are not in branches of one condition.
    """
    if node.is_clause or not node.is_telling:
        return []
    found = [s for s in weave.of_omni if s.sides == "o" and weave.omni[s.in_omni].canon == node.canon]
    pairs = pairwise(strand.in_omni for strand in found)
    return found if all(are_branches(weave.omni, first, second) for first, second in pairs) else []


def find_same_suite(weave: Weave, strand: Strand) -> Strand | None:
    """Return omni's own ``if`` or ``elif`` for one of the base whose condition, and nothing else, upstream changed.

    It must be the only one with the base's condition and suite. Either may be ``if`` where the other is ``elif``: omni
    lacks the branch in front of it, or has one of its own.
    """
    before, now = weave.base[strand.in_base], weave.upstream[strand.in_upstream]
    suite = said(weave.base, [strand.in_base])[1:]
    if before.keyword not in _BRANCHES or before.keyword != now.keyword:
        return None
    own = [s for s in weave.of_omni if s.sides == "o" and weave.omni[s.in_omni].keyword in _BRANCHES]
    found = [s for s in own if with_keyword_of(weave.omni[s.in_omni].canon, before) == before.canon]
    is_only_condition = said(weave.upstream, [strand.in_upstream])[1:] == suite
    is_same = is_only_condition and len(found) == 1 and said(weave.omni, [found[0].in_omni])[1:] == suite
    return found[0] if is_same else None


_BRANCHES = ("if", "elif")


def with_keyword_of(condition: str, node: Node) -> str:
    """Return the text of an ``if`` or ``elif`` with the keyword of ``node``."""
    return node.keyword + condition.removeprefix("el").removeprefix("if")


def find_own_setter(weave: Weave, node: Node) -> Strand | None:
    """Return the only statement of omni's own that sets just what ``node`` sets; ``None`` without one."""
    if node.compound or not node.facts.targets:
        return None
    found = [s for s in weave.of_omni if s.sides == "o" and _sets_the_same(weave.omni[s.in_omni], node)]
    return found[0] if len(found) == 1 else None


def _sets_the_same(omni: Node, node: Node) -> bool:
    return not omni.compound and omni.facts.targets == node.facts.targets


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
