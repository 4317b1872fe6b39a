"""Keep the review items of the last upgrade that wrote to a folder, and show one of them again (``explain ID``).

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


def keep(root: Path, reviews: Sequence[ReviewItem]) -> None:
    """Keep ``reviews`` for the folder ``root``, in place of earlier ones; not if the cache cannot be written."""
    with contextlib.suppress(InputError):
        cache.store_answer(_KIND, str(resolved(root)), json.dumps([asdict(item) for item in reviews]).encode())


def load_items(place: Path) -> list[ReviewItem] | None:
    """Return what is kept for the folder ``place`` or the nearest one around it; ``None`` if nothing is."""
    folder = resolved(place)
    for root in (folder, *folder.parents):
        data = cache.load_answer(_KIND, str(root))
        with contextlib.suppress(*cache.OTHER_FORM):
            return [ReviewItem(**item) for item in json.loads(data or b"")]
    return None


def explain_item(options: CheckOptions, beginning: str) -> Report:
    """Show the review item whose id begins with ``beginning``, as the last upgrade of the omni tree reported it.

    Raises ``InputError`` if no upgrade left items for this tree, and unless exactly one id begins so.
    """
    place = options.omni.path or Path()
    items = load_items(place)
    again = (
        "`runner-sync upgrade --diff -o text` with the options of the upgrade shows its questions again, in a worktree "
        "of the commit before it."
    )
    if items is None:
        raise InputError(
            f"no upgrade that wrote to {resolved(place)} left questions here: name its folder with --omni-path. {again}"
        )
    found = {item.id: item for item in items if item.id.startswith(beginning)}
    if not found:
        raise InputError(f"the last upgrade that wrote to {resolved(place)} has no review item {beginning}. {again}")
    if len(found) > 1 and beginning not in found:
        raise InputError(
            f"{beginning} begins the ids {' and '.join([*found][:2])}: write more of the id that is meant."
        )
    return Report("explain", reviews=(found.get(beginning) or next(iter(found.values())),))
