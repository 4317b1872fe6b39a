"""Takes out of the questions about vllm-ascend's change what a port brings after all.

Comes in: a draft after its port. Goes out: the draft. May touch: nothing.

vllm-ascend and the GPU runner may have gained the same lines. Where they had no place in the copy by vllm-ascend's text
alone, a question shows them among what was left out::

    self.note(rows)                      if self.is_last:      ported
    if self.is_last:                         self.finish()
        self.finish()
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runner_sync.edits import margin
from runner_sync.model import ReviewItem
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.asking.ported_passages import SHARED

LEFT = "# …"


def without_what_came(draft: Draft) -> Draft:
    """The draft, with its questions about what was left out without the passages that were ported and that vllm-ascend
    has, too; a question of which nothing is left goes."""
    ported = [item.chosen for item in draft.reviews if item.from_gpu and item.reason.startswith(SHARED)]
    came = [rows for chosen in ported if (rows := _code(chosen))]
    left = (_without(item, came) for item in draft.reviews)
    return replace(draft, reviews=tuple(item for item in left if item is not None))


def _without(item: ReviewItem, came: Sequence[Sequence[str]]) -> ReviewItem | None:
    if item.from_gpu or item.chosen or not item.upstream:
        return item
    shown = item.upstream
    for rows in came:
        shown = _cut(shown, rows)
    return replace(item, upstream=shown) if _code(shown) else None


def _cut(text: str, rows: Sequence[str]) -> str:
    """The text with a mark in the place of the lines that say just what ``rows`` say, if it has them in a row."""
    lines = text.split("\n")
    code = [k for k, line in enumerate(lines) if _code(line)]
    for first in range(len(code) - len(rows) + 1):
        found = code[first : first + len(rows)]
        if [lines[k].strip() for k in found] == [*rows]:
            return "\n".join([*lines[: found[0]], margin(lines[found[0]]) + LEFT, *lines[found[-1] + 1 :]])
    return text


def _code(text: str) -> list[str]:
    """The lines that are neither blank nor a comment, without their indentation."""
    return [row for line in text.split("\n") if (row := line.strip()) and not row.startswith("#")]
