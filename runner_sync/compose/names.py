"""Which names a module needs from outside its own definitions.

Comes in: module text. Goes out: sets of names. May touch: nothing (``ast`` and ``symtable`` only).
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator, Sequence
from functools import lru_cache

from runner_sync.syntax import Function, dotted_name, module_of, walk

_BUILTIN = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__class__", "__path__", "__spec__"}


@lru_cache(maxsize=256)
def used_names(text: str) -> frozenset[str]:
    """Module-level names that any scope of ``text`` refers to, in annotations and string annotations too."""
    tree = module_of(text)
    found = set(_globals(symtable.symtable(text, "<unit>", "exec")))
    for node in walk(tree):
        for annotation in _annotations(node):
            found |= _names_in(annotation)
    return frozenset(found - _BUILTIN)


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (top or symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _globals(child)


def _annotations(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
            yield annotation
        case ast.FunctionDef(returns=ast.expr() as annotation) | ast.AsyncFunctionDef(returns=ast.expr() as annotation):
            yield annotation


def _names_in(annotation: ast.expr) -> set[str]:
    """The names in an annotation, those in string annotations included."""
    found: set[str] = set()
    nodes = walk(annotation)
    values = {id(inner) for node in nodes for value in _values(node) for inner in walk(value)}
    for node in nodes:
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in values:
            try:
                found |= _names_in(ast.parse(node.value, mode="eval").body)
            except SyntaxError:
                continue
    return found


def _values(node: ast.AST) -> Sequence[ast.expr]:
    """The parts of an annotation whose strings are values, no types: ``Literal["decode"]``, ``Annotated[int,
    "rows"]``."""
    if not isinstance(node, ast.Subscript):
        return ()
    kind = (dotted_name(node.value) or "").rpartition(".")[2]
    if kind == "Literal":
        return (node.slice,)
    return node.slice.elts[1:] if kind == "Annotated" and isinstance(node.slice, ast.Tuple) else ()


@lru_cache(maxsize=256)
def read_in_class_body(text: str, class_name: str) -> frozenset[str]:
    """Names that a class body reads when it runs: in ``run = traced(run)``, ``@rows.setter``, a default value."""
    read = [one for node in module_of(text).body for one in _read_as_made(node, class_name)]
    return frozenset(node.id for one in read for node in walk(one) if isinstance(node, ast.Name))


def _read_as_made(node: ast.stmt, class_name: str) -> Iterator[ast.AST]:
    if not isinstance(node, ast.ClassDef) or node.name != class_name:
        return
    for member in node.body:
        if isinstance(member, Function):
            defaults = (default for default in member.args.kw_defaults if default is not None)
            yield from (*member.decorator_list, *member.args.defaults, *defaults)
        else:
            yield member


@lru_cache(maxsize=256)
def defined_names(text: str) -> frozenset[str]:
    """Names that module-level code of ``text`` binds, imports included, at any depth of ``if`` and ``try``."""
    table = symtable.symtable(text, "<unit>", "exec")
    return frozenset(
        s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()
    )


def undefined_names(text: str) -> frozenset[str]:
    """Names that ``text`` refers to and does not bind at module level."""
    return used_names(text) - defined_names(text)
