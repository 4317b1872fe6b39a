"""Passages of one feature that were left out of a port or a merge: one question, whether NPU wants the feature.

Comes in: drafts with their questions. Goes out: the drafts, each further question of a feature as part of the first.
May touch: nothing.

For example the GPU runner asks for a request, pads with it, and hands it on::

    request = self._full_attention_request(rows)    left out: only lines that were left out read it
    if request is not None: …                       left out: not all that is done with request has a place here
    set_context(request)                            left out: it uses request, whose definition was not taken
"""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from keyword import iskeyword

from runner_sync.compose.member_text import self_mentions
from runner_sync.model import ReviewItem
from runner_sync.statements import CLOSERS, OPENERS, tokens
from runner_sync.upgrade.draft import Draft


def join_features(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts, each with the questions that belong to the first one about the same feature as its parts.

    Nothing of a feature is in the file, so one comment about it is enough, at the first of its places.
    """
    found = [_LeftOut.of(item, draft) for draft in drafts for item in draft.reviews if _is_left_out(item)]
    changed: dict[str, ReviewItem] = {}
    for group in _features(found, _missing(drafts)):
        changed |= {item.id: item for item in _as_one_question(group)}
    return [
        replace(draft, reviews=tuple(changed.get(item.id, item) for item in draft.reviews)) if draft.reviews else draft
        for draft in drafts
    ]


def _as_one_question(group: Sequence[ReviewItem]) -> list[ReviewItem]:
    """The items of one feature, the first with the number of the others, these as its parts and without a comment."""
    first, *rest = group
    number = "1 more passage" if len(rest) == 1 else f"{len(rest)} more passages"
    whole = replace(first, reason=f"{first.reason}; {number} of the same feature left out")
    noted = next((item.id for item in group if item.in_file), "")
    return [whole, *(replace(item, part_of=first.id, in_file=item.id == noted) for item in rest)]


def _is_left_out(item: ReviewItem) -> bool:
    """Whether a question is about something of which nothing was taken: of the GPU runner's, or of vllm-ascend's where
    omni has nothing either."""
    is_as_before = item.chosen.strip() == item.omni.strip()
    return is_as_before and bool(item.upstream.strip()) and (item.from_gpu or not item.chosen.strip())


def _missing(drafts: Sequence[Draft]) -> dict[str, str]:
    """``{qualified name: id}`` for the questions about methods of the GPU class that were not ported."""
    return {draft.name: draft.reviews[0].id for draft in drafts if draft.owner and not draft.text and draft.reviews}


@dataclass(frozen=True, slots=True)
class _LeftOut:
    """A question about something that was left out, and what of ``self`` it names, qualified (``methods``).

    ``used`` are the locals in it that its base does not have, ``set`` those of them that it sets, and ``absent`` those
    that the unit does not have, or that the question names.
    """

    item: ReviewItem
    set: frozenset[str]
    used: frozenset[str]
    absent: frozenset[str]
    methods: frozenset[str]

    @classmethod
    def of(cls, item: ReviewItem, draft: Draft) -> _LeftOut:
        (made, new), (_, old) = _locals(item.upstream), _locals(item.base)
        used = new - old
        absent = used - _locals(draft.text)[1] | used & {*_WORD.findall(item.reason)}
        methods = self_mentions(item.upstream) - self_mentions(item.base)
        return cls(item, made & used, used, absent, frozenset(f"{draft.owner}.{name}" for name in methods))

    def shares_local_with(self, other: _LeftOut) -> bool:
        """Whether one of the two sets a local that both use and that NPU's unit has nothing of."""
        if (self.item.unit, self.item.from_gpu) != (other.item.unit, other.item.from_gpu):
            return False
        return bool((self.set | other.set) & self.used & other.used & (self.absent | other.absent))


def _features(found: Sequence[_LeftOut], missing: Mapping[str, str]) -> list[list[ReviewItem]]:
    """The groups of questions about one feature: one about a missing method first, then from top to bottom."""
    groups: list[list[_LeftOut]] = []
    for one in found:
        near = [group for group in groups if any(_belong(one, other, missing) for other in group)]
        groups = [group for group in groups if group not in near]
        groups.append([*(other for group in near for other in group), one])
    units = {name: at for at, name in enumerate(dict.fromkeys(one.item.unit for one in found))}

    def place(item: ReviewItem) -> tuple[bool, int, int]:
        return item.id not in missing.values(), units[item.unit], item.line

    return [sorted((one.item for one in group), key=place) for group in groups if len(group) > 1]


def _belong(one: _LeftOut, other: _LeftOut, missing: Mapping[str, str]) -> bool:
    """Whether two questions are about one feature: a local, or a missing method of the GPU runner's, about which one of
    them asks."""
    if one.shares_local_with(other):
        return True
    return any(
        missing.get(name) == a.item.id != b.item.id
        for a, b in ((one, other), (other, one))
        for name in (b.methods if b.item.from_gpu else ())
    )


_WORD = re.compile(r"\w+")


@lru_cache(maxsize=256)
def _locals(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """The plain names that the lines of a passage set, and all that they mention: no attributes, no keywords of calls.

    A passage may be the head of a block alone, which is no Python, so it is read word by word.
    """
    made: set[str] = set()
    used: set[str] = set()
    for line in _lines_of_words(text):
        depth = 0
        equals = next((k for k, word in enumerate(line) if word == "=" and _depth(line[:k]) == 0), 0)
        for k, word in enumerate(line):
            depth += (word in OPENERS) - (word in CLOSERS)
            if not word.isidentifier() or iskeyword(word) or (k and line[k - 1] == "."):
                continue
            if depth and line[k + 1 : k + 2] == ["="]:
                continue
            used.add(word)
            if k < equals and line[k + 1 : k + 2] != ["."] and not depth:
                made.add(word)
    return frozenset(made), frozenset(used)


def _depth(words: Sequence[str]) -> int:
    return sum((word in OPENERS) - (word in CLOSERS) for word in words)


def _lines_of_words(text: str) -> Iterator[list[str]]:
    """The words of each logical line, without comments and strings; what comes behind a line that is no Python is
    left out."""
    words: list[str] = []
    try:
        for token in tokens(text):
            if token.type in (tokenize.NEWLINE, tokenize.ENDMARKER):
                yield words
                words = []
            elif token.type in (tokenize.NAME, tokenize.OP):
                words.append(token.string)
    except (tokenize.TokenError, SyntaxError):
        yield words
