"""Digests of code, which locks keep and every run compares: equal for equal code, whatever its layout and comments.

Comes in: the text of a unit, or its statements. Goes out: hex digits. May touch: nothing.

A digest hashes the syntax tree. The Python version does not change it, because digests stand in committed files.
"""

from __future__ import annotations

import ast
import hashlib
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any

from runner_sync.errors import InputError
from runner_sync.syntax import is_string, string_of


def name_state(name: str, text: str) -> str:
    """Return ``NAME@HASH`` of a helper; the hash is that of its code without docstrings."""
    return f"{name}@{digest(text, documented=False)[:16]}"


@lru_cache(maxsize=1024)
def digest(text: str, *, documented: bool = True) -> str:
    """Return the SHA-256 (hex) of the syntax tree of one unit's text, which may be a class header without a body.

    Comments, layout and the indentation of docstrings do not count; docstrings count only if ``documented``. Raises
    ``InputError`` if the text does not parse.
    """
    return digest_of(_parse_unit(text), documented=documented)


def digest_of(statements: Sequence[ast.stmt], *, documented: bool = True) -> str:
    """Return the ``digest`` of a parsed unit."""
    parts: list[str] = []
    for statement in statements:
        _write_canonical(statement, parts.append, documented)
    return hashlib.sha256("".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _parse_unit(text: str) -> list[ast.stmt]:
    """Return the statements of a unit, perhaps indented, or of a class header alone. Raises ``InputError``."""
    from runner_sync.statements import parse_unit  # slow to import, and code that is parsed already does not need it

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for attempt in (text, f"{text.rstrip()}\n pass"):
            with suppress(SyntaxError, ValueError):
                return parse_unit(attempt).body
    first = text.strip().split("\n", 1)[0]
    raise InputError(f"the unit starting with {first!r} does not parse; fix it and run again.")


# The output of ast.unparse and ast.dump depends on the Python version; a digest in a committed lock must not.
_UNCOUNTED = frozenset({"ctx", "kind", "type_comment", "type_ignores"})


class _Labels(dict[type[ast.AST], tuple[tuple[str, str], ...]]):
    """For each node class, the fields that count and their labels; computed on first access."""

    def __missing__(self, kind: type[ast.AST]) -> tuple[tuple[str, str], ...]:
        self[kind] = found = tuple((name, f" {name}=") for name in kind._fields if name not in _UNCOUNTED)
        return found


_labels = _Labels()


def _write_canonical(node: ast.AST, add: Callable[[str], None], documented: bool) -> None:
    """Pass the canonical text of ``node`` to ``add`` piece by piece: joining thousands of strings would take long."""
    kind = node.__class__
    add(f"({kind.__name__}")
    for name, label in _labels[kind]:
        value = getattr(node, name, None)
        if value.__class__ is str:
            add(f"{label}str:{value!r}")
        elif isinstance(value, ast.AST):
            add(label)
            _write_canonical(_dedent_string(value) if kind is ast.Expr else value, add, documented)
        elif value.__class__ is not list:
            if value is not None:
                add(f"{label}{type(value).__name__}:{value!r}")
        elif value := _drop_empty_parts(value) if kind is ast.JoinedStr else value:
            add(label)
            for item in value:
                if isinstance(item, ast.AST):
                    if documented or not is_string(item):
                        _write_canonical(item, add, documented)
                else:
                    add(f"{type(item).__name__}:{item!r}")
    add(")")


def _drop_empty_parts(parts: Sequence[ast.expr]) -> list[ast.expr]:
    """Return the parts of an f-string without the empty ones that Python 3.12 puts between two fields of a format."""
    return [part for part in parts if not (isinstance(part, ast.Constant) and part.value == "")]


def _dedent_string(value: Any) -> Any:
    """Return the ``value`` of an expression statement, dedented if it is a string such as a docstring."""
    text = string_of(value)
    return value if text is None else ast.Constant(_dedent(text))


def _dedent(text: str) -> str:
    """Return a docstring without the common indentation of its later lines and without surrounding empty lines.

    Works like `inspect.cleandoc` before Python 3.13, which takes only blanks for indentation.
    """
    first, *rest = text.expandtabs().split("\n")
    depth = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    return "\n".join([first.lstrip(), *(line[depth:] for line in rest)]).strip("\n")
