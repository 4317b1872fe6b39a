"""Ports docstrings and comments that the GPU twin changed and that are about no change of code.

Comes in: texts of a unit and of its twin. Goes out: the unit's text. May touch: nothing.

A merge leaves comments on statements that the twin did not change as they are, because NPU may have its own. A comment
that NPU has word for word above the same statement is no comment of its own::

    GPU twin, old   # Rows that are done.     NPU   # Rows that are done.    ported   # Rows that finished here.
                    self.drop(rows)                 self.drop(rows)                   self.drop(rows)
    GPU twin, new   # Rows that finished here.
                    self.drop(rows)

Leaves alone: a comment in NPU's own words; one that vllm-ascend has, too; one about a passage of which the twin's
change did not come in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from runner_sync import merge
from runner_sync.model import Triple
from runner_sync.rulers import is_drawn
from runner_sync.statements import Node, UnparsableText, flatten
from runner_sync.texts.member_text import is_same

_Block = tuple[str, ...]


def port_docstrings(sides: Triple) -> str:
    """Return omni's text with the docstrings that the twin changed; ``sides`` of the twin have the same code."""
    try:
        result = merge.merge(sides, policy=merge.PORT)
    except UnparsableText:
        return sides.omni
    return result.text if result.parses and is_same(result.text, sides.omni) else sides.omni


def port_comments(text: str, old: str, new: str, *, upstream: str = "") -> str:
    """Return ``text`` with the comments that the twin changed, added or removed above statements that it kept.

    ``text`` is NPU's with the twin's change of code. Comments that ``upstream`` has follow that side.
    """
    try:
        own, then, now = _Remarked(flatten(text)), _Remarked(flatten(old)), _Remarked(flatten(new))
        comments = {node.text for node in flatten(upstream) if node.is_comment}
    except UnparsableText:
        return text
    edits = {}
    for about, was, is_now in _find_changed(then, now, own.canons):
        places = [k for k in own.code if own.nodes[k].canon == about and own.blocks.get(k, ()) == was]
        if len(places) != 1 or not comments.isdisjoint(was) or (not was and own.has_comments(is_now)):
            continue
        edits[places[0]] = was, is_now
    return _write(text, own.nodes, edits)


@dataclass(frozen=True)
class _Remarked:
    """The statements of a text, with the comments directly above them."""

    nodes: Sequence[Node]

    @cached_property
    def code(self) -> Sequence[int]:
        return [k for k, node in enumerate(self.nodes) if not node.is_comment]

    @cached_property
    def canons(self) -> Collection[str]:
        return {self.nodes[k].canon for k in self.code}

    @cached_property
    def blocks(self) -> Mapping[int, _Block]:
        """The comment lines above each statement, below the last ruler; none of another suite or above a blank line."""
        return {k: block for k in self.code if (block := tuple(self._read_block(k)))}

    def _read_block(self, about: int) -> Sequence[str]:
        node, lines, above = self.nodes[about], list[str](), about - 1
        is_apart = bool(node.blanks)
        while above >= 0 and not is_apart and self.nodes[above].is_comment and self.nodes[above].parent == node.parent:
            comment = self.nodes[above]
            if is_drawn(comment.text):
                break
            lines.insert(0, comment.text)
            is_apart, above = bool(comment.blanks), above - 1
        return lines

    def has_comments(self, lines: Collection[str]) -> bool:
        """Whether every one of these comment lines stands somewhere in the text."""
        return {node.text for node in self.nodes if node.is_comment}.issuperset(lines)

    def read_paragraph(self, first: int) -> Collection[str]:
        """Return the canonical statements from ``first`` to the next blank line or comment of its suite."""
        inside, found = {first}, [self.nodes[first].canon]
        for k in range(first + 1, len(self.nodes)):
            node = self.nodes[k]
            follows = node.parent == self.nodes[first].parent and not node.is_comment and not node.blanks
            if not (follows or node.parent in inside or node.owner in inside):
                break
            inside.add(k)
            if not node.is_comment:
                found.append(node.canon)
        return found


def _find_changed(then: _Remarked, now: _Remarked, have: Collection[str]) -> Iterator[tuple[str, _Block, _Block]]:
    """Yield each statement, unique with its comment, whose comment the twin changed, with the old and new comment.

    Skips a comment on a passage that changed, too, unless ``have`` has all of the new passage.
    """
    old, new = ([side.nodes[k].canon for k in side.code] for side in (then, now))
    counts = Counter((then.nodes[k].canon, then.blocks.get(k, ())) for k in then.code)
    for block in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        for offset in range(block.size):
            i, j = then.code[block.a + offset], now.code[block.b + offset]
            about, was, is_now = then.nodes[i], then.blocks.get(i, ()), now.blocks.get(j, ())
            if was == is_now or not about.is_telling or counts[about.canon, was] > 1:
                continue
            passage = now.read_paragraph(j)
            if passage == then.read_paragraph(i) or all(canon in have for canon in passage):
                yield about.canon, was, is_now


def _write(text: str, nodes: Sequence[Node], edits: Mapping[int, tuple[_Block, _Block]]) -> str:
    """Return the text with the comment above each of these statements replaced."""
    lines = text.split("\n")
    for k in sorted(edits, reverse=True):
        (was, is_now), row = edits[k], nodes[k].start - 1
        margin = lines[row][: len(lines[row]) - len(lines[row].lstrip())]
        lines[row - len(was) : row] = [margin + line for line in is_now]
    return "\n".join(lines)
