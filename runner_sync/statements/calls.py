"""Find the names that code calls.

Comes in: the text of a unit, a passage or a statement. Goes out: names. May touch: nothing.
"""

from __future__ import annotations

import ast
import re
from functools import lru_cache

from runner_sync.statements.parsing import before_clause, parse_unit
from runner_sync.statements.tokenizing import code_of
from runner_sync.syntax import dotted_name, walk


@lru_cache(maxsize=16384)
def names_called(text: str) -> tuple[str, ...]:
    """Return the names that code calls, each once, in order.

    Examples: ``build``, ``self.cache.write``, and ``.cpu`` for a method of another expression (``rows[0].cpu()``).
    Definitions, strings and comments do not count. If the text does not parse, the names before parentheses count.
    """
    if "(" not in text:
        return ()
    tree = _parse_code(text)
    if tree is None:
        return tuple(dict.fromkeys(_CALL.findall(code_of(text))))
    functions = [node.func for node in walk(tree) if isinstance(node, ast.Call)]
    functions.sort(key=lambda node: (node.end_lineno or 0, node.end_col_offset or 0))
    return tuple(dict.fromkeys(name for node in functions if (name := _name_function(node))))


_CALL = re.compile(r"(?<![\w.])(?<!\bdef )(?<!\bclass )(\.?(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)\(")


def _parse_code(text: str) -> ast.Module | None:
    """Return the tree of a text, which may be the head of a compound statement or of a clause."""
    try:
        # There are too many statements for the cache of units.
        return parse_unit(text) if "\n" in text else ast.parse(text.strip())
    except (SyntaxError, ValueError):
        head = f"{text.strip().removesuffix(':')}:\n pass"
    for source in (head, before_clause(head) + head) if "\n" not in text else ():
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError):
            continue
    return None


def _name_function(function: ast.expr) -> str:
    return dotted_name(function) or (f".{function.attr}" if isinstance(function, ast.Attribute) else "")


def words_called(text: str) -> frozenset[str]:
    """Return the names that code calls, without the objects whose methods they are."""
    return frozenset(name.rpartition(".")[2] for name in names_called(text))
