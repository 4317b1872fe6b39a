"""RS491 unused-ignore: a code in an `ignore` comment silences nothing.

What: a code in `# runner-sync: ignore[RS203] why` for which no finding is reported on that line any more.

Example:

    # runner-sync: ignore[RS402] needed until torch_npu has streams
    stream = torch.npu.Stream()      # no longer torch.cuda: RS402 is silent anyway

Why: the code was repaired or moved, and the comment would silence the next, real finding at that place.

Fix: delete the code from the brackets, or the whole comment.

Leaves alone: codes of rules that did not run this time (`--select`, or trees that were not given).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from runner_sync.model import Severity
from runner_sync.verify.hits import Hit
from runner_sync.verify.ignores import Ignore, format_codes, join_quoted
from runner_sync.verify.runners.reading import Reading

CODE = "RS491"
NAME = "unused-ignore"
SEVERITY: Severity = "warning"


def find(reading: Reading, ignore: Ignore, has_run: Callable[[str], bool]) -> Iterator[Hit]:
    """Yield one finding per code of ``ignore`` that silenced nothing."""
    if not ignore.reason:
        return
    line = ignore.comment.line
    used = join_quoted(format_codes(pair for pair in ignore.codes if pair in ignore.used))
    kept = f"; {used} still silences something" if used else ""
    for pair in ignore.codes:
        if pair not in ignore.used and has_run(pair[0]):
            what = format_codes([pair])[0]
            yield reading.hit_lines(
                (CODE, SEVERITY),
                (line, line),
                symbol=what,
                message=f"`{what}` in this comment silences nothing: it is not reported here{kept}.",
                column=ignore.comment.column,
                unit=reading.unit_of_comment(line),
                fix=f"Delete `{what}` from the comment.",
            )
