"""Note copies that were made from a later vllm-ascend than the release of the lock.

Comes in: results as they stand, a run's inputs. Goes out: a note, or none. May touch: the later releases on the index,
up to the first with another text of a copied file.

    release      0.17.0rc1  0.18.0  0.19.1rc1  0.20.2rc1      `lock --ascend-version 0.18.0` takes 0.18.0 for the base,
    similarity        0.84    0.87       0.96       0.93      but the copy was made from 0.19.1rc1
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from packaging.version import Version

from runner_sync import sources
from runner_sync.errors import InputError
from runner_sync.lineage import similarity
from runner_sync.model import TITLES, BaseRef
from runner_sync.sync.options import Progress
from runner_sync.sync.trees import inputs
from runner_sync.trees import Tree
from runner_sync.units import texts
from runner_sync.upgrade import ModuleResult

MARGIN = 0.01
"""How much more similar a copy must be to the later release to be reported; a judgement.

Copies in 0.18.0 … 0.32.0rc1 are as similar to the release after their own, or less by 0.01 to 0.2.
"""


def make_note(results: Sequence[ModuleResult], given: inputs.Inputs, progress: Progress) -> tuple[str, ...]:
    """Note copies that are more similar to the next differing release than to any up to the followed one."""
    tree = given.followed
    if tree is None or tree.source.kind != "release" or tree.source.version is None:
        return ()
    copies = [*_find_inferred_copies(results)]
    if not copies:
        return ()
    later = _find_next_release(tree, sorted({base.path for _, _, base in copies}), progress)
    if later is None:
        return ()
    trees = {base.ref: inputs.open_at(tree.source.project, base.ref, None, progress) for _, _, base in copies}
    named = [name for name, text, base in copies if _is_closer(text, base, trees[base.ref], later)]
    if not named:
        return ()
    more = "1 copy is" if len(named) == 1 else f"{len(named)} copies are"
    text = f"{more} more like {TITLES[tree.source.project]} {later.source.ref} than any release up to {tree.source.ref}"
    remedy = (
        "lock with the release that the runners were last synced to, or an upgrade may take what is newer for omni's"
    )
    return (f"{text} ({', '.join(named)}): {remedy}",)


def _find_inferred_copies(results: Sequence[ModuleResult]) -> Iterator[tuple[str, str, BaseRef]]:
    """Yield name, text and base of each copy whose base was inferred."""
    for result in results:
        own = texts.unit_texts(result.before, result.path)
        for unit in result.units:
            if unit.kind == "copy" and unit.base is not None and unit.base.how in ("inferred", "composite"):
                yield unit.unit, own.get(unit.unit, ""), unit.base


def _find_next_release(tree: Tree, paths: Sequence[str], progress: Progress) -> Tree | None:
    """Return the first later release in which one of ``paths`` differs; ``None`` without one or if the index fails."""
    assert tree.source.version is not None
    given = Version(tree.source.version)
    try:
        for name in sources.releases(tree.source.project, progress=progress):
            if Version(name) > given:
                later = inputs.open_at(tree.source.project, name, None, progress)
                if any(later.read(path) != tree.read(path) for path in paths):
                    return later
    except InputError:
        return None  # only the note is lost, not the lock
    return None


def _is_closer(text: str, base: BaseRef, tree: Tree, later: Tree) -> bool:
    read = (texts.unit_texts(one.read(base.path) or "", base.path) for one in (tree, later))
    now, then = (units.get(base.qualname, "") for units in read)
    return bool(then) and similarity(text, then) >= similarity(text, now) + MARGIN
