"""Which vllm-ascend text a unit was copied from: the one that the lock names, else the closest one.

Comes in: a unit, the revisions of its upstream that are at hand, what the lock says. Goes out: a ``Base``. May touch:
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from runner_sync import lineage, merge
from runner_sync.lineage import Candidate, Origin
from runner_sync.lock import digest
from runner_sync.model import BaseRef, Lineage, Triple
from runner_sync.profile import RunnerModule
from runner_sync.units import texts
from runner_sync.upgrade.job import Side


@dataclass(frozen=True, slots=True)
class Base:
    """Where a unit is from: the reference, the module that it names, and the text there. ``kind`` is what the unit is
    beside that text; only a copy follows it."""

    ref: BaseRef
    side: Side
    origin: Origin
    kind: Lineage


def find_base(
    unit: str, text: str, module: RunnerModule, sides: Sequence[Side], *, locked: BaseRef | None = None
) -> Base | None:
    """The base of ``unit``, whose text is ``text``; ``None`` when no revision among ``sides`` has its namesake."""
    name = upstream_name(unit, module)
    namesakes = {side.ref: (side, table[name]) for side in sides if name in (table := _units(side))}
    candidates = [Candidate(ref, body) for ref, (_, body) in namesakes.items()]
    known = _locked(text, candidates, locked) if locked is not None else None
    origin = known or _closest(text, candidates)
    if origin is None:
        return None
    anchor = module.upstreams[0]
    how = "lock" if known is not None else "composite" if origin.composite else "inferred"
    score = round(origin.similarity, 3)
    ref = BaseRef(anchor.project, origin.ref, anchor.path, name, how, score, digest(origin.text), origin.composite)
    kind: Lineage = "copy" if _is_same_record(text, origin.text) else lineage.kind_of(text, origin)
    return Base(ref, namesakes[origin.ref][0], origin, kind)


def upstream_name(unit: str, module: RunnerModule) -> str:
    """Qualified name that a unit has in the upstream module."""
    return f"{module.upstreams[0].name}.{unit.rpartition('.')[2]}" if "." in unit else unit


def _units(side: Side) -> Mapping[str, str]:
    return texts.unit_texts(side.text, side.path)


def _closest(text: str, candidates: Sequence[Candidate]) -> Origin | None:
    """The closest candidate once locals are called alike: one that omni renamed counts against every revision, and
    most against those with the most mentions of it."""
    alike = [Candidate(candidate.ref, _named_alike(text, candidate.text)) for candidate in candidates]
    origin = lineage.infer(text, alike)
    if origin is None:
        return None
    return replace(origin, text=next(one.text for one in candidates if one.ref == origin.ref))


@lru_cache(maxsize=1024)
def _named_alike(text: str, other: str) -> str:
    """``other`` with the local names of ``text``."""
    try:
        return merge.with_omni_names(Triple(other, text, other)).base
    except merge.UnparsableText:
        return other


def _locked(text: str, candidates: Sequence[Candidate], entry: BaseRef) -> Origin | None:
    """The base that the lock names, when its revision is at hand and its text is the one that was locked."""
    for candidate in sorted(candidates, key=lambda one: one.ref != entry.ref):
        if digest(candidate.text) == entry.digest:
            known = lineage.fingerprint(_named_alike(text, candidate.text))
            score = lineage.similarity(text, candidate.text)
            also = [other.text for other in candidates if other.ref in entry.also]
            others = [lineage.fingerprint(_named_alike(text, other)) for other in also]
            heritage = frozenset(canon for other in others for canon in other) - frozenset(known)
            return Origin(candidate.ref, candidate.text, max(score, lineage.COPY), heritage, entry.also)
    return None


def _is_same_record(text: str, other: str) -> bool:
    """Whether two record classes have most fields in common; their types are hints that people change freely."""
    mine, theirs = set(_FIELD.findall(text)), set(_FIELD.findall(other))
    return re.search(r"^class ", text, re.MULTILINE) is not None and 2 * len(mine & theirs) > len(mine | theirs)


_FIELD = re.compile(r"^    (\w+) *:", re.MULTILINE)
