"""Writes a finding's repair as a unified diff of one file.

Comes in: a path, its text, and replacements by line. Goes out: a patch that `git apply` reads. May touch: nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from io import StringIO


def patch(path: str, text: str, changes: Mapping[int, str]) -> str:
    """Return the diff that replaces lines: ``changes`` maps 1-based line numbers to new texts without line ends."""
    # str.splitlines also cuts at form feeds and U+2028, which neither Python's line count nor git does.
    before = StringIO(text, newline="\n").readlines()
    after = list(before)
    for number, new in changes.items():
        end = "\n" if before[number - 1].endswith("\n") else ""
        after[number - 1] = new + end
    return "".join(_mark_missing_newlines(difflib.unified_diff(before, after, f"a/{path}", f"b/{path}", n=2)))


def _mark_missing_newlines(rows: Iterator[str]) -> Iterator[str]:
    for row in rows:
        yield row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n"
