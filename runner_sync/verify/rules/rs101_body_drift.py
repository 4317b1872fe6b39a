"""RS101 body-drift: vllm-ascend changed a method that the NPU runner holds a copy of.

What: statements that vllm-ascend added or dropped between the revision a copy was taken from (the lock's base) and the
target, and that the copy does not follow. The message gives their number and the risk: `high` when the signature, a
`return` or a `with` changed, `medium` above five statements, else `low`. It quotes one of the statements and names up
to two keywords or methods of `self` that upstream newly uses in calls.

Example: `_dummy_run` is copied from vllm-ascend 0.26.0rc1. The method in 0.30.0rc2 synchronises the padded rows of the
block table, the copy does not.

Why: this is the largest class of all, 37 of the 156 recorded breakages. Copies get 90–99 % of such changes at the next
port; until then the NPU runner runs last quarter's method against this quarter's attributes.

Fix: `runner-sync upgrade --only UNIT`.

Leaves alone: overrides that only call `super()` or share less than a third of their statements with upstream, methods
that are clearly closer to their GPU twin (ports), changes that the copy already has, layout and comments.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.digests import digest
from runner_sync.errors import InputError
from runner_sync.model import Severity
from runner_sync.verify.hits import Hit
from runner_sync.verify.runners.drift import Difference, Follower, compare_statements, find_followers, is_copy
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.new_calls import find_new_keywords, find_new_self_calls
from runner_sync.verify.runners.reading import shorten_code

CODE = "RS101"
NAME = "body-drift"
SEVERITY: Severity = "warning"

MANY = 5
"""Above this number of changed statements the risk is at least medium; a judgement."""

NAMED = 2
"""The most keywords and methods that the message names; a judgement."""

_RISKY = ("def ", "async def ", "@", "return", "with ", "async with ", "class ")


def find(subject: Subject) -> Iterator[Hit]:
    """Yield one finding per copy."""
    if subject.upstream is None:
        return
    for follower in find_followers(subject):
        if follower.upstream is None or not is_copy(subject, follower):
            continue
        message = _describe_drift(subject, follower)
        if message:
            name = follower.unit.qualname
            fix = f"runner-sync upgrade --only {name}"
            yield subject.unit_hit((CODE, SEVERITY), follower.unit, symbol=follower.name, message=message, fix=fix)


def _describe_drift(subject: Subject, follower: Follower) -> str:
    assert follower.upstream is not None
    where = subject.target
    since = follower.ref
    locked = follower.entry.upstream if follower.entry is not None else None
    if locked is not None and _digest_or_empty(follower.upstream) == locked.digest:
        return ""
    if follower.base is None:
        return f"{where} changed `{follower.name}` since {since}, which this is a copy of." if locked else ""
    found = compare_statements(follower.base, follower.upstream, follower.unit.text)
    if not found.missing and not found.leftover:
        return ""
    new = _describe_new_calls(_quote_sample(found), follower.base, follower.upstream, follower.unit.text)
    return _describe_changes(found, where, follower.name, since) + new


def _describe_new_calls(shown: str, base: str, upstream: str, copy: str) -> str:
    """Describe what upstream newly calls and ``shown`` does not quote: one keyword and one method, or two of a kind."""
    keywords = [f"`{word}=` of `{name}`" for word, name in find_new_keywords(base, upstream, copy) if word not in shown]
    steps = [f"`self.{name}()`" for name in find_new_self_calls(base, upstream, copy) if name not in shown]
    named = [*keywords[:1], *steps[:1], *keywords[1:], *steps[1:]][:NAMED]
    return f" New there: {' and '.join(named)}." if named else ""


def _describe_changes(found: Difference, where: str, name: str, since: str) -> str:
    changed = len(found.added) + len(found.dropped)
    count = f"{changed} statement" if changed == 1 else f"{changed} statements"
    behind = len(found.missing) + len(found.leftover)
    verb = "adds" if found.missing else "no longer has"
    return (
        f"{where} changed {count} of `{name}` since {since or 'the base'}; this copy does not follow "
        f"{behind} of them (risk {_rate_risk(found)}): upstream {verb} `{_quote_sample(found)}`."
    )


def _quote_sample(found: Difference) -> str:
    return shorten_code((found.missing or found.leftover)[0], most=80)


def _rate_risk(found: Difference) -> str:
    behind = (*found.missing, *found.leftover)
    if any(canon.startswith(_RISKY) for canon in behind):
        return "high"
    return "medium" if len(behind) > MANY else "low"


def _digest_or_empty(text: str) -> str:
    try:
        return digest(text)
    except InputError:
        return ""
