"""Write a finding's repair as a unified diff of one file.

Comes in: a path, its lines, and replacements by line. Goes out: patch text as `git apply` reads it. May touch: nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence


def patch(path: str, lines: Sequence[str], changes: Mapping[int, str | None]) -> str:
    """The diff that replaces each 1-based line by its text (``None`` deletes it); ``lines`` have no line ends."""
    after: list[str] = []
    for number, line in enumerate(lines, start=1):
        new = changes.get(number, line)
        if new is not None:
            after.append(new)
    rows = difflib.unified_diff(list(lines), after, f"a/{path}", f"b/{path}", n=2, lineterm="")
    return "\n".join(rows) + "\n"
