"""Arguments that a call in an override leaves out, and that the same call in the overridden method newly passes.

They are new, or have another default now.

Comes in: a `Program`, the `Program` of the old trees, and a module. Goes out: `LeftOut` values. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from runner_sync import signatures
from runner_sync.syntax import assigned_names, dotted_name, is_name, walk
from runner_sync.verify.expecting import CALL_ERRORS
from runner_sync.verify.trees.calling.callees import Callee, functions_of
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import calls_of
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, steps

_CallsByName = Mapping[str, list[tuple[Frame, ast.Call]]]
"""The calls in overridden methods, by the dotted name of the called function."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A ``call`` in an override that leaves out ``names``: parameters of its callees ``now`` that the callees ``was``
    lacked.

    ``hidden`` is the overridden method; ``hidden_calls`` are its calls of the same function, which all pass ``names``.
    """

    frame: Frame
    call: ast.Call
    names: tuple[str, ...]
    now: Sequence[Callee]
    was: Sequence[Callee]
    hidden: Frame
    hidden_calls: Sequence[ast.Call]

    def overwritten(self) -> str:
        """Return a parameter that the call passes in vain, or an empty text.

        The function read it in the old trees, and now assigns it before reading it.
        """
        now, was = functions_of(self.now), functions_of(self.was)
        if not now or not was:
            return ""
        names = (n for n in self.now[0].placed(self.call) if all(_sets_first(f.body, n) is True for f in now))
        return next((n for n in names if all(_sets_first(f.body, n) is False for f in was)), "")


def find_left_out(program: Program, module: Module, old: Program | None) -> Iterator[LeftOut]:
    """Yield the calls in overrides of ``module`` that leave out parameters added since ``old``."""
    for step, call, others in _iter_shorter_calls(program, module, old):
        yield from _find_in_call(step, call, others)


def _iter_shorter_calls(
    program: Program, module: Module, old: Program | None
) -> Iterator[tuple[Step, ast.Call, list[tuple[Frame, ast.Call]]]]:
    """Yield the calls in overrides that pass less than those of the same function in the overridden method."""
    for step in steps(program, module, old):
        hidden_calls = _group_by_name(program.hidden_by(step.frame))
        for call in calls_of(step.frame.function) if hidden_calls else ():
            others = hidden_calls.get(dotted_name(call.func) or "", [])
            if any(_passes_more(other, call) for _, other in others) and not step.frame.is_guarded(call, CALL_ERRORS):
                yield step, call, others


@dataclass(frozen=True, slots=True)
class OtherDefault:
    """A ``call`` in an override that leaves out ``name``, whose default was ``was`` and is ``now``.

    ``hidden`` is the overridden method, whose ``hidden_call`` newly passes the argument.
    """

    frame: Frame
    call: ast.Call
    name: str
    was: str
    now: str
    callee: Callee
    hidden: Frame
    hidden_call: ast.Call


def find_other_defaults(program: Program, module: Module, old: Program | None) -> Iterator[OtherDefault]:
    """Yield the calls in overrides of ``module`` that now get another default, which the overridden method avoids."""
    for step, call, others in _iter_shorter_calls(program, module, old):
        yield from _find_defaults_in_call(step, call, others)


def _find_defaults_in_call(step: Step, call: ast.Call, others: list[tuple[Frame, ast.Call]]) -> Iterator[OtherDefault]:
    for now, was in step.callees(call):
        if not now or not was or now[0].is_omnis:
            continue
        given, fresh, stale = now[0].placed(call), _read_defaults(now), _read_defaults(was)
        changed = [n for n in fresh if n in stale and n not in given and fresh[n] != stale[n]]
        passed_there = [{n: ast.unparse(value) for n, value in now[0].placed(other).items()} for _, other in others]
        passed = [
            n
            for n in changed
            if all(n in one for one in passed_there) and {one[n] for one in passed_there} != {fresh[n]}
        ]
        earlier = _group_by_name(step.old.hidden_by(step.before)) if passed else {}
        for name in passed:
            if not any(name in was[0].placed(one) for _, one in earlier.get(dotted_name(call.func) or "", [])):
                yield OtherDefault(step.frame, call, name, stale[name], fresh[name], now[0], *others[0])


def _read_defaults(callees: Sequence[Callee]) -> dict[str, str]:
    """Return the defaults of parameters, as text, on which all callees agree; none if one is no function."""
    tables = [signatures.defaults_of(callee.function) if callee.function is not None else {} for callee in callees]
    written = [{n: ast.unparse(value) for n, value in table.items() if value is not None} for table in tables]
    return {n: text for n, text in written[0].items() if all(table.get(n) == text for table in written)}


def _group_by_name(hidden: Iterable[Frame]) -> _CallsByName:
    found: dict[str, list[tuple[Frame, ast.Call]]] = {}
    for frame in hidden:
        for call in calls_of(frame.function):
            found.setdefault(dotted_name(call.func) or "", []).append((frame, call))
    found.pop("", None)
    return found


def _passes_more(other: ast.Call, call: ast.Call) -> bool:
    passed = {keyword.arg for keyword in call.keywords}
    is_open = None in passed or any(isinstance(argument, ast.Starred) for argument in call.args)
    has_more = len(other.args) > len(call.args) or any(keyword.arg not in passed for keyword in other.keywords)
    return has_more and not is_open


def _find_in_call(step: Step, call: ast.Call, others: list[tuple[Frame, ast.Call]]) -> Iterator[LeftOut]:
    for now, was in step.callees(call):
        if not now or not was or now[0].is_omnis:
            continue
        hidden_calls = [other for _, other in others]
        names = _find_new_arguments(now[0], was, call, hidden_calls)
        if names:
            yield LeftOut(step.frame, call, names, now, was, others[0][0], hidden_calls)


def _find_new_arguments(
    now: Callee, was: Sequence[Callee], call: ast.Call, others: Sequence[ast.Call]
) -> tuple[str, ...]:
    """Return the optional parameters that are new, that ``call`` does not pass, and that each of ``others`` passes.

    Empty if ``call`` does not fit, or if an old callee took any keyword.
    """
    known = {name for callee in was for name in callee.signature.names}
    optional = [name for name in now.signature.names if name not in now.signature.required]
    given = now.placed(call)
    if signatures.misfits(now.signature, signatures.of_call(call)) or any(c.signature.var_keyword for c in was):
        return ()
    fresh = [name for name in optional if name not in known and name not in given]
    return tuple(name for name in fresh if all(name in now.placed(other) for other in others))


def _sets_first(body: list[ast.stmt], name: str) -> bool | None:
    """Return ``True`` if every path through the statements assigns a name before reading it.

    ``False`` if one may read it first, else ``None``.
    """
    for statement in body:
        if isinstance(statement, ast.If) and not _reads(statement.test, name):
            branches = [_sets_first(part, name) for part in (statement.body, statement.orelse)]
            if False in branches:
                return False
            if all(branches):
                return True
        elif _reads(statement, name):
            return False
        elif isinstance(statement, ast.Assign) and name in assigned_names(statement):
            return True
    return None


def _reads(top: ast.AST, name: str) -> bool:
    nodes = [node for node in walk(top) if isinstance(node, ast.Name | ast.AugAssign)]
    read = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    changed = [node.target for node in nodes if isinstance(node, ast.AugAssign)]
    return any(is_name(node, name) for node in (*read, *changed))
