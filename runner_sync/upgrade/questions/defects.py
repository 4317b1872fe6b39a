"""Asks about defects in the text of a method after all merges, whatever the merges decided.

Comes in: drafts. Goes out: the drafts with review items. May touch: nothing.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from runner_sync.confidence import DEFECT
from runner_sync.fitting.handing_over import (
    called_self_method,
    count_bare_values,
    find_added_locals,
    find_handing_methods,
    find_returns,
)
from runner_sync.merge import are_branches, rename_where_free
from runner_sync.model import ReviewItem
from runner_sync.statements import as_module, flatten, parse_unit
from runner_sync.syntax import attribute_by_name, calls_in, self_attribute, self_attributes_set, walk
from runner_sync.texts.assignment import find_early_reads, find_locals, find_unsure_reads
from runner_sync.texts.member_text import find_called_parents, has_class_call, self_names, self_names_of
from runner_sync.texts.names import used_names
from runner_sync.texts.soundness import find_reads, find_repeated_tests, find_unreachable
from runner_sync.units.texts import select_members
from runner_sync.upgrade.draft import Draft, list_members, list_owners
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.lines import strip_lines
from runner_sync.upgrade.questions.reviews import Shown, make_review


def ask_about_order(draft: Draft, path: str) -> Draft:
    """Ask about locals read before anything sets them, and about statements that can never run."""
    return _add_questions(draft, _find_order_defects(draft, path)) if _is_changed(draft) else draft


def _add_questions(draft: Draft, items: Iterable[ReviewItem]) -> Draft:
    """Add questions to the draft.

    If a question of the merge shows the same statement as chosen, the reason joins that question, because one answer
    settles both.
    """
    for item in items:
        same = next((asked for asked in draft.reviews if _shows_same_line(asked, item)), None)
        if same is None:
            draft = draft.with_questions(item)
            continue
        joined = replace(same, reason=f"{same.reason}; {item.reason}", confidence=item.confidence)
        draft = replace(draft, reviews=tuple(joined if asked is same else asked for asked in draft.reviews))
    return draft


def _shows_same_line(asked: ReviewItem, item: ReviewItem) -> bool:
    """Whether a question of the merge shows the line of ``item`` as the first chosen line."""
    chosen = asked.chosen.strip().split("\n")[0].strip()
    return asked.confidence > DEFECT and asked.line == item.line and chosen == item.chosen.strip()


def _find_order_defects(draft: Draft, path: str) -> Iterator[ReviewItem]:
    """Yield the questions of ``ask_about_order``, only about defects that the unit did not have before."""
    known = {*find_early_reads(draft.before)}
    for name, line in find_early_reads(draft.text).items():
        if name not in known:
            yield _make_question(draft, path, reason=f"{name} is read here before anything sets it", line=line)
            known.add(name)
    # Only names that one of these texts always sets. For others, two branches may test the same condition.
    sources = [text for text in (draft.before, draft.upstream or "") if text]
    certain = {name for text in sources for name in find_locals(text)} - known
    certain -= {name for text in sources for name in find_unsure_reads(text)}
    for name, line in find_unsure_reads(draft.text).items():
        if name in certain:
            yield _make_question(draft, path, reason=f"not every path to here sets {name} any more", line=line)
    for find, why in (
        (find_unreachable, "the statement above it always returns, raises, breaks or continues"),
        (find_repeated_tests, "it stands in the else branch of the same condition"),
    ):
        before, now = strip_lines(draft.before), strip_lines(draft.text)
        known_lines = {before[line - 1] for line in find(draft.before)}
        for line in find(draft.text):
            if now[line - 1] not in known_lines:
                yield _make_question(draft, path, reason=f"this can never run: {why}", line=line)


def ask_about_repeated(draft: Draft, twin: str, path: str) -> Draft:
    """Ask about statements that stand more often than in the omni, vllm-ascend or ``twin`` text.

    Two sides may have added the same work at two places. Statements in different branches of a condition count once.
    """
    if not _is_changed(draft):
        return draft
    most: Counter[str] = Counter()
    for text in (draft.before, _rename_in_before(draft), draft.upstream or "", twin):
        most |= Counter(canon for canon, places in _find_distinctive_statements(text).items() for _ in places)
    nodes, positions, counts = flatten(draft.text), _find_distinctive_statements(draft.text), dict[int, int]()
    for canon, (*others, last) in positions.items():
        count = 1 + sum(not are_branches(nodes, other, last) for other in others)
        if count > max(most[canon], 1):
            counts[last] = count
    items = []
    for previous, index in pairwise([-1, *sorted(place for places in positions.values() for place in places)]):
        if index in counts and counts.get(previous) != counts[index]:  # one question for several repetitions in a row
            times = "twice" if counts[index] == 2 else f"{counts[index]} times"
            reason = f"this stands {times} in this method now, more often than on any side: is one of them too many?"
            items.append(_make_question(draft, path, reason=reason, line=nodes[index].start))
    return _add_questions(draft, items)


def _find_distinctive_statements(text: str) -> dict[str, list[int]]:
    """Return ``{statement: positions}`` of distinctive simple statements, except returns, raises and imports."""
    found: dict[str, list[int]] = {}
    for index, node in enumerate(flatten(text) if text.strip() else ()):
        if node.is_telling and not node.compound and node.keyword not in ("return", "raise", "import", "from"):
            found.setdefault(node.canon, []).append(index)
    return found


def ask_about_unknown(name: str, drafts: Iterable[Draft], path: str, *, conditional_in: str) -> list[Draft]:
    """Ask where ``name`` is read and neither the module nor any import at hand defines it.

    ``conditional_in`` is the module that imports the name under a condition. Skips units that bind the name themselves.
    """
    why = f": {conditional_in} imports it under a condition" if conditional_in else ""
    reason = f"{name} is neither defined nor imported here{why}"
    return [
        _add_questions(draft, _ask_at_first(_find_reads(draft, name), draft, path, reason=reason)) for draft in drafts
    ]


def ask_about_meaning(name: str, here: str, there: str, source: str, drafts: Iterable[Draft], path: str) -> list[Draft]:
    """Ask where a line from ``source`` reads a name that ``source`` imports as something else.

    ``here`` and ``there`` are the import statements of this module and of ``source``.
    """
    asked_drafts, source_lines = [], {*strip_lines(source)}
    for draft in drafts:
        before, lines = {*strip_lines(draft.before)}, strip_lines(draft.text)
        new_lines = [k for k in _find_reads(draft, name) if lines[k - 1] in source_lines - before]
        reason = f"{name} comes from `{here}` here, but this line was written for `{there}`"
        asked_drafts.append(draft.with_questions(*_ask_at_first(new_lines, draft, path, reason=reason)))
    return asked_drafts


def _find_reads(draft: Draft, name: str) -> Sequence[int]:
    """Return the lines of a changed unit that read ``name`` as a global; none for an unchanged unit."""
    is_read = _is_changed(draft) and name in used_names(as_module(draft.text))
    return find_reads(draft.text, name) if is_read else ()


def _ask_at_first(lines: Sequence[int], draft: Draft, path: str, *, reason: str) -> Iterator[ReviewItem]:
    """Ask at the first of ``lines`` and count the others; the question's id does not depend on the count."""
    others = len({*lines}) - 1
    if lines:
        item = _make_question(draft, path, reason=reason, line=lines[0])
        more = f" ({others} more {'lines' if others > 1 else 'line'} below)" if others else ""
        yield replace(item, reason=item.reason + more)


def ask_about_unset(drafts: Sequence[Draft], job: ModuleJob, vllm: Sequence[str]) -> list[Draft]:
    """Ask where an attribute is read that nothing sets any more since this upgrade; ``vllm`` are its modules before.

    Includes mere tests (``hasattr(self, "x")``), because the code behind such a test is dead now.
    """
    lost = {
        owner: sorted({*_find_lost_attributes(owner, drafts, job), *_find_lost_in_vllm(owner, drafts, job, vllm)})
        for owner in list_owners(drafts)
    }
    return [
        draft
        if draft.removed
        else _add_questions(draft, _ask_about_unset_in(draft, lost.get(draft.owner, ()), job.path))
        for draft in drafts
    ]


def _find_lost_attributes(owner: str, drafts: Sequence[Draft], job: ModuleJob) -> list[str]:
    """Return attributes that methods of a class set before this upgrade and that nothing sets now."""
    members = [draft for draft in drafts if draft.owner == owner]
    changed = [draft for draft in members if draft.removed or draft.text != draft.before]
    before = {name for draft in changed for name in _find_set_attributes(draft.before)}
    now = [*(draft.text for draft in members if not draft.removed), *_iterate_other_texts(owner, job)]
    return sorted(before - _find_set_among(before, now))


def _find_lost_in_vllm(owner: str, drafts: Sequence[Draft], job: ModuleJob, vllm: Iterable[str]) -> set[str]:
    """Return attributes that vLLM's modules set before, and neither the vLLM to run on nor anything here sets now."""
    inherited = job.hierarchy.inherited.get(owner)
    if inherited is None or not inherited.vllm:
        return set()
    members = [draft.text for draft in list_members(drafts, owner)]
    names = (
        {name for text in vllm for name in _find_set_attributes(text)}
        - inherited.members.keys()
        - inherited.vllm.keys()
    )
    names &= self_names_of(members)
    return names - _find_set_among(names, [*members, *_iterate_other_texts(owner, job), *inherited.vllm.values()])


def _ask_about_unset_in(draft: Draft, lost: Iterable[str], path: str) -> Iterator[ReviewItem]:
    for name in lost:
        reason = f"self.{name} is read here, but nothing sets it any more"
        yield from _ask_at_first(_find_reading_lines(draft.text, name), draft, path, reason=reason)


def ask_about_never_set(drafts: Sequence[Draft], job: ModuleJob, twin: Mapping[str, str]) -> list[Draft]:
    """Ask where a unit newly reads an attribute that only the ``twin``'s class sets, by code that was not ported.

    That may also be a base class whose method the NPU class hides. Another NPU class may well set an attribute of that
    name. Skips attributes that the unit tests for by name.
    """
    asked_drafts = []
    for draft in drafts:
        for name, setters in find_set_by_twin_only(draft, drafts, job, twin).items():
            reason = f"self.{name} is read here, but only the GPU class sets it, in {' and '.join(setters)}"
            items = _ask_at_first(_find_reading_lines(draft.text, name), draft, job.path, reason=reason)
            draft = _add_questions(draft, items)
        asked_drafts.append(draft)
    return asked_drafts


def find_set_by_twin_only(
    draft: Draft, drafts: Sequence[Draft], job: ModuleJob, twin: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return ``{attribute: GPU methods that set it}`` for newly read attributes that nothing here sets."""
    if not draft.owner or not _is_changed(draft):
        return {}
    twin_texts = select_members(twin, draft.owner)
    tested = {attribute_by_name(call) for call in calls_in(parse_unit(draft.text))}
    new_names = self_names(draft.text) - self_names(draft.before) - tested
    gpu_texts = [*job.hierarchy.of(draft.owner).hidden.items(), *twin_texts.items()]
    found = {
        name: [*dict.fromkeys(member for member, text in gpu_texts if _find_set_among({name}, [text]))]
        for name in sorted(new_names - twin_texts.keys())
    }
    found = {name: setters for name, setters in found.items() if setters}
    if not found:
        return {}
    members = list_members(drafts, draft.owner)
    inherited = job.hierarchy.of(draft.owner)
    have = {other.member for other in members}.union(job.hierarchy.from_mixins(draft.owner), inherited.members)
    texts = [*(other.text for other in members), *_iterate_other_texts(draft.owner, job), *inherited.vllm.values()]
    have |= _find_set_among(found, [text for text in texts if text.strip()])
    runs = {member for member in twin_texts if _runs_in_twin(member, draft.owner, members, job)}
    return {name: setters for name, setters in found.items() if name not in have and runs.isdisjoint(setters)}


def _runs_in_twin(member: str, owner: str, members: Iterable[Draft], job: ModuleJob) -> bool:
    """Whether the version of a method that runs here calls that of the twin, which a base of the class has.

    For example, the ``__init__`` of a mixin in front of the twin calls the next one.
    """
    inherited, gpu = job.hierarchy.of(owner), job.profile.gpu_name(owner)
    own = next((other.text for other in members if other.member == member), None)
    runs = own if own is not None else inherited.members.get(member)
    if runs is None or gpu not in inherited.classes:
        return False
    return "super()" in find_called_parents(runs, member) or has_class_call(runs, gpu, member)


def ask_about_returns(draft: Draft, job: ModuleJob) -> Draft:
    """Ask about new returns that do not go through the method that other returns go through.

    If several returns are ``return self.attach(output)``, with a method unknown to upstream, callers rely on that
    method. Skips a return that another question is already about.
    """
    if not _is_changed(draft) or job.upstream.new is None:
        return draft
    common = find_handing_methods(draft.text, job.upstream.new.text)
    if not common:
        return draft
    before = _rename_in_before(draft)
    values_before, added_locals = count_bare_values(before, draft.text, common), find_added_locals(before, draft.text)
    items = []
    asked_lines = {line for item in draft.reviews for line in _find_asked_lines(item)}
    for line, value in find_returns(draft.text):
        is_new = ast.dump(value) not in values_before and called_self_method(value) not in common
        is_new |= line in added_locals
        if is_new and draft.text.split("\n")[line - 1].strip() not in asked_lines:
            reason = f"other returns of this method go through self.{common[0]}, and this new one does not"
            items.append(_make_question(draft, job.path, reason=reason, line=line, is_new=True))
    return draft.with_questions(*items)


def _find_asked_lines(item: ReviewItem) -> set[str]:
    """Return the stripped lines that a question is about.

    These are the chosen lines that upstream has. For a GPU port, they are all chosen lines if the GPU runner has none.
    """
    chosen, upstream = {*strip_lines(item.chosen)}, {*strip_lines(item.upstream)}
    if item.from_gpu:
        return chosen if not chosen & upstream else set()
    return chosen & upstream


def _iterate_other_texts(owner: str, job: ModuleJob) -> Iterator[str]:
    """Yield other texts that may set an attribute of a class: omni code that it inherits, and upstream's module."""
    yield from (text for text in job.hierarchy.of(owner).members.values() if text)
    if job.upstream.new is not None:
        yield job.upstream.new.text


def _find_set_among(names: Collection[str], texts: Iterable[str]) -> set[str]:
    """Return those of the attributes ``names`` that one of the texts sets; parses only texts with their names."""
    found: set[str] = set()
    for text in texts:
        wanted = [name for name in names if name not in found and name in text]
        found |= _find_set_attributes(text).intersection(wanted) if wanted else set()
    return found


@lru_cache(maxsize=1024)
def _find_set_attributes(text: str) -> frozenset[str]:
    """Return attributes of ``self`` that a text assigns, including by ``setattr`` with a literal name."""
    tree = parse_unit(text)
    found = self_attributes_set(tree)
    for node in walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id="self"), ast.Constant(value=str(name)), _]):
                found.add(name)
    return frozenset(found)


def _find_reading_lines(text: str, name: str) -> list[int]:
    """Return lines that read an attribute of ``self``, directly or by name (``getattr``, ``hasattr``)."""
    found = []
    for node in walk(parse_unit(text)):
        if isinstance(node, ast.expr) and name in (self_attribute(node), attribute_by_name(node)):
            found.append(node.lineno)
    return sorted(found)


def _rename_in_before(draft: Draft) -> str:
    """Return omni's text with the names of locals that the unit has taken over from upstream."""
    return rename_where_free(draft.before, dict(draft.new_names))


def _is_changed(draft: Draft) -> bool:
    return not draft.removed and draft.text != draft.before and bool(draft.text.strip())


def _make_question(draft: Draft, path: str, *, reason: str, line: int, is_new: bool = False) -> ReviewItem:
    """Return the question about a line of a draft.

    ``is_new`` marks an upstream line although omni has the same line elsewhere.
    """
    here = draft.text.split("\n")[line - 1]
    is_own = not is_new and here.strip() in strip_lines(draft.before)
    shown = Shown(omni=here, chosen=here) if is_own else Shown(upstream=here, chosen=here)
    return make_review(draft, path, reason=reason, confidence=DEFECT, shown=shown, line=line)
