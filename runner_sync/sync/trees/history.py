"""Read the history of a checkout once per file.

Comes in: a tree in git, paths of files. Goes out: a ``Timeline``, ``ModuleRevision`` values of its revisions, commits.
May touch: what ``sources`` touches, and the cache folder.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from runner_sync.lineage.alignment import Change, since_alignment
from runner_sync.lineage.timeline import Timeline, methods, nearest
from runner_sync.sync.memo import recall
from runner_sync.sync.options import Progress
from runner_sync.trees import InGit
from runner_sync.upgrade import ModuleRevision


def read_timeline(tree: InGit, places: Sequence[str], names: Collection[str], progress: Progress) -> Timeline:
    """Read every revision of a file at ``places`` once and keep the methods in ``names``."""
    revisions = tuple(reversed(tree.history(*places)))

    def read_methods() -> object:
        texts: dict[str, int] = {}
        rows = []
        for k, revision in enumerate(revisions):
            progress(f"comparing revisions of {tree.source.project}", k + 1, len(revisions))
            found = methods(tree.read_blob(revision.blob))
            rows.append({name: texts.setdefault(found[name], len(texts)) for name in names if name in found})
        return [list(texts), rows]

    texts, rows = recall("methods", [*sorted(names), "", *(revision.blob for revision in revisions)], read_methods)
    return Timeline(revisions, tuple({name: texts[at] for name, at in row.items()} for row in rows))


def find_closest(tree: InGit, known: Timeline, wanted: Collection[tuple[str, str]]) -> list[ModuleRevision]:
    """Return the revisions closest to the ``wanted`` units (method name and text), oldest first."""
    chosen = [known.revisions[k] for k in nearest(known, wanted)]
    return [ModuleRevision(one.commit[:10], tree.read_blob(one.blob), one.path) for one in chosen]


def find_alignments(tree: InGit, mine: Sequence[str], twin: Sequence[str], *, catches_up: bool) -> list[str]:
    """Return the commits, oldest first, whose twin a derived module may have been aligned with last.

    ``mine`` and ``twin`` are the possible places of the module and of its twin; the first existing one counts. Returns
    nothing if the history does not reach back to an alignment. ``catches_up`` is passed to ``since_alignment``.
    """
    found = since_alignment(_read_changes(tree, mine, twin), catches_up=catches_up)
    return [change.commit[:10] for change in found]


def _read_changes(tree: InGit, mine: Sequence[str], twin: Sequence[str]) -> Iterator[Change]:
    """Yield what each commit, newest first, did to a derived module and to its twin."""
    states: list[tuple[str, Mapping[str, str]]] = [("", {})]
    for step in reversed(tree.steps([*mine, *twin])):
        states.append((step[0].commit, {**states[-1][1], **{one.path: one.blob for one in step}}))

    def text(blobs: Mapping[str, str], paths: Sequence[str]) -> str:
        blob = next(filter(None, map(blobs.get, paths)), None)
        return tree.read_blob(blob) if blob is not None else ""

    for (_, before), (commit, after) in reversed(list(pairwise(states))):
        yield Change(commit, text(before, mine), text(after, mine), text(before, twin), text(after, twin))
