"""Settle the review items that upgrades left in an omni tree (``settle``).

Comes in: options, and which side each item is settled for. Goes out: ``OpenItems``, and files written. May touch: the
files of the runners, through ``write``, and the cache, which keeps the items of upgrades.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from runner_sync import sources, write
from runner_sync.compose.notes import WORD
from runner_sync.compose.settling import find_comments, find_conflicts, keep_chosen, take_side
from runner_sync.errors import InputError
from runner_sync.model import FileChange, ReviewItem, Side
from runner_sync.sync import asked
from runner_sync.sync.options import CheckOptions, Tell, tell_nobody
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.runners import find_modules
from runner_sync.syntax import same_code
from runner_sync.trees import peek


@dataclass(frozen=True, slots=True)
class OpenItem:
    """A review item that is not settled; ``item`` is empty if no upgrade on this machine asked it.

    The sides of one ``in_conflict`` stand between the conflict markers that begin at ``line``.
    """

    id: str
    path: str
    line: int
    reason: str
    item: ReviewItem | None
    in_conflict: bool = False

    @property
    def is_listed_only(self) -> bool:
        """Whether neither a comment nor a conflict in a file asks it."""
        return not self.line


@dataclass(frozen=True, slots=True)
class OpenItems:
    """The unsettled review items below ``root``, in the order of the files, and the ``texts`` of the files by path."""

    root: Path
    texts: Mapping[str, str]
    items: tuple[OpenItem, ...]

    def get(self, beginning: str) -> OpenItem:
        """Return the item whose id begins so; raises ``InputError`` unless there is exactly one."""
        found = asked.pick_id([item.id for item in self.items], beginning)
        if found is None:
            raise InputError(f"{beginning}: no open review item below {self.root} has this id: it may be settled.")
        return next(item for item in self.items if item.id == found)


def find_open(options: CheckOptions) -> OpenItems:
    """Return the open review items of the omni tree, or of a folder with upgraded files only.

    Those in files come first; then those that stand in no file, which the last upgrade to this folder asked.
    """
    root, paths = _find_files(options)
    kept = {item.id: item for item in asked.load_items(root)}
    tree = sources.open_part("vllm-omni", root)
    texts = {path: text for path in paths if (text := tree.read(path)) is not None}
    found = [
        _open(kept.get(item_id), item_id, path, line, text)
        for path, text in texts.items()
        for item_id, line in find_comments(text).items()
    ]
    conflicts = [
        OpenItem(item_id, path, line, item.reason if item else "", item, in_conflict=True)
        for path, text in texts.items()
        for item_id, line in find_conflicts(text).items()
        for item in [kept.get(item_id)]
    ]
    listed = [OpenItem(item.id, item.path, 0, item.reason, item) for item in kept.values() if not item.in_file]
    return OpenItems(root, texts, (*found, *conflicts, *listed))


def _find_files(options: CheckOptions) -> tuple[Path, list[str]]:
    """Return the folder, and the files in it that may hold review comments: the runners, and what upgrades wrote."""
    place = options.omni.path or Path()
    if not place.is_dir():
        raise InputError(f"{place} is not a folder: name the vllm-omni tree with --omni-path.")
    kept = asked.load_items(place)
    found: list[str] = []
    root = asked.find_root(place)
    try:
        given = inputs.open_omni(options, with_lock=False)
        found = [module.path for module in find_modules(given)]
        folders = dict.fromkeys(path[: path.rfind("/") + 1] for path in found)
        # What omni has moved out of a runner may stand beside it.
        beside = (path for folder in folders for path in given.omni.paths(folder))
        found += [path for path in beside if f"{WORD} " in (peek(given.omni, path) or "")]
        root = given.root
    except InputError:
        if root is None:
            raise
    if root is None:
        raise InputError(f"{place}: is no folder with runners to settle anything in: name one with --omni-path.")
    return root, list(dict.fromkeys([*found, *(item.path for item in kept)]))


def _open(item: ReviewItem | None, item_id: str, path: str, line: int, text: str) -> OpenItem:
    """Return the item of the comment at ``line``, with the lines that its chosen text has now."""
    comment = text.split("\n")[line - 1].strip()
    reason = item.reason if item is not None else comment.partition(item_id)[2].strip()
    if item is not None:
        item = replace(item, path=path, line=line + 1, end_line=line + 1 + item.end_line - item.line)
    return OpenItem(item_id, path, line, reason, item)


def settle(
    found: OpenItems, decisions: Sequence[tuple[OpenItem, Side]], *, tell: Tell = tell_nobody
) -> tuple[str, ...]:
    """Settle each item for a side, write all files or none, and return the paths written.

    Raises ``InputError``, with nothing changed, for an item in a conflict, and if a side cannot take the place of the
    chosen text: see `compose.settling.take_side`.
    """
    texts = dict(found.texts)
    for item, side in decisions:
        if item.in_conflict:
            place = f"{item.path}:{item.line}"
            raise InputError(f"{item.id}: is the merge conflict at {place}; resolve it there, or with a mergetool.")
        if item.is_listed_only and side != "chosen":
            raise InputError(f"{item.id}: stands in no file, so no text can take its place; edit the file by hand.")
        if not item.is_listed_only:
            texts[item.path] = settled_text(texts[item.path], item, side)
    changes = [FileChange(path, found.texts[path], text) for path, text in texts.items() if text != found.texts[path]]
    paths = write.write(changes, found.root, tell=tell)
    asked.forget(found.root, [item.id for item, _side in decisions if item.is_listed_only])
    return paths


def settled_text(text: str, item: OpenItem, side: Side) -> str:
    """Return the text of a file with the item settled for ``side``; raises ``InputError`` if that is impossible."""
    if side == "chosen":
        return keep_chosen(text, item.id)
    if item.item is None:
        raise InputError(
            f"{item.id}: no upgrade on this machine asked it, so its other side is unknown; edit the file, then delete "
            "the comment."
        )
    return take_side(text, item.item, side)


def find_sides(text: str, item: OpenItem) -> list[Side]:
    """Return the sides that can take the place of the chosen text and differ from it in more than layout."""
    sides: list[Side] = []
    kept = None if item.is_listed_only else keep_chosen(text, item.id)
    for side in ("omni", "upstream"):
        with suppress(InputError):
            if kept is not None and not same_code(settled_text(text, item, side), kept):
                sides.append(side)
    return sides
