"""Merges omni's own changes of the GPU twin into each draft that has a twin.

Comes in: drafts, a ``ModuleJob`` and the GPU side. Goes out: the drafts with one more stage and a question for each
passage that a port changed. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from runner_sync import lineage, merge
from runner_sync.confidence import CONTESTED, REBUILT
from runner_sync.merge import Veto
from runner_sync.model import Triple
from runner_sync.texts.member_text import has_class_call, is_same
from runner_sync.upgrade import isolation
from runner_sync.upgrade.base import find_base_text
from runner_sync.upgrade.draft import Draft
from runner_sync.upgrade.from_gpu.asking import ported_passages
from runner_sync.upgrade.from_gpu.asking.left_standing import ask_about_left_standing
from runner_sync.upgrade.from_gpu.asking.once_more import ask_about_old_form_elsewhere
from runner_sync.upgrade.from_gpu.asking.untranslated import ask_about_untranslated
from runner_sync.upgrade.from_gpu.merging import (
    in_stages,
    mixins_alone,
    record_fields,
    remarks_alone,
    resting_on,
    unrelated,
    wrapped_returns,
)
from runner_sync.upgrade.from_gpu.merging.last_parameters import put_new_parameters_last
from runner_sync.upgrade.from_gpu.merging.left_out import drop_already_present, find_lacking, join_left_out
from runner_sync.upgrade.from_gpu.merging.port_context import (
    Context,
    find_firm,
    find_helpers,
    find_module_names,
    find_old_twin,
    list_methods,
)
from runner_sync.upgrade.from_gpu.merging.refusing import refuse_readers, refuse_taken_out
from runner_sync.upgrade.from_gpu.merging.sound_merge import merge_soundly
from runner_sync.upgrade.from_gpu.merging.taking_back import take_back_unfit
from runner_sync.upgrade.from_gpu.twin import gpu_side, mixins, moved_helpers, own_helpers
from runner_sync.upgrade.from_gpu.twin.gpu_side import GpuSide, record_twin
from runner_sync.upgrade.from_gpu.twin.renamed_attributes import Renames
from runner_sync.upgrade.job import ModuleJob, find_conflict_winner
from runner_sync.upgrade.questions import answered, wording
from runner_sync.upgrade.questions.reviews import make_not_ported_review, make_review_of_decision, make_unmerged_review


def port(
    drafts: Sequence[Draft],
    job: ModuleJob,
    side: GpuSide,
    veto: Veto,
    *,
    beside: Sequence[Draft] = (),
    methods: Sequence[str] = (),
) -> list[Draft]:
    """Return all drafts, with the changes of the GPU twin merged into each one that has a twin.

    ``beside`` are the other drafts of the same class, which stay unchanged. ``methods`` are texts of methods that may
    use records (classes of fields) among the drafts. A port that breaks a call in another method is taken back.
    """
    # Undoing vLLM's change (`rebased`) would rejoin the halves of a divided method.
    news = {**side.rebased, **{name: side.new[name] for draft in drafts if (name := draft.split_from) in side.new}}
    folded = own_helpers.fold_passages(drafts, side.old, news)
    side, news = replace(side, old=folded.old, rebased={**side.rebased, **folded.new}), folded.new
    known, moves = find_module_names(job, side), moved_helpers.Moves(job, side)
    context = Context(job, side, veto, drafts, methods, known, moves, Renames(job))
    ported = [
        draft if draft.removed or draft.name not in news else _attempt_port(draft, news[draft.name], context)
        for draft in drafts
    ]
    ported = [_attempt_passages(draft, folded.carried.get(draft.name, ()), context) for draft in ported]
    ported = [own_helpers.explain_replaced(draft, folded.replaced.get(draft.name, ())) for draft in ported]

    def port_without(draft: Draft, new: str, lacking: Collection[str]) -> Draft | None:
        veto = refuse_readers(dict.fromkeys(lacking, "reads what nothing sets"), context.veto)
        port = _port_change(draft, new, replace(context, veto=veto))
        return None if port.is_refused else port.draft

    fit = take_back_unfit(ported, drafts, beside=beside, twin=(side.old, news), path=job.path, port=port_without)
    return [moves.ask(draft) for draft in fit]


def _attempt_port(draft: Draft, new: str, context: Context) -> Draft:
    """Return the draft with the port of its whole change, or with a question if this program makes a mistake."""
    work = partial(_port_whole_change, draft, new, context)
    return isolation.attempt_change(draft, context.job, work, upstream=new, source="gpu")


def _attempt_passages(draft: Draft, passages: Sequence[own_helpers.Carried], context: Context) -> Draft:
    """Return the draft with the ports of passages, or with a question if this program makes a mistake."""
    if not passages:
        return draft
    work = partial(_port_passages, draft, passages, context)
    return isolation.attempt_change(draft, context.job, work, upstream=passages[-1].new, source="gpu")


def _port_passages(draft: Draft, passages: Sequence[own_helpers.Carried], context: Context) -> Draft:
    """Port changes of code that the twin has in line in other methods and NPU in this one."""
    for one in passages:
        count, foreign = len(draft.reviews), context.side.from_vllm.get(one.user, frozenset())
        sides, user = Triple(one.old, draft.text, one.new), one.user.rpartition(".")[2]
        if one.refused:
            draft = _decline(draft, context.job, sides, why=one.refused, confidence=CONTESTED)
            continue
        ported = _merge_change(draft, sides, foreign, context).draft
        where = f"; the GPU runner has this code in {user}"
        where += f", which reads {' and '.join(one.kept)} behind it" if one.kept else ""
        draft = _extend_reason(ported, where, count=count)
    return draft


@dataclass(frozen=True, slots=True)
class _Port:
    """A draft after its port of ``sides``, from which ``foreign`` statements stayed out.

    ``is_refused`` if nothing came except a question about the reason. ``is_whole`` is false if the change cannot be
    applied, or if statements stayed out because they read the ``lacking`` names, which nothing sets.
    """

    draft: Draft
    sides: Triple | None = None
    foreign: frozenset[str] = frozenset()
    is_whole: bool = True
    lacking: frozenset[str] = frozenset()
    is_refused: bool = False


def _port_whole_change(draft: Draft, new: str, context: Context) -> Draft:
    """Port the twin's change since its base into one draft; if that is not whole, port it since an earlier base.

    ``new`` is the twin's current text. The change may depend on an earlier one that NPU did not take: `sample_tokens`
    of vllm-omni 0.24.0 renames what 0.22.0 had renamed. Then both are ported, if that is better, and of the earlier
    change only what the later one lacked.
    """
    job, side = context.job, context.side
    port = _port_change(draft, new, context)
    if port.is_whole or port.sides is None:
        return port.draft
    changed = resting_on.find_changed(port.sides, port.foreign)
    if (earlier := gpu_side.use_earlier_base(draft, job, side)) is None:
        return _port_with_locals(draft, new, port, changed, context)
    idle = resting_on.find_unrelated(port.sides, earlier.old[draft.name], port.lacking) if port.lacking else ()
    whole = replace(context, side=earlier)
    more = _port_change(draft, earlier.rebased[draft.name], whole, without=frozenset(idle))
    if not more.is_whole or not resting_on.is_better(more.draft, port.draft, draft, changed):
        return _port_with_locals(draft, new, port, changed, context)
    since, base = (held.bases[draft.name].side.ref for held in (earlier, side))
    hint = f"; the GPU runner's change since {base} builds on its change since {since}, which was ported, too"
    return _extend_reason(more.draft, hint, count=len(draft.reviews))


def _port_with_locals(draft: Draft, new: str, port: _Port, changed: Collection[str], context: Context) -> Draft:
    """Port the change again with the plain locals that ``port`` lacked; return the better one of the two."""
    if not port.lacking:
        return port.draft
    more = _port_change(draft, new, replace(context, brings_locals=True))
    return more.draft if resting_on.is_better(more.draft, port.draft, draft, changed) else port.draft


def _extend_reason(draft: Draft, hint: str, *, count: int) -> Draft:
    """Append ``hint`` to the reason of the first question after the first ``count`` ones.

    The question keeps its id, because the decision is the same.
    """
    earlier, items = draft.reviews[:count], draft.reviews[count:]
    return replace(draft, reviews=(*earlier, *(replace(it, reason=it.reason + hint) for it in items[:1]), *items[1:]))


def _port_change(draft: Draft, new: str, context: Context, *, without: frozenset[str] = frozenset()) -> _Port:
    """Port the twin's change since its base into one draft, ``without`` these statements.

    The text stays unchanged if the twin has not changed.
    """
    job, side = context.job, context.side
    old_helpers, new_helpers = find_helpers(draft, context)
    draft = record_twin(draft, job, new, side)
    old, foreign = find_old_twin(draft, job, side, new)
    base = side.bases.get(draft.name)
    moved = context.moves.find_in_line(draft, base.side) if base is not None else {}
    new_as_is = side.new.get(draft.name, new)
    if old is not None:
        old, new = moved_helpers.inline_moved_helpers(draft.text, (old, old_helpers), (new, new_helpers), moved)
    if old is None:
        return _Port(draft)
    foreign |= without | record_fields.find_present(draft, old, new)
    foreign |= record_fields.find_idle(draft, new, context.methods)
    sides = Triple(old, draft.text, new)
    if base is not None:
        sides = context.renames.apply(sides, base.side, side)
    if is_same(old, new):
        words = remarks_alone.port_docstrings(sides) if old != new else draft.text
        return _Port(_port_comments(draft.with_stage(words, "gpu") if words != draft.text else draft, sides))
    before = len(draft.reviews)
    port, kept = _merge_change(draft, sides, foreign, context), before
    if port.is_refused and not port.is_whole:
        port, kept = _port_in_stages(draft, port, context)
    staged = replace(port.draft, reviews=port.draft.reviews[:kept])
    if port.is_refused and (uses := mixins_alone.build_sides(staged, (new_as_is, new_helpers), job)) is not None:
        port = _use_mixins_instead(port, _merge_change(staged, uses, (), context), count=kept)
    added = moved_helpers.drop_call_questions(port.draft.reviews[before:], moved)
    asked = replace(port.draft, reviews=(*port.draft.reviews[:before], *added))
    asked = ask_about_untranslated(asked, job.path, before=draft.text, doubts=side.untranslated)
    commented = asked if port.is_refused else _port_comments(asked, sides)
    return replace(port, draft=commented, sides=sides, foreign=foreign)


def _port_comments(draft: Draft, sides: Triple) -> Draft:
    """Return the draft with the comments that the twin changed above statements that it kept."""
    followed = draft.upstream or "" if draft.kind == "copy" else ""
    text = remarks_alone.port_comments(draft.text, sides.base, sides.upstream, upstream=followed)
    if text == draft.text:
        return draft
    is_ported = draft.stages[-1].source == "gpu"
    return draft.with_layout(text) if is_ported else draft.with_stage_and_moved_questions(text, "gpu")


def _port_in_stages(draft: Draft, refused: _Port, context: Context) -> tuple[_Port, int]:
    """Port the twin's change up to the latest revision at which the port is sound, and ask about the rest.

    Leaves out uses of new mixins, which come from the current twin. Also returns how many questions there are without
    those about the rest.
    """
    count, given = len(draft.reviews), mixins_alone.find_given_names(draft, context.job)
    for job, side in in_stages.find_stages(draft, context.drafts, context.job, context.side):
        then = mixins.remove_uses(side.rebased[draft.name], given)
        port = _port_change(draft, then, replace(context, job=job, side=side))
        has_come = not port.is_refused and port.draft.text != draft.text
        if not has_come or not in_stages.is_current(port.draft, draft, context.side):
            continue
        assert job.twin.new is not None
        staged = replace(port.draft, gpu_now=refused.draft.gpu_now, gpu=refused.draft.gpu)
        rest = in_stages.ask_about_rest(refused.draft.reviews[count:], staged, then, job.twin.new.ref)
        return replace(refused, draft=staged.with_questions(*rest)), len(staged.reviews)
    return refused, count


def _use_mixins_instead(refused: _Port, uses: _Port, *, count: int) -> _Port:
    """Replace a ``refused`` port by a port of only the ``uses`` of mixins, and keep the questions of both.

    The first ``count`` questions of the refused draft are from before the port.
    """
    if uses.is_refused:
        return refused
    why = refused.draft.reviews[count:]
    if uses.draft.text != refused.draft.text:
        why = tuple(replace(item, reason=f"{item.reason}; {mixins_alone.CAME}") for item in why)
    return replace(refused, draft=uses.draft.with_questions(*why))


def _merge_change(draft: Draft, sides: Triple, foreign: Collection[str], context: Context) -> _Port:
    """Merge the twin's change into the draft, or ask why it was refused; ``foreign`` statements stay out."""
    job = context.job
    assert job.twin.new is not None
    if not unrelated.is_related(draft.text, sides):
        if draft.owner and has_class_call(draft.text, job.profile.gpu_name(draft.owner), draft.member):
            return _Port(draft)  # this method calls the twin's
        why = "the GPU runner changed this method, but the NPU version differs too much from it to merge the change"
        why += unrelated.describe_uncalled(draft.text, sides)
        return _Port(_decline(draft, job, sides, why=why, confidence=CONTESTED), is_refused=True)
    policy = merge.settle_for(merge.PORT, find_conflict_winner(job, draft.name))
    pinned = _find_upstream_statements(draft, context)
    wrapped = wrapped_returns.find_newly_wrapped(sides, context.veto, foreign, pinned)
    settled, known, veto = wrapped_returns.remove_wrapping_changes(sides, wrapped), context.known, context.veto
    if draft.upstream is not None:  # its callers may pass a parameter by its name
        settled = replace(settled, upstream=merge.follow_parameters(settled.upstream, settled.upstream, settled.base))
    if draft.base is not None and draft.base.how == "lock" and (followed := find_base_text(draft, job)):
        veto = refuse_taken_out(followed, draft.text, sides.upstream, veto)
    firm = find_firm(draft, pinned, context)
    result, broken = merge_soundly(
        settled,
        policy,
        veto=veto,
        foreign=foreign,
        pinned=pinned,
        firm=firm,
        known=known,
        brings_locals=context.brings_locals,
    )
    if not result.parses:
        reason = f"the merge with {job.twin.new.path} did not parse, so the NPU runner's text stays"
        item = make_unmerged_review(
            draft, job.path, reason=reason, base=sides.base, upstream=sides.upstream, from_gpu=True
        )
        return _Port(draft.with_questions(item), is_refused=True)
    if broken:
        why = f"the GPU runner's change cannot be applied: {'; '.join(map(str, sorted(broken)[:2]))}"
        return _Port(_decline(draft, job, sides, why=why, confidence=REBUILT), is_whole=False, is_refused=True)
    if draft.upstream is not None and result.text != draft.text:  # or by its place
        result = replace(result, text=put_new_parameters_last(result.text, draft.text))
    passages = ported_passages.list_questions(draft, job, after=result.text, twin=sides.upstream)
    asked = drop_already_present(result.decisions, draft.text)
    left = join_left_out(answered.drop_answered(asked, job.target.constructors))
    left = answered.drop_conditions_in_helpers(left, result.text, list_methods(draft.owner, job))
    decisions = [
        ported_passages.join_to_passage(
            make_review_of_decision(item, draft, job.path, line=item.line, sides=wording.PORTED), item.reason, passages
        )
        for item in left
    ]
    ported = draft.with_stage_and_moved_questions(result.text, "gpu").with_questions(*passages, *decisions)
    ported = ask_about_old_form_elsewhere(wrapped_returns.wrap_returns(ported, job, wrapped), job, sides)
    ported = ask_about_left_standing(ported, job, sides, context.side, pinned)
    lacking = find_lacking(result.decisions)
    return _Port(ported, is_whole=not lacking, lacking=lacking)


def _find_upstream_statements(draft: Draft, context: Context) -> frozenset[str]:
    """Return statements that a copy has from vllm-ascend; they stay even if the GPU runner and vLLM dropped them.

    Without vllm-ascend, returns those that vLLM has.
    """
    if draft.kind == "copy":
        return frozenset(lineage.fingerprint(draft.upstream or ""))
    if gpu_side.may_be_copy(draft, context.job):
        return context.side.from_vllm.get(draft.name, frozenset())
    return frozenset()


def _decline(draft: Draft, job: ModuleJob, sides: Triple, *, why: str, confidence: float) -> Draft:
    """Return the draft with a question why nothing was ported."""
    base, omni, upstream = sides.base, draft.text, sides.upstream
    return draft.with_questions(
        make_not_ported_review(draft, job.path, why=why, confidence=confidence, base=base, omni=omni, upstream=upstream)
    )
