"""Names the branch in which a port repeats a statement that the twin has once, outside of that branch.

Comes in: the rows of a passage, the text after a port, and the twin. Goes out: the end of a reason. May touch: nothing.

The new form may need something that the branch does not have::

    twin   out = pick(rows.to(state.device))      ported  if is_first():
           if is_first():                                     out = pick(rows.to(state.device))
               send(state.tensors)                            send(state.tensors)
           else:                                          else:
               ...                                            out = pick(rows.to(state.device))
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from runner_sync.listing import at_most
from runner_sync.statements import ROOT, Node, enclosing, flatten
from runner_sync.thresholds import NAMED


def explain(after: str, first: int, last: int, *, twin: str, before: Collection[str]) -> str:
    """Return the end of a reason about the rows ``first`` to ``last``; empty if nothing new is repeated in a branch.

    ``before`` are the statements from before the port.
    """
    here, there = flatten(after), flatten(twin)
    within = [node for node in here if first < node.start <= last]
    within = [node for node in within if node.parent != ROOT and here[node.parent].is_condition]
    new = [node for node in within if node.is_telling and not node.compound and node.canon not in before]
    named = [branch for node in new if (branch := _find_other_branch(node, here, there))]
    branches = at_most(NAMED, [*dict.fromkeys(named)])
    return f"; the GPU runner has this statement outside of {branches}: does its new form work there?" if named else ""


def _find_other_branch(node: Node, here: Sequence[Node], there: Sequence[Node]) -> str:
    """Return the branch around a node of ``here`` if ``there`` has the statement, less often and in no such branch."""
    places = [k for k, other in enumerate(there) if other.canon == node.canon]
    if not 0 < len(places) < sum(other.canon == node.canon for other in here):
        return ""
    branch = _name_branch(here, node.parent)
    return branch if branch not in {_name_branch(there, h) for k in places for h in enclosing(there, k)} else ""


def _name_branch(nodes: Sequence[Node], head: int) -> str:
    """Return the head of a suite in quotes; for a clause with the statement that it belongs to."""
    node = nodes[head]
    return f"{node.canon!r} of {nodes[node.owner].canon!r}" if node.is_clause else f"{node.canon!r}"
