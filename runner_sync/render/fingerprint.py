"""Give findings and review items fingerprints that stay the same when lines move.

Comes in: findings and review items. Goes out: hex digests. May touch: nothing.

GitLab and GitHub recognise an old finding by its fingerprint: a hash of place and message without line numbers.
Findings with the same hash are numbered in the order of the file.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from runner_sync.model import Finding, ReviewItem

REVIEW_NAME = "review-item"
"""The name under which services list review items as a check."""

_LINE_NUMBER = re.compile(r"(\blines? )\d+(?:\s*[-–…]\s*\d+)?|(:)\d+(?:-\d+)?\b")


def identify_findings(findings: Iterable[Finding]) -> Iterator[tuple[Finding, str]]:
    """Yield every finding with its fingerprint; equal findings are numbered in the order given."""
    seen: Counter[str] = Counter()
    for finding in findings:
        # A finding that stands for several names some and counts the rest. The count changes, the cause does not.
        message = _LINE_NUMBER.sub(r"\1\2", (finding.cause or finding).message)
        key = "\0".join((finding.code, finding.path, finding.unit, finding.symbol, message))
        yield finding, _make_digest(key, seen)


def identify_reviews(items: Iterable[ReviewItem]) -> Iterator[tuple[ReviewItem, str]]:
    """Yield every review item with its fingerprint, which depends neither on its id nor on line numbers."""
    seen: Counter[str] = Counter()
    for item in items:
        reason = _LINE_NUMBER.sub(r"\1\2", item.reason)
        yield item, _make_digest("\0".join(("RS000", item.path, item.unit, reason, item.omni, item.upstream)), seen)


def _make_digest(key: str, seen: Counter[str]) -> str:
    seen[key] += 1
    return hashlib.sha256(f"{key}\0{seen[key]}".encode("utf-8", "surrogatepass")).hexdigest()
