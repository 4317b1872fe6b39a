"""One derived module through the whole line: units → lineage → merge → port → compose.

Comes in: a ``ModuleJob``. Goes out: a ``ModuleResult``. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from runner_sync.compose import records
from runner_sync.compose.constructors import set_apart
from runner_sync.compose.imports import Import, Provider, add, imports, settle
from runner_sync.compose.members import Action, Member, canonical, device_bound, is_port, self_names
from runner_sync.compose.rulers import enclose_additions, enclose_members
from runner_sync.errors import InputError
from runner_sync.markers import read_markers, ruler_style
from runner_sync.merge.confidence import CONTESTED, DERIVED, INFERRED, REBUILT, REQUIRED
from runner_sync.model import ReviewItem
from runner_sync.statements import as_module, is_indented
from runner_sync.units import (
    class_bases,
    insert_member,
    join,
    record_classes,
    set_bases,
    texts,
)
from runner_sync.units import replace as exchange
from runner_sync.upgrade import ascend, gpu, inheriting, outcomes, porting
from runner_sync.upgrade.asking import ask_about_order, ask_about_returns, ask_about_unknown, ask_about_unset
from runner_sync.upgrade.doubts import complete, not_ported, relocate, review
from runner_sync.upgrade.hidden import hidden_changes
from runner_sync.upgrade.job import Draft, Inherited, ModuleJob, ModuleResult, Stage, is_selected


def upgrade_module(job: ModuleJob) -> ModuleResult:
    """Upgrade one module. Raises ``InputError`` when its text does not parse."""
    drafts = _drafts(job)
    chosen = [draft for draft in drafts if is_selected(draft.name, job.settings.only)]
    split_off = ascend.follow(chosen, job)
    drafts += split_off
    chosen += split_off
    side = gpu.read_side(job, drafts)
    decided: dict[str, Action] = {}
    for class_name in job.hierarchy.with_twin:
        job = inheriting.adopt(class_name, drafts, job, side)
    if job.twin.new is not None:
        porting.follow_twin(chosen, job, side)
        decided = _port(chosen, drafts, job, side)
    _fit_records(chosen, drafts, job)
    _set_apart(chosen, job)
    _drop_redundant(chosen, drafts, job, side)
    drafts += [*_mixed_in(job), *hidden_changes(drafts, job)]
    for draft in drafts:
        ask_about_order(draft, job.path)
        ask_about_returns(draft, job)
    ask_about_unset(drafts, job)
    text = _compose(drafts, job, side)
    return outcomes.result(drafts, job, text, decided)


def _drafts(job: ModuleJob) -> list[Draft]:
    return [Draft(name, [Stage(text)]) for name, text in texts.unit_texts(job.text, job.path).items()]


def _port(chosen: Sequence[Draft], drafts: list[Draft], job: ModuleJob, side: gpu.GpuSide) -> dict[str, Action]:
    """Port GPU omni changes, new members included; returns what becomes of each member that only the GPU has."""
    decided: dict[str, Action] = {}
    for class_name in dict.fromkeys(d.owner for d in drafts if d.owner):
        pair = gpu.twins(class_name, drafts, job, side)
        bound = device_bound(pair)
        mine = [d for d in chosen if d.owner == class_name]
        stages = {d.name: len(d.stages) for d in mine}
        have = [canon for draft in drafts for canon in canonical(draft.text)]
        porting.port(mine, job, side, porting.veto_for(bound, job.refused, pair.upstream, have=have))
        _mark([d for d in mine if len(d.stages) > stages[d.name]], job)
        decisions = gpu.decide_members(class_name, gpu.twins(class_name, drafts, job, side), job)
        added = porting.new_members(class_name, decisions, drafts, job, side)
        for draft in added:
            draft.reviews += [_added_review(draft, job, decisions)]
        drafts += [*added, *_declined(class_name, decisions, job, side)]
        _drop_gone_from_gpu(mine, drafts, job, old=pair.gpu_old, new=pair.gpu_new)
        decided |= {f"{class_name}.{d.name}": d.action for d in decisions}
    methods = [d.text for d in drafts if d.owner and not d.removed]
    porting.port([d for d in chosen if not d.owner], job, side, porting.veto_for({}, {}), methods=methods)
    return decided


def _mixed_in(job: ModuleJob) -> list[Draft]:
    """A question about the new bases of each class, and about those that it goes on without."""
    found = []
    settled = _settled_bases(job)
    for class_name, left in job.hierarchy.missing_mixins.items() if not job.settings.only else ():
        asked = [name for name in left if name not in settled]
        if not asked:
            continue
        draft = Draft(class_name, [Stage("")], "own", "review")
        reason = (
            f"the GPU twin mixes in {', '.join(asked)}, which the NPU class has done without since before this "
            f"upgrade: is that meant? `runner-sync upgrade --only '{class_name}*'` brings it with what calls it"
        )
        draft.reviews = [review(draft, job.path, reason=reason, confidence=CONTESTED)]
        found.append(draft)
    for class_name, mixins in job.hierarchy.added_mixins.items():
        draft = Draft(class_name, [Stage("")], "own", "review")
        reason = (
            f"the class mixes in {', '.join(mixins)} now, as its GPU twin does; what sets it up and calls it there "
            "was ported as far as it has a place here"
        )
        draft.reviews = [review(draft, job.path, reason=reason, confidence=INFERRED)]
        found.append(draft)
    return found


def _settled_bases(job: ModuleJob) -> set[str]:
    """Bases that the GPU class had at the last upgrade: what NPU does without of them was settled then."""
    if job.twin.settled is None or job.module.gpu is None:
        return set()
    return {base.expression for base in texts.bases_of(job.twin.settled.text, job.module.gpu.name)}


def _fit_records(chosen: Sequence[Draft], drafts: Sequence[Draft], job: ModuleJob) -> None:
    """Complete what unpacks or makes records that have grown, here or in a module that this one imports them from."""
    own = {d.name: records.record(d.before, d.text, d.name) for d in drafts if not d.owner and not d.removed}
    known = {name: found for name, found in {**job.target.records, **own}.items() if found.now}
    for draft in chosen:
        fitted = None if draft.removed or not draft.owner else records.fit(draft.text, known)
        while fitted is not None:
            complete(draft, fitted.text)
            item = review(
                draft,
                job.path,
                reason=fitted.reason,
                confidence=REQUIRED,
                upstream=fitted.statement,
                chosen=fitted.statement,
                line=fitted.line,
            )
            draft.reviews.append(item)
            fitted = records.fit(draft.text, known)


def _set_apart(chosen: Sequence[Draft], job: ModuleJob) -> None:
    """Set what a constructor newly gets and does not take on the record that it makes."""
    for draft in chosen:
        found = None if draft.removed else set_apart(draft.before, draft.text, job.target.constructors)
        while found is not None:
            complete(draft, found.text)
            item = review(
                draft,
                job.path,
                reason=found.reason,
                confidence=DERIVED,
                upstream=found.statement,
                chosen=found.statement,
                line=found.line,
            )
            draft.reviews.append(item)
            found = set_apart(draft.before, draft.text, job.target.constructors)


def _declined(class_name: str, decisions: Sequence[Member], job: ModuleJob, side: gpu.GpuSide) -> list[Draft]:
    """GPU members that could not be taken over, with one question for all that one thing keeps out; they change
    nothing."""
    groups: dict[str, list[Member]] = {}
    for decision in decisions:
        name = f"{class_name}.{decision.name}"
        if (
            decision.action in ("device", "rebuilt")
            and is_selected(name, job.settings.only)
            and name not in side.unchanged
        ):
            cause = decision.obstacle.cause if decision.obstacle is not None else decision.name
            groups.setdefault(cause, []).append(decision)
    found = []
    for members in groups.values():
        first = next((m for m in members if m.obstacle is not None and not m.obstacle.needs), members[0])
        others = ", ".join(member.name for member in members if member is not first)
        draft = Draft(f"{class_name}.{first.name}", [Stage("")], "own", "review")
        why = first.reason + (f"; neither is what needs it: {others}" if others else "")
        draft.reviews = [not_ported(draft, job.path, why=why, confidence=INFERRED, upstream=side.new[draft.name])]
        found.append(draft)
    return found


def _mark(drafts: Sequence[Draft], job: ModuleJob) -> None:
    """Put rulers around whole statements that a port, the last stage, added to a copy; omni's own method needs none."""
    ruler = ruler_style(job.text, label=job.profile.marker)
    for draft in drafts:
        if draft.kind != "copy":
            continue
        marked = _marked_lines(draft.text, job.profile.marker)
        enclosed = enclose_additions(draft.stages[-2].text, draft.text, marked=marked, ruler=ruler)
        draft.reviews = relocate(draft.reviews, old=draft.text, new=enclosed)
        draft.stages[-1] = draft.stages[-1]._replace(text=enclosed)


def _marked_lines(text: str, label: str) -> frozenset[int]:
    """Lines of a unit's text that rulers enclose."""
    shift = int(is_indented(text))
    return frozenset(line - shift for line in read_markers(as_module(text), label=label).marked)


def _added_review(draft: Draft, job: ModuleJob, decisions: Sequence[Member]) -> ReviewItem:
    decision = next(d for d in decisions if d.name == draft.member)
    what = "ported as a hook" if decision.action == "hook" else "ported"
    reason = "; ".join([f"{what} from the GPU runner: {decision.reason}", *draft.notes])
    return review(draft, job.path, reason=reason, confidence=REQUIRED, upstream=draft.text, chosen=draft.text)


def _drop_gone_from_gpu(
    mine: Sequence[Draft], drafts: Sequence[Draft], job: ModuleJob, *, old: Mapping[str, str], new: Mapping[str, str]
) -> None:
    """A port whose GPU original is gone goes too, unless something on the NPU side still calls it."""
    gone = [d for d in mine if d.member in old and d.member not in new and d.upstream is None]
    gone = [d for d in gone if canonical(d.before) == canonical(old[d.member])]
    elsewhere = job.target.called_elsewhere
    called = [d for d in gone if d.member in elsewhere or _is_called(d, [o for o in drafts if o not in gone])]
    while called:
        gone = [d for d in gone if d not in called]
        called = [d for d in gone if _is_called(d, called)]
    for draft in gone:
        draft.removed = True
        reason = "the GPU runner dropped this method, and nothing on the NPU side calls its port any more"
        draft.reviews.append(
            review(draft, job.path, reason=reason, confidence=REQUIRED, base=old[draft.member], omni=draft.before)
        )


def _drop_redundant(chosen: Sequence[Draft], drafts: Sequence[Draft], job: ModuleJob, side: gpu.GpuSide) -> None:
    """Overrides that no longer say anything of omni's: inheritance does the same."""
    for draft in chosen:
        reason = "" if draft.removed or not draft.owner else _redundant(draft, drafts, job, side)
        if reason:
            _remove(draft, job, reason)
        elif draft.kind == "copy" and draft.upstream is None and draft.base is not None and not draft.removed:
            reason = "upstream no longer has the method that this is a copy of"
            draft.reviews.append(
                review(draft, job.path, reason=reason, confidence=REBUILT, omni=draft.before, chosen=draft.text)
            )


def _redundant(draft: Draft, drafts: Sequence[Draft], job: ModuleJob, side: gpu.GpuSide) -> str:
    """Why the class can do without this member since this upgrade, or an empty string.

    What was redundant before is left: people had a reason, or ``check`` tells them.
    """
    inherited = job.hierarchy.inherited.get(draft.owner, Inherited())
    inherits = draft.member in inherited.members
    below = inherited.members.get(draft.member)
    if below is not None:
        was = inherited.before.get(draft.member)
        already = was is not None and canonical(draft.before) == canonical(was)
        if draft.name in side.device_free and is_port(draft.before, side.old[draft.name]):
            return "the GPU method that it translated has no device code any more and is inherited"
        same = canonical(draft.text) == canonical(below) and not already
        return _SAME if same and inheriting.can_stand_for(below, inheriting.upstream_version(job, draft.member)) else ""
    if draft.kind != "copy":
        return ""
    if inherits and draft.upstream is not None and canonical(draft.text) == canonical(draft.upstream):
        return "the copy equals the upstream method that the class inherits"
    if not draft.own:
        if draft.upstream is None and (inherits or not _is_called(draft, drafts)):
            return "upstream dropped the method, and the copy has nothing of omni's"
        return ""
    elsewhere = [d.text for d in drafts if d is not draft and not d.removed and d.owner == draft.owner]
    elsewhere += [text for text in inherited.members.values() if text is not None]
    if inherits and _stands_in(draft.own, elsewhere):
        return "everything that omni had added to the copy stands in other methods now"
    return ""


_SAME = "it equals the method that the class inherits"


def _stands_in(own: Collection[str], elsewhere: Sequence[str]) -> bool:
    """Whether nearly all of the statements stand, the same or alike, in the other methods."""
    known = {canon for text in elsewhere for canon in canonical(text)}
    return sum(canon in known for canon in own) >= MOVED * len(own)


MOVED = 0.8


def _is_called(draft: Draft, drafts: Sequence[Draft]) -> bool:
    return any(draft.member in self_names(d.text) for d in drafts if d is not draft and not d.removed)


def _remove(draft: Draft, job: ModuleJob, reason: str) -> None:
    draft.removed = True
    draft.reviews = [
        review(draft, job.path, reason=reason, confidence=DERIVED, omni=draft.before, upstream=draft.upstream or "")
    ]


def _compose(drafts: Sequence[Draft], job: ModuleJob, side: gpu.GpuSide) -> str:
    """The module text with every draft in its place, its bases and its imports settled."""
    module = texts.parsed(job.text, job.path)
    whole = frozenset(record_classes(module))
    edits: dict[str, str | None] = {
        d.name: None if d.removed else d.text for d in drafts if d.before and (d.removed or d.text != d.before)
    }
    ruler = ruler_style(job.text, label=job.profile.marker)
    for group in _groups([d for d in drafts if d.outcome == "added" and d.owner]):
        body = enclose_members([d.text for d in group], ruler=ruler)
        module = insert_member(module, group[0].owner, body, before=group[0].ahead_of, after=group[0].after)
    # Only now: a member may be added behind one that goes.
    if edits:
        module = exchange(module, edits, whole=whole)
    for class_name in dict.fromkeys([*job.hierarchy.bases_in_front, *job.hierarchy.added_mixins]):
        bases = [base.expression for base in class_bases(module, class_name)]
        wanted = [
            *job.hierarchy.bases_in_front.get(class_name, ()),
            *bases,
            *job.hierarchy.added_mixins.get(class_name, ()),
        ]
        module = set_bases(module, class_name, list(dict.fromkeys(wanted)))
    text = join(module)
    if text == job.text:
        return text
    if job.twin.new is not None:
        for twin in {name for names in job.hierarchy.bases_in_front.values() for name in names}:
            text = add(text, Import(texts.dotted(job.twin.new.path), twin, twin))
    return _with_helpers(text, drafts, job, side)


def _groups(added: Sequence[Draft]) -> list[list[Draft]]:
    """Added members that stand one behind the other, together."""
    groups: list[list[Draft]] = []
    for draft in added:
        if groups and draft.after == groups[-1][-1].name:
            groups[-1].append(draft)
        else:
            groups.append([draft])
    return groups


def _untranslated(job: ModuleJob, side: gpu.GpuSide) -> str:
    """Imports of the GPU twin, as it has them, whose translation names something that is not there.

    Such as a helper of another GPU runner that its NPU twin does not have.
    """
    assert job.twin.new is not None
    written = imports(job.twin.new.text)
    lacking = [
        bound for bound, entry in imports(side.module_text).items() if job.target.lacks(entry.module, entry.name)
    ]
    kept = [written[bound] for bound in lacking if bound in written]
    return "\n".join(entry.statement() for entry in kept if not job.target.lacks(entry.module, entry.name))


def _with_helpers(text: str, drafts: Sequence[Draft], job: ModuleJob, side: gpu.GpuSide) -> str:
    rows = [row for row in job.profile.names if not job.target.lacks(row.new_module, row.new_name)]
    named = "\n".join(f"from {row.new_module} import {row.new_name}" for row in rows)
    providers = [Provider(job.text, texts.dotted(job.path)), Provider(named, "")]
    if job.upstream.new is not None:
        providers.append(Provider(job.upstream.new.text, texts.dotted(job.upstream.new.path)))
    if job.twin.new is not None:
        name = texts.dotted(job.twin.new.path)
        providers += [Provider(_untranslated(job, side), name), Provider(side.module_text, name)]

    def lacks(module: str, name: str) -> bool:
        """A module that is not there at all speaks for a tree that is not whole."""
        return job.target.lacks(module, name) and not job.target.lacks(module, "")

    try:
        settled = settle(
            job.text, text, providers, moves=_moves(drafts, job), first_party=job.profile.package, lacks=lacks
        )
    except SyntaxError as error:
        # What ast.parse lets through and the compiler does not, such as a parameter that is there twice.
        raise InputError(
            f"{job.path} or what it follows is no valid Python ({error.msg}); fix it and run again."
        ) from error
    for name in settled.unknown:
        ask_about_unknown(name, drafts, job.path)
    return settled.text


def _moves(drafts: Sequence[Draft], job: ModuleJob) -> dict[tuple[str, str], str]:
    """Imports that the upstream module now makes from another module than in the revisions that units were copied
    from, and those of derived modules that moved."""
    moves = {
        (entry.module, entry.name): job.target.relocated[entry.module]
        for entry in imports(job.text).values()
        if entry.module in job.target.relocated
    }
    if job.upstream.new is None:
        return moves
    now = imports(job.upstream.new.text)
    kept = {(entry.module, entry.name) for entry in now.values()}
    followed = {ref for draft in drafts if draft.base is not None for ref in (draft.base.ref, *draft.base.also)}
    for side in job.upstream.bases:
        if side.ref not in followed:
            continue
        for bound, entry in imports(texts.outside_definitions(side.text, side.path)).items():
            if bound in now and (entry.module, entry.name) not in kept and now[bound].name == entry.name:
                moves[entry.module, entry.name] = now[bound].module
    return moves
