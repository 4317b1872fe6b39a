"""Spells calls as upstream does where omni calls the same method through another one.

Comes in: a unit's text, its base, upstream's unit and methods. Goes out: the unit in upstream's spelling. May touch:
nothing.

A method that omni calls, upstream may call through another one that just passes the call on. The platform may do more
there at any time::

    def _get_ascend_copy_funcs(self):       omni      self._get_copy_funcs()
        return self._get_copy_funcs()       upstream  self._get_ascend_copy_funcs()
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Mapping

from runner_sync.edits import Places, apply
from runner_sync.statements import parse_unit
from runner_sync.syntax import calls_in, walk


def call_as_upstream(text: str, *, base: str, upstream: str, methods: Mapping[str, str]) -> str:
    """Respell ``self.x()`` in ``text`` as ``self.y()`` if ``y`` of ``methods`` just returns ``self.x()``.

    Only in a statement that upstream has with ``self.y()`` and the base with another call there, and that is the same
    otherwise. Of the three texts, only ``text`` may call ``x``, and it must not call ``y``.
    """
    own, before, there = (_find_members_called(side) for side in (text, base, upstream))
    passed_on = {name: _find_passed_on(methods[name]) for name in (there - own) & methods.keys()}
    wanted = {y: x for y, x in passed_on.items() if x in own - before - there}
    if not wanted:
        return text
    places, edits = Places(text), []
    counts = [Counter(ast.unparse(statement) for statement in _find_simple(side)) for side in (text, base, upstream)]
    for statement in _find_simple(text):
        spelled = ast.unparse(statement)
        for y, x in wanted.items():
            called = [call for call in calls_in(statement) if ast.unparse(call) == f"self.{x}()"]
            start, _, rest = spelled.partition(f"self.{x}()")
            if len(called) == 1 and _is_once_in_each(counts, spelled, start, f"self.{y}()", rest):
                edits.append(places.instead_of(called[0], f"self.{y}()"))
    return apply(text, edits)


def _find_members_called(text: str) -> set[str]:
    """Return the members that a unit calls on ``self``."""
    called = [call.func for call in calls_in(parse_unit(text)) if isinstance(call.func, ast.Attribute)]
    return {func.attr for func in called if ast.unparse(func.value) == "self"}


def _find_simple(text: str) -> list[ast.stmt]:
    """Return the statements of a unit that are not compound."""
    return [node for node in walk(parse_unit(text)) if isinstance(node, ast.stmt) and not hasattr(node, "body")]


def _is_once_in_each(counts: list[Counter[str]], spelled: str, start: str, called: str, rest: str) -> bool:
    """Whether omni has ``spelled`` once, upstream it with ``called``, the base with any call there."""
    own, before, there = counts
    alike = re.compile(rf"{re.escape(start)}[\w.]+\([^()]*\){re.escape(rest)}")
    old = sum(count for statement, count in before.items() if alike.fullmatch(statement))
    return own[spelled] == there[f"{start}{called}{rest}"] == old == 1


def _find_passed_on(method: str) -> str:
    """Return the ``x`` of a method that takes no arguments and just returns ``self.x()``; empty for another method."""
    function = parse_unit(method).body[0]
    if not isinstance(function, ast.FunctionDef) or function.decorator_list or ast.unparse(function.args) != "self":
        return ""
    found = _PASSED_ON.fullmatch(ast.unparse(function.body[-1]))
    return found[1] if found and len(function.body) == 1 + (ast.get_docstring(function) is not None) else ""


_PASSED_ON = re.compile(r"return self\.(\w+)\(\)")
