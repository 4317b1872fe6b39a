"""Parse a unit at any indentation.

Comes in: the text of a unit, which may be indented as a member of a class. Goes out: its syntax tree. May touch:
nothing.
"""

from __future__ import annotations

import ast
import symtable
import warnings
from functools import lru_cache
from typing import Any

from runner_sync.syntax import Function, is_indented, module_of, walk, walk_suites

HEAD = "class _:\n"


def as_module(text: str) -> str:
    """Return the text as a module: an indented unit gets the line ``class _:`` before it."""
    return HEAD + text if is_indented(text) else text


@lru_cache(maxsize=768)
def parse_unit(text: str) -> ast.Module:
    """Return the tree of a unit, its statements at the top level, with the line numbers of ``text``.

    The tree is shared, so never edit it. Raises ``SyntaxError``, also for a unit that ends before its text does.
    """
    if not is_indented(text):
        return module_of(text)
    wrapper, *rest = ast.parse(as_module(text)).body
    if rest:
        raise SyntaxError("the text goes on at a lower indentation than it begins")
    assert isinstance(wrapper, ast.ClassDef)
    _move_lines(wrapper, -1)
    return ast.Module(wrapper.body, [])


def _move_lines(tree: ast.AST, by: int) -> None:
    """Add ``by`` to all line numbers of ``tree`` in place; ``ast.increment_lineno`` takes three times as long."""
    for node in walk(tree):
        placed: Any = node
        if (end := getattr(node, "end_lineno", None)) is not None:
            placed.lineno += by
            placed.end_lineno = end + by


def tree_of(text: str) -> ast.Module:
    """Return the tree from ``parse_unit``, or an empty one if the unit is not Python, so that searches find nothing."""
    try:
        return parse_unit(text)
    except SyntaxError:
        return ast.Module([], [])


def parse_function(text: str) -> Function | None:
    """Return the function that a unit consists of; ``None`` if the unit is anything else, or does not parse."""
    body = tree_of(text).body
    only = body[0] if len(body) == 1 else None
    return only if isinstance(only, Function) else None


def first_function(text: str) -> Function | None:
    """Return the first outermost function of a unit, even inside a class; ``None`` if there is none, or the unit does
    not parse."""
    return next((node for node in walk_suites(tree_of(text)) if isinstance(node, Function)), None)


def before_clause(head: str) -> str:
    """Return an empty ``try`` or ``if`` that makes the head of a clause parse when put in front of it."""
    return "try:\n    pass\n" if head.startswith(("except", "finally")) else "if 0:\n    pass\n"


def parses(text: str) -> bool:
    """Whether a unit is Python without repeated parameters or keywords, which the parser alone would accept."""
    return is_python(as_module(text))


@lru_cache(maxsize=1024)
def is_python(source: str) -> bool:
    """Whether a whole module ``parses``."""
    try:
        symtable.symtable(source, "<unit>", "exec")
        return not any(map(_is_repeating, walk(module_of(source))))
    except (SyntaxError, ValueError):
        return False


def compiles(text: str) -> bool:
    """Whether a unit compiles: it ``parses``, with no ``break`` outside a loop and no ``return`` outside a function."""
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(as_module(text), "<unit>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _is_repeating(node: ast.AST) -> bool:
    """Whether a call or class head passes a keyword twice, which only the compiler refuses."""
    if not isinstance(node, ast.Call | ast.ClassDef):
        return False
    names = [keyword.arg for keyword in node.keywords if keyword.arg is not None]
    return len(names) != len(set(names))
