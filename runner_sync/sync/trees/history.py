"""Read the history of a checkout once per file.

Comes in: a tree in git, paths of files. Goes out: a ``Timeline``, ``ModuleRevision`` values of its revisions, commits.
May touch: what ``sources`` touches, and the cache folder.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

from runner_sync.errors import InputError
from runner_sync.lineage.alignment import Change, since_alignment
from runner_sync.lineage.timeline import Timeline, methods, nearest
from runner_sync.lock import load
from runner_sync.model import Revision
from runner_sync.sync.memo import recall
from runner_sync.sync.options import Progress
from runner_sync.trees import InGit
from runner_sync.upgrade import ModuleRevision


def read_timeline(
    tree: InGit, places: Sequence[str], names: Collection[str], progress: Progress, *, parents: Sequence[str] = ()
) -> Timeline:
    """Read every revision of a file at ``places`` once and keep the methods in ``names``.

    ``parents`` are the files of base classes, whose methods count where the file has none of the name. With them, only
    first-parent commits are read.
    """
    states = _read_states(tree, places, parents) if parents else [(r, (r.blob,)) for r in tree.history(*places)[::-1]]

    def read_methods() -> object:
        texts: dict[str, int] = {}
        rows = []
        for k, (_revision, blobs) in enumerate(states):
            progress(f"comparing revisions of {tree.source.project}", k + 1, len(states))
            found = dict(ChainMap(*(methods(tree.read_blob(blob)) for blob in blobs)))
            rows.append({name: texts.setdefault(found[name], len(texts)) for name in names if name in found})
        return [list(texts), rows]

    key = [*sorted(names), "", *(" ".join(blobs) for _revision, blobs in states)]
    texts, rows = recall("methods", key, read_methods)
    revisions = tuple(revision for revision, _blobs in states)
    return Timeline(revisions, tuple({name: texts[at] for name, at in row.items()} for row in rows))


def _read_states(tree: InGit, places: Sequence[str], parents: Sequence[str]) -> list[tuple[Revision, tuple[str, ...]]]:
    """Return the first-parent commits that changed a file or its ``parents``, oldest first, with the blobs of each."""
    states, blobs = list[tuple[Revision, tuple[str, ...]]](), dict[str, str]()
    for step in reversed(tree.steps([*places, *parents])):
        blobs |= {one.path: one.blob for one in step}
        if (path := next((path for path in places if blobs.get(path)), None)) is not None:
            revision = replace(step[0], blob=blobs[path], path=path)
            states.append((revision, tuple(filter(None, map(blobs.get, [path, *parents])))))
    return states


def find_closest(
    known: Timeline, wanted: Collection[tuple[str, str]], read: Callable[[Revision], ModuleRevision]
) -> list[ModuleRevision]:
    """Return the revisions closest to the ``wanted`` units (method name and text), oldest first."""
    return [read(known.revisions[k]) for k in nearest(known, wanted)]


def find_alignments(
    tree: InGit, own_paths: Sequence[str], twin: Sequence[str], *, lock_file: str, catches_up: bool
) -> list[str]:
    """Return the commits, oldest first, whose twin a derived module may have been aligned with last.

    ``own_paths`` and ``twin`` are the possible places of the module and of its twin; the first existing one counts.
    Returns nothing if the history does not reach back to an alignment. A commit that writes a ``lock_file`` without any
    GPU text for the module is none, because its upgrade left the GPU runners out. ``catches_up`` is passed to
    ``since_alignment``.
    """
    found = since_alignment(_read_changes(tree, own_paths, twin, lock_file), catches_up=catches_up)
    return [change.commit[:10] for change in found]


def _read_changes(tree: InGit, own_paths: Sequence[str], twin: Sequence[str], lock_file: str) -> Iterator[Change]:
    """Yield what each commit, newest first, did to a derived module and to its twin."""
    states: list[tuple[str, Mapping[str, str]]] = [("", {})]
    for step in reversed(tree.steps([*own_paths, *twin, lock_file])):
        states.append((step[0].commit, {**states[-1][1], **{one.path: one.blob for one in step}}))

    def text(blobs: Mapping[str, str], paths: Sequence[str]) -> str:
        blob = next(filter(None, map(blobs.get, paths)), None)
        return tree.read_blob(blob) if blob is not None else ""

    for (_, before), (commit, after) in reversed(list(pairwise(states))):
        is_locked = before.get(lock_file) != after.get(lock_file)
        if not (is_locked and _leaves_twins_out(text(after, [lock_file]), own_paths)):
            yield Change(commit, text(before, own_paths), text(after, own_paths), text(before, twin), text(after, twin))


def _leaves_twins_out(lock_text: str, own_paths: Sequence[str]) -> bool:
    """Whether a lock records units, and no GPU text for any of a derived module."""
    with suppress(InputError):
        lock = load(lock_text)
        return bool(lock.entries) and all(entry.gpu is None for path in own_paths for entry in lock.of(path))
    return False
