"""Plan the lock of the runners as they stand (``lock``).

Comes in: ``UpgradeOptions``. Goes out: ``Upgrade``, which ``applying`` writes. May touch: what the rooms touch.
"""

from __future__ import annotations

from dataclasses import replace

from runner_sync.sync import planned, planning
from runner_sync.sync.classes.copied_definitions import note_copies
from runner_sync.sync.classes.parted_runners import note_left, read_whole_runners
from runner_sync.sync.locks import later_copies
from runner_sync.sync.locks.relocking import RecordedBases, drop_named_bases, note_lost, read_lock
from runner_sync.sync.nested import blame_deepest_file
from runner_sync.sync.notes import gone_commits
from runner_sync.sync.opening import open_inputs
from runner_sync.sync.planned import Upgrade
from runner_sync.sync.reporting import make_plan
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.runners import find_modules, refuse_classless, refuse_duplicate_class
from runner_sync.sync.upgrade_options import UpgradeOptions


def lock(options: UpgradeOptions) -> Upgrade:
    """Plan a lock of the runners as they stand: the base of each unit, from the old lock or else inferred."""
    # The old lock does not name the trees, because it may name unreadable ones, which a new lock must replace.
    given = open_inputs(options, with_lock=False)
    options = _pin_omni_base(options, given)
    modules = find_modules(given)
    refuse_classless(given, modules)
    refuse_duplicate_class(given, modules)
    given, parted = read_whole_runners(given)
    with blame_deepest_file(given):
        results, notes, twins = planning.plan(options, given, starts=False)
    known, unread = read_lock(given, options.progress)
    known = drop_named_bases(known.with_paths(given.moves), options)
    recorded = RecordedBases.of(known, given, options.progress)
    inferred = [planned.discard_changes(result) for result in results]
    seen = {result.path: result.path not in twins.unseen for result in inferred}
    unrecorded = {one.path for one in inferred if recorded.find_unrecorded(one, is_seen=seen[one.path])}
    recorded.refuse_shallow(inferred)
    twins.refuse_unseen(unrecorded)
    frozen = [recorded.carry_over(one, is_seen=seen[one.path]) for one in inferred]
    left = (*note_left(given, parted), *note_copies(given, parted), *note_lost(known, given))
    all_notes = (*twins.note_history(unrecorded), *notes, *unread, *left)
    notes = (*all_notes, *later_copies.make_note(frozen, given, options.progress))
    references = (ref for result in frozen for refs in result.synced.values() for ref in refs)
    notes = (*notes, *gone_commits.make_note(references, given))
    return make_plan("lock", frozen, notes=notes, given=replace(given, lock=known), options=options)


def _pin_omni_base(options: UpgradeOptions, given: inputs.Inputs) -> UpgradeOptions:
    """Replace a revision such as ``HEAD`` in ``--omni-base`` by its commit, because it moves with the next one."""
    base = options.omni_base
    if base is None or inputs.is_version(base):
        return options
    return replace(options, omni_base=inputs.open_at("vllm-omni", base, given.omni, options.progress).source.ref)
