"""Carry upstream's change of a condition over to where omni has put a branch in front of it, or taken one away.

Comes in: a ``Triple``. Goes out: the same, with the new condition in omni's clause, and in the base, where it is no
change any more. May touch: nothing.

An ``if`` and an ``elif`` are no versions of one statement, because other clauses depend on which of them it is::

    base      if self.takes_rows:             omni    if self.has_own_rows:
                  run(rows)                               run(own)
    upstream  if self.takes_rows and rows:            elif self.takes_rows:
                  run(rows)                               run(rows)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from runner_sync.merge.matching.align import align
from runner_sync.model import Triple
from runner_sync.statements import Node, flatten
from runner_sync.syntax import indentation

_OTHER = {"if": "elif", "elif": "if"}


def with_conditions_in_other_branches(triple: Triple) -> Triple:
    """The triple with each changed condition of upstream's in omni's branch of the other keyword, if base, omni and
    upstream have the condition once."""
    base, omni, upstream = (flatten(text) for text in (triple.base, triple.omni, triple.upstream))
    found = list(_found(base, omni, upstream))
    if not found:
        return triple
    changed = {pair.left: pair.right for pair in align(base, upstream) if not pair.equal}
    old, mine = dict[int, Sequence[str]](), dict[int, Sequence[str]]()
    for i, j in found:
        new = upstream[changed[i]] if i in changed else None
        if new is not None and new.keyword == base[i].keyword and not new.one_line and not new.frozen:
            old[i] = new.lines
            mine[j] = [f"{omni[j].keyword}{new.lines[0].removeprefix(new.keyword)}", *new.lines[1:]]
    return replace(triple, base=_with_lines(triple.base, base, old), omni=_with_lines(triple.omni, omni, mine))


def _found(base: Sequence[Node], omni: Sequence[Node], upstream: Sequence[Node]) -> Iterator[tuple[int, int]]:
    """The conditions of the base that upstream lacks and that omni has under the other keyword, as indices of both."""
    places = {side: _once(nodes) for side, nodes in (("base", base), ("omni", omni))}
    there = {node.canon for node in upstream}
    for canon, i in places["base"].items():
        other = _OTHER[base[i].keyword] + canon.removeprefix(base[i].keyword)
        j = places["omni"].get(other)
        if j is not None and canon not in places["omni"] and canon not in there:
            yield i, j


def _once(nodes: Sequence[Node]) -> dict[str, int]:
    """The conditions on lines of their own that a text has once, by their text."""
    found: dict[str, list[int]] = {}
    for k, node in enumerate(nodes):
        if node.keyword in _OTHER:
            found.setdefault(node.canon, []).append(k)
    return {canon: at[0] for canon, at in found.items() if len(at) == 1 and not nodes[at[0]].one_line}


def _with_lines(text: str, nodes: Sequence[Node], lines: dict[int, Sequence[str]]) -> str:
    """The text with other lines for some nodes, at the indentation of the old ones."""
    rows = text.split("\n")
    for k in sorted(lines, reverse=True):
        first = nodes[k].start - 1
        margin = indentation(rows[first])
        rows[first : first + len(nodes[k].lines)] = [margin + line if line else line for line in lines[k]]
    return "\n".join(rows)
