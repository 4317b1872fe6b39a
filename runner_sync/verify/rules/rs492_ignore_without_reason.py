"""RS492 ignore-without-reason: an `ignore` comment gives no reason, no code, or something that is no code.

What: `# runner-sync: ignore`, `# runner-sync: ignore[RS203]`, `# runner-sync: ignore[203] …`. Such a comment silences
nothing.

Example:

    # runner-sync: ignore[RS203]                      -> RS492, and RS203 is still reported
    # runner-sync: ignore[RS203] GPU-only CUDA graphs -> silent

Why: "is this still true?" is the first question at the next upgrade, and without a reason nobody can answer it.

Fix: write the codes in brackets and the reason behind them.

Leaves alone: other `# runner-sync:` comments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from runner_sync.model import Severity
from runner_sync.verify.ignores import Ignore
from runner_sync.verify.reading import Hit, Reading

CODE = "RS492"
NAME = "ignore-without-reason"
SEVERITY: Severity = "warning"


def find(reading: Reading, ignore: Ignore, _has_run: Callable[[str], bool]) -> Iterator[Hit]:
    """At most one finding per comment."""
    line = ignore.comment.line
    if ignore.malformed:
        what = f"`{ignore.malformed[0]}` is no rule code"
    elif not ignore.codes:
        what = "no rule code stands in brackets"
    elif not ignore.reason:
        what = "no reason follows the codes"
    else:
        return
    yield reading.hit_lines(
        (CODE, SEVERITY),
        (line, line),
        symbol=ignore.comment.text,
        message=f"This comment silences nothing: {what}.",
        column=ignore.comment.column,
        fix="Write it as `# runner-sync: ignore[RS203] reason`.",
    )
