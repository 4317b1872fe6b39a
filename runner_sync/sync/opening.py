"""Open the trees of ``upgrade`` and ``lock``: omni's, the followed upstream and vLLM.

Comes in: ``UpgradeOptions``. Goes out: ``Inputs``. May touch: what ``sources`` touches.
"""

from __future__ import annotations

from runner_sync import sources
from runner_sync.errors import InputError
from runner_sync.sync.locks.relocking import read_lock
from runner_sync.sync.synced.claims import mark_altered
from runner_sync.sync.trees import inputs
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.trees import Tree


def open_inputs(options: UpgradeOptions, *, with_lock: bool = True) -> inputs.Inputs:
    """Open the trees of a run, which options, environment, configuration or installation name.

    If none of these names the followed tree, the lock does. With ``--gpu-only`` the followed tree is optional, because
    it only tells which units are copies. Raises ``InputError`` for a tree that cannot be opened, and for options that
    do not apply to the profile.
    """
    given = inputs.open_omni(options, with_lock=with_lock)
    if not options.upstream and not given.profile.has_twins:
        raise InputError("no module of the profile has a GPU twin (`gpu`), so there is nothing to port from.")
    project = given.profile.followed
    inputs.refuse_unread(given.profile, options.ascend, options.ascend_base)
    if options.omni_base is not None and not given.profile.has_twins:
        raise InputError("--omni-base names what GPU twins were ported at, and no module of the profile has one.")
    if options.upstream:
        inputs.require_one_followed(given.profile)
    followed = inputs.open_target(project, options.tree(project), given.config, options.progress)
    known = given.lock if with_lock else read_lock(given, options.progress)[0]
    try:
        followed = followed or inputs.open_locked(project, known, given.lock_file, options.progress)
    except InputError:
        if options.upstream:
            raise  # only a port from the GPU runners can do without: the lock says which units are copies
    if options.upstream:
        followed = inputs.require_tree(project, followed, known, given.lock_file)
    given = mark_altered(options, given.with_followed(followed))
    return given if project == "vllm" else given.with_trees({"vllm": _open_vllm(options, given)})


def _open_vllm(options: UpgradeOptions, given: inputs.Inputs) -> Tree | None:
    """Open the vLLM that is named, else the one that vllm-ascend declares; return ``None`` without either."""
    tree = inputs.open_target("vllm", options.vllm, given.config, options.progress)
    if tree is not None or given.ascend is None:
        return tree
    version = sources.declared_vllm(given.ascend)
    if version is None:
        return None
    return inputs.open_at("vllm", version, None, options.progress)
