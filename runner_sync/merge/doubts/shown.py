"""Build the text that a question shows for statements of one side.

Comes in: the nodes of a side and their strands. Goes out: text. May touch: nothing.
"""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Sequence

from runner_sync.merge.reason import Kind
from runner_sync.merge.weave import Doubt, Strand, Weave
from runner_sync.statements import INDENT, Node, ancestors, below, clauses, in_suite
from runner_sync.thresholds import LONGEST_SUITE


def is_shown_whole(nodes: Sequence[Node], strands: Sequence[Strand], index: int) -> bool:
    """Whether a question about a statement also shows its body and clauses.

    A block that one side alone has and of which nothing is kept is shown whole: its head alone would not show what
    went. A new upstream suite around old statements is not, because only its head is new.
    """
    whole = below(nodes, index)
    is_around = strands[index].sides == "u" and any(strands[k].sides != "u" for k in whole)
    return len(strands[index].sides) == 1 and not is_around and not any(strands[k].kept for k in whole)


AROUND_OTHERS: Collection[Kind] = frozenset({"suite around other statements", "suites that overlap"})
"""Reasons about a new upstream head around old statements, which means nothing without them."""


def is_explained_by_inside(weave: Weave, doubt: Doubt, shown: Collection[Strand]) -> bool:
    """Whether a question about a new upstream head has to show what the head is around.

    This holds for the reasons in `AROUND_OTHERS`. It also holds if everything inside the head, or inside one of its
    clauses, is old, left out, and not ``shown``, and the head is left out, too, or stays for another branch.
    """
    if doubt.reason.kind in AROUND_OTHERS:
        return True
    strand = doubt.strand
    if strand.sides != "u" or (strand.kept and doubt.reason.kind != "suite around nothing"):
        return False
    suites = [below(weave.upstream, strand.in_upstream)[1:]]
    suites += [in_suite(weave.upstream, clause) for clause in clauses(weave.upstream, strand.in_upstream)]
    insides = ([weave.of_upstream[k] for k in suite] for suite in suites if suite)
    return any(all(not s.kept and s.sides != "u" and s not in shown for s in inside) for inside in insides)


def show_together(
    nodes: Sequence[Node],
    strands: Sequence[Strand],
    indices: Sequence[int],
    *,
    whole: bool = False,
    around: Collection[int] = (),
) -> str:
    """Return the texts of some statements, indented relative to each other, each with its body if `is_shown_whole`.

    If they stand in different suites, the heads of these are shown too, so that conditional code does not read as
    unconditional. With ``whole``, everything inside is shown, kept or not. For the heads in ``around``, what they are
    around is shown, and for a clause the statement that owns it.
    """
    among: set[int] = set()
    cut: set[int] = set()
    for index in indices:
        among.update(below(nodes, index) if whole or is_shown_whole(nodes, strands, index) else [index])
    for index in around:
        if nodes[index].is_clause:
            among.add(nodes[index].owner)
        for head in (index, *clauses(nodes, index)):
            inside, incomplete = _choose_inside(nodes, head)
            among.update([head, *inside])
            cut |= incomplete
    ways = [[*ancestors(nodes, index)][::-1] for index in indices]
    shared = sum(len(set(step)) == 1 for step in zip(*ways, strict=False)) if len(ways) > 1 else 0
    heads = {head for way in ways if len(ways) > 1 for head in way[shared:]}
    among |= heads | {nodes[head].owner for head in heads if nodes[head].is_clause}
    cut |= _find_misleading_heads(nodes, among)
    gaps = _find_gaps(nodes, heads - cut, among)
    return "\n".join(
        _mark_gap(nodes, k, among, has_gap=k in gaps) + _show(nodes, k, among, is_cut=k in cut) for k in sorted(among)
    )


def find_lost_conditions(nodes: Sequence[Node], strands: Sequence[Strand], indices: Collection[int]) -> tuple[str, ...]:
    """Return the conditions around all of some statements that are not in the result, outermost first.

    They end at the innermost suite that omni has or that came in. An ``else`` brings the condition that it belongs to.
    ``show_together`` shows these heads only if the statements stand in different suites.
    """
    ways = [[*ancestors(nodes, index)][::-1] for index in sorted(indices)]
    around = [step[0] for step in zip(*ways, strict=False) if len(set(step)) == 1]
    found: list[str] = []
    for head in reversed(around):
        if strands[head].omni is not None or (strands[head].upstream is not None and strands[head].kept):
            break
        if nodes[head].is_condition:
            owner = [nodes[nodes[head].owner].text, INDENT * " " + "# …"] if nodes[head].is_clause else []
            found.append("\n".join([*owner, nodes[head].text]))
    return tuple(reversed(found))


def indent_under(heads: Sequence[str], text: str) -> str:
    """Return the text below some heads, outermost first; nothing if there is no text."""
    for head in reversed(heads if text else ()):
        text = f"{head}\n{textwrap.indent(text, INDENT * ' ')}"
    return text


def _find_gaps(nodes: Sequence[Node], heads: Collection[int], among: Collection[int]) -> set[int]:
    """Return the shown statements in the suites of ``heads`` that follow statements not shown.

    Without a sign, nothing would seem to stand between them and the one above.
    """
    found: set[int] = set()
    for head in heads:
        is_whole = True
        for k in in_suite(nodes, head):
            if k in among and not is_whole:
                found.add(k)
            is_whole = k in among
    return found


def _mark_gap(nodes: Sequence[Node], index: int, among: Collection[int], *, has_gap: bool) -> str:
    """Return the sign that statements above this one are not shown, else nothing."""
    return " " * (_count_heads(nodes, index, among) * INDENT) + "# …\n" if has_gap else ""


def _find_misleading_heads(nodes: Sequence[Node], among: Collection[int]) -> set[int]:
    """Return the heads with nothing shown inside and something behind, which would read as their body."""
    full = {head for k in among for head in ancestors(nodes, k)}
    return {k for k in among if nodes[k].compound and k not in full and k != max(among)}


def _show(nodes: Sequence[Node], index: int, among: Collection[int], *, is_cut: bool) -> str:
    """Return the text of one statement among others; ``is_cut`` if something is left out below it."""
    column = _count_heads(nodes, index, among) * INDENT
    more = (column + INDENT * nodes[index].compound) * " " + "# …"
    return "\n".join(nodes[index].indented(column * " ")) + (f"\n{more}" if is_cut else "")


def _choose_inside(nodes: Sequence[Node], head: int) -> tuple[list[int], set[int]]:
    """Return what to show of a head's suite, and the statements below which something is left out.

    A short suite is shown whole, a long one by its first and last statement.
    """
    tops = in_suite(nodes, head)
    inside = [k for top in tops for k in below(nodes, top)]
    if sum(len(nodes[k].lines) for k in inside) <= LONGEST_SUITE:
        return inside, set()
    ends = sorted({tops[0], tops[-1]})
    return ends, {k for k in ends if k + 1 in inside and k + 1 not in ends}


def _count_heads(nodes: Sequence[Node], index: int, among: Collection[int]) -> int:
    return sum(head in among for head in ancestors(nodes, index))
