"""A port that rests on an earlier change of the twin: what of that it needs, and whether a port of both is better.

Comes in: drafts and texts. Goes out: canonical statements, and a yes or no. May touch: nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from collections.abc import Set as AbstractSet

from runner_sync.compose.member_text import canonical
from runner_sync.model import Triple
from runner_sync.statements import Node, flatten
from runner_sync.statements.dataflow import binds, reads
from runner_sync.upgrade.draft import Draft


def beside_the_point(sides: Triple, earlier: str, lacking: Collection[str]) -> frozenset[str]:
    """Statements that the twin got between its ``earlier`` text and ``sides.base``, and that have nothing to do with
    the names that a port of its change since then was ``lacking``.

    A statement has to do with a name if it reads or binds it, and so have all that share a new or changed local with
    such a statement (timid): what is left shares none.
    """
    settled = {*canonical(earlier), *canonical(sides.omni)}
    since = [node for node in flatten(sides.upstream) if not node.is_comment and node.canon not in settled]
    locals_ = {name for node in since for name in binds(node)} - {"self"}
    names = {*lacking}
    while more := {name for node in since if names & _names(node) for name in _names(node) & locals_} - names:
        names |= more
    was_there = {*canonical(sides.base)}
    return frozenset(node.canon for node in since if node.canon in was_there and not names & _names(node))


def changed(sides: Triple, foreign: Collection[str]) -> frozenset[str]:
    """What a port of the twin's change does to omni's text: statements that it would bring or take out."""
    was, mine, now = ({*canonical(text)} for text in (sides.base, sides.omni, sides.upstream))
    return frozenset((now - was - mine) | (was & mine) - now) - frozenset(foreign)


def is_better(more: Draft, first: Draft, before: Draft, statements: Collection[str]) -> bool:
    """Whether ``more`` settles some of the ``statements`` that ``first`` does not, and settles or asks about all that
    ``first`` does. Both are ports into ``before``.
    """
    gained = _settled(more, before) - _settled(first, before)
    said, said_before = (_said(port, before, statements) for port in (more, first))
    return not gained.isdisjoint(statements) and said_before <= said


def _said(port: Draft, before: Draft, statements: Collection[str]) -> AbstractSet[str]:
    """Those of the ``statements`` that a port settles or asks about."""
    settled, told = _settled(port, before), _told(port, before)
    return {canon for canon in statements if canon in settled or f" {_words(canon)} " in told}


def _settled(port: Draft, before: Draft) -> AbstractSet[str]:
    """The statements that a port brought or took out."""
    return {*canonical(port.text)} ^ {*canonical(before.text)}


def _told(port: Draft, before: Draft) -> str:
    """The words of all texts that a port's questions show."""
    items = port.reviews[len(before.reviews) :]
    texts = [text for item in items for text in (item.base, item.omni, item.upstream, item.chosen)]
    return " | ".join(["", *map(_words, texts), ""])


def _words(text: str) -> str:
    """A text without layout, quotes and brackets, in which one finds the canonical form of a statement."""
    return " ".join(re.findall(r"\w+", text))


def _names(node: Node) -> frozenset[str]:
    return binds(node) | reads(node)
