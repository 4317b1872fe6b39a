"""Takes vLLM's own change out of the new text of a GPU unit, so that only omni's change is left.

Comes in: texts of one unit, all in NPU names. Goes out: the new GPU text rebased onto the old vLLM, and the statements
that only the twin can deliver to NPU. May touch: nothing.

The rebase is a merge backwards and must not invent anything. It keeps statements that the twin did not change. It also
keeps a statement that only the twin can deliver: NPU has the statement, vllm-ascend's method has nothing similar, and
the vLLM that NPU runs on has already made the change::

    vLLM, old and new   kwargs = self.kwargs()              kwargs = self.kwargs(rows=0)
    twin, old and new   kwargs = self.kwargs(); note()      kwargs = self.kwargs(rows=0); note(); keep()
    vllm-ascend         kwargs = {}                         NPU  kwargs = self.kwargs(); note()
    left                kwargs = self.kwargs(rows=0); note(); keep()
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from runner_sync import merge
from runner_sync.edits import margin, without_lines
from runner_sync.lineage import list_nodes
from runner_sync.model import Triple
from runner_sync.statements import ROOT, Node, UnparsableText, in_suite, parse_function, parses
from runner_sync.statements.likeness import similarity
from runner_sync.texts.member_text import canonical
from runner_sync.thresholds import SIMILAR


@dataclass(frozen=True, slots=True)
class NpuVersions:
    """The NPU method, vllm-ascend's versions of it, and the one of the vLLM that both run on.

    Without vllm-ascend's versions, all vLLM changes count as delivered by vllm-ascend.
    """

    text: str
    ascend: Sequence[str] = ()
    vllm: str = ""


@dataclass(frozen=True, slots=True)
class Rebased:
    """The GPU text without vLLM's change.

    ``only_here`` are the canonical statements, before and after, that only the twin delivers.
    """

    text: str
    only_here: frozenset[str] = field(default_factory=frozenset)


def undo_vllm_step(new: str, *, old: str, then: str, now: str, npu: NpuVersions) -> Rebased:
    """Undo vLLM's change from ``then`` to ``now`` in the twin's ``new`` text; ``old`` is the twin's old text.

    Does not bring back what vLLM dropped and neither text of the twin has: the twin was ahead of its vLLM.
    """
    text = merge_change(new, base=now, upstream=then)
    undone = [pair for pair in _find_edits(new, text) if not pair[0].is_comment]
    is_there = {*canonical(npu.vllm)}
    in_vllm = {after for before, after in _align_statements(now, new) if before.canon in is_there}
    owed = _find_owed(old, new, [pair for pair in undone if pair[0] in in_vllm], npu)
    same = {*canonical(old)}
    restored = _replace_statements(text, [pair for pair in undone if pair[0] in owed or pair[0].canon in same])
    if not parses(restored):
        return Rebased(text)
    restored = _drop_additions(restored, old, new)
    return Rebased(restored, frozenset(node.canon for pair in owed.items() for node in pair))


def find_calls_of_vllm(new: str, *, old: str, then: str, now: str, npu: NpuVersions) -> frozenset[str]:
    """Return the twin's calls that are vLLM's new ones with arguments of which no name is omni's.

    Skips functions that the NPU method or vllm-ascend's calls: there omni's arguments may matter::

        vLLM, new    plan = self.plan(rows, cascade=prefix is not None)
        twin, new    plan = self.plan(rows, cascade=False)
    """
    known = {node.made_by for text in (old, then) for node in list_nodes(text)}
    called = {node.facts.called for text in (npu.text, *npu.ascend) for node in list_nodes(text)}
    vllm_names = {node.made_by: node.names for node in list_nodes(now) if node.made_by not in known}
    return frozenset(
        node.canon
        for node in list_nodes(new)
        if node.facts.called
        and node.facts.called not in called
        and node.names <= vllm_names.get(node.made_by, frozenset())
    )


def drop_vllm_decorators(new: str, *, old: str, vllm: str, ascend: str) -> str:
    """Remove decorators that the twin's ``new`` text got from vLLM's method.

    Keeps decorators that ``old`` or vllm-ascend's method has: NPU's override takes its decorators from vllm-ascend.
    """
    function = parse_function(new)
    of_vllm, others = _list_decorators(vllm), {*_list_decorators(old), *_list_decorators(ascend)}
    if function is None or not (found := {*_list_decorators(new)} & {*of_vllm} - others):
        return new
    rows = {
        row
        for node in function.decorator_list
        if ast.unparse(node) in found
        for row in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return without_lines(new, rows)


def _list_decorators(text: str) -> list[str]:
    function = parse_function(text)
    return [ast.unparse(node) for node in function.decorator_list] if function is not None else []


def _find_owed(old: str, new: str, undone: Sequence[tuple[Node, Node]], npu: NpuVersions) -> dict[Node, Node]:
    """Map undone statements of the new twin that only the twin can deliver to their old form.

    NPU has the old twin's form at the same place, and vllm-ascend has nothing similar to either form.
    """
    if not npu.ascend:
        return {}
    before, npu_nodes = list_nodes(old), list_nodes(npu.text)
    here = {before[pair.left] for pair in merge.align(before, npu_nodes) if pair.equal}
    was = {after: node for node, after in _find_edits(old, new) if node in here}
    ascend_nodes = [node for text in npu.ascend for node in list_nodes(text)]
    return {
        node: was[node]
        for node, undone_to in undone
        if node in was and all(similarity(one, other) < SIMILAR for one in (node, undone_to) for other in ascend_nodes)
    }


def _find_edits(text: str, other: str) -> list[tuple[Node, Node]]:
    """Return the statements that both texts have in different forms."""
    return [(one, two) for one, two in _align_statements(text, other) if one.canon != two.canon]


def _align_statements(text: str, other: str) -> list[tuple[Node, Node]]:
    before, after = list_nodes(text), list_nodes(other)
    return [(before[pair.left], after[pair.right]) for pair in merge.align(before, after)]


def _replace_statements(text: str, pairs: Iterable[tuple[Node, Node]]) -> str:
    """Replace the second statement of each pair by the first; skips a head on one line with its suite."""
    lines = text.split("\n")
    plain = [pair for pair in pairs if not any(node.one_line for node in pair)]
    for node, held in sorted(plain, key=lambda pair: -pair[1].start):
        lines[held.start - 1 : held.end] = node.indented(margin(lines[held.start - 1]))
    return "\n".join(lines)


def _drop_additions(text: str, old: str, new: str) -> str:
    """Remove the statements without a counterpart in either text of the twin, unless a part of them has one.

    A statement of ``old`` is no counterpart if the form that ``new`` has of it stands elsewhere in the text. A head
    goes with its suite.
    """
    nodes = list_nodes(text)
    there, changed = dict(_align_statements(new, text)), dict(_align_statements(old, new))
    brought_back = {node for was, node in _align_statements(old, text) if changed.get(was) not in there}
    kept = brought_back.union(there.values())
    for index, node in reversed([*enumerate(nodes)]):
        suite = in_suite(nodes, index)
        if any(nodes[k] in kept for k in suite):
            kept.add(node)
        elif suite and node.parent != ROOT:
            kept.discard(node)
    rows = {row for node in nodes if node not in kept for row in range(node.start, node.end + 1)}
    left = without_lines(text, rows)
    return left if parses(left) else text


def merge_change(text: str, *, base: str, upstream: str, policy: merge.Policy = merge.PORT) -> str:
    """Merge the change from ``base`` to ``upstream`` into ``text``, or return ``text`` if the result does not parse."""
    return _merge_change(text, base, upstream, policy)


# Several stages undo the same step of vLLM.
@lru_cache(maxsize=64)
def _merge_change(text: str, base: str, upstream: str, policy: merge.Policy) -> str:
    try:
        result = merge.merge(Triple(base, text, upstream), policy=policy)
    except UnparsableText:
        return text
    return result.text if result.parses else text
