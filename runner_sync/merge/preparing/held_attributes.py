"""Give an attribute that upstream holds in a local, and omni reads where it stands, omni's form.

Comes in: base, omni and upstream texts. Goes out: the texts, in which statements read the attribute as omni does. May
touch: nothing.

Otherwise upstream's change of such a statement would read a local that nothing binds::

    base      hook = getattr(self.model, "hook", None) …   rows = hook(rows)
    omni                                                   rows = self.model.hook(rows)
    upstream  hook = getattr(self.model, "hook", None) …   rows = self.call(hook, rows)
    given     hook = getattr(self.model, "hook", None) …   rows = self.call(self.model.hook, rows)
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from runner_sync.edits import Places, apply
from runner_sync.merge.matching.align import align
from runner_sync.merge.preparing.renames import body_of
from runner_sync.model import Triple
from runner_sync.statements import Mention, Node, flatten, mentions, tree_of
from runner_sync.statements.dataflow import binds
from runner_sync.syntax import walk


def with_attributes_as_omni(triple: Triple, names: Collection[str]) -> Triple:
    """The triple with the attributes that base and upstream hold in ``names`` in their place, in the statements of both
    whose partner in omni reads the attribute itself: there it is read already, whether or not it may be missing."""
    for name in names:
        value = _held(triple.base, name)
        if value and value == _held(triple.upstream, name) and not _binds(triple.omni, name):
            triple = _with_attribute(triple, name, value)
    return triple


def _with_attribute(triple: Triple, name: str, value: str) -> Triple:
    base, omni, upstream = (flatten(text) for text in (triple.base, triple.omni, triple.upstream))
    theirs = {pair.left: pair.right for pair in align(base, upstream)}
    read = {
        pair.left for pair in align(base, omni) if pair.left in theirs and _reads(triple.omni, omni[pair.right], value)
    }
    here = [base[at] for at in read]
    there = [upstream[theirs[at]] for at in read]
    return Triple(
        _replaced(triple.base, here, name, value), triple.omni, _replaced(triple.upstream, there, name, value)
    )


def _held(text: str, name: str) -> str:
    """The attribute, as code, that a text binds to ``name``, once and for all; else empty."""
    bound = [said.node for said in mentions(body_of(tree_of(text))) if said.name == name and not _is_read(said)]
    if len(bound) != 1:
        return ""
    values = [node.value for node in walk(tree_of(text)) if isinstance(node, ast.Assign) and node.targets == bound]
    return _attribute(values[0]) if values else ""


def _attribute(value: ast.expr) -> str:
    """The attribute that an expression reads, as code: ``self.model.hook`` of that, or of ``getattr(self.model, "hook",
    None)``; empty for anything else."""
    match value:
        case ast.Call(func=ast.Name("getattr"), args=[owner, ast.Constant(str(name)), *rest], keywords=[]):
            return f"{ast.unparse(owner)}.{name}" if _is_path(owner) and _is_none(rest) else ""
        case ast.Attribute(value=owner, attr=name):
            return f"{ast.unparse(owner)}.{name}" if _is_path(owner) else ""
    return ""


def _is_none(default: Sequence[ast.expr]) -> bool:
    return all(isinstance(node, ast.Constant) and node.value is None for node in default)


def _is_path(node: ast.expr) -> bool:
    """Whether an expression is ``self``, or attributes of it in a row."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "self"


def _binds(text: str, name: str) -> bool:
    return any(name in binds(node) for node in flatten(text))


def _reads(text: str, node: Node, value: str) -> bool:
    """Whether a statement of a text reads the attribute ``value`` itself."""
    return any(
        isinstance(found, ast.Attribute) and found.lineno in _rows(node) and ast.unparse(found) == value
        for found in walk(tree_of(text))
    )


def _replaced(text: str, nodes: Sequence[Node], name: str, value: str) -> str:
    """The text with ``value`` in the place of the local ``name``, in these statements of it."""
    rows = {row for node in nodes for row in _rows(node)}
    places = Places(text)
    found = [said for said in mentions(body_of(tree_of(text))) if said.name == name and _is_read(said)]
    read = [said.node for said in found if isinstance(said.node, ast.Name) and said.node.lineno in rows]
    return apply(text, [places.instead_of(node, value) for node in read])


def _rows(node: Node) -> range:
    return range(node.start, node.start + len(node.lines))


def _is_read(said: Mention) -> bool:
    return isinstance(said.node, ast.Name) and isinstance(said.node.ctx, ast.Load)
