"""How a frame uses what its calls hand back.

Comes in: a `Frame`. Goes out: unpackings, and the places where the value of a call stands. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from runner_sync.verify.frames import Frame


def unpackings(frame: Frame) -> Iterator[tuple[ast.Assign, ast.Tuple]]:
    """Assignments to a tuple of fixed size, with that tuple."""
    for node in frame.nodes():
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Tuple) and not any(isinstance(e, ast.Starred) for e in target.elts):
                yield node, target
