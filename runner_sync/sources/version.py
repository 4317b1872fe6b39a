"""Read the version of a tree from its texts.

Comes in: text of core metadata or of a generated ``_version.py``, git tag names. Goes out: a version in canonical form.
May touch: nothing; version files are matched as text, never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from packaging.version import Version

_METADATA = re.compile(r"^Version:[ \t]*(\S+)", re.MULTILINE)
_ASSIGNED = re.compile(r"""^__version__\s*(?::\s*\w+\s*)?=\s*(?:version\s*=\s*)?['"]([^'"]+)['"]""", re.MULTILINE)
_COMMIT = re.compile(r"\+g([0-9a-f]{7,40})")


def normalize(text: str) -> str | None:
    """Return ``text`` as a canonical version (``v0.18.0RC1`` → ``0.18.0rc1``); ``None`` if it is no version."""
    try:
        return str(Version(text.strip()))
    except ValueError:  # also raised for a number with more digits than Python converts
        return None


def find_in_texts(metadata: str | None, assigned: str | None) -> str | None:
    """Return the version in the core metadata or, without one, in the text of a version module."""
    headers = (metadata or "").split("\n\n", 1)[0]
    for pattern, text in ((_METADATA, headers), (_ASSIGNED, assigned or "")):
        match = pattern.search(text)
        if match:
            return normalize(match[1])
    return None


def find_in_tags(tags: Iterable[str]) -> str | None:
    """Return the highest version among tag names; ``None`` if no tag is a version."""
    versions = [Version(found) for tag in tags if (found := normalize(tag))]
    return str(max(versions)) if versions else None


def is_stale(version: str | None, commit: str | None) -> bool:
    """Whether ``version`` was generated (``+g<hash>``) from another commit than the one checked out."""
    match = _COMMIT.search(version or "")
    return bool(match and commit and not commit.startswith(match[1]))
