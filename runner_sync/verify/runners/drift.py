"""Compares the units of a module with their base and with the target; shared by the RS1xx rules.

Comes in: a `Subject`. Goes out: `Follower`s with their texts on every side, and statement differences. May touch:
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from runner_sync.lineage import Candidate, classify, find_origin, fingerprint, similarity
from runner_sync.lock import Entry
from runner_sync.model import Unit
from runner_sync.statements.likeness import word_similarity
from runner_sync.verify.runners.ancestry import find_ancestry
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.parity import translate_to_npu
from runner_sync.verify.runners.reading import ClassText, Reading

PORT = 0.25
"""Above this lead of the GPU twin over upstream (difference of Dice coefficients), a unit counts as ported.

In the releases 0.18.0 … 0.30.0, ports are closer to the twin by 0.28 … 1.0, copies by 0.11 at most.
"""

SAME_BUT_OMNI = 0.85
"""From this Dice coefficient of words on, a statement counts as upstream's statement with omni's additions.

An unpacking of thirteen values to which omni added one has 0.96.
"""


@dataclass(frozen=True, slots=True)
class Follower:
    """One NPU unit and the upstream unit that it follows.

    ``name`` is the upstream qualified name, ``ref`` names the base revision. ``base`` and ``upstream`` are texts;
    ``None`` if the unit does not exist there.
    """

    unit: Unit
    entry: Entry | None
    name: str
    ref: str
    base: str | None
    upstream: str | None


def find_followers(subject: Subject) -> Iterator[Follower]:
    """Yield the NPU units that have an upstream unit, found by lock entry or by name."""
    entries = {entry.qualname: entry for entry in subject.module.entries}
    upstream = _get_units(subject.upstream)
    for name, unit in subject.npu.units.items():
        if unit.kind == "field":
            continue
        entry = entries.get(name)
        if entry is not None and entry.upstream is None:
            continue
        ref = entry.upstream.ref if entry is not None and entry.upstream is not None else subject.module.base_ref
        base = _get_units(subject.base(ref))
        for candidate in _list_upstream_names(subject, name, entry):
            if candidate in base or candidate in upstream:
                yield Follower(unit, entry, candidate, ref, _text_of(base, candidate), _text_of(upstream, candidate))
                break


def _get_units(reading: Reading | None) -> Mapping[str, Unit]:
    return reading.units if reading is not None else {}


def _text_of(texts: Mapping[str, Unit], name: str) -> str | None:
    return texts[name].text if name in texts else None


def _list_upstream_names(subject: Subject, name: str, entry: Entry | None) -> list[str]:
    """Return upstream qualified names to try for the NPU unit ``name``, the locked one first."""
    locked = [entry.upstream.qualname] if entry is not None and entry.upstream is not None else []
    owner, dot, member = name.rpartition(".")
    anchors = subject.runner.upstreams if subject.runner is not None else ()
    if dot and not _is_of_runner(subject, owner):
        return locked
    return [*locked, *(f"{anchor.name}.{member}" if dot else name for anchor in anchors)]


def _is_of_runner(subject: Subject, owner: str) -> bool:
    """Whether a class is a runner, as far as the omni tree shows it, or a base of a runner of its module.

    The methods of a helper class (``_NPUHostCopyBatch.__init__``) are no overrides of the runner's.
    """
    classes = subject.npu.classes
    own = classes.get(owner.partition("#")[0])
    return own is None or any(
        own in find_ancestry(subject.library, head).classes and _is_runner(subject, head) for head in classes.values()
    )


def _is_runner(subject: Subject, head: ClassText) -> bool:
    """Whether a class is one of the profile's, or derives from one or from what the module follows, or may do so."""
    names = {npu for _, npu in subject.profile.classes}
    names |= {anchor.name for anchor in (subject.runner.upstreams if subject.runner is not None else ())}
    ancestry = find_ancestry(subject.library, head)
    bases = (base.rpartition(".")[2] for one in ancestry.classes for base in one.bases)
    return ancestry.is_open or not names.isdisjoint([*(one.name for one in ancestry.classes), *bases])


def is_copy(subject: Subject, follower: Follower) -> bool:
    """Whether the NPU unit is a copy of its upstream unit, not an override that calls it or only shares its name."""
    known = [text for text in (follower.base, follower.upstream) if text is not None]
    origin = find_origin(follower.unit.text, [Candidate("", text) for text in known])
    owner = follower.name.rpartition(".")[0]
    known_as = follower.entry.upstream if follower.entry is not None else None
    is_locked = known_as is not None and known_as.how == "lock"
    if origin is None or classify(follower.unit.text, origin, owner=owner, is_locked=is_locked) != "copy":
        return False
    return _likeness_to_twin(subject, follower.unit) <= origin.similarity + PORT


def _likeness_to_twin(subject: Subject, unit: Unit) -> float:
    text = _text_of(_get_units(subject.gpu), subject.profile.gpu_name(unit.qualname))
    return similarity(unit.text, translate_to_npu(text, subject.profile)) if text is not None else 0.0


def _has_edited_form(statement: str, own: Iterable[str], dropped: Iterable[str]) -> bool:
    """Whether one of the copy's ``own`` statements is an edited form of ``statement``.

    It must be more similar to ``statement`` than to any statement that upstream dropped.
    """
    return any(
        (likeness := word_similarity(statement, own_statement)) >= SAME_BUT_OMNI
        and likeness > max((word_similarity(own_statement, old) for old in dropped), default=0.0)
        for own_statement in own
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """The statements that upstream ``added`` and ``dropped``.

    ``missing`` are added statements that the copy lacks; ``leftover`` are dropped statements that it still has.
    """

    added: tuple[str, ...]
    dropped: tuple[str, ...]
    missing: tuple[str, ...]
    leftover: tuple[str, ...]


def compare_statements(base: str, upstream: str, copy: str) -> Difference:
    """Return the statements that changed from ``base`` to ``upstream``, and which of them ``copy`` does not follow."""
    old, new, copied = fingerprint(base), fingerprint(upstream), fingerprint(copy)
    added, dropped = new - old, old - new
    own = copied - old - new
    missing = Counter(s for s in (added - copied).elements() if not _has_edited_form(s, own, dropped))
    leftover = dropped & (copied - (new & copied))
    return Difference(*(tuple(counter.elements()) for counter in (added, dropped, missing, leftover)))
