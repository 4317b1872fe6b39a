"""Rewrite ``elif`` / ``else: if`` and ``with a, b`` / ``with a: with b`` so that all three sides have the same form.

Comes in: a ``Triple``. Goes out: the same, with sides in another form. May touch: nothing.

To add a statement beside the ``if`` of an ``elif``, one has to write it as an ``if`` in an ``else``. Two ``with`` are
joined when the outer one has no other statement left. Heads are paired by their text, so without this step the one form
would count as removed and the other as new::

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
    """The triple with every such difference in form removed."""
    while (found := _with_next_nested(triple)) is not None:
        triple = found
    for inner in _only_in_another(flatten(triple.omni)):
        triple = _joined_as_in_upstream(triple, inner) or _split_as_in_omni(triple, inner)
    return triple


def _with_next_nested(triple: Triple) -> Triple | None:
    """The triple with the next ``elif`` of base and one side as an ``if`` in an ``else``, which the other side has.

    ``None`` if there is none left.
    """
    base = flatten(triple.base)
    for is_omni in (False, True):
        text, third = (triple.omni, triple.upstream) if is_omni else (triple.upstream, triple.omni)
        nodes = flatten(text)
        found = _nested_elsewhere(base, nodes)
        if not found:
            continue
        others = flatten(third)
        partners = {pair.left: pair.right for pair in align(base, others)}
        for k in found:
            at = _clause(others, partners.get(base[k].owner, ROOT), base[k].canon)
            if at != ROOT:
                old, new = _nested(triple.base, base, k), _nested(third, others, at)
                return Triple(old, text, new) if is_omni else Triple(old, new, text)
    return None


def _nested_elsewhere(base: Sequence[Node], nodes: Sequence[Node]) -> list[int]:
    """The ``elif`` clauses of base that ``nodes`` have as an ``if`` that begins the ``else`` of the same ``if``."""
    inner = {(f"el{nodes[first].canon}", nodes[clause].owner) for clause, first in _first_in_else(nodes)}
    said = {canon for canon, _ in inner}
    known = [k for k, node in enumerate(base) if node.is_clause and node.canon in said and not node.one_line]
    partners = {pair.left: pair.right for pair in align(base, nodes)} if known else {}
    return [k for k in known if (base[k].canon, partners.get(base[k].owner, ROOT)) in inner]


def _first_in_else(nodes: Sequence[Node]) -> Iterator[tuple[int, int]]:
    """``(else, if)`` for each ``else`` of an ``if`` whose suite begins with an ``if`` and has more statements."""
    for k, node in enumerate(nodes):
        if node.is_clause and node.canon == "else" and nodes[node.owner].keyword == "if":
            inside = in_suite(nodes, k)
            if len(inside) > 1 and _is_a(nodes[inside[0]], "if"):
                yield k, inside[0]


def _clause(nodes: Sequence[Node], owner: int, canon: str) -> int:
    """The index of the clause of a statement with this text; ``ROOT`` if it has none."""
    found = (k for k, node in enumerate(nodes) if node.is_clause and node.owner == owner and node.canon == canon)
    return next(found, ROOT) if owner != ROOT else ROOT


def _nested(text: str, nodes: Sequence[Node], clause: int) -> str:
    """The text with an ``elif``, and all clauses behind it, rewritten as an ``if`` in an ``else``."""
    lines, first, last = text.split("\n"), nodes[clause].start - 1, end(nodes, nodes[clause].owner)
    blanks = indentation(lines[first])
    moved = indented(lines, nodes, range(first, last))
    moved[0] = moved[0].replace("elif", "if", 1)
    return "\n".join([*lines[:first], f"{blanks}else:", *moved, *lines[last:]])


def end(nodes: Sequence[Node], at: int) -> int:
    """The last line (1-based) of a statement with all inside it."""
    return max(nodes[k].start - 1 + len(nodes[k].lines) for k in below(nodes, at))


def indented(lines: Sequence[str], nodes: Sequence[Node], rows: range, *, by: int = INDENT) -> list[str]:
    """Some lines indented ``by`` more (or less, if negative), but for those that begin inside a string."""
    frozen = {node.start - 1 + k for node in nodes for k in node.frozen}
    moved = {k: " " * by + lines[k] if by > 0 else _outdented(lines[k], -by) for k in rows if k not in frozen}
    return [moved[k] if k in moved and lines[k].strip() else lines[k] for k in rows]


def _outdented(line: str, by: int) -> str:
    """A line with up to ``by`` blanks removed in front."""
    return line[min(by, len(line) - len(line.lstrip())) :]


def _joined_as_in_upstream(triple: Triple, inner: str) -> Triple | None:
    """The triple with two nested ``with`` of base and omni joined, as upstream has joined them; ``None`` if it has not,
    or if their lines cannot be joined. ``inner`` is the text of the inner one."""
    base, omni = flatten(triple.base), flatten(triple.omni)
    heads = [cut for node in flatten(triple.upstream) if (cut := _two_heads(node, inner))]
    if inner not in _only_in_another(base) or len(heads) != 1:
        return None
    at, mine = (next(k for k, node in enumerate(nodes) if node.canon == inner) for nodes in (base, omni))
    if f"{base[at - 1].canon}:" != heads[0][0]:
        return None
    old, new = _joined(triple.base, base, at), _joined(triple.omni, omni, mine)
    return Triple(old, new, triple.upstream) if old and new else None


def _joined(text: str, nodes: Sequence[Node], at: int) -> str:
    """The text with the ``with`` at an index joined to the one directly around it; empty if a head has several lines or
    a comment behind it, or if the two are not on consecutive lines."""
    heads = [nodes[at - 1], nodes[at]]
    lines, first, last = text.split("\n"), heads[0].start - 1, end(nodes, at)
    if any(len(head.lines) > 1 or not head.text.endswith(":") for head in heads) or heads[1].start != first + 2:
        return ""
    inside = indented(lines, nodes, range(first + 2, last), by=-INDENT)
    both = f"{lines[first][:-1]}, {heads[1].text.removeprefix('with ')}"
    return "\n".join([*lines[:first], both, *inside, *lines[last:]])


def _split_as_in_omni(triple: Triple, inner: str) -> Triple:
    """The triple with a ``with`` of several contexts in base and upstream split in two, as omni has it."""
    return Triple(_split_once(triple.base, inner), triple.omni, _split_once(triple.upstream, inner))


def _split_once(text: str, inner: str) -> str:
    nodes = flatten(text)
    found = [(k, cut) for k, node in enumerate(nodes) if (cut := _two_heads(node, inner))]
    return _split(text, nodes, *found[0]) if len(found) == 1 else text


def _only_in_another(nodes: Sequence[Node]) -> list[str]:
    """The texts of the ``with`` that stand only once, as the first statement of another ``with``."""
    canons = [node.canon for node in nodes]
    return [
        node.canon
        for k, node in enumerate(nodes)
        if _is_a(node, "with")
        and node.parent == k - 1 != ROOT
        and _is_a(nodes[k - 1], "with")
        and canons.count(node.canon) == 1
    ]


def _is_a(node: Node, keyword: str) -> bool:
    """Whether a node is the head of a suite that begins with a keyword."""
    return node.compound and node.keyword == keyword


def _two_heads(node: Node, inner: str) -> tuple[str, str] | None:
    """The two heads into which a ``with`` of several contexts can be split so that the second is ``inner``; ``None`` if
    it cannot, or if it has comments."""
    is_commented = any("#" in row for row in node.lines)
    if is_commented or not _is_a(node, "with") or not node.canon.endswith(inner.removeprefix("with ")):
        return None
    items = ast.parse(f"{node.canon}: pass").body[0].items  # type: ignore[attr-defined]
    said = [ast.unparse(item) for item in items]
    for k in range(1, len(said)):
        if f"with {', '.join(said[k:])}" == inner:
            return f"with {', '.join(said[:k])}:", f"{inner}:"
    return None


def _split(text: str, nodes: Sequence[Node], at: int, heads: tuple[str, str]) -> str:
    """The text with the head at an index replaced by two nested heads."""
    lines, first, last = text.split("\n"), nodes[at].start - 1, end(nodes, at)
    blanks = indentation(lines[first])
    inside = indented(lines, nodes, range(first + len(nodes[at].lines), last))
    return "\n".join([*lines[:first], blanks + heads[0], " " * INDENT + blanks + heads[1], *inside, *lines[last:]])
