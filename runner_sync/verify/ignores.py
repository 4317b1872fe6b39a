"""Applies `# runner-sync: ignore[RS203] why` comments, which silence findings, and records which comments are used.

Comes in: readings and hits. Goes out: the remaining hits, and the comments with what each was used for, for RS491 (a
code that silences nothing) and RS492 (no reason, no code, or an unknown word). May touch: nothing.

A comment counts on the first or last line of a finding, on the last line of its statement, and alone above the finding
or statement (decorators and other comments may stand between); for a finding inside a unit that is about the unit, also
at the ``def``. Another comment (``# noqa: E501``) may precede it on its
line. Commas separate several codes. ``RS203:_sample`` silences only that symbol, ``RS312:__init__`` all findings folded
under it, and ``RS201:_sample@1a2b3c4d5e6f`` only the finding about that state of a text, so that a later change is
reported. A symbol that is a piece of code is named by its digest (``named``).
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from runner_sync.model import Finding
from runner_sync.syntax import statement_at
from runner_sync.verify.catalog import known_codes
from runner_sync.verify.hits import Hit
from runner_sync.verify.mistakes import is_mistake
from runner_sync.verify.runners.reading import Comment, Reading

_COMMENT = re.compile(
    r"(?<!\S)#\s*runner-sync(?P<colon>:?)\s*ignore\b(?:\s*\[(?P<codes>[^\]]*)\])?[\s:,\-]*(?P<reason>.*)\Z"
)
_NAME = re.compile(r"[\w.:()=*<>-]+")
_CODE = re.compile(r"(?P<code>RS\d{3})(?::(?P<symbol>.+))?\Z")
_MEANT = re.compile(r"\[?(?:RS)?(?P<digits>\d{3})(?P<symbol>:[^\s,\]]+)?\]?", re.IGNORECASE)


@dataclass(slots=True, eq=False)
class Ignore:
    """One comment.

    ``codes`` are (code, symbol or ``""``) pairs; ``used`` are the pairs that silenced something. ``meant`` are words in
    place of codes, each with the code that it seems to mean. A comment without the colon (``has_colon``) has no codes.
    """

    comment: Comment
    codes: tuple[tuple[str, str], ...]
    malformed: tuple[str, ...]
    reason: str
    used: set[tuple[str, str]] = field(default_factory=set)
    meant: tuple[tuple[str, str], ...] = ()
    has_colon: bool = True


def format_codes(codes: Iterable[tuple[str, str]]) -> list[str]:
    """Return codes as people write them: ``RS203`` or ``RS203:_sample``."""
    return [f"{code}:{symbol}" if symbol else code for code, symbol in codes]


def symbol_in_comment(symbol: str) -> str:
    """Return a symbol's name in comments: itself, or twelve digits of its hash if it is code (spaces, commas, …)."""
    return (
        symbol if _NAME.fullmatch(symbol) else hashlib.sha256(symbol.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    )


def join_quoted(words: Iterable[str]) -> str:
    """Return words of a comment, quoted and joined for a sentence."""
    return " and ".join(f"`{word}`" for word in words)


def read_ignores(reading: Reading) -> tuple[Ignore, ...]:
    """Return the ignore comments of one file, in line order."""
    return tuple(_parse_ignores(reading.directives))


def _parse_ignores(comments: Iterable[Comment]) -> Iterator[Ignore]:
    for comment in comments:
        found = _COMMENT.search(comment.text)
        if found is None:
            continue
        words = [word.strip() for word in (found["codes"] or "").split(",") if word.strip()]
        parsed = [(word, _CODE.match(word)) for word in words]
        known = [(word, m if m is not None and m["code"] in known_codes() else None) for word, m in parsed]
        codes = tuple((m["code"], m["symbol"] or "") for _, m in known if m is not None)
        malformed = tuple(word for word, m in known if m is None)
        reason = found["reason"].rstrip()
        if not found["colon"]:
            yield Ignore(comment, (), (), reason, meant=tuple(_find_meant(found["codes"] or reason)), has_colon=False)
            continue
        meant = _find_meant(" ".join(malformed) if words else reason)
        yield Ignore(comment, codes, malformed, reason, meant=tuple(meant))


def _find_meant(text: str) -> Iterator[tuple[str, str]]:
    """Yield the words at the beginning of ``text`` that are nearly rule codes, each with the code."""
    for word in re.split(r"[\s,]+", text.strip()):
        found = _MEANT.fullmatch(word)
        code = f"RS{found['digits']}" if found is not None else ""
        if found is None or code not in known_codes():
            return
        yield word, f"{code}{found['symbol'] or ''}"


def silence(hits: Iterable[Hit], readings: Mapping[str, Reading]) -> tuple[list[Hit], dict[str, tuple[Ignore, ...]]]:
    """Return the hits that no comment silences, and every ignore comment by path, with what it was used for."""
    known = {path: read_ignores(reading) for path, reading in readings.items()}
    remaining = []
    for hit in hits:
        path = hit.finding.path
        # Try all comments, so that each one that applies counts as used.
        places = [hit.finding, *([hit.home] if hit.home is not None else [])]
        silencing = [i for i in known.get(path, ()) if any(_apply_ignore(i, place, readings[path]) for place in places)]
        cause = hit.finding.cause
        if cause is not None and cause.path in readings:
            silencing += [i for i in known[cause.path] if _apply_ignore(i, cause, readings[cause.path])]
        if not silencing:
            remaining.append(hit)
    return remaining, known


def _apply_ignore(ignore: Ignore, finding: Finding, reading: Reading) -> bool:
    states = filter(None, (finding.state, finding.old_state))
    names = ("", finding.symbol, symbol_in_comment(finding.symbol), *(f"{finding.symbol}@{state}" for state in states))
    pairs = [pair for pair in ((finding.code, symbol) for symbol in names) if pair in ignore.codes]
    # A comment without a reason silences nothing, because nobody can tell later whether it still holds. Nor does any
    # silence the mistake of a rule, which nobody can have meant.
    if not pairs or not ignore.reason or is_mistake(finding):
        return False
    line = ignore.comment.line
    first, last = statement_at(reading.tree, finding.line)
    inside = line in (finding.line, finding.end_line, last)
    above = ignore.comment.alone and any(_is_above(reading, line, at) for at in (finding.line, first))
    if not inside and not above:
        return False
    ignore.used.update(pairs)
    return True


def _is_above(reading: Reading, line: int, target: int) -> bool:
    between = reading.lines[line : target - 1]
    return line < target and all(text.lstrip().startswith(("#", "@")) for text in between)
