"""Take an attribute path that upstream changed over into omni's edited statement.

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


def with_upstream_paths(base: Node, omni: Node, upstream: Node) -> str | None:
    """Return omni's text with upstream's paths.

    ``None`` if upstream changed anything else, or if omni lacks an old path.
    """
    old, new = _PATH.findall(base.canon), _PATH.findall(upstream.canon)
    if len(old) != len(new) or _PATH.split(base.canon) != _PATH.split(upstream.canon):
        return None
    moved = {_cut_common_end(was, now) for was, now in zip(old, new, strict=True) if was != now}
    if not moved or any(not was or not re.search(_path_pattern(was), omni.text) for was, _ in moved):
        return None
    if len({was for was, _ in moved}) != len(moved):
        return None
    text = omni.text
    for was, now in moved:
        text = re.sub(_path_pattern(was), now, text)
    return text


def _cut_common_end(was: str, now: str) -> tuple[str, str]:
    """Cut most of the common end off two paths, so that the old path matches in front of other ends as well.

    ``config.chunks.is_timed``, ``config.schedule.chunks.is_timed`` → ``config.chunks``, ``config.schedule.chunks``.
    Both are empty if one path begins with the other.
    """
    old, new = was.split("."), now.split(".")
    shared = 0
    while shared < min(len(old), len(new)) - 1 and old[-1 - shared] == new[-1 - shared]:
        shared += 1
    if shared and (_is_prefix(old[:-shared], new) or _is_prefix(new[:-shared], old) or len(old) - shared < 2):
        shared -= 1
    old, new = old[: len(old) - shared], new[: len(new) - shared]
    return ("", "") if _is_prefix(old, new) or _is_prefix(new, old) else (".".join(old), ".".join(new))


def _is_prefix(path: Sequence[str], other: Sequence[str]) -> bool:
    return path == other[: len(path)]


def _path_pattern(path: str) -> str:
    return rf"(?<![\w.]){re.escape(path)}(?!\w)"
