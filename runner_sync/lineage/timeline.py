"""Follow the methods of one file through its history, and find the revisions most similar to given texts.

Comes in: the revisions of a file with the methods of each. Goes out: revisions, or their positions. May touch: nothing.

No file is parsed here: methods are cut out of every text by indentation, and identical ones are kept once. Only the
methods whose lines are most similar to a unit are parsed later.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from runner_sync.lineage.cover import cover
from runner_sync.model import Revision
from runner_sync.statements import INDENT
from runner_sync.statements.likeness import dice

KEPT = 6
"""How many of the most similar versions of a unit are compared statement by statement."""

_HEAD = re.compile(r"^( *)(?:async def|def|class) (\w+)", re.MULTILINE)


def methods(text: str) -> dict[str, str]:
    """Return ``{name: body lines}`` of a module's definitions, cut by indentation; of equal names the last one counts.

    Good enough to compare, not to edit: decorators and comments above a definition are left out.
    """
    found: dict[str, str] = {}
    heads = [m for m in _HEAD.finditer(text) if len(m[1]) <= INDENT]  # deeper ones are nested functions
    for head, following in itertools.zip_longest(heads, heads[1:]):
        end = following.start() if following is not None else len(text)
        found[head[2]] = text[head.start() : end]
    return found


def count_lines(text: str) -> Counter[str]:
    """Return the multiset of the lines of a text, without indentation and comments."""
    return Counter(line for line in map(str.strip, text.split("\n")) if line and not line.startswith("#"))


@dataclass(frozen=True, slots=True)
class Timeline:
    """The wanted methods of one file at every revision, oldest first."""

    revisions: tuple[Revision, ...]
    bodies: tuple[Mapping[str, str], ...]

    def causes(self, name: str, added: Sequence[str], since: str) -> list[Revision]:
        """Return the revisions after ``since`` (a commit) that first brought any of the ``added`` lines to method
        ``name``."""
        wanted = _select_telling(added)
        found = []
        for revision, before, now in self._iter_changes(name, since):
            if wanted & (now - before):
                found.append(revision)
                wanted -= now
        return found

    def losses(self, name: str, gone: Sequence[str], since: str) -> list[Revision]:
        """Return the revisions after ``since`` that removed any of the ``gone`` lines from method ``name`` for good."""
        wanted = _select_telling(gone)
        removers: dict[str, Revision] = {}
        for revision, before, now in self._iter_changes(name, since):
            removers = {line: remover for line, remover in removers.items() if line not in now}
            removers |= dict.fromkeys(wanted & (before - now), revision)
        return [revision for revision in self.revisions if revision in removers.values()]

    def _iter_changes(self, name: str, since: str) -> Iterator[tuple[Revision, frozenset[str], frozenset[str]]]:
        """Yield each revision after ``since`` that changed method ``name``, with the method's lines before and after
        it."""
        started, before = False, frozenset[str]()
        for revision, bodies in zip(self.revisions, self.bodies, strict=True):
            now = _get_line_set(bodies.get(name, ""))
            if started and now is not before:
                yield revision, before, now
            started = started or revision.commit.startswith(since)
            before = now


def _select_telling(rows: Sequence[str]) -> set[str]:
    return {line.strip() for line in rows if len(line.strip()) > SHORT_LINE}


@lru_cache(maxsize=4096)
def _get_line_set(body: str) -> frozenset[str]:
    return frozenset(line.strip() for line in body.split("\n"))


SHORT_LINE = 7
"""Lines of at most this many characters (``else:``, ``)``) are ignored because they occur everywhere."""


def nearest(known: Timeline, wanted: Collection[tuple[str, str]]) -> list[int]:
    """Return the positions of few revisions that together have the versions most similar to the ``wanted`` units.

    ``wanted`` holds pairs of method name and text; several modules may have copies of one method, from different
    revisions. Few revisions suffice because most methods do not change in most revisions.
    """
    versions = {name: list(dict.fromkeys(_iter_versions(known, name))) for name, _ in wanted}
    fingerprints = {body: count_lines(body) for bodies in versions.values() for body in bodies}
    best: set[tuple[str, str]] = set()
    for name, text in wanted:
        target = count_lines(text)
        scores = {body: dice(target, fingerprints[body]) for body in versions[name]}
        # The sort is stable: the oldest of equally similar versions comes first.
        best |= {(name, body) for body in sorted(scores, key=scores.__getitem__, reverse=True)[:KEPT]}
    return cover(best, [best & bodies.items() for bodies in known.bodies])


def _iter_versions(known: Timeline, name: str) -> Iterator[str]:
    return (bodies[name] for bodies in known.bodies if name in bodies)
