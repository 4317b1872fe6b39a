"""Settles a review item in a module text: its comment goes, and a side's text may take the place of the chosen one.

Comes in: a module text and a review item. Goes out: the text afterwards. May touch: nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from runner_sync.compose.notes import CONFLICT, WORD, is_opening_ruler
from runner_sync.edits import margin, without_lines
from runner_sync.errors import InputError
from runner_sync.model import ReviewItem, Side
from runner_sync.rulers import ruler_title
from runner_sync.statements import inside_strings
from runner_sync.syntax import Function, module_of, walk
from runner_sync.texts.assignment import find_unsure_reads
from runner_sync.texts.names import undefined_names

_COMMENT = re.compile(rf"[ \t]*{re.escape(WORD)} (R[0-9a-f]+)\b")
_CONFLICT = re.compile(rf"{re.escape(CONFLICT)} (R[0-9a-f]+)$")
_ELIDED = "# …"
"""What stands in the texts of an item for lines that the question is not about."""
_BY_HAND = "edit the file, then delete the comment"


def find_comments(text: str) -> dict[str, int]:
    """Return the line of the first review comment of each id, in the order of the file."""
    return {item_id: lines[0] for item_id, lines in _find_places(text).items()}


def find_conflicts(text: str) -> dict[str, int]:
    """Return the line of the opening marker of each item that ``--conflict inline`` wrote as a merge conflict."""
    lines = enumerate(text.split("\n"), start=1) if CONFLICT in text else ()
    return {found[1]: number for number, line in lines if (found := _CONFLICT.match(line))}


def _find_places(text: str) -> dict[str, list[int]]:
    """Return the lines of the review comments of each id: a method may hold the same passage several times."""
    if WORD not in text:
        return {}
    inside = inside_strings(text)
    found: dict[str, list[int]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        comment = _COMMENT.match(line)
        if comment and number - 1 not in inside:
            found.setdefault(comment[1], []).append(number)
    return found


def keep_chosen(text: str, item_id: str) -> str:
    """Return ``text`` without the comments of the item: what stands below them is settled."""
    return without_lines(text, _find_places(text)[item_id])


def take_side(text: str, item: ReviewItem, side: Side) -> str:
    """Return ``text`` with the text of ``side`` in the place of the chosen one, and without the item's comments.

    That happens at each place of the item, or at none. A pair of rulers around nothing else goes, too. Raises
    ``InputError``

    - if the chosen text does not stand below the comment as the item shows it, or the item leaves lines out;
    - if nothing was chosen, so that the place of the new code is uncertain;
    - if the side is no alternative for this place: a definition, or code that stands elsewhere in the method;
    - if the result would not parse, or would read a name that nothing sets or that some path does not set.
    """
    if side == "chosen":
        return keep_chosen(text, item.id)
    chosen, wanted = _Passage.of(item.chosen), _Passage.of(item.omni if side == "omni" else item.upstream)
    if not chosen.lines and side == "upstream":
        raise InputError(f"{item.id}: what was left out has no certain place here; {_BY_HAND}.")
    if _ELIDED in (line.strip() for line in (*chosen.lines, *wanted.lines)):
        raise InputError(f"{item.id}: its texts leave out lines in between; {_BY_HAND}.")
    starts, lines = _find_chosen(text, chosen, item.id), text.split("\n")
    if doubles := _find_doubles(starts, lines):
        return take_side(without_lines(text, doubles), item, side)
    taken = {offset for start in starts.values() for offset in range(start, start + len(chosen.lines))}
    if any(_is_from_elsewhere(chosen, wanted, _list_lines(text, line) - taken, lines) for line in starts):
        raise InputError(f"{item.id}: this side shows code from another place; {_BY_HAND}.")
    made = text
    # From the last place on: the lines above keep their numbers, and stand as in ``text``.
    for line, start in reversed(starts.items()):
        made = _replace(made, (line - 1, start), chosen, wanted, item.id)
    return made


def can_take(text: str, item: ReviewItem, side: Side) -> bool:
    """Whether `take_side` would take ``side`` for the chosen text at the lines of ``item``, where no comment is yet."""
    lines = text.split("\n")
    comment = f"{margin(lines[item.line - 1])}{WORD} {item.id}"
    try:
        take_side("\n".join([*lines[: item.line - 1], comment, *lines[item.line - 1 :]]), item, side)
    except InputError:
        return False
    return True


def _find_chosen(text: str, chosen: _Passage, item_id: str) -> dict[int, int]:
    """Return the offset of the chosen text below each comment of the item, by the line of the comment.

    Raises ``InputError`` if it does not stand below one of them.
    """
    lines, inside = text.split("\n"), inside_strings(text)
    starts = {}
    for line in _find_places(text)[item_id]:
        start = _find(chosen, lines, line, inside)
        if start is None:
            raise InputError(
                f"{item_id}: what the upgrade chose does not stand below its comment as it is shown; {_BY_HAND}."
            )
        starts[line] = start
    return starts


def _find_doubles(starts: Mapping[int, int], lines: Sequence[str]) -> set[int]:
    """Return the lines of comments about the same place as the next one, as when a merge by git keeps both of them."""
    return {
        upper
        for upper, lower in pairwise(starts)
        if starts[upper] >= lower or not any(line.strip() and not _COMMENT.match(line) for line in lines[upper:lower])
    }


def _replace(text: str, offsets: tuple[int, int], chosen: _Passage, wanted: _Passage, item_id: str) -> str:
    """Return ``text`` with ``wanted`` for ``chosen``, whose comment and first line stand at ``offsets``."""
    at, start = offsets
    lines = text.split("\n")
    indent = chosen.find_indent(lines[start]) if chosen.lines else margin(lines[at])
    above, below = [*lines[:at], *lines[at + 1 : start]], lines[start + len(chosen.lines) :]
    if not wanted.lines:
        _drop_empty_rulers(above, below)
    made = "\n".join([*above, *wanted.indented(indent), *below])
    _refuse_unsound(made, text, item_id, at + 1)
    return made


@dataclass(frozen=True, slots=True)
class _Passage:
    """A side's text without the indentation that its lines share; ``frozen`` are offsets of lines inside strings."""

    lines: tuple[str, ...]
    frozen: frozenset[int]

    @classmethod
    def of(cls, text: str) -> _Passage:
        lines = text.strip("\n").split("\n") if text.strip() else []
        frozen = inside_strings("\n".join(lines))
        free = [line for number, line in enumerate(lines) if number not in frozen and line.strip()]
        shared = min((len(margin(line)) for line in free), default=0)
        return cls(tuple(line if n in frozen else line[shared:] for n, line in enumerate(lines)), frozen)

    def find_indent(self, first: str) -> str:
        """Return the indentation of the passage if ``first`` is its first line in a file."""
        return margin(first).removesuffix(margin(self.lines[0]))

    def indented(self, indent: str) -> list[str]:
        """Return the lines as they stand in a file."""
        return [
            line if number in self.frozen or not line.strip() else indent + line
            for number, line in enumerate(self.lines)
        ]


def _find(chosen: _Passage, lines: list[str], first: int, inside: Collection[int]) -> int | None:
    """Return the offset at or after ``first`` where ``chosen`` stands, with only comments and blank lines before it."""
    for start in range(first, len(lines)):
        if not chosen.lines or (
            start not in inside
            and [line.rstrip() for line in lines[start : start + len(chosen.lines)]]
            == [line.rstrip() for line in chosen.indented(chosen.find_indent(lines[start]))]
        ):
            return start
        if lines[start].strip() and not lines[start].lstrip().startswith("#"):
            break
    return None


def _find_functions(text: str, line: int) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Return the functions around ``line``, the outermost first; none if ``text`` does not parse."""
    try:
        tree = module_of(text)
    except SyntaxError:
        return []
    functions = [node for node in walk(tree) if isinstance(node, Function)]
    return sorted(
        (node for node in functions if node.lineno <= line <= (node.end_lineno or node.lineno)),
        key=lambda node: node.lineno,
    )


def _list_lines(text: str, line: int) -> set[int]:
    """Return the offsets of the lines of the innermost function around ``line``; none outside functions."""
    inner = _find_functions(text, line)[-1:]
    return {offset for node in inner for offset in range(node.lineno - 1, node.end_lineno or node.lineno)}


def _is_from_elsewhere(chosen: _Passage, wanted: _Passage, others: Collection[int], lines: list[str]) -> bool:
    """Whether ``wanted`` is a definition in the place of other code, or stands line by line at ``others``."""
    begins = [any(re.match(r"(async )?def ", line) for line in passage.lines) for passage in (chosen, wanted)]
    if chosen.lines and begins == [False, True]:
        return True
    there = {lines[offset].strip() for offset in others}
    telling = [line.strip() for line in wanted.lines if line.strip() and not line.lstrip().startswith("#")]
    return len(telling) > 1 and there.issuperset(telling)


def _drop_empty_rulers(above: list[str], below: list[str]) -> None:
    """Take away the rulers that end ``above`` and begin ``below``: what they enclosed is gone."""
    before = next((n for n in range(len(above) - 1, -1, -1) if above[n].strip()), None)
    behind = next((n for n, line in enumerate(below) if line.strip()), None)
    if before is None or behind is None or margin(above[before]) != margin(below[behind]):
        return
    are_rulers = None not in (ruler_title(above[before].strip()), ruler_title(below[behind].strip()))
    if are_rulers and is_opening_ruler(above, before):
        del above[before:]
        del below[: behind + 1]


def _refuse_unsound(made: str, text: str, item_id: str, line: int) -> None:
    """Raise ``InputError`` if ``made`` does not parse, or reads unset, around ``line``, what ``text`` did not."""
    try:
        module_of(made)
    except SyntaxError as error:
        raise InputError(f"{item_id}: with this side the file would not parse; {_BY_HAND}.") from error
    unset = {*undefined_names(made) - undefined_names(text), *(_unsure_reads(made, line) - _unsure_reads(text, line))}
    if unset:
        raise InputError(f"{item_id}: with this side nothing sets {', '.join(sorted(unset))}; {_BY_HAND}.")


def _unsure_reads(text: str, line: int) -> set[str]:
    """Return the locals that some path of the outermost function around ``line`` reads unset."""
    outer = _find_functions(text, line)[:1]
    return {name for node in outer for name in find_unsure_reads(ast.unparse(node))}
