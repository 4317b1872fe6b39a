"""What the derived modules were last synced to: lock and options go before inference.

Comes in: options and trees. Goes out: ``ModuleRevision`` and ``GpuBase`` values, found once per file.
May touch: what ``sources`` touches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import PurePosixPath

from packaging.version import Version

from runner_sync import sources
from runner_sync.errors import InputError
from runner_sync.lineage.timeline import Timeline
from runner_sync.sync import history, inputs, window
from runner_sync.sync.options import UpgradeOptions
from runner_sync.sync.revisions import Revisions
from runner_sync.sync.runners import DerivedModule
from runner_sync.trees import InGit, Tree
from runner_sync.units import texts
from runner_sync.upgrade import GpuBase, ModuleRevision

COMMITS = 3
"""How many commits a hunk names at most."""

GPU_RELEASES = 4
"""How many omni releases back the GPU twin is compared with when neither lock nor option names its base; a judgement
between what each costs to read and how long a port waits. Of four upgrades, one comes out otherwise with three, by 357
lines, and two with six, by four."""


class Bases:
    """Finds, once per file, what the modules were last synced to; lock and options go before inference."""

    def __init__(self, options: UpgradeOptions, given: inputs.Inputs, modules: Sequence[DerivedModule]) -> None:
        self.options = options
        self.given = given
        self.modules = modules
        self.revisions = Revisions(given, options.progress)
        self._followed = given.profile.followed
        self._upstream: dict[str, tuple[ModuleRevision, ...]] = {}
        self._timelines: dict[str, Timeline] = {}

    def upstream(self, found: DerivedModule) -> ModuleRevision | None:
        """The upstream module that ``found`` follows, as it is now; ``None`` without its tree, or, with a note, for a
        worker whose module it lacks. Raises ``InputError`` where it lacks the runners'."""
        tree = self.given.followed
        if tree is None:
            return None
        inputs.require_one_followed(self.given.profile)
        path = found.module.upstreams[0].path
        text = tree.read(path)
        if text is None and found.module.upstreams == self.modules[0].module.upstreams:
            raise InputError(
                f"{self._followed} {tree.source.ref} has no {path}: give a tree that the runners can follow."
            )
        if text is None:
            note = f"{self._followed} {tree.source.ref} has no {path}: the modules that follow it stay as they are"
            self.revisions.note(note)
            return None
        return ModuleRevision(tree.source.ref, text, path)

    def upstream_bases(self, found: DerivedModule) -> tuple[ModuleRevision, ...]:
        """The revisions of that module that units of ``found`` may have been copied from, oldest first and the present
        one last.

        The present one alone where it is not followed. Raises ``InputError`` where none can be told or read.
        """
        path = found.module.upstreams[0].path
        now = self.upstream(found)
        if now is None:
            return ()
        if not self.options.upstream:
            return (now,)
        if path not in self._upstream:
            self._upstream[path] = tuple(self._find_upstream(path))
        return self._upstream[path]

    def _find_upstream(self, path: str) -> list[ModuleRevision]:
        """The revisions of ``path``, oldest first: since the base of an option, else by lock, else by inference.

        From a checkout these are the commits closest to the units, from the index the releases within the window.
        """
        tree = inputs.require(self._followed, self.given.followed)
        now = ModuleRevision(tree.source.ref, tree.read(path) or "", path)
        if (base := self.options.base(self._followed)) is not None:
            return [*self._since(base, tree, path), now]
        named = [e.upstream for e in self.given.lock.entries if e.upstream and e.upstream.path == path]
        locked = dict.fromkeys(ref for one in named for ref in (one.ref, *one.also))
        if locked:
            return [*(self.revisions.locked(self._followed, ref, path, at_hand=now) for ref in locked), now]
        if isinstance(tree, InGit):
            units = [unit for found in self._sharing(path) for unit in texts.unit_texts(found.text).items()]
            wanted = {(name.rpartition(".")[2], text) for name, text in units}
            known = history.timeline(tree, path, {name for name, _ in wanted}, self.options.progress)
            self._timelines[path] = known
            return [*history.closest(tree, known, wanted), now]
        newest = tree.source.version
        if newest is None:
            raise InputError(
                f"cannot tell what the runners were last synced to: {tree.source.location} is neither a git checkout "
                f"nor a release; name the old {self._followed} with --{inputs.option_word(self._followed)}-base."
            )
        return [*self._within_window(path, newest, now), now]

    def _within_window(self, path: str, newest: str, now: ModuleRevision) -> list[ModuleRevision]:
        """The releases that copies may be of: those within the window, and further back as long as that brings closer
        ones to copies that are closest to the oldest."""
        minors, before = window.MINORS, dict[tuple[str, str], float]()
        behind = self.given.omni.source.version
        units = [(f.module, *unit) for f in self._sharing(path) for unit in texts.unit_texts(f.text, f.path).items()]
        older: list[ModuleRevision] = []
        while True:
            names = window.earlier_releases(self._followed, newest, self.options.progress, behind=behind, minors=minors)
            names = [name for name in names if name != newest]
            if not names or (older and names[0] == older[0].ref):
                return older
            older = [self.revisions.at(self._followed, name, path) for name in names]
            at_end = window.at_the_end(units, [*older, now])
            if not any(score > before.get(unit, 0) for unit, score in at_end.items()):
                return older
            minors, before = minors + window.MORE, {**at_end}

    def causes(self, found: DerivedModule) -> Callable[[str, Sequence[str], str], str]:
        """For a hunk of a unit: the commits of upstream that brought its lines, where the history is at hand."""

        def name(unit: str, added: Sequence[str], since: str) -> str:
            known = self._timelines.get(found.module.upstreams[0].path)
            commits = known.causes(unit.rpartition(".")[2], added, since) if known is not None else []
            return "; ".join(f"{c.commit[:10]} {c.subject}" for c in commits[:COMMITS])

        return name

    def _since(self, base: str, tree: Tree, path: str) -> list[ModuleRevision]:
        """The named base, the release before it, and, where both ends are releases, those in between.

        Parts may have been synced later than the base. Or they are older than what it was the first to have, which the
        release before it shows.
        """
        older: list[str] = []
        between: list[str] = []
        side = self.revisions.at(self._followed, base, path)
        named = self.revisions.tree(self._followed, base)
        if isinstance(named, InGit):
            older = [tag for tag in [named.release_before()] if tag is not None]
        elif tree.source.kind != "git" and tree.source.version and inputs.is_version(base):
            known = window.earlier_releases(self._followed, tree.source.version, self.options.progress)
            between = [v for v in known if Version(v) > Version(base) and v != tree.source.version]
            older = [v for v in known if Version(v) < Version(base)]
        before = [replace(self.revisions.at(self._followed, ref, path), is_base=False) for ref in older[-1:]]
        return [*before, side, *(self.revisions.at(self._followed, ref, path) for ref in between)]

    def _sharing(self, path: str) -> list[DerivedModule]:
        return [found for found in self.modules if found.module.upstreams[0].path == path]

    def gpu_now(self, found: DerivedModule) -> ModuleRevision | None:
        """The GPU twin as the omni tree has it, ``None`` where there is none."""
        if found.module.gpu is None:
            return None
        text = self.given.omni.read(found.module.gpu.path)
        return ModuleRevision(self.given.omni.source.ref, text, found.module.gpu.path) if text is not None else None

    def gpu_settled(self, found: DerivedModule) -> ModuleRevision | None:
        """The GPU twin at the last upgrade that took the GPU runners in: what NPU lacks of it was settled then."""
        ref = self.given.lock.inputs.get("vllm-omni")
        if ref is None or found.module.gpu is None or self.options.omni_base is not None:
            return None
        if ref == self.given.omni.source.ref:
            return self.gpu_now(found)
        return self.revisions.locked("vllm-omni", ref, found.module.gpu.path)

    def gpu_bases(self, found: DerivedModule) -> tuple[GpuBase, ...]:
        """The revisions of the GPU twin that ``found`` may have been aligned with, oldest first, each with vLLM's
        module of its time. Raises ``InputError`` where one that is named cannot be read."""
        assert found.module.gpu is not None
        path = found.module.gpu.path
        refs = self._gpu_refs(found)
        bases = []
        is_locked = self.options.omni_base is None and any(entry.gpu for entry in self.given.lock.entries)
        for ref in refs:
            side = (self.revisions.locked if is_locked else self.revisions.at)("vllm-omni", ref, path)
            if side.text:
                bases.append(GpuBase(side, self._vllm_of(ref, found)))
        now = self.gpu_now(found)
        if self.options.omni_base is None and now is not None:
            bases.append(GpuBase(now, lambda: self.vllm_now(found)))
        return tuple(bases)

    def gpu_earlier(self, found: DerivedModule) -> tuple[GpuBase, ...]:
        """The twin at the releases before those of ``gpu_bases``, or at earlier alignments, oldest first.

        Only where an option or the history of the checkout gave these. Otherwise several releases are at hand already,
        and what a lock leaves was settled.
        """
        assert found.module.gpu is not None
        path, earlier = found.module.gpu.path, list[GpuBase]()
        refs = self._gpu_refs(found)
        if self.options.omni_base is None and refs != self._aligned.get(found.path):
            return ()
        ref = refs[0]
        try:
            while len(earlier) < GPU_RELEASES and (before := self._before(ref, found)) is not None:
                ref = before
                if (side := self.revisions.at("vllm-omni", ref, path)).text:
                    earlier.insert(0, GpuBase(side, self._vllm_of(ref, found)))
        except InputError as error:
            self.revisions.note(f"no GPU runner from before {ref} was compared with: {error}")
        return tuple(earlier)

    def _before(self, ref: str, found: DerivedModule) -> str | None:
        """The release before a release; before another commit, the last one that aligned ``found``."""
        tree = self.revisions.tree("vllm-omni", ref)
        if tree.source.version is not None or not isinstance(tree, InGit):
            return self._release_before(ref)
        assert found.module.gpu is not None
        try:
            parent = self.revisions.tree("vllm-omni", f"{ref}^")
        except InputError:
            return None  # the first commit
        assert isinstance(parent, InGit)
        return next(iter(history.alignments(parent, found.module.paths, found.module.gpu.path)), None)

    def _gpu_refs(self, found: DerivedModule) -> list[str]:
        """The omni revisions to compare the GPU twin with, oldest first: by option, by lock, by the history of the
        checkout, or the last releases."""
        if self.options.omni_base is not None:
            return [*self._before_candidate(self.options.omni_base), self.options.omni_base]
        own = self.given.omni.source
        locked = dict.fromkeys(e.gpu.ref for e in self.given.lock.entries if e.gpu)
        if locked:
            return [ref for ref in locked if ref != own.ref]
        if aligned := self._aligned.get(found.path):
            return aligned
        if own.version is None:
            unknown = [m.path for m in self.modules if m.module.gpu is not None and m.path not in self._aligned]
            names = ", ".join(PurePosixPath(path).name for path in unknown)
            which = f" {names}" if self._aligned else ""
            self.revisions.note(
                f"no older GPU runner to compare{which} with (the omni tree names no version, and has no history that "
                "reaches back so far): only missing members and mixins are ported; name the old omni with --omni-base "
                "for the rest, or fetch the whole history of a shallow clone"
            )
            return []
        known = window.earlier_releases("vllm-omni", own.version, self.options.progress)
        older = [v for v in known if v != own.version]
        return older[-GPU_RELEASES:]

    @cached_property
    def _aligned(self) -> dict[str, list[str]]:
        """By module of a checkout the commits, oldest first, with whose GPU twin it may have been aligned last; none
        where the clone does not reach back to that."""
        tree = self.given.omni
        if not isinstance(tree, InGit):
            return {}
        places = {m.path: (m.module.paths, m.module.gpu.path) for m in self.modules if m.module.gpu is not None}
        try:
            refs = {path: history.alignments(tree, mine, twin) for path, (mine, twin) in places.items()}
        except InputError as error:  # a partial clone has the commits, and not the texts
            self.revisions.note(f"no history of the GPU runners was read: {error}")
            return {}
        found = {path: commits for path, commits in refs.items() if commits}
        if found:
            since = ", ".join(f"{PurePosixPath(path).name} {commits[0]}" for path, commits in found.items())
            self.revisions.note(f"what the GPU runners gained counts since the last commit that aligned each: {since}")
        return found

    def _before_candidate(self, base: str) -> list[str]:
        """The releases before a release candidate, back to the last one that is none, oldest first.

        A candidate is cut from the branch on which the GPU runners grow; the NPU runners are brought up to them when
        they follow a newer vllm-ascend for the release. From 0.18.0 to 0.20.0rc1 the GPU runners changed by 818 lines
        and the NPU runners by 84; for 0.20.0 people took most of the rest. Between two such upgrades they port what is
        new and leave the rest: of what six candidates owed, a tenth was taken with the next port.
        """
        found: list[str] = []
        if not self._follows_newer():
            return found
        while len(found) < GPU_RELEASES and self._is_candidate(ref := found[0] if found else base):
            if (before := self._release_before(ref)) is None:
                break
            found.insert(0, before)
        if found:
            note = (
                f"vllm-omni {base} is a candidate: what its GPU runners had gained since {found[0]} counts as new, too"
            )
            self.revisions.note(note)
        return found

    def _follows_newer(self) -> bool:
        """Whether the run follows another upstream than the runners were last synced to, as far as that is told."""
        if not self.options.upstream:
            return False
        now, base = self.given.followed, self.options.base(self._followed)
        if now is None or base is None:
            return now is not None
        path = self.modules[0].module.upstreams[0].path
        return now.read(path) != self.revisions.at(self._followed, base, path).text

    def _is_candidate(self, ref: str) -> bool:
        version = self.revisions.tree("vllm-omni", ref).source.version
        return version is not None and Version(version).is_prerelease

    def _release_before(self, ref: str) -> str | None:
        """The release before one, if any; ``None`` for a revision without a version."""
        tree = self.revisions.tree("vllm-omni", ref)
        if tree.source.version is None:
            return None
        if isinstance(tree, InGit):
            return tree.release_before()
        known = window.earlier_releases("vllm-omni", tree.source.version, self.options.progress)
        return next((v for v in reversed(known) if Version(v) < Version(tree.source.version)), None)

    def _vllm_of(self, ref: str, found: DerivedModule) -> Callable[[], ModuleRevision | None]:
        def load() -> ModuleRevision | None:
            if self.options.vllm_base is not None and self.options.omni_base in (None, ref):
                return self.revisions.vllm(self.options.vllm_base, found)
            version = sources.declared_vllm(self.revisions.tree("vllm-omni", ref))
            return self.revisions.vllm(version, found) if version else None

        return load

    def vllm_now(self, found: DerivedModule) -> ModuleRevision | None:
        """vLLM's own module of the version that the omni tree is for."""
        given = self.options.vllm
        if given.is_given and self.given.vllm is not None:
            tree, path = self.given.vllm, self.given.profile.vllm_of(found.module).path
            return ModuleRevision(tree.source.ref, tree.read(path) or "", path)
        version = sources.declared_vllm(self.given.omni)
        if version is None:
            raise InputError(
                "cannot tell which vLLM the GPU runners are for: name it with --vllm-version or --vllm-path, "
                "or leave the GPU runners out with --no-gpu."
            )
        return self.revisions.vllm(version, found)
