"""Passes by name what omni's calls pass by place, if the method has another parameter at that place now.

Comes in: texts of methods of one class. Goes out: texts. May touch: nothing.

    before  def build(self, rows, talker=None)              self.build(rows, own)
    now     def build(self, rows, flag=False, talker=None)  self.build(rows, talker=own)

If both sides add a parameter, upstream's comes first, because upstream's calls may pass it by place.
"""

from __future__ import annotations

import ast
from itertools import takewhile

from runner_sync import signatures
from runner_sync.edits import Places, apply, lines_of
from runner_sync.fitting.repair import Repair
from runner_sync.signatures import Signature
from runner_sync.statements import parse_function, parses
from runner_sync.syntax import calls_on_self


def pass_shifted_by_name(text: str, before: str, upstream: str, method: tuple[str, str, str]) -> Repair | None:
    """Return a caller with one more call of omni's that names its shifted arguments; ``None`` if there is none.

    ``before`` and ``upstream`` are the caller's other texts, ``method`` the callee's name and its texts before and now.
    A call is omni's by its arguments by place, as keywords of upstream's may have come. One that upstream has, too,
    is written for the new signature.
    """
    name, *callee = method
    old, new = (_read_signature(one) for one in callee)
    function = parse_function(text)
    if function is None or old is None or new is None or old.positional == new.positional:
        return None
    own = _list_arguments(before, name) - _list_arguments(upstream, name)
    for call in calls_on_self(function, name):
        places = Places(text)
        edits = [places.before(argument, f"{key}=") for key, argument in find_shifted(call, old, new)]
        made = apply(text, edits)
        if edits and _print_arguments(call) in own and parses(made):
            statement = lines_of(made, call.lineno, call.end_lineno)
            reason = f"{name} has another parameter at this place since this upgrade, so this call names its argument"
            return Repair(made, call.lineno, statement, reason, is_settled=True)
    return None


def _read_signature(text: str) -> Signature | None:
    function = parse_function(text)
    return signatures.of_function(function, bound=signatures.is_bound(function)) if function is not None else None


def _list_arguments(text: str, method: str) -> set[tuple[str, ...]]:
    function = parse_function(text) if text else None
    return {_print_arguments(call) for call in calls_on_self(function, method)} if function is not None else set()


def _print_arguments(call: ast.Call) -> tuple[str, ...]:
    return tuple(map(ast.unparse, call.args))


def find_shifted(call: ast.Call, old: Signature, new: Signature) -> list[tuple[str, ast.expr]]:
    """Return the arguments by place from the first on whose parameter has another place, each with its parameter.

    Empty if one of them has no name, or one that the method no longer takes.
    """
    given = [*zip(old.positional, call.args, strict=False)]
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old.positional, new.positional, strict=False)))
    shifted = given[same:]
    is_open = len(given) < len(call.args) or any(isinstance(argument, ast.Starred) for argument in call.args)
    return [] if is_open or not {key for key, _ in shifted} <= new.keywords else shifted
