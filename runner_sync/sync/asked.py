"""Keep the review items of upgrades that wrote to a folder until they are settled; show one again (``explain ID``).

Comes in: review items, or the beginning of an id. Goes out: a ``Report`` of one item. May touch: the cache folder.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Sequence
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

    The latest of earlier ones stay: their comments may still stand in the files, and the same upgrade asks nothing
    when it runs again, settled or not.
    """
    fresh = {item.id for item in reviews}
    _store(root, [*reviews, *(item for item in _load(resolved(root)) if item.id not in fresh)])


def forget(root: Path, ids: Collection[str]) -> None:
    """Keep these items no longer: nothing else tells that they are settled."""
    items = _load(resolved(root))
    if any(item.id in ids for item in items):
        _store(root, [item for item in items if item.id not in ids])


def forget_listed(root: Path) -> None:
    """Keep those items no longer that stand in no file: a lock has recorded them as settled."""
    forget(root, [item.id for item in _load(resolved(root)) if not item.in_file])


def _store(root: Path, items: Sequence[ReviewItem]) -> None:
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
    root = find_root(place)
    return _load(root) if root is not None else []


def find_root(place: Path) -> Path | None:
    """Return the nearest folder at or around ``place``, in the same checkout, that an upgrade wrote to."""
    folder = resolved(place)
    for root in (folder, *folder.parents):
        if cache.load_answer(_KIND, str(root)) is not None:
            return root
        if (root / ".git").exists():
            break
    return None


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
    found = pick_id([item.id for item in items], beginning)
    if found is None:
        raise InputError(f"no upgrade that wrote to {resolved(place)} has the review item {beginning}. {again}")
    return Report("explain", reviews=(next(item for item in items if item.id == found),))


def pick_id(ids: Sequence[str], beginning: str) -> str | None:
    """Return the id that is, or else begins with, ``beginning``; ``None`` if there is none.

    Raises ``InputError`` if it only begins several.
    """
    found = list(dict.fromkeys(item_id for item_id in ids if item_id.startswith(beginning)))
    if len(found) > 1 and beginning not in found:
        raise InputError(f"{beginning} begins the ids {' and '.join(found[:2])}: write more of the id that is meant.")
    return beginning if beginning in found else next(iter(found), None)
