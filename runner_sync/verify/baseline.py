"""Keeps the ratchet: findings that existed when the project began to check, and that may only become fewer.

Comes in: JSON text and findings. Goes out: `Baseline` values, findings that the baseline does not cover, stale entries,
and JSON text. May touch: nothing; other code reads and writes the file.

Entries count findings by code, path, unit and symbol, never by line, because code moves. If a rule gives a state, the
symbol includes it: accepting a finding about a GPU method accepts one text of it, so another change is reported.

What an upgrade left open is never accepted: in a baseline an unsettled question would look settled.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from runner_sync.errors import InputError
from runner_sync.model import Finding
from runner_sync.verify.mistakes import is_mistake

FORMAT_VERSION = 1
_REMEDY = "restore it from git or delete it and write it anew with `--update-baseline` beside `--baseline FILE`"

NEVER_ACCEPTED = {
    "RS406": "`runner-sync settle` asks about each",
    "RS410": "resolve each with your merge tool",
}
"""The rules whose findings no baseline accepts, and how to settle what they find."""

Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Baseline:
    """How many findings of each key are accepted; ``lock`` is their runners' lock file, empty if none is named."""

    counts: Mapping[Key, int] = field(default_factory=dict)
    lock: str = ""


class StaleEntry(NamedTuple):
    """An entry that accepts more findings than exist: it can shrink from ``accepted`` to ``found``."""

    code: str
    path: str
    unit: str
    symbol: str
    accepted: int
    found: int


def key_of(finding: Finding) -> Key:
    """Return the key that findings are counted by."""
    return _key(finding, finding.state)


def _key(finding: Finding, state: str) -> Key:
    symbol = f"{finding.symbol} {state}" if state else finding.symbol
    return finding.code, finding.path, finding.unit, symbol


def _rename_states(baseline: Baseline, findings: Iterable[Finding]) -> Counter[Key]:
    """Return the counts of a baseline; states written by an earlier version of the tool get their present name."""
    now = {_key(finding, finding.old_state): key_of(finding) for finding in findings if finding.old_state}
    counts: Counter[Key] = Counter()
    for key, count in baseline.counts.items():
        counts[now.get(key, key)] += count
    return counts


def load(text: str, *, path: str) -> Baseline:
    """Read a baseline. Raises ``InputError`` naming the file and the remedy."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: is no valid JSON ({error.msg}); {_REMEDY}.") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or too deeply nested lists
        raise InputError(f"{path}: is no baseline ({error}); {_REMEDY}.") from error
    if not isinstance(data, dict) or data.get("format_version") != FORMAT_VERSION:
        raise InputError(f"{path}: is no baseline of format {FORMAT_VERSION}; {_REMEDY}.")
    rows = data.get("findings")
    if not isinstance(rows, list):
        raise InputError(f"{path}: lacks the list `findings`; {_REMEDY}.")
    counts: Counter[Key] = Counter()
    for number, row in enumerate(rows, start=1):
        key, count = _read_entry(row, where=f"{path}: finding {number}")
        if key[0] not in NEVER_ACCEPTED:  # earlier versions wrote such entries
            counts[key] += count
    lock = data.get("lock", "")
    if not isinstance(lock, str):
        raise InputError(f"{path}: has lock = {lock!r} where the name of a file belongs; {_REMEDY}.")
    return Baseline(dict(counts), lock)


def _read_entry(row: Any, *, where: str) -> tuple[Key, int]:
    if not isinstance(row, dict):
        raise InputError(f"{where} is no table; {_REMEDY}.")
    names = ("code", "path", "unit", "symbol")
    values = [row.get(name) for name in names]
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, str):
            raise InputError(f"{where} lacks the text `{name}`; {_REMEDY}.")
    count = row.get("count", 1)
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise InputError(f"{where} has count = {count!r} where a number above 0 belongs; {_REMEDY}.")
    return (str(values[0]), str(values[1]), str(values[2]), str(values[3])), count


def dump(baseline: Baseline) -> str:
    """Return JSON text, one entry per line, sorted: equal baselines give equal texts and small diffs."""
    names = ("code", "path", "unit", "symbol")
    rows = [dict(zip(names, key, strict=True)) | {"count": count} for key, count in sorted(baseline.counts.items())]
    lines = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in rows)
    body = f"[\n{lines}\n  ]" if rows else "[]"
    lock = f'  "lock": {json.dumps(baseline.lock, ensure_ascii=False)},\n' if baseline.lock else ""
    return f'{{\n  "format_version": {FORMAT_VERSION},\n{lock}  "findings": {body}\n}}\n'


def drop_accepted(baseline: Baseline, findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings that the baseline does not accept: for each key, those after the first ``count``."""
    left = _rename_states(baseline, findings)
    remaining = []
    for finding in findings:
        key = key_of(finding)
        if left[key] > 0 and not is_mistake(finding):
            left[key] -= 1
        else:
            remaining.append(finding)
    return remaining


def find_new(findings: Sequence[Finding], before: Iterable[Finding]) -> list[Finding]:
    """Return the findings that are new since ``before``: for each key, as many as its count has grown.

    Findings are paired first with earlier ones of the same message, numbers such as lines aside, then in order.
    """
    known = Counter((*key_of(finding), _drop_numbers(finding.message)) for finding in before)
    left = Counter(key_of(finding) for finding in before)
    unmatched = []
    for finding in findings:
        key = (*key_of(finding), _drop_numbers(finding.message))
        if known[key] > 0:
            known[key] -= 1
            left[key_of(finding)] -= 1
        else:
            unmatched.append(finding)
    return drop_accepted(Baseline(dict(left)), unmatched)


def _drop_numbers(message: str) -> str:
    return _NUMBERS.sub("", message)


_NUMBERS = re.compile(r"\d+")


def find_stale(
    baseline: Baseline, findings: Sequence[Finding], *, has_run: Callable[[str], bool]
) -> tuple[StaleEntry, ...]:
    """Return the entries of rules that ran which accept more findings than exist."""
    found = Counter(key_of(finding) for finding in findings)
    return tuple(
        StaleEntry(*key, count, found[key])
        for key, count in sorted(_rename_states(baseline, findings).items())
        if found[key] < count and has_run(key[0])
    )


def update(baseline: Baseline | None, findings: Sequence[Finding], *, has_run: Callable[[str], bool]) -> Baseline:
    """Return the baseline to write: all findings if there was none, else the old one shrunk to what is still found.

    Keeps entries of rules that did not run. Never adds to an existing baseline, and leaves out `NEVER_ACCEPTED`.
    """
    accepted = (one for one in findings if one.code not in NEVER_ACCEPTED and not is_mistake(one))
    found = Counter(map(key_of, accepted))
    if baseline is None:
        return Baseline(dict(found))
    counts = _rename_states(baseline, findings)
    kept = {key: min(count, found[key]) if has_run(key[0]) else count for key, count in counts.items()}
    return Baseline({key: count for key, count in kept.items() if count})
