"""Applies the rows that a user's configuration adds to the built-in tables of names and keywords.

Comes in: a `Job`. Goes out: edits, or doubts. May touch: libcst only.

Each row of the built-in tables belongs to a rewrite, which documents why and what it leaves alone. A row from
``names``, ``extend-names``, ``keywords`` or ``extend-keywords`` gets the general renaming: the import with all its
uses, and the keywords in calls of its new name.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.transforms import forward_context
from runner_sync.transforms.imported_names import TABLE
from runner_sync.transforms.job import Doubt, Job, NodeEdit
from runner_sync.transforms.keywords import rename_keywords
from runner_sync.transforms.renames import rename_imported

_KNOWN = {*forward_context.NAMES, *(name for row in TABLE.values() for name in row.names)}


def rewrite(job: Job) -> Iterator[NodeEdit | Doubt]:
    """Edits for the names that no other rewrite handles."""
    shared = job.profile.shared_names
    rows = [row for row in job.profile.names if row.name not in _KNOWN and row not in shared]
    if rows:
        yield from rename_imported(job, rows)
        yield from rename_keywords(job, rows)
