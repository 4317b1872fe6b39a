"""The history of a checkout, read once per file.

Comes in: a target tree, the path of a file. Goes out: a ``Timeline``, and ``ModuleRevision`` values of its revisions.
May touch: what ``sources`` touches, and the cache folder.
"""

from __future__ import annotations

from collections.abc import Collection

from runner_sync.lineage.timeline import Timeline, methods, nearest
from runner_sync.model import InGit
from runner_sync.sync.memo import recall
from runner_sync.sync.options import Progress
from runner_sync.upgrade import ModuleRevision


def timeline(tree: InGit, path: str, names: Collection[str], progress: Progress) -> Timeline:
    """Read every revision of ``path`` once and keep the methods in ``names``."""
    revisions = tuple(reversed(tree.history(path)))

    def cut() -> object:
        texts: dict[str, int] = {}
        rows = []
        for k, revision in enumerate(revisions):
            progress(f"comparing revisions of {tree.source.project}", k + 1, len(revisions))
            found = methods(tree.read_blob(revision.blob))
            rows.append({name: texts.setdefault(found[name], len(texts)) for name in names if name in found})
        return [list(texts), rows]

    texts, rows = recall("methods", [*sorted(names), "", *(revision.blob for revision in revisions)], cut)
    return Timeline(revisions, tuple({name: texts[at] for name, at in row.items()} for row in rows))


def closest(tree: InGit, known: Timeline, wanted: Collection[tuple[str, str]]) -> list[ModuleRevision]:
    """The revisions that come closest to the ``wanted`` units, each a method name and a text; oldest first."""
    chosen = [known.revisions[k] for k in nearest(known, wanted)]
    return [ModuleRevision(one.commit[:10], tree.read_blob(one.blob), one.path) for one in chosen]
