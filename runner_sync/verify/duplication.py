"""When two methods say the same: equal statements, and globals that mean the same in both modules.

Comes in: readings and functions. Goes out: answers. May touch: nothing.
"""

from __future__ import annotations

import ast
import builtins
import re

from runner_sync.profile import Profile
from runner_sync.verify.parity import in_npu_words
from runner_sync.verify.reading import Function, Reading

_BUILTINS = frozenset(dir(builtins))


def same_globals(reading: Reading, function: Function, other: Reading, *, profile: Profile | None = None) -> bool:
    """Whether every global that ``function`` reads is bound alike in both modules.

    With a ``profile``, a GPU import counts as the NPU one it is translated to. A logger is a logger.
    """
    for name in sorted(_globals(function)):
        mine, theirs = _origin(reading, name), _origin(other, name)
        if mine is None or theirs is None or mine == theirs or name == "logger":
            continue
        if profile is None or mine not in {_translated(origin, profile) for origin in theirs}:
            return False
    return True


def _globals(function: Function) -> set[str]:
    own = {a.arg for a in ast.walk(function) if isinstance(a, ast.arg)}
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    own |= {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    annotations = {id(n) for a in _annotations(function) for n in ast.walk(a)}
    return {n.id for n in names if id(n) not in annotations} - own - _BUILTINS


def _annotations(function: Function) -> list[ast.expr]:
    parts = [a.annotation for a in ast.walk(function) if isinstance(a, ast.arg)]
    parts += [a.annotation for a in ast.walk(function) if isinstance(a, ast.AnnAssign)]
    return [part for part in (*parts, function.returns) if part is not None]


def _origin(reading: Reading, name: str) -> frozenset[tuple[str, str]] | None:
    """Where a module-level name comes from; its own definition counts by its text. ``None`` when it is not bound."""
    if name in reading.imports:
        return frozenset(reading.imports[name])
    if name in reading.functions:
        return frozenset({("", ast.dump(reading.functions[name]))})
    if name in reading.classes:
        return frozenset({("", ast.dump(reading.classes[name].node))})
    return None


def _translated(origin: tuple[str, str], profile: Profile) -> frozenset[tuple[str, str]]:
    module, name = origin
    rows = [row for row in profile.names if (row.module, row.name) == (module, name)]
    return frozenset({(rows[0].new_module, rows[0].new_name)} if rows else {origin})


def says_the_same(reading: Reading, function: Function, other: Reading, twin: Function, *, profile: Profile) -> bool:
    """Whether the NPU function and the GPU one are equal once GPU names are translated; docstrings do not count."""
    if not may_be_equal(reading, function, other, twin):
        return False
    translated = _body(in_npu_words(other.text_of(twin), profile))
    return translated is not None and translated == _body(reading.text_of(function))


def may_be_equal(reading: Reading, function: Function, other: Reading, twin: Function) -> bool:
    """Whether two functions have as many statements and begin the last one alike; cheap, and false for nearly all."""
    mine, theirs = _undocumented(function), _undocumented(twin)
    return len(mine) == len(theirs) and bool(mine) and _alike(reading, mine[-1], other, theirs[-1])


def _alike(reading: Reading, statement: ast.stmt, other: Reading, twin: ast.stmt) -> bool:
    same_kind = type(statement) is type(twin)
    return same_kind and _letters(reading.text_of(statement))[:40] == _letters(other.text_of(twin))[:40]


def _letters(text: str) -> str:
    return re.sub(r"#.*|\W", "", text)


def _undocumented(function: Function) -> list[ast.stmt]:
    first = function.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return function.body[1:] if documented else function.body


def _body(text: str) -> str | None:
    try:
        tree = ast.parse(f"if 1:\n{text}" if text[:1].isspace() else text)
    except SyntaxError:
        return None
    function = next(node for node in ast.walk(tree) if isinstance(node, Function))
    decorators = [ast.unparse(d) for d in function.decorator_list]
    return "\n".join([*decorators, ast.unparse(function.args), *map(ast.unparse, _undocumented(function))])
