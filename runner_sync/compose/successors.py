"""Members of upstream's that got another name, where omni's own code reads them still.

Comes in: upstream's class as it was and as it is, and texts of omni's. Goes out: new names by old ones, and a method
with one of them. May touch: nothing.

A merge gives a copy what upstream's statements say now. What omni wrote itself still says what they said before, and
would fail: ``self.use_cp`` of vllm-ascend 0.24 is ``self.use_dcp`` in 0.25, in a line of omni's as well.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping

from runner_sync.compose.member_text import canonical, self_names
from runner_sync.compose.mended import Mended
from runner_sync.edits import Edit, Places, apply
from runner_sync.statements import parse_unit, parses
from runner_sync.statements.renaming import new_names, prevailing
from runner_sync.syntax import is_name, walk

_MENTIONED = re.compile(r"\bself\.(\w+)|\bdef\s+(\w+)|attr\(\s*self,\s*[\"'](\w+)[\"']")
_DEFINED = re.compile(r"\bself\.(\w+)\s*(?::[^=\n]+)?=[^=]|\bdef\s+(\w+)")


def renamed_members(
    old: Mapping[str, str], new: Mapping[str, str], read: Collection[str], elsewhere: Iterable[str]
) -> dict[str, str]:
    """Of the names in ``read`` those that upstream's class defined and mentions no more, with what most of the lines
    that had them have now.

    ``old`` and ``new`` are the methods of the class, ``elsewhere`` other texts that may define such a member, which are
    read when one is gone. The new name is one that the class defines and did not have before.
    """
    gone = {*read} & _names(_DEFINED, old.values()) - _names(_MENTIONED, new.values())
    fresh = (_names(_DEFINED, new.values()) - _names(_MENTIONED, old.values())) if gone else set()
    found = {}
    for name in sorted(gone - _names(_DEFINED, elsewhere)) if fresh else ():
        both = [method for method in old if method in new and f".{name}" in old[method]]
        told = (said for method in both for said in new_names(canonical(old[method]), canonical(new[method]), name))
        later, _ = prevailing(told)
        if later in fresh:
            found[name] = later
    return found


def renamed(text: str, names: Mapping[str, str]) -> Mended | None:
    """A method with the new name of the first member in ``names`` that it reads of ``self``, wherever it does."""
    for old in sorted(names.keys() & self_names(text)) if parses(text) else ():
        tree = parse_unit(text)
        places = Places(text)
        read = [n for n in walk(tree) if isinstance(n, ast.Attribute) and n.attr == old and is_name(n.value, "self")]
        edits = [Edit(places.end(node) - len(old), places.end(node), names[old]) for node in read]
        if edits:
            line = min(node.lineno for node in read)
            made = apply(text, edits)
            new = names[old]
            said = f"upstream has self.{new} where it had self.{old}, which is gone: written so in omni's lines, too"
            return Mended(made, line, made.split("\n")[line - 1], said, was=text.split("\n")[line - 1])
    return None


def _names(pattern: re.Pattern[str], texts: Iterable[str]) -> set[str]:
    """What a pattern finds in some texts, by whichever of its groups."""
    return {name for text in texts for found in pattern.findall(text) for name in found if name}
