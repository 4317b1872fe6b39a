"""Settle review items: those that are named, or one after the other at a terminal (``settle``).

Comes in: options, ids, a side, a ``Screen``; at a terminal also answers. Goes out: the exit code, 1 if items are left.
May touch: what ``sync.settling`` touches.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from runner_sync.errors import InputError
from runner_sync.render.escape import one_line
from runner_sync.terminal import naming_profile
from runner_sync.terminal.commands import DONE, LEFT_TO_A_PERSON
from runner_sync.terminal.screen import Screen, is_terminal

if TYPE_CHECKING:
    from runner_sync.model import Side
    from runner_sync.sync.options import CheckOptions
    from runner_sync.sync.settling import OpenItem, OpenItems

    Decision = tuple[OpenItem, Side]


def settle(ids: Sequence[str], side: Side, options: CheckOptions, *, screen: Screen) -> int:
    """Settle the items with these ids for ``side``; without ids ask at a terminal, or list the open items elsewhere.

    Returns the exit code. Raises ``InputError`` for a side without ids.
    """
    from runner_sync import sync

    if side != "chosen" and not ids:
        raise InputError(f"--take {side} goes with the ids of review items: name them.")
    with naming_profile.add_to_errors(options):
        found = sync.find_open(options)
        if ids:
            items = dict.fromkeys(found.get(beginning) for beginning in ids)
            decisions: list[Decision] = [(item, side) for item in items]
        elif is_terminal(sys.stdin) and is_terminal(sys.stdout):
            decisions = list(ask_all(found, screen))
        else:
            for item in found.items:
                screen.show(f"{_format_head(item)}\n")
            decisions = []
        paths = sync.settle(found, decisions, tell=screen.count_written)
    left = len(found.items) - len(decisions)
    screen.say(naming_profile.add_to_text(_summarize(len(decisions), len(paths), left), options))
    return LEFT_TO_A_PERSON if left else DONE


def _format_head(item: OpenItem) -> str:
    place = f"{item.path}:{item.line}" if item.line else f"{item.path} (no comment in the file)"
    place += " (a merge conflict)" if item.in_conflict else ""
    return f"{item.id} {one_line(place)}  {one_line(item.reason)}"


def _summarize(settled: int, files: int, left: int) -> str:
    from runner_sync.render.summary import count

    did = f"Settled {count(settled, 'review item')} in {count(files, 'file')}" if settled else ""
    if left:
        rest = f"{count(left, 'review item')} {'is' if left == 1 else 'are'} left"
    else:
        rest = "none is left; `runner-sync lock` records what you settled" if settled else "No review item is open"
    return f"{did}; {rest}." if did else f"{rest}."


_HELP = {
    "k": "keep what stands there, and delete the comment",
    "o": "take omni's text instead",
    "u": "take the new text of upstream or of the GPU twin instead",
    "a": "keep this and all that follow",
    "s": "skip: it stays open",
    "q": "quit; what was settled so far is written",
    "?": "print this help",
}
_KEYS: dict[str, Side] = {"k": "chosen", "o": "omni", "u": "upstream"}


def ask_all(found: OpenItems, screen: Screen, read: Callable[[str], str] = input) -> Iterator[Decision]:
    """Show each item and yield what the person at the terminal decides; the end of input counts as ``q``.

    Merge conflicts are only shown: an editor or a mergetool settles them.
    """
    from runner_sync.sync.settling import find_sides, settled_text

    texts = dict(found.texts)
    keeps_all = False
    for number, item in enumerate(found.items, start=1):
        if item.in_conflict:
            screen.show(f"\n{_format_head(item)}\n")
            continue
        text = texts.get(item.path, "")
        sides = find_sides(text, item)
        answer = "k"
        if not keeps_all:
            _show(item, screen)
            keys = [key for key in _HELP if key not in _KEYS or key == "k" or _KEYS[key] in sides]
            answer = _ask(f"({number}/{len(found.items)}) Settle {item.id} [{','.join(keys)}]? ", keys, screen, read)
        if answer == "q":
            return
        keeps_all = keeps_all or answer == "a"
        if answer != "s":
            side = _KEYS.get(answer, "chosen")
            if not item.is_listed_only:
                texts[item.path] = settled_text(text, item, side)
            yield item, side


def _show(item: OpenItem, screen: Screen) -> None:
    """Show an item as the upgrade did, or only its comment if no upgrade on this machine asked it."""
    from runner_sync.render.text import render_items

    if item.item is None:
        screen.show(f"\n{_format_head(item)}\n")
        return
    screen.show(f"\n{render_items((item.item,), color=screen.is_colored(), width=screen.width(), in_full=True)}\n")


def _ask(prompt: str, keys: Sequence[str], screen: Screen, read: Callable[[str], str]) -> str:
    """Return the first letter of an answer that is one of ``keys``."""
    while True:
        try:
            answer = read(prompt).strip().lower()[:1]
        except EOFError:
            screen.show("\n")
            return "q"
        if answer in keys and answer != "?":
            return answer
        screen.show("".join(f"  {key} - {_HELP[key]}\n" for key in keys))
