"""Syntax trees of the standard library: parsed once, walked quickly, and searched for what several rooms look for.

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
"""Fields that `walk` and `children` skip: they hold no node or, like ``ctx``, one that nobody searches for."""


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """For each class of node the fields that may hold other nodes, computed when it is first asked for."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[str, ...]:
        names = () if issubclass(kind, ast.Constant | ast.Global | ast.Nonlocal) else kind._fields
        self[kind] = found = tuple(name for name in names if name not in _PLAIN)
        return found


_fields = _Fields()
_LONGEST_UNIT = 16384
"""Characters: nearly every longer text is a whole module."""


def module_of(text: str) -> ast.Module:
    """The syntax tree of ``text``, from a cache: callers share it, so never edit it. Raises ``SyntaxError``."""
    return _module(text) if len(text) > _LONGEST_UNIT else _unit(text)


@lru_cache(maxsize=32)
def _module(text: str) -> ast.Module:
    return ast.parse(text)


# A module has many units: in one cache with the modules they would push those out.
@lru_cache(maxsize=1024)
def _unit(text: str) -> ast.Module:
    return ast.parse(text)


@lru_cache(maxsize=4096)
def lasting_module_of(text: str) -> ast.Module:
    """``module_of`` for the modules of a tree, which are read all through a run: `forget_modules` keeps them."""
    return ast.parse(text)


def forget_modules() -> None:
    """Empty the caches of trees. Called before work that does not need them again."""
    _module.cache_clear()
    _unit.cache_clear()
    dumped.cache_clear()


def walk(top: ast.AST) -> list[ast.AST]:
    """``top`` and all nodes below it, level by level, without ``ctx`` nodes: ``ast.walk`` in a third of the time."""
    found = [top]
    for node in found:
        # The body of `children`, to save a call for every node.
        for name in _fields[node.__class__]:
            value = getattr(node, name, None)
            if value.__class__ is list:
                found += [item for item in value if item is not None] if None in value else value
            elif isinstance(value, ast.AST):
                found.append(value)
    return found


@lru_cache(maxsize=16384)
def dumped(node: ast.AST) -> str:
    """``ast.dump`` of a node that is never edited, from a cache: several rules compare the same calls."""
    return ast.dump(node)


def children(node: ast.AST) -> list[ast.AST]:
    """The direct children of ``node`` without its ``ctx``: ``ast.iter_child_nodes`` in a third of the time."""
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
    """Whether a unit's first line of code is indented, as it is in a class. Comments above it do not count."""
    return _INDENTED.match(text) is not None


def indentation(text: str) -> str:
    """The indentation of the first line of code; of the first comment only if there is no code, because comments above
    the code may be indented differently."""
    lines = [line for line in text.split("\n") if line.strip()]
    first = next((line for line in lines if not line.lstrip().startswith("#")), lines[0] if lines else "")
    return first[: len(first) - len(first.lstrip(" \t"))]


def move_lines(tree: ast.AST, by: int) -> None:
    """Add ``by`` to all line numbers of ``tree``, in place; ``ast.increment_lineno`` takes three times as long."""
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
    """First and last line of the innermost statement that contains ``line``; of a compound statement only the head
    counts. ``(line, line)`` if there is none, as for a line with nothing but ``else:``."""
    found = (line, line)
    for node in walk(tree):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            last = first_line(body[0]) - 1 if body else node.end_lineno or node.lineno
            if first_line(node) <= line <= last:
                found = (first_line(node), last)
    return found


def head_end(node: Function | ast.ClassDef) -> tuple[int, int]:
    """Line and column, as ``ast`` counts them, just behind the last name, base, parameter, default or annotation in
    the head of a class or function. Behind it comes only punctuation."""
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
    """The suites directly inside ``statement``, except empty ones. A function or class yields none: its body is another
    scope."""
    if isinstance(statement, Function | ast.ClassDef):
        return
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list) and block:
            yield block
    for inner in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield inner.body


def suites_of(nodes: Iterable[ast.AST]) -> Iterator[list[ast.stmt]]:
    """The suites directly inside each of ``nodes``, empty ones included; also those of modules, functions, classes and
    ``except`` handlers."""
    for node in nodes:
        for name in ("body", "orelse", "finalbody"):
            suite = getattr(node, name, None)
            # A lambda and a conditional expression have fields of the same names, which hold expressions.
            if isinstance(suite, list):
                yield suite


def statements_of(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of ``body`` and of every compound statement in it, but not those inside functions and classes."""
    for statement in body:
        yield statement
        for block in blocks_of(statement):
            yield from statements_of(block)


def for_typing(body: Iterable[ast.stmt]) -> set[int]:
    """The ids of the statements that only type checkers see: those below ``if TYPE_CHECKING:``."""
    branches = [s for s in statements_of(body) if isinstance(s, ast.If) and asks_for_typing(s.test)]
    return {id(statement) for branch in branches for statement in statements_of(branch.body)}


def asks_for_typing(test: ast.expr) -> bool:
    """Whether a condition is ``TYPE_CHECKING`` or ``typing.TYPE_CHECKING``, and nothing else."""
    return (dotted_name(test) or "").rpartition(".")[2] == "TYPE_CHECKING"


def calls_on_self(function: ast.AST | None, member: str) -> Iterator[ast.Call]:
    """The calls of ``self.member`` in a function, also in functions nested in it; nothing for ``None``."""
    for node in walk(function) if function is not None else ():
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr == member and is_name(node.func.value, "self"):
            yield node


def attribute_by_name(node: ast.AST) -> str:
    """The attribute of ``self`` that a call uses by its name, empty for any other node: ``rows`` of
    ``getattr(self, "rows", None)``."""
    match node:
        case ast.Call(args=[ast.Name(id="self"), ast.Constant(value=str(attribute)), *_]):
            return attribute
    return ""


def self_attributes_set(top: ast.AST) -> set[str]:
    """The attributes of ``self`` that are assigned in ``top``, also in functions nested in it; not those of the other
    ``self`` of a class that stands in a function."""
    nodes = walk(top)
    functions = (node for node in nodes if isinstance(node, Function))
    classes = (node for function in functions for node in walk(function) if isinstance(node, ast.ClassDef))
    inside = {id(node) for one in classes for node in walk(one)}
    found = (node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return {node.attr for node in found if is_name(node.value, "self") and id(node) not in inside}


def assigned_names(top: ast.AST) -> set[str]:
    """The names that are assigned anywhere in ``top``, also in functions, lambdas and comprehensions nested in it; not
    those that are only defined, imported or parameters."""
    return {node.id for node in walk(top) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def parameter_names(top: ast.AST) -> set[str]:
    """The names of the parameters of ``top`` and of every function and lambda inside of it."""
    return {node.arg for node in walk(top) if isinstance(node, ast.arg)}


def dotted_name(node: ast.AST) -> str | None:
    """The text of a name or of attributes of a name (``a.b.c``); ``None`` for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = dotted_name(node.value)
        return f"{inner}.{node.attr}" if inner else None
    return None


def last_word(node: ast.expr) -> str:
    """An expression without the objects that it is taken from: ``step`` of ``self.rows[0].step``, ``rows[a.b]`` of
    ``self.rows[a.b]``; all of it, if it is an attribute of nothing."""
    if isinstance(node, ast.Attribute):
        return node.attr
    named = node
    while isinstance(named, ast.Call | ast.Subscript):
        named = named.func if isinstance(named, ast.Call) else named.value
    text = ast.unparse(node)
    return text[len(ast.unparse(named)) - len(named.attr) :] if isinstance(named, ast.Attribute) else text


def decorator_name(node: ast.expr) -> str:
    """The last part of a decorator's name: ``torch.inference_mode()`` → ``inference_mode``."""
    name = node.func if isinstance(node, ast.Call) else node
    return name.attr if isinstance(name, ast.Attribute) else ast.unparse(name)


def is_name(node: ast.AST | None, name: str) -> bool:
    """Whether ``node`` is the bare name ``name``."""
    return isinstance(node, ast.Name) and node.id == name


def is_string(node: ast.AST) -> bool:
    """Whether ``node`` is a statement that is only a string, as a docstring is, and so has no effect."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def is_none(node: ast.AST | None) -> bool:
    """Whether ``node`` is the constant ``None``."""
    return isinstance(node, ast.Constant) and node.value is None


def is_super(node: ast.AST | None) -> bool:
    """Whether ``node`` is ``super()``, with or without arguments."""
    return isinstance(node, ast.Call) and is_name(node.func, "super")


def is_parent(node: ast.AST | None) -> bool:
    """Whether ``node`` may be a parent whose method is called: ``super()`` or a name with a capital letter, hence a
    class. Any other object (``self.model.run``) merely has a method of the same name."""
    return is_super(node) or (isinstance(node, ast.Name) and node.id[:1].isupper())


def parents_called(function: ast.AST, name: str) -> frozenset[str]:
    """The parents whose method ``name`` is called in ``function``: ``"super()"``, or the last part of a class's name.

    A class counts only if the call passes the instance on: ``model_runner_v1.NPUModelRunner.load(self)`` gives
    ``"NPUModelRunner"``.
    """
    return frozenset(parent for parent, _ in parent_calls(function, name))


def parent_calls(function: ast.AST, name: str) -> list[tuple[str, ast.Call]]:
    """The calls of a parent's method ``name`` in ``function``, each with the parent as `parents_called` gives it."""
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
    """Whether ``name`` stands in a text as a whole word. Names are many, and compiling a pattern for each is slow."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not any(letter.isalnum() or letter == "_" for letter in (before, after)):
            return True
        at = text.find(name, at + 1)
    return False


def same_code(text: str, other: str) -> bool:
    """Whether two modules differ in layout and comments at most; ``False`` if one of them does not parse."""
    try:
        return ast.dump(module_of(text)) == ast.dump(module_of(other))
    except SyntaxError:
        return False
