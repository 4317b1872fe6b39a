"""Which vllm-ascend text a unit was copied from: the one that the lock names, else the most similar one.

Comes in: a unit, the revisions of its upstream that are at hand, what the lock says. Goes out: a ``Base``. May touch:
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from runner_sync import lineage, merge
from runner_sync.lineage import Candidate, Origin
from runner_sync.lock import digest
from runner_sync.model import BaseRef, How, Lineage
from runner_sync.profile import RunnerModule
from runner_sync.units import texts
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import Closest, ModuleJob, ModuleRevision


@dataclass(frozen=True, slots=True)
class Base:
    """What a unit was made from: the reference, the module revision that it names, and the text there.

    ``kind`` says what the unit is compared with that text; only a copy follows it. ``unsynced`` are statements of that
    text that came after the copy was made, ``copied`` is the text without them.
    """

    ref: BaseRef
    side: ModuleRevision
    origin: Origin
    kind: Lineage
    copied: str
    unsynced: tuple[str, ...] = ()


def closest(name: str, text: str, sides: Sequence[ModuleRevision]) -> Origin | None:
    """The text of ``name`` in ``sides`` that is most similar to omni's ``text``; ``None`` if there is none.

    They are compared with the same local names: otherwise a local that omni renamed would count against every revision,
    and most against those that mention it most often.
    """
    candidates = _namesakes(name, sides)
    named = merge.named_alike(text, [candidate.text for candidate in candidates])
    alike = [Candidate(candidate.ref, body) for candidate, body in zip(candidates, named, strict=True)]
    origin = lineage.infer(text, alike)
    if origin is None:
        return None
    return replace(origin, text=next(one.text for one in candidates if one.ref == origin.ref))


def versions_of(text: str, base: BaseRef, sides: Sequence[ModuleRevision], origin: Origin) -> frozenset[str]:
    """Statements of the other revisions that parts of a composite copy come from, without those of its base.

    They have the local names of ``text``.
    """
    parts = _namesakes(base.qualname, [side for side in sides if side.ref in origin.composite])
    return _beyond(text, origin.text, [part.text for part in parts])


def _beyond(text: str, base: str, others: Sequence[str]) -> frozenset[str]:
    """The statements of ``others`` that ``base`` lacks, all in the local names of ``text``."""
    known, *found = (lineage.fingerprint(one) for one in merge.named_alike(text, [base, *others]))
    return frozenset(canon for one in found for canon in one) - frozenset(known)


def base_text(draft: Draft, job: ModuleJob) -> str | None:
    """Text of the unit that a draft follows, in the revision named as its base; ``None`` if that is not at hand."""
    if draft.base is None:
        return None
    side = job.upstream.at(draft.base.ref)
    return texts.unit_texts(side.text, side.path).get(draft.base.qualname) if side is not None else None


def find_base(
    unit: str,
    text: str,
    module: RunnerModule,
    sides: Sequence[ModuleRevision],
    *,
    locked: BaseRef | None = None,
    infer: Closest = closest,
) -> Base | None:
    """The base of ``unit``, whose text is ``text``; ``None`` when no revision in ``sides`` has a unit of that name."""
    name = upstream_name(unit, module)
    known = _locked(text, _namesakes(name, sides), locked) if locked is not None else None
    origin = known or infer(name, text, [side for side in sides if side.is_base])
    if origin is None:
        return None
    older = _namesakes(
        name, [s for s in sides if s.ref in origin.composite] if known else _revision_before(name, origin, sides)
    )
    if origin.similarity < lineage.COPY:
        older = []  # omni took such a method in part: what it lacks says nothing about the date of the copy
    copied, unsynced, beside = _as_copied(text, origin.text, older)
    if known is None:
        origin = replace(origin, composite=(*origin.composite, *beside))
    anchor = module.upstreams[0]
    how: How = "lock" if known is not None else "composite" if origin.composite else "inferred"
    score = round(origin.similarity, 3)
    ref = BaseRef(anchor.project, origin.ref, anchor.path, name, how, score, digest(origin.text), origin.composite)
    kind = lineage.kind_of(text, origin, owner=anchor.name)
    if _is_same_record(text, origin.text):
        kind = "copy"
    return Base(ref, next(side for side in reversed(sides) if side.ref == origin.ref), origin, kind, copied, unsynced)


def _revision_before(name: str, origin: Origin, sides: Sequence[ModuleRevision]) -> list[ModuleRevision]:
    """The last revision before the base that has another text for the unit; at most one."""
    base_index = next(k for k, side in enumerate(sides) if side.ref == origin.ref and side.is_base)
    # From the last one on, because the first question to a revision cuts its whole module into units.
    others = (s for s in reversed(sides[:base_index]) for one in _namesakes(name, [s]) if one.text != origin.text)
    return [*islice(others, 1)]


def _as_copied(text: str, base: str, older: Sequence[Candidate]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """The base without the statements that are new in its release and that the copy never received, as far as the
    ``older`` revisions show; those statements; and the ``older`` revisions, if there are any such statements."""
    if not older:
        return base, (), ()
    copied, unsynced = lineage.without_unsynced(base, [one.text for one in older], text)
    return copied, unsynced, tuple(one.ref for one in older) if unsynced else ()


def upstream_name(unit: str, module: RunnerModule) -> str:
    """Qualified name that a unit has in the upstream module."""
    return f"{module.upstreams[0].name}.{unit.rpartition('.')[2]}" if "." in unit else unit


def _namesakes(name: str, sides: Sequence[ModuleRevision]) -> list[Candidate]:
    tables = {side.ref: texts.unit_texts(side.text, side.path) for side in sides}
    return [Candidate(ref, table[name]) for ref, table in tables.items() if name in table]


def _locked(text: str, candidates: Sequence[Candidate], entry: BaseRef) -> Origin | None:
    """The base that the lock names, if a revision at hand has exactly the locked text; its own revision first."""
    for candidate in sorted(candidates, key=lambda one: one.ref != entry.ref):
        if digest(candidate.text) == entry.digest:
            score = lineage.similarity(text, candidate.text)
            also = [other.text for other in candidates if other.ref in entry.also]
            heritage = _beyond(text, candidate.text, also)
            heritage |= frozenset[str]().union(*map(lineage.comments, also)) - lineage.comments(candidate.text)
            return Origin(candidate.ref, candidate.text, max(score, lineage.COPY), heritage, entry.also)
    return None


def _is_same_record(text: str, other: str) -> bool:
    """Whether both are record classes with most field names in common; people change annotations freely."""
    mine, theirs = set(_FIELD.findall(text)), set(_FIELD.findall(other))
    return re.search(r"^class ", text, re.MULTILINE) is not None and 2 * len(mine & theirs) > len(mine | theirs)


_FIELD = re.compile(r"^    (\w+) *:", re.MULTILINE)
