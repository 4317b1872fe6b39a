"""Follows helpers that the GPU runner moved into functions of other omni modules.

Comes in: a ``ModuleJob``, its GPU side, drafts. Goes out: texts, and drafts with questions. May touch: nothing.

NPU may keep such a helper as a method, or its statements in line. A merge of the two runners misses changes made with
the move, because neither runner contains the new text. For example `_build_omni_mm_payload`, part of NPU's
``sample_tokens``, became `build_omni_mm_payload` of ``worker/output/payload_build.py`` and stopped mixing up requests::

    old twin   payload = self._build(rows)      NPU   payload = {}
    new twin   payload = build(rows)                  for row in rows: …
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from runner_sync.confidence import CONTESTED, INFERRED
from runner_sync.edits import lines_of
from runner_sync.lineage import inlined
from runner_sync.lineage.inlined import Twin
from runner_sync.listing import at_most
from runner_sync.model import ReviewItem
from runner_sync.statements import first_function
from runner_sync.texts.member_text import canonical, find_reached, self_names
from runner_sync.thresholds import NAMED, QUOTED
from runner_sync.units.texts import select_members
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.twin.computed import find_computed, find_passage
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.from_gpu.twin.new_homes import Homes, find_new_homes
from runner_sync.upgrade.from_gpu.twin.readings import translate_units
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import Shown, make_review
from runner_sync.upgrade.revision import ModuleRevision


@dataclass(frozen=True, slots=True)
class Moves:
    """The helpers that moved out of the twin's classes since a revision, cached per revision and class."""

    job: ModuleJob
    side: GpuSide
    _known: dict[tuple[str, str], Homes] = field(default_factory=dict)

    def find_since(self, then: ModuleRevision, owner: str) -> Homes:
        """Return methods that the twin of ``owner`` had in ``then`` and now imports as functions.

        A function matches if it computes most of the method's statements, or resembles it in name and words.
        """
        key = (then.text, owner)
        if key not in self._known:
            self._known[key] = self._find_homes(then, owner)
        return self._known[key]

    def _find_homes(self, then: ModuleRevision, owner: str) -> Homes:
        gone = {
            name: text
            for name, text in select_members(translate_units(self.job, then), owner).items()
            if f"{owner}.{name}" not in self.side.new and first_function(text) is not None
        }
        return find_new_homes(gone, then, self.job) if gone else {}

    def find_in_line(self, draft: Draft, then: ModuleRevision) -> Homes:
        """Return helpers moved since ``then`` that the draft has in line and does not call, but its twin called."""
        found = self.find_since(then, draft.owner)
        if not found:
            return {}
        units = translate_units(self.job, then)
        methods = select_members(units, draft.owner)
        formerly_called = find_reached(units.get(draft.name, ""), methods) - self_names(draft.text)
        return {
            name: home
            for name, home in found.items()
            if name in formerly_called and find_passage(methods[name], draft.text) is not None
        }

    def ask(self, draft: Draft) -> Draft:
        """Ask about each helper that the draft has in line and the twin now keeps in another module."""
        base = self.side.bases.get(draft.name)
        if base is None or draft.removed or not draft.owner:
            return draft
        units, moved = translate_units(self.job, base.side), self.find_since(base.side, draft.owner)
        for name in self.find_in_line(draft, base.side):
            draft = _ask_about_moved(draft, self.job, units[f"{draft.owner}.{name}"], name, moved)
        return draft


def inline_moved_helpers(method: str, old: Twin, new: Twin, moved: Homes) -> tuple[str, str]:
    """Like `inlined.inline_helpers`, but treat the functions that helpers ``moved`` to as methods.

    A remaining call names the function in both texts: for a runner that calls neither form, the move is no change.
    """
    methods = {name: _call_as_methods(text, moved) for name, text in new[1].items()}
    methods |= {name: _call_as_methods(home.text, moved) for name, home in moved.items()}
    made = inlined.inline_helpers(method, old, (_call_as_methods(new[0], moved), methods))
    was, now = (_call_as_functions(text, moved) for text in made)
    return was, now


def _call_as_methods(text: str, moved: Homes) -> str:
    for name, home in moved.items():
        given = r"\(\s*self\s*(?:,\s*)?" if home.gets_self else r"\("
        text = re.sub(rf"(?<![\w.])(?<!def ){re.escape(home.bound)}{given}", f"self.{name}(", text)
    return text


def _call_as_functions(text: str, moved: Homes) -> str:
    for name, home in moved.items():
        call = rf"(?<![\w.])(?:self|cls|[A-Z]\w*)\.{name}\("
        if home.gets_self:
            text = re.sub(rf"{call}(?=\))", f"{home.bound}(self", text)
        text = re.sub(call, f"{home.bound}(self, " if home.gets_self else f"{home.bound}(", text)
    return text


def drop_call_questions(items: Sequence[ReviewItem], moved: Homes) -> list[ReviewItem]:
    """Drop questions about the call of a moved helper, which changed nothing here.

    ``Moves.ask`` reports what the helper does now.
    """
    calls = [re.compile(rf"(?<![\w.]){re.escape(home.bound)}\(") for home in moved.values()]

    def is_about_call(item: ReviewItem) -> bool:
        return item.omni == item.chosen and any(call.search(item.base) and call.search(item.upstream) for call in calls)

    return [item for item in items if not is_about_call(item)]


def _ask_about_moved(draft: Draft, job: ModuleJob, then: str, name: str, moved: Homes) -> Draft:
    """Ask where the draft has in line what the helper ``then`` did."""
    rows = find_passage(then, draft.text)
    assert rows is not None
    passage = textwrap.dedent(lines_of(draft.text, *rows))
    news = describe_changes(then, name, moved, have=draft.text)
    reason = f"the GPU runner moved this code to {moved[name].dotted}{news or ', where it does the same'}"
    shown = Shown(base=then, omni=passage, upstream=moved[name].whole, chosen=passage)
    confidence = CONTESTED if news else INFERRED
    item = make_review(draft, job.path, reason=reason, confidence=confidence, shown=shown, line=rows[0], from_gpu=True)
    return draft.with_questions(item if news else replace(item, in_file=False))


def describe_changes(then: str, name: str, moved: Homes, *, have: str) -> str:
    """Return the end of a reason: how the moved helper ``name`` differs from ``then``; empty if it does not.

    Skips what NPU's text, ``have``, already does.
    """
    plain = {one: replace(home, bound=home.name) for one, home in moved.items()}
    home, was = moved[name], _call_as_functions(then, plain)
    known = _find_values(was) | _find_values(_call_as_functions(have, plain))
    now = [one for text in (home.text, *home.around) for one in find_computed(text)]
    if news := [one.head for one in now if one.value not in known and not one.head.startswith("def ")]:
        return f"; new there: {_quote(news)}"
    values = {one.value for one in now}
    if lost := [one.head for one in find_computed(was) if one.value not in values]:
        return f"; no longer there: {_quote(lost)}"
    same = {*canonical(was), *canonical(have)}
    other = [canon for canon in canonical(home.text)[1:] if canon not in same]
    return f"; new there: {_quote(other)}" if other else ""


def _find_values(text: str) -> set[str]:
    return {one.value for one in find_computed(text)}


def _quote(heads: Sequence[str]) -> str:
    shortened = [head if len(head) <= QUOTED else head[: QUOTED - 1].rstrip() + "…" for head in dict.fromkeys(heads)]
    return at_most(NAMED, [f"`{one}`" for one in shortened])
