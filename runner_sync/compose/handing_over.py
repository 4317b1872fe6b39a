"""The method of ``self`` that a method's returns hand their values to, and upstream's new returns that do not.

Comes in: the texts of a method. Goes out: values, and the text with such returns handing over, too. May touch: nothing.

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
from runner_sync.statements import parse_unit
from runner_sync.syntax import Function, blocks_of, is_name


@dataclass(frozen=True, slots=True)
class Handed:
    """A return of upstream's that hands over now: its first and last line, the same before and after, and the method.

    ``is_prepared`` if omni does more before it hands such a value over elsewhere.
    """

    line: int
    end_line: int
    method: str
    is_prepared: bool


def handed_over(before: str, text: str, upstream: str, *, elsewhere: str) -> tuple[str, list[Handed]]:
    """``text`` with upstream's new returns in the form that each other return of that very value has, and these
    returns.

    A value that another return hands out as it is stays bare, and so does one that goes through several methods.
    """
    common = handing_methods(text, elsewhere)
    if not common:
        return text, []
    theirs = {ast.dump(value) for _, value in returns(upstream)}
    known, given = bare_before(before, text, common), _given(text, common)
    places, edits, found = Places(text), list[Edit](), list[Handed]()
    for node in _return_statements(text):
        if node.value is None or (value := ast.dump(node.value)) not in theirs or value in known:
            continue
        others = [one for one in given if one.value == value]
        if len(methods := {one.method for one in others}) == 1:
            (method,) = methods
            edits += _around(places, node.value, method)
            is_prepared = any(one.is_prepared for one in others)
            found.append(Handed(node.lineno, node.end_lineno or node.lineno, method, is_prepared))
    return apply(text, edits), found


def _around(places: Places, value: ast.expr, method: str) -> list[Edit]:
    """The edits that make ``value`` the argument of a method of ``self``."""
    start, end = places.start(value), places.end(value)
    return [Edit(start, start, f"self.{method}("), Edit(end, end, ")")]


def wrapped_in(method: str, text: str, lines: Collection[int]) -> str:
    """``text`` with the values of the returns that begin in these lines handed to a method of ``self``."""
    places = Places(text)
    values = [node.value for node in _return_statements(text) if node.lineno in lines and node.value is not None]
    return apply(text, [edit for value in values for edit in _around(places, value, method)])


def handing_methods(text: str, elsewhere: str) -> list[str]:
    """The methods of ``self`` that several returns go through and that ``elsewhere``, upstream's module, does not
    call."""
    handing = Counter(name for _, value in returns(text) if (name := method_called(value)))
    return [name for name, count in handing.items() if count > 1 and f"{name}(" not in elsewhere]


def bare_before(before: str, text: str, methods: Collection[str]) -> Counter[str]:
    """The values that ``before`` returns, without those that go through one of the methods only now."""
    known = Counter(ast.dump(value) for _, value in returns(before))
    now, then = (Counter(one.value for one in _given(side, methods)) for side in (text, before))
    return known - (now - then)


def returns(text: str) -> list[tuple[int, ast.expr]]:
    """Lines and values of a method's returns; without nested functions and constant values."""
    return [
        (node.lineno, node.value)
        for node in _return_statements(text)
        if node.value is not None and not isinstance(node.value, ast.Constant)
    ]


def method_called(value: ast.expr) -> str:
    """The method of ``self`` that ``value`` is a call of; else an empty string."""
    called = value.func if isinstance(value, ast.Call) else None
    return called.attr if isinstance(called, ast.Attribute) and is_name(called.value, "self") else ""


@lru_cache(maxsize=1024)
def _return_statements(text: str) -> tuple[ast.Return, ...]:
    """All returns of a method in the order of the text; without nested functions."""
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
class _Given:
    """A value that a return passes to a method; ``is_prepared`` if it has a name, and more is done with that first."""

    value: str
    method: str
    is_prepared: bool = False


def _given(text: str, methods: Collection[str]) -> list[_Given]:
    """What the returns of a method pass to one of these methods of ``self``, as the only argument; of a name, also the
    values that it is set to before, with no other return in between."""
    found: list[_Given] = []
    exits = _return_statements(text)
    assigned = list(_assigned(text)) if methods else []
    for last, node in pairwise([None, *exits]):
        call = node.value if node is not None else None
        if not isinstance(call, ast.Call) or method_called(call) not in methods:
            continue
        if len(call.args) != 1 or call.keywords:
            continue
        argument, since = call.args[0], 0 if last is None else last.lineno
        made = [one for one in assigned if is_name(argument, one.name) and one.reaches(call.lineno, since)]
        found.append(_Given(ast.dump(argument), method_called(call), any(one.has_more for one in made)))
        found += (_Given(ast.dump(one.value), method_called(call), one.has_more) for one in made)
    return found


@dataclass(frozen=True, slots=True)
class _Assigned:
    """``name = value``; ``rest`` are the statements behind it, in its suite and in those around it, as first and last
    lines."""

    name: str
    value: ast.expr
    line: int
    rest: Sequence[ast.stmt]

    def reaches(self, line: int, since: int) -> bool:
        """Whether it stands behind the line ``since``, and one of the statements behind it begins in ``line``."""
        return since < self.line and any(one.lineno == line for one in self.rest)

    @property
    def has_more(self) -> bool:
        return not isinstance(next(iter(self.rest), None), ast.Return)


def _assigned(text: str) -> Iterator[_Assigned]:
    """The assignments to one name in a method, each with all that runs behind it."""
    todo: list[tuple[list[ast.stmt], Sequence[ast.stmt]]] = [
        (top.body, ()) for top in parse_unit(text).body if isinstance(top, Function)
    ]
    while todo:
        suite, outside = todo.pop()
        for k, node in enumerate(suite):
            behind = [*suite[k + 1 :], *outside]
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                yield _Assigned(node.targets[0].id, node.value, node.lineno, behind)
            todo += ((block, behind) for block in blocks_of(node))
