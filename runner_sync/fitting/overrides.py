"""Gives an override the parameters that upstream added to the overridden method, and passes them on.

Comes in: the text of an override, and upstream's method before and now. Goes out: the text. May touch: nothing.

vllm-ascend's own code begins to pass the new parameter, and the override raises a ``TypeError`` (``_model_forward`` got
``num_tokens_padded`` in 0.15.0rc1, ``initialize_kv_cache`` got ``kv_cache_allocation_context`` in 0.30.0rc1).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from runner_sync import signatures
from runner_sync.edits import Edit, Places, apply
from runner_sync.statements import parse_function
from runner_sync.syntax import Function, is_name, is_parent, is_super, walk


@dataclass(frozen=True, slots=True)
class Grown:
    """The text with the ``added`` parameters; ``passed`` says whether it passes them to the overridden method."""

    text: str
    added: tuple[str, ...]
    passed: bool


def follow_signature(text: str, old: str, new: str) -> Grown | None:
    """Return the override with the new parameters of upstream's method that it does not take yet.

    ``None`` if there are none, if ``*args`` or ``**kwargs`` takes them, or if the result would not parse. Also ``None``
    with positional-only parameters, because the position of a new parameter is unclear (timid).
    """
    own, before, now = (parse_function(source) for source in (text, old, new))
    if own is None or before is None or now is None or own.args.vararg is not None:
        return None
    if own.args.posonlyargs or now.args.posonlyargs:
        return None
    added = [
        name
        for name in _parameter_names(now)
        if name not in _parameter_names(before) and name not in _parameter_names(own)
    ]
    keyword_only = {arg.arg for arg in now.args.kwonlyargs}
    if own.args.kwarg is not None:
        added = [name for name in added if name not in keyword_only]
    if not added:
        return None
    places = Places(text)
    edits: list[Edit] = []
    calls = _find_parent_calls(own)
    if any(isinstance(argument, ast.Starred) for call in calls for argument in call.args):
        return None
    for call in calls:
        bound = _is_bound(own, call)
        old_places, by_place = (
            [arg.arg for arg in signatures.positional_parameters(one)][bound:] for one in (before, now)
        )
        edits += _pass_arguments(places, call, added, by_place=by_place, old=old_places)
    made = apply(text, edits)
    for name in added:
        made = _add_parameter(made, now, name, by_keyword=name in keyword_only)
    grown = parse_function(made)
    # Each call must have got the arguments; one inserted inside another call's brackets does not count here.
    if grown is None or _count_arguments(grown) != [count + len(added) for count in _count_arguments(own)]:
        return None
    return Grown(made, tuple(added), bool(calls))


def accepts_keywords(text: str, names: Sequence[str]) -> bool:
    """Whether a method accepts these keywords."""
    function = parse_function(text)
    if function is None:
        return False
    signature = signatures.of_function(function, bound=True)
    return signature.var_keyword or set(names) <= signature.keywords


def has_same_parameters(text: str, other: str) -> bool:
    """Whether two methods have the same parameter names in the same order."""
    own, other_function = parse_function(text), parse_function(other)
    return own is not None and other_function is not None and _parameter_names(own) == _parameter_names(other_function)


def _parameter_names(function: Function) -> list[str]:
    return [arg.arg for arg in signatures.named_parameters(function)]


def _add_parameter(text: str, now: Function, name: str, *, by_keyword: bool) -> str:
    """Return the method with the parameter ``name`` of ``now``, at its position among the parameters of ``now``."""
    function, order = parse_function(text), _parameter_names(now)
    if function is None:
        return text
    following = order[order.index(name) + 1 :]
    declaration = _render_declaration(now, name)
    return apply(text, [Places(text).with_parameter(function, declaration, following=following, by_keyword=by_keyword)])


def _render_declaration(function: Function, name: str) -> str:
    """Return a parameter with its annotation and its default, as source."""
    arg = next(arg for arg in signatures.named_parameters(function) if arg.arg == name)
    declaration, default = ast.unparse(arg), signatures.defaults_of(function)[name]
    if default is not None:
        declaration += f" = {ast.unparse(default)}" if arg.annotation is not None else f"={ast.unparse(default)}"
    return declaration


def _find_parent_calls(own: Function) -> list[ast.Call]:
    """Return the calls of the overridden method: ``super().run(…)``, or ``Runner.run(self, …)``."""
    return [
        node
        for node in walk(own)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == own.name
        if is_parent(node.func.value)
    ]


def _count_arguments(function: Function) -> list[int]:
    return [len(call.args) + len(call.keywords) for call in _find_parent_calls(function)]


def _is_bound(own: Function, call: ast.Call) -> bool:
    """Whether Python passes the first parameter (``self``, ``cls``) of the overridden method in this call."""
    kinds = {decorator.id for decorator in own.decorator_list if isinstance(decorator, ast.Name)}
    by_super = isinstance(call.func, ast.Attribute) and is_super(call.func.value)
    return "staticmethod" not in kinds and (by_super or "classmethod" in kinds)


def _pass_arguments(
    places: Places, call: ast.Call, added: Sequence[str], *, by_place: Sequence[str], old: Sequence[str]
) -> list[Edit]:
    """Return the edits that pass the ``added`` parameters in a call.

    A parameter goes by position if arguments behind it do, else by keyword at the end. ``by_place`` are the positional
    parameters now, in order, ``old`` those before.
    """
    edits, left, rest = [], [*call.args], [*added]
    for name in by_place:
        if left and name in rest:
            edits.append(places.before(left[0], f"{name}, "))
            rest.remove(name)
        elif left and (name in old or is_name(left[0], name)):
            del left[0]
    if rest:
        edits.append(places.with_keywords(call, *(f"{name}={name}" for name in rest)))
    return edits
