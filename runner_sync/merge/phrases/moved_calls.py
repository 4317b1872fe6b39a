"""Find the call of the base that both sides moved to one place.

Comes in: a ``Weave`` and the statement there on both sides. Goes out: the statement of the base. May touch: nothing.

    base      meta = self.build(rows, size=self.size)                     above a loop
    omni      meta = self.build(rows, size=self.size, graph=self.graph)   below it
    upstream  meta = self.build(rows, size=self.size // 2)                below it
"""

from __future__ import annotations

import ast

from runner_sync.merge.weave import Weave
from runner_sync.statements import Node, tree_of


def find_moved_call(weave: Weave, omni: Node, upstream: Node) -> Node | None:
    """Return the statement of the base that sets the same to the same call, and that both sides have at a new place.

    ``omni`` and ``upstream`` are that statement there. ``None`` if a side has more than one, or if the sides do not
    pass on what the base's call passes: then the two may be new calls for another purpose.
    """
    if not omni.made_by or omni.made_by != upstream.made_by:
        return None
    sides = [
        [node for node in nodes if node.made_by == omni.made_by] for nodes in (weave.base, weave.omni, weave.upstream)
    ]
    if any(len(side) != 1 for side in sides):
        return None
    base = sides[0][0]
    is_gone = any(node is base and s.sides == "b" for node, s in zip(weave.base, weave.of_base, strict=True))
    return base if is_gone and _keep_arguments(base, omni, upstream) else None


def _keep_arguments(base: Node, omni: Node, upstream: Node) -> bool:
    """Whether both sides pass the base's positional arguments and all its keywords, and one of them each old value."""
    old, own, new = (_read_arguments(node) for node in (base, omni, upstream))
    if not (old and own and new) or not old[0] == own[0] == new[0]:
        return False
    return any(old) and all(
        name in own[1] and name in new[1] and value in (own[1][name], new[1][name]) for name, value in old[1].items()
    )


def _read_arguments(node: Node) -> tuple[list[str], dict[str, str]] | None:
    """Return the positional arguments and the keywords of the call that a statement makes, if it makes one."""
    value = getattr(next(iter(tree_of(node.text).body), None), "value", None)
    if not isinstance(value, ast.Call):
        return None
    keywords = {keyword.arg or ast.unparse(keyword): ast.unparse(keyword.value) for keyword in value.keywords}
    return [ast.unparse(argument) for argument in value.args], keywords
