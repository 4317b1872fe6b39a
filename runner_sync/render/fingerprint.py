"""Give findings and review items names that survive moved lines.

Comes in: findings and review items. Goes out: hex digests. May touch: nothing.

GitLab and GitHub recognise an old finding by its fingerprint. It is taken from what the finding says about which unit,
never from line numbers; equal ones are numbered in the order in which they stand in the file.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator

from runner_sync.model import Finding, ReviewItem

REVIEW_NAME = "review-item"
"""What a service calls the check that a review item comes from."""

_LINE_NUMBER = re.compile(r"(\blines? )\d+(?:\s*[-–…]\s*\d+)?|(:)\d+(?:-\d+)?\b")


def identify_findings(findings: Iterable[Finding]) -> Iterator[tuple[Finding, str]]:
    """Yield every finding with its fingerprint. The order given decides between equal ones."""
    seen: Counter[str] = Counter()
    for finding in findings:
        # Of several that are told as one, how many there are, and which, changes with what is around them.
        message = _LINE_NUMBER.sub(r"\1\2", (finding.cause or finding).message)
        key = "\0".join((finding.code, finding.path, finding.unit, finding.symbol, message))
        yield finding, _number(key, seen)


def identify_reviews(items: Iterable[ReviewItem]) -> Iterator[tuple[ReviewItem, str]]:
    """Yield every review item with its fingerprint; ids and line numbers have no part in it."""
    seen: Counter[str] = Counter()
    for item in items:
        reason = _LINE_NUMBER.sub(r"\1\2", item.reason)
        yield item, _number("\0".join(("RS000", item.path, item.unit, reason, item.omni, item.upstream)), seen)


def _number(key: str, seen: Counter[str]) -> str:
    seen[key] += 1
    return hashlib.sha256(f"{key}\0{seen[key]}".encode("utf-8", "surrogatepass")).hexdigest()
