"""Passes the parameters that a method newly requires in its calls; callers without the value take it as a parameter.

Comes in: texts of methods of one class. Goes out: texts. May touch: nothing.

An omni method that vllm-ascend does not know keeps calling as before, and fails with a ``TypeError`` on its first run
(`_run_generation_model`, after `_model_forward` got `num_tokens_padded` in 0.15.0rc1).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from runner_sync import signatures
from runner_sync.edits import Edit, Places, apply
from runner_sync.fitting.repair import Repair, make_repair
from runner_sync.signatures import Signature
from runner_sync.statements import as_module, bound_in, parameters, parse_function, parses
from runner_sync.syntax import Function, calls_on_self
from runner_sync.texts.assignment import find_early_reads
from runner_sync.texts.names import used_names


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that ``method`` requires now and did not take before.

    ``declared`` is its declaration as source, ``following`` are the names of the parameters behind it.
    """

    method: str
    name: str
    declared: str
    following: tuple[str, ...]


def newly_required(method: str, before: str, now: str) -> tuple[Parameter, ...]:
    """Return the parameters without a default in ``now`` that ``before`` lacks, with or without a default."""
    old, new = parse_function(before), parse_function(now)
    if old is None or new is None or old.args.vararg is not None:
        return ()
    arguments = signatures.named_parameters(new)
    names = [argument.arg for argument in arguments]
    required = signatures.of_method(new).required
    had = {argument.arg for argument in signatures.named_parameters(old)}
    return tuple(
        Parameter(method, argument.arg, ast.unparse(argument), tuple(names[at + 1 :]))
        for at, argument in enumerate(arguments)
        if argument.arg in required and argument.arg not in had
    )


def has_call_without(text: str, now: str, parameter: Parameter) -> bool:
    """Whether a method calls ``parameter.method``, whose text is ``now``, without the parameter."""
    return next(_find_calls_without(text, now, parameter), None) is not None


def has_local(text: str, name: str) -> bool:
    """Whether a method itself, not a comprehension or function in it, has a parameter or local of that name."""
    function = parse_function(text)
    if function is None:
        return False
    return name in bound_in(function.body) or any(name == known.arg for known in parameters(function))


def pass_local(text: str, now: str, parameter: Parameter) -> Repair | None:
    """Return the method with the local of that name passed in the first call that lacks it and where the local is set.

    ``None`` if there is no such call, or if the result would not parse.
    """
    made = (_pass_local(text, around, parameter) for around in _find_holders(text, now, parameter))
    return next((mended for mended in made if mended is not None), None)


def _pass_local(text: str, around: ast.Call | ast.Dict, parameter: Parameter) -> Repair | None:
    """Return the method with the local passed in a call; ``None`` if it does not parse or the local is unset there."""
    made = apply(text, [_add_keyword(Places(text), around, parameter)])
    if not parses(made) or not _find_unset(made) <= _find_unset(text):
        return None
    reason = f"{parameter.method} requires {parameter.name} since this upgrade, so this call passes it on"
    return make_repair(text, made, around, reason)


def _find_unset(text: str) -> set[str]:
    """Return the names that a method reads before it sets them: locals above their first binding, and outside names."""
    return {*find_early_reads(text), *used_names(as_module(text))}


def add_parameter(text: str, parameter: Parameter) -> str | None:
    """Return the method with a further, keyword-only parameter; ``None`` if its signature has no place for one."""
    function = parse_function(text)
    if function is None or function.args.vararg is not None or not signatures.is_bound(function):
        return None
    if function.args.kwarg is not None and not function.args.kwonlyargs:
        return None
    declaration, following = parameter.declared, parameter.following
    made = apply(text, [Places(text).with_parameter(function, declaration, following=following, by_keyword=True)])
    return made if parses(made) else None


def _find_holders(text: str, now: str, parameter: Parameter) -> Iterator[ast.Call | ast.Dict]:
    """Yield where the keywords of the calls that lack the parameter are written."""
    yield from (_find_holder(function, call) for function, call in _find_calls_without(text, now, parameter))


def _find_calls_without(text: str, now: str, parameter: Parameter) -> Iterator[tuple[Function, ast.Call]]:
    function, callee = parse_function(text), parse_function(now)
    if function is None or callee is None:
        return
    signature = signatures.of_method(callee)
    for call in calls_on_self(function, parameter.method):
        if _is_missing_argument(function, call, signature, parameter.name):
            yield function, call


def _is_missing_argument(function: Function, call: ast.Call, signature: Signature, name: str) -> bool:
    """Whether a call surely does not pass a parameter; false if it unpacks a sequence or an unknown dictionary."""
    given = signatures.of_call(call, function)
    if given.open_positional or None in signatures.dictionaries_for(function, call):
        return False
    by_place = signature.positional[: given.positional]
    return name not in by_place and name not in given.keywords


def _find_holder(function: Function, call: ast.Call) -> ast.Call | ast.Dict:
    """Return where a call's keywords are written: a dictionary made for it and unpacked with ``**``, else the call."""
    return next((made for made in signatures.dictionaries_for(function, call) if made is not None), call)


def _add_keyword(places: Places, around: ast.Call | ast.Dict, parameter: Parameter) -> Edit:
    """Return the edit that passes the local by keyword, in front of arguments for later parameters of the callee."""
    name = parameter.name
    if isinstance(around, ast.Dict):
        item, bracket = f'"{name}": {name}', places.start(around) + 1
        rows = [(row, row.value) for row in around.keys if isinstance(row, ast.Constant)]
        if rows:
            return places.ahead_of(next((row for row, word in rows if word in parameter.following), rows[0][0]), item)
        return Edit(bracket, bracket, item + (", " if around.values else ""))
    return places.with_keywords(around, f"{name}={name}", following=parameter.following)
