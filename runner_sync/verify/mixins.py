"""Finds the omni mixins of a GPU class that its NPU twin lacks, and what only they bring; shared by the RS2xx rules.

Comes in: a `Subject` and a `Pair`. Goes out: the mixins by name, each with its members. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from runner_sync.syntax import is_name, self_attributes_set, walk
from runner_sync.verify.answers import answered_once
from runner_sync.verify.ignores import silence
from runner_sync.verify.runners.ancestry import find_ancestry
from runner_sync.verify.runners.job import Subject
from runner_sync.verify.runners.parity import Pair, read_upstream_words
from runner_sync.verify.runners.reading import Reading, constant_text, dotted

REPORTED_BY = "RS204"
"""The rule that reports a missing mixin."""


class Mixin(NamedTuple):
    """A base of the GPU class by its defined name, and what only it brings."""

    name: str
    members: frozenset[str]


@answered_once
def find_missing_mixins(subject: Subject, pair: Pair) -> tuple[Mixin, ...]:
    """Return the omni bases of the GPU class without an NPU twin, if no class of the NPU MRO has the name."""
    return tuple(_find_missing(subject, pair))


def _find_missing(subject: Subject, pair: Pair) -> Iterator[Mixin]:
    twins = {gpu for gpu, _ in subject.profile.classes}
    for base in pair.gpu.bases:
        names = _resolve_names(subject, pair.gpu.reading, base)
        known = [name in twins or _has_in_mro(subject, pair, name) for name in names]
        if not any(known) and _is_from_omni(subject, pair, base):
            yield Mixin(names[0], _find_members(subject, pair, base))


@answered_once
def find_folded_members(subject: Subject, pair: Pair) -> frozenset[str]:
    """Return the members of the missing mixins that this run reports: no other rule has to tell what uses them.

    A mixin that a comment accepts is not told, nor is any where the rule is not selected.
    """
    npu = pair.npu
    if not subject.library.wants(REPORTED_BY, npu.reading.path):
        return frozenset()
    hits = {
        mixin: npu.reading.hit((REPORTED_BY, "error"), npu.node, symbol=mixin.name, message="", fix="")
        for mixin in find_missing_mixins(subject, pair)
    }
    told, _ = silence(hits.values(), {npu.reading.path: npu.reading})
    return frozenset().union(*(mixin.members for mixin, hit in hits.items() if hit in told))


def find_own_members(top: ast.AST) -> set[str]:
    """Return the members of ``self`` that code uses: ``self.x``, ``getattr(self, "x")``, ``hasattr(self, "x")``."""
    nodes = walk(top)
    calls = [node for node in nodes if isinstance(node, ast.Call) and len(node.args) > 1]
    asked = [node for node in calls if dotted(node.func) in ("getattr", "hasattr") and is_name(node.args[0], "self")]
    plain = {node.attr for node in nodes if isinstance(node, ast.Attribute) and is_name(node.value, "self")}
    return plain | {constant_text(node.args[1]) or "" for node in asked}


def _find_members(subject: Subject, pair: Pair, base: str) -> frozenset[str]:
    """Return what a mixin and its own bases bring that neither NPU code nor an upstream mentions."""
    mixin = subject.library.find_class(pair.gpu.reading, base)
    classes = find_ancestry(subject.library, mixin).classes if mixin is not None else ()
    lacking = [one for one in classes if one not in pair.npu_mro.classes]
    found = {name for one in lacking for name in (*one.methods, *self_attributes_set(one.node))}
    known = (pair.npu_mentions, read_upstream_words(subject), *(one.methods for one in pair.npu_mro.classes))
    return frozenset(found.difference(*known))


def _has_in_mro(subject: Subject, pair: Pair, name: str) -> bool:
    """Whether the MRO of the NPU class has a class of that name, whatever its modules call it."""
    classes = pair.npu_mro.classes
    bases = ((c.reading, base) for c in classes for base in c.bases)
    return any(c.name == name for c in classes) or any(name in _resolve_names(subject, *one) for one in bases)


def _resolve_names(subject: Subject, reading: Reading, base: str) -> list[str]:
    """Return the name by which a base is defined, or the names by which it may be imported.

    ``OmniConn`` of ``from a import Conn as OmniConn`` resolves to ``Conn``.
    """
    found = subject.library.find_class(reading, base)
    if found is not None:
        return [found.name]
    origins = [origin.name for origin in reading.imports.get(base, ()) if origin.name]
    return origins or [base.rpartition(".")[2]]


def _is_from_omni(subject: Subject, pair: Pair, base: str) -> bool:
    reading = pair.gpu.reading
    origins = reading.imports.get(base.split(".")[0], [])
    package = subject.profile.package
    return base in reading.classes or any(origin.module.split(".")[0] == package for origin in origins)
