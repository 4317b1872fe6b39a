"""A function with what the rules ask of its body: local names, local imports, guarded code, positions for findings.

Comes in: a module and its functions. Goes out: `Frame`s, in source order. May touch: nothing.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeGuard

from runner_sync.edits import Places
from runner_sync.model import Finding, Severity
from runner_sync.statements import parameters
from runner_sync.statements.assigning import ASSIGNING, assignments_of, target_names
from runner_sync.syntax import Function, head_end, is_name, walk
from runner_sync.verify.answers import remembered
from runner_sync.verify.expecting import ATTRIBUTE_ERRORS, KEY_ERRORS, find_guarded
from runner_sync.verify.trees import modules
from runner_sync.verify.trees.classes import ClassInfo
from runner_sync.verify.trees.functions import changes_of, nodes_of, parents_of, reads_of
from runner_sync.verify.trees.instance import is_instance, is_own_super, self_name
from runner_sync.verify.trees.modules import Module, PlacedImport
from runner_sync.verify.trees.values.tested import Guards

_RUNS_AGAIN = Function | ast.Lambda | ast.For | ast.AsyncFor | ast.While


@dataclass(eq=False, repr=False)
class Frame:
    """A top-level function or method with everything nested in it. ``info`` is its class."""

    module: Module
    function: Function
    info: ClassInfo | None
    bound: dict[str, list[ast.AST]] = field(default_factory=dict)
    imports: dict[str, list[PlacedImport]] = field(default_factory=dict)
    narrowed: set[str] = field(default_factory=set)

    @property
    def unit(self) -> str:
        """``Class.method``, the function's name, or ``<module>`` for a module's own statements."""
        return f"{self.info.name}.{self.function.name}" if self.info else self.function.name

    @property
    def owner(self) -> str | None:
        """The name of ``self`` (or ``cls``); ``None`` outside methods and in static methods."""
        return self_name(self.function) if self.info else None

    @property
    def is_omnis(self) -> bool:
        """Whether the function stands in omni code."""
        return self.module.is_omnis

    def place_of(self, node: ast.expr | ast.stmt) -> str:
        """``path:line`` of a node of the function."""
        return f"{self.module.path}:{node.lineno}"

    def label_at(self, node: ast.expr | ast.stmt) -> str:
        """Return the name of the function and the place of a node of it, for messages."""
        return f"{self.unit} ({self.place_of(node)})"

    @remembered
    def nodes(self) -> list[ast.AST]:
        """Return every node of the body, with nested functions and without decorators and signature."""
        signature = [
            *self.function.decorator_list,
            self.function.args,
            *([self.function.returns] if self.function.returns else []),
        ]
        skip = {id(node) for part in signature for node in walk(part)}
        return [node for node in nodes_of(self.function)[1:] if id(node) not in skip]

    def parent(self, node: ast.AST) -> ast.AST:
        """Return the node of the function that directly holds ``node``."""
        return parents_of(self.function)[id(node)]

    @remembered
    def name_reads(self) -> dict[str, list[ast.Name]]:
        """Return the reads of each name in the body."""
        found: dict[str, list[ast.Name]] = {}
        for node in self.nodes():
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                found.setdefault(node.id, []).append(node)
        return found

    def runs_at_once(self, node: ast.AST) -> bool:
        """Whether a node is part of the function itself, and not of a nested one."""
        while not isinstance(node, Function | ast.Lambda):
            node = self.parent(node)
        return node is self.function

    def binds(self, name: str) -> bool:
        """Whether the function or its module binds ``name``, so that ``len``, for example, may not be the builtin."""
        return name in self.bound or name in self.imports or name in self.module.bindings

    def values_of(self, name: str) -> list[ast.expr]:
        """Return the expressions that the function assigns to a local; nothing for unpacked values and loops."""
        pairs = (pair for node in self.bound.get(name, ()) for pair in assignments_of(node))
        return [value for target, value, _ in pairs if value is not None and is_name(target, name)]

    def narrowed_to(self, read: ast.expr) -> ast.expr | None:
        """Return ``Kind`` for a read below ``if isinstance(read, Kind):``.

        ``None`` if the body may rebind the expression or tests its class again.
        """
        text = ast.unparse(read)
        found: ast.expr | None = None
        for branch in _map_branches(self.function).get(id(read), ()):
            match branch.test:
                case ast.Call(func=ast.Name(id="isinstance"), args=[tested, kind]) if ast.unparse(tested) == text:
                    inside = [inner for statement in branch.body for inner in walk(statement)]
                    found = None if self._may_change(read, inside) else kind
        return found

    def _may_change(self, read: ast.expr, inside: list[ast.AST]) -> bool:
        """Whether statements ``inside`` the branch may rebind the expression, or a part of it, before the read, or test
        its class again.

        timid: a binding on the line of the read counts as before it, unless its value holds the read: ``x = x.rows``.
        """
        parts = {ast.unparse(part) for part in walk(read) if isinstance(part, ast.expr)}
        bound = [b for part in parts for b in self.bound.get(part, ()) if any(b is inner for inner in inside)]
        bound += [
            inner
            for inner in inside
            if isinstance(inner, ast.Attribute | ast.Subscript)
            and not isinstance(inner.ctx, ast.Load)
            and ast.unparse(inner) in parts
        ]
        before = [b for b in bound if getattr(b, "lineno", 0) <= read.lineno and not _is_in_value(b, read)]
        may_repeat = bool(bound) and any(isinstance(inner, _RUNS_AGAIN) for inner in inside)
        is_tested_again = any(ast.unparse(tested) in parts for inner in inside for tested in _find_class_tests(inner))
        return bool(before) or may_repeat or is_tested_again or not parts.isdisjoint(self.imports)

    def find_attribute(self, node: ast.expr) -> ast.Attribute | None:
        """Return the attribute that an expression is, directly or as the only value of a local."""
        if isinstance(node, ast.Attribute):
            return node
        match self.bound.get(node.id, []) if isinstance(node, ast.Name) else []:
            case [ast.Assign(targets=[ast.Name()], value=ast.Attribute() as value)]:
                return value
        return None

    def bound_before(self, read: ast.Name) -> list[ast.AST]:
        """Return the nodes that may have bound a name when it is read.

        Bindings further down count only if a loop or a nested function may run them first.
        """
        bound = self.bound.get(read.id, [])
        below = [node for node in bound if getattr(node, "lineno", 0) > read.lineno]
        repeating = [n for n in nodes_of(self.function)[1:] if below and isinstance(n, _RUNS_AGAIN)]
        if any(inner is read for node in repeating for inner in walk(node)):
            return bound
        return [node for node in bound if node not in below] or bound

    def own_reads(self) -> Iterator[ast.Attribute]:
        """Yield the reads of attributes of ``self`` in a method, with ``self.x += 1``; nothing outside methods."""
        read = (*reads_of(self.function), *changes_of(self.function)) if self.owner is not None else ()
        yield from (node for node in read if self.is_self(node.value))

    def assigned_attributes(self) -> Iterator[ast.Attribute]:
        """Yield the attributes, of any object, that the body assigns or deletes; a bare annotation does neither."""
        nodes = self.nodes()
        bare = {id(node.target) for node in nodes if isinstance(node, ast.AnnAssign) and node.value is None}
        for node in nodes:
            if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and id(node) not in bare:
                yield node

    def is_self(self, node: ast.AST | None) -> bool:
        """Whether ``node`` is the method's own ``self`` (or ``cls``), and not that of a nested function."""
        return self.info is not None and is_instance(self.function, node)

    def is_of_self(self, node: ast.AST | None) -> TypeGuard[ast.Attribute]:
        """Whether ``node`` is an attribute of the method's own ``self``."""
        return isinstance(node, ast.Attribute) and self.is_self(node.value)

    def is_super(self, node: ast.AST | None) -> bool:
        """Whether ``node`` is the method's own ``super()``."""
        return self.info is not None and is_own_super(self.function, node)

    def is_guarded(self, node: ast.AST, errors: frozenset[str] = ATTRIBUTE_ERRORS) -> bool:
        """Whether the code expects ``node`` to fail with one of ``errors``: it catches the error, or stands under a
        version switch."""
        return id(node) in self._find_guarded(errors)

    @remembered
    def _find_guarded(self, errors: frozenset[str]) -> set[int]:
        return {id(inner) for part in find_guarded(nodes_of(self.function), errors) for inner in walk(part)}

    def may_lack_key(self, node: ast.Subscript) -> bool:
        """Whether the code expects a missing key: it catches the error, or tests ``"key" in rows`` anywhere."""
        key = ast.unparse(node.slice)
        tests = (n for n in nodes_of(self.function) if isinstance(n, ast.Compare) and ast.unparse(n.left) == key)
        return self.is_guarded(node, KEY_ERRORS) or any(isinstance(n.ops[0], ast.In | ast.NotIn) for n in tests)

    def may_lack(self, node: ast.Attribute) -> bool:
        """Whether the function is ready for the lack of an attribute: it tests for it, or catches the error."""
        return self.is_tested(node) or self.is_guarded(node)

    def is_tested(self, node: ast.Attribute) -> bool:
        """Whether the function tests for the attribute by ``hasattr`` or ``getattr`` before this read."""
        return self.has_asked(node.value, node.attr)

    def has_asked(self, value: ast.expr, attribute: str) -> bool:
        """Whether the function tests for an attribute that it uses without naming it: ``__len__`` in ``len(value)``."""
        return self._guards.is_covered(value, attribute)

    @functools.cached_property
    def _guards(self) -> Guards:
        return Guards(self.function)

    def conditions(self, node: ast.AST) -> list[ast.expr]:
        """Return the tests of the ``if`` statements whose body (not ``else``) holds ``node``."""
        return [branch.test for branch in _map_branches(self.function).get(id(node), ())]

    def finding(
        self, rule: tuple[str, Severity], node: ast.expr | ast.stmt, *, symbol: str, message: str, fix: str
    ) -> Finding:
        """Return a finding at ``node`` of this frame; for the frame's function itself, at its signature."""
        end = head_end(self.function) if node is self.function else (node.end_lineno or 0, node.end_col_offset or 0)
        start = (node.lineno, node.col_offset)
        return place_finding(rule, self.module, start, end, unit=self.unit, symbol=symbol, message=message, fix=fix)


def class_finding(rule: tuple[str, Severity], info: ClassInfo, *, symbol: str, message: str, fix: str) -> Finding:
    """Return a finding at the head of a class."""
    start, end = (info.node.lineno, info.node.col_offset), head_end(info.node)
    return place_finding(rule, info.module, start, end, unit=info.name, symbol=symbol, message=message, fix=fix)


def place_finding(
    rule: tuple[str, Severity],
    module: Module,
    start: tuple[int, int],
    end: tuple[int, int | None],
    *,
    unit: str,
    symbol: str,
    message: str,
    fix: str,
) -> Finding:
    """Return a finding in a module; ``start`` and ``end`` are lines and columns as ``ast`` counts them."""
    column, (end_line, end_column) = Places(module.text).column, end
    last = column(end_line, end_column) if end_column is not None else 0
    return Finding(*rule, module.path, start[0], end_line, unit, symbol, message, fix, column(*start), last)


def place_at_import(
    rule: tuple[str, Severity], module: Module, imported: PlacedImport, *, message: str, fix: str
) -> Finding:
    """Return a finding at an import of a module; its symbol is what is imported."""
    return place_finding(
        rule,
        module,
        (imported.line, imported.column),
        (imported.end_line, None),
        unit="<module>",
        symbol=imported.source,
        message=message,
        fix=fix,
    )


def frame_of(module: Module, function: Function, info: ClassInfo | None) -> Frame:
    """Return a frame with the local names and imports of ``function``."""
    frame = Frame(module, function, info)
    for argument in parameters(function):
        frame.bound.setdefault(argument.arg, []).append(argument)
    for node in nodes_of(function):
        if node is not function and type(node) in _READ_NODES:
            _read_node(frame, node)
    return frame


def class_frame(info: ClassInfo) -> Frame:
    """Return an empty frame in the class's module, to look up names of the class body."""
    return module_frame(info.module)


@functools.lru_cache(maxsize=4096)
def module_frame(module: Module) -> Frame:
    """Return an empty frame in a module, to look up names at its top level."""
    empty = ast.parse("def _(): ...").body[0]
    assert isinstance(empty, ast.FunctionDef)
    return Frame(module, empty, None)


@functools.lru_cache(maxsize=4096)
def _map_branches(function: Function) -> dict[int, list[ast.If]]:
    """Return the ``if`` statements whose body (not ``else``) holds a node, by the node's id, outer statements first."""
    found: dict[int, list[ast.If]] = {}
    for node in nodes_of(function):
        if isinstance(node, ast.If):
            for inner in (inner for statement in node.body for inner in walk(statement)):
                found.setdefault(id(inner), []).append(node)
    return found


_READ_NODES = ASSIGNING | {
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, ast.Import, ast.ImportFrom, ast.comprehension),
    *(ast.ExceptHandler, ast.Match, ast.MatchAs, ast.MatchStar, ast.MatchMapping, ast.Call),
}
"""The kinds of node that a frame reads: one node in six."""


def _read_node(frame: Frame, node: ast.AST) -> None:
    if isinstance(node, Function | ast.ClassDef):
        frame.bound.setdefault(node.name, []).append(node)
    if isinstance(node, Function | ast.Lambda):
        for argument in parameters(node):
            # timid: an inner parameter shadows the outer name, so that name is no longer typed.
            frame.bound.setdefault(argument.arg, []).append(node)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for imported in modules.read_import(frame.module, node):
            frame.imports.setdefault(imported.bound, []).append(imported)
    elif isinstance(node, ast.comprehension):
        for target in target_names(node.target):
            if isinstance(target, ast.Name):
                frame.bound.setdefault(target.id, []).append(node)
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        frame.bound.setdefault(node.name, []).append(node)
    elif isinstance(node, ast.MatchMapping) and node.rest:
        frame.bound.setdefault(node.rest, []).append(node)
    frame.narrowed.update(ast.unparse(tested) for tested in _find_class_tests(node))
    for target, _, _ in assignments_of(node):
        if isinstance(target, ast.Name):
            frame.bound.setdefault(target.id, []).append(node)


def _find_class_tests(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the expression whose class a node tests: ``x`` in ``isinstance(x, Kind)``, ``type(x)`` and ``match x:``."""
    match node:
        case ast.Call(func=ast.Name(id="isinstance" | "type"), args=[tested, *_]) | ast.Match(subject=tested):
            yield tested


def _is_in_value(binding: ast.AST, read: ast.expr) -> bool:
    return isinstance(binding, ast.Assign) and any(inner is read for inner in walk(binding.value))
