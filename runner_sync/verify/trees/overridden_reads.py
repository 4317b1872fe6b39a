"""Where upstream's method reads a member that an omni method which overrides it reads from something else.

Comes in: a `Program`, the frame of an omni method and a read in it. Goes out: upstream's expression and its place. May
touch: nothing.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from runner_sync.verify.trees.frames import Frame
from runner_sync.verify.trees.functions import reads_of
from runner_sync.verify.trees.program import Program


@dataclass(frozen=True, slots=True)
class OverriddenRead:
    """An expression of an overridden method, and the method with ``path:line`` of the expression."""

    text: str
    place: str


def find_other_read(program: Program, frame: Frame, node: ast.Attribute) -> OverriddenRead | None:
    """Return where the overridden method reads the same member, if it reads it from something that the frame has."""
    own = ast.unparse(node)
    for hidden in program.hidden_by(frame):
        for read in reads_of(hidden.function):
            text = ast.unparse(read) if read.attr == node.attr else own
            root = re.match(r"\w+", text)
            if text != own and root is not None and _is_known_in(frame, root[0], hidden):
                return OverriddenRead(text, f"{hidden.unit} ({hidden.place_of(read)})")
    return None


def _is_known_in(frame: Frame, name: str, hidden: Frame) -> bool:
    """Whether a name of the ``hidden`` method is no local of its own."""
    return name not in hidden.bound or name in frame.bound
