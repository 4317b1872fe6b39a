"""Parse a unit at any indentation.

Comes in: the text of a unit, a member of a class at the column it has there. Goes out: its syntax tree. May touch:
nothing.
"""

from __future__ import annotations

import ast
import symtable
import warnings
from functools import lru_cache

from runner_sync.syntax import forget_modules, is_indented, module_of, move_lines, walk

HEAD = "class _:\n"


def as_module(text: str) -> str:
    """The text as a module of its own: an indented unit gets the line ``class _:`` before it."""
    return HEAD + text if is_indented(text) else text


@lru_cache(maxsize=768)
def parse_unit(text: str) -> ast.Module:
    """The tree of a unit, its statements at the top and with the line numbers of ``text``; shared, so never edit it.

    Raises ``SyntaxError``.
    """
    if not is_indented(text):
        return module_of(text)
    (around,) = ast.parse(as_module(text)).body
    assert isinstance(around, ast.ClassDef)
    move_lines(around, -1)
    return ast.Module(around.body, [])


def tree_of(text: str) -> ast.Module:
    """What ``parse_unit`` gives; an empty tree where the unit is no Python, for who looks for something in it."""
    try:
        return parse_unit(text)
    except SyntaxError:
        return ast.Module([], [])


def forget_trees() -> None:
    """Free the memory of the shared trees, where work begins that will not ask for them again."""
    forget_modules()
    parse_unit.cache_clear()


def parse_function(text: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The one function that a unit is; ``None`` for anything else, and where it does not parse."""
    body = tree_of(text).body
    only = body[0] if len(body) == 1 else None
    return only if isinstance(only, ast.FunctionDef | ast.AsyncFunctionDef) else None


def first_function(text: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The outermost function of a unit that comes first, a class around it or not; ``None`` without one, and where the
    unit does not parse."""
    return next(
        (node for node in walk(tree_of(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)), None
    )


def before_clause(head: str) -> str:
    """What the head of a clause must stand behind to be parsed: a ``try`` or an ``if`` that does nothing."""
    return "try:\n    pass\n" if head.startswith(("except", "finally")) else "if 0:\n    pass\n"


def parses(text: str) -> bool:
    """Whether a unit is Python, also in what the grammar leaves to the compiler: no parameter or keyword twice."""
    return is_python(as_module(text))


@lru_cache(maxsize=256)
def is_python(source: str) -> bool:
    """``parses`` for a whole module."""
    try:
        symtable.symtable(source, "<unit>", "exec")
        return not any(map(_is_repeating, walk(module_of(source))))
    except (SyntaxError, ValueError):
        return False


def compiles(text: str) -> bool:
    """``parses`` for a whole unit: also no ``break`` outside of a loop, no ``return`` outside of a function."""
    try:
        with warnings.catch_warnings(action="ignore"):
            compile(as_module(text), "<unit>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _is_repeating(node: ast.AST) -> bool:
    """Whether a call passes a keyword twice, which only the compiler finds."""
    if not isinstance(node, ast.Call | ast.ClassDef):
        return False
    names = [keyword.arg for keyword in node.keywords if keyword.arg is not None]
    return len(names) != len(set(names))
