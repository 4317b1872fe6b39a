"""Follows a method that upstream split in two: the second half of a copy moves into the new method.

Comes in: texts of methods. Goes out: the new method that was split off an old one; two methods joined to one text, to
be merged with the copy of the undivided one, and that text cut in two again. May touch: nothing.

The statements around an omni addition show where it belongs, and after the split they stand in two methods. If the
methods were merged one by one, omni's additions to the second half would have no place::

    upstream, old   run: prepare(); sample()             upstream, new   run: prepare()       draw: sample()
    copy            run: prepare(); sample(); note()     result          run: prepare()       draw: sample(); note()
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from runner_sync import lineage
from runner_sync.edits import margin
from runner_sync.statements import JUMPS, flatten, parses
from runner_sync.texts.member_text import find_reached, self_names, split_head
from runner_sync.thresholds import FROM_OLD
from runner_sync.units.splitting import bare_name

CUT = "__runner_sync_cut__()"
"""The marker statement between the two halves; it never reaches a file."""


def find_split_off(member: str, *, base: str, copy: str, old: Mapping[str, str], new: Mapping[str, str]) -> str:
    """Return the name of the new method that upstream split off ``member``; empty if there is none.

    ``base`` is the undivided text. ``copy`` is omni's copy of it, which must still have the part that left. ``old`` and
    ``new`` are the methods of the upstream class. A new method that ``member`` or another new method calls is a helper
    taken out of the middle, not a second half (`_sample` beside `sample_tokens` in vllm-ascend 0.14.0rc1).
    """
    if member not in new:
        return ""
    new_methods = {name: text for name, text in new.items() if bare_name(name) not in old}
    called = self_names(new[member]).union(*(self_names(text) for text in new_methods.values()))
    gone = (lineage.fingerprint(base) - lineage.fingerprint(new[member])) & lineage.fingerprint(copy)
    best, found = 0, ""
    for name in (name for name in new_methods if name not in called):
        body = Counter(
            canon
            for part in {name} | find_reached(new_methods[name], new_methods)
            for canon in lineage.fingerprint(new_methods[part]).elements()
        )
        shared = (body & gone).total()
        has_most = shared >= lineage.FEWEST and shared >= gone.total() * FROM_OLD
        if shared > best and (has_most or shared >= body.total() * FROM_OLD):
            best, found = shared, name
    return found


def join_halves(first: str, second: str) -> str:
    """Join two methods: the body of the second follows the first, with the marker ``CUT`` in between.

    Returns only ``first`` if either method has its body on the line of its head, where nothing can follow.
    """
    head, body = split_head(second)
    if not head or not split_head(first)[0]:
        return first
    return f"{first.rstrip(chr(10))}\n{' ' * _measure_indent(body)}{CUT}\n{body.lstrip(chr(10))}"


def cut_halves(text: str, second: str) -> tuple[str, str] | None:
    """Cut a joined text into its two methods again; the second gets the signature of ``second``.

    Returns ``None`` if the marker is not there exactly once at the indentation of the body, or if a half does not
    parse.
    """
    lines = text.split("\n")
    places = [k for k, line in enumerate(lines) if line.strip() == CUT]
    head, body = split_head(second)
    if len(places) != 1 or not head or lines[places[0]] != " " * _measure_indent(body) + CUT:
        return None
    first, rest = "\n".join(lines[: places[0]]).rstrip(), "\n".join(lines[places[0] + 1 :])
    halves = (first + "\n", head + rest.lstrip("\n"))
    return halves if all(parses(half) for half in halves) else None


def find_cut_row(text: str) -> int:
    """Return the 1-based line of the marker ``CUT``."""
    return next(k for k, line in enumerate(text.split("\n"), start=1) if line.strip() == CUT)


def is_in_order(text: str, omni: str, line: int) -> bool:
    """Whether the statement on a line of a joined text has all around it, within its half, as omni's text has it.

    It is not if an exit that omni lacks stands in front of it.
    """
    row = find_cut_row(text)
    half = [node for node in flatten(text) if (node.start > row) == (line > row) and not node.is_comment]
    nodes = flatten(omni)
    often = Counter(node.canon for node in nodes)
    places = {node.canon: k for k, node in enumerate(nodes) if often[node.canon] == 1}
    own = next((places.get(node.canon) for node in half if node.start == line), None)
    if own is None:
        return False
    shared = [(places[node.canon], node.start) for node in half if node.canon in places]
    exits = [node for node in half if node.start < line and node.keyword in JUMPS]
    return all((place < own) == (start < line) for place, start in shared if place != own) and all(
        node.canon in often for node in exits
    )


def _measure_indent(body: str) -> int:
    return len(margin(next((line for line in body.split("\n") if line.strip()), "")))
