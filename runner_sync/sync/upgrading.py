"""Plan the upgrade of a tree (``upgrade``).

Comes in: ``UpgradeOptions``. Goes out: ``Upgrade``, which ``applying`` writes. May touch: what the rooms touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from runner_sync.compose.layout import format_changes
from runner_sync.errors import REPORT_MISTAKE, attempt
from runner_sync.sync import planning, result_check
from runner_sync.sync.classes.copied_definitions import note_copies
from runner_sync.sync.classes.parted_runners import note_left, read_whole_runners
from runner_sync.sync.forgetting import forget_answers
from runner_sync.sync.nested import blame_deepest_file
from runner_sync.sync.notes import older_code, run_notes
from runner_sync.sync.opening import open_inputs
from runner_sync.sync.part_results import join_results, name_after_runners, split_results
from runner_sync.sync.planned import Upgrade
from runner_sync.sync.platform_words import name_platform_in_questions
from runner_sync.sync.reporting import make_plan
from runner_sync.sync.synced.inference import find_declared_base
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.runners import (
    find_modules,
    refuse_classless,
    refuse_deleted,
    refuse_duplicate_class,
    refuse_indentation,
    refuse_twinless,
)
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.upgrade import ModuleResult, finish


def upgrade(options: UpgradeOptions) -> Upgrade:
    """Plan an upgrade: read the trees, merge, port and check the result, without writing anything."""
    given = open_inputs(options)
    _refuse_unfit(given)
    base = find_declared_base(options, given)
    with blame_deepest_file(given):
        together, parted = read_whole_runners(given)
        results, notes, twins = planning.plan(replace(options, vllm_base=base) if base else options, together)
        pieces = split_results(results, parted, package=given.profile.package)
        formatted = [_format_result(result, options, given) for result in pieces]
        finished = name_after_runners([result for result, _failure in formatted], parted)
        whole = join_results(finished, results, parted)
        about_bases, unseen = (*twins.make_notes(), *twins.note_guessed(), *notes), twins.unseen
        del results, pieces, twins
        forget_answers()
        older = attempt(
            partial(_note_older_code, whole, options, together),
            partial(_complain, "older code was not looked for"),
            isolates=options.isolates,
        )
        checked = _verify(given, finished, options)
        forget_answers()
        findings = (*checked.findings, *result_check.find_new_faults(finished, given.profile, options))
    all_notes = (
        *_note_declared_base(base),
        *(run_notes.note_going_back(given) if options.upstream else ()),
        *about_bases,
        *note_left(given, parted),
        *note_copies(given, parted),
        *run_notes.note_unformatted(failure for _result, failure in formatted),
        *(*checked.notes, *older),
    )
    made = make_plan(
        "upgrade",
        finished,
        whole=whole,
        findings=findings,
        notes=all_notes,
        given=given,
        options=options,
        unseen=unseen,
    )
    return replace(made, report=replace(made.report, fitted=checked.fitted))


def _verify(given: inputs.Inputs, results: Sequence[ModuleResult], options: UpgradeOptions) -> result_check.Verified:
    """Return what is wrong with the result in the target trees; a note if this program makes a mistake meanwhile."""
    work = partial(result_check.find_new_breakage, given, results, options)
    return attempt(
        work, lambda why: result_check.Verified(notes=_complain("not verified", why)), isolates=options.isolates
    )


def _complain(what: str, why: str) -> tuple[str, ...]:
    return (f"{what}, by a mistake in runner-sync ({why}); {REPORT_MISTAKE}",)


def _refuse_unfit(given: inputs.Inputs) -> None:
    """Raise ``InputError`` for runners that an upgrade cannot read or must not replace."""
    modules = find_modules(given)
    refuse_twinless(given)
    refuse_deleted(given, modules)
    refuse_classless(given, modules)
    refuse_duplicate_class(given, modules)
    refuse_indentation(modules)


def _note_older_code(results: list[ModuleResult], options: UpgradeOptions, given: inputs.Inputs) -> tuple[str, ...]:
    """Note what the runners lacked before this upgrade, of the GPU side and of upstream."""
    notes = older_code.note_gpu_code(results, given, options)
    if options.upstream and given.profile.followed is not None:
        notes = (*notes, *older_code.note_upstream_code(results, given.profile.followed, options))
    return notes


def _note_declared_base(base: str | None) -> tuple[str, ...]:
    if base is None:
        return ()
    return (f"what vLLM changed counts since {base}, which the omni tree is for (--vllm-base names another)",)


def _format_result(result: ModuleResult, options: UpgradeOptions, given: inputs.Inputs) -> tuple[ModuleResult, str]:
    """Format the changed text and add review comments; return the result and why formatting failed, or ``""``.

    An unchanged module keeps its bytes.
    """
    if result.after == result.before:
        return result, ""
    text, failure = format_changes(result.before, result.after, path=result.path, root=given.root)
    result = replace(result, reviews=name_platform_in_questions(result.reviews, given.profile))
    return finish(result, text, with_conflicts=options.conflict == "inline"), failure
