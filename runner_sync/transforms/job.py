"""Define what a rewrite gets (a `Job`) and yields: a `NodeEdit` to apply, or a `Doubt` with the reason for leaving a
node.

Comes in and goes out: libcst nodes and sentences, inside this package only. May touch: libcst only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import libcst as cst

from runner_sync.profile import Profile
from runner_sync.transforms.concrete_tree import make_chain
from runner_sync.transforms.scopes import Index


@dataclass(frozen=True, eq=False, slots=True)
class Job:
    """The module to rewrite, and the tables of names."""

    code: Index
    profile: Profile


@dataclass(frozen=True, eq=False, slots=True)
class NodeEdit:
    """Replace ``node`` by ``change(node)``; changes of one node run in the order in which they were yielded."""

    node: cst.CSTNode
    change: Callable[[Any], Any]


@dataclass(frozen=True, eq=False, slots=True)
class Doubt:
    """A ``node`` that was left as it is. ``message`` is one sentence, ``fix`` what a person would do."""

    node: cst.CSTNode
    unit: str
    symbol: str
    message: str
    fix: str = ""


def make_rename(node: cst.CSTNode, old: str, new: str) -> NodeEdit:
    """Return an edit of ``old`` to ``new`` in ``node``: a name, an attribute chain or a quoted annotation that contains
    it."""
    if isinstance(node, cst.SimpleString):
        pattern = re.compile(rf"(?<![\w.]){re.escape(old)}(?!\w)")
        return NodeEdit(node, lambda text: text.with_changes(value=pattern.sub(new, text.value)))
    return NodeEdit(node, lambda named: _replace_chain(named, new))


def _replace_chain(node: cst.Name | cst.Attribute, new: str) -> cst.CSTNode:
    """Return the name or attribute chain ``new`` with the layout of ``node`` for the parts that both have."""
    owner, _, last = new.rpartition(".")
    if isinstance(node, cst.Name) and not owner:
        return node.with_changes(value=last)
    if isinstance(node, cst.Attribute) and owner and isinstance(node.value, (cst.Name, cst.Attribute)):
        return node.with_changes(value=_replace_chain(node.value, owner), attr=node.attr.with_changes(value=last))
    return make_chain(new).with_changes(lpar=node.lpar, rpar=node.rpar)
