"""Drops questions about conditions that a port left, if a method of the class tests just the same.

Comes in: decisions of a port, its text, a draft and a ``ModuleJob``. Goes out: the remaining decisions. May touch:
nothing.

vllm-ascend may test in a method what the GPU runner tests in place. Here `note` has left no condition::

    GPU twin    if always or self.rows:      result    if self.is_due(always):
                    self.note()                            self.note()
    class       def is_due(self, force):
                    return force or self.rows
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from runner_sync.edits import Places, apply
from runner_sync.merge import Decision
from runner_sync.signatures import is_as_written
from runner_sync.statements import enclosing, flatten, parameters, parse_function, tree_of
from runner_sync.syntax import is_name, walk
from runner_sync.units import texts
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import Inherited, ModuleJob


def drop_met_conditions(decisions: Sequence[Decision], text: str, draft: Draft, job: ModuleJob) -> list[Decision]:
    """Drop decisions on statements that stand in ``text`` under a method call that returns the condition they left."""
    return [
        item
        for item in decisions
        if item.reason.kind != "outside of its condition"
        or not {*item.reason.names} <= {f"if {test}" for test in _find_returned_tests(text, item.line, draft, job)}
    ]


def _find_returned_tests(text: str, line: int, draft: Draft, job: ModuleJob) -> Iterator[str]:
    """Yield what the methods return that are the conditions around a line."""
    nodes = flatten(text)
    index = next((k for k, node in enumerate(nodes) if node.start == line), None)
    for head in enclosing(nodes, index) if index is not None else ():
        statement = next(iter(tree_of(f"{nodes[head].canon}:\n    pass\n").body), None)
        call = statement.test if isinstance(statement, ast.If) else None
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and is_name(call.func.value, "self"):
            yield _expand(call, _find_method(call.func.attr, draft, job))


def _find_method(name: str, draft: Draft, job: ModuleJob) -> str:
    """Return the text of the method that the draft's class has: its own, omni's inherited one, or vllm-ascend's."""
    own = texts.unit_texts(job.text, job.path).get(f"{draft.owner}.{name}")
    inherited = job.hierarchy.inherited.get(draft.owner, Inherited()).members.get(name)
    if own or inherited or job.upstream.new is None:
        return own or inherited or ""
    new = job.upstream.new
    return texts.members(new.text, job.module.upstreams[0].name, new.path).get(name, "")


def _expand(call: ast.Call, method: str) -> str:
    """Return the expression that a method returns for a call; empty unless this is all that the method does."""
    function = parse_function(method)
    if function is None or not is_as_written(function) or any(isinstance(arg, ast.Starred) for arg in call.args):
        return ""
    body = [statement for statement in function.body if not _is_text(statement)]
    value = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
    owner, *plain = [arg.arg for arg in (*function.args.posonlyargs, *function.args.args)] or [""]
    given = dict(zip(plain, call.args, strict=False)) | {key.arg or "": key.value for key in call.keywords}
    names = {arg.arg for arg in parameters(function)} - {owner}
    read = [node for node in walk(value) if isinstance(node, ast.Name) and node.id in names] if value else []
    if value is None or not given.keys() <= names or not {node.id for node in read} <= given.keys():
        return ""
    places = Places(method)
    made = apply(method, [places.instead_of(node, f"({ast.unparse(given[node.id])})") for node in read])
    returned = parse_function(made)
    assert returned is not None
    return ast.unparse(returned.body[-1]).removeprefix("return ")


def _is_text(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
