"""Defines the input and the result of the upgrade of one module.

Comes in: texts. Goes out: frozen dataclasses of texts. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Literal, Protocol

from runner_sync.fitting.members import Action, Obstacle
from runner_sync.fitting.record import Record
from runner_sync.lineage import Origin
from runner_sync.merge import Preference
from runner_sync.model import TITLES, BaseRef, ReviewItem, UnitReport
from runner_sync.profile import Profile, RunnerModule
from runner_sync.texts.member_text import has_code_word
from runner_sync.units import texts
from runner_sync.upgrade.missing_imports import find_missing
from runner_sync.upgrade.npu_words import TRANSLATION, Translation
from runner_sync.upgrade.revision import GpuBase, ModuleRevision


class Causes(Protocol):
    """Names the commits after ``since`` that brought ``lines`` to a unit, or removed them if ``gone``, if known."""

    def __call__(self, unit: str, lines: Sequence[str], since: str, *, gone: bool = False) -> str: ...


def _name_no_commits(unit: str, lines: Sequence[str], since: str, *, gone: bool = False) -> str:  # noqa: ARG001
    return ""


Closest = Callable[[str, str, Sequence[ModuleRevision]], Origin | None]
"""Takes the upstream name of a unit, omni's text of it, and revisions; returns the text that it was copied from."""


@dataclass(frozen=True, slots=True)
class Inherited:
    """The members and classes that a class inherits."""

    members: Mapping[str, str | None] = field(default_factory=dict)
    """Inherited members by name, with their text if omni defines them, else ``None``."""
    classes: frozenset[str] = frozenset()
    """Names of the classes that the class inherits from."""
    before: Mapping[str, str | None] = field(default_factory=dict)
    """``members`` before this upgrade."""
    upstream: frozenset[str] = frozenset()
    """Names of the members that vllm-ascend's classes define."""
    vllm: Mapping[str, str] = field(default_factory=dict)
    """Members that the GPU twin inherits from vLLM's classes, with their texts."""
    hidden: Mapping[str, str] = field(default_factory=dict)
    """Omni methods of its bases that never run, because a nearer base has its own and does not call them."""

    @property
    def omnis(self) -> dict[str, str]:
        """Return the members that omni defines, with their texts."""
        return {name: text for name, text in self.members.items() if text is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Another upstream class that a conditional base class may be.

    ``alias`` is the name that the class is bound to under ``condition``. ``old`` and ``new`` are its methods at the
    base revision and now.
    """

    name: str
    alias: str
    condition: str
    old: Mapping[str, str]
    new: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """vllm-ascend's module: the revision to follow, and the revisions that units may have been copied from."""

    new: ModuleRevision | None = None
    """The revision to follow; ``None`` if none is at hand."""
    is_followed: bool = True
    """Whether its changes are merged. Otherwise, the module just shows which units are copies."""
    bases: tuple[ModuleRevision, ...] = ()
    """The revisions that copies may have been made from, oldest first."""
    settled: ModuleRevision | None = None
    """The module at the last upgrade that asked what omni hides; a unit that did not change may follow an older one."""
    recorded: str | None = None
    """The revision of the last run over all units, which the lock names."""
    locked: Mapping[str, BaseRef] = field(default_factory=dict)
    """The lock entry of each unit: the upstream text that it follows."""
    apart: frozenset[str] = frozenset()
    """Units that follow no upstream method according to the lock, although upstream has methods of the same names."""
    infer: Closest | None = None
    """Finds the text that a unit was copied from; ``None`` stands for ``base.closest``."""
    causes: Causes = _name_no_commits
    """Names the commits behind a unit's added lines since a base."""
    variants: Callable[[str], Sequence[Variant]] = lambda _since: ()
    """Takes a base revision; returns the other classes that may be the base of the module's class."""

    def at(self, ref: str) -> ModuleRevision | None:
        """Return the base revision called ``ref``; ``None`` if it is not at hand."""
        return next((side for side in self.bases if side.ref == ref), None)


@dataclass(frozen=True, slots=True)
class Owed:
    """Names on ``self`` that must be ported although the GPU twin has had them for long.

    ``kept`` are attributes, which come with the members that use them. ``done`` are methods called for their effect.
    """

    kept: frozenset[str] = frozenset()
    done: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """Return ``kept`` and ``done`` together."""
        return self.kept | self.done

    def with_more(self, found: Owed) -> Owed:
        """Return the names of both."""
        return Owed(self.kept | found.kept, self.done | found.done)


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTwin:
    """The module of the GPU twin: the current text, and revisions that the NPU module may have been aligned with."""

    new: ModuleRevision | None = None
    """The current twin; ``None`` if only vllm-ascend is followed."""
    bases: tuple[GpuBase, ...] = ()
    """The revisions that the NPU module may have been aligned with, oldest first."""
    load_earlier: Callable[[], Sequence[GpuBase]] = tuple
    """Loads revisions older than ``bases``, oldest first; needed if a port depends on code that they introduced."""
    load_between: Callable[[str], Iterable[GpuBase]] = lambda _ref: ()
    """Loads revisions between a base and ``new``, newest first; needed if the change since that base is refused."""
    settled: ModuleRevision | None = None
    """The twin at the last upgrade that the lock records."""
    asked: ModuleRevision | None = None
    """``settled``, also in a run for which an option names the bases."""
    locked: Mapping[str, BaseRef] = field(default_factory=dict)
    """The lock entry of each unit: the GPU text that it follows."""
    left_behind: Mapping[str, BaseRef] = field(default_factory=dict)
    """Those of ``locked`` that are older than the base which an option names: what came in between is left out."""
    load_vllm: Callable[[], ModuleRevision | None] = lambda: None
    """Loads vLLM's module of the version that ``new`` is made for."""
    owed: Owed = Owed()
    """Names on ``self`` whose uses count as new in the twin, however old they are."""
    alone: frozenset[str] = frozenset()
    """Units that runs of single units ported: the rest of their features is as new as they are."""
    unset: Mapping[str, Obstacle] = field(default_factory=dict)
    """Names on ``self`` that nothing here sets, so that code that reads them is not ported."""
    news_only: bool = False
    """Whether only the twin's changes since a given revision were asked for; code that NPU lacked before stays out."""
    translation: Translation = TRANSLATION
    """Translates texts of the twin and of vLLM to NPU names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hierarchy:
    """The inherited members and the new bases of the module's classes, by class name.

    Mixins map to the names that they add to ``self``.
    """

    inherited: Mapping[str, Inherited] = field(default_factory=dict)
    """What each class inherits."""
    with_twin: Mapping[str, Inherited] = field(default_factory=dict)
    """What a class would inherit with its GPU twin as a base, for classes that are meant to have that base and do not
    yet."""
    bases_in_front: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Bases to put in front of the existing ones."""
    added_mixins: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    """Mixins to put behind the existing bases."""
    missing_mixins: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    """Mixins of the GPU twin that the class continues to do without."""
    late_mixins: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Mixins among ``missing_mixins`` that are added after all if vllm-ascend's change alters the class."""

    def of(self, class_name: str) -> Inherited:
        """Return what a class inherits; nothing if that is not known."""
        return self.inherited.get(class_name, Inherited())

    def from_mixins(self, class_name: str) -> frozenset[str]:
        """Return the names that mixins give to a class from this upgrade on."""
        return frozenset[str]().union(*self.added_mixins.get(class_name, {}).values())

    def with_late_mixins(self, class_names: Collection[str]) -> Hierarchy:
        """Return the hierarchy with the late mixins of these classes among the added ones."""
        due = {name: late for name, late in self.late_mixins.items() if name in class_names}
        added, missing = dict(self.added_mixins), dict(self.missing_mixins)
        for name, late in due.items():
            left = missing.pop(name)
            added[name] = {**added.get(name, {}), **{mixin: left[mixin] for mixin in left if mixin in late}}
            if rest := {mixin: names for mixin, names in left.items() if mixin not in late}:
                missing[name] = rest
        return replace(self, added_mixins=added, missing_mixins=missing, late_mixins=due)


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """Names that other runner modules use on ``self``, and that they must therefore still inherit."""

    called: frozenset[str] = frozenset()
    """Names that the modules use."""
    by_twins: frozenset[str] = frozenset()
    """Names that their GPU twins use."""
    by_twins_now: frozenset[str] = frozenset()
    """Names in the twins' calls that the modules may get in this upgrade."""

    @property
    def at_all(self) -> frozenset[str]:
        """Return the names that the modules or their twins use."""
        return self.called | self.by_twins


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The known facts about the trees that the result is to run in."""

    elsewhere: Elsewhere = Elsewhere()
    """Members that other runner modules call on ``self``."""
    records: Mapping[str, Record] = field(default_factory=dict)
    """Records of the modules that were upgraded before this one."""
    constructors: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Keywords that the constructors of omni's records accept."""
    relocated: Mapping[str, str] = field(default_factory=dict)
    """Former dotted names of derived modules, with their current names."""
    lacks: Callable[[str, str], bool] = lambda _module, _name: False
    """Whether a module, as it will be after this run, is known to lack a name."""
    moved_to: Callable[[str, str], str] = lambda _module, _name: ""
    """The only other module that defines a name which a module lacks; empty if there is none or more than one."""
    gives_up: Callable[[str], str] = lambda _called: ""
    """Takes a name as the GPU runner calls it; returns the file that defines it if the function returns at once without
    a GPU; else empty."""
    omni_module: Callable[[str], tuple[str, str] | None] = lambda _module: None
    """Takes a dotted name; returns path and text of the module; ``None`` if no tree at hand has it."""
    imported: frozenset[str] = frozenset()
    """Names that some derived module imports, so that the platform has their definitions."""
    missing_members: Mapping[str, str] = field(default_factory=dict)
    """Members that GPU classes have and their NPU counterparts or the vLLM at hand lack, each with the lacking
    class."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The user's settings: patterns of the units to upgrade (none selects all), and the conflict winner by pattern.

    With ``isolates``, a mistake of this program in one unit or step is a question and does not end the run.
    """

    only: tuple[str, ...] = ()
    policies: Mapping[str, Preference] = field(default_factory=dict)
    isolates: bool = False


@dataclass(frozen=True)
class ModuleJob:
    """One derived module, its sources, and its target.

    Missing sides are ``None`` or empty; revisions are oldest first.
    """

    profile: Profile
    module: RunnerModule
    path: str
    text: str
    upstream: Upstream = Upstream()
    twin: GpuTwin = GpuTwin()
    hierarchy: Hierarchy = Hierarchy()
    target: Target = Target()
    settings: Settings = Settings()

    @property
    def units(self) -> Mapping[str, str]:
        """The texts of the module's units, by qualified name."""
        return texts.unit_texts(self.text, self.path)

    @property
    def upstream_title(self) -> str:
        """Return the name of the first upstream as questions give it."""
        return TITLES[self.module.anchor.project]

    @cached_property
    def refused(self) -> dict[str, str]:
        """Return words that a port must not bring, in NPU form, each with the reason.

        Code that people port by hand is allowed if omni's module already has some, and a name also if another derived
        module imports it. A missing member, or a name that the GPU twin imports and that its module lacks, is allowed
        if omni's module or vllm-ascend's reads it. A translated name that its module lacks is always refused.
        """
        own = self.text + (self.upstream.new.text if self.upstream.new is not None else "")
        target = self.target
        words = {
            word: "code that people port by hand"
            for word in self.profile.unported
            if word not in target.imported and not has_code_word(self.text, word)
        }
        for row in self.profile.names:
            if not row.new_module.startswith(f"{self.profile.package}.") and target.lacks(row.new_module, row.new_name):
                words[row.new_name] = f"not in {row.new_module} (no counterpart of {row.name})"
        missing = {f".{name}": owner for name, owner in sorted(target.missing_members.items())}
        if self.twin.new is not None:
            missing |= find_missing(
                self.twin.new.text, self.twin.new.path, lacks=target.lacks, moved_to=target.moved_to
            )
        return words | {word: f"not in {owner}" for word, owner in missing.items() if not has_code_word(own, word)}


Fate = Action | Literal["asked"]
"""The fate of a member that only the GPU class had; ``asked`` means not ported, with a question."""


@dataclass(frozen=True, slots=True)
class ModuleResult:
    """The upgraded module.

    ``decided`` holds the fate of each member that only the GPU class had. ``synced`` holds the upstream and the GPU
    text that each unit follows from now on. ``never_had`` holds the members that only upstream's text of a copy uses,
    before and after the upgrade.
    """

    path: str
    before: str
    after: str
    units: tuple[UnitReport, ...] = ()
    reviews: tuple[ReviewItem, ...] = ()
    decided: Mapping[str, Fate] = field(default_factory=dict)
    synced: Mapping[str, tuple[BaseRef | None, BaseRef | None]] = field(default_factory=dict)
    never_had: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def find_conflict_winner(job: ModuleJob, name: str) -> Preference:
    """Return the side that wins the conflicts of unit ``name``; ``review`` if no setting decides."""
    return next((side for glob, side in job.settings.policies.items() if fnmatchcase(name, glob)), "review")


def is_selected(name: str, only: Sequence[str]) -> bool:
    """Whether a unit is selected by qualified name, pattern or member name; true for all if ``only`` is empty."""
    return not only or any(fnmatchcase(name, glob) or name.rpartition(".")[2] == glob for glob in only)
