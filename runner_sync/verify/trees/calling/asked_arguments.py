"""Arguments that an override with ``*args, **kwargs`` asks for by name or number, and that it gets no more.

    def capture(self, *args, **kwargs):
        mode = kwargs.get("mode")  # the hidden `capture(self, sizes, graph_mode)` had the parameter `mode` before

Comes in: a `Step`. Goes out: `LostArgument`s. May touch: nothing. Callers pass what the hidden method takes.

Leaves alone: an override that asks for a keyword which only the new method takes, because it fits both versions; a
keyword that a call in omni gives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from runner_sync.signatures import Signature, positional_parameters
from runner_sync.syntax import is_name, last_word, walk
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.classes import ClassInfo, Mro
from runner_sync.verify.trees.functions import nodes_of
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step

_ASKING = frozenset({"get", "pop", "setdefault"})


@dataclass(frozen=True, slots=True)
class LostArgument:
    """A read of the argument ``name`` at ``node``. ``hidden`` takes another at that place, or none of that name."""

    node: ast.expr
    name: str
    hidden: Callee


def find_lost_arguments(step: Step) -> Iterator[LostArgument]:
    """Yield the reads of arguments that the hidden method had in the old trees only; of each name the first."""
    function, info, was = step.frame.function, step.frame.info, step.before.info
    reads = dict(_find_reads(function)) if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) else {}
    if not reads or info is None or was is None:
        return
    now_hidden = _find_hidden(step.program, step.mros[0], info, function.name)
    old_hidden = _find_hidden(step.old, step.mros[1], was, function.name)
    if not now_hidden or not old_hidden or any(_is_new(key, now_hidden, old_hidden) for key in reads):
        return
    for key, node in reads.items():
        names = {_name(callee.signature, key) for callee in old_hidden}
        name = next(iter(names)) if len(names) == 1 else ""
        is_lost = bool(name) and all(_is_lost(callee.signature, key, name) for callee in now_hidden)
        if is_lost and not (key == name and _is_given_by_omni(step.program, function.name, name)):
            yield LostArgument(node, name, now_hidden[0])


def _find_reads(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str | int, ast.expr]]:
    """Yield the keywords, and the numbers of positional parameters, that the function asks for; the last read first."""
    args, kwargs = (one.arg if one is not None else "" for one in (function.args.vararg, function.args.kwarg))
    first = len(positional_parameters(function)) - 1
    for node in reversed(nodes_of(function)) if args or kwargs else ():
        match node:
            case ast.Call(ast.Attribute(ast.Name(name), asked), [ast.Constant(str(key)), *_]) if asked in _ASKING:
                if name == kwargs:
                    yield key, node
            case ast.Subscript(ast.Name(name), ast.Constant(str(key)), ast.Load()) if name == kwargs:
                yield key, node
            case ast.Compare(ast.Constant(str(key)), [ast.In() | ast.NotIn()], [read]) if is_name(read, kwargs):
                yield key, node
            case ast.Subscript(ast.Name(name), ast.Constant(int(number)), ast.Load()) if name == args and number >= 0:
                yield first + number, node


def _find_hidden(program: Program, mros: list[Mro], info: ClassInfo, name: str) -> list[Callee]:
    """Return the methods behind the override, one or more per MRO; empty if one is unknown."""
    found = [program.method(mro, name, after=info) if info in mro else [] for mro in mros]
    return [callee for group in found for callee in group] if all(found) else []


def _is_new(key: str | int, now: list[Callee], old: list[Callee]) -> bool:
    taken, before = (any(key in callee.signature.keywords for callee in callees) for callees in (now, old))
    return taken and not before


def _is_given_by_omni(program: Program, method: str, keyword: str) -> bool:
    """Whether a call of a method of that name in omni gives the keyword."""
    modules = (program.world.module_at(path) for path in program.world.surroundings.find_having(keyword, "vllm-omni"))
    calls = (node for module in modules for node in walk(module.node) if isinstance(node, ast.Call))
    return any(last_word(call.func) == method and keyword in {one.arg for one in call.keywords} for call in calls)


def _name(signature: Signature, key: str | int) -> str:
    """Return the parameter that a read gets; empty if the method has none."""
    if isinstance(key, str):
        return key if key in signature.keywords else ""
    return signature.positional[key] if key < len(signature.positional) else ""


def _is_lost(signature: Signature, key: str | int, name: str) -> bool:
    """Whether the read gets another argument, or none. timid: a parameter may have been renamed in its place."""
    if isinstance(key, str):
        return name not in signature.names and not signature.var_keyword
    if key < len(signature.positional):
        return signature.positional[key] != name and name in signature.names
    return not signature.var_positional
