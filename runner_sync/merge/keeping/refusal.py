"""Leave out upstream statements that must not come in, and what depends on them.

Comes in: a weave that is being settled, with a ``Veto``. Goes out: ``Doubt`` values; left-out strands are marked. May
touch: ``kept`` of the strands.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from runner_sync.confidence import DERIVED
from runner_sync.merge.keeping.settling import Settling
from runner_sync.merge.reason import Kind, Reason, Veto
from runner_sync.merge.weave import Doubt, Strand, split_into_runs
from runner_sync.statements import Node
from runner_sync.statements.dataflow import binds, reads


def refuse(settling: Settling) -> None:
    """Leave out what the veto refuses, all inside it, and what reads a local set only there.

    In a run of strands with a refused one, upstream's deletions are not made either, because they belong to that
    change. The doubt about a changed statement that omni lacks gets the reason why the change could not come in anyway,
    if it uses such a local. What reads a parameter stays if only a block that was taken out of the copy sets it anew.
    """
    weave, strands, veto = settling.weave, settling.strands, settling.terms.veto
    if veto is None:
        return
    refused: set[Strand] = set()
    set_here = {name for node in weave.omni for name in _find_set_locals(node)}
    head = next((node for node in weave.omni if node.defines), None)
    parameters = binds(head) if head is not None else frozenset[str]()
    lost: set[str] = set()
    taken_out: set[Strand] = set()
    for strand in strands:
        if strand.sides == "bu" and not strand.kept:
            _sharpen_reason(settling, strand, veto, lost)
        if strand.upstream is None or strand.omni is not None or not strand.kept:
            continue
        node = weave.upstream[strand.upstream]
        above = weave.of_upstream[node.parent] if node.parent >= 0 else None
        inside = above is not None and above in refused
        reason = None if node.is_comment else veto(node.canon) or _find_dependency(node, lost)
        if reason or inside:
            strand.kept = False
            refused.add(strand)
            if above in taken_out or (reason is not None and reason.kind == "taken out of the copy"):
                taken_out.add(strand)
            lost |= _find_set_locals(node) - set_here - (parameters if strand in taken_out else frozenset())
            if reason and not inside:
                settling.doubts.append(Doubt(strand, reason, DERIVED))
    _keep_what_they_replace(strands, refused)


def _keep_what_they_replace(strands: Sequence[Strand], refused: Collection[Strand]) -> None:
    """Keep omni's statements in each run of strands with a refused one."""
    for run in split_into_runs(strands):
        if any(strand in refused for strand in run):
            for strand in run:
                strand.kept = strand.kept or strand.omni is not None


def _sharpen_reason(settling: Settling, strand: Strand, veto: Veto, lost: AbstractSet[str]) -> None:
    """Say in the doubt about a changed statement that the change could not come in: it newly reads a missing local."""
    weave = settling.weave
    now, was = weave.upstream[strand.in_upstream], weave.base[strand.in_base]
    reason = veto(now.canon) or _find_dependency(now, lost - reads(was))
    if reason is None or reason.kind not in ABOUT_LOCALS or not reads(now).issuperset(reason.names):
        return
    if not reads(was).isdisjoint(reason.names):
        return
    settling.doubts = [
        replace(doubt, reason=reason, confidence=DERIVED)
        if doubt.strand is strand and doubt.reason.kind in ("removed statement changed", "renamed statement changed")
        else doubt
        for doubt in settling.doubts
    ]


ABOUT_LOCALS: Collection[Kind] = ("reads what nothing sets", "reads what was left out", "half of a feature")
"""Reasons to leave out a statement because of a local that it reads."""


def _find_dependency(node: Node, lost: Collection[str]) -> Reason | None:
    """Return the reason to leave out a statement that reads a ``lost`` name, else ``None``."""
    names = sorted(reads(node) & set(lost))
    return Reason("reads what was left out", (names[0],)) if names else None


def _find_set_locals(node: Node) -> frozenset[str]:
    """Return the locals that a statement sets for those below it; a function sets its name, not its parameters."""
    return frozenset({node.defines}) if node.defines else binds(node)
