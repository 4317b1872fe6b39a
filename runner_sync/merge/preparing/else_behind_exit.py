"""Give upstream the base's form of what follows a branch that exits, where omni's branch does not exit.

Comes in: a ``Triple``. Goes out: the triple with another upstream text. May touch: nothing.

With and without the ``else``, upstream does the same. Omni's version of it does not: without the ``else``, omni would
do both, and under a new one, omni's next statements would be left outside::

    base    if not rows:                omni    if not rows:              upstream    if not rows:
                return EMPTY                        out = EMPTY                           return EMPTY
            else:                               else:                                 return self.run(rows)
                return self.run(rows)               out = self.run(rows)
                                                return self.pack(out)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from runner_sync.merge.matching.align import align
from runner_sync.merge.preparing.one_form import end, indented
from runner_sync.model import Triple
from runner_sync.statements import EXITS, INDENT, ROOT, Node, clauses, flatten, in_suite, siblings
from runner_sync.syntax import indentation


def with_else_as_in_base(triple: Triple) -> Triple:
    """Remove each such new ``else`` from upstream, and put back each that upstream removed."""
    while (text := _change_one(triple)) is not None:
        triple = Triple(triple.base, triple.omni, text)
    return triple


def _change_one(triple: Triple) -> str | None:
    """Return upstream's text with one ``if`` in the base's form; ``None`` if there is nothing to change."""
    base, upstream = flatten(triple.base), flatten(triple.upstream)
    before = {fork.head: fork for fork in _find_forks(base)}
    forms = {(base[fork.head].canon, fork.last > 0) for fork in before.values()}
    forks = [f for f in _find_forks(upstream) if (upstream[f.head].canon, f.last == 0) in forms]
    if not forks:
        return None
    omni = flatten(triple.omni)
    there = {pair.right: pair.left for pair in align(base, upstream)}
    in_omni = {pair.left: pair.right for pair in align(base, omni)}
    for fork in forks:
        old = before.get(there.get(fork.head, ROOT))
        if old is None or old.head not in in_omni or _exits(omni, in_omni[old.head]):
            continue
        if fork.last and not old.last and there.get(fork.rest[0]) == old.rest[0]:
            return _remove_else(triple.upstream, upstream, fork)
        if old.last and not fork.last and (rest := _find_rest(fork, old, there)):
            return _add_else(triple.upstream, upstream, fork, rest)
    return None


@dataclass(frozen=True, slots=True)
class _Fork:
    """An ``if`` all of whose branches exit, apart from its ``else`` (``last``, 0 for none), and the ``rest``.

    The rest are the statements under the ``else``, or those that follow the ``if``.
    """

    head: int
    last: int
    rest: Sequence[int]


def _find_forks(nodes: Sequence[Node]) -> Iterator[_Fork]:
    """Yield each ``if`` in one of the two forms, with a rest."""
    for k, node in enumerate(nodes):
        if node.keyword == "if" and node.compound and _exits(nodes, k):
            heads = (k, *clauses(nodes, k))
            last = heads[-1] if nodes[heads[-1]].canon == "else" else 0
            behind = [j for j in siblings(nodes, k, step=1) if j not in heads]
            rest = in_suite(nodes, last) if last else behind
            if rest and (not last or nodes[last].text == "else:"):
                yield _Fork(k, last, rest)


def _exits(nodes: Sequence[Node], head: int) -> bool:
    """Whether each branch of an ``if`` ends in an exit, apart from its ``else``."""
    suites = [in_suite(nodes, k) for k in (head, *clauses(nodes, head)) if nodes[k].canon != "else"]
    return all(suite and nodes[suite[-1]].keyword in EXITS for suite in suites)


def _find_rest(fork: _Fork, old: _Fork, there: Mapping[int, int]) -> Sequence[int]:
    """Return what follows upstream's ``if`` up to the last statement that stood under the ``else``; empty if unclear.

    It must begin with such a statement, and contain none that the base has at another place.
    """
    kept = [at for at, k in enumerate(fork.rest) if there.get(k) in old.rest]
    rest = fork.rest[: kept[-1] + 1] if kept and kept[0] == 0 else ()
    return rest if all(there.get(k, old.rest[0]) in old.rest for k in rest) else ()


def _remove_else(text: str, nodes: Sequence[Node], fork: _Fork) -> str:
    """Remove an ``else``, and outdent its suite."""
    lines, first, last = text.split("\n"), nodes[fork.last].start, end(nodes, fork.last)
    return "\n".join([*lines[: first - 1], *indented(lines, nodes, range(first, last), by=-INDENT), *lines[last:]])


def _add_else(text: str, nodes: Sequence[Node], fork: _Fork, rest: Sequence[int]) -> str:
    """Put an ``else`` behind an ``if``, and the ``rest`` of the suite under it."""
    lines, first, last = text.split("\n"), end(nodes, fork.head), end(nodes, rest[-1])
    head = f"{indentation(lines[nodes[fork.head].start - 1])}else:"
    return "\n".join([*lines[:first], head, *indented(lines, nodes, range(first, last)), *lines[last:]])
