"""Replace a local that upstream sets to an attribute, where omni reads the attribute itself.

Comes in: base, omni and upstream texts. Goes out: the texts with the attribute read as in omni. May touch: nothing.

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
    """Replace the locals in ``names`` by their attributes in base and upstream where omni reads the attribute itself.

    It does not matter whether the attribute may be missing, because omni already reads it there.
    """
    for name in names:
        value = _find_held_attribute(triple.base, name)
        if value and value == _find_held_attribute(triple.upstream, name) and not _is_bound(triple.omni, name):
            triple = _replace_by_attribute(triple, name, value)
    return triple


def _replace_by_attribute(triple: Triple, name: str, value: str) -> Triple:
    base, omni, upstream = (flatten(text) for text in (triple.base, triple.omni, triple.upstream))
    in_upstream = {pair.left: pair.right for pair in align(base, upstream)}
    reading = _find_reading_lines(triple.omni, value)
    read = {
        pair.left
        for pair in align(base, omni)
        if pair.left in in_upstream and not reading.isdisjoint(_list_rows(omni[pair.right]))
    }
    base_nodes = [base[at] for at in read]
    upstream_nodes = [upstream[in_upstream[at]] for at in read]
    return Triple(
        _replace_local(triple.base, base_nodes, name, value),
        triple.omni,
        _replace_local(triple.upstream, upstream_nodes, name, value),
    )


def _find_held_attribute(text: str, name: str) -> str:
    """Return the attribute, as code, to which a text binds ``name`` exactly once; else empty."""
    bound = [
        mention.node for mention in mentions(body_of(tree_of(text))) if mention.name == name and not _is_read(mention)
    ]
    if len(bound) != 1:
        return ""
    values = [node.value for node in walk(tree_of(text)) if isinstance(node, ast.Assign) and node.targets == bound]
    return _print_attribute(values[0]) if values else ""


def _print_attribute(value: ast.expr) -> str:
    """Return the attribute that an expression reads, as code; empty for anything else.

    ``self.model.hook`` and ``getattr(self.model, "hook", None)`` both give ``self.model.hook``.
    """
    match value:
        case ast.Call(func=ast.Name("getattr"), args=[owner, ast.Constant(str(name)), *rest], keywords=[]):
            return f"{ast.unparse(owner)}.{name}" if _is_self_path(owner) and _is_none_default(rest) else ""
        case ast.Attribute(value=owner, attr=name):
            return f"{ast.unparse(owner)}.{name}" if _is_self_path(owner) else ""
    return ""


def _is_none_default(default: Sequence[ast.expr]) -> bool:
    return all(isinstance(node, ast.Constant) and node.value is None for node in default)


def _is_self_path(node: ast.expr) -> bool:
    """Whether an expression is ``self`` or an attribute path of ``self``."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == "self"


def _is_bound(text: str, name: str) -> bool:
    return any(name in binds(node) for node in flatten(text))


def _find_reading_lines(text: str, value: str) -> frozenset[int]:
    """Return the lines of a text on which an expression that reads the attribute ``value`` itself begins."""
    attribute = value.rpartition(".")[2]
    return frozenset(
        found.lineno
        for found in walk(tree_of(text))
        if isinstance(found, ast.Attribute) and found.attr == attribute and ast.unparse(found) == value
    )


def _replace_local(text: str, nodes: Sequence[Node], name: str, value: str) -> str:
    """Replace the local ``name`` by ``value`` in these statements of a text."""
    rows = {row for node in nodes for row in _list_rows(node)}
    places = Places(text)
    found = [mention for mention in mentions(body_of(tree_of(text))) if mention.name == name and _is_read(mention)]
    read = [mention.node for mention in found if isinstance(mention.node, ast.Name) and mention.node.lineno in rows]
    return apply(text, [places.instead_of(node, value) for node in read])


def _list_rows(node: Node) -> range:
    return range(node.start, node.start + len(node.lines))


def _is_read(mention: Mention) -> bool:
    return isinstance(mention.node, ast.Name) and isinstance(mention.node.ctx, ast.Load)
