"""How a module gets its names: always, only under a condition, or only for type checkers.

Comes in: module text. Goes out: sets of names. May touch: nothing.

Only an import of the first kind can be copied to another module as it is::

    if vllm_version_is("0.21.0"):
        from vllm.outputs import rows_of  # only under a condition
    if TYPE_CHECKING:
        import xgrammar as xgr  # for type checkers only; at run time the name is the loader below
    else:
        xgr = LazyLoader("xgr", globals(), "xgrammar")
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from runner_sync.compose.assignment import Bound, Walk
from runner_sync.compose.names import used_names
from runner_sync.statements import bound_in
from runner_sync.syntax import Try, asks_for_typing, is_name, module_of, walk


@dataclass(frozen=True, slots=True)
class Bindings:
    """The names of a module by the way in which it gets them.

    ``conditional``: imported only under a condition. ``told_otherwise``: imported under ``TYPE_CHECKING`` but bound to
    something else at run time. ``for_types``: imported for type checkers only. ``certain``: all names, imported or not,
    that are bound at run time whatever the conditions give.
    """

    conditional: frozenset[str]
    told_otherwise: frozenset[str]
    for_types: frozenset[str]
    certain: frozenset[str]


@lru_cache(maxsize=256)
def bindings(text: str) -> Bindings:
    """How a module gets its module-level names, those under ``if`` and ``try`` included."""
    body = module_of(text).body
    conditional, told = frozenset(_imported(body, "condition")), frozenset(_imported(body, "types"))
    certain = _certain(body)
    told -= {*_imported(body, "")} | conditional
    otherwise = told & _possible(body)
    return Bindings(conditional | (otherwise - certain), otherwise & certain, told - otherwise, certain)


def bound_above(text: str, line: int) -> frozenset[str]:
    """The names that the module-level statements ending on ``line`` or above it are certain to bind at run time."""
    return _certain(one for one in module_of(text).body if (one.end_lineno or 0) <= line)


def imports_for_types(text: str) -> list[ast.Import | ast.ImportFrom]:
    """The imports under the first ``if TYPE_CHECKING:`` of a module; none if its body is on the same line."""
    for statement in module_of(text).body:
        if isinstance(statement, ast.If) and asks_for_typing(statement.test):
            found = [one for one in statement.body if isinstance(one, ast.Import | ast.ImportFrom)]
            return found if statement.body[0].lineno > statement.lineno else []
    return []


def only_annotates(text: str, name: str) -> bool:
    """Whether a module reads a name only in annotations, and these are not evaluated at run time."""
    tree = module_of(text)
    is_lazy = any(
        isinstance(one, ast.ImportFrom) and one.module == "__future__" and "annotations" in names_bound(one)
        for one in tree.body
    )
    said = [note for node in walk(tree) for key in ("annotation", "returns") if (note := getattr(node, key, None))]
    annotating = {id(inner) for note in said for inner in walk(note)}
    return is_lazy and not any(is_name(node, name) and id(node) not in annotating for node in walk(tree))


def read_in_run(text: str) -> frozenset[str]:
    """The names of a module that are read at run time: not in annotations, nor in code for type checkers."""
    return used_names(ast.unparse(_ForRun().visit(ast.parse(text))))


class _ForRun(ast.NodeTransformer):
    """Reduces a module with lazy annotations to what is evaluated at run time."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(node.arg)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """A plain assignment; a mere declaration (``x: int``) binds nothing."""
        self.generic_visit(node)
        return ast.Assign([node.target], node.value, lineno=node.lineno) if node.value is not None else ast.Pass()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        node.returns = None
        return self._visited(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        node.returns = None
        return self._visited(node)

    def visit_If(self, node: ast.If) -> ast.stmt:
        if asks_for_typing(node.test):
            node.body = [ast.Pass()]
        return self._visited(node)

    def _visited(self, node: ast.stmt) -> ast.stmt:
        self.generic_visit(node)
        return node


def statements_binding(text: str, name: str) -> list[ast.stmt]:
    """The statements of a module's own suite that bind ``name``."""
    body = module_of(text).body
    return [body[k] for k in _binding(text).get(name, ())]


@lru_cache(maxsize=64)
def _binding(text: str) -> Mapping[str, Sequence[int]]:
    """For each name that a module binds, which statements of its own suite do."""
    found: dict[str, list[int]] = {}
    for k, statement in enumerate(module_of(text).body):
        for name in names_bound(statement):
            found.setdefault(name, []).append(k)
    return found


def names_bound(statement: ast.stmt | ast.ExceptHandler) -> frozenset[str]:
    """The names that a statement binds in its own scope, not in that of a function or class inside it."""
    return bound_in([statement])


def _imported(body: Iterable[ast.stmt], way: str, above: str = "") -> Iterator[str]:
    """The names that imports bind in one ``way``: under nothing (empty), a ``condition``, or for ``types``.

    ``above`` is the way in which the suite ``body`` itself is reached.
    """
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from names_bound(statement) if way == above else ()
        elif isinstance(statement, ast.If):
            run, types = _branches(statement)
            is_choice = len(run) == 2
            yield from _imported(types, way, "types")
            for branch in run:
                yield from _imported(branch, way, above or ("condition" if is_choice else ""))
        elif isinstance(statement, Try):
            handlers = [inner for handler in statement.handlers for inner in handler.body]
            yield from _imported([*statement.body, *handlers, *statement.orelse, *statement.finalbody], way, above)


def _branches(statement: ast.If) -> tuple[list[list[ast.stmt]], list[ast.stmt]]:
    """The branches that can run, and the one that only type checkers read."""
    if asks_for_typing(statement.test):
        return [statement.orelse], statement.body
    if isinstance(statement.test, ast.UnaryOp) and asks_for_typing(statement.test.operand):
        return [statement.body], statement.orelse
    return [statement.body, statement.orelse], []


def _certain(body: Iterable[ast.stmt]) -> frozenset[str]:
    """The names that a module's suite binds at run time on every path."""
    return _AtRunTime(certain=True).suite(body, frozenset()) or frozenset()


def _possible(body: Iterable[ast.stmt]) -> frozenset[str]:
    """The names that a module's suite binds at run time on some path."""
    return _AtRunTime(certain=False).suite(body, frozenset()) or frozenset()


class _AtRunTime(Walk):
    """The walk over a module without what is for type checkers. A ``try`` is taken to succeed, as the module was
    written for; on some path only, what its handlers bind is bound as well."""

    def statement(self, stmt: ast.stmt, bound: frozenset[str]) -> Bound:
        run = _branches(stmt)[0] if isinstance(stmt, ast.If) else []
        return self.suite(run[0], bound) if len(run) == 1 else super().statement(stmt, bound)

    def attempt(self, stmt: ast.Try | ast.TryStar, bound: frozenset[str]) -> Bound:
        done = self.suite([*stmt.body, *stmt.orelse, *stmt.finalbody], bound) if self.certain else None
        return super().attempt(stmt, bound) if done is None else done
