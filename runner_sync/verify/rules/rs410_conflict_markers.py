"""RS410 conflict-markers: the file holds an unresolved merge conflict.

What: `<<<<<<<` … `>>>>>>>` at the start of lines, as git and `runner-sync upgrade --conflict inline` write them.

Example:

    <<<<<<< omni
        positions = self.positions.gpu
    =======
        positions = self.positions
    >>>>>>> vllm-ascend 0.30.0rc2

Why: such a file does not parse, so nothing else can be checked in it.

Fix: resolve the conflict (`git mergetool` reads these markers), then run `check` again.

Leaves alone: rows of `=` or `<` inside comments and strings that no `>>>>>>>` line closes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.verify.job import Subject
from runner_sync.verify.reading import Hit

CODE = "RS410"
NAME = "conflict-markers"
SEVERITY: Severity = "error"

_OPEN = re.compile(r"^<{7}(?: .*)?\r?$", re.MULTILINE)
_CLOSE = re.compile(r"^>{7}(?: .*)?\r?$", re.MULTILINE)


def find(subject: Subject) -> Iterator[Hit]:
    """One finding per conflict. The file need not parse."""
    for start, end in regions(subject.module.text):
        yield subject.npu.hit_lines(
            (CODE, SEVERITY),
            (start, end),
            symbol=f"conflict at line {start}",
            message="This merge conflict is not resolved, so the file is no Python and nothing else in it was checked.",
            fix="Resolve it with your merge tool and run again.",
            unit="<module>",
        )


def regions(text: str) -> list[tuple[int, int]]:
    """First and last line of every conflict in ``text``."""
    if "<<<<<<<" not in text:
        return []
    found: list[tuple[int, int]] = []
    position = 0
    while (opening := _OPEN.search(text, position)) and (closing := _CLOSE.search(text, opening.end())):
        found.append((text.count("\n", 0, opening.start()) + 1, text.count("\n", 0, closing.start()) + 1))
        position = closing.end()
    return found
