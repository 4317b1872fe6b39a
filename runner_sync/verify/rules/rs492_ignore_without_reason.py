"""RS492 ignore-without-reason: an `ignore` comment gives no reason, no code, or something that is no code.

What: `# runner-sync: ignore`, `# runner-sync: ignore[RS203]`, `# runner-sync: ignore[203] …`, and without the colon
`# runner-sync ignore[RS203] …`. A comment without a code, a reason or the colon silences nothing; of several words in
the brackets, those that are codes still count.

Example:

    # runner-sync: ignore[RS203]                      -> RS492, and RS203 is still reported
    # runner-sync: ignore[RS203, 301] old reason      -> RS492 for `301`; RS203 is silent
    # runner-sync: ignore[RS203] GPU-only CUDA graphs -> silent

Why: "is this still true?" is the first question at the next upgrade, and without a reason nobody can answer it.

Fix: write the codes in brackets and the reason behind them.

Leaves alone: other `# runner-sync:` comments.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from runner_sync.model import Severity
from runner_sync.verify.hits import Hit
from runner_sync.verify.ignores import Ignore, format_codes, join_quoted
from runner_sync.verify.runners.reading import Reading

CODE = "RS492"
NAME = "ignore-without-reason"
SEVERITY: Severity = "warning"


def find(reading: Reading, ignore: Ignore, _has_run: Callable[[str], bool]) -> Iterator[Hit]:
    """Yield at most one finding per comment."""
    if message := _describe_problem(ignore):
        line = ignore.comment.line
        yield reading.hit_lines(
            (CODE, SEVERITY),
            (line, line),
            symbol=ignore.comment.text,
            message=message,
            column=ignore.comment.column,
            unit=reading.unit_of_comment(line),
            fix=_make_fix(ignore),
        )


def _make_fix(ignore: Ignore) -> str:
    """Return the comment as it should be, with the codes that it has or seems to mean."""
    codes = [*dict.fromkeys([*format_codes(ignore.codes), *(code for _, code in ignore.meant)])]
    if not codes:
        return "Write it as `# runner-sync: ignore[RS203] reason`, several codes with commas between them."
    slips = [f"`{code}` for `{word}`" for word, code in ignore.meant if code != word.strip("[]")]
    named = f"Write {' and '.join(slips)}" if slips else "Write it as"
    return f"{named}{':' if slips else ''} `# runner-sync: ignore[{', '.join(codes)}] reason`."


def _describe_problem(ignore: Ignore) -> str:
    """Describe what is wrong with the comment; empty for nothing."""
    others = join_quoted(ignore.malformed)
    wrong = f"{others} {'is no rule code' if len(ignore.malformed) == 1 else 'are no rule codes'}"
    if not ignore.has_colon:
        return "This comment silences nothing: no colon follows `runner-sync`."
    if not ignore.codes:
        return f"This comment silences nothing: {wrong if others else 'no rule code stands in brackets'}."
    if not ignore.reason:
        return "This comment silences nothing: no reason follows the codes."
    if not others:
        return ""
    silences = "silences" if len(ignore.malformed) == 1 else "silence"
    counts = "counts" if len(ignore.codes) == 1 else "count"
    return f"{wrong} and {silences} nothing; {join_quoted(format_codes(ignore.codes))} {counts}."
