"""Keeps a passage in place that upstream moved into a new method and that omni has edited.

Comes in: texts of a method, as base, omni and upstream have it, and of its class. Goes out: upstream's text with such
passages as in the base, and a question about each. May touch: nothing.

    base    pool = Pool(self.device)         upstream    self._init_pool()
            self.runner = Runner(pool)
    omni    pool = Pool(self.device)
            self.runner = self.runner_cls(pool)

The call replaces the passage. An ordinary merge would add the call beside omni's edited passage, and both would run and
make a runner each. A passage that omni has not edited does move into the new method.
"""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runner_sync.confidence import CONTESTED
from runner_sync.lineage import FEWEST, list_nodes
from runner_sync.merge import align
from runner_sync.model import ReviewItem
from runner_sync.statements import ROOT, Node, below, parses
from runner_sync.statements.dataflow import binds
from runner_sync.texts.member_text import self_names
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_upstream.splitting import collect_with_helpers
from runner_sync.upgrade.questions.reviews import Shown, make_review

MOVED = 0.5
"""Share of a passage's telling statements that must be in the new method or in new methods that it calls."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage that upstream moved into the new method ``name``.

    ``text`` is the passage in the base, ``method`` the new method's text. ``canons`` are the statements of the passage
    that stand nowhere else in the base.
    """

    name: str
    text: str
    method: str
    canons: frozenset[str]


def restore_passages(
    base: str, omni: str, upstream: str, *, old: Mapping[str, str], new: Mapping[str, str]
) -> tuple[str, list[Passage]]:
    """Replace each call of a new method in ``upstream`` by the base passage that moved there, if omni edited it.

    Returns the new text and the passages. ``old`` and ``new`` are the methods of upstream's class before and after.
    """
    new_methods = {name: text for name, text in new.items() if name not in old and name not in self_names(omni)}
    passages: list[Passage] = []
    for name in sorted(self_names(upstream) & new_methods.keys()):
        restored, passage = _restore_passage(name, base, omni, upstream, new_methods)
        if passage is not None and parses(restored):
            upstream = restored
            passages.append(passage)
    return upstream, passages


def ask_about_passage(passage: Passage, draft: Draft, text: str, path: str) -> ReviewItem:
    """Return the question about a passage that stays; ``text`` is the draft's text after the merge."""
    line, chosen = _find_passage(passage, text)
    sides = (passage.text, _find_passage(passage, draft.text)[1], passage.method, chosen)
    reason = (
        f"upstream moved this passage into the new method {passage.name}; omni's edited passage stays here, and "
        f"{passage.name} is not called"
    )
    shown = Shown(*(textwrap.dedent(side) for side in sides))
    return make_review(draft, path, reason=reason, confidence=CONTESTED, shown=shown, line=line)


def _find_passage(passage: Passage, text: str) -> tuple[int, str]:
    """Return the first line and the text of what ``text`` still has of a passage; ``(1, "")`` if nothing."""
    nodes = [node for node in list_nodes(text) if node.canon in passage.canons]
    if not nodes:
        return 1, ""
    first, last = nodes[0].start, max(_find_last_line(node) for node in nodes)
    return first, "\n".join(text.split("\n")[first - 1 : last])


def _restore_passage(
    name: str, base: str, omni: str, upstream: str, new_methods: Mapping[str, str]
) -> tuple[str, Passage | None]:
    """Undo the call of the new method ``name``; return upstream's text and the passage, ``None`` if refused.

    Refuses unless ``upstream`` calls the method once, as a new statement, in place of a base passage and nothing else,
    and the method has most of that passage. Refuses unless omni still has a part of the passage, but not all of it
    unchanged.
    """
    left, right = list_nodes(base), list_nodes(upstream)
    calls = [k for k, node in enumerate(right) if (match := _CALL.match(node.canon)) and match[1] == name]
    partners = {pair.right: pair.left for pair in align(left, right)}
    if len(calls) != 1 or calls[0] in partners:
        return upstream, None
    gap, has_other_changes = _find_gap(left, right, calls[0], partners)
    moved = Counter(left[k].canon for k in gap if left[k].is_telling)
    inside = Counter(node.canon for text in collect_with_helpers(name, new_methods) for node in list_nodes(text))
    if has_other_changes or (moved & inside).total() < max(FEWEST, MOVED * moved.total()):
        return upstream, None
    kept = moved & Counter(node.canon for node in list_nodes(omni))
    is_set = binds(right[calls[0]]) <= {bound for k in gap for bound in binds(left[k])}
    if kept.total() < FEWEST or kept == moved or not is_set:
        return upstream, None
    base_lines = base.split("\n")[left[gap[0]].start - 1 : max(_find_last_line(left[k]) for k in gap)]
    canons = frozenset(moved) - {node.canon for k, node in enumerate(left) if k not in gap}
    lines, call = upstream.split("\n"), right[calls[0]]
    lines[call.start - 1 : _find_last_line(call)] = base_lines
    return "\n".join(lines), Passage(name, "\n".join(base_lines), new_methods[name], canons)


def _find_gap(
    left: Sequence[Node], right: Sequence[Node], call: int, partners: Mapping[int, int]
) -> tuple[list[int], bool]:
    """Return the base statements that a new call in ``right`` replaces, nested ones included, and whether more changed.

    These are the unmatched statements between the matched neighbours of the call in its suite. The flag is true if
    there are none, if matched statements stand among them, or if upstream has other new statements there.
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
    """Whether no matched statement of the suite stands between a statement and the one at position ``at``."""
    first, last = sorted((suite.index(index), at))
    return not any(k in partners for k in suite[first : last + 1])


def _find_last_line(node: Node) -> int:
    return node.start + len(node.lines) - 1


_CALL = re.compile(r"(?:[\w., ]+ = )?self\.(\w+)\(.*\)$", re.DOTALL)
"""A statement that only calls a method of ``self`` and may assign the result."""
