"""Drop doubts about a call that omni makes by another function, with upstream's new arguments.

Comes in: a ``Weave`` and doubts. Goes out: the doubts that omni's text does not answer. May touch: nothing.

    base      staged, outputs = self.sources(hidden=rows, staged=staged)
    omni      outputs = self.fetch(step, list(ids))
    upstream  staged, outputs = self.sources(staged=staged, step=step, ids=ids)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from runner_sync.merge.weave import Doubt, Strand, Weave, pick_node
from runner_sync.statements import Node, tree_of
from runner_sync.syntax import calls_in, walk

_NAME = re.compile(r"[A-Za-z_][\w.]*")


def drop_answered_by_calls(weave: Weave, doubts: Sequence[Doubt]) -> list[Doubt]:
    """Drop doubts about a changed statement for which omni has a call of its own.

    It must be omni's only own call that sets any of the same names. It must get all values that upstream newly gives,
    and none that upstream no longer gives. Other calls that set these names must be in all three texts.
    """
    return [
        doubt
        for doubt in doubts
        if doubt.reason.kind != "removed statement changed" or not has_own_call(weave, doubt.strand)
    ]


def has_own_call(weave: Weave, strand: Strand) -> bool:
    """Whether omni has a call of its own in place of a statement that upstream changed and omni lacks."""
    if strand.sides != "bu" or strand.kept:
        return False
    old, new = weave.base[strand.in_base], weave.upstream[strand.in_upstream]
    if not new.facts.targets or (old.facts.targets, old.made_by) != (new.facts.targets, new.made_by):
        return False
    setting = dict.fromkeys(other for name in new.facts.targets for other in weave.omni_calls.get(name, ()))
    own = [other for other in setting if other.sides == "o"]
    if len(own) != 1 or any(other.sides not in ("o", "bou") for other in setting):
        return False
    call, was, now = pick_node(weave, own[0]), _find_values(old), _find_values(new)
    added = now - was
    if not added or not all(map(_NAME.fullmatch, added)) or not set(call.facts.targets) <= set(new.facts.targets):
        return False
    given = {ast.unparse(part) for value in _find_arguments(call) for part in walk(value) if isinstance(part, ast.expr)}
    return added <= given and given.isdisjoint(was - now)


def _find_values(node: Node) -> set[str]:
    """Return the values that the call of an assignment is given, by position or as keywords."""
    return {ast.unparse(value) for value in _find_arguments(node)}


def _find_arguments(node: Node) -> list[ast.expr]:
    call = next(iter(calls_in(tree_of(node.canon))), None)
    return [*call.args, *(key.value for key in call.keywords)] if call is not None else []
