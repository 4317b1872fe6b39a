"""Take over an attribute path that upstream changed into omni's edited statement.

Comes in: the base, omni and upstream nodes of a statement. Goes out: omni's text with upstream's paths. May touch:
nothing. Here omni's statement becomes ``if self.config.schedule.chunks.is_on:``

    base        if self.config.chunks.is_timed:
    omni        if self.config.chunks.is_on:
    upstream    if self.config.schedule.chunks.is_timed:
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from runner_sync.statements import Node

_PATH = re.compile(r"\b[A-Za-z_]\w*(?:\.\w+)+")


def with_their_paths(base: Node, omni: Node, upstream: Node) -> str | None:
    """Omni's text with upstream's paths; ``None`` if upstream changed anything else, or omni lacks an old path."""
    old, new = _PATH.findall(base.canon), _PATH.findall(upstream.canon)
    if len(old) != len(new) or _PATH.split(base.canon) != _PATH.split(upstream.canon):
        return None
    moved = {_moved(was, now) for was, now in zip(old, new, strict=True) if was != now}
    if not moved or any(not was or not re.search(_in_code(was), omni.text) for was, _ in moved):
        return None
    if len({was for was, _ in moved}) != len(moved):
        return None
    text = omni.text
    for was, now in moved:
        text = re.sub(_in_code(was), now, text)
    return text


def _moved(was: str, now: str) -> tuple[str, str]:
    """The two paths without most of their common end, so that the old one matches in front of other ends as well:
    ``config.chunks.is_timed``, ``config.schedule.chunks.is_timed`` → ``config.chunks``, ``config.schedule.chunks``.

    Both are empty if one path begins with the other.
    """
    old, new = was.split("."), now.split(".")
    shared = 0
    while shared < min(len(old), len(new)) - 1 and old[-1 - shared] == new[-1 - shared]:
        shared += 1
    if shared and (_is_inside(old[:-shared], new) or _is_inside(new[:-shared], old) or len(old) - shared < 2):
        shared -= 1
    old, new = old[: len(old) - shared], new[: len(new) - shared]
    return ("", "") if _is_inside(old, new) or _is_inside(new, old) else (".".join(old), ".".join(new))


def _is_inside(path: Sequence[str], other: Sequence[str]) -> bool:
    return path == other[: len(path)]


def _in_code(path: str) -> str:
    return rf"(?<![\w.]){re.escape(path)}(?!\w)"
