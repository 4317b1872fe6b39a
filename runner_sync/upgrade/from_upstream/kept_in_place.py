"""Keeps a passage of a copy in place that upstream took out into a new method, if omni has code of its own inside.

Comes in: a draft, its base, and the methods of the upstream class before and now. Goes out: base and upstream's text
with the passage in place of the call, and questions about the merged draft. May touch: nothing.

A call would leave omni's additions no place. With the passage in place, base, copy and upstream have the same shape, so
that upstream's changes to the passage arrive as well::

    upstream, old   rows = run(); cache(rows)                  upstream, new   rows = self._run()
    copy            rows = run(); rows = fix(rows); cache(rows)
    result          rows = run(2); rows = fix(rows); cache(rows)

At the next upgrade the base calls the method, and the copy still has its code: then base and upstream both get it in
place, so that the changes of that method go into the copy.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from runner_sync import lineage, merge
from runner_sync.confidence import CONTESTED, INFERRED
from runner_sync.lineage.expanding import expand_call
from runner_sync.lineage.undivided import is_mostly_in
from runner_sync.statements import Node, tree_of
from runner_sync.statements.likeness import similarity
from runner_sync.statements.mentioning import bound_anywhere
from runner_sync.texts.member_text import canonical, is_same, self_names
from runner_sync.thresholds import SIMILAR
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_upstream.class_methods import Methods
from runner_sync.upgrade.from_upstream.extracted import FEWEST, find_inside
from runner_sync.upgrade.questions.reviews import Shown, ask


class Kept(NamedTuple):
    """A method of upstream whose code the copy has in place of the call."""

    name: str
    inside: tuple[str, ...] = ()
    """Omni's statements inside that code."""
    old: str = ""
    """The method at the base, if upstream had it there."""
    is_merged: bool = True
    """Whether the code could be put in place of the call in base and upstream's text."""


class Sides(NamedTuple):
    """Base and upstream's text with the passages in place, and the methods whose code that is."""

    base: str
    upstream: str
    kept: tuple[Kept, ...] = ()


def put_back(copy: str, *, base: str, upstream: str, methods: Methods) -> Sides:
    """Return base and upstream's text with the methods in place whose code ``copy`` has where the base calls them.

    Tells the methods among them that upstream changed. If a method cannot be put in place in both texts, its call stays
    in both.
    """
    kept: list[Kept] = []
    tried: set[str] = set()
    while names := sorted(_find_in_place(copy, base, methods) - tried):
        name = names[0]
        tried.add(name)
        old, new = methods.old[name], methods.new.get(name, "")
        taken = bound_anywhere(tree_of(copy))
        olds, news = expand_call(base, name, old, taken=taken), upstream
        if is_called := name in self_names(upstream):
            news = expand_call(upstream, name, new, taken=taken)
        is_merged = olds != base and (news != upstream or not is_called)
        if is_merged:
            base, upstream = olds, news
        if is_called and not is_same(old, new):
            kept.append(Kept(name, old=old, is_merged=is_merged))
    return Sides(base, upstream, tuple(kept))


def _find_in_place(copy: str, base: str, methods: Methods) -> set[str]:
    """Return the methods that the base calls and whose code ``copy`` has instead, unless omni overrides them."""
    overridden = methods.new.keys() - methods.reached.keys()
    called = self_names(base) & methods.old.keys() - overridden - self_names(copy)
    beyond = lineage.fingerprint(copy) - lineage.fingerprint(base)
    return {name for name in called if _count_telling(methods.old[name], beyond) >= lineage.FEWEST}


def _count_telling(method: str, there: lineage.Fingerprint) -> int:
    """Count the telling statements of a method that are ``there``."""
    return sum(node.is_telling and node.canon in there for node in lineage.list_nodes(method)[1:])


def keep_in_place(copy: str, own: Collection[str], *, base: str, upstream: str, methods: Methods) -> Sides:
    """Return base and upstream's text with the passages in place that ``copy`` has omni's ``own`` code inside of."""
    search = _Search(copy, frozenset(own), base, upstream, methods)
    kept: list[Kept] = []
    made = upstream
    while (found := search.find_next(made, {one.name for one in kept})) is not None:
        one, made = found
        kept.append(one)
    return Sides(base, made, tuple(kept))


@dataclass(frozen=True, slots=True)
class _Search:
    copy: str
    own: frozenset[str]
    base: str
    upstream: str
    methods: Methods

    def find_next(self, text: str, done: Collection[str]) -> tuple[Kept, str] | None:
        """Return the next method whose code stays in place, and ``text`` with that code; ``None`` if there is none."""
        for name in sorted(self._find_called(text).difference(done)):
            helper = self._put_in_place_inside(name, frozenset({name}))
            inside = self._find_inside(helper)
            made = expand_call(text, name, helper, taken=self._taken) if inside else text
            if made != text:
                return Kept(name, inside), made
        return None

    def _find_called(self, text: str) -> frozenset[str]:
        """Return the new methods that ``text`` calls, and neither the base nor the copy."""
        return (self_names(text) & self.methods.added.keys()) - self_names(self.base) - self_names(self.copy)

    def _put_in_place_inside(self, name: str, above: frozenset[str]) -> str:
        """Return the text of a new method with those in place that it calls and that omni's code stands inside of."""
        text = self.methods.added[name]
        for inner in sorted(self._find_called(text) - above):
            helper = self._put_in_place_inside(inner, above | {inner})
            if self._find_inside(helper):
                text = expand_call(text, inner, helper)
        return text

    def _find_inside(self, helper: str) -> tuple[str, ...]:
        """Return omni's statements inside the passage of the copy that ``helper`` has; none without such a passage."""
        [alike] = merge.rename_alike(self.base, [helper])
        gone = lineage.fingerprint(self.base).keys() - lineage.fingerprint(self.upstream).keys()
        if not is_mostly_in(alike, self.base):
            return ()
        moved = lineage.fingerprint(alike).keys() & gone
        repeated = lineage.fingerprint(alike) & (lineage.fingerprint(self.base) - lineage.fingerprint(self.upstream))
        nodes = lineage.list_nodes(self.copy)
        missing = [one for one in lineage.list_nodes(self.base) if one.canon in gone - {node.canon for node in nodes}]
        inside = [
            *find_inside(nodes, moved, self.own, repeated=repeated),
            *self._find_edited_ends(lineage.fingerprint(alike).keys() | gone, moved, missing),
        ]
        return tuple(dict.fromkeys(node.text for node in sorted(inside, key=lambda node: node.start)))

    def _find_edited_ends(
        self, passage: Collection[str], moved: Collection[str], missing: Sequence[Node]
    ) -> list[Node]:
        """Return omni's forms of ``missing`` statements directly in front of the passage or behind it."""
        code = [node for node in lineage.list_nodes(self.copy) if node.is_telling]
        found = []
        for k, node in enumerate(code):
            beside = (code[k + 1 : k + 1 + FEWEST], code[max(k - FEWEST, 0) : k])
            is_end = any(
                len(run) == FEWEST
                and all(one.canon in passage for one in run)
                and any(one.canon in moved for one in run)
                for run in beside
            )
            if is_end and node.canon in self.own and any(similarity(node, one) >= SIMILAR for one in missing):
                found.append(node)
        return found

    @property
    def _taken(self) -> frozenset[str]:
        return bound_anywhere(tree_of(self.copy))


def ask_about_kept(draft: Draft, path: str, kept: Sequence[Kept], new: Mapping[str, str]) -> Draft:
    """Return a merged copy with a question at each passage that upstream has in a method, which the copy does not call.

    ``new`` are the methods of the upstream class now.
    """
    for one in kept:
        place = _find_place(draft.text, one, new[one.name])
        omni = "\n".join(one.inside) or (place.text if place is not None else "")
        shown = Shown(base=one.old, omni=omni, upstream=new[one.name], chosen=omni)
        confidence, line = INFERRED if one.is_merged else CONTESTED, place.start if place is not None else 1
        draft = ask(draft, path, reason=_word(one), confidence=confidence, shown=shown, line=line)
    return draft


def _word(kept: Kept) -> str:
    if not kept.old:
        return (
            f"upstream took the code around omni's additions out into {kept.name} and calls that; the code stays in "
            "place here, with upstream's changes to it"
        )
    end = "the change went into that code" if kept.is_merged else "that code stays as it is"
    return f"upstream changed {kept.name}, whose code this copy has in place of the call; {end}"


def _find_place(text: str, kept: Kept, helper: str) -> Node | None:
    """Return the first statement of a text that is omni's inside the code of a method, else new there, else of it.

    One that the text has only once comes first: others may stand elsewhere, too.
    """
    nodes = [node for node in lineage.list_nodes(text)[1:] if node.is_telling]
    times = Counter(node.canon for node in nodes)
    inside = {canon for one in kept.inside for canon in canonical(one)}
    before, now = lineage.fingerprint(kept.old).keys(), lineage.fingerprint(helper).keys()
    wanted = (inside, now - before, before)
    found = ([node for node in nodes if node.canon in canons] for canons in wanted)
    return next((min(one, key=lambda node: times[node.canon] > 1) for one in found if one), None)
