"""Give ``elif`` / ``else: if`` and ``with a, b`` / ``with a: with b`` the same form on all three sides.

Comes in: a ``Triple``. Goes out: the triple with sides in another form. May touch: nothing.

To add a statement beside the ``if`` of an ``elif``, one must write it as an ``if`` in an ``else``. Two ``with`` are
joined when the outer one has no other statement left. Heads are paired by their text, so otherwise one form would count
as removed and the other as new::

    base        elif late:          upstream    else:               base in that form   else:
                    pack(row)                       if late:                                if late:
                                                        pack(row)                               pack(row)
                                                    note(row)
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from runner_sync.merge.matching.align import align
from runner_sync.model import Triple
from runner_sync.statements import INDENT, ROOT, Node, below, flatten, in_suite
from runner_sync.syntax import indentation


def in_one_form(triple: Triple) -> Triple:
    """Remove every such difference in form from the triple."""
    while (found := _nest_next(triple)) is not None:
        triple = found
    for inner in _find_only_in_another(flatten(triple.omni)):
        triple = _join_as_in_upstream(triple, inner) or _split_as_in_omni(triple, inner)
    return triple


def _nest_next(triple: Triple) -> Triple | None:
    """Rewrite the next ``elif`` of base and one side that the other side has as an ``if`` in an ``else``.

    ``None`` if there is none left.
    """
    base = flatten(triple.base)
    for is_omni in (False, True):
        text, third = (triple.omni, triple.upstream) if is_omni else (triple.upstream, triple.omni)
        nodes = flatten(text)
        found = _find_nested_elsewhere(base, nodes)
        if not found:
            continue
        others = flatten(third)
        partners = {pair.left: pair.right for pair in align(base, others)}
        for k in found:
            at = _find_clause(others, partners.get(base[k].owner, ROOT), base[k].canon)
            if at != ROOT:
                old, new = _nest(triple.base, base, k), _nest(third, others, at)
                return Triple(old, text, new) if is_omni else Triple(old, new, text)
    return None


def _find_nested_elsewhere(base: Sequence[Node], nodes: Sequence[Node]) -> list[int]:
    """Return base's ``elif`` clauses that ``nodes`` have as an ``if`` at the start of the same ``if``'s ``else``."""
    inner = {(f"el{nodes[first].canon}", nodes[clause].owner) for clause, first in _find_first_in_else(nodes)}
    canons = {canon for canon, _ in inner}
    known = [k for k, node in enumerate(base) if node.is_clause and node.canon in canons and not node.one_line]
    partners = {pair.left: pair.right for pair in align(base, nodes)} if known else {}
    return [k for k in known if (base[k].canon, partners.get(base[k].owner, ROOT)) in inner]


def _find_first_in_else(nodes: Sequence[Node]) -> Iterator[tuple[int, int]]:
    """Yield ``(else, if)`` for each ``else`` of an ``if`` whose suite begins with an ``if`` and has more statements."""
    for k, node in enumerate(nodes):
        if node.is_clause and node.canon == "else" and nodes[node.owner].keyword == "if":
            inside = in_suite(nodes, k)
            if len(inside) > 1 and _is_head_of(nodes[inside[0]], "if"):
                yield k, inside[0]


def _find_clause(nodes: Sequence[Node], owner: int, canon: str) -> int:
    """Return the index of the clause of a statement with this text; ``ROOT`` if there is none."""
    found = (k for k, node in enumerate(nodes) if node.is_clause and node.owner == owner and node.canon == canon)
    return next(found, ROOT) if owner != ROOT else ROOT


def _nest(text: str, nodes: Sequence[Node], clause: int) -> str:
    """Rewrite an ``elif``, and all clauses behind it, as an ``if`` in an ``else``."""
    lines, first, last = text.split("\n"), nodes[clause].start - 1, end(nodes, nodes[clause].owner)
    blanks = indentation(lines[first])
    moved = indented(lines, nodes, range(first, last))
    moved[0] = moved[0].replace("elif", "if", 1)
    return "\n".join([*lines[:first], f"{blanks}else:", *moved, *lines[last:]])


def end(nodes: Sequence[Node], at: int) -> int:
    """Return the last line (1-based) of a statement with everything inside it."""
    return max(nodes[k].start - 1 + len(nodes[k].lines) for k in below(nodes, at))


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

    ``None`` if upstream did not join them, or if their lines cannot be joined.
    """
    base, omni = flatten(triple.base), flatten(triple.omni)
    heads = [cut for node in flatten(triple.upstream) if (cut := _split_head(node, inner))]
    if inner not in _find_only_in_another(base) or len(heads) != 1:
        return None
    at, omni_at = (next(k for k, node in enumerate(nodes) if node.canon == inner) for nodes in (base, omni))
    if f"{base[at - 1].canon}:" != heads[0][0]:
        return None
    old, new = _join(triple.base, base, at), _join(triple.omni, omni, omni_at)
    return Triple(old, new, triple.upstream) if old and new else None


def _join(text: str, nodes: Sequence[Node], at: int) -> str:
    """Join the ``with`` at an index to the one directly around it.

    Empty if a head has several lines or a trailing comment, or if the two are not on consecutive lines.
    """
    heads = [nodes[at - 1], nodes[at]]
    lines, first, last = text.split("\n"), heads[0].start - 1, end(nodes, at)
    if any(len(head.lines) > 1 or not head.text.endswith(":") for head in heads) or heads[1].start != first + 2:
        return ""
    inside = indented(lines, nodes, range(first + 2, last), by=-INDENT)
    both = f"{lines[first][:-1]}, {heads[1].text.removeprefix('with ')}"
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
        if _is_head_of(node, "with")
        and node.parent == k - 1 != ROOT
        and _is_head_of(nodes[k - 1], "with")
        and canons.count(node.canon) == 1
    ]


def _is_head_of(node: Node, keyword: str) -> bool:
    """Whether a node is the head of a suite that begins with a keyword."""
    return node.compound and node.keyword == keyword


def _split_head(node: Node, inner: str) -> tuple[str, str] | None:
    """Split a ``with`` of several contexts into two heads, of which the second is ``inner``.

    ``None`` if that is impossible, or if the head has comments.
    """
    is_commented = any("#" in row for row in node.lines)
    if is_commented or not _is_head_of(node, "with") or not node.canon.endswith(inner.removeprefix("with ")):
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
