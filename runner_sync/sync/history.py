"""The upstream texts a module may have been copied from: releases, or the history of a checkout.

Comes in: a target tree, the unit texts to be explained. Goes out: ``Side`` values, oldest first.
May touch: what ``sources`` touches, and the cache folder.

Over a git history no file is parsed whole: methods are cut out of every blob by indentation, equal texts are kept
once, and only those whose lines come closest to a unit are looked at as syntax.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from runner_sync.model import Revision, Tree
from runner_sync.sync.job import Side
from runner_sync.sync.options import Progress

KEPT = 6
"""How many of the closest revisions per unit are compared statement by statement."""

_HEAD = re.compile(r"^( *)(?:async def|def|class) (\w+)", re.MULTILINE)


def methods(text: str) -> dict[str, str]:
    """``{name: body lines}`` of the definitions of a module, cut by indentation; the last of a name wins.

    Good enough to compare with, never to edit: decorators and comments above a definition are left out.
    """
    found: dict[str, str] = {}
    heads = [m for m in _HEAD.finditer(text) if len(m[1]) <= 4]
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        end = following.start() if following is not None else len(text)
        found[head[2]] = text[head.start() : end]
    return found


def lines(text: str) -> Counter[str]:
    """Multiset of the lines of a text without indentation and comments."""
    return Counter(line for line in map(str.strip, text.split("\n")) if line and not line.startswith("#"))


def closeness(a: Counter[str], b: Counter[str]) -> float:
    """Dice coefficient of two line multisets."""
    total = a.total() + b.total()
    return 2 * (a & b).total() / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Timeline:
    """The wanted methods of one file at every revision, oldest first."""

    revisions: tuple[Revision, ...]
    bodies: tuple[Mapping[str, str], ...]

    def causes(self, name: str, added: Sequence[str], since: str) -> list[Revision]:
        """The revisions after ``since`` (a commit) that first brought any of the ``added`` lines to method ``name``."""
        wanted = {line.strip() for line in added if len(line.strip()) > TELLING}
        started = False
        found, before = [], frozenset[str]()
        for revision, bodies in zip(self.revisions, self.bodies, strict=True):
            now = _line_set(bodies.get(name, ""))
            if started and now is not before and wanted & (now - before):
                found.append(revision)
                wanted -= now
            started = started or revision.commit.startswith(since)
            before = now
        return found


@lru_cache(maxsize=4096)
def _line_set(body: str) -> frozenset[str]:
    return frozenset(line.strip() for line in body.split("\n"))


TELLING = 7
"""Characters; shorter lines (``else:``, ``)``) stand everywhere."""


def timeline(tree: Tree, path: str, names: Collection[str], progress: Progress) -> Timeline:
    """Read every revision of ``path`` once and keep the methods in ``names``."""
    history: Sequence[Revision] = tree.history(path)  # type: ignore[attr-defined]
    revisions = tuple(reversed(history))
    bodies = []
    for k, revision in enumerate(revisions):
        progress("comparing revisions of vllm-ascend", k + 1, len(revisions))
        found = methods(tree.read_blob(revision.blob))  # type: ignore[attr-defined]
        bodies.append({name: found[name] for name in names if name in found})
    return Timeline(revisions, tuple(bodies))


def nearest(tree: Tree, known: Timeline, wanted: Collection[tuple[str, str]]) -> list[Side]:
    """The revisions that come closest to the ``wanted`` units, each a method name and a text; oldest first.

    Several modules may have copies of one method, from different revisions.
    """
    versions = {name: list(dict.fromkeys(_versions(known, name))) for name, _ in wanted}
    fingerprints = {body: lines(body) for bodies in versions.values() for body in bodies}
    best: dict[str, set[str]] = {name: set() for name in versions}
    for name, text in wanted:
        target = lines(text)
        scores = {body: closeness(target, fingerprints[body]) for body in versions[name]}
        # The sort is stable: of equally close ones the oldest.
        best[name] |= set(sorted(scores, key=scores.__getitem__, reverse=True)[:KEPT])
    return [_side(tree, known.revisions[k]) for k in _covering(best, known.bodies)]


def _versions(known: Timeline, name: str) -> Iterator[str]:
    return (bodies[name] for bodies in known.bodies if name in bodies)


def _covering(best: Mapping[str, Collection[str]], revisions: Sequence[Mapping[str, str]]) -> list[int]:
    """Positions of few revisions that have every wanted body between them.

    Greedy set cover (Johnson, "Approximation algorithms for combinatorial problems", 1974): most methods do not change
    in most revisions, so one revision serves many of them.
    """
    having = [{name for name, body in bodies.items() if body in best.get(name, ())} for bodies in revisions]
    left = {(name, body) for name, bodies in best.items() for body in bodies}
    chosen = []
    while left:
        gains = [sum((name, revisions[k][name]) in left for name in names) for k, names in enumerate(having)]
        at = max(range(len(gains)), key=gains.__getitem__)
        left -= {(name, revisions[at][name]) for name in having[at]}
        chosen.append(at)
    return sorted(chosen)


def _side(tree: Tree, revision: Revision) -> Side:
    return Side(revision.commit[:10], tree.read_blob(revision.blob), revision.path)  # type: ignore[attr-defined]
