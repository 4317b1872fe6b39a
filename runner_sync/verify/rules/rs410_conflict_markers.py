"""RS410 conflict-markers: the file holds an unresolved merge conflict.

What: `<<<<<<<` … `>>>>>>>` at the start of lines, as git and `runner-sync upgrade --conflict inline` write them, and a
single `<<<<<<<`, `|||||||`, `=======` or `>>>>>>>` line left behind in a file that does not parse. The rule checks NPU
modules, their GPU twins, files in which the run looks up one of their base classes, and other files that a branch
changed in the folder of an NPU module.

Example:

    <<<<<<< omni
        positions = self.positions.gpu
    =======
        positions = self.positions
    >>>>>>> vllm-ascend 0.30.0rc2

Why: nothing else is checked in such a file, nor in code that inherits from it: it does not parse, or, with the conflict
in a docstring, nobody knows which side it has.

Fix: resolve the conflict (`git mergetool` reads these markers), then run `check` again.

Leaves alone: rows of `=` or `<` inside comments and strings that no `>>>>>>>` line closes. A file that does not parse
for another reason ends the run (exit 2), and so does a conflict where this rule is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.unmerged import conflicts
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.reading import Reading

CODE = "RS410"
NAME = "conflict-markers"
SEVERITY: Severity = "error"


def find(reading: Reading) -> Iterator[Hit]:
    """Yield one finding per conflict or single marker. The file need not parse."""
    for start, end in conflicts(reading.text):
        yield reading.hit_lines(
            (CODE, SEVERITY),
            (start, end),
            symbol=f"conflict at line {start}",
            message=_MESSAGE if start < end else _SINGLE,
            fix="Resolve it with your merge tool and run again." if start < end else "Delete the line and run again.",
            unit="<module>",
        )


_REST = "and nothing else in the file, or in what inherits from it, was checked."
_MESSAGE = f"This merge conflict is not resolved, {_REST}"
_SINGLE = f"This marker of a merge conflict was left behind, {_REST}"
