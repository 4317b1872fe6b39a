"""Carry out the rows that configuration adds to the built-in tables of names and keywords.

In: a `Job`. Out: edits, or doubts. May touch: libcst only. A row of the built-in tables has a rewrite of its own, which
says why and what it leaves alone; one from ``names``, ``extend-names``, ``keywords`` or ``extend-keywords`` has what
every renaming has: the import and all its uses, and the keywords of the calls that mean its new name.
"""

from __future__ import annotations

from collections.abc import Iterator

from runner_sync.profile import NPU
from runner_sync.transforms.job import Doubt, Edit, Job
from runner_sync.transforms.keywords import rename_keywords
from runner_sync.transforms.renames import rename_imported

_BUILT_IN = {row.name for row in NPU.names}


def rewrite(job: Job) -> Iterator[Edit | Doubt]:
    """Edits for the names that no rewrite of ours knows."""
    rows = [row for row in job.profile.names if row.name not in _BUILT_IN]
    if rows:
        yield from rename_imported(job, rows)
        yield from rename_keywords(job, rows)
