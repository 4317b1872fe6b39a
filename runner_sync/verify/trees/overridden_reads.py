"""Where upstream's method reads a member that an omni method which overrides it reads from something else.

Comes in: a `Program`, the frame of an omni method and a read in it. Goes out: upstream's expression and its place. May
touch: nothing.
"""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass

from runner_sync.syntax import last_word, reached_from, walk
from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import reads_of
from runner_sync.verify.trees.program import Program


@dataclass(frozen=True, slots=True)
class OverriddenRead:
    """An expression of an overridden method, and the method with ``path:line`` of the expression."""

    text: str
    place: str


def find_other_read(program: Program, frame: Frame, node: ast.Attribute, *, is_rare: bool) -> OverriddenRead | None:
    """Return where the overridden method reads the same member, from something that the frame has as well.

    Unless the name of the member ``is_rare``, both objects are reached from one object or have one name: any object may
    have a ``size``.
    """
    for hidden in program.hidden_by(frame):
        for read in reads_of(hidden.function):
            is_other = read.attr == node.attr and ast.unparse(read) != ast.unparse(node)
            if is_other and (is_rare or _is_akin(frame, node, hidden, read)) and _is_known_in(frame, read, hidden):
                return OverriddenRead(ast.unparse(read), hidden.label_at(read))
    return None


def _is_akin(frame: Frame, node: ast.Attribute, hidden: Frame, read: ast.Attribute) -> bool:
    """Whether two reads have the same root, or the same last owner; ``self`` alone is none."""
    own, other = _find_root(frame, node.value), _find_root(hidden, read.value)
    is_named = not frame.is_self(node.value) and last_word(node.value) == last_word(read.value)
    return is_named or (own is not None and own == other)


def _find_root(frame: Frame, value: ast.expr) -> str | None:
    """Return ``self.box`` of ``self.box.rows[0]``, and ``box`` of ``box.rows``; ``None`` for ``self`` alone."""
    parts = list(reached_from(value))
    root = next((part for part in parts if frame.is_of_self(part)), parts[-1])
    return None if frame.is_self(root) else ast.unparse(root)


def _is_known_in(frame: Frame, read: ast.Attribute, hidden: Frame) -> bool:
    """Whether the frame has all names of a read of the ``hidden`` method: as locals, or from its module."""
    for part in walk(read):
        if isinstance(part, ast.Name) and not hidden.is_self(part):
            known = part.id in frame.bound if part.id in hidden.bound else frame.binds(part.id)
            if not known and (part.id in hidden.bound or not hasattr(builtins, part.id)):
                return False
    return frame.owner == hidden.owner or hidden.owner is None
