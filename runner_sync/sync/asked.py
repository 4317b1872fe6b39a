"""Keep the review items of upgrades that wrote to a folder, and show one of them again (``explain ID``).

Comes in: review items, or the beginning of an id. Goes out: a ``Report`` of one item. May touch: the cache folder.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from runner_sync.errors import InputError
from runner_sync.model import Report, ReviewItem
from runner_sync.sources import cache
from runner_sync.sync.options import CheckOptions
from runner_sync.user_paths import resolved

_KIND = "asked"


_MOST = 1000
"""Number of items that are kept for a folder."""


def keep(root: Path, reviews: Sequence[ReviewItem]) -> None:
    """Keep ``reviews`` for the folder ``root``, not if the cache cannot be written.

    The latest of earlier ones stay, because their comments may still stand in the files.
    """
    fresh = {item.id for item in reviews}
    items = [*reviews, *(item for item in _load(resolved(root)) if item.id not in fresh)]
    with contextlib.suppress(InputError):
        data = json.dumps([asdict(item) for item in items[:_MOST]])
        cache.store_answer(_KIND, str(resolved(root)), data.encode())


def _load(root: Path) -> list[ReviewItem]:
    """Return what is kept for exactly this folder."""
    with contextlib.suppress(*cache.OTHER_FORM):
        return [ReviewItem(**item) for item in json.loads(cache.load_answer(_KIND, str(root)) or b"[]")]
    return []


def load_items(place: Path) -> list[ReviewItem]:
    """Return what is kept for the folder ``place``, or the nearest one around it in the same checkout."""
    folder = resolved(place)
    for root in (folder, *folder.parents):
        if items := _load(root):
            return items
        if (root / ".git").exists():
            break
    return []


def explain_item(options: CheckOptions, beginning: str) -> Report:
    """Show the review item whose id begins with ``beginning``, as an upgrade of the omni tree reported it.

    Raises ``InputError`` if no upgrade left items for this tree, and unless exactly one id begins so.
    """
    place = options.omni.path or Path()
    items = load_items(place)
    again = (
        "`runner-sync upgrade --diff -o text` with the options of the upgrade shows its questions again, in a worktree "
        "of the commit before it."
    )
    if not items:
        raise InputError(
            f"no upgrade that wrote to {resolved(place)} left questions here: name its folder with --omni-path. {again}"
        )
    found = {item.id: item for item in items if item.id.startswith(beginning)}
    if not found:
        raise InputError(f"no upgrade that wrote to {resolved(place)} has the review item {beginning}. {again}")
    if len(found) > 1 and beginning not in found:
        raise InputError(
            f"{beginning} begins the ids {' and '.join([*found][:2])}: write more of the id that is meant."
        )
    return Report("explain", reviews=(found.get(beginning) or next(iter(found.values())),))
