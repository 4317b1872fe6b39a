"""Finds expressions and statements of one NPU file at low cost; shared by the RS4xx rules.

Comes in: a `Reading`. Goes out: nodes. May touch: nothing. A rule first looks for a word in the text, because most
files contain nothing that these rules look for, and walking a tree costs as much as parsing it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.syntax import Function, blocks_of, walk
from runner_sync.verify.runners.reading import Reading, dotted


def iter_functions(reading: Reading) -> Iterator[Function]:
    """Yield every top-level function and method."""
    yield from reading.functions.values()
    for owner in reading.classes.values():
        for definitions in owner.methods.values():
            yield from definitions


def iter_suites(body: list[ast.stmt], *, closed: tuple[type[ast.stmt], ...] = ()) -> Iterator[list[ast.stmt]]:
    """Yield ``body`` and its nested suites, except those of functions, classes and ``closed`` statements."""
    yield body
    for statement in body:
        for block in blocks_of(statement) if not isinstance(statement, closed) else ():
            yield from iter_suites(block, closed=closed)


def find_calls(reading: Reading, name: str, *, keyword: str) -> Iterator[ast.Call]:
    """Yield calls ``name(…)``, ``x.name(…)`` and ``partial(name, …)``, which passes its keywords on.

    Skips statements and methods whose text lacks the word ``keyword``.
    """
    for part in reading.parts(name) if keyword in reading.text else ():
        for node in walk(part) if keyword in reading.text_of(part) else ():
            if (
                isinstance(node, ast.Call)
                and name in (called := _last_words(node))[: 2 if called[0] == "partial" else 1]
            ):
                yield node


def _last_words(call: ast.Call) -> list[str]:
    """Return the last part of the called name, and of each positional argument."""
    return [dotted(part).rpartition(".")[2] for part in (call.func, *call.args)]


def find_function_at(reading: Reading, line: int) -> Function | None:
    """Return the top-level function or method that contains ``line``."""
    return next((f for f in iter_functions(reading) if f.lineno <= line <= (f.end_lineno or f.lineno)), None)
