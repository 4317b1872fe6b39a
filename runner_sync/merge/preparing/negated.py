"""Give all sides the same order of the two branches of a condition that one side negated.

Comes in: a ``Triple``. Goes out: the triple with base and omni, or upstream, in another form. May touch: nothing.

Branches are paired by their place, so otherwise an edit in a branch would end up in the other one::

    base    if not self.is_split:       omni    if not self.is_split:       upstream    if self.is_split:
                out = run(rows)                     out = run(rows, own)                    out = run_split(rows)
            else:                               else:                                   else:
                out = run_split(rows)               out = run_split(rows)                   out = run(rows)

Base and omni get upstream's form. Where omni has no such condition (but, for example, an ``elif``), upstream gets the
base's, so that omni's branches stay as they are. What omni itself negated gets omni's form.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from runner_sync.merge.preparing.forks import fork_at
from runner_sync.merge.preparing.one_form import end
from runner_sync.model import Triple
from runner_sync.statements import Node, below, clauses, flatten_sides
from runner_sync.statements.likeness import dice
from runner_sync.statements.negating import negate
from runner_sync.syntax import indentation


@dataclass(frozen=True, slots=True)
class _Fork:
    """An ``if`` with an ``else`` and no ``elif``, by its head and its ``else``, and what stands in each branch."""

    head: int
    last: int
    canon: str
    branches: tuple[Counter[str], Counter[str]]


def with_branches_in_one_order(triple: Triple) -> Triple:
    """Swap the branches of each such condition where it was negated, and negate it."""
    done = set[str]()
    while (made := _swap_one(triple, done)) is not None:
        triple = made
    return triple


def _swap_one(triple: Triple, done: set[str]) -> Triple | None:
    base, omni, upstream = flatten_sides(triple)
    for old in _find_forks(base):
        if old.canon in done:
            continue
        same_there, same_here = _list_same(old, upstream), _list_same(old, omni)
        in_upstream = _find_negated(old, upstream) if not same_there else None
        in_omni = _find_negated(old, omni) if not same_here else None
        if in_upstream is None and in_omni is None:
            continue
        done.add(old.canon)
        if in_upstream is not None and len(same_here) == 1:
            done.add(in_upstream.canon)
            own, head = same_here[0], upstream[in_upstream.head]
            return Triple(_swap(triple.base, base, old, head), _swap(triple.omni, omni, own, head), triple.upstream)
        if in_upstream is not None and in_omni is None and _has_branches(old, omni):
            return Triple(triple.base, triple.omni, _swap(triple.upstream, upstream, in_upstream, base[old.head]))
        if in_omni is not None and len(same_there) <= 1:
            changed, head = triple.upstream, omni[in_omni.head]
            for stays in same_there:
                changed = _swap(changed, upstream, stays, head)
            return Triple(_swap(triple.base, base, old, head), triple.omni, changed)
    return None


def _find_forks(nodes: Sequence[Node]) -> Iterator[_Fork]:
    """Yield each ``if`` with an ``else`` and no ``elif`` whose heads have lines of their own."""
    for k, node in enumerate(nodes):
        fork = fork_at(nodes, k) if node.keyword == "if" and node.compound and not node.is_clause else None
        if fork is None or len(fork.heads) != 2:
            continue
        head, last = fork.heads
        if nodes[last].text == "else:" and node.text.endswith(":"):
            first, second = fork.suites
            yield _Fork(head, last, node.canon, (_count(nodes, first), _count(nodes, second)))


def _count(nodes: Sequence[Node], suite: range) -> Counter[str]:
    """Return the multiset of the statements of a branch."""
    return Counter(nodes[k].canon for k in suite if not nodes[k].is_comment)


def _find_negated(old: _Fork, nodes: Sequence[Node]) -> _Fork | None:
    """Return the only condition that is the negation of an old one and has its branches in the other order."""
    opposite = _negate(old.canon)
    found = [one for one in _find_forks(nodes) if one.canon == opposite and _is_crossed(old, one)]
    return found[0] if len(found) == 1 else None


def _list_same(old: _Fork, nodes: Sequence[Node]) -> list[_Fork]:
    """Return the conditions that equal an old one and have their branches in the same order."""
    return [one for one in _find_forks(nodes) if one.canon == old.canon and not _is_crossed(old, one)]


def _has_branches(old: _Fork, nodes: Sequence[Node]) -> bool:
    """Whether there is a condition with branches of whose statements the old one has some."""
    inside = old.branches[0].keys() | old.branches[1].keys()
    heads = [k for k, node in enumerate(nodes) if node.keyword == "if" and node.compound and clauses(nodes, k)]
    return any(nodes[k].canon in inside for head in heads for k in below(nodes, head)[1:])


def _is_crossed(one: _Fork, other: _Fork) -> bool:
    (a, b), (c, d) = one.branches, other.branches
    return dice(a, d) + dice(b, c) > dice(a, c) + dice(b, d)


def _negate(head: str) -> str:
    """Return the canonical text of an ``if`` that is true where ``head`` is not; empty if ``head`` is no plain one."""
    match ast.parse(f"{head}:\n    pass").body:
        case [ast.If(test)]:
            return f"if {ast.unparse(negate(test))}"
        case _:
            return ""


def _swap(text: str, nodes: Sequence[Node], fork: _Fork, head: Node) -> str:
    """Exchange the branches of a condition, under another head."""
    lines = text.split("\n")
    start, other, last = nodes[fork.head].start - 1, nodes[fork.last].start - 1, end(nodes, fork.last)
    first = lines[start + len(nodes[fork.head].lines) : other]
    second = lines[other + len(nodes[fork.last].lines) : last]
    heads = head.indented(indentation(lines[start]))
    return "\n".join([*lines[:start], *heads, *second, *lines[other : other + 1], *first, *lines[last:]])
