"""A passage that upstream moved into a new method and that omni has edited: it stays where it is.

Comes in: texts of a method, as base, omni and upstream have it, and of its class. Goes out: upstream's text with such
passages as the base has them, and a question about each. May touch: nothing.

    base    pool = Pool(self.device)         upstream    self._init_pool()
            self.runner = Runner(pool)
    omni    pool = Pool(self.device)
            self.runner = self.runner_cls(pool)

The call does what the passage did. An ordinary merge would add it beside omni's edited passage, and both would run:
upstream's runner would be made as well as omni's. A passage that omni has not edited does go into the new method.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner_sync.compose.member_text import self_names
from runner_sync.confidence import CONTESTED
from runner_sync.lineage import FEWEST, nodes_of
from runner_sync.merge import align
from runner_sync.model import ReviewItem
from runner_sync.statements import ROOT, Node, below, parses
from runner_sync.statements.dataflow import binds
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_upstream.splitting import with_helpers
from runner_sync.upgrade.questions.reviews import Shown, review

MOVED = 0.5
"""Share of the telling statements of a passage that must be in the new method or in the new ones that it calls."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that upstream moved into the new method ``name``: ``text`` as the base has it, ``method`` the new
    method's text, ``canons`` the statements of the passage that stand nowhere else in the base."""

    name: str
    text: str
    method: str
    canons: frozenset[str]


def with_passages(
    base: str, omni: str, upstream: str, *, old: Mapping[str, str], new: Mapping[str, str]
) -> tuple[str, list[Passage]]:
    """``upstream`` with each call of a new method replaced by the passage of ``base`` that moved there, if omni edited
    that passage; and those passages.

    ``old`` and ``new`` are the methods of upstream's class before and after.
    """
    fresh = {name: text for name, text in new.items() if name not in old and name not in self_names(omni)}
    passages: list[Passage] = []
    for name in sorted(self_names(upstream) & fresh.keys()):
        made, passage = _with_passage(name, base, omni, upstream, fresh)
        if passage is not None and parses(made):
            upstream = made
            passages.append(passage)
    return upstream, passages


def question(passage: Passage, draft: Draft, text: str, path: str) -> ReviewItem:
    """The question about a passage that stays; ``text`` is the draft's text after the merge."""
    line, chosen = _where_it_stands(passage, text)
    sides = (passage.text, _where_it_stands(passage, draft.text)[1], passage.method, chosen)
    reason = (
        f"upstream moved this into a new method, {passage.name}, and omni has edited it: it stays here, and the method "
        "is not called"
    )
    shown = Shown(*(textwrap.dedent(side) for side in sides))
    return review(draft, path, reason=reason, confidence=CONTESTED, shown=shown, line=line)


def _where_it_stands(passage: Passage, text: str) -> tuple[int, str]:
    """First line of what ``text`` still has of a passage, and its text from there to the last one; ``(1, "")`` if
    none."""
    nodes = [node for node in nodes_of(text) if node.canon in passage.canons]
    if not nodes:
        return 1, ""
    first, last = nodes[0].start, max(_end(node) for node in nodes)
    return first, "\n".join(text.split("\n")[first - 1 : last])


def _with_passage(
    name: str, base: str, omni: str, upstream: str, fresh: Mapping[str, str]
) -> tuple[str, Passage | None]:
    """``upstream`` with the call of the new method ``name`` undone, and the passage; ``upstream`` and ``None`` if
    refused.

    Refused unless ``upstream`` calls it once, as a new statement, in the place of a passage of ``base`` alone, most of
    which is in that method; and unless omni still has a part of the passage, but not all of it unchanged.
    """
    left, right = nodes_of(base), nodes_of(upstream)
    calls = [k for k, node in enumerate(right) if (match := _CALL.match(node.canon)) and match[1] == name]
    partners = {pair.right: pair.left for pair in align(left, right)}
    if len(calls) != 1 or calls[0] in partners:
        return upstream, None
    gap, other = _gap(left, right, calls[0], partners)
    moved = Counter(left[k].canon for k in gap if left[k].is_telling)
    inside = Counter(node.canon for text in with_helpers(name, fresh) for node in nodes_of(text))
    if other or (moved & inside).total() < max(FEWEST, MOVED * moved.total()):
        return upstream, None
    kept = moved & Counter(node.canon for node in nodes_of(omni))
    is_set = binds(right[calls[0]]) <= {bound for k in gap for bound in binds(left[k])}
    if kept.total() < FEWEST or kept == moved or not is_set:
        return upstream, None
    rows = base.split("\n")[left[gap[0]].start - 1 : max(_end(left[k]) for k in gap)]
    canons = frozenset(moved) - {node.canon for k, node in enumerate(left) if k not in gap}
    lines, call = upstream.split("\n"), right[calls[0]]
    lines[call.start - 1 : _end(call)] = rows
    return "\n".join(lines), Passage(name, "\n".join(rows), fresh[name], canons)


def _gap(left: Sequence[Node], right: Sequence[Node], call: int, partners: Mapping[int, int]) -> tuple[list[int], bool]:
    """Base statements that a new call in ``right`` replaces, nested ones included, and whether more than the call
    changed.

    These are the unmatched ones between the matched neighbours of the call in its suite. The flag is true if there are
    none, if matched statements stand among them, or if upstream has other new statements there, too.
    """
    head = right[call].parent
    if head not in (ROOT, *partners):
        return [], True
    suite = [k for k, node in enumerate(right) if node.parent == head and not node.is_comment]
    at = suite.index(call)
    before = next((partners[k] for k in reversed(suite[:at]) if k in partners), ROOT)
    behind = next((partners[k] for k in suite[at:] if k in partners), len(left))
    parent = partners.get(head, ROOT)
    known = set(partners.values())
    tops = [k for k in range(before + 1, behind) if left[k].parent == parent and k not in known]
    gap = sorted({k for top in tops for k in below(left, top)})
    while gap and left[gap[-1]].is_comment:
        gap.pop()
    new = [k for k in suite if k not in partners and _is_between(k, suite, at, partners)]
    return gap, bool(known & set(gap)) or not gap or new != [call]


def _is_between(index: int, suite: Sequence[int], at: int, partners: Mapping[int, int]) -> bool:
    """Whether a statement and the one at position ``at`` have no matched statement between them in the suite."""
    first, last = sorted((suite.index(index), at))
    return not any(k in partners for k in suite[first : last + 1])


def _end(node: Node) -> int:
    return node.start + len(node.lines) - 1


_CALL = re.compile(r"(?:[\w., ]+ = )?self\.(\w+)\(.*\)$", re.DOTALL)
"""A statement that only calls a method of ``self`` and may assign the result."""
