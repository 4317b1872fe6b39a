"""Carry comments that omni put inside a statement into another text of the statement.

Comes in: the three texts of a statement, and the text chosen or merged from them. Goes out: that text with omni's
comments, and the comments without a place. May touch: nothing.

A comment behind code goes behind the same line of code; a comment on its own line goes above the same line::

    omni      self.model(             upstream  self.model(         result    self.model(
                  # for the talker                  ids=ids,                      # for the talker
                  ids=ids,                          rows=rows,                    ids=ids,
              )                                 )                                 rows=rows,
                                                                              )

Lines are the same if they have equal code with a word in it, and occur once in either text. A comment has no place
where it could break the code: on a line that continues inside a string or behind a backslash.
"""

from __future__ import annotations

import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from typing import NamedTuple

from runner_sync.edits import margin
from runner_sync.model import Triple
from runner_sync.statements import comments_in, inside_strings, tokens


class _Remark(NamedTuple):
    """A comment and the code of the line that it is about (``anchor``).

    With ``is_alone`` the comment has its own line above that line.
    """

    text: str
    anchor: str
    is_alone: bool


def with_remarks(text: str, triple: Triple) -> tuple[str, list[str]]:
    """Return ``text`` with omni's own comments, and the comments that have no place in it.

    ``text`` was chosen or merged from ``triple``.
    """
    own = _remove_others(_find_remarks(triple.omni), _find_remarks(triple.base))
    own = _remove_others(own, _find_remarks(text), but=_find_remarks(triple.upstream)) if own else []
    if not own:
        return text, []
    lines, strings, places = text.split("\n"), inside_strings(text), _find_places(text)
    unique = {anchor for anchor, rows in _find_places(triple.omni).items() if len(rows) == 1}
    put: dict[int, list[_Remark]] = defaultdict(list)
    lost = []
    for remark in own:
        rows = places.get(remark.anchor, [])
        if remark.anchor in unique and len(rows) == 1 and _has_room(lines, rows[0], strings, is_alone=remark.is_alone):
            put[rows[0]].append(remark)
        else:
            lost.append(remark.text)
    made = "\n".join(row for k, line in enumerate(lines) for row in _attach_remarks(line, put.get(k, ())))
    if _list_code_tokens(made) != _list_code_tokens(text):
        return text, [remark.text for remark in own]
    return made, lost


def _find_remarks(text: str) -> list[_Remark]:
    lines = text.split("\n")
    comments = comments_in(text)
    columns = {comment.start[0] - 1: comment.start[1] for comment in comments}
    code = [line[: columns.get(row)].rstrip() for row, line in enumerate(lines)]
    found = []
    for comment in comments:
        row = comment.start[0] - 1
        anchor = code[row] or next((line for line in code[row + 1 :] if line), "")
        found.append(_Remark(comment.string.rstrip(), _normalise(anchor), not code[row].strip()))
    return found


def _remove_others(
    remarks: Sequence[_Remark], others: Sequence[_Remark], *, but: Sequence[_Remark] = ()
) -> list[_Remark]:
    """Return the remarks that are not among the ``others``, neither at the same line nor with the same words elsewhere.

    Remarks in ``but`` do not count elsewhere: upstream's own comment there is not omni's.
    """
    same = Counter(others)
    words = Counter(remark.text for remark in others) - Counter(remark.text for remark in but)
    rest = []
    for remark in remarks:
        if same[remark]:
            same[remark] -= 1
            words[remark.text] -= 1
        else:
            rest.append(remark)
    out = []
    for remark in rest:
        if words[remark.text] > 0:
            words[remark.text] -= 1
        else:
            out.append(remark)
    return out


def _find_places(text: str) -> dict[str, list[int]]:
    """Return ``{code without its comment: rows}`` for the lines that have a word and do not begin inside a string."""
    found: dict[str, list[int]] = defaultdict(list)
    strings = inside_strings(text)
    columns = {comment.start[0] - 1: comment.start[1] for comment in comments_in(text)}
    for row, line in enumerate(text.split("\n")):
        if row not in strings and re.search(r"\w", line[: columns.get(row)]):
            found[_normalise(line[: columns.get(row)])].append(row)
    return found


def _has_room(lines: Sequence[str], row: int, strings: Collection[int], *, is_alone: bool) -> bool:
    """Whether a comment can stand above a row (``is_alone``) or behind its code."""
    if is_alone:
        return row > 0 and not lines[row - 1].endswith("\\")
    return row + 1 not in strings and not lines[row].endswith("\\") and "#" not in lines[row]


def _attach_remarks(line: str, remarks: Sequence[_Remark]) -> list[str]:
    """Return a line with its comments: the lines above it, then the line with the comments behind its code."""
    above = [f"{margin(line)}{remark.text}" for remark in remarks if remark.is_alone]
    behind = [remark.text for remark in remarks if not remark.is_alone]
    return [*above, "  ".join([line, *behind])]


def _list_code_tokens(text: str) -> list[str]:
    unprinted = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    return [token.string for token in tokens(text + "\n") if token.type not in unprinted]


def _normalise(line: str) -> str:
    """Normalise a line of code for comparison; a comma at its end does not matter."""
    return line.strip().rstrip(",")
