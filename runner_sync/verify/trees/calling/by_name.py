"""Calls that name the method in a string, as vLLM's executors call their workers: `collective_rpc("sleep", args=(1,))`.

Comes in: a `Program` and the name of a method. Goes out: `NamedCall`s of upstream code. May touch: the trees around the
runners, by reading.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from runner_sync.model import Project
from runner_sync.profile.vllm import CALL_BY_NAME
from runner_sync.signatures import Arguments
from runner_sync.statements.assigning import targets_of
from runner_sync.syntax import Function, is_name, string_of
from runner_sync.verify.answers import answered_once
from runner_sync.verify.trees.functions import nodes_of
from runner_sync.verify.trees.program import Program


@dataclass(frozen=True, slots=True)
class NamedCall:
    """The arguments that a method is called with, and project and ``path:line`` of the call."""

    arguments: Arguments
    place: str
    project: Project


@answered_once
def find_named_calls(program: Program, name: str) -> list[NamedCall]:
    """Return the ``collective_rpc`` calls of method ``name`` in vllm-ascend and vLLM modules around the runners."""
    return list(_find_calls(program, name))


def _find_calls(program: Program, name: str) -> Iterator[NamedCall]:
    for path in program.world.surroundings.find_quoting(name, beside=CALL_BY_NAME):
        module = program.world.module_at(path)
        for frame in program.every_frame(module) if not module.is_omnis else ():
            for node in nodes_of(frame.function):
                if isinstance(node, ast.Call) and _read_method_name(node) == name:
                    yield NamedCall(_read_arguments(node, frame.function), f"{path}:{node.lineno}", module.project)


def _read_method_name(call: ast.Call) -> str | None:
    """Return ``name`` for ``x.collective_rpc("name", …)``, else ``None``."""
    match call:
        case ast.Call(ast.Attribute(attr=attr), [ast.Constant(value=str(name)), *_]) if attr == CALL_BY_NAME:
            return name
    return None


def _read_arguments(call: ast.Call, function: Function) -> Arguments:
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    args, kwargs = given.get("args"), given.get("kwargs")
    values = args.elts if isinstance(args, ast.Tuple) else []
    known = [value for value in values if not isinstance(value, ast.Starred)]
    keys = _read_keys(kwargs, function) if kwargs is not None else []
    is_open = args is not None and (not isinstance(args, ast.Tuple) or len(known) < len(values))
    return Arguments(len(known), tuple(keys), is_open, kwargs is not None)


def _read_keys(node: ast.expr, function: Function) -> list[str]:
    """Return the keys of ``{"key": …}`` or ``dict(key=…)``, also before ``or None``, and of a local that holds them."""
    match node:
        case ast.BoolOp(values=[first, *_]):
            return _read_keys(first, function)
        case ast.Dict(keys=keys):
            return [text for key in keys if (text := string_of(key)) is not None]
        case ast.Call(func=ast.Name(id="dict"), keywords=keywords):
            return [keyword.arg for keyword in keywords if keyword.arg is not None]
        case ast.Name(id=name):
            stored = (n for n in nodes_of(function) if isinstance(n, ast.Assign | ast.AnnAssign))
            return [key for statement in stored for key in _read_stored_keys(statement, name, function)]
    return []


def _read_stored_keys(statement: ast.Assign | ast.AnnAssign, name: str, function: Function) -> list[str]:
    """Return the keys that a statement puts into the dictionary called ``name``."""
    target = targets_of(statement)[0]
    if is_name(target, name) and isinstance(statement.value, ast.Dict | ast.Call):
        return _read_keys(statement.value, function)
    match target:
        case ast.Subscript(ast.Name(id=owner), ast.Constant(value=str(key))) if owner == name:
            return [key]
    return []
