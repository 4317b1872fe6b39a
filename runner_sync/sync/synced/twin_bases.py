"""Find the GPU twin revisions that the derived modules were last aligned with: by option, lock, history or release.

Comes in: options and trees. Goes out: ``ModuleRevision`` and ``GpuBase`` values. May touch: what ``sources`` touches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import PurePosixPath

from packaging.version import Version

from runner_sync import sources
from runner_sync.errors import InputError
from runner_sync.sync.classes.whole_classes import read_whole, read_whole_twin
from runner_sync.sync.synced import window
from runner_sync.sync.synced.revisions import UNSHALLOW, Revisions, is_shallow
from runner_sync.sync.trees import history, inputs
from runner_sync.sync.trees.runners import DerivedModule
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.trees import InGit
from runner_sync.upgrade import GpuBase, ModuleRevision

RELEASES = 4
"""How many omni releases back the GPU twin is compared with if neither lock nor option names its base.

A judgement between the cost of reading and how long a port waits. Of four upgrades, one comes out differently with
three releases, by 357 lines, and two with six, by four.
"""


class TwinBases:
    """Finds the revisions of the GPU twins that the modules may have been aligned with."""

    def __init__(
        self,
        options: UpgradeOptions,
        given: inputs.Inputs,
        modules: Sequence[DerivedModule],
        revisions: Revisions,
        *,
        without: str = "only missing members and mixins are ported, and the lock names no GPU text",
    ) -> None:
        """``without`` says, for a note, what the run does if no earlier revision is at hand."""
        self.options = options
        self.given = given
        self.modules = modules
        self.revisions = revisions
        self._without = without
        self._unread = ""
        self._by_history: dict[str, str] = {}
        self._unseen: list[str] = []
        self._guessed: list[str] = []

    @property
    def unseen(self) -> tuple[str, ...]:
        """The queried modules without an earlier twin revision, so that nobody knows what NPU has of the twin.

        Excludes the first release, which has no earlier one. Includes a release in a shallow clone: its twins are
        compared with those of the last releases, but only the missing history tells with which they were aligned.
        """
        return (*self._unseen, *self._guessed)

    def make_notes(self) -> tuple[str, ...]:
        """Note what the queried modules were compared with, if neither an option nor the lock named it."""
        return (*self.note_history([*self._by_history]), *self._note_unseen())

    def note_history(self, paths: Collection[str]) -> tuple[str, ...]:
        """Note the commits that aligned the modules in ``paths`` whose bases came from history."""
        commits = {path: commit for path, commit in self._by_history.items() if path in paths}
        if not commits:
            return ()
        since = ", ".join(f"{PurePosixPath(path).name} {commit}" for path, commit in commits.items())
        return (f"what the GPU runners gained counts since the last commit that aligned each: {since}",)

    def refuse_unseen(self, paths: Collection[str]) -> None:
        """Raise ``InputError`` if any of the modules in ``paths`` is ``unseen``.

        Recording the present twin as its base would settle whatever the module lacks.
        """
        if not (named := [path for path in self.unseen if path in paths]):
            return
        names, verb = ", ".join(PurePosixPath(path).name for path in named), "was" if len(named) == 1 else "were"
        present = "HEAD" if isinstance(self.given.omni, InGit) else self.given.omni.source.ref
        fetch = f"complete the clone with {UNSHALLOW}, or " if is_shallow(self.given.omni) else ""
        raise InputError(
            f"cannot tell with which GPU runners {names} {verb} last aligned ({self._why_unseen()}): {fetch}name the "
            f"old omni with --omni-base, {present} if they are in step with the present ones."
        )

    def read_twin(self, derived: DerivedModule) -> ModuleRevision | None:
        """Return the GPU twin as the omni tree has it; ``None`` if there is none."""
        if derived.module.gpu is None:
            return None
        text = read_whole_twin(derived.module, self.given)
        return ModuleRevision(self.given.omni.source.ref, text, derived.module.gpu.path) if text is not None else None

    def read_settled(self, derived: DerivedModule) -> ModuleRevision | None:
        """Return the GPU twin at the last upgrade that ported it, which settled what NPU lacks of it."""
        return self._read_settled(derived) if self.options.omni_base is None else None

    def read_asked(self, derived: DerivedModule) -> ModuleRevision | None:
        """Return what `read_settled` does, also if an option names the base; ``None`` if it cannot be read then."""
        if self.options.omni_base is None:
            return self._read_settled(derived)
        with suppress(InputError):
            return self._read_settled(derived)
        return None

    def _read_settled(self, derived: DerivedModule) -> ModuleRevision | None:
        ref = self.given.lock.inputs.get("vllm-omni")
        if ref is None or derived.module.gpu is None:
            return None
        if ref == self.given.omni.source.ref:
            return self.read_twin(derived)
        return self.revisions.read_locked("vllm-omni", ref, derived.module.gpu.path)

    def find_bases(self, derived: DerivedModule) -> tuple[GpuBase, ...]:
        """Return the GPU twin revisions that ``derived`` may have been aligned with, oldest first.

        Each has vLLM's module of its time. Raises ``InputError`` if a named revision cannot be read.
        """
        known = [GpuBase(side, self._make_vllm_loader(side.ref, derived)) for side in self.find_sides(derived)]
        now = self.read_twin(derived)
        if self.options.omni_base is None and now is not None:
            known.append(GpuBase(now, lambda: self.read_vllm_now(derived)))
        return tuple(known)

    def find_sides(self, derived: DerivedModule) -> tuple[ModuleRevision, ...]:
        """Return the earlier revisions among the bases, without vLLM's module; raise the same error."""
        assert derived.module.gpu is not None
        path = derived.module.gpu.path
        read = self.revisions.read_locked if self._is_locked(derived) else self.revisions.at
        return tuple(side for ref in self._find_refs(derived) if (side := read("vllm-omni", ref, path)).text)

    def find_earlier(self, derived: DerivedModule) -> tuple[GpuBase, ...]:
        """Return the twin at the releases or alignments before the bases, oldest first.

        Returns nothing unless an option or the history of the checkout gave the bases. Otherwise several releases are
        at hand already, and what a lock leaves out was settled.
        """
        assert derived.module.gpu is not None
        if self._is_locked(derived) or (self.options.omni_base is None and derived.path not in self._commits_by_module):
            return ()
        path, older, ref = derived.module.gpu.path, list[GpuBase](), self._find_refs(derived)[0]
        try:
            while len(older) < RELEASES and (before := self._find_before(ref, derived)) is not None:
                ref = before
                if (side := self.revisions.at("vllm-omni", ref, path)).text:
                    older.insert(0, GpuBase(side, self._make_vllm_loader(ref, derived)))
        except InputError as error:
            self.revisions.add_note(
                f"GPU runners from before {ref} were not compared, because they cannot be read: {error}"
            )
        return tuple(older)

    def find_between(self, base: str, derived: DerivedModule) -> Iterator[GpuBase]:
        """Yield the twin at the releases between the revision ``base`` and that of the omni tree, newest first."""
        assert derived.module.gpu is not None
        ref = self.given.omni.source.ref
        try:
            first = self.revisions.open_tree("vllm-omni", base).source.version
            while first is not None and (before := self._find_release_before(ref)) is not None:
                if Version(before) <= Version(first):
                    return
                ref = before
                if (side := self.revisions.at("vllm-omni", ref, derived.module.gpu.path)).text:
                    yield GpuBase(side, self._make_vllm_loader(ref, derived))
        except InputError as error:
            self.revisions.add_note(f"GPU runners from before {ref} were not read, because they cannot be: {error}")

    @cached_property
    def is_port(self) -> bool:
        """Whether the run ports what the twins gained since a named revision and follows no newer upstream.

        ``check`` reports what the modules lacked before.
        """
        return self.options.omni_base is not None and not self._follows_newer()

    def _is_locked(self, derived: DerivedModule) -> bool:
        """Whether the lock names the twin's bases and no option does; the lock leaves out unknown bases."""
        return self.options.omni_base is None and any(entry.gpu for entry in self.given.lock.of(derived.path))

    def _find_before(self, ref: str, derived: DerivedModule) -> str | None:
        """Return the release before a release; for another commit, the last earlier one that aligned ``derived``."""
        tree = self.revisions.open_tree("vllm-omni", ref)
        if tree.source.version is not None or not isinstance(tree, InGit):
            return self._find_release_before(ref)
        assert derived.module.gpu is not None
        try:
            parent = self.revisions.open_tree("vllm-omni", f"{ref}^")
        except InputError:
            return None  # `ref` is the first commit
        assert isinstance(parent, InGit)
        places = self.given.places_of(derived.module.gpu.path)
        return next(iter(self._find_alignments(parent, derived.module.paths, places)), None)

    def _find_refs(self, derived: DerivedModule) -> list[str]:
        """Return the omni revisions to compare the GPU twin with, oldest first.

        They come from option, lock, history of the checkout, or the last releases.
        """
        if self.options.omni_base is not None:
            return [*self._find_releases_before_candidate(self.options.omni_base), self.options.omni_base]
        own = self.given.omni.source
        if self._is_locked(derived):
            named = [entry.gpu for entry in self.given.lock.entries if entry.gpu]
            locked = dict.fromkeys([*(ref for gpu in named for ref in gpu.also), *(gpu.ref for gpu in named)])
            return [ref for ref in locked if ref != own.ref]
        if aligned := self._commits_by_module.get(derived.path):
            self._by_history[derived.path] = aligned[0]
            return aligned
        if own.version is None:
            self._unseen += [derived.path] if derived.path not in self._unseen else []
            return []
        if is_shallow(self.given.omni):
            self._guessed += [derived.path] if derived.path not in self._guessed else []
        return self._last_releases

    def note_guessed(self) -> tuple[str, ...]:
        """Note that a shallow clone had the twins compared with releases, which the lock does not record."""
        if not self._guessed:
            return ()
        names = ", ".join(PurePosixPath(path).name for path in self._guessed)
        text = f"the GPU runners of {names} were compared with those of the last releases ({self._why_unseen()})"
        return (f"{text}: the lock names no GPU text for them; complete the clone with {UNSHALLOW}, and run again",)

    def _note_unseen(self) -> tuple[str, ...]:
        """Note the ``unseen`` modules, by name if others were compared."""
        if not self._unseen:
            return ()
        if self._unread:
            return (f"{self._why_unseen()}: {self._without}",)
        names = ", ".join(PurePosixPath(path).name for path in self._unseen)
        others = self._by_history or any(self._is_locked(module) for module in self.modules)
        which = f" {names}" if others else ""
        text = f"no older GPU runner to compare{which} with ({self._why_unseen()}): {self._without}"
        fetch = f", or complete the clone with {UNSHALLOW}" if is_shallow(self.given.omni) else ""
        return (f"{text}; name the old omni with --omni-base for the rest{fetch}",)

    def _why_unseen(self) -> str:
        if self._unread:
            return f"no history of the GPU runners was read: {self._unread}"
        if is_shallow(self.given.omni):
            return "the clone is shallow, and its history does not reach back so far"
        return "the omni tree names no version, and has no history that reaches back so far"

    @cached_property
    def _last_releases(self) -> list[str]:
        """The last releases before that of the omni tree, oldest first."""
        own = self.given.omni.source.version
        known = window.find_earlier_releases("vllm-omni", own, self.options.progress) if own is not None else []
        if not (older := [release for release in known if release != own][-RELEASES:]):
            self.revisions.add_note(
                f"no older GPU runner to compare with: {self._without}; vllm-omni {own} is the first"
            )
        return older

    @cached_property
    def _commits_by_module(self) -> dict[str, list[str]]:
        """The commits that may have aligned each module of a checkout with its GPU twin last, oldest first.

        Has no entry for a module if the clone does not reach back to an alignment.
        """
        tree = self.given.omni
        if not isinstance(tree, InGit):
            return {}
        twins = {m: m.module.gpu.path for m in self.modules if m.module.gpu is not None}
        places = {m.path: (m.module.paths, self.given.places_of(path)) for m, path in twins.items()}
        try:
            refs = {path: self._find_alignments(tree, paths, twin) for path, (paths, twin) in places.items()}
        except InputError as error:  # a partial clone has commits without texts
            self._unread = str(error).rstrip(".")
            return {}
        return {path: commits for path, commits in refs.items() if commits}

    def _find_alignments(self, tree: InGit, paths: Sequence[str], twin: Sequence[str]) -> list[str]:
        """Return the commits that may have aligned a module last.

        When people follow a newer upstream, they catch up with what they had left for later; in between they port only
        new code. Where they ported one mixin (vllm-omni's #5290), catching up would leave 378 lines instead of 305.
        """
        lock_file = self.given.lock_file
        return history.find_alignments(tree, paths, twin, lock_file=lock_file, catches_up=self.options.upstream)

    def _find_releases_before_candidate(self, base: str) -> list[str]:
        """Return the releases before a release candidate, back to the last one that is none, oldest first.

        A candidate is cut from the branch on which the GPU runners grow; the NPU runners are brought up to them when
        they follow a newer vllm-ascend for the release. From 0.18.0 to 0.20.0rc1 the GPU runners changed by 818 lines
        and the NPU runners by 84; for 0.20.0 people took most of the rest. Between two such upgrades they port new code
        and leave the rest: of what six candidates owed, a tenth was taken with the next port.
        """
        found: list[str] = []
        if not self._follows_newer():
            return found
        while len(found) < RELEASES and self._is_candidate(ref := found[0] if found else base):
            if (before := self._find_release_before(ref)) is None:
                break
            found.insert(0, before)
        if found:
            note = (
                f"vllm-omni {base} is a release candidate: what its GPU runners gained since {found[0]} "
                "counts as new, too"
            )
            self.revisions.add_note(note)
        return found

    def _follows_newer(self) -> bool:
        """Whether the run follows another upstream than the runners were last synced to, as far as that is known."""
        if not self.options.upstream:
            return False
        now, base = self.given.followed, self.options.base(self.given.profile.followed)
        if now is None or base is None:
            return now is not None
        path = self.modules[0].module.anchor.path
        return read_whole(now, path, self.given) != self.revisions.at(self.given.profile.followed, base, path).text

    def _is_candidate(self, ref: str) -> bool:
        version = self.revisions.open_tree("vllm-omni", ref).source.version
        return version is not None and Version(version).is_prerelease

    def _find_release_before(self, ref: str) -> str | None:
        """Return the release before one, if any; ``None`` for a revision without a version."""
        tree = self.revisions.open_tree("vllm-omni", ref)
        if tree.source.version is None:
            return None
        if isinstance(tree, InGit):
            return tree.release_before()
        known = window.find_earlier_releases("vllm-omni", tree.source.version, self.options.progress)
        return next((v for v in reversed(known) if Version(v) < Version(tree.source.version)), None)

    def _make_vllm_loader(self, ref: str, derived: DerivedModule) -> Callable[[], ModuleRevision | None]:
        def load() -> ModuleRevision | None:
            if self.options.vllm_base is not None and self.options.omni_base in (None, ref):
                return self.revisions.read_vllm(self.options.vllm_base, derived)
            version = sources.declared_vllm(self.revisions.open_tree("vllm-omni", ref))
            return self.revisions.read_vllm(version, derived) if version else None

        return load

    def read_vllm_now(self, derived: DerivedModule) -> ModuleRevision | None:
        """Return vLLM's own module of the version that the omni tree is for."""
        given = self.options.vllm
        if given.is_given and self.given.vllm is not None:
            tree, path = self.given.vllm, self.given.profile.vllm_of(derived.module).path
            return ModuleRevision(tree.source.ref, read_whole(tree, path, self.given) or "", path)
        version = sources.declared_vllm(self.given.omni)
        if version is None:
            raise InputError(
                "cannot tell which vLLM the GPU runners are for: name it with --vllm-version or --vllm-path, "
                "or leave the GPU runners out with --no-gpu."
            )
        return self.revisions.read_vllm(version, derived)
