"""Finds the vllm-ascend text that a unit was copied from: the text that the lock names, else the most similar text.

Comes in: a unit, the revisions of its upstream module at hand, and its lock entry. Goes out: a ``Base``. May touch:
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from runner_sync import lineage, merge
from runner_sync.digests import digest
from runner_sync.lineage import Candidate, Origin
from runner_sync.lineage.undivided import Revision, undivide
from runner_sync.model import BaseRef, How, Lineage
from runner_sync.profile import RunnerModule
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import Closest, ModuleJob
from runner_sync.upgrade.revision import ModuleRevision


@dataclass(frozen=True, slots=True)
class Base:
    """The base of a unit: its reference, the module revision that it names, and the upstream text there.

    ``kind`` is the relation of the unit to that text; only a copy follows it. ``unsynced`` holds statements of the text
    that are newer than the copy. ``copied`` is the text without them.
    """

    ref: BaseRef
    side: ModuleRevision
    origin: Origin
    kind: Lineage
    copied: str
    unsynced: tuple[str, ...] = ()


def closest(name: str, text: str, sides: Sequence[ModuleRevision]) -> Origin | None:
    """Return the text of ``name`` in ``sides`` that is most similar to omni's ``text``; ``None`` if there is none.

    Local names are made alike before the comparison. Otherwise a local that omni renamed would count against every
    revision, and most against a revision that mentions it most often. Code that a revision has in a new method may
    stand in a copy of it, or be what omni dropped from a copy of an earlier one. So the revisions are also compared
    with that code in place of the call, and the result counts if ``text`` clearly has more of what only that revision
    has.
    """
    candidates = _find_namesakes(name, sides)
    raw = [candidate.text for candidate in candidates]
    origin = _find_most_similar(text, candidates, raw)
    whole = _undivide(name, text, candidates, sides)
    if origin is None or whole == raw:
        return origin
    other = _find_most_similar(text, candidates, whole)
    assert other is not None
    texts = {candidate.ref: one for candidate, one in zip(candidates, merge.rename_alike(text, whole), strict=True)}
    own, first, second = (lineage.fingerprint(one) for one in (text, texts[origin.ref], texts[other.ref]))
    more = (own & (second - first)).total() - (own & (first - second)).total()
    return other if more >= lineage.FEWEST else origin


def _find_most_similar(text: str, candidates: Sequence[Candidate], compared: Sequence[str]) -> Origin | None:
    """Return the candidate whose ``compared`` text is most similar to ``text``."""
    named = merge.rename_alike(text, compared)
    alike = [replace(candidate, text=body) for candidate, body in zip(candidates, named, strict=True)]
    origin = lineage.find_origin(text, alike)
    if origin is None:
        return None
    return replace(origin, text=next(one.text for one in candidates if one.ref == origin.ref))


def _undivide(name: str, text: str, candidates: Sequence[Candidate], sides: Sequence[ModuleRevision]) -> list[str]:
    """Return the texts of ``candidates`` with the passages in place that upstream took out of earlier ones."""
    owner = name.rpartition(".")[0]
    methods = {side.ref: side.members(owner) if owner else {} for side in sides}
    return undivide([Revision(candidate.text, methods[candidate.ref]) for candidate in candidates], text)


def collect_composite_statements(
    text: str, base: BaseRef, sides: Sequence[ModuleRevision], origin: Origin
) -> frozenset[str]:
    """Return the statements that a composite copy's other revisions have and its base lacks.

    The statements use the local names of ``text``.
    """
    parts = _find_namesakes(base.qualname, [side for side in sides if side.ref in origin.composite])
    return _collect_other_statements(text, origin.text, [part.text for part in parts])


def _collect_other_statements(text: str, base: str, others: Sequence[str]) -> frozenset[str]:
    """Return the statements of ``others`` that ``base`` lacks, all with the local names of ``text``."""
    base_counts, *other_counts = (lineage.fingerprint(one) for one in merge.rename_alike(text, [base, *others]))
    return frozenset(canon for one in other_counts for canon in one) - frozenset(base_counts)


def find_base_text(draft: Draft, job: ModuleJob) -> str | None:
    """Return the upstream text of a draft's unit at its base revision; ``None`` if it is not at hand."""
    if draft.base is None:
        return None
    side = job.upstream.at(draft.base.ref)
    return side.units.get(draft.base.qualname) if side is not None else None


def find_base(
    unit: str,
    text: str,
    module: RunnerModule,
    sides: Sequence[ModuleRevision],
    *,
    locked: BaseRef | None = None,
    infer: Closest = closest,
) -> Base | None:
    """Return the base of ``unit``, whose text is ``text``; ``None`` if no revision in ``sides`` has the unit."""
    name = name_in_upstream(unit, module)
    known = _find_locked_base(text, _find_namesakes(name, sides), locked) if locked is not None else None
    origin = known or infer(name, text, [side for side in sides if side.is_base])
    if origin is None:
        return None
    older = _find_namesakes(
        name, [s for s in sides if s.ref in origin.composite] if known else _find_earlier_text(name, origin, sides)
    )
    if origin.similarity < lineage.COPY:
        older = []  # Omni took only part of such a method, so missing statements do not date the copy.
    copied, unsynced, beside = _drop_unsynced(text, origin.text, older)
    if known is None:
        origin = replace(origin, composite=(*origin.composite, *beside))
    anchor = module.anchor
    how: How = "lock" if known is not None else "composite" if origin.composite else "inferred"
    score = round(origin.similarity, 3)
    side = next(side for side in reversed(sides) if side.ref == origin.ref)
    ref = BaseRef(anchor.project, origin.ref, side.path, name, how, score, digest(origin.text), origin.composite)
    kind = lineage.classify(text, origin, owner=anchor.name, is_locked=known is not None)
    if _is_same_record(text, origin.text):
        kind = "copy"
    return Base(ref, side, origin, kind, copied, unsynced)


def find_base_of(draft: Draft, job: ModuleJob) -> Base | None:
    """Return the base of a draft among the revisions of its job; ``None`` if there is none."""
    locked, infer = job.upstream.locked.get(draft.name), job.upstream.infer or closest
    return find_base(draft.name, draft.text, job.module, job.upstream.bases, locked=locked, infer=infer)


def _find_earlier_text(name: str, origin: Origin, sides: Sequence[ModuleRevision]) -> list[ModuleRevision]:
    """Return the last text of the unit before the base that differs from it: a list of one text or none."""
    base_index = next(k for k, side in enumerate(sides) if side.ref == origin.ref and side.is_base)
    # Starts at the newest, because the first access to a revision splits its whole module into units.
    others = (s for s in reversed(sides[:base_index]) for one in _find_namesakes(name, [s]) if one.text != origin.text)
    return [*islice(others, 1)]


def _drop_unsynced(text: str, base: str, older: Sequence[Candidate]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Remove statements from the base that are new in its release and that the copy never received.

    The ``older`` revisions show which statements are new. Returns the shortened base, the removed statements, and the
    refs of ``older`` if any statement was removed.
    """
    if not older:
        return base, (), ()
    copied, unsynced = lineage.without_unsynced(base, [one.text for one in older], text)
    return copied, unsynced, tuple(one.ref for one in older) if unsynced else ()


def name_in_upstream(unit: str, module: RunnerModule) -> str:
    """Return the qualified name that a unit has in the upstream module."""
    return f"{module.anchor.name}.{unit.rpartition('.')[2]}" if "." in unit else unit


def _find_namesakes(name: str, sides: Sequence[ModuleRevision]) -> list[Candidate]:
    tables = {side.ref: (side.units, side.is_named) for side in sides}
    return [Candidate(ref, table[name], is_named) for ref, (table, is_named) in tables.items() if name in table]


def _find_locked_base(text: str, candidates: Sequence[Candidate], entry: BaseRef) -> Origin | None:
    """Return the base that the lock names; ``None`` if no revision at hand has exactly the locked text.

    Prefers the locked revision if several have the text.
    """
    for candidate in sorted(candidates, key=lambda one: one.ref != entry.ref):
        if digest(candidate.text) == entry.digest:
            score = lineage.similarity(text, candidate.text)
            also = [other.text for other in candidates if other.ref in entry.also]
            heritage = _collect_other_statements(text, candidate.text, also)
            heritage |= frozenset[str]().union(*map(lineage.comments, also)) - lineage.comments(candidate.text)
            return Origin(candidate.ref, candidate.text, max(score, lineage.COPY), heritage, entry.also)
    return None


def _is_same_record(text: str, other: str) -> bool:
    """Whether both texts are record classes with most field names in common; people change annotations freely."""
    fields, other_fields = set(_FIELD.findall(text)), set(_FIELD.findall(other))
    return re.search(r"^class ", text, re.MULTILINE) is not None and 2 * len(fields & other_fields) > len(
        fields | other_fields
    )


_FIELD = re.compile(r"^    (\w+) *:", re.MULTILINE)
