"""Drop doubts about a call that omni makes by another function, with the arguments that upstream gives it now.

Comes in: a ``Weave`` and doubts. Goes out: the doubts without those that omni's text answers. May touch: nothing.

    base      staged, outputs = self.sources(hidden=rows, staged=staged)
    omni      outputs = self.fetch(step, list(ids))
    upstream  staged, outputs = self.sources(staged=staged, step=step, ids=ids)
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from runner_sync.merge.weave import Doubt, Strand, Weave, any_node
from runner_sync.statements import Node, tree_of
from runner_sync.syntax import walk

_NAME = re.compile(r"[A-Za-z_][\w.]*")


def drop_answered_by_calls(weave: Weave, doubts: Sequence[Doubt]) -> list[Doubt]:
    """``doubts`` without those about a changed statement for which omni has one of its own: the only call of its own
    that sets any of the same names, and it gets all values that upstream newly gives, and none that upstream no longer
    does. Another call that sets them, and that omni shares with upstream, is paired with upstream's."""
    return [
        doubt
        for doubt in doubts
        if doubt.reason.kind != "removed statement changed" or not has_own_call(weave, doubt.strand)
    ]


def has_own_call(weave: Weave, strand: Strand) -> bool:
    """Whether omni has such a call in the place of a statement that only upstream has kept, and changed."""
    if strand.sides != "bu" or strand.kept:
        return False
    old, new = weave.base[strand.in_base], weave.upstream[strand.in_upstream]
    if not new.facts.targets or (old.facts.targets, old.made_by) != (new.facts.targets, new.made_by):
        return False
    setting = dict.fromkeys(other for name in new.facts.targets for other in weave.omni_calls.get(name, ()))
    own = [other for other in setting if other.sides == "o"]
    if len(own) != 1 or any(other.sides not in ("o", "bou") for other in setting):
        return False
    mine, was, now = any_node(weave, own[0]), _find_values(old), _find_values(new)
    added = now - was
    if not added or not all(map(_NAME.fullmatch, added)) or not set(mine.facts.targets) <= set(new.facts.targets):
        return False
    given = {ast.unparse(part) for value in _find_arguments(mine) for part in walk(value) if isinstance(part, ast.expr)}
    return added <= given and given.isdisjoint(was - now)


def _find_values(node: Node) -> set[str]:
    """The values that the call of an assignment is given, by position or as keywords."""
    return {ast.unparse(value) for value in _find_arguments(node)}


def _find_arguments(node: Node) -> list[ast.expr]:
    call = next((part for part in walk(tree_of(node.canon)) if isinstance(part, ast.Call)), None)
    return [*call.args, *(key.value for key in call.keywords)] if call is not None else []
