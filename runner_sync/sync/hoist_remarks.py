"""What the copy that a hoist deletes says in comments, and the text that stays does not.

Comes in: a ``Move``. Goes out: the text to put at the new place, and a note. May touch: nothing.

A comment above the copy, such as ``# runner-sync: ignore[…] reason``, is about the method, and goes along where that
gets a new place. One inside stands beside a statement of a text that nobody keeps, so that it is only named; and so is
every one where the GPU runner's text stays as it is.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass

from runner_sync.rulers import is_drawn
from runner_sync.sync.hoist_target import Definition, Move
from runner_sync.syntax import first_line, indentation
from runner_sync.units.texts import unit_table


@dataclass(frozen=True, slots=True)
class _Remark:
    """A comment on a line of its file; ``is_above`` the definition, its decorators included."""

    line: int
    text: str
    is_above: bool


def make_shared_text(move: Move) -> str:
    """The text that goes to the new place: the GPU runner's, below the comments that only the NPU copy has above it."""
    text = _read_definition(move.gpu)
    indent = indentation(text)
    return "".join(f"{indent}{one.text}\n" for one in _find_npu_only(move) if one.is_above) + text


def note_lost_remarks(move: Move) -> tuple[str, ...]:
    """A note on the comments of the NPU copy that go with it."""
    is_kept = move.place in ("base", "mixin")
    lost = [f"`{one.text}` (line {one.line})" for one in _find_npu_only(move) if not (is_kept and one.is_above)]
    if not lost:
        return ()
    what = "a comment that goes" if len(lost) == 1 else "comments that go"
    return (f"{move.npu.path}: {what} with the copy, for the GPU runner has none like it: {', '.join(lost)}",)


def _read_definition(side: Definition) -> str:
    """The text of a definition with the comments above it."""
    return unit_table(side.reading.text, side.path)[side.qualname].text


def _find_npu_only(move: Move) -> list[_Remark]:
    """The comments of the NPU copy that its twin does not have; drawn lines say nothing."""
    known = {one.text for one in _find_remarks(move.gpu)}
    return [one for one in _find_remarks(move.npu) if one.text not in known and not is_drawn(one.text)]


def _find_remarks(side: Definition) -> Iterator[_Remark]:
    unit = unit_table(side.reading.text, side.path)[side.qualname]
    head = first_line(side.node)
    for token in tokenize.generate_tokens(io.StringIO(unit.text).readline):
        if token.type == tokenize.COMMENT:
            line = unit.start + token.start[0] - 1
            yield _Remark(line, token.string.rstrip(), line < head)
