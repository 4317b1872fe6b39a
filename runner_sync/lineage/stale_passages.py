"""Find passages of a derived unit that are older than the twin revision that the unit was last aligned with.

Comes in: revisions of one unit of the twin and the derived unit, in the same names. Goes out: the twin text that the
derived unit really follows. May touch: nothing.

People port one change and leave an earlier one out. The unit as a whole is then closest to the later revision, and
compared with that revision the old passage looks like a deliberate change. A passage is stale rather than the unit's
own if the unit has an earlier revision's words and none of the later ones::

    twin, older     rows = self.make(size)
    twin, later     width = self.width(); rows = self.make(width)
    unit            rows = self.make(size)                            follows the older one here

On NPU, ``__init__`` of vllm-omni 0.28.0rc1 has what the GPU runner gained for 0.28, and a buffer as it was up to 0.26.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from runner_sync.edits import margin
from runner_sync.lineage.likeness import list_nodes
from runner_sync.statements import Node


def as_followed(
    later: str, earlier: Sequence[str], *, npu: str, now: str, delivered: Collection[str] = frozenset()
) -> str:
    """Return ``later`` with each passage that ``npu`` still has in an older form put back into that form.

    ``earlier`` holds the previous revisions, oldest first. A passage stays as it is in ``later`` if the twin has the
    older form ``now``, or if all its statements are in ``delivered`` (canonical statements that the unit gets from
    elsewhere).
    """
    own = Counter(node.canon for node in list_nodes(npu))
    given = _Given(own, frozenset(node.canon for node in list_nodes(now)), delivered)
    for older in reversed(earlier):
        stale = [passage for passage in _iter_exchanged(older, later) if passage.is_followed_by(given)]
        for passage in sorted(stale, key=lambda one: -one.new[0].start):
            later = passage.put_back(later)
    return later


class _Given(NamedTuple):
    """Canonical statements: of the unit (with counts), of the present twin, and those that the unit gets from
    elsewhere."""

    own: Mapping[str, int]
    now: Collection[str]
    delivered: Collection[str]


@dataclass(frozen=True, slots=True)
class _Passage:
    """Adjacent simple statements and comments, or one suite head, of an older revision, with their later
    replacement."""

    old: Sequence[Node]
    new: Sequence[Node]

    def is_followed_by(self, given: _Given) -> bool:
        """Whether the unit has all of the old form and nothing of the new one."""
        was, became = ([node.canon for node in side if node.is_telling] for side in (self.old, self.new))
        return (
            bool(was and became)
            and all(given.own.get(canon) == 1 and canon not in given.now for canon in was)
            and not any(canon in given.own for canon in became)
            and not all(canon in given.delivered for canon in became)
        )

    def put_back(self, text: str) -> str:
        """Return ``text`` with the new form replaced by the old one."""
        lines = text.split("\n")
        first, last = self.new[0], self.new[-1]
        indent = margin(lines[first.start - 1])
        lines[first.start - 1 : last.end] = [row for node in self.old for row in node.indented(indent)]
        return "\n".join(lines)


def _iter_exchanged(older: str, later: str) -> Iterator[_Passage]:
    """Yield the passages that were replaced between the two texts, each within one suite."""
    old, new = list_nodes(older), list_nodes(later)
    matcher = SequenceMatcher(None, [node.canon for node in old], [node.canon for node in new], autojunk=False)
    for tag, i, i_end, j, j_end in matcher.get_opcodes():
        if tag == "replace":
            yield from _iter_passages(old[i:i_end], new[j:j_end])


def _iter_passages(old: Sequence[Node], new: Sequence[Node]) -> Iterator[_Passage]:
    """Yield one replaced run as a passage, and a changed condition at its end as a passage of its own."""
    if _is_condition_change(old[-1], new[-1]):
        yield _Passage(old[-1:], new[-1:])
        old, new = old[:-1], new[:-1]
    if _is_plain(old) and _is_plain(new):
        yield _Passage(old, new)


def _is_condition_change(old: Node, new: Node) -> bool:
    """Whether two suite heads have the same keyword and so differ only in their condition."""
    return old.keyword == new.keyword in ("if", "elif", "while") and not (old.one_line or new.one_line)


def _is_plain(nodes: Sequence[Node]) -> bool:
    """Whether nodes are simple statements and comments of one suite, each on its own lines."""
    is_simple = not any(node.compound or node.is_clause or node.one_line for node in nodes)
    return is_simple and len({node.parent for node in nodes}) == 1
