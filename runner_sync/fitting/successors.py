"""Finds members that upstream renamed and that omni's own code still uses by the old name.

Comes in: upstream's class before and now, and omni texts. Goes out: new names by old ones, and a method with one of
them. May touch: nothing.

A merge updates statements that omni copied from upstream. Statements that omni wrote itself keep the old name and would
fail: for example, ``self.use_cp`` of vllm-ascend 0.24 is ``self.use_dcp`` in 0.25.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from runner_sync.edits import Edit, Places, apply
from runner_sync.fitting.mended import Repair
from runner_sync.statements import parse_unit, parses
from runner_sync.statements.renaming import new_names, prevailing
from runner_sync.syntax import is_name, walk
from runner_sync.texts.member_text import canonical, self_names

_MENTIONED = re.compile(r"\bself\.(\w+)|\bdef\s+(\w+)|attr\(\s*self,\s*[\"'](\w+)[\"']")
_DEFINED = re.compile(r"\bself\.(\w+)\s*(?::[^=\n]+)?=[^=]|\bdef\s+(\w+)")


def find_renamed_members(
    old: Mapping[str, str], new: Mapping[str, str], read: Collection[str], elsewhere: Iterable[str]
) -> dict[str, str]:
    """Return ``{old name: new name}`` for names in ``read`` that upstream's class defined and no longer mentions.

    The new name is the one that most changed lines have in its place; it must be new in the class. ``old`` and ``new``
    are the methods of the class. A name that a text in ``elsewhere`` defines is not gone; these texts are read only if
    needed.
    """
    gone = {*read} & _find_all_names(_DEFINED, old.values()) - _find_all_names(_MENTIONED, new.values())
    fresh = (_find_all_names(_DEFINED, new.values()) - _find_all_names(_MENTIONED, old.values())) if gone else set()
    found = {}
    for name in sorted(gone - _find_all_names(_DEFINED, elsewhere)) if fresh else ():
        both = [method for method in old if method in new and f".{name}" in old[method]]
        renamings = (
            new_name for method in both for new_name in new_names(canonical(old[method]), canonical(new[method]), name)
        )
        later, _ = prevailing(renamings)
        if later in fresh:
            found[name] = later
    return found


def rename_member(text: str, names: Mapping[str, str]) -> Repair | None:
    """Return the method with one member of ``self`` renamed everywhere: the first in ``names`` that it uses.

    ``None`` if it uses none of them.
    """
    for old in sorted(names.keys() & self_names(text)) if parses(text) else ():
        tree = parse_unit(text)
        places = Places(text)
        read = [n for n in walk(tree) if isinstance(n, ast.Attribute) and n.attr == old and is_name(n.value, "self")]
        edits = [Edit(places.end(node) - len(old), places.end(node), names[old]) for node in read]
        if edits:
            line = min(node.lineno for node in read)
            made = apply(text, edits)
            new = names[old]
            reason = f"upstream replaced self.{old}, which is gone, by self.{new}, and so do omni's own lines now"
            return Repair(made, line, made.split("\n")[line - 1], reason, was=text.split("\n")[line - 1])
    return None


def _find_all_names(pattern: re.Pattern[str], texts: Iterable[str]) -> set[str]:
    """Return all names that any group of a pattern finds in the texts."""
    return set[str]().union(*(_find_names(pattern, text) for text in texts))


# Called again for each changed method of a class.
@lru_cache(maxsize=4096)
def _find_names(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    return frozenset(name for found in pattern.findall(text) for name in found if name)
