"""Read Omni-new markers by line.

Comes in: a module's text and the profile's marker label. Goes out: every marker line with its kind, the regions
enclosed by pairs of rulers, and the problems. May touch: nothing.

``tokenize`` finds the comments, so that a marker inside a string is ignored. In the releases 0.11.0rc1 … 0.32.0rc1:

- The same ruler text opens and closes a region, and a ruler of dashes alone may close one.
- One-line markers are behind code (``# Omni-specific``) or above it (``# [Omni] …``, ``# OMNI: …``).
- Rulers are indented to several depths.

Rulers are therefore paired within one suite. A ruler without a partner there is reported as a problem, even if it can
only belong to a ruler of another suite.
"""

from __future__ import annotations

import io
import tokenize
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from runner_sync.errors import UnresolvedConflict, unparsable
from runner_sync.rulers import Grammar, MarkerKind, get_grammar, ruler_title
from runner_sync.unmerged import conflicts, find_syntax_error

ProblemKind = Literal["unbalanced", "nested", "empty", "crosses-function", "crosses-block"]

_LAYOUT = frozenset({tokenize.NL, tokenize.COMMENT, tokenize.ENDMARKER})
_SCOPES = frozenset({"def", "class"})
_WIDTH_TOLERANCE = 4
"""The maximum difference in width, in characters, between rulers that belong together. In the releases a bare ruler is
at most 1 shorter than the labelled ones."""


@dataclass(frozen=True, slots=True)
class Marker:
    """One marker line (1-based). A ``toggle`` or ``bare`` ruler has no partner. ``note`` is the free text behind the
    label."""

    line: int
    kind: MarkerKind
    column: int
    note: str
    text: str


@dataclass(frozen=True, slots=True)
class Region:
    """The lines from an opening to a closing ruler, both included. ``problems`` are reasons to doubt the pair."""

    start: int
    end: int
    note: str
    problems: tuple[ProblemKind, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem with the markers of lines ``line`` … ``end_line``."""

    kind: ProblemKind
    line: int
    end_line: int
    message: str


@dataclass(frozen=True, slots=True)
class Markers:
    """All marker lines, paired regions and problems of one file, each in line order."""

    lines: tuple[Marker, ...]
    regions: tuple[Region, ...]
    problems: tuple[Problem, ...]

    @property
    def marked(self) -> frozenset[int]:
        """The lines that markers claim for omni: inside a region (rulers included) or with a trailing marker.

        A region that crosses from one function into another is a mistake and claims nothing.
        """
        sound = (region for region in self.regions if "crosses-function" not in region.problems)
        inside = {line for region in sound for line in range(region.start, region.end + 1)}
        return frozenset(inside | {marker.line for marker in self.lines if marker.kind == "trailing"})


@dataclass(frozen=True, slots=True)
class _Place:
    """A marker with its enclosing suite and scope (function or class).

    Each is the tuple of the first lines of all blocks from the module down to it.
    """

    marker: Marker
    suite: tuple[int, ...]
    scope: tuple[int, ...]


@lru_cache(maxsize=64)
def read_markers(text: str, *, path: str = "", label: str) -> Markers:
    """Return the markers of ``text``. Raises ``InputError`` if it cannot be tokenized."""
    places, code = _scan(text, path, get_grammar(label))
    pairs, stray = _pair(places)
    stray += _find_orphans(places, pairs)
    regions = tuple(_make_regions(pairs, code))
    kinds = {place.marker.line: kind for pair in pairs for place, kind in zip(pair, _PAIR_KINDS, strict=True)}
    lines = tuple(replace(place.marker, kind=kinds.get(place.marker.line, place.marker.kind)) for place in places)
    problems = [*_find_region_problems(regions), *(_make_stray_problem(place) for place in stray)]
    return Markers(lines, regions, tuple(sorted(problems, key=lambda problem: problem.line)))


_PAIR_KINDS: tuple[MarkerKind, MarkerKind] = ("open", "close")


def _scan(text: str, path: str, grammar: Grammar) -> tuple[list[_Place], frozenset[int]]:
    """Return every marker with its place, and the set of lines that hold code."""
    cursor = _Cursor()
    places: list[_Place] = []
    waiting: list[tuple[Marker, int]] = []
    for token in _tokenize(text, path):
        if token.type == tokenize.COMMENT:
            if read := grammar.read(token.string, behind_code=token.start[0] in cursor.code):
                marker = Marker(token.start[0], read[0], token.start[1], read[1], token.string)
                waiting.append((marker, len(token.line[: token.start[1]].expandtabs(8))))
            continue
        # The tokenizer reports an indentation after the comments at the start of the block.
        if token.type == tokenize.INDENT:
            cursor.step(token)
        if token.type != tokenize.NL or cursor.statement:
            places += [_Place(marker, *cursor.locate(width)) for marker, width in waiting]
            waiting.clear()
        if token.type != tokenize.INDENT:
            cursor.step(token)
    return places, frozenset(cursor.code)


class _Cursor:
    """The state after the tokens read so far.

    ``code`` are the lines with code, ``statement`` the first line of the unfinished statement (0: none), ``_suites``
    the open blocks.
    """

    def __init__(self) -> None:
        self.code: set[int] = set()
        self.statement = 0
        self._keyword = ""
        self._suites: list[tuple[int, bool, int]] = [(0, True, 0)]

    def step(self, token: tokenize.TokenInfo) -> None:
        """Move past ``token``."""
        line = token.start[0]
        if token.type == tokenize.INDENT:
            self._suites.append((len(token.string.expandtabs(8)), self._keyword in _SCOPES, line))
        elif token.type == tokenize.DEDENT:
            self._suites.pop()
        elif token.type == tokenize.NEWLINE:
            self.statement = 0
        elif token.type not in _LAYOUT:
            self.code.update(range(line, token.end[0] + 1))
            if not self.statement:
                self.statement, self._keyword = line, ""
            if self._keyword in ("", "async"):
                self._keyword = token.string

    def locate(self, width: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return suite and scope of a comment indented by ``width``.

        The suite is the open block with that indentation, or the unfinished statement that contains the comment.
        """
        depth = len(self._suites)
        while not self.statement and depth > 1 and self._suites[depth - 1][0] > width:
            depth -= 1
        suite = tuple(line for _, _, line in self._suites[:depth])
        scope = max(index for index in range(depth) if self._suites[index][1]) + 1
        return ((*suite, -self.statement) if self.statement else suite), suite[:scope]


def _tokenize(text: str, path: str) -> Iterator[tokenize.TokenInfo]:
    where = path or "the text"
    if found := conflicts(text):
        raise UnresolvedConflict(path, found[0][0])
    try:
        yield from tokenize.generate_tokens(io.StringIO(text.removeprefix("\ufeff")).readline)
    # CPython 3.13.0 has a SystemError for a null byte that comes late in the text.
    except (tokenize.TokenError, SyntaxError, SystemError) as error:
        # The parser stops earlier and says more, and the other commands quote it.
        stop = find_syntax_error(text)
        line, why = (stop.lineno, stop.msg) if stop is not None else (1, str(error.args[0]))
        raise unparsable(f"{where}:{line or 1}", why) from error


def _pair(places: Iterable[_Place]) -> tuple[list[tuple[_Place, _Place]], list[_Place]]:
    """Pair rulers within their suite, then where only one pairing is possible; also return the unpaired ones. Unpaired
    bare rulers are left out, because they may be mere decoration."""
    waiting: dict[tuple[int, ...], _Place] = {}
    pairs: list[tuple[_Place, _Place]] = []
    stray: list[_Place] = []
    for place in places:
        kind = place.marker.kind
        if kind in ("trailing", "loose"):
            continue
        opener = waiting.get(place.suite)
        if kind == "open" or (kind == "toggle" and opener is None):
            if opener is not None:
                stray.append(opener)
            waiting[place.suite] = place
        elif opener is not None:
            pairs.append((waiting.pop(place.suite), place))
        elif kind == "close":
            stray.append(place)
    return _pair_rest(pairs, sorted([*stray, *waiting.values()], key=lambda place: place.marker.line))


def _pair_rest(
    pairs: list[tuple[_Place, _Place]], stray: list[_Place]
) -> tuple[list[tuple[_Place, _Place]], list[_Place]]:
    """Pair the only two unpaired rulers of a function or class, or the only two of the file."""
    by_scope: dict[tuple[int, ...], list[_Place]] = {}
    for place in stray:
        by_scope.setdefault(place.scope, []).append(place)
    found, groups = [*pairs], list(by_scope.values())
    single = [group[0] for group in groups if len(group) == 1]
    if len(groups) == len(single) == 2:
        groups = [single]
    rest: list[_Place] = []
    for group in groups:
        if len(group) == 2 and _can_be_one(group[0], group[1], pairs):
            found.append((group[0], group[1]))
        else:
            rest += group
    return sorted(found, key=lambda pair: pair[0].marker.line), rest


def _can_be_one(first: _Place, last: _Place, whole: Sequence[tuple[_Place, _Place]]) -> bool:
    """Whether two rulers of different suites can enclose one region, with no paired region of ``whole`` between
    them."""
    is_pair = first.marker.kind != "close" and last.marker.kind != "open"
    start, end = first.marker.line, last.marker.line
    return is_pair and not any(start < a.marker.line and b.marker.line < end for a, b in whole)


def _find_orphans(places: Iterable[_Place], pairs: Sequence[tuple[_Place, _Place]]) -> Iterator[_Place]:
    """Yield unpaired bare rulers that follow, in the same suite, a pair of labelled rulers of their width.

    One of the three has lost its partner, because a bare ruler may also close a region::

        # ---- Omni-new ----
        # ---- Omni-new ----    the end of the region above, or the beginning of another?
        # ------------------
    """
    paired = {place.marker.line: pair for pair in pairs for place in pair}
    before: dict[tuple[int, ...], list[_Place]] = {}
    for place in places:
        if place.marker.kind not in ("trailing", "loose"):
            before.setdefault(place.suite, []).append(place)
    for rulers in before.values():
        for at, place in enumerate(rulers[1:], start=1):
            pair = paired.get(rulers[at - 1].marker.line)
            following = rulers[at + 1].marker.kind if at + 1 < len(rulers) else None
            # Two bare rulers in a row frame a heading.
            if _is_unpaired(place, paired) and following != "bare" and pair is not None and _are_alike(place, pair):
                yield place


def _is_unpaired(place: _Place, paired: Mapping[int, object]) -> bool:
    return place.marker.kind == "bare" and place.marker.line not in paired


def _are_alike(place: _Place, pair: tuple[_Place, _Place]) -> bool:
    """Whether a ruler is about as wide as both rulers of ``pair``, which only their order marks as opening and
    closing."""
    return all(
        other.marker.kind == "toggle" and abs(len(other.marker.text) - len(place.marker.text)) <= _WIDTH_TOLERANCE
        for other in pair
    )


def _make_regions(pairs: list[tuple[_Place, _Place]], code: frozenset[int]) -> Iterator[Region]:
    spans = [(first.marker.line, last.marker.line) for first, last in pairs]
    for (first, last), (start, end) in zip(pairs, spans, strict=True):
        problems: list[ProblemKind] = []
        if first.scope != last.scope:
            problems.append("crosses-function")
        elif first.suite != last.suite:
            problems.append("crosses-block")
        if any(outer < start and end < close for outer, close in spans):
            problems.append("nested")
        if not any(start < line < end for line in code):
            problems.append("empty")
        yield Region(start, end, first.marker.note or last.marker.note, tuple(problems))


_MESSAGES: dict[ProblemKind, str] = {
    "nested": "this marked block lies inside another one",
    "empty": "this marked block holds no code",
    "crosses-function": "this marker opens in one function or class and the next one without a partner is in another",
    "crosses-block": "this marker opens in one indented block and the next one without a partner is in another",
    "unbalanced": "this marker has no partner in its block of statements",
}


def _find_region_problems(regions: Iterable[Region]) -> Iterator[Problem]:
    for region in regions:
        for kind in region.problems:
            yield Problem(kind, region.start, region.end, _MESSAGES[kind])


def _make_stray_problem(place: _Place) -> Problem:
    line = place.marker.line
    return Problem("unbalanced", line, line, _MESSAGES["unbalanced"])


def ruler_style(text: str, *, label: str) -> str:
    """Return the most frequent ruler with ``label`` in ``text`` (the first of equals), or a default ruler."""
    counted = Counter(
        line.strip() for line in text.split("\n") if (ruler_title(line.strip()) or "").lower() == label.lower()
    )
    most = counted.most_common(1)
    return most[0][0] if most else f"# {'-' * 38} {label} {'-' * 49}"
