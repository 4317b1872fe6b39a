"""Leave out an upstream block whose body omni has under a condition of its own, alone or with more.

Comes in: a weave that is being settled. Goes out: ``Doubt`` values; left-out strands are marked. May touch: ``kept`` of
the strands.

The pass runs only in a port. Statement by statement, a part of the block would come in, because omni has the rest of it
paired, and that part would do nothing::

    omni    if self.config.keeps_experts:      upstream    if self.has_experts:
                capturer = self.capturer                       capturer = self.capturer
                if capturer is not None:                       if capturer is not None:
                    capturer.finish()                              capturer.finish()
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from runner_sync.confidence import INFERRED
from runner_sync.merge.keeping.settling import Settling
from runner_sync.merge.matching.classify import is_one_strand
from runner_sync.merge.reason import Reason
from runner_sync.merge.weave import Doubt, Strand, Weave, strands_inside
from runner_sync.statements import Node, in_suite, said
from runner_sync.thresholds import FEWEST_AT_HAND


def leave_out_blocks_at_hand(settling: Settling) -> None:
    """Leave out each such block if it stands once on either side, in the same suite.

    Asks only if upstream's condition is new; otherwise omni already had its own condition instead.
    """
    weave = settling.weave
    blocks = _index_blocks(weave.upstream) if not settling.is_copy else {}
    sizes = {code: len(in_suite(weave.upstream, heads[0])) for code, heads in blocks.items()}
    runs = {size: _index_runs(weave.omni, size) for size in set(sizes.values())}
    for code, heads in blocks.items():
        others = runs[sizes[code]].get(code, [])
        if len(heads) != 1 or len(others) != 1:
            continue
        strand, own = weave.of_upstream[heads[0]], weave.of_omni[others[0]]
        if strand.omni is not None or own.upstream is not None or not _is_in_same_suite(weave, own, strand):
            continue
        out = [inside for inside in strands_inside(weave, strand, "u") if inside.omni is None]
        for inside in out:
            inside.kept = False
        settling.doubts = [doubt for doubt in settling.doubts if doubt.strand not in out]
        if strand.base is None:
            reason = Reason("block at hand", (weave.upstream[heads[0]].canon,))
            settling.doubts.append(Doubt(strand, reason, INFERRED, own, tuple(out)))


def _index_blocks(nodes: Sequence[Node]) -> Mapping[tuple[str, ...], list[int]]:
    """Return ``{all statements inside: heads}`` for suites with at least ``FEWEST_AT_HAND`` statements inside."""
    found = defaultdict[tuple[str, ...], list[int]](list)
    for head in _find_plain_ifs(nodes):
        code = said(nodes, in_suite(nodes, head))
        if len(code) >= FEWEST_AT_HAND:
            found[code].append(head)
    return found


def _find_plain_ifs(nodes: Sequence[Node]) -> list[int]:
    """Return each ``if`` that has no other branch."""
    forks = {node.owner for node in nodes if node.is_clause}
    return [k for k, node in enumerate(nodes) if node.keyword == "if" and node.compound and k not in forks]


def _index_runs(nodes: Sequence[Node], size: int) -> Mapping[tuple[str, ...], list[int]]:
    """Return ``{statements: heads}`` for each run of ``size`` statements in the suites of `_find_plain_ifs`."""
    found = defaultdict[tuple[str, ...], list[int]](list)
    for head in _find_plain_ifs(nodes):
        suite = in_suite(nodes, head)
        for code in {said(nodes, suite[k : k + size]) for k in range(len(suite) - size + 1)}:
            found[code].append(head)
    return found


def _is_in_same_suite(weave: Weave, own: Strand, strand: Strand) -> bool:
    """Whether omni's block stands in the same suite as upstream's, under another condition."""
    omni, upstream = weave.omni[own.in_omni], weave.upstream[strand.in_upstream]
    return omni.canon != upstream.canon and is_one_strand(weave, omni.parent, upstream.parent)
