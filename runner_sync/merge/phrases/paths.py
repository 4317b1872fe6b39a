"""Upstream reaches a member by another path: so does omni's statement, which says something else of it.

Comes in: the base, omni and upstream nodes of a statement. Goes out: omni's text with upstream's paths. May touch:
nothing.

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
    """Omni's text by upstream's paths, if all that upstream changed are paths, and omni's statement has each of those;
    ``None`` otherwise."""
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
    """Two paths without the end that they share, up to a part that tells what is reached; empty where none does."""
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
