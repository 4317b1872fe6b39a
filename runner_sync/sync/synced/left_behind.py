"""Find what a run with a named omni base leaves out: what the GPU twins gained between the lock and that base.

Who ports one commit names its parent. What the lock has not recorded as ported by then is no part of that port, so the
lock goes on naming the older text, and the next upgrade brings the rest.

Comes in: the ``Inputs`` and options of a run. Goes out: lock entries, and whether questions are left open. May touch:
what ``sources`` touches.
"""

from __future__ import annotations

from packaging.version import Version

from runner_sync.errors import InputError
from runner_sync.model import BaseRef
from runner_sync.sync.classes.whole_classes import read_whole
from runner_sync.sync.options import Progress
from runner_sync.sync.trees import inputs
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.trees import InGit, Tree


def find_left_behind(path: str, given: inputs.Inputs, options: UpgradeOptions) -> dict[str, BaseRef]:
    """Return the locked GPU texts of a module, by unit, that are of an earlier revision than the named base."""
    if options.omni_base is None:
        return {}
    locked = {entry.qualname: entry.gpu for entry in given.lock.of(path) if entry.gpu is not None}
    base = inputs.open_at("vllm-omni", options.omni_base, given.omni, options.progress)
    refs = {gpu.ref for gpu in locked.values()}
    older = {ref for ref in refs if _is_later(base, ref, given.omni, options.progress)}
    return {name: gpu for name, gpu in locked.items() if gpu.ref in older}


def leaves_questions(given: inputs.Inputs, options: UpgradeOptions) -> bool:
    """Whether a GPU twin changed between the revision of the last questions and the named base."""
    recorded = given.lock.inputs.get("vllm-omni")
    if options.omni_base is None or recorded is None:
        return False
    base = inputs.open_at("vllm-omni", options.omni_base, given.omni, options.progress)
    if not _is_later(base, recorded, given.omni, options.progress):
        return False
    then = inputs.open_at("vllm-omni", recorded, given.omni, options.progress)
    return any(read_whole(then, path, given) != read_whole(base, path, given) for path in given.lock.gpu_paths)


def _is_later(base: Tree, recorded: str, omni: Tree, progress: Progress) -> bool:
    """Whether ``base`` is certainly no earlier revision of omni than ``recorded``; false if that one is gone."""
    try:
        if isinstance(base, InGit) and base.source.revision is not None and not inputs.is_version(recorded):
            revision = base.source.revision
            return not revision.startswith(recorded) and base.fork_point(recorded) != revision
        is_release = inputs.is_version(recorded)
        then = recorded if is_release else inputs.open_at("vllm-omni", recorded, omni, progress).source.version
    except InputError:
        return False
    now = base.source.version
    return now is not None and then is not None and Version(now) >= Version(then)
