"""Walk libcst trees, read dotted names, and rebuild only what changes.

Comes in and goes out: libcst nodes, inside this package only. May touch: libcst only.

libcst's own ``visit`` rebuilds every node of the tree. Walking the fields by hand and rebuilding only the ancestors of
changed nodes takes a fifth of the time, and leaves every other node (and so every byte) as parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

import libcst as cst

from runner_sync.errors import InputError

Change = Callable[[Any], Any]
Node = TypeVar("Node", bound=cst.CSTNode)

# Fields that only hold layout or punctuation: no name is ever below them.
_LAYOUT = (
    "whitespace",
    "leading",
    "trailing",
    "lines_after",
    "lpar",
    "rpar",
    "lbracket",
    "rbracket",
    "lbrace",
    "rbrace",
)
_OTHER = frozenset(
    {
        "__slots__",
        "header",
        "footer",
        "comma",
        "colon",
        "semicolon",
        "equal",
        "dot",
        "indent",
        "operator",
        "asynchronous",
        "star",
    }
)
_FIELDS: dict[type[cst.CSTNode], tuple[str, ...]] = {}


def parse(text: str, *, path: str = "") -> cst.Module:
    """Return the concrete syntax tree of ``text``.

    Raises:
        InputError: ``text`` is not Python; the message names ``path`` and the place.
    """
    try:
        return cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        place = f"{path or 'the text'}, line {error.raw_line}"
        raise InputError(f"{place}: not valid Python; correct the file (or its conflict markers) first.") from error


def list_code_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    """Return the names of the fields of ``kind`` that can hold code, in source order."""
    known = _FIELDS.get(kind)
    if known is None:
        names = cast(Any, kind).__dataclass_fields__
        known = tuple(name for name in names if not name.startswith(_LAYOUT) and name not in _OTHER)
        _FIELDS[kind] = known
    return known


def iter_children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the direct children of ``node`` that can hold code."""
    for name in list_code_fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (item for item in value if isinstance(item, cst.CSTNode))


def get_dotted_name(node: cst.CSTNode | None) -> str:
    """Return ``a.b.c`` for a name or attribute chain, ``""`` for any other node."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return ""
    return ".".join([node.value, *reversed(parts)])


def make_chain(name: str) -> cst.Name | cst.Attribute:
    """Return a new name or attribute chain for a dotted name: the inverse of `get_dotted_name`."""
    first, *rest = name.split(".")
    node: cst.Name | cst.Attribute = cst.Name(first)
    for part in rest:
        node = cst.Attribute(node, cst.Name(part))
    return node


def rebuild(
    tree: Node, changes: Mapping[cst.CSTNode, Sequence[Change]], *, parents: Mapping[cst.CSTNode, cst.CSTNode]
) -> Node:
    """Apply ``changes`` to ``tree`` bottom up; a change returns a node or, in a body, a ``FlattenSentinel``.

    ``parents`` maps every changed node and its ancestors to their parents. Untouched subtrees are shared.
    """
    touched = _find_ancestors(changes, parents)
    return cast(Node, _rebuild_node(tree, changes, touched))


def _find_ancestors(
    nodes: Mapping[cst.CSTNode, Sequence[Change]], parents: Mapping[cst.CSTNode, cst.CSTNode]
) -> set[cst.CSTNode]:
    found: set[cst.CSTNode] = set()
    for node in nodes:
        above = parents.get(node)
        while above is not None and above not in found:
            found.add(above)
            above = parents.get(above)
    return found


def _rebuild_node(node: cst.CSTNode, changes: Mapping[cst.CSTNode, Sequence[Change]], touched: set[cst.CSTNode]) -> Any:
    result: Any = node
    if node in touched:
        result = node.with_changes(**dict(_iter_new_fields(node, changes, touched)))
    for change in changes.get(node, ()):
        if isinstance(result, cst.FlattenSentinel):
            result = cst.FlattenSentinel([part for item in result for part in _flatten(change(item))])
        else:
            result = change(result)
    return result


def _iter_new_fields(
    node: cst.CSTNode, changes: Mapping[cst.CSTNode, Sequence[Change]], touched: set[cst.CSTNode]
) -> Iterator[tuple[str, Any]]:
    for name in list_code_fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            yield name, _rebuild_node(value, changes, touched)
        elif isinstance(value, (list, tuple)):
            yield name, [part for item in value for part in _flatten(_rebuild_item(item, changes, touched))]


def _rebuild_item(item: Any, changes: Mapping[cst.CSTNode, Sequence[Change]], touched: set[cst.CSTNode]) -> Any:
    return _rebuild_node(item, changes, touched) if isinstance(item, cst.CSTNode) else item


def _flatten(item: Any) -> list[Any]:
    return list(item) if isinstance(item, cst.FlattenSentinel) else [item]
