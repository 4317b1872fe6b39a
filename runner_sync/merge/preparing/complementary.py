"""Rewrite omni's ``else`` as the second of two opposite conditions that base and upstream have.

Comes in: a ``Triple``. Goes out: the triple with the ``else`` as an ``if`` in omni. May touch: nothing.

Applies only where upstream changed the second condition: an ``else`` has no condition to change, so the change would
find no place::

    base      if self.cache is not None:       omni    if self.cache is not None:
                  rows = self.cached(batch)                rows = self.cached(batch)
              if self.cache is None:                   else:
                  made = build(batch)                      made = build(batch)
    upstream  if self.cache is None or rows is None:
                  made = build(batch)
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from runner_sync.merge.matching.align import align
from runner_sync.merge.preparing.forks import count_words
from runner_sync.model import Triple
from runner_sync.statements import Node, clauses, flatten, in_suite, tree_of
from runner_sync.statements.likeness import VERSION, dice
from runner_sync.syntax import dotted_name, indentation, walk

_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Is: ast.IsNot, ast.Eq: ast.NotEq, ast.In: ast.NotIn}


def with_else_as_condition(triple: Triple, foreign: Collection[str] = ()) -> Triple:
    """Rewrite each such ``else`` of omni, unless upstream's new condition is ``foreign``."""
    base, omni, upstream = (flatten(text) for text in (triple.base, triple.omni, triple.upstream))
    rows = triple.omni.split("\n")
    pairs = _find_opposites(base)
    known = {pair.left: pair.right for pair in align(base, upstream)} if pairs else {}
    for first, second in pairs:
        now = upstream[known[second]] if second in known else None
        if now is None or now.keyword != "if" or now.canon == base[second].canon or now.canon in foreign:
            continue
        suites = (base, second), (upstream, known[second])
        found = [k for k in _find_forks(omni, base[first].canon) if _is_version((omni, clauses(omni, k)[0]), suites)]
        if len(found) != 1 or _has_statement(omni, base[second].canon) or _changes_test(triple.omni, omni[found[0]]):
            continue
        at = omni[clauses(omni, found[0])[0]].start - 1
        margin = indentation(rows[at])
        rows[at] = "\n".join(margin + line for line in base[second].lines)
    return replace(triple, omni="\n".join(rows))


def _find_opposites(nodes: Sequence[Node]) -> list[tuple[int, int]]:
    """Return each ``if`` without a clause, with the next ``if`` in its suite that has the opposite condition.

    Opposites are ``x`` and ``not x``, ``a is b`` and ``a is not b``, and the like.
    """
    found = []
    later: dict[tuple[int, str], int] = {}
    denied: dict[tuple[int, str], int] = {}
    for k in range(len(nodes) - 1, -1, -1):
        if not _is_plain(nodes, k) or (test := _parse_test(nodes[k])) is None:
            continue
        asked, opposite = (nodes[k].parent, ast.dump(test)), (nodes[k].parent, _dump_negated(test))
        seconds = [places[key] for places, key in ((later, opposite), (denied, asked)) if key in places]
        found += [(k, min(seconds))] if seconds else []
        later[asked] = denied[opposite] = k
    return found[::-1]


def _is_plain(nodes: Sequence[Node], k: int) -> bool:
    return nodes[k].keyword == "if" and nodes[k].compound and not nodes[k].one_line and not clauses(nodes, k)


def _parse_test(node: Node) -> ast.expr | None:
    """Return the condition of an ``if``; ``None`` if it calls or binds something, so that its value may change."""
    (statement,) = ast.parse(f"{node.canon}: pass").body
    assert isinstance(statement, ast.If)
    changing = ast.Call | ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom
    return None if any(isinstance(part, changing) for part in walk(statement.test)) else statement.test


def _dump_negated(test: ast.expr) -> str:
    """Return the dump of the opposite of a ``not`` or of a comparison that has one; else empty."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return ast.dump(operand)
        case ast.Compare(left=left, ops=[op], comparators=others) if type(op) in _OPPOSITE:
            return ast.dump(ast.Compare(left, [_OPPOSITE[type(op)]()], others))
    return ""


def _find_forks(nodes: Sequence[Node], canon: str) -> Iterator[int]:
    """Yield the conditions with this text that have an ``else`` and no other clause."""
    for k, node in enumerate(nodes):
        others = clauses(nodes, k) if node.canon == canon else []
        if [nodes[j].canon for j in others] == ["else"] and not any(
            nodes[j].one_line or "#" in nodes[j].text for j in (k, *others)
        ):
            yield k


def _has_statement(nodes: Sequence[Node], canon: str) -> bool:
    return any(node.canon == canon for node in nodes)


def _is_version(mine: tuple[Sequence[Node], int], suites: Sequence[tuple[Sequence[Node], int]]) -> bool:
    """Whether a suite is a version of one of others; each is given by the index of its head."""
    words = count_words(mine[0], tuple(in_suite(*mine)))
    return any(dice(words, count_words(nodes, tuple(in_suite(nodes, head)))) >= VERSION for nodes, head in suites)


def _changes_test(text: str, fork: Node) -> bool:
    """Whether the first branch may change what its condition reads, so that the opposite could hold behind it."""
    test = _parse_test(fork)
    (branch,) = (part.body for part in walk(tree_of(text)) if isinstance(part, ast.If) and part.lineno == fork.start)
    parts = [part for statement in branch for part in walk(statement)]
    changed = {_find_dotted_name(part) for part in parts if isinstance(getattr(part, "ctx", None), ast.Store | ast.Del)}
    if not _is_identity(test):
        calls = [part for part in parts if isinstance(part, ast.Call)]
        changed |= {
            _find_dotted_name(given)
            for call in calls
            for given in (*call.args, *(pair.value for pair in call.keywords))
        }
        changed |= {_find_dotted_name(call.func.value) for call in calls if isinstance(call.func, ast.Attribute)}
    return any(_is_affected(name, read) for name in changed - {"", "self"} for read in _list_names_read(test))


def _is_identity(test: ast.expr | None) -> bool:
    """Whether a condition only asks which object a name or attribute is: changes of the object do not matter."""
    return (
        isinstance(test, ast.Compare)
        and all(isinstance(op, ast.Is | ast.IsNot) for op in test.ops)
        and all(dotted_name(part) or isinstance(part, ast.Constant) for part in (test.left, *test.comparators))
    )


def _list_names_read(test: ast.expr | None) -> set[str]:
    """Return the names and attributes in a condition; ``self.rows`` and not ``self``."""
    names = {_find_dotted_name(part) for part in walk(test)} if test is not None else set()
    return {name for name in names - {""} if not any(other.startswith(f"{name}.") for other in names)}


def _find_dotted_name(node: ast.AST) -> str:
    """Return a name or attribute, also of an element (``self.rows`` for ``self.rows[0]``); else empty."""
    while isinstance(node, ast.Subscript | ast.Starred):
        node = node.value
    return dotted_name(node) or ""


def _is_affected(changed: str, read: str) -> bool:
    """Whether a change of one name concerns another: they are equal, or one is a part of the other."""
    return f"{changed}.".startswith(f"{read}.") or f"{read}.".startswith(f"{changed}.")
