"""Take a suite of omni's for its own base, where it is upstream's new suite but for some conditions.

Comes in: a ``Triple``. Goes out: the same, with such suites of the base exchanged. May touch: nothing.

Only for a text that is no copy of upstream's. It may have a statement that upstream only now comes (back) to,
and then the suite around it stands between the two revisions; the base's form of it is no base of omni's::

    base    if at < len(rows):          omni    row = rows[at] if at < len(rows) else rows[0]
                row = rows[at]                  out.append(row)
                if row is not None:     upstream
                    out.append(row)             row = rows[at] if at < len(rows) else rows[0]
                                                if row is not None:
                                                    out.append(row)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from runner_sync.merge.preparing.one_form import end, indented
from runner_sync.model import Triple
from runner_sync.statements import ROOT, Node, ancestors, enclosing, flatten
from runner_sync.syntax import indentation

_Path = tuple[str, ...]
"""The canonical texts of a head and of all around it, the innermost first."""

_Suite = tuple[Sequence[Node], range]
"""Nodes, and which of them are in the suite, at any depth."""


def with_suites_at_hand(triple: Triple) -> Triple:
    """The triple with suites of omni's in the base, where upstream has changed the base's and has all of omni's.

    Of suites inside each other the inner one is exchanged.
    """
    omni, base, upstream = (flatten(text) for text in (triple.omni, triple.base, triple.upstream))
    old, new = _suites(base), _suites(upstream)
    done = list[int]()
    for path, mine in reversed([*_suites(omni).items()]):
        if path not in old or path not in new or any(head in mine for head in done):
            continue
        if _is_at_hand((omni, mine), (upstream, new[path]), before=(base, old[path])):
            text = _exchanged(triple.base, (base, old[path]), triple.omni, (omni, mine))
            triple, base = replace(triple, base=text), flatten(text)
            old = _suites(base)
            done.append(mine[0])
    return triple


def _suites(nodes: Sequence[Node]) -> Mapping[_Path, range]:
    """The suites of a text that one path leads to, in the order of their heads; without those that a comment at another
    column cuts in two."""
    found, twice, inside = dict[_Path, range](), set[_Path](), dict[int, list[int]]()
    for k in range(len(nodes)):
        for head in ancestors(nodes, k):
            inside.setdefault(head, []).append(k)
    for head, members in sorted(inside.items()):
        path = tuple(nodes[k].canon for k in (head, *enclosing(nodes, head)))
        twice |= {path} & found.keys()
        if len(members) == members[-1] - members[0] + 1:
            found[path] = range(members[0], members[-1] + 1)
    return {path: run for path, run in found.items() if path not in twice}


def _is_at_hand(omni: _Suite, upstream: _Suite, *, before: _Suite) -> bool:
    """Whether upstream's new suite has all of omni's in the same order and nesting and, besides, only ``if``s around
    some of it; and omni's has something that the suite ``before`` had not."""
    mine, theirs, old = (_statements(suite) for suite in (omni, upstream, before))
    said = {before[0][k].canon for k in old}
    if all(omni[0][k].canon in said for k in mine):
        return False
    pairs = _in_order(omni[0], mine, upstream[0], theirs)
    more = [k for k in theirs if k not in pairs]
    if len(pairs) < len(mine) or not more or any(upstream[0][k].keyword != "if" for k in more):
        return False
    return all(pairs.get(_head(upstream[0], k, pairs), ROOT) == _head(omni[0], j, mine) for k, j in pairs.items())


def _statements(suite: _Suite) -> list[int]:
    nodes, members = suite
    return [k for k in members if not nodes[k].is_comment]


def _in_order(
    omni: Sequence[Node], mine: Sequence[int], upstream: Sequence[Node], theirs: Sequence[int]
) -> dict[int, int]:
    """The statements of omni's suite in upstream's, by index there: each the first behind the one before."""
    pairs, left = dict[int, int](), [*mine]
    for k in theirs:
        if left and upstream[k].canon == omni[left[0]].canon:
            pairs[k] = left.pop(0)
    return pairs


def _head(nodes: Sequence[Node], at: int, among: Collection[int]) -> int:
    """The innermost head around a node that is ``among`` the given ones."""
    return next((head for head in ancestors(nodes, at) if head in among), ROOT)


def _exchanged(text: str, old: _Suite, other: str, new: _Suite) -> str:
    """``text`` with the lines of a suite replaced by those of a suite of ``other``, at the indentation of the first."""
    (first, behind), (begin, stop) = _rows(old), _rows(new)
    lines, others = text.split("\n"), other.split("\n")
    by = len(indentation(lines[first])) - len(indentation(others[begin]))
    return "\n".join([*lines[:first], *indented(others, new[0], range(begin, stop), by=by), *lines[behind:]])


def _rows(suite: _Suite) -> tuple[int, int]:
    """The first line of a suite, from 0, and the one behind its last; without comments around its statements."""
    nodes, _ = suite
    inside = _statements(suite)
    return nodes[inside[0]].start - 1, max(end(nodes, k) for k in inside)
