"""Leave out a third party's statements, such as vLLM's in a GPU runner, which omni gets through vllm-ascend.

Comes in: a weave, and the canonical texts of foreign statements. Goes out: whether a strand is foreign; runs of foreign
additions are marked as left out. May touch: ``kept`` of the strands.
"""

from __future__ import annotations

from collections.abc import Sequence

from runner_sync.merge.keeping.settling import Settling
from runner_sync.merge.phrases.contents import Heritage
from runner_sync.merge.weave import Doubt, Strand, Weave
from runner_sync.statements import Node, said
from runner_sync.thresholds import DISTINCT


def leave_out_foreign(settling: Settling) -> None:
    """Leave out each run of consecutive additions that are all foreign.

    A mixed run comes in whole, because its other statements may depend on the foreign ones.
    """
    weave, foreign = settling.weave, settling.terms.foreign
    run: list[Strand] = []
    for strand in [*weave.of_upstream, Strand()]:
        if strand.sides == "u":
            run.append(strand)
            continue
        code = [node.canon for s in run if not (node := weave.upstream[s.in_upstream]).is_comment]
        if code and all(canon in foreign for canon in code):
            for member in run:
                member.kept = False
        run = []


def drop_foreign_doubts(settling: Settling) -> None:
    """Drop the doubts about foreign statements, unless a foreign one became another that omni may need too."""
    weave, foreign = settling.weave, settling.terms.foreign
    settling.doubts = [
        doubt
        for doubt in settling.doubts
        if _is_still_needed(weave, doubt, foreign) or not is_foreign(weave, doubt.strand, foreign)
    ]


def _is_still_needed(weave: Weave, doubt: Doubt, foreign: Heritage) -> bool:
    """Whether a doubt is about a statement that omni has in several branches, and upstream's form is not foreign."""
    is_repeated = doubt.reason.kind == "repeated statement changed"
    return is_repeated and weave.upstream[doubt.strand.in_upstream].canon not in foreign


def is_foreign(weave: Weave, strand: Strand, foreign: Heritage) -> bool:
    """Whether a statement is a third party's.

    A short statement (below ``DISTINCT``) is foreign only if all inside it is, because ``else`` and ``if
    self.is_pooling_model`` stand in many methods.
    """
    sides = ((weave.base, strand.base), (weave.upstream, strand.upstream))
    return any(_is_all_foreign(nodes, index, foreign) for nodes, index in sides if index is not None)


def _is_all_foreign(nodes: Sequence[Node], index: int, foreign: Heritage) -> bool:
    code = said(nodes, [index]) if nodes[index].weight < DISTINCT else (nodes[index].canon,)
    return bool(code) and all(canon in foreign for canon in code)
