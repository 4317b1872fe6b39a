"""Asks where a helper of the GPU twin changed that NPU lacks, and an NPU method has code of it in place.

Comes in: drafts, a ``ModuleJob`` and the GPU side. Goes out: the drafts with questions. May touch: nothing.

`lineage.inlined` merges the change of a helper whose statements NPU mostly has. A small helper, or one whose code NPU
has in another form, stays a call in both texts of the twin, so that its change would not be seen::

    GPU twin   ids = self._call(take, ids, rows)      _call:  return take(ids=ids, rows=rows, mask=self.mask)
    NPU        ids = self.model.take(ids=ids, rows=rows)
"""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from runner_sync.confidence import CONTESTED
from runner_sync.lineage import dice, fingerprint, has_change, list_nodes
from runner_sync.lineage.inlined import find_inlined_on_both_sides
from runner_sync.model import ReviewItem
from runner_sync.statements import Node
from runner_sync.statements.calls import words_called
from runner_sync.texts.member_text import find_reached, is_same_but_for_hints, self_names, split_head
from runner_sync.thresholds import DISTINCT
from runner_sync.units.texts import select_members
from runner_sync.upgrade.draft import Draft, list_members
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide
from runner_sync.upgrade.from_gpu.twin.readings import translate_units
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.reviews import make_not_ported_review


def ask_about_changed_helpers(drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> list[Draft]:
    """Ask about each changed helper that the twin of a method calls, that NPU lacks, and that the method has in place.

    Skips helpers whose change was ported or is asked about. Statements and calls that other code of the twin's class
    or vllm-ascend has, too, do not tell that a helper is in place.
    """
    return [
        draft.with_questions(*_find_questions(draft, drafts, job, side))
        if draft.chosen and draft.owner and not draft.removed and draft.name in side.old
        else draft
        for draft in drafts
    ]


@dataclass(frozen=True, slots=True)
class _Own:
    """Statements and called names by which a helper is recognised, because no code outside of helpers has them."""

    statements: AbstractSet[str]
    called: AbstractSet[str]

    def is_in(self, node: Node) -> bool:
        """Whether a statement of NPU's is one of the helper's, or calls what only the helper calls."""
        return node.canon in self.statements or self.has_call(node)

    def has_call(self, node: Node) -> bool:
        """Whether a statement calls what only the helper calls."""
        return not self.called.isdisjoint(words_called(node.canon))


def _find_questions(draft: Draft, drafts: Sequence[Draft], job: ModuleJob, side: GpuSide) -> Iterator[ReviewItem]:
    old, new = (
        select_members(table, draft.owner) for table in (translate_units(job, side.bases[draft.name].side), side.new)
    )
    inherited = job.hierarchy.of(draft.owner).members.keys() | job.hierarchy.from_mixins(draft.owner)
    have = {other.member for other in list_members(drafts, draft.owner)} | inherited | self_names(draft.text)
    helpers = {name: text for name, text in new.items() if name not in have}
    reached = find_reached(new.get(draft.member, ""), helpers)
    changed = [name for name in helpers if name in reached and name in old]
    changed = [name for name in changed if not is_same_but_for_hints(old[name], new[name])]
    before = read_before({name: old[name] for name in changed}, draft.owner, job, side)
    if not before:
        return
    merged = find_inlined_on_both_sides(
        _before_port(draft), *((table.get(draft.member, ""), _without(table, have)) for table in (old, new))
    )
    others = [text for name, text in new.items() if name not in reached]
    upstream = [job.upstream.new.text] if job.upstream.new is not None else []
    elsewhere = [text for text in (*others, *upstream, draft.upstream or "") if text]
    for name in before:
        own, sides = _find_own(before[name], elsewhere), (before[name], new[name])
        if name not in merged and not _has_change(draft.text, *sides, own):
            nodes = list_nodes(draft.text)[1:]
            yield from ask_at(draft, job, name, sides, [n for n in nodes if not n.is_comment and own.is_in(n)])


def read_before(changed: Mapping[str, str], owner: str, job: ModuleJob, side: GpuSide) -> Mapping[str, str]:
    """Return the old texts of those changed helpers that are not settled, as of the last upgrade if there was one.

    The lock keeps the older base of a method whose twin did not change with its helper. Without ``owner``, the helpers
    are functions of the module.
    """
    if job.twin.settled is None or job.settings.only:
        return changed
    units = translate_units(job, job.twin.settled)
    settled, prefix = (select_members(units, owner), f"{owner}.") if owner else (units, "")
    return {name: settled.get(name, text) for name, text in changed.items() if f"{prefix}{name}" not in side.unchanged}


def _without(table: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    return {name: text for name, text in table.items() if name not in names}


def _before_port(draft: Draft) -> str:
    return next(stage.text for stage in reversed(draft.stages) if stage.source != "gpu")


def _find_own(helper: str, elsewhere: Sequence[str]) -> _Own:
    """Return what a helper has and no text ``elsewhere``.

    A call of another method of the runner is no sign of the helper, nor is a short statement or one about one name.
    """
    nodes = [node for node in list_nodes(helper)[1:] if node.is_telling and not node.is_clause]
    telling = {node.canon for node in nodes if node.weight >= DISTINCT and len(node.names) > 1}
    called = words_called(helper) - self_names(helper) - vars(builtins).keys()
    return _Own(
        telling.difference(*(fingerprint(text) for text in elsewhere)),
        called.difference(*(words_called(text) for text in elsewhere)),
    )


def _has_change(text: str, old: str, new: str, own: _Own) -> bool:
    """Whether a method has the change of a helper's body, and calls nothing of its own that the helper dropped."""
    before, after = (fingerprint(body) for body in (split_head(old)[1], split_head(new)[1]))
    ended = own.called - words_called(new)
    return before != after and has_change(fingerprint(text), before, after) and ended.isdisjoint(words_called(text))


def ask_at(
    draft: Draft, job: ModuleJob, name: str, sides: tuple[str, str], places: Sequence[Node]
) -> Iterator[ReviewItem]:
    """Ask about the change of a helper at that of the draft's ``places`` which is most like what changed."""
    if not places:
        return
    then, now = _list_changed(*sides)
    place = max(places, key=lambda node: max((dice(node.words, one.words) for one in (*then, *now)), default=0.0))
    why = f"the GPU runner changed {name}, whose code this method has in place"
    base, upstream = ("\n".join(node.text for node in nodes) for nodes in (then, now))
    item = make_not_ported_review(
        draft, job.path, why=why, confidence=CONTESTED, base=base, omni=place.text, upstream=upstream
    )
    yield replace(item, in_file=True, line=place.start, end_line=place.end)


def _list_changed(old: str, new: str) -> tuple[list[Node], list[Node]]:
    """Return the statements of two texts that differ, without comments."""
    then, now = ([node for node in list_nodes(text) if not node.is_comment] for text in (old, new))
    match = SequenceMatcher(None, [node.canon for node in then], [node.canon for node in now], autojunk=False)
    codes = [code for code in match.get_opcodes() if code[0] != "equal"]
    return [n for _, a, b, _, _ in codes for n in then[a:b]], [n for _, _, _, a, b in codes for n in now[a:b]]
