"""vLLM's own step, taken out of the new text of a GPU unit, so that omni's change is left.

Comes in: texts of one unit, all in NPU words. Goes out: the new GPU text as it would read on the old vLLM, and the
statements that NPU gets from nobody else. May touch: nothing.

It is a merge backwards, and must not invent anything. It leaves alone what the twin did not change, and what only the
twin can give to NPU, because NPU has the statement, vllm-ascend's method has nothing like it, and the vLLM that NPU
runs on has made that change::

    vLLM, old and new   kwargs = self.kwargs()              kwargs = self.kwargs(rows=0)
    twin, old and new   kwargs = self.kwargs(); note()      kwargs = self.kwargs(rows=0); note(); keep()
    vllm-ascend         kwargs = {}                         NPU  kwargs = self.kwargs(); note()
    left                kwargs = self.kwargs(rows=0); note(); keep()
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from runner_sync import merge
from runner_sync.compose.member_text import canonical
from runner_sync.lineage import nodes_of
from runner_sync.model import Triple
from runner_sync.statements import Node, UnparsableText, parse_function, parses
from runner_sync.statements.likeness import similarity


@dataclass(frozen=True, slots=True)
class OnNpu:
    """The NPU method, vllm-ascend's methods of that name, and the one of the vLLM that both run on; with none of these,
    all that vLLM changes counts as delivered by vllm-ascend."""

    text: str
    ascend: Sequence[str] = ()
    vllm: str = ""


@dataclass(frozen=True, slots=True)
class Undone:
    """A GPU text without vLLM's step, and the canonical statements, before and after, that only the twin gives."""

    text: str
    only_here: frozenset[str] = field(default_factory=frozenset)


def without_step(new: str, *, old: str, then: str, now: str, npu: OnNpu) -> Undone:
    """The twin's ``new`` text without vLLM's step from ``then`` to ``now``; ``old`` is the twin's old text."""
    text = with_change(new, base=now, upstream=then)
    undone = [pair for pair in _edits(new, text) if not pair[0].is_comment]
    is_there = {*canonical(npu.vllm)}
    theirs = {after for before, after in _pairs(now, new) if before.canon in is_there}
    owed = _owed(old, new, [pair for pair in undone if pair[0] in theirs], npu)
    same = {*canonical(old)}
    restored = _with_texts(text, [pair for pair in undone if pair[0] in owed or pair[0].canon in same])
    if not parses(restored):
        return Undone(text)
    return Undone(restored, frozenset(node.canon for pair in owed.items() for node in pair))


def without_decorators(new: str, *, old: str, vllm: str, ascend: str) -> str:
    """The twin's ``new`` text without the decorators that it got from vLLM's method (``old`` has them not), where
    vllm-ascend's own method does without: NPU's override of that takes these from vllm-ascend, whatever else it takes
    from the twin."""
    function = parse_function(new)
    theirs, others = _decorators(vllm), {*_decorators(old), *_decorators(ascend)}
    if function is None or not (found := {*_decorators(new)} & {*theirs} - others):
        return new
    rows = {
        row
        for node in function.decorator_list
        if ast.unparse(node) in found
        for row in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return "\n".join(line for row, line in enumerate(new.split("\n"), 1) if row not in rows)


def _decorators(text: str) -> list[str]:
    function = parse_function(text)
    return [ast.unparse(node) for node in function.decorator_list] if function is not None else []


def _owed(old: str, new: str, undone: Sequence[tuple[Node, Node]], npu: OnNpu) -> dict[Node, Node]:
    """Of the ``undone`` statements of the new twin those that NPU has as the old twin had them, at the same place,
    while vllm-ascend has nothing like either form; each with its old form."""
    if not npu.ascend:
        return {}
    before, mine = nodes_of(old), nodes_of(npu.text)
    here = {before[pair.left] for pair in merge.align(before, mine) if pair.equal}
    was = {after: node for node, after in _edits(old, new) if node in here}
    theirs = [node for text in npu.ascend for node in nodes_of(text)]
    return {
        node: was[node]
        for node, undone_to in undone
        if node in was and all(similarity(one, other) < merge.SIMILAR for one in (node, undone_to) for other in theirs)
    }


def _edits(text: str, other: str) -> list[tuple[Node, Node]]:
    """The statements that both texts have in different forms."""
    return [(one, two) for one, two in _pairs(text, other) if one.canon != two.canon]


def _pairs(text: str, other: str) -> list[tuple[Node, Node]]:
    mine, theirs = nodes_of(text), nodes_of(other)
    return [(mine[pair.left], theirs[pair.right]) for pair in merge.align(mine, theirs)]


def _with_texts(text: str, pairs: Iterable[tuple[Node, Node]]) -> str:
    """``text`` with the second statement of each pair in the form of the first; heads on one line with their suite
    stay."""
    lines = text.split("\n")
    plain = [pair for pair in pairs if not any(node.one_line for node in pair)]
    for node, held in sorted(plain, key=lambda pair: -pair[1].start):
        first = lines[held.start - 1]
        margin = first[: len(first) - len(first.lstrip())]
        rows = [row if k in node.frozen or not row else margin + row for k, row in enumerate(node.lines)]
        lines[held.start - 1 : held.start - 1 + len(held.lines)] = rows
    return "\n".join(lines)


def with_change(text: str, *, base: str, upstream: str, policy: merge.Policy = merge.PORT) -> str:
    """``text`` with the change from ``base`` to ``upstream`` merged in; unchanged if that cannot be parsed."""
    try:
        result = merge.merge(Triple(base, text, upstream), policy=policy)
    except UnparsableText:
        return text
    return result.text if result.parses else text
