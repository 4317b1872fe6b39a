"""Joins questions about passages of one feature that were left out of a port or a merge: does NPU want the feature?

Comes in: drafts with their questions. Goes out: the drafts, each further question of a feature as part of the first.
May touch: nothing.

For example, the GPU runner asks for a request, pads with it, and passes it on::

    request = self._full_attention_request(rows)    left out: the statements that read it were left out
    if request is not None: …                       left out: some statements that use request have no place here
    set_context(request)                            left out: it uses request, whose assignment was left out
"""

from __future__ import annotations

import re
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from keyword import iskeyword

from runner_sync.model import ReviewItem
from runner_sync.statements import CLOSERS, OPENERS, flatten, parses, tokens
from runner_sync.statements.dataflow import binds
from runner_sync.texts.member_text import self_mentions
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.job import Hierarchy


def join_features(drafts: Sequence[Draft], hierarchy: Hierarchy) -> list[Draft]:
    """Make questions about the same feature, or about code of one mixin that the class lacks, parts of the first one.

    Nothing of the feature is in the file, so one comment, at the first of its places, is enough.
    """
    left_out = [_LeftOut.from_item(item, draft) for draft in drafts for item in draft.reviews if _is_left_out(item)]
    missing = {draft.name: draft.reviews[0].id for draft in drafts if draft.owner and not draft.text and draft.reviews}
    groups = _group_features(left_out, missing, _index_missing_mixins(hierarchy))
    changed = {item.id: item for group in groups for item in _make_one_question(group)}

    def make_part(item: ReviewItem) -> ReviewItem:
        found = changed.get(item.id, item)  # of an item whose text stands twice, too
        return replace(item, reason=found.reason, part_of=found.part_of, in_file=found.in_file)

    return [draft.with_each_question(make_part) for draft in drafts]


def _index_missing_mixins(hierarchy: Hierarchy) -> dict[str, str]:
    """Return the mixin of each name that a class would get from a mixin that it lacks, by the name's qualified name."""
    return {
        f"{owner}.{name}": mixin
        for owner, mixins in hierarchy.missing_mixins.items()
        for mixin, names in mixins.items()
        for name in names - hierarchy.of(owner).members.keys()
    }


def _make_one_question(group: Sequence[_LeftOut]) -> list[ReviewItem]:
    """Return the items of one feature: the first counts the others, which become its parts.

    One keeps a comment, and so does each that is about omni's own version of something.
    """
    first, *rest = (one.item for one in group)
    number, verb = ("1 more passage", "was") if len(rest) == 1 else (f"{len(rest)} more passages", "were")
    whole = replace(first, reason=f"{first.reason}; {number} of the same feature {verb} left out")
    noted = next((one.item.id for one in group if one.item.in_file), "")
    shown = {noted, *(one.item.id for one in group if one.own and one.item.in_file)}
    return [whole, *(replace(item, part_of=first.id, in_file=item.id in shown) for item in rest)]


def _is_left_out(item: ReviewItem) -> bool:
    """Whether a question is about code that was left out as a whole.

    That is GPU code, or vllm-ascend code if omni has nothing there either.
    """
    return item.keeps_omni and bool(item.upstream.strip()) and (item.from_gpu or not item.chosen.strip())


@dataclass(frozen=True, slots=True)
class _LeftOut:
    """A question about code that was left out, and the qualified names of ``self`` in that code (``methods``).

    ``used`` are its locals that its base lacks, and ``set`` those of them that it sets. ``absent`` are those that the
    unit lacks or that the question names. ``own`` are those that it sets and that omni sets here in its own version,
    and nowhere else. ``read`` are those that it only reads.
    """

    item: ReviewItem
    set: frozenset[str]
    used: frozenset[str]
    absent: frozenset[str]
    own: frozenset[str]
    read: frozenset[str]
    methods: frozenset[str]

    @classmethod
    def from_item(cls, item: ReviewItem, draft: Draft) -> _LeftOut:
        (made, new), (_, old) = find_plain_names(item.upstream), find_plain_names(item.base)
        used = new - old
        absent = used - find_plain_names(draft.text)[1] | used & {*_WORD.findall(item.reason)}
        own = used & made & find_plain_names(item.omni)[0] & _find_set_once(draft.text)
        methods = self_mentions(item.upstream) - self_mentions(item.base)
        called = frozenset(f"{draft.owner}.{name}" for name in methods)
        return cls(item, made & used, used, absent, own, used - _find_all_set(item.upstream), called)

    def shares_local_with(self, other: _LeftOut) -> bool:
        """Whether one of the two sets a local that both use and that NPU's unit lacks, at least in this version."""
        if (self.item.unit, self.item.from_gpu) != (other.item.unit, other.item.from_gpu):
            return False
        if (self.set | other.set) & self.used & other.used & (self.absent | other.absent):
            return True
        above, below = sorted((self, other), key=lambda one: one.item.line)
        return above.item.line < below.item.line and not above.own.isdisjoint(below.read) and not below.own


def _group_features(
    left_out: Sequence[_LeftOut], missing: Mapping[str, str], mixins: Mapping[str, str]
) -> list[list[_LeftOut]]:
    """Group questions about one feature, each group from top to bottom with a question about a missing method first.

    ``missing`` are the ids of the questions about GPU methods that were not ported, and ``mixins`` the mixins of names
    that the class lacks, by qualified name.
    """
    groups: list[list[_LeftOut]] = []
    for one in left_out:
        related = [
            group for group in groups if any(_are_of_one_feature(one, other, missing, mixins) for other in group)
        ]
        groups = [group for group in groups if group not in related]
        groups.append([*(other for group in related for other in group), one])
    units = {name: at for at, name in enumerate(dict.fromkeys(one.item.unit for one in left_out))}

    def place(one: _LeftOut) -> tuple[bool, int, bool, int]:
        return one.item.id not in missing.values(), units[one.item.unit], not one.own, one.item.line

    return [sorted(group, key=place) for group in groups if len(group) > 1]


def _are_of_one_feature(one: _LeftOut, other: _LeftOut, missing: Mapping[str, str], mixins: Mapping[str, str]) -> bool:
    """Whether two questions share a local or a missing mixin, or one asks about a GPU method that the other uses."""
    if one.shares_local_with(other):
        return True
    needed = ({mixins[name] for name in item.methods if name in mixins} for item in (one, other))
    if set.intersection(*needed):
        return True
    return any(
        missing.get(name) == a.item.id != b.item.id
        for a, b in ((one, other), (other, one))
        for name in (b.methods if b.item.from_gpu else ())
    )


def _find_set_once(text: str) -> frozenset[str]:
    """Return the names that exactly one statement of a unit binds."""
    counts = Counter(name for node in (flatten(text) if parses(text) else ()) for name in binds(node))
    return frozenset(name for name, number in counts.items() if number == 1)


def _find_all_set(text: str) -> frozenset[str]:
    """Return the names that a passage sets in any way, as a loop variable or a parameter, too; maybe a few more."""
    found = set(find_plain_names(text)[0])
    for line in _read_logical_lines(text):
        for match in _SETTING.finditer(" ".join(line)):
            found |= {*_WORD.findall(match[0])}
    return frozenset(found)


_WORD = re.compile(r"\w+")
_SETTING = re.compile(
    r"\bfor .*? in\b|\b(?:as|import|def|class|lambda|del) [^:]*|\w+ (?::|\+|-|\*\*?|//?|%|@|&|\||\^|<<|>>)="
)


@lru_cache(maxsize=256)
def find_plain_names(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the plain names that a passage sets, and all that it mentions, without attributes and call keywords.

    Reads word by word, because a passage may be only the head of a block, which is not valid Python.
    """
    bound: set[str] = set()
    used: set[str] = set()
    for line in _read_logical_lines(text):
        depth = 0
        equals_at = next((k for k, word in enumerate(line) if word == "=" and _count_open(line[:k]) == 0), 0)
        for k, word in enumerate(line):
            depth += (word in OPENERS) - (word in CLOSERS)
            if not word.isidentifier() or iskeyword(word) or (k and line[k - 1] == "."):
                continue
            if depth and line[k + 1 : k + 2] == ["="]:
                continue
            used.add(word)
            if k < equals_at and line[k + 1 : k + 2] != ["."] and not depth:
                bound.add(word)
    return frozenset(bound), frozenset(used)


def _count_open(words: Sequence[str]) -> int:
    return sum((word in OPENERS) - (word in CLOSERS) for word in words)


def _read_logical_lines(text: str) -> Iterator[list[str]]:
    """Yield the words of each logical line, without comments and strings; stops where the text is not valid Python."""
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
