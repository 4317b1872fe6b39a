"""What a merge can leave in a method that is wrong for certain: unset names, statements that never run.

Comes in: the text of a method. Goes out: names and lines. May touch: nothing.

The order is that of the text, whatever the branches: a name that is set in any statement above counts as set. What is
found is therefore certain to be wrong at its first use, or the method has a loop that sets it later.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator
from itertools import pairwise

from runner_sync.compose.names import used_names


def read_too_early(text: str) -> dict[str, int]:
    """``{local name: 1-based line}`` of locals whose first use stands above everything that binds them."""
    source = "class _:\n" + text if text[:1] in (" ", "\t") else text
    shift = 1 if source is not text else 0
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return {}
    found: dict[str, int] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for name, line in _early(node):
                found.setdefault(name, line - shift)
    return found


def _early(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, int]]:
    bound = {arg.arg for arg in ast.walk(function.args) if isinstance(arg, ast.arg)}
    own = list(_own_names(function))
    locals_ = {name for name, _, stores in own if stores}
    for name, line, stores in own:
        if stores:
            bound.add(name)
        elif name in locals_ and name not in bound and not hasattr(builtins, name):
            yield name, line
            bound.add(name)


def _own_names(function: ast.AST) -> Iterator[tuple[str, int, bool]]:
    """Names of a function in the order they run: ``(name, line, whether it is bound)``; inner functions left out."""
    for node in _in_order(function):
        match node:
            case ast.Name():
                yield node.id, node.lineno, not isinstance(node.ctx, ast.Load)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node.lineno, True
            case ast.alias():
                yield node.asname or node.name.split(".")[0], node.lineno, True
            case ast.ExceptHandler() if node.name:
                yield node.name, node.lineno, True
            case ast.Global() | ast.Nonlocal():
                for name in node.names:
                    yield name, node.lineno, True


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    for child in _children(node):
        yield child
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda | _COMPREHENSIONS):
            yield from _in_order(child)


_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def _children(node: ast.AST) -> list[ast.AST]:
    """Children in the order they run: the value of an assignment before its target, a loop's sequence before its."""
    match node:
        case ast.Assign():
            return [node.value, *node.targets]
        case ast.AnnAssign():
            return [*([node.value] if node.value else []), node.target]
        case ast.AugAssign():
            return [_as_read(node.target), node.value, node.target]
        case ast.For() | ast.AsyncFor():
            return [node.iter, node.target, *node.body, *node.orelse]
        case ast.With() | ast.AsyncWith():
            items: list[ast.AST] = []
            for item in node.items:
                items += [item.context_expr, *([item.optional_vars] if item.optional_vars else [])]
            return [*items, *node.body]
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return list(node.body)
        case ast.NamedExpr():
            return [node.value, node.target]
    return list(ast.iter_child_nodes(node))


def _as_read(target: ast.expr) -> ast.AST:
    if isinstance(target, ast.Name):
        return ast.copy_location(ast.Name(target.id, ast.Load()), target)
    return target


def unreachable(text: str) -> list[int]:
    """1-based lines of statements behind one that always leaves their suite (no context manager swallows a return)."""
    source = "class _:\n" + text if text[:1] in (" ", "\t") else text
    shift = 1 if source is not text else 0
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    found = []
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            suite = getattr(node, name, None)
            for first, second in pairwise(suite) if isinstance(suite, list) else ():
                if _leaves(first):
                    found.append(second.lineno - shift)
    return sorted(found)


def _leaves(stmt: ast.stmt) -> bool:
    """Whether what follows a statement in its suite never runs: it leaves, or all its branches do."""
    match stmt:
        case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
            return True
        case ast.With(body=body) | ast.AsyncWith(body=body):
            return any(_leaves(inner) for inner in body)
        case ast.If(body=body, orelse=orelse) if orelse:
            return any(_leaves(inner) for inner in body) and any(_leaves(inner) for inner in orelse)
    return False


def uses_of(text: str, name: str) -> list[int]:
    """1-based lines of a unit on which ``name`` is read."""
    source = "class _:\n" + text if text[:1] in (" ", "\t") else text
    shift = 1 if source is not text else 0
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return []
    names = [n for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)]
    return sorted(n.lineno - shift for n in names)


def problems(text: str, known: Collection[str]) -> set[str]:
    """What is wrong for certain in a unit, as words to compare two versions by; ``known`` are the module's names."""
    lines = text.split("\n")
    found = {f"unset {name}" for name in read_too_early(text)}
    found |= {f"idle {lines[line - 1].strip()}" for line in unreachable(text)}
    unknown = used_names(text if text[:1] not in (" ", "\t") else "class _:\n" + text) - set(known)
    return found | {f"unknown {name}" for name in unknown}
