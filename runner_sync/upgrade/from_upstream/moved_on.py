"""Find the method to which upstream seems to have moved what a dropped block did.

Comes in: the text of the block and upstream's units before and now. Goes out: names. May touch: nothing.

The block need not stand there as it was. It is enough that new code of one method, and no other code of the module,
asks for what the block asked for. Here that is ``self.config.timing``, and the method is ``execute``::

    dropped   if self.config.timing.is_wanted:        new in execute   timing = self.config.timing
                  result.spent = self.spent()                          started = start_timer(timing)

timid: only a member of a member; what ``self`` itself has is asked for at too many places.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from runner_sync import lineage


def moved_to(block: str, name: str, *, old: Mapping[str, str], new: Mapping[str, str]) -> tuple[str, str] | None:
    """The method, and what its new code asks for and no other does: the longest dotted name of the ``block``, which
    stood in unit ``name``. ``None`` if there is no such method."""
    for asked in sorted(set(_asked_for(block)), key=lambda one: (-one.count("."), one)):
        mention = re.compile(rf"(?<![\w.]){re.escape(asked)}(?!\w)")
        units = [unit for unit, text in new.items() if mention.search(text)]
        if len(units) == 1 and units[0] != name and _is_in_new_code(mention, old.get(units[0], ""), new[units[0]]):
            return units[0].rpartition(".")[2], asked
    return None


def _asked_for(block: str) -> Iterator[str]:
    """The dotted names in a text that are members of members of ``self``, and what these are members of."""
    for chain in _CHAIN.findall(block):
        parts = chain.split(".")
        yield from (".".join(parts[:k]) for k in range(_FEWEST, len(parts) + 1))


_CHAIN = re.compile(r"(?<![\w.])self(?:\.\w+)+")
_FEWEST = 3


def _is_in_new_code(mention: re.Pattern[str], old: str, new: str) -> bool:
    known = {node.canon for node in lineage.nodes_of(old)} if old else set[str]()
    return any(mention.search(node.canon) and node.canon not in known for node in lineage.nodes_of(new))
