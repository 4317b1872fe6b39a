"""Write a planned upgrade, and refuse beforehand what could not be written in the end.

Comes in: ``Upgrade`` and ``UpgradeOptions``. Goes out: the paths written. May touch: the omni tree or the folder of
``--out``, through ``write``; the cache, which keeps the review items for ``explain``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from runner_sync import sources, write
from runner_sync.compose.notes import CONFLICT, WORD
from runner_sync.errors import InputError
from runner_sync.model import ReviewItem
from runner_sync.sync import asked
from runner_sync.sync.options import PATH_VARIABLES, Tell, tell_nobody
from runner_sync.sync.planned import Upgrade
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.runners import DerivedModule, find_modules
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.trees import InWork, Tree
from runner_sync.units import texts
from runner_sync.upgrade import is_selected
from runner_sync.user_paths import resolved


def apply(
    planned: Upgrade, options: UpgradeOptions, *, prepare: Tell = tell_nobody, tell: Tell = tell_nobody
) -> tuple[str, ...]:
    """Write a planned upgrade, all files or none, keep its review items, and return the paths written.

    ``prepare`` receives the paths before anything is written, and an error in it prevents that. ``tell`` receives them
    afterwards, even if a signal then ends the run. Raises ``InputError`` without a folder to write to, for an ``--out``
    folder that is not empty, and for uncommitted changes unless ``--allow-dirty`` is given.
    """
    if planned.root is None:
        raise InputError("the omni tree is a release, not a folder: name a folder to write to with --out.")
    changes = [*planned.changes, *([planned.lock] if planned.lock is not None else [])]
    if options.out is not None:
        changes = [replace(change, before=None) for change in changes]
        _refuse_filled(options.out)
    elif not options.allow_dirty:
        tree = inputs.open_omni(options, with_lock=False).omni
        # `lock` may replace a lock with uncommitted changes, to mend a damaged one; valid entries are kept.
        mends = planned.report.command == "lock"
        _refuse_dirty(tree, [change.path for change in (planned.changes if mends else changes)], is_end=True)

    def make_ready(paths: tuple[str, ...]) -> None:
        prepare(paths)
        if options.out is not None:
            _make_folder(options.out)

    paths = write.write(changes, planned.root, prepare=make_ready, tell=tell)
    if planned.report.command == "upgrade" and planned.report.reviews:
        asked.keep(planned.root, [_place(item, planned) for item in planned.report.reviews])
    if planned.report.command == "lock":
        asked.forget_listed(planned.root)
    return paths


def _place(item: ReviewItem, planned: Upgrade) -> ReviewItem:
    """Return the item, ``in_file`` only if the text that was written has a comment or a conflict for it."""
    written = "".join(change.after or "" for change in planned.changes if change.path == item.path)
    return replace(item, in_file=f"{WORD} {item.id} " in written or f"{CONFLICT} {item.id}\n" in written)


def require_place(options: UpgradeOptions, *, is_lock: bool = False) -> None:
    """Raise ``InputError`` if the files of an upgrade, or with ``is_lock`` the lock alone, could not be written.

    Called before the work, so that a run of minutes is not refused at its end. Folders that options name wrongly are
    refused first: nobody should commit for a run that cannot begin.
    """
    for project in PATH_VARIABLES:
        tree = options.tree(project)
        if tree.path is not None:
            sources.open_path(project, tree.path, ref=tree.ref)
    if options.out is not None:
        _refuse_filled(options.out)
        _try_to_make(options.out)
    given = inputs.open_omni(options, with_lock=False)
    if options.out is not None:
        _refuse_inside(options.out, given)
    elif given.root is not None:
        chosen = (
            [] if is_lock else [derived for derived in find_modules(given) if _has_selected_unit(derived, options.only)]
        )
        write.refuse_lone_returns([found.path for found in chosen], given.root)
        paths = [] if options.only else [found.path for found in chosen]
        write.refuse_links([*paths, given.lock_file], given.root)
        if not options.allow_dirty:
            _refuse_dirty(given.omni, paths if is_lock or options.only else [*paths, given.lock_file])


def _has_selected_unit(derived: DerivedModule, only: Sequence[str]) -> bool:
    """Whether ``--only`` selects a unit of the module."""
    return not only or any(is_selected(name, only) for name in texts.unit_texts(derived.text, derived.path))


def _make_folder(out: Path) -> None:
    """Make the ``--out`` folder if it does not exist; raise ``InputError`` if that fails."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {out} ({error.strerror}): name another one with --out.") from error


def _try_to_make(out: Path) -> None:
    """Raise ``InputError`` if the folder cannot be made; remove a folder made for the test."""
    missing = [folder for folder in (out, *out.parents) if not folder.exists()]
    _make_folder(out)
    for folder in missing:
        folder.rmdir()


def _refuse_filled(out: Path) -> None:
    """Raise ``InputError`` for a folder that is not empty, because users copy all of it over a checkout."""
    taken = min((path.name for path in out.iterdir()), default="") if out.is_dir() else ""
    if taken:
        raise InputError(f"{out} already holds {taken}: name an empty folder with --out.")


def _refuse_inside(out: Path, given: inputs.Inputs) -> None:
    """Raise ``InputError`` for a folder inside the package, because a wheel would contain the runners twice."""
    package = given.profile.package
    if given.root is not None and resolved(out).is_relative_to(resolved(given.root / package)):
        raise InputError(f"{out} lies inside the package {package}: name a folder outside it with --out.")


def _refuse_dirty(tree: Tree, paths: Sequence[str], *, is_end: bool = False) -> None:
    """Raise ``InputError`` if one of ``paths`` has uncommitted changes, which would be overwritten.

    At the end of a run (``is_end``) they may come from another run.
    """
    found = tree.dirty(paths) if isinstance(tree, InWork) else []
    found = [path for path in found if tree.read(path) is not None]  # a deleted file has nothing to lose
    if found:
        again = " (or run this again, if another run wrote it meanwhile)" if is_end else ""
        have = "has" if len(found) == 1 else "have"
        raise InputError(
            f"{', '.join(found)} {have} uncommitted changes: commit or stash them (`git stash -u` also takes untracked "
            f"files), or pass --allow-dirty{again}."
        )
