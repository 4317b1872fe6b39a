"""Undoes the passages of the GPU twin's change behind which NPU's statements would never run.

Comes in: the sides of a port and its result. Goes out: the sides with the twin's old passages, and decisions. May
touch: nothing.

    GPU twin, old   if rows.is_empty():       new   return only(rows)       result   return only(rows)
                        return EMPTY                                                 output = copy(EMPTY)
                    output = copy(EMPTY)                                             output.rows = rows
                    output.rows = rows                                               return output
                    return output
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from textwrap import dedent
from typing import NamedTuple

from runner_sync import merge
from runner_sync.confidence import REBUILT
from runner_sync.merge import Decision, Reason
from runner_sync.model import Triple
from runner_sync.statements import Node, below, cut_off, flatten, parses, tree_of
from runner_sync.syntax import suites_of, walk
from runner_sync.texts.soundness import Problem
from runner_sync.upgrade.lines import strip_lines


class Undone(NamedTuple):
    """A passage of the twin, old and new, and NPU's statement that would not run with the new one."""

    idle: str
    old: str
    new: str


def undo_idle_passages(sides: Triple, text: str, problems: Collection[Problem]) -> tuple[Triple, list[Undone]]:
    """Return the sides without the changes that made NPU's statements idle in the merged ``text``, and these changes.

    Undoes none if the twin's text would not parse.
    """
    idle = {it.what for it in problems if it.kind == "idle"}
    if not idle:
        return sides, []
    old, omni = flatten(sides.base), flatten(sides.omni)
    new, made = flatten(sides.upstream), flatten(text)
    in_omni = {pair.left: pair.right for pair in merge.align(made, omni)}
    in_base = {pair.right: pair.left for pair in merge.align(old, omni)}
    in_new = {pair.left: pair.right for pair in merge.align(made, new)}
    replaced = _list_replaced(old, new)
    found: dict[_Replaced, str] = {}
    for leaving, behind, line in _find_cut_off(text, made, idle):
        causes = [one for one in replaced if in_base.get(in_omni.get(behind, -1)) in one.before]
        causes = causes or [one for one in replaced if in_new.get(leaving) in one.after]
        found |= dict.fromkeys(causes, line)
    rows, undone = sides.upstream.split("\n"), []
    for change, line in sorted(found.items(), key=lambda one: one[0].now.start, reverse=True):
        passage = sides.base.split("\n")[change.was]
        undone.append(Undone(line, dedent("\n".join(passage)), dedent("\n".join(rows[change.now]))))
        rows[change.now] = passage
    upstream = "\n".join(rows)
    return (replace(sides, upstream=upstream), undone) if undone and parses(upstream) else (sides, [])


def ask_about_undone(result: merge.Merged, undone: Collection[Undone]) -> merge.Merged:
    """Return the merge with a decision about each undone passage, at the statement that would not run."""
    lines = strip_lines(result.text)
    more = []
    for idle, old, new in undone:
        at = lines.index(idle) + 1 if idle in lines else 1
        reason = Reason("leaves before other statements", (idle,))
        more.append(Decision(at, at, reason, REBUILT, old, idle, new, idle))
    return replace(result, decisions=tuple(sorted([*result.decisions, *more], key=lambda one: one.line)))


@dataclass(frozen=True, eq=False)
class _Replaced:
    """The lines of a passage that the twin replaced, old (``was``) and new (``now``), and the indices of its nodes."""

    was: slice
    now: slice
    before: frozenset[int]
    after: frozenset[int]


def _list_replaced(old: Sequence[Node], new: Sequence[Node]) -> list[_Replaced]:
    """Return the passages that the twin replaced; one that begins in the same suite on both sides ends with it."""
    was, now = ([k for k, node in enumerate(nodes) if not node.is_comment] for nodes in (old, new))
    changes = SequenceMatcher(None, [old[k].canon for k in was], [new[k].canon for k in now], autojunk=False)
    found = []
    for tag, start, end, first, last in changes.get_opcodes():
        if tag != "replace":
            continue
        old_part, new_part = was[start:end], now[first:last]
        above, around = old[old_part[0]].parent, new[new_part[0]].parent
        if min(above, around) >= 0 and old[above].canon == new[around].canon:
            old_part, new_part = (
                [k for k in part if k in below(nodes, head)]
                for nodes, part, head in ((old, old_part, above), (new, new_part, around))
            )
        before, after = ([nodes[k] for k in part] for nodes, part in ((old, old_part), (new, new_part)))
        found.append(_Replaced(_find_lines(before), _find_lines(after), frozenset(old_part), frozenset(new_part)))
    return found


def _find_lines(nodes: Sequence[Node]) -> slice:
    """Return the lines of a passage of a text."""
    return slice(nodes[0].start - 1, nodes[-1].end)


def _find_cut_off(text: str, nodes: Sequence[Node], idle: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Yield the indices of the exit above each ``idle`` statement and of that statement, then its first line."""
    lines = text.split("\n")
    at = {node.start: k for k, node in enumerate(nodes)}
    for suite in suites_of(walk(tree_of(text))):
        for first, second in cut_off(suite):
            if (line := lines[second.lineno - 1].strip()) in idle:
                yield at.get(first.lineno, -1), at.get(second.lineno, -1), line
