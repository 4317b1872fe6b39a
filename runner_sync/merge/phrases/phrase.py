"""Merge three texts of one statement by token.

Comes in: the base, omni and upstream texts of a statement or of a compound head. Goes out: the merged text, or ``None``
if both sides changed the same tokens. May touch: nothing.

Tokens are grouped into phrases between commas and brackets (`elements`), and a `diff3` merges the phrases. So an
argument added by one side merges with an argument changed by the other.
"""

from __future__ import annotations

import itertools
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher
from functools import partial

from runner_sync.merge.phrases.diff3 import diff3, find_matches
from runner_sync.merge.phrases.elements import (
    KEYWORD,
    Phrases,
    group_elements,
    join_phrases,
    split_phrases,
    with_final_commas,
    without_added_commas,
)
from runner_sync.merge.phrases.repeated_keywords import without_repeated
from runner_sync.merge.phrases.spacing import with_comments_alone, with_spacing
from runner_sync.merge.policy import Winner
from runner_sync.statements import CLOSERS, OPENERS


def merge_phrases(
    base: str,
    omni: str,
    upstream: str,
    *,
    parses: Callable[[str], bool],
    prefer: Winner | None = None,
    has_records: bool = False,
) -> str | None:
    """Return the merged statement; ``None`` for a conflict, a text without tokens, or a result that ``parses`` refuses.

    With ``prefer``, that side's phrases win where both changed the same ones, unless this would lose or repeat an
    element that all three have. With ``has_records``, names that are passed to a class are its fields, in any order, if
    upstream only added some.
    """
    written = _split_all(base, omni, upstream)
    if written is None:
        return None
    sides = [group_elements(with_final_commas(phrases)) for phrases in written]
    code = _REMARK.sub("", base)
    has_grown = has_records and _BUILDS.fullmatch(code) is not None and _is_subsequence(sides[0], sides[2])
    by_name = _BY_NAME.fullmatch(code) is not None or has_grown
    merged = diff3(sides[0], sides[1], sides[2], partial(_merge_piece, by_name=by_name), prefer=prefer)
    if merged is None or (prefer is not None and not _has_what_all_have(merged, *sides)):
        return None
    if merged in sides[1:]:
        return omni if merged == sides[1] else upstream
    merged = without_repeated(merged, sides)
    text = join_phrases(without_added_commas(merged, [group_elements(phrases) for phrases in written]))
    if not parses(text):
        return None
    return with_comments_alone(with_spacing(text, (omni, upstream, base)), (omni, upstream, base))


def is_part_of(text: str, whole: str) -> bool:
    """Whether ``text`` is ``whole`` without some elements of its lists, such as keywords of a call."""
    sides = _split_elements(text, whole)
    return sides is not None and _is_subsequence(*sides)


def is_mixed_from(text: str, one: str, other: str) -> bool:
    """Whether a statement mixes elements of two others in their order, including all elements that both share.

    It must have at least as many elements as the shorter of the two. A statement that lacks what is only in the first
    and what is only in the second was shortened on purpose.
    """
    sides = _split_elements(text, one, other)
    if sides is None:
        return False
    made, first, second = sides
    shared = [element for element in first if element in second]
    rows = [[element for element in made if element in side] for side in (first, second)]
    return (
        len(made) >= min(len(first), len(second))
        and all(element in first or element in second for element in made)
        and _is_subsequence(shared, made)
        and _is_subsequence(rows[0], first)
        and _is_subsequence(rows[1], second)
    )


def _split_elements(*texts: str) -> list[Phrases] | None:
    written = _split_all(*texts)
    return [group_elements(with_final_commas(phrases)) for phrases in written] if written is not None else None


def _split_all(*texts: str) -> list[Phrases] | None:
    """Return the phrases of each text; ``None`` if one cannot be tokenized."""
    try:
        return [split_phrases(text) for text in texts]
    except (tokenize.TokenError, SyntaxError):
        return None


def _is_subsequence(elements: Phrases, among: Phrases) -> bool:
    rest = iter(among)
    return all(any(element == other for other in rest) for element in elements)


def _merge_piece(base: Phrases, omni: Phrases, upstream: Phrases, *, by_name: bool) -> Phrases | None:
    if omni == upstream or upstream == base:
        return omni
    if omni == base:
        return upstream
    if not base:
        return _merge_insertions(omni, upstream)
    placed = _merge_by_place(base, omni, upstream)
    if placed is not None:
        return placed
    exchanged = _merge_exchanged(base, omni, upstream) or _merge_exchanged(base, upstream, omni)
    if exchanged is not None and not _repeats_nothing(exchanged, base, omni, upstream):
        exchanged = None
    if exchanged or not (by_name or all(_NAMED.match(element) for element in (*base, *omni, *upstream))):
        return exchanged
    return _merge_by_name(base, omni, upstream)


def _merge_by_place(base: Phrases, omni: Phrases, upstream: Phrases) -> Phrases | None:
    """Merge index by index, if all sides have equally many elements.

    ``None`` if both sides changed the same element, or a side moved a base element to another index.
    """
    if not len(base) == len(omni) == len(upstream) or not all(_is_list_part([p]) for p in (*base, *omni, *upstream)):
        return None
    places = list(zip(base, omni, upstream, strict=True))
    if any(own != old != new and own != new for old, own, new in places):
        return None
    if any(now != old and now in base for side in (omni, upstream) for old, now in zip(base, side, strict=True)):
        return None
    return [new if own == old else own for old, own, new in places]


def _merge_exchanged(base: Phrases, exchanged: Phrases, other: Phrases) -> Phrases | None:
    """Merge a side that replaced base elements one by one (``exchanged``) with one that only added or only removed.

    ``None`` otherwise, or if the ``other`` side removed an element that the first replaced.
    """
    if len(exchanged) != len(base) or not all(_is_list_part([p]) for p in (*base, *exchanged, *other)):
        return None
    out: Phrases = []
    changes = SequenceMatcher(None, base, other, autojunk=False).get_opcodes()
    made = {tag for tag, *_ in changes}
    if "replace" in made or {"insert", "delete"} <= made:
        return None
    for tag, i1, i2, j1, j2 in changes:
        if tag == "delete" and base[i1:i2] != exchanged[i1:i2]:
            return None
        out += exchanged[i1:i2] if tag == "equal" else other[j1:j2]
    return out


_BY_NAME = re.compile(r"\(?[\w\s,]*,[\w\s,]*\)?\s*=\s*[\w.]+\s*|(?:@.*\n)*(?:async )?def .*", re.DOTALL)
"""An unpacking of a name, or a signature: here a name identifies each element wherever it stands."""
_BUILDS = re.compile(r"[\w.]+\s*=\s*(?:\w+\.)*_*[A-Z]\w*\([\w\s]+,[\w\s,]*\)\s*")
"""The construction of a class-like name from plain names, such as that of a record."""
_REMARK = re.compile(r"#.*")
_NAMED = re.compile(r"\w+(?: =|:) |#")
"""A keyword argument, an annotated parameter or a comment.

A positional argument is identified only by its place: removing the one before makes it another.
"""


def _merge_by_name(base: Phrases, omni: Phrases, upstream: Phrases) -> Phrases | None:
    """Merge list elements that a name identifies.

    ``None`` if both sides changed one element, or added different ones at one place. Changes to neighbours are no
    conflict, even if one side removed all elements here. A comment goes with the element before it.
    """
    (lead, base), (lead_o, omni), (lead_u, upstream) = map(_split_leading_remarks, (base, omni, upstream))
    if not all(_is_list_part(side) or not side for side in (base, omni, upstream)) or not base:
        return None
    rows = [_attach_remarks(side) for side in (base, omni, upstream)]
    elements = [[element for element, _ in side] for side in rows]
    base_, omni_, upstream_ = elements
    if _has_removed_changed(base_, omni_, upstream_) or _has_removed_changed(base_, upstream_, omni_):
        return None
    remarks = {element: remark for side in (rows[0], rows[2], rows[1]) for element, remark in side}
    out = [*(lead_u if lead_o == lead else lead_o)]
    fates = (_match_elements(base_, side, also=other) for side, other in ((omni_, upstream_), (upstream_, omni_)))
    for element, (before_o, now_o), (before_u, now_u) in zip([*elements[0], ""], *fates, strict=True):
        before_o, before_u = (_drop_added(phrases, out) for phrases in (before_o, before_u))
        if (before_o and before_u and before_o != before_u) or (now_o != element != now_u != now_o):
            return None
        now = now_u if now_o == element else now_o
        for phrase in before_o or before_u:
            out += [phrase, *remarks[phrase]]
        if now:
            out += [now, *(remarks[now] or remarks[element])]
    return out if _repeats_nothing(out, *elements) else None


def _has_removed_changed(base: Phrases, one: Phrases, other: Phrases) -> bool:
    """Whether ``one`` removed a base element to which ``other`` gave another value."""
    old, own, new = ({_element_name(element): element for element in side} for side in (base, one, other))
    return any(name not in own and name in new and new[name] != element for name, element in old.items())


def _element_name(element: str) -> str:
    """Return the keyword of a list element, else the name before its annotation, else the whole element."""
    match = _OWN_NAME.match(element)
    return match[0] if match else element


_OWN_NAME = re.compile(r"\w+(?= =|:)")


def _repeats_nothing(made: Phrases, *sides: Phrases) -> bool:
    """Whether no element occurs more often than on any one side; an element that both added counts once."""
    most = {element: max(side.count(element) for side in sides) for side in sides for element in side}
    return all(made.count(element) <= count for element, count in most.items())


def _has_what_all_have(made: Phrases, *sides: Phrases) -> bool:
    """Whether each list element occurs as often as on the sides: no less than the fewest, no more than the most.

    Taking phrases from one side could lose or repeat an element that stands at different places on the sides.
    """
    now, *had = [Counter(_identify_elements(phrases)) for phrases in (made, *sides)]
    return all(min(side[key] for side in had) <= now[key] <= max(side[key] for side in had) for key in had[0])


def _identify_elements(phrases: Phrases) -> Iterator[str]:
    """Yield what identifies each list element: its keyword, its key in a dict, else the element itself."""
    for phrase, behind in itertools.pairwise([*phrases, ""]):
        if behind == ":" or _is_list_part([phrase]):
            match = KEYWORD.match(phrase)
            yield match[0] if match else phrase


def _split_leading_remarks(phrases: Phrases) -> tuple[Phrases, Phrases]:
    """Split off the comments at the beginning, which belong to what stands before."""
    at = next((k for k, phrase in enumerate(phrases) if not phrase.startswith("#")), len(phrases))
    return phrases[:at], phrases[at:]


def _attach_remarks(phrases: Phrases) -> list[tuple[str, Phrases]]:
    rows: list[tuple[str, Phrases]] = []
    for phrase in phrases:
        if phrase.startswith("#") and rows:
            rows[-1][1].append(phrase)
        else:
            rows.append((phrase, []))
    return rows


def _drop_added(phrases: Phrases, out: Phrases) -> Phrases:
    """Drop the phrases already in ``out``, because the other side added them at an earlier place."""
    return [phrase for phrase in phrases if phrase not in out]


def _match_elements(base: Phrases, side: Phrases, *, also: Phrases) -> list[tuple[Phrases, str]]:
    """Return ``(added before it, replacement)`` for each base element, and finally what was added behind all.

    An empty string stands for a removed element. New elements that the other side (``also``) has as well replace
    nothing: both sides added them.
    """
    fates: list[tuple[Phrases, str]] = [([], element) for element in [*base, ""]]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, base, side, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        is_exchange = i2 - i1 == j2 - j1 and not set(side[j1:j2]) & (set(also) - set(base))
        for k in range(i1, i2):
            fates[k] = (fates[k][0], side[j1 + k - i1] if is_exchange else "")
        if not is_exchange:
            fates[i1][0].extend(side[j1:j2])
    return fates


def _merge_insertions(omni: Phrases, upstream: Phrases) -> Phrases | None:
    """Merge two insertions at one place: shared phrases once, the rest one after the other, upstream's first.

    ``None`` if the rest is not whole list elements. An omni comment goes first, because it is about the element before
    it.
    """
    out: Phrases = []
    o = u = 0
    for a, b, size in find_matches(omni, upstream):
        first, second = upstream[u:b], omni[o:a]
        if second and all(phrase.startswith("#") for phrase in second):
            first, second = second, first
        if first and second and not (_is_insertion(first) and _is_list_part(second)):
            return None
        out += first + second + omni[a : a + size]
        o, u = a + size, b + size
    return out


def _is_insertion(phrases: Phrases) -> bool:
    """Whether phrases can stand in front of whole elements: they are whole elements themselves, or comments."""
    return _is_list_part(phrases) or all(phrase.startswith("#") for phrase in phrases)


def _is_list_part(phrases: Phrases) -> bool:
    """Whether phrases are whole elements with their commas, so that two such insertions can follow each other."""
    code = [phrase for phrase in phrases if not phrase.startswith("#")]
    return bool(code) and code[-1].endswith(",") and not any(p.strip(",") in OPENERS | CLOSERS for p in code)
