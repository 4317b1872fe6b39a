"""Parse, cache, walk and search syntax trees of the standard library.

Comes in: ``ast`` nodes, or texts to parse. Goes out: trees, nodes, names and line numbers. May touch: nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

Try = ast.Try | ast.TryStar
"""A ``try`` statement, with ``except`` or ``except*``."""

Function = ast.FunctionDef | ast.AsyncFunctionDef
"""The statement that defines a function or method, with or without ``async``."""

_PLAIN = frozenset(
    {"arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "kwd_attrs", "level", "module", "simple"}
)
"""Fields that `walk` and `children` skip: they hold no node or, like ``ctx``, one that no caller searches for."""


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """For each node class, the fields that may hold other nodes; computed on first access."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        names = () if issubclass(kind, ast.Constant | ast.Global | ast.Nonlocal) else kind._fields
        self[kind] = found = tuple(name for name in names if name not in _PLAIN)
        return found


_fields = _Fields()
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
    """Return the tree of a module that is read throughout a run, so that `forget_modules` keeps it."""
    return ast.parse(text)


def forget_modules() -> None:
    """Empty the caches of trees, before work that does not need them again."""
    _parse_module.cache_clear()
    _parse_unit.cache_clear()
    dumped.cache_clear()


def walk(top: ast.AST) -> list[ast.AST]:
    """Return ``top`` and all its descendants but ``ctx`` nodes, by level, in a third of the time of ``ast.walk``."""
    found = [top]
    for node in found:
        # The body of `children`, inlined to save a call per node.
        for name in _fields[node.__class__]:
            value = getattr(node, name, None)
            if value.__class__ is list:
                found += [item for item in value if item is not None] if None in value else value
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


@lru_cache(maxsize=16384)
def dumped(node: ast.AST) -> str:
    """Return the cached ``ast.dump`` of a node that is never edited, because several rules compare the same calls."""
    return ast.dump(node)


def children(node: ast.AST) -> list[ast.AST]:
    """Return the direct children of ``node`` without ``ctx``, in a third of the time of ``ast.iter_child_nodes``."""
    found: list[ast.AST] = []
    for name in _fields[node.__class__]:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [item for item in value if item is not None]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


_INDENTED = re.compile(r"(?:[ \t\f]*(?:#.*)?\n)*[ \t]+[^#\s]")


def is_indented(text: str) -> bool:
    """Whether a unit's first line of code, not counting comments, is indented as in a class."""
    return _INDENTED.match(text) is not None


def indentation(text: str) -> str:
    """Return the indentation of the first line of code (comments may differ); of a comment if there is no code."""
    lines = [line for line in text.split("\n") if line.strip()]
    first = next((line for line in lines if not line.lstrip().startswith("#")), lines[0] if lines else "")
    return first[: len(first) - len(first.lstrip(" \t"))]


def move_lines(tree: ast.AST, by: int) -> None:
    """Add ``by`` to all line numbers of ``tree`` in place; ``ast.increment_lineno`` takes three times as long."""
    for node in walk(tree):
        placed: Any = node
        if (end := getattr(node, "end_lineno", None)) is not None:
            placed.lineno += by
            placed.end_lineno = end + by


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
        for block in blocks_of(statement):
            yield from statements_of(block)


def for_typing(body: Iterable[ast.stmt]) -> set[int]:
    """Return the ids of the statements that only type checkers see: those below ``if TYPE_CHECKING:``."""
    branches = [s for s in statements_of(body) if isinstance(s, ast.If) and asks_for_typing(s.test)]
    return {id(statement) for branch in branches for statement in statements_of(branch.body)}


def asks_for_typing(test: ast.expr) -> bool:
    """Whether a condition is just ``TYPE_CHECKING`` or ``typing.TYPE_CHECKING``."""
    return (dotted_name(test) or "").rpartition(".")[2] == "TYPE_CHECKING"


def calls_on_self(function: ast.AST | None, member: str) -> Iterator[ast.Call]:
    """Yield the calls of ``self.member`` in a function and its nested functions; nothing for ``None``."""
    for node in walk(function) if function is not None else ():
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr == member and is_name(node.func.value, "self"):
            yield node


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
    functions = (node for node in nodes if isinstance(node, Function))
    classes = (node for function in functions for node in walk(function) if isinstance(node, ast.ClassDef))
    inside = {id(node) for one in classes for node in walk(one)}
    found = (node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return {node.attr for node in found if is_name(node.value, "self") and id(node) not in inside}


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


def last_word(node: ast.expr) -> str:
    """Return an expression without the object it is read from: ``step`` of ``a.step``, ``rows[i]`` of
    ``self.rows[i]``."""
    if isinstance(node, ast.Attribute):
        return node.attr
    named = node
    while isinstance(named, ast.Call | ast.Subscript):
        named = named.func if isinstance(named, ast.Call) else named.value
    text = ast.unparse(node)
    return text[len(ast.unparse(named)) - len(named.attr) :] if isinstance(named, ast.Attribute) else text


def decorator_name(node: ast.expr) -> str:
    """Return the last part of a decorator's name: ``torch.inference_mode()`` → ``inference_mode``."""
    name = node.func if isinstance(node, ast.Call) else node
    return name.attr if isinstance(name, ast.Attribute) else ast.unparse(name)


def is_name(node: ast.AST | None, name: str) -> bool:
    """Whether ``node`` is the bare name ``name``."""
    return isinstance(node, ast.Name) and node.id == name


def is_string(node: ast.AST) -> bool:
    """Whether ``node`` is a statement that consists of a string, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_none(node: ast.AST | None) -> bool:
    """Whether ``node`` is the constant ``None``."""
    return isinstance(node, ast.Constant) and node.value is None


def is_super(node: ast.AST | None) -> bool:
    """Whether ``node`` is ``super()``, with or without arguments."""
    return isinstance(node, ast.Call) and is_name(node.func, "super")


def is_parent(node: ast.AST | None) -> bool:
    """Whether ``node`` may be a parent class: ``super()`` or a capitalised name. Any other object (``self.model.run``)
    merely has a method of the same name."""
    return is_super(node) or (isinstance(node, ast.Name) and node.id[:1].isupper())


def parents_called(function: ast.AST, name: str) -> frozenset[str]:
    """Return the parents whose method ``name`` is called in ``function``: ``"super()"``, or the last part of a class's
    name. A class counts only if the call passes the instance on: ``a.NPUModelRunner.load(self)`` gives
    ``"NPUModelRunner"``."""
    return frozenset(parent for parent, _ in parent_calls(function, name))


def parent_calls(function: ast.AST, name: str) -> list[tuple[str, ast.Call]]:
    """Return the calls of a parent's method ``name`` in ``function``, each with the parent as in `parents_called`."""
    nodes = walk(function)
    method = next((node for node in nodes if isinstance(node, Function)), None)
    found = []
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
            base = node.func.value
            owner = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
            if is_super(base):
                found.append(("super()", node))
            elif owner[:1].isupper() and _passes_instance(node, method):
                found.append((owner, node))
    return found


def _passes_instance(call: ast.Call, method: Function | None) -> bool:
    """Whether ``call`` passes the instance (or class) of ``method`` on: as ``self``, ``self=self`` or in ``*args``."""
    names = {"self", "cls"}
    star_args = ""
    if method is not None:
        names |= {parameter.arg for parameter in [*method.args.posonlyargs, *method.args.args][:1]}
        star_args = method.args.vararg.arg if method.args.vararg is not None else ""
    if call.args and isinstance(call.args[0], ast.Starred):
        return is_name(call.args[0].value, star_args)
    if call.args:
        return any(is_name(call.args[0], name) for name in names)
    return any(
        given.arg in names and isinstance(given.value, ast.Name) and given.value.id in names for given in call.keywords
    )


def has_word(text: str, name: str) -> bool:
    """Whether a text contains ``name`` as a whole word. Compiling a pattern for each of many names would be slow."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not any(letter.isalnum() or letter == "_" for letter in (before, after)):
            return True
        at = text.find(name, at + 1)
    return False


def same_code(text: str, other: str) -> bool:
    """Whether two modules differ at most in layout and comments; ``False`` if either does not parse."""
    try:
        return ast.dump(module_of(text)) == ast.dump(module_of(other))
    except SyntaxError:
        return False
