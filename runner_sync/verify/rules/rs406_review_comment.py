"""RS406 review-comment: a `# runner-sync: review` comment was left behind.

What: the comment that `upgrade` writes above a place it could not settle for certain.

Example:

    # runner-sync: review R3 vllm-ascend and omni changed this statement
    hidden_states = model_output

Why: each is an open decision; merged with the pull request, it looks decided.

Fix: compare both sides, settle it, delete the comment; `runner-sync settle` does this with one key. The report of the
upgrade has both sides under the id in the comment (`-o markdown:FILE` keeps it); git has the code from before the
upgrade. A baseline does not accept the comment, because an open question would then look settled.

Leaves alone: `# runner-sync: ignore[…]`, and the words inside strings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from runner_sync.model import Severity
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.job import Subject

CODE = "RS406"
NAME = "review-comment"
SEVERITY: Severity = "error"

_COMMENT = re.compile(r"#\s*runner-sync:\s*review\b\s*(?P<id>\S*)\s*(?P<reason>.*)")


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per comment."""
    npu = subject.npu
    for comment in npu.directives:
        found = _COMMENT.match(comment.text)
        if found is None:
            continue
        reason = f" ({found['reason']})" if found["reason"] else ""
        yield npu.hit_lines(
            (CODE, SEVERITY),
            (comment.line, comment.line),
            column=comment.column,
            unit=npu.unit_of_comment(comment.line),
            symbol=found["id"] or "review",
            message=f"This review item is still open{reason}.",
            fix="Settle it, then delete the comment, or let `runner-sync settle` ask about it; both sides are in the "
            "report of the upgrade that wrote it (on the commit before, `--diff -o text` prints it again), and what "
            "stood here before is in git.",
        )
