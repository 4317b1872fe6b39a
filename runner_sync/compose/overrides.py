"""Parameters that upstream gave a method which omni overrides: the override takes them, too, and passes them on.

Comes in: the text of an override, and upstream's method before and now. Goes out: the text. May touch: nothing.

vllm-ascend's own code begins to pass the new parameter, and the override raises a ``TypeError`` (``_model_forward`` got
``num_tokens_padded`` in 0.15.0rc1, ``initialize_kv_cache`` got ``kv_cache_allocation_context`` in 0.30.0rc1).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace

from runner_sync import signatures
from runner_sync.edits import Edit, Places, apply
from runner_sync.signatures import Function
from runner_sync.statements import parse_function, parses
from runner_sync.syntax import is_parent, is_super, walk


@dataclass(frozen=True, slots=True)
class Grown:
    """The text with the ``added`` parameters; ``passed`` is whether the overridden method gets them from it."""

    text: str
    added: tuple[str, ...]
    passed: bool


def follow_signature(text: str, old: str, new: str) -> Grown | None:
    """The override with the parameters that the method has now, had not, and the override does not take.

    ``None`` where there is nothing to follow: none are new, ``*args`` or ``**kwargs`` takes them, or the result
    would not parse.
    """
    own, before, now = (parse_function(source) for source in (text, old, new))
    if own is None or before is None or now is None or own.args.vararg is not None:
        return None
    added = [name for name in _names(now) if name not in _names(before) and name not in _names(own)]
    keyword_only = {arg.arg for arg in now.args.kwonlyargs}
    if own.args.kwarg is not None:
        added = [name for name in added if name not in keyword_only]
    if not added:
        return None
    places = Places(text)
    edits = [_parameter(places, own, now, name, only_by_keyword=name in keyword_only) for name in added]
    first = next((k for k, name in enumerate(added) if name in keyword_only), None)
    if first is not None and not own.args.kwonlyargs:
        edits[first] = replace(edits[first], text=edits[first].text.replace(", ", ", *, ", 1))
    call = _call_of_parent(own)
    if call is not None and any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    edits += [_argument(places, call, now, name) for name in added] if call is not None else []
    made = apply(text, edits)
    return Grown(made, tuple(added), call is not None) if parses(made) else None


def accepts(text: str, names: Sequence[str]) -> bool:
    """Whether a method takes these keywords."""
    function = parse_function(text)
    if function is None:
        return False
    signature = signatures.of_function(function, bound=True)
    return signature.var_keyword or set(names) <= signature.keywords


def takes_the_same(text: str, other: str) -> bool:
    """Whether two methods have the same parameters by name, in the same order."""
    own, theirs = parse_function(text), parse_function(other)
    return own is not None and theirs is not None and _names(own) == _names(theirs)


def _positional(function: Function) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args]


def _names(function: Function) -> list[str]:
    return [arg.arg for arg in (*_positional(function), *function.args.kwonlyargs)]


def _parameter(places: Places, own: Function, now: Function, name: str, *, only_by_keyword: bool) -> Edit:
    arg, default = next(pair for pair in _with_defaults(now) if pair[0].arg == name)
    said = ast.unparse(arg)
    if default is not None:
        said += f" = {ast.unparse(default)}" if arg.annotation is not None else f"={ast.unparse(default)}"
    order = _names(now)
    mine = own.args.kwonlyargs if only_by_keyword else _positional(own)
    following = set(order[order.index(name) + 1 :])
    after = next((other for other in mine if other.arg in following), None)
    if after is not None:
        return places.before(after, f"{said}, ")
    pairs = [pair for pair in _with_defaults(own) if only_by_keyword or pair[0] in mine]
    last = max((one for pair in pairs for one in pair if one is not None), key=places.end)
    return places.behind(last, f", {said}")


def _with_defaults(function: Function) -> list[tuple[ast.arg, ast.expr | None]]:
    positional, defaults = _positional(function), function.args.defaults
    padded: list[ast.expr | None] = [*[None] * (len(positional) - len(defaults)), *defaults]
    by_keyword = zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)
    return [*zip(positional, padded, strict=True), *by_keyword]


def _call_of_parent(own: Function) -> ast.Call | None:
    """The one call of the overridden method: ``super().run(…)``, or ``Runner.run(self, …)``."""
    found = [
        node
        for node in walk(own)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == own.name
        if is_parent(node.func.value)
    ]
    return found[0] if len(found) == 1 else None


def _argument(places: Places, call: ast.Call, now: Function, name: str) -> Edit:
    """By its place where the arguments behind it are given by theirs, else by keyword behind the last one."""
    bound = isinstance(call.func, ast.Attribute) and is_super(call.func.value)
    place = [arg.arg for arg in _positional(now)].index(name) - bound if name in _names_by_place(now) else -1
    if 0 <= place < len(call.args):
        return places.before(call.args[place], f"{name}, ")
    given: Sequence[ast.expr | ast.keyword] = [*call.args, *(one for one in call.keywords if one.arg is not None)]
    if not given:
        bracket = places.end(call) - 1
        return Edit(bracket, bracket, f"{name}={name}")
    return places.behind(max(given, key=places.end), f", {name}={name}")


def _names_by_place(function: Function) -> set[str]:
    return {arg.arg for arg in _positional(function)}
