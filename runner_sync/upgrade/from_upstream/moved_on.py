"""Finds the method to which upstream seems to have moved the work of a dropped block.

Comes in: the text of the block and upstream's units before and now. Goes out: names. May touch: nothing.

The block need not stand there unchanged. It is enough that new code of one method, and no other code of the module,
reads what the block read. Here that is ``self.config.timing``, and the method is ``execute``::

    dropped   if self.config.timing.is_wanted:        new in execute   timing = self.config.timing
                  result.spent = self.spent()                          started = start_timer(timing)

timid: only a member of a member counts; direct members of ``self`` are read at too many places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from runner_sync import lineage


def find_moved_to(block: str, name: str, *, old: Mapping[str, str], new: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the method, and the dotted name that only its new code reads; ``None`` if there is no such method.

    The name is the longest one of ``block``, which stood in unit ``name``.
    """
    for asked in sorted(set(_find_asked_names(block)), key=lambda one: (-one.count("."), one)):
        mention = re.compile(rf"(?<![\w.]){re.escape(asked)}(?!\w)")
        units = [unit for unit, text in new.items() if mention.search(text)]
        if len(units) == 1 and units[0] != name and _is_in_new_code(mention, old.get(units[0], ""), new[units[0]]):
            return units[0].rpartition(".")[2], asked
    return None


def _find_asked_names(block: str) -> Iterator[str]:
    """Yield the dotted names in a text that are members of members of ``self``, at every depth."""
    for chain in _CHAIN.findall(block):
        parts = chain.split(".")
        yield from (".".join(parts[:k]) for k in range(_FEWEST, len(parts) + 1))


_CHAIN = re.compile(r"(?<![\w.])self(?:\.\w+)+")
_FEWEST = 3


def _is_in_new_code(mention: re.Pattern[str], old: str, new: str) -> bool:
    old_statements = {node.canon for node in lineage.list_nodes(old)} if old else set[str]()
    return any(mention.search(node.canon) and node.canon not in old_statements for node in lineage.list_nodes(new))
