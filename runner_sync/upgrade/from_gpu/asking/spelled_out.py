"""Finds ported calls of a function whose only ``return`` is the code that they replace.

Comes in: a passage before and after a port, and a ``ModuleJob``. Goes out: whether both say the same. May touch:
nothing.

Such code has run on this platform already::

    before  ids = ids.clamp(max=limit)        after   ids = clamp_to(ids, limit)
                                              helper  def clamp_to(rows, n):
                                                          return rows.clamp(max=n)

timid: only for functions that omni modules define under a name that NPU's module does not have, that read nothing but
their parameters, and that get all of these as plain names, attributes or constants.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping

from runner_sync.statements import first_function, is_python, tree_of
from runner_sync.statements.mentions import parameters
from runner_sync.syntax import dotted_name, is_string, walk
from runner_sync.texts.import_entries import read_imports
from runner_sync.texts.names import defined_names
from runner_sync.upgrade.from_gpu.twin.new_homes import resolve_import
from runner_sync.upgrade.job import ModuleJob


def is_spelled_out(was: str, now: str, job: ModuleJob) -> bool:
    """Whether a passage is ``was`` once the bodies of the functions that it newly calls stand for the calls."""
    if not (is_python(was) and is_python(now)):
        return False
    spelled = _CallReplacer(job).visit(copy.deepcopy(tree_of(now)))
    return ast.dump(spelled) == ast.dump(tree_of(was))


class _CallReplacer(ast.NodeTransformer):
    """Puts the returned expression of a function, with the arguments in it, in the place of each call."""

    def __init__(self, job: ModuleJob) -> None:
        self.job = job

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        function = _find_function(dotted_name(node.func) or "", self.job)
        returned = _find_only_return(function) if function is not None else None
        if function is None or returned is None:
            return node
        given = _match_arguments(node, function)
        if not {name.id for name in walk(returned) if isinstance(name, ast.Name)} <= given.keys():
            return node
        spelled: ast.expr = _ArgumentWriter(given).visit(copy.deepcopy(returned))
        return spelled


class _ArgumentWriter(ast.NodeTransformer):
    """Puts the given arguments in the place of parameters."""

    def __init__(self, given: Mapping[str, ast.expr]) -> None:
        self.given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.given[node.id]


def _find_function(called: str, job: ModuleJob) -> ast.FunctionDef | None:
    """Return the function of an omni module that the GPU twin imports and calls ``called``."""
    twin = job.twin.new
    entry = read_imports(twin.text, twin.path).get(called.partition(".")[0]) if twin is not None else None
    if entry is None or not entry.module.startswith(f"{job.profile.package}."):
        return None
    if entry.bound in defined_names(job.text):
        return None
    text = next((home.text for home in resolve_import(entry, job) if home.bound == called), "")
    function = first_function(text)
    return function if isinstance(function, ast.FunctionDef) and not function.decorator_list else None


def _find_only_return(function: ast.FunctionDef) -> ast.expr | None:
    """Return the value of the ``return`` that is all of a function except for a docstring."""
    body = [statement for statement in function.body if not is_string(statement)]
    return body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None


def _match_arguments(call: ast.Call, function: ast.FunctionDef) -> dict[str, ast.expr]:
    """Return the arguments of a call by parameter; none if the call does not give each parameter a plain value."""
    names = [parameter.arg for parameter in parameters(function)]
    given = dict(zip(names, call.args, strict=False)) | {key.arg or "": key.value for key in call.keywords}
    is_plain = all(dotted_name(value) or isinstance(value, ast.Constant) for value in given.values())
    is_whole = len(call.args) + len(call.keywords) == len(names) and given.keys() == {*names}
    takes_more = function.args.vararg is not None or function.args.kwarg is not None
    return given if is_plain and is_whole and not takes_more else {}
