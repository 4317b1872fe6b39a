"""Handles a port that depends on an earlier change of the twin: what it needs, and whether porting both is better.

Comes in: drafts and texts. Goes out: canonical statements, and a yes or no. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from collections.abc import Set as AbstractSet

from runner_sync.model import Triple
from runner_sync.statements import Node, flatten
from runner_sync.statements.dataflow import binds, reads
from runner_sync.texts.member_text import canonical
from runner_sync.upgrade.draft import Draft


def find_unrelated(sides: Triple, earlier: str, lacking: Collection[str]) -> frozenset[str]:
    """Return statements added between ``earlier`` and ``sides.base`` that are unrelated to the ``lacking`` names.

    A port of the twin's change since ``sides.base`` lacked these names. A statement is related if it reads or binds one
    of them, or shares a new or changed local with a related statement (timid).
    """
    settled = {*canonical(earlier), *canonical(sides.omni)}
    since = [node for node in flatten(sides.upstream) if not node.is_comment and node.canon not in settled]
    locals_ = {name for node in since for name in binds(node)} - {"self"}
    names = {*lacking}
    while more := {name for node in since if names & _find_names(node) for name in _find_names(node) & locals_} - names:
        names |= more
    was_there = {*canonical(sides.base)}
    return frozenset(node.canon for node in since if node.canon in was_there and not names & _find_names(node))


def find_changed(sides: Triple, foreign: Collection[str]) -> frozenset[str]:
    """Return statements that a port of the twin's change would add to or remove from omni's text."""
    was, omni, now = ({*canonical(text)} for text in (sides.base, sides.omni, sides.upstream))
    return frozenset((now - was - omni) | (was & omni) - now) - frozenset(foreign)


def is_better(more: Draft, first: Draft, before: Draft, statements: Collection[str]) -> bool:
    """Whether ``more`` settles some ``statements`` that ``first`` does not, and covers all that ``first`` covers.

    A port covers a statement if it settles it or asks about it. Both are ports into ``before``.
    """
    gained = _find_settled(more, before) - _find_settled(first, before)
    covered_by_more, covered_by_first = (_find_covered(port, before, statements) for port in (more, first))
    return not gained.isdisjoint(statements) and covered_by_first <= covered_by_more


def _find_covered(port: Draft, before: Draft, statements: Collection[str]) -> AbstractSet[str]:
    """Return the ``statements`` that a port settles or asks about."""
    settled, words_shown = _find_settled(port, before), _collect_words_shown(port, before)
    return {canon for canon in statements if canon in settled or f" {_extract_words(canon)} " in words_shown}


def _find_settled(port: Draft, before: Draft) -> AbstractSet[str]:
    """Return the statements that a port added or removed."""
    return {*canonical(port.text)} ^ {*canonical(before.text)}


def _collect_words_shown(port: Draft, before: Draft) -> str:
    """Return the words of all texts shown in a port's questions."""
    items = port.reviews[len(before.reviews) :]
    texts = [text for item in items for text in (item.base, item.omni, item.upstream, item.chosen)]
    return " | ".join(["", *map(_extract_words, texts), ""])


def _extract_words(text: str) -> str:
    """Return a text without layout, quotes and brackets, to search for canonical statements."""
    return " ".join(re.findall(r"\w+", text))


def _find_names(node: Node) -> frozenset[str]:
    return binds(node) | reads(node)
