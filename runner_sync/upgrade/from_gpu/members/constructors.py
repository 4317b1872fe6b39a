"""Brings the plain assignments of a refused GPU constructor that ported code reads.

Comes in: the decisions about the members of a class, drafts, a ``ModuleJob`` and the GPU side. Goes out: the decisions
and a GPU side with the short constructor. May touch: nothing.

A constructor also sets up what NPU cannot have. What the port of another method reads is often none of that::

    twin   def __init__(self, config):                  result  def __init__(self, config):
               super().__init__(config)                             super().__init__(config)
               self.keeps = config.keeps                            self.keeps = config.keeps
               self.init_connectors(config)

timid: only assignments directly in the constructor whose values use nothing but its parameters, ``self`` and builtins.
"""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from runner_sync.fitting.members import Member, find_refused_word
from runner_sync.statements import Node, flatten, parameters, parse_function, parse_unit
from runner_sync.statements.dataflow import sets, uses
from runner_sync.syntax import self_attributes_set
from runner_sync.texts.member_text import self_names
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.defects import find_set_by_twin_only

NAME = "__init__"


def shorten_constructor(
    class_name: str, decisions: list[Member], drafts: Sequence[Draft], job: ModuleJob, side: GpuSide
) -> tuple[list[Member], GpuSide]:
    """Decide to port a short constructor if the twin's is refused and ported code reads what it plainly assigns."""
    refused = next((one for one in decisions if one.name == NAME and one.action in ("device", "left")), None)
    if refused is None:
        return decisions, side
    own = [draft for draft in drafts if draft.owner == class_name]
    names = {
        name
        for draft in own
        for name, setters in find_set_by_twin_only(draft, drafts, job, side.new).items()
        if setters == [NAME]
    }
    text = _keep_assignments(side.new[f"{class_name}.{NAME}"], names, job.refused)
    if not text:
        return decisions, side
    reason = f"only the assignments that ported code reads; the rest was left out: {refused.reason}"
    ported = Member(NAME, "port", reason)
    return (
        [ported if one is refused else one for one in decisions],
        replace(side, new={**side.new, f"{class_name}.{NAME}": text}),
    )


def _keep_assignments(text: str, names: Collection[str], refused: Collection[str]) -> str:
    """Return a constructor with its call of ``super()`` and its plain assignments to ``names``.

    Returns an empty string if it has no such call or assignment.
    """
    nodes, function = flatten(text), parse_function(text)
    if function is None or any(node.keyword in ("return", "raise") for node in nodes):
        return ""
    known = {"self", *dir(builtins), *(parameter.arg for parameter in parameters(function))}
    known -= {name for node in nodes[1:] for name in sets(node)}
    times = Counter(name for node in nodes[1:] for name in _find_assigned(node))
    top = [node for node in nodes if node.parent == 0]
    called = [node for node in top if node.canon.startswith(f"super().{NAME}(")]
    plain = [node for node in top if uses(node) <= known and _is_plain(node, names, times)]
    plain = [node for node in plain if not find_refused_word(refused, node.canon)]
    if len(called) != 1 or not plain:
        return ""
    rows, kept = text.split("\n"), sorted([nodes[0], *called, *plain], key=lambda node: node.start)
    return "".join(f"{row}\n" for node in kept for row in rows[node.start - 1 : node.end])


def _is_plain(node: Node, names: Collection[str], times: Mapping[str, int]) -> bool:
    """Whether a statement assigns one of ``names`` in one line, the only time, and uses no other assigned attribute."""
    assigned = _find_assigned(node)
    if node.keyword or "\n" in node.canon or self_names(node.canon) & times.keys() - assigned:
        return False
    return any(name in names and times[name] == 1 for name in assigned)


def _find_assigned(node: Node) -> set[str]:
    """Return the attributes of ``self`` that a statement assigns; none for the head of a block."""
    return set() if node.compound or node.is_comment or node.is_clause else self_attributes_set(parse_unit(node.canon))
