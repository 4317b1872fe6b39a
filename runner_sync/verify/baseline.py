"""The ratchet: findings that were there when the project began to check, which may only become fewer.

Comes in: JSON text and findings. Goes out: `Baseline` values, the findings it does not cover, entries that are stale,
and JSON text. May touch: nothing; the file is read and written elsewhere.

Entries count findings by code, path, unit and symbol, never by line: code moves. Where a rule gives a state, it is
appended to the symbol: accepting a finding about a GPU method accepts one text of it, so another change is reported.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runner_sync.errors import InputError
from runner_sync.model import Finding

FORMAT_VERSION = 1
_REMEDY = "restore it from git or delete it and write it anew with `--update-baseline` beside `--baseline FILE`"

Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Baseline:
    """How many findings of each key are accepted; ``lock`` is the lock file of the runners that they are about, empty
    where the file does not name one."""

    counts: Mapping[Key, int] = field(default_factory=dict)
    lock: str = ""


@dataclass(frozen=True, slots=True)
class StaleEntry:
    """An entry that accepts more findings than there are: it can shrink from ``accepted`` to ``found``."""

    code: str
    path: str
    unit: str
    symbol: str
    accepted: int
    found: int


def key_of(finding: Finding) -> Key:
    """The key that findings are counted by."""
    return _key(finding, finding.state)


def _key(finding: Finding, state: str) -> Key:
    symbol = f"{finding.symbol} {state}" if state else finding.symbol
    return finding.code, finding.path, finding.unit, symbol


def _as_named_now(baseline: Baseline, findings: Iterable[Finding]) -> Counter[Key]:
    """The counts of a baseline; states as an earlier version of the tool wrote them get their present name."""
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
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or lists in lists without end
        raise InputError(f"{path}: is no baseline ({error}); {_REMEDY}.") from error
    if not isinstance(data, dict) or data.get("format_version") != FORMAT_VERSION:
        raise InputError(f"{path}: is no baseline of format {FORMAT_VERSION}; {_REMEDY}.")
    rows = data.get("findings")
    if not isinstance(rows, list):
        raise InputError(f"{path}: lacks the list `findings`; {_REMEDY}.")
    counts: Counter[Key] = Counter()
    for number, row in enumerate(rows, start=1):
        key, count = _entry(row, where=f"{path}: finding {number}")
        counts[key] += count
    lock = data.get("lock", "")
    if not isinstance(lock, str):
        raise InputError(f"{path}: has lock = {lock!r} where the name of a file belongs; {_REMEDY}.")
    return Baseline(dict(counts), lock)


def _entry(row: Any, *, where: str) -> tuple[Key, int]:
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
    """JSON text, one entry per line, sorted: equal baselines give equal texts and small diffs."""
    names = ("code", "path", "unit", "symbol")
    rows = [dict(zip(names, key, strict=True)) | {"count": count} for key, count in sorted(baseline.counts.items())]
    lines = ",\n".join("    " + json.dumps(row, ensure_ascii=False) for row in rows)
    body = f"[\n{lines}\n  ]" if rows else "[]"
    lock = f'  "lock": {json.dumps(baseline.lock, ensure_ascii=False)},\n' if baseline.lock else ""
    return f'{{\n  "format_version": {FORMAT_VERSION},\n{lock}  "findings": {body}\n}}\n'


def uncovered(baseline: Baseline, findings: Sequence[Finding]) -> list[Finding]:
    """The findings that the baseline does not accept: for each key, those after the first ``count`` in order."""
    left = _as_named_now(baseline, findings)
    remaining = []
    for finding in findings:
        key = key_of(finding)
        if left[key] > 0:
            left[key] -= 1
        else:
            remaining.append(finding)
    return remaining


def brought(findings: Sequence[Finding], before: Iterable[Finding]) -> list[Finding]:
    """The findings that are new since ``before``: for each key, as many as there are more now. Findings are paired
    with earlier ones of the same message, numbers such as lines aside, before others, and the first of them first."""
    known = Counter((*key_of(finding), _unplaced(finding.message)) for finding in before)
    left = Counter(key_of(finding) for finding in before)
    unlike = []
    for finding in findings:
        said = (*key_of(finding), _unplaced(finding.message))
        if known[said] > 0:
            known[said] -= 1
            left[key_of(finding)] -= 1
        else:
            unlike.append(finding)
    return uncovered(Baseline(dict(left)), unlike)


def _unplaced(message: str) -> str:
    return _NUMBERS.sub("", message)


_NUMBERS = re.compile(r"\d+")


def stale(baseline: Baseline, findings: Sequence[Finding], *, has_run: Callable[[str], bool]) -> tuple[StaleEntry, ...]:
    """The entries of rules that ran which accept more findings than there are."""
    found = Counter(key_of(finding) for finding in findings)
    return tuple(
        StaleEntry(*key, count, found[key])
        for key, count in sorted(_as_named_now(baseline, findings).items())
        if found[key] < count and has_run(key[0])
    )


def update(baseline: Baseline | None, findings: Sequence[Finding], *, has_run: Callable[[str], bool]) -> Baseline:
    """The baseline to write: all findings when there was none, else the old one shrunk to what is still found.

    Entries of rules that did not run are kept; nothing is ever added to an existing baseline.
    """
    found = Counter(key_of(finding) for finding in findings)
    if baseline is None:
        return Baseline(dict(found))
    counts = _as_named_now(baseline, findings)
    kept = {key: min(count, found[key]) if has_run(key[0]) else count for key, count in counts.items()}
    return Baseline({key: count for key, count in kept.items() if count})
