"""Links review items that are one decision, so that nobody undoes only one of them.

Comes in: drafts with their questions, and the twins' texts. Goes out: the drafts, each question naming the others. May
touch: nothing.

One item is about a ported member, and the other about a passage that calls it, or would call it and was left out.
Undoing one would leave a helper that nothing calls, or a call of a missing helper. Or one passage came while the other
half of its feature was left out: both use the same object (``objects_used``), or are ``counterparts`` of upstream's
class. For example, code that drains a cache is idle if nothing schedules its writes, and a step that began without a
call that saves it is half of what omni's class has for steps. The other half may stand in a GPU method that NPU lacks
and that the code left out calls. Or one passage sets a new local of its method, or adds a parameter to it, and
the other reads it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from runner_sync.listing import at_most
from runner_sync.model import ReviewItem
from runner_sync.statements import parameters, parse_function
from runner_sync.texts.member_text import self_mentions
from runner_sync.thresholds import NAMED
from runner_sync.upgrade.draft import Draft, list_members, list_owners
from runner_sync.upgrade.job import Hierarchy, Inherited
from runner_sync.upgrade.questions.counterparts import find_asked_counterparts
from runner_sync.upgrade.questions.objects_used import ObjectMember, find_object_members, find_related
from runner_sync.upgrade.questions.one_feature import find_plain_names


def name_partners(drafts: Sequence[Draft], twins: Mapping[str, str], hierarchy: Hierarchy) -> list[Draft]:
    """Add the ids of its partners to the reason of each question; ``twins`` are the GPU runner's units.

    The ids do not change, because an item is the same decision whatever else comes with it.
    """
    owners = list_owners(drafts)
    partners = {owner: _find_partners(list_members(drafts, owner), twins, hierarchy.of(owner)) for owner in owners}
    return [
        draft
        if draft.removed or not draft.owner
        else draft.with_each_question(partial(_name_partners_of, partners[draft.owner]))
        for draft in drafts
    ]


def _find_partners(
    class_drafts: Sequence[Draft], twins: Mapping[str, str], inherited: Inherited
) -> dict[str, dict[str, str]]:
    """Return ``{id: ids of its partners, with a note}`` for the items of one class, in the order found."""
    partners: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for one, other, *behind in (
        *(pair for draft in class_drafts for pair in _find_members_used(draft, class_drafts)),
        *_find_halves(class_drafts, twins, inherited),
        *find_asked_counterparts(class_drafts),
        *(pair for draft in class_drafts for pair in _find_setters_and_readers(draft)),
    ):
        partners[one].setdefault(other, f" (it left out {behind[0]})" if behind else "")
        partners[other].setdefault(one, "")
    return partners


def _find_members_used(draft: Draft, class_drafts: Sequence[Draft]) -> Iterator[tuple[str, str]]:
    """Yield pairs of ids: an item about GPU code, and one about an added member of the class that this code uses."""
    added = {d.member: d.reviews[0].id for d in class_drafts if d.outcome == "added" and d.reviews and not d.split_from}
    for item in draft.reviews:
        used = self_mentions(item.chosen or item.upstream) if item.from_gpu else frozenset[str]()
        yield from ((item.id, other) for other in sorted(added[name] for name in used & added.keys() - {draft.member}))


def _find_halves(
    class_drafts: Sequence[Draft], twins: Mapping[str, str], inherited: Inherited
) -> Iterator[tuple[str, ...]]:
    """Yield pairs of ids: an item about code that came, and an item about code that was left out.

    Both use members of one object and one feature; what omni defines is a member of the runner itself. The first one's
    member is new in the class, and no code of the class uses the second one's. A third element names that member if the
    item does not show it, because a GPU method that the class lacks uses it.
    """
    ported = [(draft, item) for draft in class_drafts for item in draft.reviews if item.from_gpu]
    brought = [(draft, item) for draft, item in ported if _has_come(item)]
    left_out = [
        (draft, item) for draft, item in ported if item.keeps_omni and item.omni.strip() != item.upstream.strip()
    ]
    if not brought or not left_out:
        return

    def find_all(passage: str, unit: str) -> frozenset[ObjectMember]:
        own = self_mentions(passage) & inherited.omnis.keys()
        return find_object_members(passage, unit) | {ObjectMember("self", name) for name in own}

    used_before, used_now = (
        frozenset(member for text in texts if text for member in find_all(text, text))
        for texts in zip(*((draft.before, draft.text) for draft in class_drafts), strict=True)
    )
    present = inherited.members.keys() | {draft.member for draft in class_drafts if draft.text}
    helpers = {name: text for name, text in twins.items() if name.rpartition(".")[2] not in present}
    absent = [
        *((item.id, find_all(item.upstream, twins.get(draft.name, "")), True) for draft, item in left_out),
        *(
            (item.id, find_object_members(text), False)
            for draft, item in left_out
            for text in _find_called(item, draft.owner, helpers)
        ),
    ]
    for draft, item in brought:
        news = find_all(item.chosen, draft.text) - used_before
        for other, members, is_shown in absent:
            for half in find_related(members - used_now, news):
                yield (item.id, other) if is_shown else (item.id, other, ".".join(half))


def _find_called(item: ReviewItem, owner: str, helpers: Mapping[str, str]) -> Iterator[str]:
    """Yield the texts of the helpers of a class that only upstream's side of an item calls, and of those they call."""
    seen, texts = {f"{owner}.{name}" for name in self_mentions(item.chosen)}, [item.upstream]
    for text in texts:
        new = {f"{owner}.{name}" for name in self_mentions(text)} & helpers.keys() - seen
        seen |= new
        texts += [helpers[name] for name in sorted(new)]
    yield from texts[1:]


def _find_setters_and_readers(draft: Draft) -> Iterator[tuple[str, str]]:
    """Yield pairs of ids: an item about code that sets a new local, and one about code that reads it.

    The first one's code came; or it was left out, and in place of the second one's code omni's own form stays. Skips
    parts of other items, which are linked already; for a part that was left out, yields its whole.
    """
    known = find_plain_names(draft.before)[1] | _find_parameters(draft.before, draft.member)
    for one in draft.reviews if draft.before else ():
        has_come = _has_come(one)
        if (has_come and one.part_of) or (not has_come and one.chosen.strip()):
            continue
        text = one.chosen if has_come else one.upstream
        new = (find_plain_names(text)[0] | _find_parameters(f"{text}\n    pass", draft.member)) - known
        for other in draft.reviews if new else ():
            names = find_plain_names(other.chosen)[1] | find_plain_names(other.upstream)[1]
            whole = one.part_of or one.id
            if other.part_of or not new & names or other.id == whole or other.from_gpu != one.from_gpu:
                continue
            reads_its_own = bool(new & find_plain_names(other.upstream)[0])
            if has_come or (other.keeps_omni and other.chosen.strip() and not reads_its_own):
                yield whole, other.id


def _find_parameters(text: str, name: str) -> frozenset[str]:
    """Return the parameters of the method of that name; a function inside it has parameters of its own."""
    function = parse_function(text)
    if function is None or function.name != name:
        return frozenset()
    return frozenset(parameter.arg for parameter in parameters(function))


def _has_come(item: ReviewItem) -> bool:
    return bool(item.chosen.strip()) and not item.keeps_omni


def _name_partners_of(partners: Mapping[str, Mapping[str, str]], item: ReviewItem) -> ReviewItem:
    named = [identity + note for identity, note in partners.get(item.id, {}).items()]
    return replace(item, reason=f"{item.reason}; decide it together with {at_most(NAMED, named)}") if named else item
