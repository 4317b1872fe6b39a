"""Removes passages that a port brings after all from questions about vllm-ascend's change.

Comes in: a draft after its port. Goes out: the draft. May touch: nothing.

vllm-ascend and the GPU runner may have gained the same lines. If vllm-ascend's text alone gave no place for them in the
copy, a question shows them among the statements that were left out::

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


def drop_ported_passages(draft: Draft) -> Draft:
    """Remove ported passages that vllm-ascend also has from questions about left-out code.

    Drops questions left empty.
    """
    ported = [item.chosen for item in draft.reviews if item.from_gpu and item.reason.startswith(SHARED)]
    ported_rows = [rows for chosen in ported if (rows := _list_code_lines(chosen))]
    left = (_drop_ported(item, ported_rows) for item in draft.reviews)
    return replace(draft, reviews=tuple(item for item in left if item is not None))


def _drop_ported(item: ReviewItem, ported_rows: Sequence[Sequence[str]]) -> ReviewItem | None:
    if item.from_gpu or item.chosen or not item.upstream:
        return item
    shown = item.upstream
    for rows in ported_rows:
        shown = _cut_rows(shown, rows)
    return replace(item, upstream=shown) if _list_code_lines(shown) else None


def _cut_rows(text: str, rows: Sequence[str]) -> str:
    """Replace the first consecutive code lines equal to ``rows`` by a mark."""
    lines = text.split("\n")
    code = [k for k, line in enumerate(lines) if _list_code_lines(line)]
    for first in range(len(code) - len(rows) + 1):
        found = code[first : first + len(rows)]
        if [lines[k].strip() for k in found] == [*rows]:
            return "\n".join([*lines[: found[0]], margin(lines[found[0]]) + LEFT, *lines[found[-1] + 1 :]])
    return text


def _list_code_lines(text: str) -> list[str]:
    """Return the lines that are neither blank nor a comment, without indentation."""
    return [row for line in text.split("\n") if (row := line.strip()) and not row.startswith("#")]
