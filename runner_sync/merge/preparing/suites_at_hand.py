"""Use a suite of omni's as its own base where it equals upstream's new suite apart from some conditions.

Comes in: a ``Triple``. Goes out: the triple with such suites of the base exchanged. May touch: nothing.

For a text that is no copy: it may have a statement that upstream reaches, or returns to, only now. Then the suite
around it lies between the two revisions, and the base's form is no base of omni's::

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
"""The canonical texts of a head and of all heads around it, innermost first."""

_Suite = tuple[Sequence[Node], range]
"""Nodes, and the indices of those in the suite, at any depth."""


def with_suites_at_hand(triple: Triple) -> Triple:
    """Put omni's suites into the base where upstream changed the base's suite and has all of omni's.

    Of nested suites the inner one is exchanged.
    """
    omni, base, upstream = (flatten(text) for text in (triple.omni, triple.base, triple.upstream))
    old, new = _find_suites(base), _find_suites(upstream)
    done = list[int]()
    for path, members in reversed([*_find_suites(omni).items()]):
        if path not in old or path not in new or any(head in members for head in done):
            continue
        if _is_at_hand((omni, members), (upstream, new[path]), before=(base, old[path])):
            text = _exchange(triple.base, (base, old[path]), triple.omni, (omni, members))
            triple, base = replace(triple, base=text), flatten(text)
            old = _find_suites(base)
            done.append(members[0])
    return triple


def _find_suites(nodes: Sequence[Node]) -> Mapping[_Path, range]:
    """Return the suites of a text by path, in the order of their heads.

    Skips paths that lead to several suites, and suites that a comment at another column cuts in two.
    """
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
    """Whether upstream's new suite has all of omni's statements in order and nesting, and otherwise only adds ``if``.

    Omni's suite must also have a statement that the suite ``before`` lacks.
    """
    omni_members, upstream_members, base_members = (_list_statements(suite) for suite in (omni, upstream, before))
    old_texts = {before[0][k].canon for k in base_members}
    if all(omni[0][k].canon in old_texts for k in omni_members):
        return False
    pairs = _match_in_order(omni[0], omni_members, upstream[0], upstream_members)
    more = [k for k in upstream_members if k not in pairs]
    if len(pairs) < len(omni_members) or not more or any(upstream[0][k].keyword != "if" for k in more):
        return False
    return all(
        pairs.get(_find_head(upstream[0], k, pairs), ROOT) == _find_head(omni[0], j, omni_members)
        for k, j in pairs.items()
    )


def _list_statements(suite: _Suite) -> list[int]:
    nodes, members = suite
    return [k for k in members if not nodes[k].is_comment]


def _match_in_order(
    omni: Sequence[Node], omni_members: Sequence[int], upstream: Sequence[Node], upstream_members: Sequence[int]
) -> dict[int, int]:
    """Match omni's statements in order to upstream's, greedily; returns omni's index by upstream's."""
    pairs, left = dict[int, int](), [*omni_members]
    for k in upstream_members:
        if left and upstream[k].canon == omni[left[0]].canon:
            pairs[k] = left.pop(0)
    return pairs


def _find_head(nodes: Sequence[Node], at: int, among: Collection[int]) -> int:
    """Return the innermost head around a node that is ``among`` the given ones."""
    return next((head for head in ancestors(nodes, at) if head in among), ROOT)


def _exchange(text: str, old: _Suite, other: str, new: _Suite) -> str:
    """Replace the lines of a suite of ``text`` by those of a suite of ``other``, at the old indentation."""
    (first, behind), (begin, stop) = _find_rows(old), _find_rows(new)
    lines, others = text.split("\n"), other.split("\n")
    by = len(indentation(lines[first])) - len(indentation(others[begin]))
    return "\n".join([*lines[:first], *indented(others, new[0], range(begin, stop), by=by), *lines[behind:]])


def _find_rows(suite: _Suite) -> tuple[int, int]:
    """Return the first line of a suite (0-based) and the line behind its last, without comments at either end."""
    nodes, _ = suite
    inside = _list_statements(suite)
    return nodes[inside[0]].start - 1, max(end(nodes, k) for k in inside)
