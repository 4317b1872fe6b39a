"""Three texts of one unit → the merged text, with every doubtful decision named.

Comes in: a ``Triple``. Goes out: ``Merged``. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from runner_sync.merge.emit import Emitted, emit, prune
from runner_sync.merge.resolve import Content, Doubt, Policy, any_node, content, settle_presence
from runner_sync.statements import UnparsableText, flatten
from runner_sync.merge.weave import Strand, Weave, classify, order, parents
from runner_sync.model import Triple


@dataclass(frozen=True, slots=True)
class Decision:
    """A doubtful decision of a merge, in lines of the merged text, with the three sides and what was taken."""

    line: int
    end_line: int
    reason: str
    confidence: float
    base: str
    omni: str
    upstream: str
    chosen: str


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged text of a unit. ``provenance[k]`` says whose line ``k + 1`` is: ``"o"``, ``"u"`` or ``"ou"`` …"""

    text: str
    decisions: tuple[Decision, ...] = ()
    provenance: tuple[str, ...] = ()
    parses: bool = True


def merge(triple: Triple, *, policy: Policy | None = None, heritage: Collection[str] = frozenset()) -> Merged:
    """Merge one unit. Raises ``UnparsableText`` when a side is no Python."""
    policy = policy or Policy()
    if triple.upstream in (triple.base, triple.omni):
        return Merged(triple.omni)
    if triple.base == triple.omni:
        return Merged(triple.upstream)
    weave = classify(flatten(triple.base), flatten(triple.omni), flatten(triple.upstream))
    strands = order(weave)
    doubts = settle_presence(weave, strands, policy, heritage)
    parents(weave, strands)
    kept = prune(weave, strands)
    contents: dict[int, Content] = {}
    for strand in kept:
        contents[id(strand)], reason = content(weave, strand, policy, heritage)
        if reason:
            doubts.append(Doubt(strand, reason, 0.5))
    emitted = emit(weave, kept, contents, indent=_indent(triple.omni or triple.upstream))
    text = emitted.text if triple.omni.endswith("\n") or not triple.omni else emitted.text[:-1]
    return Merged(
        text,
        tuple(_decision(weave, doubt, emitted, kept, contents) for doubt in doubts),
        (),
        _parses(text),
    )


def _indent(text: str) -> int:
    first = next((line for line in text.split("\n") if line.strip()), "")
    return len(first) - len(first.lstrip())


def _parses(text: str) -> bool:
    try:
        ast.parse("class _:\n" + text if text[:1] == " " else text)
    except SyntaxError:
        return False
    return True


def _decision(
    weave: Weave, doubt: Doubt, emitted: Emitted, kept: Sequence[Strand], contents: dict[int, Content]
) -> Decision:
    strand = doubt.strand
    first, last = emitted.place.get(id(strand), (0, 0))
    sides = [
        nodes[index].text if index is not None else ""
        for nodes, index in (
            (weave.base, strand.base),
            (weave.omni, strand.omni),
            (weave.upstream, strand.upstream),
        )
    ]
    chosen = "\n".join(contents[id(strand)].lines) if id(strand) in contents else ""
    return Decision(first, last, doubt.reason, doubt.confidence, sides[0], sides[1], sides[2], chosen)


__all__ = ["Decision", "Merged", "Policy", "UnparsableText", "any_node", "flatten", "merge"]
