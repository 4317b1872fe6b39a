"""What the RS1xx rules and RS201 share: units of a module against the lock, the locked base, and the target.

Comes in: a `Subject`. Goes out: `Locked` units with their texts on every side, statement differences, and the extra
lock keys that let the next `check` tell who was edited (`record`). May touch: nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from runner_sync.lock import Entry, digest
from runner_sync.markers import read_markers
from runner_sync.model import BaseRef, Unit
from runner_sync.statements import Node, UnparsableText, flatten
from runner_sync.units import record_classes, split, units
from runner_sync.verify.ancestry import calls_parent
from runner_sync.verify.job import Subject
from runner_sync.verify.reading import Function, Reading
from runner_sync.verify.spots import definition

# A copy shares at least this much with its upstream (Dice over statements); an override that only has the name shares
# less than 0.35 (measured on vllm-omni 0.12.0rc1 … 0.32.0rc1, as in `lineage`).
COPY = 0.35

# Keys of a lock entry beyond upstream and GPU twin: digests of the NPU unit as it was written.
OWN, OWN_TEXT, GPU_TEXT, OUTSIDE = "digest", "text_hash", "gpu_text_hash", "outside_hash"


@dataclass(frozen=True, slots=True)
class Follower:
    """One NPU unit and the upstream unit it goes by.

    ``name`` is the upstream qualified name, ``ref`` names the base; ``base`` and ``upstream`` are texts or ``None``.
    """

    unit: Unit
    entry: Entry | None
    name: str
    ref: str
    base: str | None
    upstream: str | None


def unit_texts(text: str, path: str = "") -> Mapping[str, Unit]:
    """Units of a module by qualified name: methods, functions, fields, and records whole."""
    return _unit_texts(text, path)


@lru_cache(maxsize=64)
def _unit_texts(text: str, path: str) -> dict[str, Unit]:
    module = split(text, path=path)
    whole = frozenset(record_classes(module))
    kinds = ("method", "function", "field")
    found = units(module, whole=whole)
    return {u.qualname: u for u in found if u.kind in kinds or (u.kind == "class" and u.qualname in whole)}


def followers(subject: Subject) -> Iterator[Follower]:
    """The NPU units that have an upstream unit, by lock or by name."""
    entries = {entry.qualname: entry for entry in subject.module.entries}
    upstream = _texts(subject.upstream)
    for name, unit in unit_texts(subject.npu.text, subject.npu.path).items():
        if unit.kind == "field":
            continue
        entry = entries.get(name)
        if entry is not None and entry.upstream is None:
            continue
        ref = entry.upstream.ref if entry is not None and entry.upstream is not None else subject.module.base_ref
        base = _texts(subject.base(ref))
        for candidate in _upstream_names(subject, name, entry):
            if candidate in base or candidate in upstream:
                yield Follower(unit, entry, candidate, ref, _of(base, candidate), _of(upstream, candidate))
                break


def _texts(reading: Reading | None) -> Mapping[str, Unit]:
    return unit_texts(reading.text, reading.path) if reading is not None else {}


def _of(texts: Mapping[str, Unit], name: str) -> str | None:
    return texts[name].text if name in texts else None


def _upstream_names(subject: Subject, name: str, entry: Entry | None) -> list[str]:
    """Upstream qualified names to try for the NPU unit ``name``."""
    locked = [entry.upstream.qualname] if entry is not None and entry.upstream is not None else []
    _, dot, member = name.rpartition(".")
    anchors = subject.runner.upstreams if subject.runner is not None else ()
    return [*locked, *(f"{anchor.name}.{member}" if dot else name for anchor in anchors)]


def canons(text: str) -> Counter[str]:
    """The statements of a unit in canonical form; comments and docstrings do not count."""
    return Counter(node.canon for node in nodes(text) if not node.is_comment and node.kind != "docstring")


@lru_cache(maxsize=4096)
def nodes(text: str) -> tuple[Node, ...]:
    """Statement nodes of a unit; none when it does not parse."""
    try:
        return flatten(text)
    except UnparsableText:
        return ()


def similarity(a: str, b: str) -> float:
    """Dice coefficient of the statements of two units, 0…1."""
    first, second = canons(a), canons(b)
    total = first.total() + second.total()
    return 2 * (first & second).total() / total if total else 0.0


def is_copy(subject: Subject, follower: Follower) -> bool:
    """Whether the NPU unit is a copy of its upstream, not an override that merely has the name or calls it."""
    node = definition(subject.npu, follower.unit.qualname)
    if isinstance(node, Function) and calls_parent(node, node.name, named=follower.name.rpartition(".")[0]):
        return False
    known = [text for text in (follower.base, follower.upstream) if text is not None]
    return any(similarity(follower.unit.text, text) >= COPY for text in known)


@dataclass(frozen=True, slots=True)
class Difference:
    """What upstream did to a unit and the copy has not got: statements added there, statements gone there."""

    added: tuple[str, ...]
    dropped: tuple[str, ...]
    missing: tuple[str, ...]
    leftover: tuple[str, ...]


def difference(base: str, upstream: str, copy: str) -> Difference:
    """Statements that changed from ``base`` to ``upstream``, and which of them ``copy`` does not follow yet."""
    old, new, mine = canons(base), canons(upstream), canons(copy)
    added, dropped = new - old, old - new
    missing = added - mine
    leftover = dropped & (mine - (new & mine))
    return Difference(*(tuple(counter.elements()) for counter in (added, dropped, missing, leftover)))


def text_hash(text: str) -> str:
    """Hash of a text as it stands: a quick way to say that nothing at all changed."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def outside_hash(reading: Reading, unit: Unit, *, label: str) -> str:
    """Hash of the code of ``unit`` outside its Omni-new blocks; layout and comments do not count."""
    marked = read_markers(reading.text, path=reading.path, label=label).marked
    kept = [
        re.sub(r"\s+", "", line)
        for number, line in enumerate(unit.text.split("\n"), start=unit.start)
        if number not in marked and not line.lstrip().startswith("#")
    ]
    return text_hash("".join(kept))


def record(entries: Iterable[Entry], npu: Reading, gpu: Reading | None, *, label: str) -> tuple[Entry, ...]:
    """``entries`` of one module with the keys by which RS110 and RS201 tell who was edited since.

    Call it when the lock is written, with the texts as they are written.
    """
    own = unit_texts(npu.text, npu.path)
    twins = unit_texts(gpu.text, gpu.path) if gpu is not None else {}
    recorded = []
    for entry in entries:
        extra = dict(entry.extra)
        if (unit := own.get(entry.qualname)) is not None:
            extra[OWN], extra[OWN_TEXT] = digest(unit.text), text_hash(unit.text)
            extra[OUTSIDE] = outside_hash(npu, unit, label=label)
        twin = twins.get(entry.gpu.qualname) if entry.gpu is not None else None
        # Only where the twin is the locked one: else the quick way would hide a change.
        if entry.gpu is not None and twin is not None and digest(twin.text) == entry.gpu.digest:
            extra[GPU_TEXT] = text_hash(twin.text)
        recorded.append(replace(entry, extra=extra))
    return tuple(recorded)


def is_edited(entry: Entry, unit: Unit) -> bool | None:
    """Whether the NPU unit differs from what was locked; ``None`` when the lock does not tell."""
    locked = entry.extra.get(OWN)
    if not isinstance(locked, str):
        return None
    return text_hash(unit.text) != entry.extra.get(OWN_TEXT) and digest(unit.text) != locked


def has_moved(reference: BaseRef, unit: Unit, *, quick: object) -> bool:
    """Whether ``unit`` is no longer the text that ``reference`` was locked to."""
    return text_hash(unit.text) != quick and digest(unit.text) != reference.digest
