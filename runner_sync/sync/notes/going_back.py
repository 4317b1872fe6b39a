"""Note that an upgrade goes back to an upstream older than that of the last run.

Comes in: a run's inputs. Goes out: a note, or none. May touch: the git history of vllm-ascend, by reading.
"""

from __future__ import annotations

from packaging.version import Version

from runner_sync.errors import InputError
from runner_sync.model import TITLES
from runner_sync.sync.trees import inputs
from runner_sync.trees import InGit, Tree


def make_note(given: inputs.Inputs) -> tuple[str, ...]:
    """Note that the lock records a later upstream than the followed one, or one that was followed with a later vLLM.

    Returns nothing if the order of the two is unknown.
    """
    project = given.profile.followed
    recorded = given.lock.inputs.get(project, "")
    if given.followed is None or not recorded:
        return ()
    now, loss = given.followed.source.ref, f"what {TITLES[project]} gained in between is removed again"
    then = f"{recorded}, which {given.lock_file} records"
    if _is_before(given.followed, recorded):
        return (f"{TITLES[project]} {now} is older than {then}: this run goes back, and {loss}",)
    later = _find_later_vllm(given)
    if later and given.vllm is not None and now != recorded:
        text = f"{TITLES[project]} {now} is for vLLM {given.vllm.source.version}, and {then}"
        return (f"{text}, was followed with vLLM {later}: where this run goes back, {loss}",)
    return ()


def _find_later_vllm(given: inputs.Inputs) -> str:
    """Return the vLLM version that the lock records, if it is later than this run's; else empty."""
    recorded, vllm = given.lock.inputs.get("vllm", ""), given.vllm
    if vllm is None or vllm.source.version is None or not inputs.is_version(recorded):
        return ""
    return recorded if Version(vllm.source.version) < Version(recorded) else ""


def _is_before(tree: Tree, recorded: str) -> bool:
    """Whether ``tree`` is an earlier release than ``recorded`` or, in git, an ancestor of it; false in doubt."""
    if inputs.is_version(recorded) and tree.source.version is not None:
        return Version(tree.source.version) < Version(recorded)
    if not isinstance(tree, InGit) or tree.source.revision is None or tree.source.revision.startswith(recorded):
        return False
    try:
        return tree.fork_point(recorded) == tree.source.revision
    except InputError:
        return False  # the commit is gone or belongs to another history
