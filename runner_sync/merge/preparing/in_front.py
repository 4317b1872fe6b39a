"""Carry upstream's change of a condition to the clause where omni put a branch in front of it or removed one.

Comes in: a ``Triple``. Goes out: the triple with the new condition in omni's clause and in the base, where it no longer
counts as a change. May touch: nothing.

An ``if`` and an ``elif`` are not versions of one statement, because other clauses depend on the keyword::

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
    """Put each condition that upstream changed into omni's clause of the other keyword.

    Base and omni must each have the condition exactly once.
    """
    base, omni, upstream = (flatten(text) for text in (triple.base, triple.omni, triple.upstream))
    found = list(_find_conditions(base, omni, upstream))
    if not found:
        return triple
    changed = {pair.left: pair.right for pair in align(base, upstream) if not pair.equal}
    old, mine = dict[int, Sequence[str]](), dict[int, Sequence[str]]()
    for i, j in found:
        new = upstream[changed[i]] if i in changed else None
        if new is not None and new.keyword == base[i].keyword and not new.one_line and not new.frozen:
            old[i] = new.lines
            mine[j] = [f"{omni[j].keyword}{new.lines[0].removeprefix(new.keyword)}", *new.lines[1:]]
    return replace(triple, base=_replace_lines(triple.base, base, old), omni=_replace_lines(triple.omni, omni, mine))


def _find_conditions(base: Sequence[Node], omni: Sequence[Node], upstream: Sequence[Node]) -> Iterator[tuple[int, int]]:
    """Yield the base conditions that upstream lacks and omni has under the other keyword, as indices of both."""
    places = {side: _find_unique_conditions(nodes) for side, nodes in (("base", base), ("omni", omni))}
    upstream_texts = {node.canon for node in upstream}
    for canon, i in places["base"].items():
        other = _OTHER[base[i].keyword] + canon.removeprefix(base[i].keyword)
        j = places["omni"].get(other)
        if j is not None and canon not in places["omni"] and canon not in upstream_texts:
            yield i, j


def _find_unique_conditions(nodes: Sequence[Node]) -> dict[str, int]:
    """Return the conditions that occur once in a text, by text; skips those with their suite on the same line."""
    found: dict[str, list[int]] = {}
    for k, node in enumerate(nodes):
        if node.keyword in _OTHER:
            found.setdefault(node.canon, []).append(k)
    return {canon: at[0] for canon, at in found.items() if len(at) == 1 and not nodes[at[0]].one_line}


def _replace_lines(text: str, nodes: Sequence[Node], lines: dict[int, Sequence[str]]) -> str:
    """Replace the lines of some nodes in a text, at the indentation of the old lines."""
    rows = text.split("\n")
    for k in sorted(lines, reverse=True):
        first = nodes[k].start - 1
        margin = indentation(rows[first])
        rows[first : first + len(nodes[k].lines)] = [margin + line if line else line for line in lines[k]]
    return "\n".join(rows)
