"""Reads a method as it was before upstream took passages of it out into new methods.

Comes in: a method, and new methods of its class with the text that the passage may have been in. Goes out: the method
with those passages in place. May touch: nothing.

Only for comparisons of revisions. A short method that calls new ones may have less that a copy lacks, so that the copy
seems to be made from it::

    0.1     run(); log(); sample()        0.2     new(); self._rest()        _rest: log(); sample()
    copy    run(); own()                  0.2, undivided     new(); log(); sample()
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from runner_sync.lineage.expanding import expand_call
from runner_sync.lineage.inlined import IN_PLACE
from runner_sync.lineage.likeness import FEWEST, fingerprint, list_nodes
from runner_sync.texts.member_text import self_names


class Revision(NamedTuple):
    """A method at one revision, and all methods of its class there by their plain names."""

    text: str
    methods: Mapping[str, str]


def undivide(revisions: list[Revision], copy: str) -> list[str]:
    """Return the texts of ``revisions``, oldest first, with passages in place that an earlier one had undivided.

    What ``copy`` calls itself stays a call.
    """
    called = self_names(copy)
    return [_undivide(revision, revisions[:k], called) for k, revision in enumerate(revisions)]


def _undivide(revision: Revision, earlier: list[Revision], kept: Collection[str]) -> str:
    text, done = revision.text, set(kept)
    while names := sorted((self_names(text) & revision.methods.keys()) - done):
        done.add(names[0])
        before = next((one.text for one in reversed(earlier) if names[0] not in one.methods), "")
        if before and is_mostly_in(revision.methods[names[0]], before):
            text = expand_call(text, names[0], revision.methods[names[0]])
    return text


def is_mostly_in(helper: str, text: str) -> bool:
    """Whether a text has most of the telling statements of a method, and enough of them to tell."""
    telling = [node.canon for node in list_nodes(helper)[1:] if node.is_telling]
    there = fingerprint(text)
    shared = sum(canon in there for canon in telling)
    return shared >= FEWEST and shared >= len(telling) * IN_PLACE
