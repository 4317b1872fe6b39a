"""Give ``with a, b`` and ``with a: with b`` the same form on all three sides.

Comes in: a ``Triple``. Goes out: the triple with sides in another form. May touch: nothing.

Two ``with`` are joined when the outer one has no other statement left. Heads are paired by their text, so otherwise one
form would count as removed and the other as new, and an edit of omni's in them would be lost::

    base    with timer("run"):              omni    with timer("Run"):      upstream    with timer("run"), self.lock():
                with self.lock():                       with self.lock():                   self.update(rows)
                    self.update(rows)                       self.update(rows)
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from runner_sync.model import Triple
from runner_sync.statements import INDENT, ROOT, Node, below, flatten, flatten_sides
from runner_sync.syntax import indentation


def in_one_form(triple: Triple) -> Triple:
    """Remove every such difference in form from the triple."""
    for inner in _find_only_in_another(flatten(triple.omni)):
        triple = _join_as_in_upstream(triple, inner) or _split_as_in_omni(triple, inner)
    return triple


def end(nodes: Sequence[Node], at: int) -> int:
    """Return the last line (1-based) of a statement with everything inside it."""
    return max(nodes[k].end for k in below(nodes, at))


def indented(lines: Sequence[str], nodes: Sequence[Node], rows: range, *, by: int = INDENT) -> list[str]:
    """Indent lines ``by`` more columns (fewer if negative), except for lines that begin inside a string."""
    frozen = {node.start - 1 + k for node in nodes for k in node.frozen}
    moved = {k: " " * by + lines[k] if by > 0 else _outdent(lines[k], -by) for k in rows if k not in frozen}
    return [moved[k] if k in moved and lines[k].strip() else lines[k] for k in rows]


def _outdent(line: str, by: int) -> str:
    """Remove up to ``by`` blanks at the start of a line."""
    return line[min(by, len(line) - len(line.lstrip())) :]


def _join_as_in_upstream(triple: Triple, inner: str) -> Triple | None:
    """Join two nested ``with`` of base and omni as upstream joined them; ``inner`` is the text of the inner one.

    ``None`` if upstream did not join them, or if their lines cannot be joined. Upstream may also have changed the outer
    one, unless it has another ``with`` like that.
    """
    base, omni, upstream = flatten_sides(triple)
    heads = [cut for node in upstream if (cut := _split_head(node, inner))]
    if inner not in _find_only_in_another(base) or len(heads) != 1:
        return None
    at, omni_at = (next(k for k, node in enumerate(nodes) if node.canon == inner) for nodes in (base, omni))
    outer = base[at - 1].canon
    if f"{outer}:" != heads[0][0] and any(node.canon == outer for node in upstream):
        return None
    old, new = _join(triple.base, base, at), _join(triple.omni, omni, omni_at)
    return Triple(old, new, triple.upstream) if old and new else None


def _join(text: str, nodes: Sequence[Node], at: int) -> str:
    """Join the ``with`` at an index to the one directly around it.

    Empty if a head has a comment, or if there are lines between the two.
    """
    outer, inner = nodes[at - 1], nodes[at]
    lines, first, last = text.split("\n"), outer.start - 1, end(nodes, at)
    behind = outer.start + len(outer.lines)
    if any("#" in row for row in (*outer.lines, *inner.lines)) or inner.start != behind:
        return ""
    inside = indented(lines, nodes, range(behind - 1 + len(inner.lines), last), by=-INDENT)
    is_short = len(outer.lines) == len(inner.lines) == 1
    heads = [node.text.removesuffix(":") if is_short else node.canon for node in (outer, inner)]
    both = f"{indentation(lines[first])}{heads[0]}, {heads[1].removeprefix('with ')}:"
    return "\n".join([*lines[:first], both, *inside, *lines[last:]])


def _split_as_in_omni(triple: Triple, inner: str) -> Triple:
    """Split a ``with`` of several contexts in base and upstream in two, as in omni."""
    return Triple(_split_once(triple.base, inner), triple.omni, _split_once(triple.upstream, inner))


def _split_once(text: str, inner: str) -> str:
    nodes = flatten(text)
    found = [(k, cut) for k, node in enumerate(nodes) if (cut := _split_head(node, inner))]
    return _split(text, nodes, *found[0]) if len(found) == 1 else text


def _find_only_in_another(nodes: Sequence[Node]) -> list[str]:
    """Return the texts of the ``with`` that occur only once, as the first statement of another ``with``."""
    canons = [node.canon for node in nodes]
    return [
        node.canon
        for k, node in enumerate(nodes)
        if _is_with(node) and node.parent == k - 1 != ROOT and _is_with(nodes[k - 1]) and canons.count(node.canon) == 1
    ]


def _is_with(node: Node) -> bool:
    """Whether a node is the head of a ``with``."""
    return node.compound and node.keyword == "with"


def _split_head(node: Node, inner: str) -> tuple[str, str] | None:
    """Split a ``with`` of several contexts into two heads, of which the second is ``inner``.

    ``None`` if that is impossible, or if the head has comments.
    """
    is_commented = any("#" in row for row in node.lines)
    if is_commented or not _is_with(node) or not node.canon.endswith(inner.removeprefix("with ")):
        return None
    items = ast.parse(f"{node.canon}: pass").body[0].items  # type: ignore[attr-defined]
    contexts = [ast.unparse(item) for item in items]
    for k in range(1, len(contexts)):
        if f"with {', '.join(contexts[k:])}" == inner:
            return f"with {', '.join(contexts[:k])}:", f"{inner}:"
    return None


def _split(text: str, nodes: Sequence[Node], at: int, heads: tuple[str, str]) -> str:
    """Replace the head at an index by two nested heads."""
    lines, first, last = text.split("\n"), nodes[at].start - 1, end(nodes, at)
    blanks = indentation(lines[first])
    inside = indented(lines, nodes, range(first + len(nodes[at].lines), last))
    return "\n".join([*lines[:first], blanks + heads[0], " " * INDENT + blanks + heads[1], *inside, *lines[last:]])
