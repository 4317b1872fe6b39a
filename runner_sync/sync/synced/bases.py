"""Find what the derived modules were last synced to, by lock and options before inference.

Comes in: options and trees. Goes out: ``ModuleRevision`` values, found once per file; ``twin_bases`` does the same for
the GPU twins. May touch: what ``sources`` touches.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

from packaging.version import Version

from runner_sync.errors import InputError
from runner_sync.lineage.timeline import Timeline
from runner_sync.listing import at_most
from runner_sync.lock import ASKED
from runner_sync.model import TITLES, Revision
from runner_sync.naming import Import, paths_of, project_of
from runner_sync.profile import Anchor, RunnerModule
from runner_sync.sources import declared_vllm
from runner_sync.sync.classes.whole_classes import find_name_now, find_parent_files, read_whole
from runner_sync.sync.synced import window
from runner_sync.sync.synced.revisions import UNSHALLOW, Revisions
from runner_sync.sync.synced.twin_bases import TwinBases
from runner_sync.sync.trees import history, inputs
from runner_sync.sync.trees.runners import (
    DerivedModule,
    find_close_class,
    has_class,
    make_class_error,
    make_path_error,
)
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.texts.import_entries import read_imports
from runner_sync.trees import InGit, Tree
from runner_sync.units import texts
from runner_sync.upgrade import Causes, ModuleRevision, name_in_upstream

COMMITS = 3
"""How many commits a hunk names at most."""

NAMED_COPIES = 4
"""How many copies a note names at most."""


class Bases:
    """Finds the bases of the modules once per file; ``twins`` does the same for their GPU twins."""

    def __init__(self, options: UpgradeOptions, given: inputs.Inputs, modules: Sequence[DerivedModule]) -> None:
        self.options = options
        self.given = given
        self.modules = modules
        self.revisions = Revisions(given, options.progress)
        self.twins = TwinBases(options, given, modules, self.revisions)
        self._followed = given.profile.followed
        self._upstream: dict[str, tuple[ModuleRevision, ...]] = {}
        self._timelines: dict[str, Timeline] = {}

    def read_upstream(self, derived: DerivedModule) -> ModuleRevision | None:
        """Return the upstream module that ``derived`` follows, as it is now.

        Returns ``None`` without the followed tree, or, with a note, if it lacks the module of a worker or no longer has
        the class. Raises ``InputError`` if it lacks the runners' module or has it empty, or if no revision has the
        class.
        """
        now, anchor = self._read_now(derived), derived.module.anchor
        if now is None or not self.options.upstream or has_class(anchor.name, now.text):
            return now
        lack = f"{TITLES[self._followed]} {now.ref}: {now.path} has no class {anchor.name}"
        close = find_close_class(anchor.name, now.text)
        if not any(has_class(anchor.name, side.text) for side in self._find_revisions(now.path)):
            raise make_class_error(lack, close)
        now_named = f" (its new name may be {close})" if close else ""
        self.revisions.add_note(f"{lack} any more{now_named}: the modules that follow it stay as they are")
        return None

    def _read_now(self, derived: DerivedModule) -> ModuleRevision | None:
        tree = self.given.followed
        if tree is None:
            return None
        inputs.require_one_followed(self.given.profile)
        anchor = derived.module.anchor
        path, text = anchor.path, read_whole(tree, anchor.path, self.given)
        if text is None and derived.module.upstreams == self.modules[0].module.upstreams:
            raise make_path_error(tree, anchor)
        if text is None:
            note = f"{self._followed} {tree.source.ref} has no {path}: the modules that follow it stay as they are"
            self.revisions.add_note(note)
            return None
        if not text.strip():
            raise InputError(f"{TITLES[self._followed]} {tree.source.ref}: {path} is empty: give a whole tree.")
        self._note_new_name(anchor, tree)
        return ModuleRevision(tree.source.ref, text, path)

    def _note_new_name(self, anchor: Anchor, tree: Tree) -> None:
        """Note a class that has a new name in ``tree``, and what its old name asks for."""
        new_name = find_name_now(tree, anchor, self.given)
        if not new_name:
            return
        is_alias = re.search(rf"^{anchor.name}\b", tree.read(anchor.path) or "", re.MULTILINE)
        self.revisions.add_note(
            f"{TITLES[self._followed]} {tree.source.ref} calls {anchor.name} of {anchor.path} {new_name} now: the "
            f"runners follow it{'' if is_alias else '; import it by its new name'}"
        )

    def read_settled(self, derived: DerivedModule) -> ModuleRevision | None:
        """Return the upstream module at the last upgrade in the lock, which asked about what omni hides of it.

        Returns ``None`` if an option names the base, or if that text is not known: no upgrade, a lost commit, or a
        folder, which may have been replaced since.
        """
        ref, tree = self.given.lock.inputs.get(f"{self._followed}{ASKED}"), self.given.followed
        if ref is None or tree is None or self.options.base(self._followed) is not None:
            return None
        if ref == tree.source.ref and not tree.source.is_known_elsewhere:
            return None
        path = derived.module.anchor.path
        try:
            side = self.revisions.read_locked(self._followed, ref, path, self.read_upstream(derived))
        except InputError:
            return None
        return side if side.text else None

    def find_upstream_bases(self, derived: DerivedModule) -> tuple[ModuleRevision, ...]:
        """Return the upstream revisions that units may be copied from, oldest first, the present one last.

        Returns only the present one if upstream is not merged. Raises ``InputError`` if no revision is known or
        readable.
        """
        now = self.read_upstream(derived)
        if now is None:
            return ()
        return self._find_revisions(now.path) if self.options.upstream else (now,)

    def _find_revisions(self, path: str) -> tuple[ModuleRevision, ...]:
        if path not in self._upstream:
            self._upstream[path] = tuple(self._find_upstream_revisions(path))
        return self._upstream[path]

    def _find_upstream_revisions(self, path: str) -> list[ModuleRevision]:
        """Return the revisions of ``path``, oldest first: since the base of an option, else by lock, else by inference.

        Inference takes the commits of a checkout that are closest to the units, or the releases within the window.
        """
        tree = inputs.require_tree(self._followed, self.given.followed)
        now = ModuleRevision(tree.source.ref, read_whole(tree, path, self.given) or "", path)
        places = (*self._find_former_places(path, tree), path)
        if (base := self.options.base(self._followed)) is not None:
            since = self._read_since(base, tree, places)
            self._note_older_copies(base, [*since, now])
            return [*since, now]
        named = [e.upstream for e in self.given.lock.entries if e.upstream and e.upstream.path in places]
        locked = dict.fromkeys((ref, one.path) for one in named for ref in (one.ref, *one.also))
        if locked:
            return [*(self.revisions.read_locked(self._followed, *one, at_hand=now) for one in locked), now]
        if isinstance(tree, InGit):
            self._refuse_shallow(tree)
            units = [
                unit
                for derived in self._find_modules_following(path)
                for unit in texts.unit_texts(derived.text, derived.path).items()
            ]
            wanted = {(name.rpartition(".")[2], text) for name, text in units}
            parents, names = find_parent_files(tree, path, self.given), {name for name, _ in wanted}
            known = history.read_timeline(tree, places, names, self.options.progress, parents=parents)
            self._timelines[path] = known
            is_plain = not parents and now.text == tree.read(path)
            read = partial(_read_blob, tree) if is_plain else partial(self._read_at, places)
            return [*history.find_closest(known, wanted, read), now]
        newest = tree.source.version
        if newest is None:
            raise InputError(
                f"cannot tell what the runners were last synced to: {tree.source.location} is neither a git checkout "
                f"nor a release; name the old {self._followed} with --{inputs.option_word(self._followed)}-base."
            )
        return [*self._search_window(places, newest, now), now]

    def _refuse_shallow(self, tree: InGit) -> None:
        """Raise ``InputError`` for a shallow clone: of the commits that it has, the target itself may be the closest.

        Then nothing would be merged, and a lock would say that the runners are in step.
        """
        if tree.is_shallow():
            raise InputError(
                f"cannot tell what the runners were last synced to: {tree.source.location} is a shallow clone: "
                f"complete it with {UNSHALLOW}, or name the old {self._followed} with "
                f"--{inputs.option_word(self._followed)}-base."
            )

    def _read_at(self, places: Sequence[str], revision: Revision) -> ModuleRevision:
        """Return a revision of the first of ``places`` with what its classes inherited then."""
        return replace(self.revisions.at(self._followed, revision.commit, *places), ref=revision.commit[:10])

    def _find_former_places(self, path: str, tree: Tree) -> list[str]:
        """Return the files from which omni's modules import the class of ``path``, and which ``tree`` lacks; also
        those that the profile names for it.

        In vllm-ascend 0.12, ``NPUWorker`` stood in ``worker_v1.py``.
        """
        derived = self._find_modules_following(path)
        imports = [(one.module.anchor, entry) for one in derived for entry in _list_imports(one)]
        modules = [entry.module for anchor, entry in imports if entry.name == anchor.name]
        places = [paths_of(name) for name in dict.fromkeys(modules) if project_of(name) == self._followed]
        imported = [files[0] for files in places if all(tree.read(file) is None for file in files)]
        return [*dict.fromkeys([*imported, *self.given.places_of(path)[1:]])]

    def _search_window(self, places: Sequence[str], newest: str, now: ModuleRevision) -> list[ModuleRevision]:
        """Return the releases within the window, which grows while copies at its end find closer releases."""
        minors, before = window.MINORS, dict[tuple[str, str], float]()
        behind = self.given.omni.source.version
        units = self._list_units_following(now.path)
        older: list[ModuleRevision] = []
        while True:
            names = window.find_earlier_releases(
                self._followed, newest, self.options.progress, behind=behind, minors=minors
            )
            names = [name for name in names if name != newest]
            if not names or (older and names[0] == older[0].ref):
                return older
            older = [self.revisions.at(self._followed, name, *places) for name in names]
            at_end = window.find_copies_at_the_end(units, [*older, now])
            if not any(score > before.get(unit, 0) for unit, score in at_end.items()):
                return older
            minors, before = minors + window.MORE, {**at_end}

    def make_causes(self, derived: DerivedModule) -> Causes:
        """Make a function that names the upstream commits, if at hand, that brought or removed the lines of a hunk."""

        def name_commits(unit: str, lines: Sequence[str], since: str, *, gone: bool = False) -> str:
            known = self._timelines.get(derived.module.anchor.path)
            if known is None:
                return ""
            commits = (known.losses if gone else known.causes)(unit.rpartition(".")[2], lines, since)
            return "; ".join(f"{c.commit[:10]} {c.subject}" for c in commits[:COMMITS])

        return name_commits

    def _read_since(self, base: str, tree: Tree, places: Sequence[str]) -> list[ModuleRevision]:
        """Return the named base, the release before it and, if both ends are releases, those in between.

        Parts may have been synced later than the base. They may also be older than code that the base was the first to
        have, which the release before it shows.
        """
        older: list[str] = []
        between: list[str] = []
        side = replace(self.revisions.at(self._followed, base, *places), is_named=True)
        named = self.revisions.open_tree(self._followed, base)
        if isinstance(named, InGit):
            older = [tag for tag in [named.release_before()] if tag is not None]
        elif tree.source.kind != "git" and tree.source.version and inputs.is_version(base):
            known = window.find_earlier_releases(self._followed, tree.source.version, self.options.progress)
            between = [v for v in known if Version(v) > Version(base) and v != tree.source.version]
            older = [v for v in known if Version(v) < Version(base)]
        before = [replace(self.revisions.at(self._followed, ref, *places), is_base=False) for ref in older[-1:]]
        return [*before, side, *(self.revisions.at(self._followed, ref, *places) for ref in between)]

    def _note_older_copies(self, named: str, sides: Sequence[ModuleRevision]) -> None:
        """Note that most long copies resemble the release before the base of an option more than any later one.

        What upstream removed between that release and the base would count as omni's own. A unit that the base lacks
        tells nothing. Nor does the vLLM that the omni tree is for, which is the base without the option, too.
        """
        before, base = sides[:2]
        if before.is_base or (self._followed == "vllm" and named == declared_vllm(self.given.omni)):
            return
        units = [
            (module, name, text)
            for module, name, text in self._list_units_following(base.path)
            if name_in_upstream(name, module) in base.units and window.is_long(text)
        ]
        older = window.find_copies_at_the_end(units, [replace(before, is_base=True), *sides[1:]])
        if older and 2 * len(older) >= len(units):
            option = f"--{inputs.option_word(self._followed)}-base"
            self.revisions.add_note(
                f"{TITLES[self._followed]} {before.ref} is closer than {named}, which {option} names, to "
                f"{at_most(NAMED_COPIES, [name for _module, name in older])}: without {option}, the base is inferred"
            )

    def _list_units_following(self, path: str) -> list[tuple[RunnerModule, str, str]]:
        """Return module, qualified name and text of each unit of the modules that follow ``path``."""
        return [
            (derived.module, *unit)
            for derived in self._find_modules_following(path)
            for unit in texts.unit_texts(derived.text, derived.path).items()
        ]

    def _find_modules_following(self, path: str) -> list[DerivedModule]:
        return [derived for derived in self.modules if derived.module.anchor.path == path]


def _read_blob(tree: InGit, revision: Revision) -> ModuleRevision:
    return ModuleRevision(revision.commit[:10], tree.read_blob(revision.blob), revision.path)


def _list_imports(derived: DerivedModule) -> Collection[Import]:
    return read_imports(texts.outside_definitions(derived.text, derived.path), derived.path).values()
