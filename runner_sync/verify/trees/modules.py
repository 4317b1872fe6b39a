"""One parsed module: what its names are bound to, in every branch.

Comes in: a path and a text. Goes out: a `Module` with module-level bindings (classes, functions, imports, values). May
touch: nothing; the text is parsed, never executed.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from runner_sync.errors import InputError
from runner_sync.model import Project
from runner_sync.naming import Import, imported_by
from runner_sync.statements.assigning import assignments_of
from runner_sync.statements.mentioning import mentions
from runner_sync.syntax import Function, is_name, lasting_module_of, statements_of, string_of, walk
from runner_sync.verify.expecting import IMPORT_ERRORS, find_guarded
from runner_sync.verify.trees.versions import drop_other_versions


@dataclass(frozen=True, slots=True)
class PlacedImport(Import):
    """One imported name with its absolute module. ``guarded`` means that the code handles a failure.

    ``line`` and ``column`` are as ``ast`` counts them.
    """

    line: int
    end_line: int
    column: int
    guarded: bool


@dataclass(frozen=True, slots=True)
class Binding:
    """What one module-level statement binds a name to."""

    kind: Literal["class", "function", "import", "value"]
    node: ast.AST
    imported: PlacedImport | None = None
    value: ast.expr | None = None
    annotation: ast.expr | None = None


@dataclass(slots=True, eq=False, repr=False)
class Module:
    """A parsed module. ``dynamic``: it may define names that no statement shows.

    ``error`` says why an upstream module could not be parsed; it may then define any name.
    """

    name: str
    path: str
    project: Project
    is_package: bool
    node: ast.Module
    text: str
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    dynamic: bool = False
    error: InputError | None = None

    @property
    def is_omnis(self) -> bool:
        """Whether the module is omni's."""
        return self.project == "vllm-omni"

    def exports(self, name: str) -> bool:
        """Whether ``from module import *`` may bind ``name``, given that the module defines it.

        timid: any name, unless each ``__all__`` is a list or tuple of strings, and nothing else mentions it.
        """
        bindings = self.bindings.get("__all__", [])
        listed = [read_strings(binding.value) for binding in bindings]
        if self.dynamic or None in listed or self.text.count("__all__") != len(listed):
            return True
        return any(name in names for names in listed if names) if listed else not name.startswith("_")


def read_strings(value: ast.expr | None) -> list[str] | None:
    """Return the strings of a list, tuple or set of strings; ``None`` for any other expression."""
    parts = value.elts if isinstance(value, ast.List | ast.Tuple | ast.Set) else [None]
    texts = [text for part in parts if (text := string_of(part)) is not None]
    return texts if len(texts) == len(parts) else None


def build(
    name: str, path: str, project: Project, *, text: str, is_package: bool, versions: Mapping[str, str] | None = None
) -> Module:
    """Parse ``text`` and collect its module-level bindings, without branches that are for other ``versions``. Raises
    `SyntaxError`."""
    module = Module(
        name, path, project, is_package, drop_other_versions(lasting_module_of(text), text, versions or {}), text
    )
    for statement in statements_of(module.node.body):
        _bind_statement(module, statement)
        if isinstance(statement, ast.Delete) and statement in module.node.body:
            _unbind(module, statement)
    for name_bound, node in _find_inline_bindings(module.node) if ":=" in text or "match " in text else ():
        _add(module, name_bound, Binding("value", node))
    for node in walk(module.node) if _may_have_globals(text) else ():
        if isinstance(node, ast.Global):
            for global_name in node.names:
                _add(module, global_name, Binding("value", node))
    module.dynamic = "__getattr__" in module.bindings or "sys.modules[__name__]" in text or _may_define_globals(module)
    return module


def _may_have_globals(text: str) -> bool:
    """Whether ``global`` stands where a statement can begin. It may still be prose."""
    before = (text[text.rfind("\n", 0, found.start()) + 1 : found.start()].strip() for found in _GLOBAL.finditer(text))
    return any(not head or head[-1] in ";:" for head in before)


_GLOBAL = re.compile(r"global[ \t\f\\]")


def _find_inline_bindings(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Yield the names that a ``:=`` or a ``case`` at module level binds."""
    statements = [statement for statement in tree.body if not isinstance(statement, Function | ast.ClassDef)]
    named = {id(node.target) for part in statements for node in walk(part) if isinstance(node, ast.NamedExpr)}
    for mention in mentions(statements):
        if mention.kind == "binds" and (id(mention.node) in named or isinstance(mention.node, ast.pattern)):
            yield mention.name, mention.node


def _may_define_globals(module: Module) -> bool:
    """Whether ``globals()`` is used in a way that can define names which no statement shows.

    ``x = LazyLoader("x", globals(), …)`` (vLLM's loader, in both model runners) sets the name that it is given.
    """
    if "globals()" not in module.text:
        return False
    nodes = list(walk(module.node))
    loaders = (
        n
        for n in nodes
        if isinstance(n, ast.Call) and n.args and string_of(n.args[0]) is not None
        if not is_name(n.func, "exec") and not is_name(n.func, "eval")
    )
    shown = {id(argument) for call in loaders for argument in call.args}
    shown |= {id(n.value) for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Load)}
    shown |= {id(part) for n in nodes if isinstance(n, ast.Compare) for part in n.comparators}
    found = (node for node in nodes if isinstance(node, ast.Call) and is_name(node.func, "globals"))
    return any(id(call) not in shown for call in found)


def unit_at(module: Module, line: int) -> str:
    """Return the ``Class.method`` or function that holds ``line``, or ``<module>``."""
    for statement in statements_of(module.node.body):
        members = statement.body if isinstance(statement, ast.ClassDef) else [statement]
        prefix = f"{statement.name}." if isinstance(statement, ast.ClassDef) else ""
        for member in statements_of(members):
            first = min((d.lineno for d in getattr(member, "decorator_list", ())), default=member.lineno)
            if isinstance(member, Function) and first <= line <= (member.end_lineno or 0):
                return prefix + member.name
    return "<module>"


@functools.lru_cache(maxsize=256)
def imports_of(module: Module) -> tuple[tuple[ast.stmt, PlacedImport], ...]:
    """Return every import of the module as `PlacedImport`, also those in functions, without star imports."""
    nodes = walk(module.node)
    handled = {inner for part in find_guarded(nodes, IMPORT_ERRORS) for inner in walk(part)}
    statements = (node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom))
    found = ((node, i) for node in statements for i in read_import(module, node, guarded=node in handled))
    return tuple((node, imported) for node, imported in found if imported.name != "*")


def imports_at_start(module: Module) -> Iterator[PlacedImport]:
    """Yield the imports that run whenever ``module`` is imported, star imports as the name ``*``.

    Skips imports under a condition or in a ``try``: ``if current_platform.is_cuda():`` may keep them from an NPU.
    """
    for statement in module.node.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield from read_import(module, statement)


def read_import(module: Module, node: ast.Import | ast.ImportFrom, *, guarded: bool = False) -> Iterator[PlacedImport]:
    """Yield what an import statement of ``module`` binds, name by name."""
    for alias, entry in zip(node.names, imported_by(node, module.path), strict=True):
        place = (alias.lineno, alias.end_lineno or alias.lineno, alias.col_offset)
        yield PlacedImport(entry.module, entry.name, entry.bound, *place, guarded)


def _bind_statement(module: Module, statement: ast.stmt) -> None:
    if isinstance(statement, ast.ClassDef):
        _add(module, statement.name, Binding("class", statement))
    elif isinstance(statement, Function):
        _add(module, statement.name, Binding("function", statement))
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        _bind_import(module, statement)
    else:
        for target, value, annotation in assignments_of(statement):
            if isinstance(target, ast.Name):
                _add(module, target.id, Binding("value", statement, value=value, annotation=annotation))


def _unbind(module: Module, statement: ast.Delete) -> None:
    """Forget the names that a top-level ``del`` removes; the caller skips a conditional one, which may not run."""
    for target in statement.targets:
        if isinstance(target, ast.Name):
            module.bindings.pop(target.id, None)


def _bind_import(module: Module, node: ast.Import | ast.ImportFrom) -> None:
    for imported in read_import(module, node):
        if imported.name == "*":
            module.stars.append(imported.module)
        else:
            _add(module, imported.bound, Binding("import", node, imported))


def _add(module: Module, name: str, binding: Binding) -> None:
    module.bindings.setdefault(name, []).append(binding)
