"""A module as it runs with the versions at hand: ``if vllm_version_is("0.24.0"):`` keeps only the branch that is taken.

Comes in: a parsed module, its text, and versions by package. Goes out: the module, which shares all nodes that lose no
branch. May touch: nothing; the module that comes in is shared and not changed.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping

from runner_sync.profile.vllm import VERSION_TEST

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def drop_other_versions(tree: ast.Module, text: str, versions: Mapping[str, str]) -> ast.Module:
    """Return the module without the branches for other versions; a test for a package of unknown version stays."""
    if not versions or f"{VERSION_TEST}(" not in text:
        return tree
    found = _drop_branches(tree, versions)
    assert isinstance(found, ast.Module)
    return found


def _drop_branches(node: ast.AST, versions: Mapping[str, str]) -> ast.AST:
    """Return the node itself, or a copy without the branches in it that are not taken."""
    blocks = {name: block for name in _BLOCKS if isinstance(block := getattr(node, name, None), list)}
    changed: dict[str, list[ast.AST]] = {}
    for name, block in blocks.items():
        kept = [one for part in block for one in _keep_taken(part, versions)]
        if len(kept) != len(block) or any(one is not part for one, part in zip(kept, block, strict=True)):
            changed[name] = kept or ([ast.copy_location(ast.Pass(), block[0])] if name == "body" else [])
    if not changed:
        return node
    other = copy.copy(node)
    for name, kept in changed.items():
        setattr(other, name, kept)
    return other


def _keep_taken(node: ast.AST, versions: Mapping[str, str]) -> Iterator[ast.AST]:
    taken = evaluate(node.test, lambda call: _evaluate_call(call, versions)) if isinstance(node, ast.If) else None
    if isinstance(node, ast.If) and taken is not None:
        for part in node.body if taken else node.orelse:
            yield from _keep_taken(part, versions)
    else:
        yield _drop_branches(node, versions)


def evaluate(test: ast.expr, ask: Callable[[ast.Call], bool | None]) -> bool | None:
    """Return the value of a condition if the calls whose value ``ask`` knows alone decide it, else ``None``."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            answer = evaluate(inner, ask)
            return None if answer is None else not answer
        case ast.BoolOp(op=operator, values=values):
            # One part decides: a false part makes `and` false, a true part makes `or` true.
            decides = isinstance(operator, ast.Or)
            answers = {evaluate(value, ask) for value in values}
            return decides if decides in answers else None if None in answers else not decides
        case ast.Call():
            return ask(test)
    return None


def _evaluate_call(call: ast.Call, versions: Mapping[str, str]) -> bool | None:
    match call:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[ast.Constant(value=str() as version)]):
            return _is_version(name, version, versions)
    return None


def _is_version(name: str, expected: str, versions: Mapping[str, str]) -> bool | None:
    version = versions.get(name.removesuffix(VERSION_TEST)) if name.endswith(VERSION_TEST) else None
    if version is None:
        return None
    from packaging.version import Version

    try:
        # A build for another device has a local label: `0.24.0+empty`.
        return Version(Version(version).public) == Version(expected)
    except ValueError:  # also for a number with more digits than Python reads
        return None
