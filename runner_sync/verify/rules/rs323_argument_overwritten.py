"""RS323 argument-overwritten: a function overwrites what a call gives it, for an argument that is new and that the
call leaves out.

What: a call gives a value for a parameter that the function read in the old target. In the new one each way through
the function sets the name anew before anything reads it, and there are optional parameters that the old one had not;
vllm-ascend's own method, which the override hides, passes them, and the override does not.

Example: `self._pad_query_start_loc_for_fia(num_tokens_padded, num_reqs_padded, num_reqs)` since vllm-ascend 0.17: what
`num_reqs_padded` is comes from `batch_desc_num_reqs` there, `None` by default, and the value that is passed is lost.

Why: the call fits, and nothing raises. Requests of a padded batch were one more than there are, and not as many as the
graph was captured for, in the runners of 0.16.0; those of 0.18.0 pass both new arguments.

Fix: pass what the hidden method passes.

Leaves alone: new parameters that the hidden method does not pass in each of its calls; names that a function reads
first, or sets under a condition without another branch; parameters that are not read at all any more; calls with
`*args` or `**kwargs`; calls that expect to fail.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from runner_sync import signatures
from runner_sync.model import Finding, Severity
from runner_sync.syntax import dotted_name, is_name, names_set, walk
from runner_sync.verify.trees.calling.callees import Callee
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import FunctionNode, nodes_of
from runner_sync.verify.trees.modules import Module
from runner_sync.verify.trees.program import Program
from runner_sync.verify.trees.steps import Step, steps

CODE = "RS323"
NAME = "argument-overwritten"
SEVERITY: Severity = "error"

_Theirs = Mapping[str, list[tuple[Frame, ast.Call]]]
"""The calls of hidden methods, by what is called."""


def find(program: Program, module: Module, old: Program | None = None) -> Iterable[Finding]:
    """Calls in overrides of ``module`` whose values are lost since ``old``."""
    for step in steps(program, module, old):
        theirs = _by_name(program.hidden_by(step.frame))
        for call in _calls(step.frame.function) if theirs else ():
            others = theirs.get(dotted_name(call.func) or "", [])
            if any(_passes_more(other, call) for _, other in others) and not step.frame.is_guarded(call, calls=True):
                yield from _check(step, call, others)


def _by_name(hidden: Iterable[Frame]) -> _Theirs:
    found: dict[str, list[tuple[Frame, ast.Call]]] = {}
    for frame in hidden:
        for call in _calls(frame.function):
            found.setdefault(dotted_name(call.func) or "", []).append((frame, call))
    found.pop("", None)
    return found


def _calls(function: FunctionNode) -> Iterator[ast.Call]:
    return (node for node in nodes_of(function) if isinstance(node, ast.Call))


def _passes_more(other: ast.Call, call: ast.Call) -> bool:
    given = {keyword.arg for keyword in call.keywords}
    is_open = None in given or any(isinstance(argument, ast.Starred) for argument in call.args)
    more = len(other.args) > len(call.args) or any(keyword.arg not in given for keyword in other.keywords)
    return more and not is_open


def _check(step: Step, call: ast.Call, others: list[tuple[Frame, ast.Call]]) -> Iterator[Finding]:
    for now, was in step.callees(call):
        functions = [c.function for c in (*now, *was) if c.function is not None]
        if not now or not was or len(functions) < len(now) + len(was) or now[0].module.project == "vllm-omni":
            continue
        fresh = _left_out(now[0], was, call, [other for _, other in others])
        for name in now[0].placed(call) if fresh else ():
            is_lost = all(c.function is not None and _is_overwritten(c.function, name) for c in now)
            if is_lost and all(c.function is not None and _is_read(c.function, name) for c in was):
                yield _finding(step.frame, call, now[0], name, fresh, by=others[0])
                return


def _left_out(now: Callee, was: list[Callee], call: ast.Call, others: list[ast.Call]) -> list[str]:
    """The parameters that are new, that a call does not give, and that each of ``others`` does."""
    known = {name for c in was for name in (*c.signature.positional, *c.signature.keyword_only)}
    optional = [n for n in (*now.signature.positional, *now.signature.keyword_only) if n not in now.signature.required]
    given = now.placed(call)
    if signatures.misfits(now.signature, signatures.of_call(call)) or any(c.signature.var_keyword for c in was):
        return []
    fresh = [name for name in optional if name not in known and name not in given]
    return [name for name in fresh if all(name in now.placed(other) for other in others)]


def _is_overwritten(function: FunctionNode, name: str) -> bool:
    """Whether each way through a function sets a name before anything reads it."""
    return _sets_first(function.body, name) is True


def _is_read(function: FunctionNode, name: str) -> bool:
    return _sets_first(function.body, name) is False


def _sets_first(body: list[ast.stmt], name: str) -> bool | None:
    """``True`` where statements set a name before they read it, ``False`` where they may read it, else ``None``."""
    for statement in body:
        if isinstance(statement, ast.If) and not _reads(statement.test, name):
            branches = [_sets_first(part, name) for part in (statement.body, statement.orelse)]
            if False in branches:
                return False
            if all(branches):
                return True
        elif _reads(statement, name):
            return False
        elif isinstance(statement, ast.Assign) and name in names_set(statement):
            return True
    return None


def _reads(top: ast.AST, name: str) -> bool:
    nodes = [node for node in walk(top) if isinstance(node, ast.Name | ast.AugAssign)]
    read = [node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    changed = [node.target for node in nodes if isinstance(node, ast.AugAssign)]
    return any(is_name(node, name) for node in (*read, *changed))


def _finding(
    frame: Frame, call: ast.Call, callee: Callee, name: str, fresh: list[str], *, by: tuple[Frame, ast.Call]
) -> Finding:
    hidden, other = by
    told = " and ".join(f"`{one}`" for one in fresh)
    return frame.finding(
        CODE,
        SEVERITY,
        call,
        symbol=f"{callee.name}({name})",
        message=f"`{callee.name}` ({callee.place}) overwrites `{name}` before it reads it now: {hidden.unit} "
        f"({hidden.module.path}:{other.lineno}) passes the new {told}.",
        fix=f"Pass {told} as {hidden.unit} does.",
    )
