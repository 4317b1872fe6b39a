"""Helpers that the GPU runner keeps as functions of another omni module now, and what changed with the move.

Comes in: a ``ModuleJob``, its GPU side, drafts. Goes out: texts, and drafts with questions. May touch: nothing.

NPU may have such a helper as a method of its own, or its statements in line; a merge of the two runners follows
neither, because the new text stands in neither. For example `_build_omni_mm_payload`, a part of NPU's
``sample_tokens``, became `build_omni_mm_payload` of ``worker/output/payload_build.py`` and stopped to mix up requests::

    old twin   payload = self._build(rows)      NPU   payload = {}
    new twin   payload = build(rows)                  for row in rows: …
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from runner_sync.compose.member_text import canonical, names_called, self_names
from runner_sync.confidence import CONTESTED, INFERRED
from runner_sync.listing import at_most
from runner_sync.model import ReviewItem
from runner_sync.statements import first_function
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin import inlined
from runner_sync.upgrade.from_gpu.twin.computed import computed, passage
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.from_gpu.twin.inlined import Twin
from runner_sync.upgrade.from_gpu.twin.new_homes import Home, Homes, in_npu_words, new_functions, new_homes
from runner_sync.upgrade.from_gpu.twin.readings import translated_units
from runner_sync.upgrade.job import ModuleJob, ModuleRevision
from runner_sync.upgrade.questions.reviews import Shown, review

NAMED = 3
"""How many changed statements a reason quotes at most."""

QUOTED = 70
"""How many characters of a statement a reason quotes at most."""


@dataclass(frozen=True, slots=True)
class Moves:
    """What moved out of the twin's classes since some of its revisions; found once for each."""

    job: ModuleJob
    side: GpuSide
    _known: dict[tuple[str, str], Homes] = field(default_factory=dict)

    def since(self, then: ModuleRevision, owner: str) -> Homes:
        """The methods of ``owner``'s twin that it had in the module ``then`` and has no more, but imports as a function
        since.

        The function resembles the method: most of the statements are the same, or the name and the words are.
        """
        key = (then.text, owner)
        if key not in self._known:
            self._known[key] = self._found(then, owner)
        return self._known[key]

    def _found(self, then: ModuleRevision, owner: str) -> Homes:
        prefix = f"{owner}."
        gone = {
            name.removeprefix(prefix): text
            for name, text in translated_units(self.job, then).items()
            if owner and name.startswith(prefix) and name not in self.side.new and first_function(text) is not None
        }
        return new_homes(gone, then, self.job) if gone else {}

    def in_line(self, draft: Draft, then: ModuleRevision) -> Homes:
        """Those moved since ``then`` whose statements the draft has in line, and which its twin used and it does not
        call."""
        found = self.since(then, draft.owner)
        if not found:
            return {}
        units = translated_units(self.job, then)
        free = _reached(units.get(draft.name, ""), draft.owner, units) - self_names(draft.text)
        return {
            name: home
            for name, home in found.items()
            if name in free and passage(units[f"{draft.owner}.{name}"], draft.text) is not None
        }

    def with_new_home(self, item: ReviewItem, draft: Draft, then: ModuleRevision) -> ReviewItem:
        """The question, with a hint if the twin now calls a function in the place of statements that stay here.

        The function is one that it imports since ``then``. The question keeps its id: it is the same decision.
        """
        called = {*names_called(item.upstream)} - {*names_called(item.base)}
        if not called or not item.in_file or not item.chosen or item.omni != item.chosen:
            return item
        for home in (in_npu_words(one, [], self.job) for one in new_functions(then, self.job) if one.bound in called):
            if passage(home.text, draft.text) is not None:
                was = translated_units(self.job, then).get(draft.name, "")
                news = _news(home, _values(was) | _values(draft.text))
                said = f", and new in that is {_quoted(news)}" if news else ""
                return replace(item, reason=f"{item.reason}; it calls {home.dotted} in its place{said}")
        return item

    def ask(self, draft: Draft) -> Draft:
        """The draft, with a question at the statements of each helper that the twin keeps in another module now."""
        base = self.side.bases.get(draft.name)
        if base is None or draft.removed or not draft.owner:
            return draft
        units, moved = translated_units(self.job, base.side), self.since(base.side, draft.owner)
        for name in self.in_line(draft, base.side):
            draft = _asking(draft, self.job, units[f"{draft.owner}.{name}"], name, moved)
        return draft


def _reached(text: str, owner: str, units: Mapping[str, str]) -> set[str]:
    """The methods of a class that a method calls, directly or through others."""
    found: set[str] = set()
    todo = [text]
    while todo:
        more = {name for name in self_names(todo.pop()) - found if f"{owner}.{name}" in units}
        found |= more
        todo += [units[f"{owner}.{name}"] for name in more]
    return found


def sides_with_helpers(method: str, old: Twin, new: Twin, moved: Homes) -> tuple[str, str]:
    """`inlined.sides_with_helpers`, with the functions that helpers were ``moved`` to followed like methods.

    What stays a call is one of the function in both texts: that the method became a function is no change for a runner
    that calls neither.
    """
    methods = {name: _as_methods_called(text, moved) for name, text in new[1].items()}
    methods |= {name: _as_methods_called(home.text, moved) for name, home in moved.items()}
    made = inlined.sides_with_helpers(method, old, (_as_methods_called(new[0], moved), methods))
    was, now = (_as_functions_called(text, moved) for text in made)
    return was, now


def _as_methods_called(text: str, moved: Homes) -> str:
    for name, home in moved.items():
        given = r"\(\s*self\s*(?:,\s*)?" if home.gets_self else r"\("
        text = re.sub(rf"(?<![\w.])(?<!def ){re.escape(home.bound)}{given}", f"self.{name}(", text)
    return text


def _as_functions_called(text: str, moved: Homes) -> str:
    for name, home in moved.items():
        call = rf"(?<![\w.])(?:self|cls|[A-Z]\w*)\.{name}\("
        if home.gets_self:
            text = re.sub(rf"{call}(?=\))", f"{home.bound}(self", text)
        text = re.sub(call, f"{home.bound}(self, " if home.gets_self else f"{home.bound}(", text)
    return text


def without_calls(items: Sequence[ReviewItem], moved: Homes) -> list[ReviewItem]:
    """The questions without those about the call of a moved helper, which changed nothing here: ``Moves.ask``
    says what the helper does now."""
    calls = [re.compile(rf"(?<![\w.]){re.escape(home.bound)}\(") for home in moved.values()]

    def is_about_call(item: ReviewItem) -> bool:
        return item.omni == item.chosen and any(call.search(item.base) and call.search(item.upstream) for call in calls)

    return [item for item in items if not is_about_call(item)]


def _asking(draft: Draft, job: ModuleJob, then: str, name: str, moved: Homes) -> Draft:
    """The draft, with a question where it does in line what the helper ``then`` did."""
    rows = passage(then, draft.text)
    assert rows is not None
    mine = textwrap.dedent("\n".join(draft.text.split("\n")[rows[0] - 1 : rows[1]]))
    news = changes(then, name, moved, have=draft.text)
    reason = f"the GPU runner keeps this in {moved[name].dotted} now{news or ', where it does the same'}"
    shown = Shown(base=then, omni=mine, upstream=moved[name].whole, chosen=mine)
    confidence = CONTESTED if news else INFERRED
    item = review(draft, job.path, reason=reason, confidence=confidence, shown=shown, line=rows[0], from_gpu=True)
    return draft.asking(item if news else replace(item, in_file=False))


def changes(then: str, name: str, moved: Homes, *, have: str) -> str:
    """What the helper ``name`` does otherwise at its new home than ``then``, as the end of a reason; empty if nothing.

    What NPU's text, ``have``, does, too, is no news to it.
    """
    plain = {one: replace(home, bound=home.name) for one, home in moved.items()}
    home, was = moved[name], _as_functions_called(then, plain)
    known = _values(was) | _values(_as_functions_called(have, plain))
    if news := _news(home, known):
        return f"; new in it: {_quoted(news)}"
    theirs = {value for text in (home.text, *home.around) for value in _values(text)}
    if lost := [one.head for one in computed(was) if one.value not in theirs]:
        return f"; gone from it: {_quoted(lost)}"
    same = {*canonical(was), *canonical(have)}
    other = [canon for canon in canonical(home.text)[1:] if canon not in same]
    return f"; new in it: {_quoted(other)}" if other else ""


def _news(home: Home, known: Collection[str]) -> list[str]:
    """The statements at a helper's new home that compute something else than what is ``known``."""
    now = [one for text in (home.text, *home.around) for one in computed(text)]
    return [one.head for one in now if one.value not in known and not one.head.startswith("def ")]


def _values(text: str) -> set[str]:
    return {one.value for one in computed(text)}


def _quoted(heads: Sequence[str]) -> str:
    told = [head if len(head) <= QUOTED else head[: QUOTED - 1].rstrip() + "…" for head in dict.fromkeys(heads)]
    return at_most(NAMED, [f"`{one}`" for one in told])
