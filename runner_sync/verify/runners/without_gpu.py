"""Tells what code of the GPU side comes to on another platform: values that are certain to be false, dead statements.

Comes in: the library of omni files, a `Scope`, expressions and statements of it. Goes out: answers. May touch: what the
library reads, and the texts of the trees.

One question to the platform may decide about much code elsewhere::

    self._use_graphs = current_omni_platform.is_cuda()              # the model

    def graph_request(self, rows):
        if not self._use_graphs:
            return None

    hook = getattr(self.model, "graph_request", None)               # the runner
    request = hook(rows) if callable(hook) else None
    if request is not None:
        self.refresh_buffers(request)                               # never runs on NPU

An answer may rest on itself: ``flag`` stays false if all that sets it stands below ``if flag:``. Such answers are true,
because the first value that is otherwise would need an earlier one.

timid: a value counts as false only if every assignment is found and each gives ``None``, ``False`` or another false
value. An attribute must be set nowhere else in the trees; without trees, all bases must be omni's.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import partial
from math import inf
from typing import cast

from runner_sync.statements.assigning import targets_of
from runner_sync.syntax import Function, is_name, is_none, parameter_names, string_of, walk, walk_suites
from runner_sync.verify.runners.ancestry import find_ancestry
from runner_sync.verify.runners.callees import Scope, find_callees
from runner_sync.verify.runners.hook_givers import find_givers
from runner_sync.verify.runners.job import Library
from runner_sync.verify.runners.model_hooks import MODEL_NAMES, find_hook_argument
from runner_sync.verify.runners.places import Place, Places
from runner_sync.verify.runners.reading import ClassText, Reading, dotted
from runner_sync.verify.runners.stores import binds_otherwise, is_set_by_itself, is_stored, may_set

Asked = Callable[[Scope, "ast.expr | None"], bool]

_HARMLESS = frozenset({"staticmethod", "torch.inference_mode", "torch.no_grad", "override"})
"""Decorators that leave what a function does and returns as it is."""

_PASSIVE = (ast.Import, ast.ImportFrom, ast.Pass, ast.If, ast.For, ast.While, ast.Try, ast.Break, ast.Continue)
"""Statements that do nothing beyond what stands in their suites."""


class WithoutGpu:
    """What is certain on a machine without a GPU.

    ``unasked`` are hooks that the code is looked at without, as if no model had them. ``asking`` are functions that
    return a model's hook or flag, with the position of its name.
    """

    def __init__(self, library: Library, unasked: frozenset[str], asking: Mapping[str, int]) -> None:
        self.library = library
        self._unasked = unasked
        self._asking = asking
        self._places: dict[Function, Places] = {}
        self._known: dict[tuple[object, ...], bool] = {}
        self._open: dict[tuple[object, ...], int] = {}
        self._rests_on: float = inf

    # -- statements

    def is_dead(self, scope: Scope, statement: ast.AST) -> bool:
        """Whether a statement of the function never runs."""
        return any(
            any(self._leaves(scope, earlier) for earlier in place.before) or self._is_skipped(scope, place)
            for place in self.places(scope.function).around(statement)
        )

    def is_dead_at(self, scope: Scope, node: ast.AST) -> bool:
        """Whether the statement around a node never runs."""
        holder = self.places(scope.function).holder(node)
        return holder is not None and self.is_dead(scope, holder)

    def places(self, function: Function) -> Places:
        """Return the places of a function's statements."""
        if function not in self._places:
            self._places[function] = Places(function)
        return self._places[function]

    def _is_skipped(self, scope: Scope, place: Place) -> bool:
        match place.parent:
            case ast.If(test=test, body=body):
                return self.is_false(scope, test) if place.suite is body else self._is_true(scope, test)
            case ast.While(test=test, body=body):
                return place.suite is body and self.is_false(scope, test)
        return False

    def _leaves(self, scope: Scope, statement: ast.stmt) -> bool:
        """Whether the function is certain to end in a statement."""
        match statement:
            case ast.Return() | ast.Raise():
                return True
            case ast.If(test=test, body=body, orelse=orelse) if _may_leave(statement):
                ends = [any(self._leaves(scope, one) for one in suite) for suite in (body, orelse)]
                return all(ends) or (
                    (ends[0] and self._is_true(scope, test)) or (ends[1] and self.is_false(scope, test))
                )
        return False

    # -- expressions

    def is_false(self, scope: Scope, node: ast.expr | None) -> bool:
        """Whether an expression is certain to be false as a condition; nothing at all is ``None``."""
        match node:
            case None:
                return True
            case ast.Constant(value=value):
                return not value
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self._is_true(scope, operand)
            case ast.BoolOp(op=ast.And(), values=values):
                return any(self.is_false(scope, value) for value in values)
            case ast.BoolOp(values=values):
                return all(self.is_false(scope, value) for value in values)
            case ast.Compare(left=left, ops=[ast.IsNot()], comparators=[other]):
                return is_none(other) and self.is_nothing(scope, left)
            case ast.Call(func=ast.Name(id="bool" | "callable"), args=[value]):
                return self.is_false(scope, value)
        return self._holds(scope, node, self.is_false)

    def is_nothing(self, scope: Scope, node: ast.expr | None) -> bool:
        """Whether an expression is certain to be ``None``."""
        return node is None or is_none(node) or self._holds(scope, node, self.is_nothing)

    def _is_true(self, scope: Scope, node: ast.expr) -> bool:
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.is_false(scope, operand)
            case ast.BoolOp(op=ast.Or(), values=values):
                return any(self._is_true(scope, value) for value in values)
            case ast.BoolOp(values=values):
                return all(self._is_true(scope, value) for value in values)
            case ast.Compare(left=left, ops=[ast.Is()], comparators=[other]):
                return is_none(other) and self.is_nothing(scope, left)
        return False

    def _holds(self, scope: Scope, node: ast.expr, asked: Asked) -> bool:
        """Whether what a node stands for is ``asked``: `is_false` or `is_nothing`."""
        match node:
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return (self.is_false(scope, test) or asked(scope, body)) and (
                    self._is_true(scope, test) or asked(scope, orelse)
                )
            case ast.Name(id=name):
                return self._once((asked, scope, name), lambda: self._is_name(scope, name, asked))
            case ast.Attribute(value=ast.Name(id="self"), attr=name) if scope.receivers:
                question = (asked, scope.receivers, name)
                return self._once(question, lambda: self._is_attribute(scope.receivers, name, asked))
            case ast.Call():
                return self._is_call(scope, node, asked)
        return False

    def _is_name(self, scope: Scope, name: str, asked: Asked) -> bool:
        """Whether every value that a local variable gets is ``asked``."""
        function = scope.function
        if name in parameter_names(function) or binds_otherwise(function, name):
            return False
        given: list[tuple[ast.stmt, ast.expr | None]] = []
        targets: set[int] = set()
        for statement in self.places(function).statements:
            if isinstance(statement, ast.Assign) or (isinstance(statement, ast.AnnAssign) and statement.value):
                plain = [target for target in targets_of(statement) if is_name(target, name)]
                targets.update(map(id, plain))
                given += [(statement, statement.value)] if plain else []
        stores = [node for node in walk(function) if is_name(node, name) and is_stored(node)]
        is_known = bool(given) and all(id(store) in targets or self.is_dead_at(scope, store) for store in stores)
        return is_known and all(asked(scope, value) or self.is_dead(scope, statement) for statement, value in given)

    def _is_attribute(self, receivers: tuple[ClassText, ...], name: str, asked: Asked) -> bool:
        """Whether every value that an attribute of objects gets is ``asked``."""
        owners = [(one, owner) for one in receivers for owner in find_ancestry(self.library, one).classes]
        if any(name in owner.methods for _, owner in owners):
            return False
        values = [value for _, owner in owners for value in owner.assigned.get(name, ())]
        stores = [
            (Scope(owner.reading, function, (receiver,)), node)
            for receiver, owner in owners
            for functions in owner.methods.values()
            for function in functions
            if any(word in owner.reading.text_of(function) for word in (name, "setattr"))
            for node in walk(function)
            if may_set(node, name)
        ]
        is_known = bool(values or stores) and all(asked(_NOWHERE, value) for value in values)
        is_known = is_known and all(self._is_store(scope, node, asked) for scope, node in stores)
        return is_known and is_set_by_itself(self.library, receivers, name)

    def _is_store(self, scope: Scope, node: ast.AST, asked: Asked) -> bool:
        statement = self.places(scope.function).holder(node)
        if statement is not None and self.is_dead(scope, statement):
            return True
        match statement:
            case ast.Assign(targets=targets, value=value) if any(target is node for target in targets):
                return asked(scope, value)
            case ast.AnnAssign(target=target, value=value) if target is node:
                return asked(scope, value)
        return False

    # -- calls

    def _is_call(self, scope: Scope, call: ast.Call, asked: Asked) -> bool:
        if self._is_asker(call):
            return asked == self.is_false
        if hook := self._find_asked_hook(call):
            return self._is_hook(hook, call, asked)
        if hook := self._find_called_hook(scope, call):
            return self.is_silent(hook)
        callees = find_callees(self.library, scope, call)
        return bool(callees) and all(self._answers(callee, asked) for callee in callees)

    def _is_asker(self, call: ast.Call) -> bool:
        """Whether a call asks whether this is a GPU: ``torch.cuda.is_available()``, or the like of a platform."""
        gpu, name = self.library.job.profile.device[0], dotted(call.func)
        return name == f"torch.{gpu}.is_available" or name.endswith((f"platform.is_{gpu}", f"platform.is_{gpu}_alike"))

    def _find_asked_hook(self, call: ast.Call) -> str:
        """Return the hook or flag that a call asks the model for, or an empty text."""
        at = find_hook_argument(call, self._asking)
        return (string_of(call.args[at]) or "") if at is not None else ""

    def _is_hook(self, hook: str, call: ast.Call, asked: Asked) -> bool:
        """Whether a call that asks a model for a hook or flag gets what is ``asked``."""
        is_unasked = hook in self._unasked
        match call:
            case ast.Call(func=ast.Name(id="getattr"), args=[_, _, default]):
                is_off = is_unasked or (asked == self.is_false and self.is_flag_off(hook))
                return asked(_NOWHERE, default) and is_off
            case ast.Call(func=ast.Name(id="getattr")):
                return False
        return asked == self.is_false and is_unasked

    def _find_called_hook(self, scope: Scope, call: ast.Call) -> str:
        """Return the hook that a call runs: of the model itself, or of a local variable that holds nothing else."""
        owner, _, name = dotted(call.func).rpartition(".")
        if owner or not name:
            return name if owner in MODEL_NAMES else ""
        stores = [node for node in walk(scope.function) if is_name(node, name) and is_stored(node)]
        places = self.places(scope.function)
        match [places.holder(node) for node in stores]:
            case [ast.Assign(targets=[ast.Name()], value=ast.Call() as given)]:
                return self._find_asked_hook(given)
        return ""

    def is_silent(self, hook: str) -> bool:
        """Whether every model that has a hook answers ``None`` at once without a GPU."""
        return self._once(("silent", hook), lambda: self._is_silent(hook))

    def _is_silent(self, hook: str) -> bool:
        givers = find_givers(self.library, hook)
        if givers is None or not givers.methods or givers.assigning:
            return False
        scopes = [Scope(owner.reading, function, (owner,)) for owner, function in givers.methods]
        return all(self.is_passive(scope) and self._answers(scope, self.is_nothing) for scope in scopes)

    def is_flag_off(self, hook: str) -> bool:
        """Whether every model that has a flag sets it to something false without a GPU."""
        givers = find_givers(self.library, hook)
        if givers is None or givers.methods or not givers.assigning:
            return False
        return all(self._once(("flag", one, hook), partial(self._is_flag_off, one, hook)) for one in givers.assigning)

    def _is_flag_off(self, owner: ClassText, hook: str) -> bool:
        return self._is_attribute((owner,), hook, self.is_false)

    def _answers(self, scope: Scope, asked: Asked) -> bool:
        """Whether every value that a function returns is ``asked``."""

        def find() -> bool:
            if not _is_plain(scope.function):
                return False
            returned = [one for one in self.places(scope.function).statements if isinstance(one, ast.Return)]
            return all(asked(scope, one.value) or self.is_dead(scope, one) for one in returned)

        return self._once(("answers", asked, scope), find)

    def is_passive(self, scope: Scope) -> bool:
        """Whether a function does nothing but compute an answer that is certain to be false."""
        return self._once(("passive", scope), lambda: self._is_passive(scope))

    def _is_passive(self, scope: Scope) -> bool:
        statements = self.places(scope.function).statements
        return self._answers(scope, self.is_false) and all(
            self._does_nothing(scope, one) or self.is_dead(scope, one) for one in statements
        )

    def _does_nothing(self, scope: Scope, statement: ast.stmt) -> bool:
        match statement:
            case ast.Assign() | ast.AnnAssign():
                return all(isinstance(target, ast.Name) for target in targets_of(statement))
            case ast.Return():
                return True
            case ast.Expr(value=ast.Constant()):
                return True
            case ast.Expr(value=ast.Call() as call):
                return self.is_idle(scope, call)
        return isinstance(statement, _PASSIVE)

    def is_idle(self, scope: Scope, call: ast.Call) -> bool:
        """Whether a call does nothing, because it runs passive functions only."""
        callees = find_callees(self.library, scope, call)
        return bool(callees) and all(self.is_passive(callee) for callee in callees)

    # -- answers

    def _once(self, question: tuple[object, ...], find: Callable[[], bool]) -> bool:
        """Return the answer to a question; yes while it is being answered, see the docstring of the module.

        A yes that rests on another question that is still open is not kept.
        """
        if question in self._known:
            return self._known[question]
        if question in self._open:
            self._rests_on = min(self._rests_on, self._open[question])
            return True
        depth, before = len(self._open), self._rests_on
        self._open[question], self._rests_on = depth, inf
        answer = find()
        del self._open[question]
        if not answer or self._rests_on >= depth:
            self._known[question], self._rests_on = answer, inf
        self._rests_on = min(before, self._rests_on)
        return answer


_NOWHERE = Scope(Reading("", ""), cast("Function", ast.parse("def nowhere(): pass").body[0]))
"""A scope without names, for what a class body assigns."""


def _may_leave(statement: ast.If) -> bool:
    return any(isinstance(node, ast.Return | ast.Raise) for node in walk_suites(statement))


def _is_plain(function: Function) -> bool:
    """Whether calling a function runs it, once and as it is written."""
    if isinstance(function, ast.AsyncFunctionDef):
        return False
    decorators = (one.func if isinstance(one, ast.Call) else one for one in function.decorator_list)
    waits = any(isinstance(node, ast.Yield | ast.YieldFrom | ast.Await) for node in walk(function))
    return not waits and all(dotted(one) in _HARMLESS for one in decorators)
