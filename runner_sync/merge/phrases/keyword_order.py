"""Detect that one side has all changes of the other side, apart from the order of keywords.

Comes in: the base, omni and upstream texts of a simple statement. Goes out: the side that has all changes. May touch:
nothing.

    base      made = Output(rows=rows, left=None)
    omni      made = OwnOutput(rows=rows, payload=payload, stats=stats)
    upstream  made = Output(stats=stats, rows=rows)
    result    omni
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from runner_sync.statements import tree_of


def find_side_with_all_changes(base: str, omni: str, upstream: str) -> Literal["omni", "upstream", ""]:
    """Return the side that has the changes of both sides, omni first; empty if neither does.

    timid: empty where a call has ``**``, or where the sides differ in their number of calls.
    """
    old, own, new = (_parse(text) for text in (base, omni, upstream))
    if old is None or own is None or new is None:
        return ""
    return "omni" if _has_all(own, new, old) else "upstream" if _has_all(new, own, old) else ""


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement without keywords (``bare``), and the keywords of each call."""

    bare: str
    keywords: Sequence[Mapping[str, str]]


class _KeywordStripper(ast.NodeTransformer):
    """Removes the keywords from every call, apart from calls inside keyword values."""

    def __init__(self) -> None:
        self.keywords: list[dict[str, str]] = []
        self.is_open = False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.is_open |= any(key.arg is None for key in node.keywords)
        self.keywords.append({key.arg: ast.unparse(key.value) for key in node.keywords if key.arg is not None})
        node.keywords = []
        return self.generic_visit(node)


def _parse(text: str) -> _Statement | None:
    """Parse a statement; ``None`` if it is no Python or a call has ``**``."""
    stripped = _KeywordStripper()
    bare = ast.unparse(stripped.visit(copy.deepcopy(tree_of(text))))
    return _Statement(bare, stripped.keywords) if bare and not stripped.is_open else None


def _has_all(one: _Statement, other: _Statement, old: _Statement) -> bool:
    """Whether ``one`` has everything that ``other`` changed since ``old``."""
    if not len(one.keywords) == len(other.keywords) == len(old.keywords) or other.bare not in (old.bare, one.bare):
        return False
    calls = zip(one.keywords, other.keywords, old.keywords, strict=True)
    return all(
        here.get(name) == new.get(name)
        for here, new, was in calls
        for name in new.keys() | was.keys()
        if new.get(name) != was.get(name)
    )
