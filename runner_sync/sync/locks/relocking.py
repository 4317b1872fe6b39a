"""Carry over into a new lock what the old lock recorded, instead of inferring it again.

Comes in: the results of a run as they stand, the old lock, the trees. Goes out: results with the recorded references.
May touch: what ``sources`` touches.

Inference sees only similarity. After an upgrade whose questions were settled by hand, a text may resemble several
releases, and only the lock knows which one was merged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from runner_sync.digests import name_state
from runner_sync.errors import InputError, UnknownFormat
from runner_sync.lineage.alignment import aligned_with
from runner_sync.lineage.inlined import append_helpers, find_twin_helpers
from runner_sync.lock import Entry, Lock, is_lock, load
from runner_sync.model import BaseRef, Project
from runner_sync.sync.classes.whole_classes import read_whole
from runner_sync.sync.options import Progress
from runner_sync.sync.synced.locked import find_changed_unit
from runner_sync.sync.synced.revisions import Revisions, is_shallow, refuse_shallow
from runner_sync.sync.trees import inputs
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.trees import InGit, Tree
from runner_sync.units import texts
from runner_sync.upgrade import ModuleResult, ModuleRevision
from runner_sync.verify.runners import locked
from runner_sync.verify.runners.reading import Reading
from runner_sync.verify.runners.unlocked import key_by_npu_name


def read_lock(given: inputs.Inputs, progress: Progress) -> tuple[Lock, tuple[str, ...]]:
    """Read the lock of an omni tree or, if it is damaged, for instance by a merge, the committed one with a note.

    Returns an empty lock if there is none or both are damaged, because a new lock is about to be written. Raises
    ``InputError`` for a file that is no lock or not UTF-8, and for one of another runner-sync version: all would be
    lost.
    """
    name = given.lock_file
    text = inputs.read_lock_text(given.omni, name)
    if text is None:
        return Lock(), ()
    if not is_lock(text):
        raise InputError(
            f"{name}: is no lock and would be overwritten; delete it, or name another file with `lock-file`."
        )
    try:
        return load(text, path=name), ()
    except UnknownFormat:
        raise
    except InputError as error:
        known = _read_committed_lock(given.omni, name, progress)
        kept = "what it recorded was taken from the committed one" if known is not None else "every base was inferred"
        return known or Lock(), (f"{str(error).rpartition('; ')[0]}, so {kept}",)


def _read_committed_lock(tree: Tree, name: str, progress: Progress) -> Lock | None:
    try:
        text = inputs.open_at("vllm-omni", "HEAD", tree, progress).read(name) if isinstance(tree, InGit) else None
        return load(text, path=f"the committed {name}") if text is not None else None
    except UnknownFormat:
        raise
    except InputError:
        return None


def drop_named_bases(lock: Lock, options: UpgradeOptions) -> Lock:
    """Drop from ``lock`` the references whose base the options name."""
    named: dict[Project, str | None] = {"vllm-ascend": options.ascend_base, "vllm-omni": options.omni_base}
    projects = {project for project, base in named.items() if base is not None}

    def keep_unnamed(ref: BaseRef | None) -> BaseRef | None:
        return None if ref is not None and ref.project in projects else ref

    entries = tuple(
        replace(entry, upstream=keep_unnamed(entry.upstream), gpu=keep_unnamed(entry.gpu)) for entry in lock.entries
    )
    return replace(lock, entries=entries, inputs={k: v for k, v in lock.inputs.items() if k not in projects})


def note_lost(lock: Lock, given: inputs.Inputs) -> tuple[str, ...]:
    """Note the files that the old lock records and the tree lacks, which the new lock will not mention."""
    named = {entry.path for entry in lock.entries} | lock.gpu_paths
    lost = sorted(path for path in named if given.omni.read(path) is None)
    if not lost:
        return ()
    text = f"no longer recorded, because the tree does not have it: {', '.join(lost)}"
    return (f"{text}; where it has another path now, say so with `extend-modules` in the configuration",)


@dataclass(frozen=True, slots=True)
class RecordedBases:
    """The old lock, and the trees that show which of its entries are still valid."""

    lock: Lock
    given: inputs.Inputs
    revisions: Revisions

    @classmethod
    def of(cls, lock: Lock, given: inputs.Inputs, progress: Progress) -> RecordedBases:
        return cls(lock, given, Revisions(replace(given, lock=lock), progress))

    def carry_over(self, result: ModuleResult, *, is_seen: bool = True) -> ModuleResult:
        """Put the valid references of the old lock into ``result``.

        If earlier twin revisions were not seen, a unit edited since keeps the GPU reference of its entry, or gets the
        present one if it is nearer to the present text.
        """
        valid = self._find_valid_entries(result)
        edited = (
            {} if is_seen else {e.qualname: e.gpu for e in self._find_readable_twins(result) if e.qualname not in valid}
        )

        def choose(name: str, base: BaseRef | None, gpu: BaseRef | None) -> tuple[BaseRef | None, BaseRef | None]:
            if (entry := valid.get(name)) is not None:
                return entry.upstream or base, self._name_helpers(result, name, entry.gpu) or gpu
            then = edited.get(name)
            is_behind = then is not None and gpu is not None and self._is_nearer_to_old_twin(result, name, then, gpu)
            return base, then if is_behind else gpu

        synced = {name: choose(name, *pair) for name, pair in result.synced.items()}
        for name in valid:
            synced.setdefault(name, choose(name, None, None))
        units = []
        for unit in result.units:
            base, gpu = choose(unit.unit, unit.base, unit.gpu)
            units.append(replace(unit, base=base, gpu=gpu))
        return replace(result, units=tuple(units), synced=synced)

    def find_unrecorded(self, result: ModuleResult, *, is_seen: bool) -> frozenset[str]:
        """Return the units whose GPU text was inferred because no valid old entry records it.

        If earlier twin revisions were not seen, any readable entry of the unit's own counts.
        """
        recorded = {name for name, entry in self._find_valid_entries(result).items() if entry.gpu is not None}
        recorded |= set() if is_seen else {entry.qualname for entry in self._find_readable_twins(result)}
        return frozenset(
            name for name, (_base, gpu) in result.synced.items() if gpu is not None and name not in recorded
        )

    def _find_valid_entries(self, result: ModuleResult) -> dict[str, Entry]:
        """Return the entries of a module that go into the new lock, by unit."""
        npu = Reading(result.path, result.before)
        return {e.qualname: e for e in self.lock.entries if e.path == result.path and self._is_valid(e, npu)}

    def _find_readable_twins(self, result: ModuleResult) -> list[Entry]:
        """Return the entries of a module whose GPU text can be read."""
        return [e for e in self.lock.entries if e.path == result.path and e.gpu and self._is_readable(e.gpu)]

    def _is_nearer_to_old_twin(self, result: ModuleResult, name: str, then: BaseRef, now: BaseRef) -> bool:
        """Whether a unit is still nearer to the GPU text of ``then`` than to that of ``now``."""
        npu_units = texts.unit_texts(result.before, result.path)
        sides = (self._read_revision(then).text, self.given.omni.read(now.path) or "")
        before, after = (append_helpers(name, npu_units, self._key_by_npu_name(text, now.path)) for text in sides)
        return aligned_with(npu_units.get(name, ""), [before, after], after) == 0

    def _name_helpers(self, result: ModuleResult, name: str, ref: BaseRef | None) -> BaseRef | None:
        """Add the helpers in place to a recorded GPU text; locks of earlier versions do not record them."""
        if ref is None or ref.helpers:
            return ref
        twin = self._key_by_npu_name(self._read_revision(ref).text, ref.path)
        found = find_twin_helpers(name, texts.unit_texts(result.before, result.path), twin)
        written = texts.unit_texts(self._read_revision(ref).text, ref.path)
        names = map(self.given.profile.gpu_name, found)
        return replace(ref, helpers=tuple(sorted(name_state(one, written[one]) for one in names)))

    def _key_by_npu_name(self, text: str, path: str) -> dict[str, str]:
        """Return the units of a GPU text, translated, by their NPU names."""
        return key_by_npu_name(texts.unit_texts(text, path), self.given.profile)

    def _is_valid(self, entry: Entry, npu: Reading) -> bool:
        """Whether an entry goes into the new lock: its references can be read, and its unit has not been edited since.

        An edited unit keeps its entry, too, if its upstream (else GPU) text is still that of the tree at hand, because
        the edit then followed that upgrade and did not undo it.
        """
        edited = locked.is_edited(entry, npu)
        named = [one for one in (entry.upstream, entry.gpu) if one is not None]
        if edited is None or not named or not all(map(self._is_readable, named)):
            return False
        return not edited or not self._has_moved(named[0])

    def refuse_shallow(self, results: Iterable[ModuleResult]) -> None:
        """Raise ``InputError`` if an entry may be invalid only because a shallow clone lacks the commit that it names.

        Inferring what the entry records would replace it by a guess.
        """
        if not any(map(is_shallow, self.given.trees.values())):
            return
        readings = {result.path: Reading(result.path, result.before) for result in results}
        for entry in self.lock.entries:
            edited = locked.is_edited(entry, readings[entry.path]) if entry.path in readings else None
            named = [one for one in (entry.upstream, entry.gpu) if one is not None]
            if edited is None or not named or (edited and self._has_moved(named[0])):
                continue
            for ref in named:
                if self._has_file(ref) and self._find_revision(ref) is None:
                    refuse_shallow(self.given.trees.get(ref.project), ref.ref, self.given.lock_file)

    def _is_readable(self, ref: BaseRef) -> bool:
        side = self._find_revision(ref) if self._has_file(ref) else None
        return side is not None and bool(side.text) and not find_changed_unit([ref], side.text, ref.path)

    def _has_file(self, ref: BaseRef) -> bool:
        """Whether the omni tree still has the GPU file of ``ref``; true for a reference to another project."""
        return ref.project != "vllm-omni" or self.given.omni.read(ref.path) is not None

    def _find_revision(self, ref: BaseRef) -> ModuleRevision | None:
        """Return the module revision that ``ref`` names; ``None`` if it cannot be read."""
        try:
            return self._read_revision(ref)
        except InputError:
            return None

    def _read_revision(self, ref: BaseRef) -> ModuleRevision:
        """Read the module revision that ``ref`` names or, if its commit is gone, another one with the same texts."""
        try:
            return self.revisions.at(ref.project, ref.ref, ref.path)
        except InputError:
            return self.revisions.read_locked(ref.project, ref.ref, ref.path)

    def _has_moved(self, ref: BaseRef) -> bool:
        """Whether the tree at hand has another text of the unit than the locked one."""
        tree = self.given.trees.get(ref.project)
        text = read_whole(tree, ref.path, self.given) if tree is not None else None
        if text is None:
            return True
        now = Reading(ref.path, text)
        return locked.is_changed(ref, now, quick=None) or bool(locked.find_changed_helpers(ref, now))
