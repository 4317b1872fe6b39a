"""Parse, cache, walk and search syntax trees of the standard library.

Comes in: ``ast`` nodes, or texts to parse. Goes out: trees, nodes, names and line numbers. May touch: nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TypeGuard

Try = ast.Try | ast.TryStar
"""A ``try`` statement, with ``except`` or ``except*``."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
"""The statement that defines a function or method, with or without ``async``."""

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

_PLAIN = frozenset(
    {"arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "kwd_attrs", "level", "module", "name"}
    | {"rest", "simple", "str", "type_comment"}
)
"""Fields that `walk` and `children` skip: they hold no node or, like ``ctx``, one that no caller searches for."""

_LEAVES = ast.Constant | ast.Global | ast.Nonlocal | ast.MatchSingleton
"""Nodes whose fields hold no nodes, although they are called like those of other nodes."""


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """For each node class, the fields that may hold other nodes; computed on first access."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        names = () if issubclass(kind, _LEAVES) else kind._fields
        # The name of a type alias is a node.
        nodes = {"name"} if kind.__name__ == "TypeAlias" else set()
        self[kind] = found = tuple(name for name in names if name not in _PLAIN - nodes)
        return found


_fields = _Fields()
_SUITES = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
"""Fields that hold statements, or nodes that hold statements."""
_suite_fields = {
    kind: tuple(name for name in kind._fields if name in _SUITES)
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
_LONGEST_UNIT = 16384
"""A text with more characters than this is treated as a whole module; nearly all of them are."""


def module_of(text: str) -> ast.Module:
    """Return the cached syntax tree of ``text``, which callers share and must never edit. Raises ``SyntaxError``."""
    return _parse_module(text) if len(text) > _LONGEST_UNIT else _parse_unit(text)


@lru_cache(maxsize=32)
def _parse_module(text: str) -> ast.Module:
    return ast.parse(text)


# A module has many units, which would evict the modules from a common cache.
@lru_cache(maxsize=1024)
def _parse_unit(text: str) -> ast.Module:
    return ast.parse(text)


@lru_cache(maxsize=4096)
def lasting_module_of(text: str) -> ast.Module:
    """Return `module_of` of a module that is read again and again, so that no other tree evicts it."""
    return module_of(text)


def walk(top: ast.AST) -> list[ast.AST]:
    """Return ``top`` and all its descendants but ``ctx`` nodes, by level, in a third of the time of ``ast.walk``."""
    found = [top]
    for node in found:
        # The body of `children`, inlined to save a call per node.
        for name in _fields[node.__class__]:
            value = getattr(node, name, None)
            if value.__class__ is list:
                found += [item for item in value if item is not None] if None in value else value
            elif value is not None:
                found.append(value)
    return found


def walk_suites(top: ast.mod | ast.stmt) -> list[ast.AST]:
    """Return the nodes of `walk` but for expressions, in the same order: statements, handlers and cases. Definitions
    are found in a tenth of the time."""
    found: list[ast.AST] = [top]
    for node in found:
        for name in _suite_fields[node.__class__]:
            found += getattr(node, name)
    return found


@lru_cache(maxsize=16384)
def dumped(node: ast.AST) -> str:
    """Return the cached ``ast.dump`` of a node that is never edited, because several rules compare the same calls."""
    return ast.dump(node)


def calls_in(top: ast.AST) -> list[ast.Call]:
    """Return the calls in ``top``, in the order of `walk`."""
    return [node for node in walk(top) if isinstance(node, ast.Call)]


def children(node: ast.AST) -> list[ast.AST]:
    """Return the direct children of ``node`` without ``ctx``, in a third of the time of ``ast.iter_child_nodes``."""
    found: list[ast.AST] = []
    for name in _fields[node.__class__]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [item for item in value if item is not None]
        elif value is not None:
            found.append(value)
    return found


_INDENTED = re.compile(r"(?:[ \t\f]*(?:#.*)?\n)*(?:[ \t\f]*\f)?[ \t]+[^#\s]")  # a form feed starts the line anew


def is_indented(text: str) -> bool:
    """Whether a unit's first line of code, not counting comments, is indented as in a class."""
    return _INDENTED.match(text) is not None


def indentation(text: str) -> str:
    """Return the indentation of the first line of code (comments may differ); of a comment if there is no code."""
    lines = [line for line in text.split("\n") if line.strip()]
    first = next((line for line in lines if not line.lstrip().startswith("#")), lines[0] if lines else "")
    return first[: len(first) - len(first.lstrip(" \t"))]


def first_line(statement: ast.stmt) -> int:
    """Return the first line of a statement, including its decorators."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def statement_at(tree: ast.AST, line: int) -> tuple[int, int]:
    """Return first and last line of the innermost statement (of a compound one, the head) that contains ``line``.
    Returns ``(line, line)`` if there is none, such as for a bare ``else:``."""
    found = (line, line)
    for node in walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = first_line(body[0]) - 1 if body else node.end_lineno or node.lineno
            if first_line(node) <= line <= last:
                found = (first_line(node), last)
    return found


def head_end(node: Function | ast.ClassDef) -> tuple[int, int]:
    """Return line and column, as ``ast`` counts them, behind which a class or function head is only punctuation."""
    parts: list[ast.expr | ast.arg | ast.keyword | None]
    if isinstance(node, ast.ClassDef):
        parts = [*node.bases, *node.keywords]
        keyword = "class "
    else:
        arguments = node.args
        parts = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
        parts += [*arguments.defaults, *arguments.kw_defaults, node.returns]
        keyword = "async def " if isinstance(node, ast.AsyncFunctionDef) else "def "
    parts += getattr(node, "type_params", ())  # since Python 3.12
    ends = [(part.end_lineno or 0, part.end_col_offset or 0) for part in parts if part is not None]
    return max([(node.lineno, node.col_offset + len(f"{keyword}{node.name}".encode())), *ends])


def blocks_of(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yield the non-empty suites directly inside ``statement``; none for functions and classes (other scopes)."""
    if isinstance(statement, Function | ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list) and block:
            yield block
    for inner in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield inner.body


def suites_of(nodes: Iterable[ast.AST]) -> Iterator[list[ast.stmt]]:
    """Yield all suites, even empty ones, directly inside each node, which may also be a module or handler."""
    for node in nodes:
        for name in ("body", "orelse", "finalbody"):
            suite = getattr(node, name, None)
            # In a lambda or conditional expression, fields of these names hold expressions.
            if isinstance(suite, list):
                yield suite


def statements_of(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of ``body`` and of compound statements in it, but not of functions and classes."""
    for statement in body:
        yield statement
        if _suite_fields[statement.__class__]:  # nearly all statements are simple
            for block in blocks_of(statement):
                yield from statements_of(block)


def for_typing(body: Iterable[ast.stmt]) -> set[int]:
    """Return the ids of the statements that only type checkers see: those below ``if TYPE_CHECKING:``."""
    branches = [s for s in statements_of(body) if isinstance(s, ast.If) and asks_for_typing(s.test)]
    return {id(statement) for branch in branches for statement in statements_of(branch.body)}


def asks_for_typing(test: ast.expr) -> bool:
    """Whether a condition is just ``TYPE_CHECKING`` or ``typing.TYPE_CHECKING``."""
    return last_name(test) == "TYPE_CHECKING"


def calls_on_self(function: ast.AST | None, member: str) -> Iterator[ast.Call]:
    """Yield the calls of ``self.member`` in a function and its nested functions; nothing for ``None``."""
    for node in walk(function) if function is not None else ():
        if isinstance(node, ast.Call) and self_attribute(node.func) == member:
            yield node


def self_attribute(node: ast.AST | None) -> str:
    """Return the attribute of ``self`` that ``node`` is, or ``""``: ``rows`` for ``self.rows``."""
    return node.attr if isinstance(node, ast.Attribute) and is_name(node.value, "self") else ""


def attribute_by_name(node: ast.AST) -> str:
    """Return the attribute of ``self`` that a call names, or ``""``: ``rows`` for ``getattr(self, "rows", None)``."""
    match node:
        case ast.Call(args=[ast.Name(id="self"), ast.Constant(value=str(attribute)), *_]):
            return attribute
    return ""


def self_attributes_set(top: ast.AST) -> set[str]:
    """Return the attributes of ``self`` assigned in ``top`` and nested functions. Classes inside functions are skipped,
    because their ``self`` is another object."""
    nodes = walk(top)
    inside = _find_inside_local_classes(nodes) if any(isinstance(node, ast.ClassDef) for node in nodes) else set()
    found = (node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return {node.attr for node in found if is_name(node.value, "self") and id(node) not in inside}


def _find_inside_local_classes(nodes: Iterable[ast.AST]) -> set[int]:
    """Return the ids of all nodes inside the classes that functions among ``nodes`` define."""
    functions = (node for node in nodes if isinstance(node, Function))
    classes = (node for function in functions for node in walk(function) if isinstance(node, ast.ClassDef))
    return {id(node) for one in classes for node in walk(one)}


def names_in(top: ast.AST) -> set[str]:
    """Return the names that a tree mentions, without attributes, parameters and keywords."""
    return {node.id for node in walk(top) if isinstance(node, ast.Name)}


def assigned_names(top: ast.AST) -> set[str]:
    """Return the names assigned in ``top`` or nested code; definitions, imports and parameters do not count."""
    return {node.id for node in walk(top) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def parameter_names(top: ast.AST) -> set[str]:
    """Return the names of the parameters of ``top`` and of every function and lambda inside."""
    return {node.arg for node in walk(top) if isinstance(node, ast.arg)}


def dotted_name(node: ast.AST) -> str | None:
    """Return the text of a name or of attributes of a name (``a.b.c``); ``None`` for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted_name(node.value)
        return f"{inner}.{node.attr}" if inner else None
    return None


def last_name(node: ast.AST) -> str:
    """Return a name, or the attribute that is read: ``step`` of ``step`` and of ``a.b().step``; ``""`` of all else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def last_word(node: ast.expr) -> str:
    """Return an expression without the object it is read from: ``step`` of ``a.step``, ``rows[i]`` of
    ``self.rows[i]``."""
    if name := last_name(node):
        return name
    named = without_items(node)
    text = ast.unparse(node)
    return text[len(ast.unparse(named)) - len(named.attr) :] if isinstance(named, ast.Attribute) else text


def decorator_name(node: ast.expr) -> str:
    """Return the last part of a decorator's name: ``torch.inference_mode()`` → ``inference_mode``."""
    name = node.func if isinstance(node, ast.Call) else node
    return last_name(name) or ast.unparse(name)


def reached_from(node: ast.expr) -> Iterator[ast.expr]:
    """Yield an expression, and what its attributes, items and calls are taken from: ``a.b[0]``, ``a.b`` and ``a``."""
    yield node
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
        yield node


def without_items(node: ast.expr) -> ast.expr:
    """Return an expression without the items and calls behind it: ``a.b`` of ``a.b[0]()``."""
    return next(part for part in reached_from(node) if not isinstance(part, ast.Call | ast.Subscript))


def generic_of(node: ast.expr) -> ast.expr:
    """Return ``X`` of ``X[T]``; any other expression unchanged."""
    return node.value if isinstance(node, ast.Subscript) else node


def string_of(node: ast.AST | None) -> str | None:
    """Return the value of a string literal; ``None`` for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def is_name(node: ast.AST | None, name: str) -> TypeGuard[ast.Name]:
    """Whether ``node`` is the bare name ``name``."""
    return isinstance(node, ast.Name) and node.id == name


def is_string(node: ast.AST) -> bool:
    """Whether ``node`` is a statement that consists of a string, such as a docstring."""
    return isinstance(node, ast.Expr) and string_of(node.value) is not None


def is_none(node: ast.AST | None) -> bool:
    """Whether ``node`` is the constant ``None``."""
    return isinstance(node, ast.Constant) and node.value is None


def is_nothing(node: ast.AST | None) -> bool:
    """Whether ``node`` is the constant ``None`` or absent, like the value of a bare ``return``."""
    return node is None or is_none(node)


def is_super(node: ast.AST | None) -> bool:
    """Whether ``node`` is ``super()``, with or without arguments."""
    return isinstance(node, ast.Call) and is_name(node.func, "super")


def is_parent(node: ast.AST | None) -> bool:
    """Whether ``node`` may be a parent class: ``super()`` or a capitalised name. Any other object (``self.model.run``)
    merely has a method of the same name."""
    return is_super(node) or (isinstance(node, ast.Name) and node.id[:1].isupper())


def same_code(text: str, other: str) -> bool:
    """Whether two modules differ at most in layout and comments; ``False`` if either does not parse."""
    try:
        tree, other_tree = module_of(text), module_of(other)
        return text == other or ast.dump(tree) == ast.dump(other_tree)
    except SyntaxError:
        return False
