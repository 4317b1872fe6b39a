"""Syntax trees of the standard library.

Comes in: ``ast`` nodes, or texts to compare. Goes out: what is in them, and where. May touch: nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

_PLAIN = frozenset(
    {"arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "kwd_attrs", "level", "module", "simple"}
)
"""Fields that hold no node, and ``ctx``, whose node says nothing that a search could be for."""


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """The fields of each kind of node that may hold others."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        names = () if issubclass(kind, ast.Constant | ast.Global | ast.Nonlocal) else kind._fields
        self[kind] = found = tuple(name for name in names if name not in _PLAIN)
        return found


_fields = _Fields()
_UNIT = 16384
"""Characters: longer texts are modules, with few exceptions."""


def module_of(text: str) -> ast.Module:
    """The tree of a text, parsed once for all who ask in a row; shared, so never edit it. Raises ``SyntaxError``."""
    return _module(text) if len(text) > _UNIT else _unit(text)


@lru_cache(maxsize=32)
def _module(text: str) -> ast.Module:
    return ast.parse(text)


# The units of a module are many, and would push whole modules out of one store.
@lru_cache(maxsize=1024)
def _unit(text: str) -> ast.Module:
    return ast.parse(text)


@lru_cache(maxsize=4096)
def lasting_module_of(text: str) -> ast.Module:
    """The same of a module that is asked about again and again as long as the process runs: those of the trees."""
    return ast.parse(text)


def forget_modules() -> None:
    """Free the trees of `module_of`, where work begins that will not ask for them again."""
    _module.cache_clear()
    _unit.cache_clear()


def walk(top: ast.AST) -> list[ast.AST]:
    """``ast.walk`` in a third of the time: all nodes below ``top`` but their contexts, level by level."""
    found = [top]
    for node in found:
        # What ``children`` does, without a call for every node there is.
        for name in _fields[node.__class__]:
            value = getattr(node, name, None)
            if value.__class__ is list:
                found += [item for item in value if item is not None] if None in value else value
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


@lru_cache(maxsize=16384)
def dumped(node: ast.AST) -> str:
    """``ast.dump`` of a node of such a tree: several rules compare the same calls."""
    return ast.dump(node)


def children(node: ast.AST) -> list[ast.AST]:
    """``ast.iter_child_nodes`` in a third of the time, without contexts."""
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
    """Whether a unit stands in a class: its first line of code is indented, wherever comments above it stand."""
    return _INDENTED.match(text) is not None


def indentation(text: str) -> str:
    """The blanks in front of the first line of code, else of the first comment: a comment above may stand anywhere."""
    lines = [line for line in text.split("\n") if line.strip()]
    first = next((line for line in lines if not line.lstrip().startswith("#")), lines[0] if lines else "")
    return first[: len(first) - len(first.lstrip(" \t"))]


def move_lines(tree: ast.AST, by: int) -> None:
    """Every node of a tree ``by`` lines down, or up; ``ast.increment_lineno`` takes three times as long."""
    for node in walk(tree):
        placed: Any = node
        if (end := getattr(node, "end_lineno", None)) is not None:
            placed.lineno += by
            placed.end_lineno = end + by


def first_line(statement: ast.stmt) -> int:
    """First line of a statement, decorators included."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])


def statement_at(tree: ast.AST, line: int) -> tuple[int, int]:
    """First and last line of the innermost statement around ``line``, of a compound one's head; ``line`` for none."""
    found = (line, line)
    for node in walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = first_line(body[0]) - 1 if body else node.end_lineno or node.lineno
            if first_line(node) <= line <= last:
                found = (first_line(node), last)
    return found


def head_end(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> tuple[int, int]:
    """Line and column, as ``ast`` counts them, behind the last thing that the head of a class or function says."""
    said: list[ast.expr | ast.arg | ast.keyword | None]
    if isinstance(node, ast.ClassDef):
        said = [*node.bases, *node.keywords]
        word = "class "
    else:
        rows = node.args
        said = [*rows.posonlyargs, *rows.args, *rows.kwonlyargs, rows.vararg, rows.kwarg]
        said += [*rows.defaults, *rows.kw_defaults, node.returns]
        word = "async def " if isinstance(node, ast.AsyncFunctionDef) else "def "
    ends = [(part.end_lineno or 0, part.end_col_offset or 0) for part in said if part is not None]
    return max([(node.lineno, node.col_offset + len(f"{word}{node.name}".encode())), *ends])


def blocks_of(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The statement lists directly inside a compound statement that opens no new scope, the empty ones left out."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list) and block:
            yield block
    for inner in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield inner.body


def suites_of(nodes: Iterable[ast.AST]) -> Iterator[list[ast.stmt]]:
    """The statement lists directly inside each of ``nodes``, those of functions, classes and handlers, too."""
    for node in nodes:
        for name in ("body", "orelse", "finalbody"):
            suite = getattr(node, name, None)
            # The body of a lambda, and what a conditional expression has, are expressions.
            if isinstance(suite, list):
                yield suite


def statements_of(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of ``body`` and of every branch, loop, ``with`` and ``try`` in it; functions and classes stay shut."""
    for statement in body:
        yield statement
        for block in blocks_of(statement):
            yield from statements_of(block)


def calls_on_self(function: ast.AST | None, member: str) -> Iterator[ast.Call]:
    """The calls of ``self.member`` in a function, nested ones included; none in ``None``."""
    for node in walk(function) if function is not None else ():
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr == member and is_name(node.func.value, "self"):
            yield node


def self_attributes_set(top: ast.AST) -> set[str]:
    """The attributes of ``self`` that are assigned in ``top``, in functions inside of it, too."""
    found = (node for node in walk(top) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return {node.attr for node in found if is_name(node.value, "self")}


def assigned_names(top: ast.AST) -> set[str]:
    """The names that are assigned anywhere in ``top``, in functions, lambdas and comprehensions inside of it, too; what
    it defines, imports or takes as a parameter is not among them."""
    return {node.id for node in walk(top) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def parameter_names(top: ast.AST) -> set[str]:
    """The names of the parameters of ``top`` and of every function and lambda inside of it."""
    return {node.arg for node in walk(top) if isinstance(node, ast.arg)}


def dotted_name(node: ast.AST) -> str | None:
    """``a.b.c`` as text, ``None`` for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted_name(node.value)
        return f"{inner}.{node.attr}" if inner else None
    return None


def decorator_name(node: ast.expr) -> str:
    """The last part of a decorator's name: ``torch.inference_mode()`` → ``inference_mode``."""
    name = node.func if isinstance(node, ast.Call) else node
    return name.attr if isinstance(name, ast.Attribute) else ast.unparse(name)


def is_name(node: ast.AST | None, name: str) -> bool:
    """Whether ``node`` is the bare name ``name``."""
    return isinstance(node, ast.Name) and node.id == name


def is_string(node: ast.AST) -> bool:
    """Whether ``node`` is a string that stands by itself, as a docstring does: it does nothing."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_super(node: ast.AST | None) -> bool:
    """Whether ``node`` is ``super()``, with or without arguments."""
    return isinstance(node, ast.Call) and is_name(node.func, "super")


def is_parent(node: ast.AST | None) -> bool:
    """Whether ``node`` is ``super()`` or, by its capital letter, a class; any other object (``self.model.run``) merely
    has a method of the same name."""
    return is_super(node) or (isinstance(node, ast.Name) and node.id[:1].isupper())


def parents_called(function: ast.AST, name: str) -> frozenset[str]:
    """The parents whose ``name`` this method calls: ``super()`` or a class by name.

    A class counts, by its last name, where the call passes on what this method is called on
    (``model_runner_v1.NPUModelRunner.load(self)``).
    """
    nodes = walk(function)
    method = next((node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)), None)
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == name:
            base = node.func.value
            owner = base.attr if isinstance(base, ast.Attribute) else base.id if isinstance(base, ast.Name) else ""
            if is_super(base):
                found.add("super()")
            elif owner[:1].isupper() and _passes_itself(node, method):
                found.add(owner)
    return frozenset(found)


def _passes_itself(call: ast.Call, method: ast.FunctionDef | ast.AsyncFunctionDef | None) -> bool:
    """Whether a call by class passes on what ``method`` is called on: as ``self``, ``self=self``, or in ``*args``."""
    itself = {"self", "cls"}
    more = ""
    if method is not None:
        itself |= {parameter.arg for parameter in [*method.args.posonlyargs, *method.args.args][:1]}
        more = method.args.vararg.arg if method.args.vararg is not None else ""
    if call.args and isinstance(call.args[0], ast.Starred):
        return is_name(call.args[0].value, more)
    if call.args:
        return any(is_name(call.args[0], name) for name in itself)
    return any(
        word.arg in itself and isinstance(word.value, ast.Name) and word.value.id in itself for word in call.keywords
    )


def same_code(text: str, other: str) -> bool:
    """Whether two modules differ in layout and comments at most; not where one is no Python."""
    try:
        return ast.dump(module_of(text)) == ast.dump(module_of(other))
    except SyntaxError:
        return False
