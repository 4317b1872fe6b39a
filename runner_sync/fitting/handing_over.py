"""Passes upstream's new returns through the method of ``self`` that omni's returns hand their values to.

Comes in: the texts of a method. Goes out: values, and the text with such returns handing over too. May touch: nothing.

    before   if not rows:                        now   if not rows:
                 return self.attach(EMPTY)                 return self.attach(EMPTY)
                                                       if not rows.left:
    upstream returns EMPTY at both places                  return self.attach(EMPTY)
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from runner_sync.edits import Edit, Places, apply
from runner_sync.statements import ROOT, ancestors, flatten, parse_unit, siblings
from runner_sync.statements.dataflow import binds
from runner_sync.syntax import Function, blocks_of, is_name, self_attribute


@dataclass(frozen=True, slots=True)
class HandedReturn:
    """An upstream return that now hands over: its first and last line, the same before and after, and the method.

    ``is_prepared`` if omni does more before it hands such a value over elsewhere. ``resets`` are omni's statements in
    front of each such return that give an attribute of ``self`` a constant.
    """

    line: int
    end_line: int
    method: str
    is_prepared: bool
    resets: tuple[str, ...] = ()


def hand_over_returns(before: str, text: str, upstream: str, *, elsewhere: str) -> tuple[str, list[HandedReturn]]:
    """Return ``text`` with upstream's new returns handing over like other returns of the same value, and these returns.

    A value stays bare if another return passes it out unchanged, or if it goes through several methods.
    """
    common = find_handing_methods(text, elsewhere)
    if not common:
        return text, []
    upstream_values = {ast.dump(value) for _, value in find_returns(upstream)}
    known, handed = count_bare_values(before, text, common), _find_handed_values(text, common)
    places, edits, found = Places(text), list[Edit](), list[HandedReturn]()
    for node in _return_statements(text):
        if node.value is None or (value := ast.dump(node.value)) not in upstream_values or value in known:
            continue
        others = [one for one in handed if one.value == value]
        if len(methods := {one.method for one in others}) == 1:
            (method,) = methods
            edits += _wrap_value(places, node.value, method)
            is_prepared = any(one.is_prepared for one in others)
            shared = [reset for reset in others[0].resets if all(reset in one.resets for one in others)]
            resets = tuple(reset for reset in shared if reset not in upstream)
            found.append(HandedReturn(node.lineno, node.end_lineno or node.lineno, method, is_prepared, resets))
    return apply(text, edits), found


def _wrap_value(places: Places, value: ast.expr, method: str) -> list[Edit]:
    """Return the edits that make ``value`` the argument of a method of ``self``."""
    start, end = places.start(value), places.end(value)
    return [Edit(start, start, f"self.{method}("), Edit(end, end, ")")]


def wrap_given_returns(method: str, text: str, lines: Collection[int]) -> str:
    """Return ``text`` with the values of the returns that begin in these lines passed to a method of ``self``."""
    places = Places(text)
    values = [node.value for node in _return_statements(text) if node.lineno in lines and node.value is not None]
    return apply(text, [edit for value in values for edit in _wrap_value(places, value, method)])


def find_handing_methods(text: str, elsewhere: str) -> list[str]:
    """Return methods of ``self`` that several returns go through and upstream's module ``elsewhere`` never calls."""
    handing = Counter(name for _, value in find_returns(text) if (name := called_self_method(value)))
    return [name for name, count in handing.items() if count > 1 and f"{name}(" not in elsewhere]


def count_bare_values(before: str, text: str, methods: Collection[str]) -> Counter[str]:
    """Return the values that ``before`` returns, without those that only now go through one of the methods."""
    known = Counter(ast.dump(value) for _, value in find_returns(before))
    now, then = (Counter(one.value for one in _find_handed_values(side, methods)) for side in (text, before))
    return known - (now - then)


def find_added_locals(before: str, text: str) -> set[int]:
    """Return the lines of returns of a local that ``text`` returns bare more often, at places that are new.

    A local has another value at each place, unlike a constant of the module. The place is what stands in front of the
    return in its suite, or the head of that.
    """
    known, now = _find_local_places(before), _find_local_places(text)
    more = Counter(value for value, _, _ in now) - Counter(value for value, _, _ in known)
    places = {(value, place) for value, place, _ in known}
    return {line for value, place, line in now if value in more and (value, place) not in places}


def _find_local_places(text: str) -> list[tuple[str, str, int]]:
    """Return the name, place and line of each return of a local."""
    nodes = flatten(text)
    bound = {name for node in nodes for name in binds(node)}
    found = []
    for k, node in enumerate(nodes):
        name = node.canon.removeprefix("return ")
        if name != node.canon and name in bound:
            before = next(siblings(nodes, k, step=-1), node.parent)
            found.append((name, nodes[before].canon if before != ROOT else "", node.start))
    return found


def find_returns(text: str) -> list[tuple[int, ast.expr]]:
    """Return lines and values of a method's returns, without nested functions and constant values."""
    return [
        (node.lineno, node.value)
        for node in _return_statements(text)
        if node.value is not None and not isinstance(node.value, ast.Constant)
    ]


def called_self_method(value: ast.expr) -> str:
    """Return the method of ``self`` that ``value`` calls; else an empty string."""
    return self_attribute(value.func) if isinstance(value, ast.Call) else ""


@lru_cache(maxsize=1024)
def _return_statements(text: str) -> tuple[ast.Return, ...]:
    """Return all returns of a method in the order of the text, without nested functions."""
    found: list[ast.Return] = []
    todo: list[ast.AST] = [child for top in parse_unit(text).body for child in ast.iter_child_nodes(top)]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Return):
            found.append(node)
        if not isinstance(node, Function | ast.Lambda | ast.ClassDef):
            todo += ast.iter_child_nodes(node)
    return tuple(sorted(found, key=lambda node: (node.lineno, node.col_offset)))


@dataclass(frozen=True, slots=True)
class _HandedValue:
    """A value that a return passes to a method; ``is_prepared`` if it has a name, and more is done with it first.

    ``resets`` are the statements behind the previous return that give an attribute of ``self`` a constant.
    """

    value: str
    method: str
    is_prepared: bool = False
    resets: tuple[str, ...] = ()


def _find_handed_values(text: str, methods: Collection[str]) -> list[_HandedValue]:
    """Return the values that a method's returns pass, as the only argument, to one of these methods of ``self``.

    For a name, adds the values assigned to it since the previous return.
    """
    found: list[_HandedValue] = []
    exits = _return_statements(text)
    assigned = list(_find_assignments(text)) if methods else []
    for last, node in pairwise([None, *exits]):
        call = node.value if node is not None else None
        if not isinstance(call, ast.Call) or called_self_method(call) not in methods:
            continue
        if len(call.args) != 1 or call.keywords:
            continue
        argument, since = call.args[0], 0 if last is None else last.lineno
        made = [one for one in assigned if is_name(argument, one.name) and one.reaches(call.lineno, since)]
        method, resets = called_self_method(call), tuple(_find_resets(text, since, call.lineno))
        found.append(_HandedValue(ast.dump(argument), method, any(one.has_more for one in made), resets))
        found += (_HandedValue(ast.dump(one.value), method, one.has_more, resets) for one in made)
    return found


def _find_resets(text: str, since: int, line: int) -> Iterator[str]:
    """Yield the statements between two lines that run on every way to the second and give an attribute of ``self`` a
    constant."""
    nodes = flatten(text)
    last = max(index for index, node in enumerate(nodes) if node.start <= line)
    around = {nodes[index].parent for index in (last, *ancestors(nodes, last))}
    for index, row in enumerate(nodes):
        if row.parent in around and row.keyword == "with" and row.start < line:
            around.add(index)
        if row.parent not in around or not since < row.start < line or row.compound or row.is_comment:
            continue
        match parse_unit(row.canon).body:
            case [ast.Assign(targets=[ast.Attribute(value=owner), *_], value=ast.Constant()) as node] if is_name(
                owner, "self"
            ):
                yield ast.unparse(node)


@dataclass(frozen=True, slots=True)
class _Assignment:
    """``name = value``; ``rest`` are the statements behind it, in its suite and in the suites around it."""

    name: str
    value: ast.expr
    line: int
    rest: Sequence[ast.stmt]

    def reaches(self, line: int, since: int) -> bool:
        """Whether the assignment is behind the line ``since``, and a statement behind it begins in ``line``."""
        return since < self.line and any(one.lineno == line for one in self.rest)

    @property
    def has_more(self) -> bool:
        return not isinstance(next(iter(self.rest), None), ast.Return)


def _find_assignments(text: str) -> Iterator[_Assignment]:
    """Yield the assignments to one name in a method, each with all that runs behind it."""
    todo: list[tuple[list[ast.stmt], Sequence[ast.stmt]]] = [
        (top.body, ()) for top in parse_unit(text).body if isinstance(top, Function)
    ]
    while todo:
        suite, outside = todo.pop()
        for k, node in enumerate(suite):
            behind = [*suite[k + 1 :], *outside]
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                yield _Assignment(node.targets[0].id, node.value, node.lineno, behind)
            todo += ((block, behind) for block in blocks_of(node))
