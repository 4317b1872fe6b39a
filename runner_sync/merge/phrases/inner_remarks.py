"""Comments that omni has put inside a statement, carried into upstream's text of it.

Comes in: omni's and another text of one statement. Goes out: the other text, with the comments whose line it has.
May touch: nothing.

A comment at the end of a line goes to that line, one on a line of its own above the line that it stands above::

    omni      self.model(             upstream  self.model(         result    self.model(
                  # for the talker                  ids=ids,                      # for the talker
                  ids=ids,                          rows=rows,                    ids=ids,
              )                                 )                                 rows=rows,
                                                                              )
"""

from __future__ import annotations

import tokenize
from collections.abc import Collection, Iterator

from runner_sync.edits import margin
from runner_sync.statements import comments, comments_in, inside_strings


def with_remarks(text: str, omni: str, known: Collection[str]) -> str:
    """``text`` with the comments of ``omni``, but for the ``known`` ones and its own, that have a place there."""
    lines, theirs = omni.split("\n"), text.split("\n")
    known = {*known, *comments(text)}
    for comment in comments_in(omni):
        if comment.string.rstrip() not in known:
            theirs = _with(theirs, comment, lines)
    return "\n".join(theirs)


def _with(theirs: list[str], comment: tokenize.TokenInfo, lines: list[str]) -> list[str]:
    row, column = comment.start[0] - 1, comment.start[1]
    is_alone = not lines[row][:column].strip()
    anchor = next(_code_from(lines, row + 1), "") if is_alone else lines[row][:column]
    strings = inside_strings("\n".join(theirs))
    at = [k for k, line in enumerate(theirs) if k not in strings and _key(line) == _key(anchor)]
    if not _key(anchor) or len(at) != 1 or (is_alone and not at[0]):
        return theirs
    line = theirs[at[0]]
    put = [f"{margin(line)}{comment.string}", line] if is_alone else [f"{line}  {comment.string}"]
    return [*theirs[: at[0]], *put, *theirs[at[0] + 1 :]]


def _code_from(lines: list[str], row: int) -> Iterator[str]:
    return (line for line in lines[row:] if line.strip() and not line.lstrip().startswith("#"))


def _key(line: str) -> str:
    """What a line says; a comma behind its last element says nothing."""
    return line.strip().rstrip(",")
