"""Settles a review item in a module text: its comment goes, and a side's text may take the place of the chosen one.

Comes in: a module text and a review item. Goes out: the text afterwards. May touch: nothing.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from runner_sync.compose.notes import WORD
from runner_sync.edits import margin
from runner_sync.errors import InputError
from runner_sync.model import ReviewItem, Side
from runner_sync.statements import inside_strings
from runner_sync.syntax import module_of
from runner_sync.texts.names import undefined_names

_COMMENT = re.compile(rf"[ \t]*{re.escape(WORD)} (R[0-9a-f]+)\b")
_ELIDED = "# …"
"""What stands in the texts of an item for lines that the question is not about."""


def find_comments(text: str) -> dict[str, int]:
    """Return the line of the review comment of each id, in the order of the file."""
    if WORD not in text:
        return {}
    inside = inside_strings(text)
    found: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        comment = _COMMENT.match(line)
        if comment and number - 1 not in inside:
            found.setdefault(comment[1], number)
    return found


def keep_chosen(text: str, item_id: str) -> str:
    """Return ``text`` without the comment of the item: what stands below it is settled."""
    lines = text.split("\n")
    del lines[find_comments(text)[item_id] - 1]
    return "\n".join(lines)


def take_side(text: str, item: ReviewItem, side: Side) -> str:
    """Return ``text`` with the text of ``side`` in the place of the chosen one, and without the item's comment.

    Raises ``InputError`` if the chosen text does not stand below the comment any more, if nothing was chosen and the
    place of the new code is therefore uncertain, if the result would not parse, and if it uses a name that nothing
    sets: the GPU twin may call a local otherwise.
    """
    if side == "chosen":
        return keep_chosen(text, item.id)
    lines = text.split("\n")
    at = find_comments(text)[item.id] - 1
    chosen, wanted = _split(item.chosen), _split(item.omni if side == "omni" else item.upstream)
    if not chosen and side == "upstream":
        raise InputError(f"{item.id}: what was left out has no certain place here; {_BY_HAND}.")
    if _ELIDED in (line.strip() for line in (*chosen, *wanted)):
        raise InputError(f"{item.id}: its texts leave out lines in between; {_BY_HAND}.")
    start = _find(chosen, lines, at + 1)
    if start is None:
        raise InputError(f"{item.id}: what the upgrade chose does not stand below its comment any more; {_BY_HAND}.")
    indent = margin(lines[start]) if chosen else margin(lines[at])
    taken = textwrap.indent("\n".join(wanted), indent).split("\n") if wanted else []
    made = "\n".join([*lines[:at], *lines[at + 1 : start], *taken, *lines[start + len(chosen) :]])
    try:
        module_of(made)
    except SyntaxError as error:
        raise InputError(f"{item.id}: with this side the file would not parse; {_BY_HAND}.") from error
    if unset := sorted(undefined_names(made) - undefined_names(text)):
        raise InputError(f"{item.id}: with this side nothing sets {', '.join(unset)}; {_BY_HAND}.")
    return made


_BY_HAND = "edit the file, then delete the comment"


def _split(text: str) -> list[str]:
    """Return the lines of a side's text without the indentation that they share."""
    stripped = textwrap.dedent(text).strip("\n")
    return stripped.split("\n") if stripped.strip() else []


def _find(chosen: Sequence[str], lines: Sequence[str], first: int) -> int | None:
    """Return the offset at or after ``first`` where ``chosen`` stands, with only comments and blank lines before it."""
    for start in range(first, len(lines)):
        if _split("\n".join(lines[start : start + len(chosen)])) == list(chosen):
            return start
        if lines[start].strip() and not lines[start].lstrip().startswith("#"):
            break
    return None
