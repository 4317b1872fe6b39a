"""Whether an upgrade goes back: it follows a vllm-ascend that is older than the one of the last run.

Comes in: a run's inputs. Goes out: a note, or none. May touch: the git history of vllm-ascend, by reading.
"""

from __future__ import annotations

from packaging.version import Version

from runner_sync.errors import InputError
from runner_sync.lock import FILE_NAME
from runner_sync.model import InGit, Tree
from runner_sync.sync import inputs


def note(given: inputs.Inputs) -> tuple[str, ...]:
    """A note where the lock names a later vllm-ascend than is followed; none where that cannot be told."""
    recorded = given.lock.inputs.get("vllm-ascend", "")
    if given.ascend is None or not recorded or not _is_before(given.ascend, recorded):
        return ()
    now = given.ascend.source.ref
    said = f"vllm-ascend {now} is older than {recorded}, which {FILE_NAME} records: this goes back, and "
    return (f"{said}what vllm-ascend gained in between is taken out again",)


def _is_before(tree: Tree, recorded: str) -> bool:
    if inputs.is_version(recorded) and tree.source.version is not None:
        return Version(tree.source.version) < Version(recorded)
    if not isinstance(tree, InGit) or tree.source.revision is None or tree.source.revision.startswith(recorded):
        return False
    try:
        return tree.fork_point(recorded) == tree.source.revision
    except InputError:
        return False  # a commit that is gone, or of another history
