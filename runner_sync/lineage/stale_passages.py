"""Passages of a unit that are older than the revision of its twin that it was last aligned with.

Comes in: revisions of one unit of the twin, and the derived unit, in the same words. Goes out: the twin's text as the
derived unit follows it. May touch: nothing.

People take one change and leave an earlier one. The unit as a whole is then closest to the later revision, and beside
that the passage looks as if it had been changed on purpose. Where the unit has, word for word, what an earlier revision
had, and nothing of what the twin has for it since, it is not the unit's own::

    twin, older     rows = self.make(size)
    twin, later     width = self.width(); rows = self.make(width)
    unit            rows = self.make(size)                            follows the older one here

``__init__`` of vllm-omni 0.28.0rc1 has on NPU what the GPU runner gained for 0.28, and a buffer as it was up to 0.26.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from runner_sync.lineage.likeness import nodes_of
from runner_sync.statements import Node


def as_followed(
    later: str, earlier: Sequence[str], *, mine: str, now: str, delivered: Collection[str] = frozenset()
) -> str:
    """``later`` with each passage that it exchanged since one of ``earlier`` and that ``mine`` still has, as it was.

    ``earlier`` are the revisions before it, oldest first. What the twin has ``now`` in the older form, too, stays, and
    so does a passage of which all is ``delivered`` (canonical statements): the unit gets it from somebody else.
    """
    own = Counter(node.canon for node in nodes_of(mine))
    given = _Given(own, frozenset(node.canon for node in nodes_of(now)), delivered)
    for older in reversed(earlier):
        stale = [passage for passage in _exchanged(older, later) if passage.is_followed_by(given)]
        for passage in sorted(stale, key=lambda one: -one.new[0].start):
            later = passage.put_back(later)
    return later


class _Given(NamedTuple):
    """Statements: of the unit, with how often it has them, of the present twin, and those that others deliver."""

    own: Mapping[str, int]
    now: Collection[str]
    delivered: Collection[str]


@dataclass(frozen=True, slots=True)
class _Passage:
    """Neighbouring simple statements, and comments, of an older revision, and what the later one has instead; or the
    head of a suite for another one."""

    old: Sequence[Node]
    new: Sequence[Node]

    def is_followed_by(self, given: _Given) -> bool:
        """Whether the unit has the old form and nothing of the new one."""
        was, became = ([node.canon for node in side if node.is_telling] for side in (self.old, self.new))
        return (
            bool(was and became)
            and all(given.own.get(canon) == 1 and canon not in given.now for canon in was)
            and not any(canon in given.own for canon in became)
            and not all(canon in given.delivered for canon in became)
        )

    def put_back(self, text: str) -> str:
        """``text`` with the old form in place of the new one."""
        lines = text.split("\n")
        first, last = self.new[0], self.new[-1]
        at = first.start - 1
        margin = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        rows = [
            margin + row if row and k not in node.frozen else row
            for node in self.old
            for k, row in enumerate(node.lines)
        ]
        lines[at : last.start - 1 + len(last.lines)] = rows
        return "\n".join(lines)


def _exchanged(older: str, later: str) -> Iterator[_Passage]:
    """The passages that the ``later`` text has in other words, each in one suite."""
    old, new = nodes_of(older), nodes_of(later)
    matcher = SequenceMatcher(None, [node.canon for node in old], [node.canon for node in new], autojunk=False)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag == "replace":
            yield from _passages(old[i:i_end], new[j:j_end])


def _passages(old: Sequence[Node], new: Sequence[Node]) -> Iterator[_Passage]:
    """One passage for another; a condition at the end of both is one of its own."""
    if _is_condition_for_condition(old[-1], new[-1]):
        yield _Passage(old[-1:], new[-1:])
        old, new = old[:-1], new[:-1]
    if _is_plain(old) and _is_plain(new):
        yield _Passage(old, new)


def _is_condition_for_condition(old: Node, new: Node) -> bool:
    """Whether one head of a suite asks something else than the other."""
    return old.keyword == new.keyword in ("if", "elif", "while") and not (old.one_line or new.one_line)


def _is_plain(nodes: Sequence[Node]) -> bool:
    """Whether nodes are simple statements and comments of one suite, on lines of their own."""
    is_simple = not any(node.compound or node.is_clause or node.one_line for node in nodes)
    return is_simple and len({node.parent for node in nodes}) == 1
