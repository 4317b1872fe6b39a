"""Tells which names a module needs from outside its own definitions.

Comes in: module text. Goes out: sets of names. May touch: nothing (``ast`` and ``symtable`` only).
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator, Sequence
from functools import lru_cache

from runner_sync.syntax import Function, last_name, module_of, string_of, walk

_BUILTIN = frozenset(dir(builtins)) | {"__file__", "__name__", "__doc__", "__class__", "__path__", "__spec__"}


@lru_cache(maxsize=256)
def used_names(text: str) -> frozenset[str]:
    """Return module-level names that any scope of ``text`` refers to, in annotations and string annotations too."""
    tree = module_of(text)
    found = set(_find_globals(symtable.symtable(text, "<unit>", "exec")))
    for node in walk(tree):
        for annotation in _find_annotations(node):
            found |= _find_names(annotation)
    return frozenset(found - _BUILTIN)


def _find_globals(table: symtable.SymbolTable) -> Iterator[str]:
    top = table.get_type() == "module"
    for symbol in table.get_symbols():
        if symbol.is_referenced() and (top or symbol.is_global()):
            yield symbol.get_name()
    for child in table.get_children():
        yield from _find_globals(child)


def _find_annotations(node: ast.AST) -> Iterator[ast.expr]:
    match node:
        case ast.arg(annotation=ast.expr() as annotation) | ast.AnnAssign(annotation=annotation):
            yield annotation
        case ast.FunctionDef(returns=ast.expr() as annotation) | ast.AsyncFunctionDef(returns=ast.expr() as annotation):
            yield annotation


def _find_names(annotation: ast.expr) -> set[str]:
    """Return the names in an annotation, including those in string annotations."""
    found: set[str] = set()
    nodes = walk(annotation)
    values = {id(inner) for node in nodes for value in _find_value_parts(node) for inner in walk(value)}
    for node in nodes:
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif (text := string_of(node)) is not None and id(node) not in values:
            try:
                found |= _find_names(ast.parse(text, mode="eval").body)
            except SyntaxError:
                continue
    return found


def _find_value_parts(node: ast.AST) -> Sequence[ast.expr]:
    """Return parts of an annotation whose strings are no types: ``Literal["decode"]``, ``Annotated[int, "rows"]``."""
    if not isinstance(node, ast.Subscript):
        return ()
    kind = last_name(node.value)
    if kind == "Literal":
        return (node.slice,)
    return node.slice.elts[1:] if kind == "Annotated" and isinstance(node.slice, ast.Tuple) else ()


@lru_cache(maxsize=256)
def read_in_class_body(text: str, class_name: str) -> frozenset[str]:
    """Return names that a class body reads when run: in ``run = traced(run)``, ``@rows.setter``, a default value."""
    bodies = [node for node in module_of(text).body if isinstance(node, ast.ClassDef) and node.name == class_name]
    read = [one for node in bodies for one in executed_parts(node)]
    return frozenset(node.id for one in read for node in walk(one) if isinstance(node, ast.Name))


def executed_parts(node: ast.ClassDef) -> Iterator[ast.AST]:
    """Yield what runs when a class is made: its statements, and the decorators and defaults of its methods."""
    for member in node.body:
        if isinstance(member, Function):
            defaults = (default for default in member.args.kw_defaults if default is not None)
            yield from (*member.decorator_list, *member.args.defaults, *defaults)
        else:
            yield member


@lru_cache(maxsize=256)
def defined_names(text: str) -> frozenset[str]:
    """Return names that module-level code of ``text`` binds, imports included, at any depth of ``if`` and ``try``."""
    return frozenset(_find_bound(symtable.symtable(text, "<unit>", "exec")))


def _find_bound(table: symtable.SymbolTable) -> set[str]:
    return {s.get_name() for s in table.get_symbols() if s.is_assigned() or s.is_imported() or s.is_namespace()}


def unbound_globals(text: str) -> set[str]:
    """Return `undefined_names` without those that only annotations name that are never evaluated.

    Raises ``SyntaxError`` for a module that parses and does not compile.
    """
    table = symtable.symtable(text, "<unit>", "exec")
    return {*_find_globals(table)} - _find_bound(table) - _BUILTIN


def undefined_names(text: str) -> frozenset[str]:
    """Return names that ``text`` refers to and does not bind at module level."""
    return used_names(text) - defined_names(text)
