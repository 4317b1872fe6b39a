"""Read modules at named revisions, and check that revisions in the lock still have the locked texts.

Comes in: a run's inputs, revisions, paths. Goes out: ``ModuleRevision`` values. May touch: what ``sources`` touches.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runner_sync.errors import InputError
from runner_sync.model import TITLES, BaseRef, Project
from runner_sync.sync.classes.whole_classes import read_whole
from runner_sync.sync.options import Progress
from runner_sync.sync.synced.locked import ANEW, find_changed_unit, require_locked
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.moved_files import has_class_of
from runner_sync.sync.trees.runners import DerivedModule
from runner_sync.trees import InGit, Tree
from runner_sync.units import texts
from runner_sync.upgrade import ModuleRevision

UNSHALLOW = "git fetch --unshallow --tags"
"""The command that completes a shallow clone."""


def is_shallow(tree: Tree | None) -> bool:
    """Whether ``tree`` is in a clone that has only a part of the history."""
    return isinstance(tree, InGit) and tree.is_shallow()


def refuse_shallow(tree: Tree | None, ref: str, lock_file: str) -> None:
    """Raise ``InputError`` if ``tree`` is in a shallow clone, which may lack only for that the commit ``ref`` of the
    lock."""
    if tree is not None and is_shallow(tree) and not inputs.is_version(ref):
        source = tree.source
        clone = "this shallow clone" if source.project == "vllm-omni" else f"the shallow clone {source.location}"
        raise InputError(
            f"{lock_file} names {TITLES[source.project]} {ref}, which {clone} does not have: complete the clone with "
            f"{UNSHALLOW}."
        )


def refuse_without_git(tree: Tree | None, ref: str, lock_file: str) -> None:
    """Raise ``InputError`` if the lock's ``ref`` is a git revision and ``tree`` is no git checkout."""
    if tree is not None and not isinstance(tree, InGit) and not inputs.is_version(ref):
        source = tree.source
        remedy = (
            "name one with --omni-path CHECKOUT"
            if source.project == "vllm-omni"
            else inputs.remedy_for_commit(source.project)
        )
        raise InputError(
            f"{lock_file} names {TITLES[source.project]} {ref}, a git revision, and {source.location} is no git "
            f"checkout: {remedy}."
        )


class Revisions:
    """Reads modules of the three projects at other revisions than the run's, and opens each tree once.

    ``notes`` are for the report.
    """

    def __init__(self, given: inputs.Inputs, progress: Progress) -> None:
        self.given = given
        self.progress = progress
        self.notes: list[str] = []
        self._trees: dict[tuple[str, str], Tree] = {}

    def add_note(self, text: str) -> None:
        """Add a note unless it exists."""
        self.notes += [text] if text not in self.notes else []

    def at(self, project: Project, ref: str, *paths: str) -> ModuleRevision:
        """Return a module at a revision, from the first of ``paths`` there; its text is empty if there is none.

        If a file has moved, its former paths count, too, and the first that has the class is taken: the new file may be
        older than the move, and the old one may have stayed without the class.
        """
        tree = self.open_tree(project, ref)
        places = dict.fromkeys(place for path in paths for place in self.given.places_of(path))
        found = [(text, path) for path in places if (text := read_whole(tree, path, self.given)) is not None]
        if self.given.moves:
            found.sort(key=lambda one: not any(has_class_of(self.given.profile, path, one[0]) for path in paths))
        return ModuleRevision(ref, *next(iter(found), ("", paths[-1])))

    def open_tree(self, project: Project, ref: str) -> Tree:
        """Open the project at a revision or release; raise ``InputError`` if that fails."""
        key = (project, ref)
        if key not in self._trees:
            self._trees[key] = inputs.open_at(project, ref, self.given.trees.get(project), self.progress)
        return self._trees[key]

    def read_locked(
        self, project: Project, ref: str, path: str, at_hand: ModuleRevision | None = None
    ) -> ModuleRevision:
        """Return the module at ``ref``, which the lock names, with the locked texts; ``at_hand`` if it has them.

        If the commit is gone (a squash, a rebase) or has changed texts, takes another commit with the locked texts.
        Raises ``InputError`` if there is none.
        """
        references = self.given.lock.references(project, ref, path)
        if at_hand is not None and at_hand.ref == ref and not find_changed_unit(references, at_hand.text, path):
            return at_hand
        try:
            side = self.at(project, ref, path)
        except InputError as error:
            if (same := self._find_locked_texts(project, ref, path)) is not None:
                return same
            refuse_shallow(self.given.trees.get(project), ref, self.given.lock_file)
            refuse_without_git(self.given.trees.get(project), ref, self.given.lock_file)
            why = str(error).rstrip(".")
            raise InputError(
                f"{self.given.lock_file} names {TITLES[project]} {ref}, which cannot be read ({why}): {ANEW}."
            ) from error
        if find_changed_unit(references, side.text, path):
            same = self._find_locked_texts(project, ref, path)
            if same is not None:
                return same
            require_locked(references, side.text, path, self.given.lock_file)
        return side

    def _find_locked_texts(self, project: Project, ref: str, path: str) -> ModuleRevision | None:
        """Return the module, as ``ref``, at the commit of `find_commit_like`."""
        commit = find_commit_like(ref, self.given, project, path)
        if commit is None:
            return None
        named = f"{self.given.lock_file} names {TITLES[project]} {ref}"
        self.add_note(f"{named}; commit {commit[:10]} was read instead, which has the same texts")
        return replace(self.at(project, commit, path), ref=ref)

    def read_vllm(self, version: str, derived: DerivedModule) -> ModuleRevision:
        """Return the vLLM module that ``derived`` goes back to, at a version."""
        return self.at("vllm", version, self.given.profile.vllm_of(derived.module).path)


def find_commit_like(ref: str, given: inputs.Inputs, project: Project, path: str = "") -> str | None:
    """Return the oldest commit of the checkout that has every text of the module locked under ``ref``.

    A later commit may have new members, about which nobody decided when the lock was written. A module without texts
    locked under ``ref`` is located by those of another module. A module with locked texts must be located by its own,
    or later changes in it would pass for known.
    """
    tree = given.trees.get(project)
    if not isinstance(tree, InGit):
        return None
    both = [one for entry in given.lock.entries for one in (entry.upstream, entry.gpu) if one is not None]
    locked = dict.fromkeys(one.path for one in both if one.project == project and one.ref == ref)
    for place in [path] if path in locked else locked:
        references = given.lock.references(project, ref, place)
        for revision in reversed(tree.history(place)):
            if _has_texts(references, tree.read_blob(revision.blob), place):
                return revision.commit
    return None


def _has_texts(references: Sequence[BaseRef], text: str, path: str) -> bool:
    """Whether ``text`` has every unit that ``references`` lock, unchanged; false if it does not parse."""
    try:
        names = texts.unit_texts(text, path).keys()
    except InputError:
        return False
    return all(one.qualname in names for one in references) and not find_changed_unit(references, text, path)
