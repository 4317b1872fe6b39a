"""Drops questions of a merge that the texts at hand answer.

Comes in: decisions, the keywords that constructors of omni's classes take, and the texts of the GPU twin, of the result
and of its class's methods. Goes out: the remaining decisions. May touch: nothing.

Does a record take the keywords that it now gets? omni's record takes the fields of its base, a vLLM record::

    base      output = Output(rows=rows)
    omni      output = OmniOutput(rows=rows, payload=payload)
    upstream  output = Output(rows=rows, stats=stats)

A keyword that a record at hand does not take is set on the object, with its own question (`fitting.constructors`).

timid: only for calls by keyword. Which field a positional value sets depends on the order of all bases.

Does a statement run under omni's test, or under upstream's assertion of it? The GPU twin has omni's form::

    omni, GPU twin  if metadata is not None:      upstream  assert metadata is not None
                        self.handle(metadata)               self.handle(metadata)

Did a statement lose its condition? omni has the condition in a method that returns just that::

    upstream  if force or mode == FULL:           omni      if self._should_build(force, mode):
"""

from __future__ import annotations

import ast
import copy
import textwrap
from collections.abc import Collection, Mapping, Sequence

from runner_sync.lineage import list_nodes
from runner_sync.merge import Decision
from runner_sync.statements import ROOT, ancestors, flatten, tree_of
from runner_sync.syntax import calls_in


def drop_answered(decisions: Sequence[Decision], constructors: Mapping[str, Collection[str]]) -> list[Decision]:
    """Drop decisions that ask whether another call takes its new arguments, if each of these calls does."""
    return [item for item in decisions if not _is_answered(item, constructors)]


def drop_tests_of_twin(decisions: Sequence[Decision], twin: str) -> list[Decision]:
    """Drop decisions between omni's test and upstream's assertion of it if the ``twin`` has the statement under the
    test."""
    nodes = flatten(twin) if twin else ()
    tested = {(nodes[node.parent].canon, node.canon) for node in nodes if node.parent != ROOT}
    return [item for item in decisions if not _is_asserted(item, tested)]


def drop_conditions_in_helpers(decisions: Sequence[Decision], text: str, methods: Mapping[str, str]) -> list[Decision]:
    """Drop decisions about a lost condition if ``text`` has the statement under a method that returns just that.

    ``methods`` are the texts of the methods that the class has, by name.
    """
    return [item for item in decisions if not _is_in_helper(item, text, methods)]


def _is_in_helper(item: Decision, text: str, methods: Mapping[str, str]) -> bool:
    if item.reason.kind != "outside of its condition":
        return False
    nodes = flatten(text)
    index = max((k for k, node in enumerate(nodes) if node.start <= item.line), default=0)
    inlined = {_inline(nodes[head].canon, methods) for head in ancestors(nodes, index)}
    return all(name in inlined for name in item.reason.names)


def _inline(head: str, methods: Mapping[str, str]) -> str:
    """Return ``if self.method(values)`` with what the method returns in place of the call; empty if it does more."""
    test = getattr(tree_of(f"{head}: pass").body[0], "test", None) if head.startswith("if ") else None
    if not isinstance(test, ast.Call) or not isinstance(test.func, ast.Attribute):
        return ""
    text = methods.get(test.func.attr, "") if ast.unparse(test.func.value) == "self" else ""
    method = tree_of(textwrap.dedent(text)).body[0] if text else None
    if (
        not isinstance(method, ast.FunctionDef)
        or method.decorator_list
        or any(key.arg is None for key in test.keywords)
    ):
        return ""
    names = [parameter.arg for parameter in method.args.args[1:]]
    values = dict(zip(names, test.args, strict=False)) | {key.arg: key.value for key in test.keywords}
    body = method.body[ast.get_docstring(method) is not None :]
    returned = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
    if returned is None or len(values) < len(names):
        return ""
    return f"if {ast.unparse(_Inserting(values).visit(copy.deepcopy(returned)))}"


class _Inserting(ast.NodeTransformer):
    """Replaces parameters by values."""

    def __init__(self, values: Mapping[str | None, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.values.get(node.id, node)


def _is_asserted(item: Decision, tested: Collection[tuple[str, str]]) -> bool:
    """Whether upstream asserts the only condition of a decision, and all else is ``tested`` under that condition."""
    if item.reason.kind != "both added under other conditions" or len(item.reason.names) != 1:
        return False
    test, assertion = item.reason.names[0], f"assert {item.reason.names[0].removeprefix('if ')}"
    added = [node.canon for node in list_nodes(item.upstream) if not node.is_comment]
    return assertion in added and all((test, canon) in tested for canon in added if canon != assertion)


def _is_answered(item: Decision, constructors: Mapping[str, Collection[str]]) -> bool:
    if item.reason.kind != "arguments of another call":
        return False
    tree = tree_of(item.chosen)
    calls_in_question = [call for call in calls_in(tree) if ast.unparse(call.func) in item.reason.names]
    assigned_values = [
        node.value for node in tree.body if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    ]
    return bool(calls_in_question) and all(
        _takes(call, constructors, is_named=call in assigned_values) for call in calls_in_question
    )


def _takes(call: ast.Call, constructors: Mapping[str, Collection[str]], *, is_named: bool) -> bool:
    """Whether a call passes only keywords that its callee takes, or that can be set on the named record (``is_named``).

    ``dict`` takes all keywords.
    """
    name, keywords = ast.unparse(call.func), [key.arg for key in call.keywords]
    if call.args or None in keywords:
        return False
    accepted = constructors.get(name)
    return name == "dict" or (accepted is not None and (is_named or all(keyword in accepted for keyword in keywords)))
