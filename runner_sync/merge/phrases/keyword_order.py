"""Recognise that one side has all that the other one changed in a statement, but for the order of keywords.

Comes in: a simple statement as base, omni and upstream have it. Goes out: which side has everything. May touch:
nothing.

    base      made = Output(rows=rows, left=None)
    omni      made = OwnOutput(rows=rows, payload=payload, stats=stats)
    upstream  made = Output(stats=stats, rows=rows)
    result    omni's
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from runner_sync.statements import tree_of


def with_all_changes(base: str, omni: str, upstream: str) -> Literal["omni", "upstream", ""]:
    """The side that has the changes of both sides, omni first; empty if neither does.

    timid: empty where a call has ``**``, or where the sides have another number of calls.
    """
    old, mine, theirs = (_read(text) for text in (base, omni, upstream))
    if old is None or mine is None or theirs is None:
        return ""
    return "omni" if _has_all(mine, theirs, old) else "upstream" if _has_all(theirs, mine, old) else ""


@dataclass(frozen=True, slots=True)
class _Said:
    """A statement ``bare`` of the keywords of its calls, and these for each call."""

    bare: str
    keywords: Sequence[Mapping[str, str]]


class _Stripped(ast.NodeTransformer):
    """Takes the keywords from every call, but for the calls inside their values."""

    def __init__(self) -> None:
        self.keywords: list[dict[str, str]] = []
        self.is_open = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.is_open |= any(key.arg is None for key in node.keywords)
        self.keywords.append({key.arg: ast.unparse(key.value) for key in node.keywords if key.arg is not None})
        node.keywords = []
        return self.generic_visit(node)


def _read(text: str) -> _Said | None:
    """What a statement says; ``None`` if it is no Python, or a call has ``**``."""
    stripped = _Stripped()
    bare = ast.unparse(stripped.visit(copy.deepcopy(tree_of(text))))
    return _Said(bare, stripped.keywords) if bare and not stripped.is_open else None


def _has_all(one: _Said, other: _Said, old: _Said) -> bool:
    """Whether ``one`` has all that ``other`` changed since ``old``."""
    if not len(one.keywords) == len(other.keywords) == len(old.keywords) or other.bare not in (old.bare, one.bare):
        return False
    calls = zip(one.keywords, other.keywords, old.keywords, strict=True)
    return all(
        here.get(name) == new.get(name)
        for here, new, was in calls
        for name in new.keys() | was.keys()
        if new.get(name) != was.get(name)
    )
