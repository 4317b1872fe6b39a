"""Keep the comments that only the copy deleted by a hoist has.

Comes in: a ``Move``. Goes out: the text for the new place, and a note. May touch: nothing.

A comment above the copy, such as ``# runner-sync: ignore[…] reason``, is about the method, and moves with it to a new
place. A comment inside the copy belongs to a deleted statement, so the note only lists it. If the GPU runner's text
stays in place, the note lists every comment.
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
    """A comment on a line of its file; ``is_above`` says that it stands above the definition and its decorators."""

    line: int
    text: str
    is_above: bool


def make_shared_text(move: Move) -> str:
    """Return the text for the new place: the GPU text, below the comments that only the NPU copy has above it."""
    text = _read_definition(move.gpu)
    indent = indentation(text)
    return "".join(f"{indent}{one.text}\n" for one in _find_npu_only(move) if one.is_above) + text


def note_lost_remarks(move: Move) -> tuple[str, ...]:
    """Note the comments that are deleted with the NPU copy."""
    is_kept = move.place in ("base", "mixin")
    lost = [f"`{one.text}` (line {one.line})" for one in _find_npu_only(move) if not (is_kept and one.is_above)]
    if not lost:
        return ()
    what = "a comment is" if len(lost) == 1 else "comments are"
    return (f"{move.npu.path}: {what} deleted with the copy and not in the GPU runner: {', '.join(lost)}",)


def _read_definition(side: Definition) -> str:
    """Return the text of a definition with the comments above it."""
    return unit_table(side.reading.text, side.path)[side.qualname].text


def _find_npu_only(move: Move) -> list[_Remark]:
    """Return the comments of the NPU copy that its twin lacks, except drawn lines."""
    known = {one.text for one in _find_remarks(move.gpu)}
    return [one for one in _find_remarks(move.npu) if one.text not in known and not is_drawn(one.text)]


def _find_remarks(side: Definition) -> Iterator[_Remark]:
    unit = unit_table(side.reading.text, side.path)[side.qualname]
    head = first_line(side.node)
    for token in tokenize.generate_tokens(io.StringIO(unit.text).readline):
        if token.type == tokenize.COMMENT:
            line = unit.start + token.start[0] - 1
            yield _Remark(line, token.string.rstrip(), line < head)
