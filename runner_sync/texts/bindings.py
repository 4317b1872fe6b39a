"""Tells how a module gets its names: always, only under a condition, or only for type checkers.

Comes in: module text. Goes out: sets of names. May touch: nothing.

Only an import of the first kind can be copied to another module unchanged::

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

from runner_sync.statements import bound_in
from runner_sync.syntax import Try, asks_for_typing, is_name, module_of, walk
from runner_sync.texts.assignment import Walk
from runner_sync.texts.names import executed_parts, unbound_globals, undefined_names, used_names


@dataclass(frozen=True, slots=True)
class Bindings:
    """The names of a module by the way in which it gets them.

    ``conditional``: imported only under a condition. ``told_otherwise``: imported under ``TYPE_CHECKING`` but
    bound to something else at run time. ``for_types``: imported for type checkers only. ``certain``: all names,
    imported or not, that every run binds.
    """

    conditional: frozenset[str]
    told_otherwise: frozenset[str]
    for_types: frozenset[str]
    certain: frozenset[str]


@lru_cache(maxsize=256)
def read_bindings(text: str) -> Bindings:
    """Return how a module gets its module-level names, including names under ``if`` and ``try``."""
    body = module_of(text).body
    conditional, typed = frozenset(_find_imported(body, "condition")), frozenset(_find_imported(body, "types"))
    certain = _names_on_every_path(body)
    typed -= {*_find_imported(body, "")} | conditional
    rebound = typed & _names_on_some_path(body)
    return Bindings(conditional | (rebound - certain), rebound & certain, typed - rebound, certain)


def bound_above(text: str, line: int) -> frozenset[str]:
    """Return the names that the module-level statements ending at or above ``line`` are certain to bind at run time."""
    return _names_on_every_path(one for one in module_of(text).body if (one.end_lineno or 0) <= line)


def imports_for_types(text: str) -> list[ast.Import | ast.ImportFrom]:
    """Return the imports under the first ``if TYPE_CHECKING:`` of a module; none if its body is on the same line."""
    for statement in module_of(text).body:
        if isinstance(statement, ast.If) and asks_for_typing(statement.test):
            found = [one for one in statement.body if isinstance(one, ast.Import | ast.ImportFrom)]
            return found if statement.body[0].lineno > statement.lineno else []
    return []


def is_only_annotation(text: str, name: str) -> bool:
    """Whether a module reads a name only in annotations, and these are not evaluated at run time."""
    tree = module_of(text)
    is_lazy = any(
        isinstance(one, ast.ImportFrom) and one.module == "__future__" and "annotations" in names_bound(one)
        for one in tree.body
    )
    apart = annotating(tree)
    return is_lazy and not any(is_name(node, name) and id(node) not in apart for node in walk(tree))


def annotating(tree: ast.AST) -> set[int]:
    """Return the ids of the nodes that belong to annotations."""
    notes = [note for node in walk(tree) for key in ("annotation", "returns") if (note := getattr(node, key, None))]
    return {id(inner) for note in notes for inner in walk(note)}


def names_read_at_run_time(text: str) -> frozenset[str]:
    """Return the names that a module reads at run time, outside annotations and code for type checkers."""
    return used_names(_reduce_to_run_time(text))


def unbound_names(text: str, nodes: Sequence[ast.AST]) -> frozenset[str]:
    """Return the names that a module reads at run time and that nothing in it binds, also no ``global`` statement.

    ``nodes`` are those of its tree. None for a module that parses and does not compile: it never runs.
    """
    try:
        # Nearly every module binds all that it reads, which is seen in a third of the time.
        if not unbound_globals(text) and _find_declared(nodes).isdisjoint(_find_reads(nodes)):
            return frozenset()
        shared = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
        return undefined_names(_reduce_to_run_time(text)) - shared
    except SyntaxError:
        return frozenset()


def _find_declared(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the names that nothing may bind at run time: those bound for type checkers, or declared without a value.

    A field of a class counts only if the class reads it when it is made: nothing else does so by its bare name.
    """
    typed = [one for node in nodes if isinstance(node, ast.If) and asks_for_typing(node.test) for one in node.body]
    classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
    fields = {id(field) for node in classes for field in node.body}
    found = _find_bare(node for node in nodes if id(node) not in fields).union(*map(names_bound, typed))
    for node in classes:
        found |= _find_bare(node.body) & _find_reads(each for part in executed_parts(node) for each in walk(part))
    return found


def _find_bare(nodes: Iterable[ast.AST]) -> set[str]:
    bare = (node.target for node in nodes if isinstance(node, ast.AnnAssign) and node.value is None)
    return {target.id for target in bare if isinstance(target, ast.Name)}


def _find_reads(nodes: Iterable[ast.AST]) -> set[str]:
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}


def _reduce_to_run_time(text: str) -> str:
    return ast.unparse(_RunTimeReducer().visit(ast.parse(text)))


class _RunTimeReducer(ast.NodeTransformer):
    """Reduces a module with lazy annotations to the code that is evaluated at run time."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        return ast.arg(node.arg)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """Return a plain assignment; a mere declaration (``x: int``) binds nothing."""
        self.generic_visit(node)
        return ast.Assign([node.target], node.value, lineno=node.lineno) if node.value is not None else ast.Pass()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        node.returns = None
        return self._visit_children(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        node.returns = None
        return self._visit_children(node)

    def visit_If(self, node: ast.If) -> ast.stmt:
        if asks_for_typing(node.test):
            node.body = [ast.Pass()]
        return self._visit_children(node)

    def _visit_children(self, node: ast.stmt) -> ast.stmt:
        self.generic_visit(node)
        return node


def statements_binding(text: str, name: str) -> list[ast.stmt]:
    """Return the statements at a module's top level that bind ``name``."""
    body = module_of(text).body
    return [body[k] for k in _index_bindings(text).get(name, ())]


@lru_cache(maxsize=64)
def _index_bindings(text: str) -> Mapping[str, Sequence[int]]:
    """Map each name that a module binds to the indices of the top-level statements that bind it."""
    found: dict[str, list[int]] = {}
    for k, statement in enumerate(module_of(text).body):
        for name in names_bound(statement):
            found.setdefault(name, []).append(k)
    return found


def names_bound(statement: ast.stmt | ast.ExceptHandler) -> frozenset[str]:
    """Return the names that a statement binds in its own scope, not in a function or class inside it."""
    return bound_in([statement])


def _find_imported(body: Iterable[ast.stmt], way: str, above: str = "") -> Iterator[str]:
    """Yield the names that imports bind in one ``way``: under nothing (empty), a ``condition``, or for ``types``.

    ``above`` is the way in which the suite ``body`` itself is reached.
    """
    for statement in body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from names_bound(statement) if way == above else ()
        elif isinstance(statement, ast.If):
            run, types = _split_branches(statement)
            is_choice = len(run) == 2
            yield from _find_imported(types, way, "types")
            for branch in run:
                yield from _find_imported(branch, way, above or ("condition" if is_choice else ""))
        elif isinstance(statement, Try):
            handlers = [inner for handler in statement.handlers for inner in handler.body]
            yield from _find_imported([*statement.body, *handlers, *statement.orelse, *statement.finalbody], way, above)


def _split_branches(statement: ast.If) -> tuple[list[list[ast.stmt]], list[ast.stmt]]:
    """Return the branches that can run, and the branch that only type checkers read."""
    if asks_for_typing(statement.test):
        return [statement.orelse], statement.body
    if isinstance(statement.test, ast.UnaryOp) and asks_for_typing(statement.test.operand):
        return [statement.body], statement.orelse
    return [statement.body, statement.orelse], []


def _names_on_every_path(body: Iterable[ast.stmt]) -> frozenset[str]:
    """Return the names that a module's suite binds at run time on every path."""
    return _AtRunTime(certain=True).walk_suite(body, frozenset()) or frozenset()


def _names_on_some_path(body: Iterable[ast.stmt]) -> frozenset[str]:
    """Return the names that a module's suite binds at run time on some path."""
    return _AtRunTime(certain=False).walk_suite(body, frozenset()) or frozenset()


class _AtRunTime(Walk):
    """Walks a module without the code for type checkers.

    Takes a ``try`` to succeed, as the module intends; for bindings on some path, its handlers count as well.
    """

    def walk_statement(self, statement: ast.stmt, facts: frozenset[str]) -> frozenset[str] | None:
        run = _split_branches(statement)[0] if isinstance(statement, ast.If) else []
        return self.walk_suite(run[0], facts) if len(run) == 1 else super().walk_statement(statement, facts)

    def walk_try(self, statement: ast.Try | ast.TryStar, facts: frozenset[str]) -> frozenset[str] | None:
        parts = [*statement.body, *statement.orelse, *statement.finalbody]
        done = self.walk_suite(parts, facts) if self.certain else None
        return super().walk_try(statement, facts) if done is None else done
