"""What one module's upgrade is given and what comes of it.

Comes in and goes out: frozen dataclasses of texts. May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Literal

from runner_sync.compose.member_text import uses_word
from runner_sync.compose.members import Action
from runner_sync.compose.records import Record
from runner_sync.lineage import Origin
from runner_sync.merge import Preference
from runner_sync.model import BaseRef, ReviewItem, UnitReport
from runner_sync.profile import Profile, RunnerModule
from runner_sync.upgrade.npu_words import TRANSLATION, Translation


@dataclass(frozen=True, slots=True)
class ModuleRevision:
    """One module of an upstream at one revision. ``ref`` is a version or a short commit.

    Without ``is_base`` it is read only to learn what the next release introduced, and is never a base of a merge."""

    ref: str
    text: str
    path: str = ""
    is_base: bool = True


Closest = Callable[[str, str, Sequence[ModuleRevision]], Origin | None]
"""Goes in: the qualified name of a unit upstream, omni's text of it, revisions. Goes out: what it was copied from."""


@dataclass(frozen=True, slots=True)
class GpuBase:
    """The GPU twin at one omni revision. ``load_vllm`` gives vLLM's module of the version that it was made for.

    It is a call because a base that no unit turns out to have never needs its vLLM, which may be a long download.
    """

    side: ModuleRevision
    load_vllm: Callable[[], ModuleRevision | None]

    @property
    def vllm(self) -> ModuleRevision | None:
        return self.load_vllm()


@dataclass(frozen=True, slots=True)
class Inherited:
    """What a class has from its bases."""

    members: Mapping[str, str | None] = field(default_factory=dict)
    """Members by name, with their texts where they are omni's, else ``None``."""
    classes: frozenset[str] = frozenset()
    """Names of the classes that it inherits from."""
    before: Mapping[str, str | None] = field(default_factory=dict)
    """``members`` as they were before this upgrade."""
    upstream: frozenset[str] = frozenset()
    """Names of the members that vllm-ascend's classes define."""
    vllm: Mapping[str, str] = field(default_factory=dict)
    """Members of vLLM's classes that the GPU twin has, with their texts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Another class of upstream's that a conditional base may be: its ``name``, the ``alias`` that it is bound to under
    a ``condition``, and its methods at a revision and now."""

    name: str
    alias: str
    condition: str
    old: Mapping[str, str]
    new: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """vllm-ascend's module: the revision to follow, and those that units may have been copied from."""

    new: ModuleRevision | None = None
    """The revision to follow; ``None`` where none is at hand."""
    is_followed: bool = True
    """Whether its changes are taken. Where only the GPU twin is followed it tells which units are copies, no more."""
    bases: tuple[ModuleRevision, ...] = ()
    """The revisions that copies may have been made from, oldest first."""
    locked: Mapping[str, BaseRef] = field(default_factory=dict)
    """What the lock says each unit follows."""
    apart: frozenset[str] = frozenset()
    """Units of which the lock says that they follow nothing of it, though it has methods of their names."""
    infer: Closest | None = None
    """Finds what a unit was copied from; ``base.closest`` where it is ``None``."""
    causes: Callable[[str, Sequence[str], str], str] = lambda _unit, _added, _since: ""
    """Names the commits behind a unit's added lines since a base."""
    variants: Callable[[str], Sequence[Variant]] = lambda _since: ()
    """Since a base, the classes that the module's class has as its base in other branches of a condition."""

    def at(self, ref: str) -> ModuleRevision | None:
        """The base of that name; ``None`` where it is not at hand."""
        return next((side for side in self.bases if side.ref == ref), None)


@dataclass(frozen=True, slots=True)
class Owed:
    """Names on ``self`` that an upgrade has to bring though the GPU twin has had them for long: the attributes in
    ``kept`` come with the members that use them, the methods in ``done`` are called for their effect."""

    kept: frozenset[str] = frozenset()
    done: frozenset[str] = frozenset()

    @property
    def names(self) -> frozenset[str]:
        """``kept`` and ``done`` together."""
        return self.kept | self.done

    def with_more(self, found: Owed) -> Owed:
        """What is owed by either."""
        return Owed(self.kept | found.kept, self.done | found.done)


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuTwin:
    """The module of the GPU twin: as it is, and as the NPU module may have been aligned with it."""

    new: ModuleRevision | None = None
    """The twin as it is; ``None`` where only vllm-ascend is followed."""
    bases: tuple[GpuBase, ...] = ()
    """The revisions that the NPU module may have been aligned with, oldest first."""
    load_earlier: Callable[[], Sequence[GpuBase]] = tuple
    """Gives revisions from before ``bases``, oldest first, which are read where a port rests on what came in them."""
    settled: ModuleRevision | None = None
    """The twin at the last upgrade that the lock knows of."""
    locked: Mapping[str, BaseRef] = field(default_factory=dict)
    """What the lock says each unit follows."""
    load_vllm: Callable[[], ModuleRevision | None] = lambda: None
    """Gives vLLM's module of the version that ``new`` is made for."""
    owed: Owed = Owed()
    """Names on ``self`` whose uses count as new in the twin, however old they are."""
    translation: Translation = TRANSLATION
    """Puts its texts, and those of vLLM, into NPU words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hierarchy:
    """What the classes of the module have from their bases, and which bases they get; all by class name.

    A mixin comes with the names that it gives to ``self``.
    """

    inherited: Mapping[str, Inherited] = field(default_factory=dict)
    """What each class has."""
    with_twin: Mapping[str, Inherited] = field(default_factory=dict)
    """What a class would have with its GPU twin as a base, for those that are meant to have it and do not yet."""
    bases_in_front: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Bases to put in front of those that a class has."""
    added_mixins: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    """Mixins to put behind the bases that a class has."""
    missing_mixins: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)
    """Mixins of the GPU twin that the class goes on without."""
    late_mixins: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Those of ``missing_mixins`` that come after all, where the class takes a step with vllm-ascend."""

    def with_late_mixins(self, class_names: Collection[str]) -> Hierarchy:
        """With the late mixins of these classes added."""
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
    """Names that the other modules of a family use on ``self``: what they inherit must have them."""

    called: frozenset[str] = frozenset()
    """By the modules themselves."""
    by_twins: frozenset[str] = frozenset()
    """By their GPU twins."""
    by_twins_now: frozenset[str] = frozenset()
    """By the twins, in calls that the modules may get with this upgrade."""

    @property
    def at_all(self) -> frozenset[str]:
        """By the modules or by their twins."""
        return self.called | self.by_twins


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is known of the trees that the result is to run in."""

    elsewhere: Elsewhere = Elsewhere()
    """Members that other runner modules call on ``self``."""
    records: Mapping[str, Record] = field(default_factory=dict)
    """Records of the modules that were upgraded before this one."""
    constructors: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The keywords that records of omni's take."""
    relocated: Mapping[str, str] = field(default_factory=dict)
    """Dotted names that derived modules once had, with what they are called now."""
    lacks: Callable[[str, str], bool] = lambda _module, _name: False
    """Whether a module, as it is after this run, is known not to have a name."""
    moved_to: Callable[[str, str], str] = lambda _module, _name: ""
    """Which module beside one defines the name that it lacks; empty for none, or several."""
    missing_members: Mapping[str, str] = field(default_factory=dict)
    """Members of GPU classes that the class for them on NPU, or the vLLM at hand, lacks, with the name of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What was asked for: the units to upgrade, by pattern (none: all), and by pattern the side that wins conflicts."""

    only: tuple[str, ...] = ()
    policies: Mapping[str, Preference] = field(default_factory=dict)


@dataclass(frozen=True)
class ModuleJob:
    """One derived module, what it is made from, and what it is made for. Missing sides are ``None`` or empty, and
    revisions stand oldest first."""

    profile: Profile
    module: RunnerModule
    path: str
    text: str
    upstream: Upstream = Upstream()
    twin: GpuTwin = GpuTwin()
    hierarchy: Hierarchy = Hierarchy()
    target: Target = Target()
    settings: Settings = Settings()

    @cached_property
    def refused(self) -> dict[str, str]:
        """What a port must not bring, as text in NPU words, each with what it is.

        Code that people port by hand is not refused where omni's module has some already, nor is a missing member that
        omni's module or vllm-ascend's reads. A name that is known to be missing where its translation imports it from
        is refused whatever is there.
        """
        own = self.text + (self.upstream.new.text if self.upstream.new is not None else "")
        target = self.target
        words = {
            word: "code that people port by hand" for word in self.profile.unported if not uses_word(self.text, word)
        }
        for row in self.profile.names:
            if not row.new_module.startswith(f"{self.profile.package}.") and target.lacks(row.new_module, row.new_name):
                words[row.new_name] = f"not in {row.new_module}"
        return words | {
            f".{name}": f"not in {owner}"
            for name, owner in sorted(target.missing_members.items())
            if not uses_word(own, f".{name}")
        }


Fate = Action | Literal["asked"]
"""What becomes of a member that only the GPU class had; ``asked``: it stays out, and a question is about that."""


@dataclass(frozen=True, slots=True)
class ModuleResult:
    """The upgraded module. ``decided`` is what becomes of each member that only the GPU class had; ``synced`` is what
    each unit follows from now on: its upstream text and its GPU twin."""

    path: str
    before: str
    after: str
    units: tuple[UnitReport, ...] = ()
    reviews: tuple[ReviewItem, ...] = ()
    decided: Mapping[str, Fate] = field(default_factory=dict)
    synced: Mapping[str, tuple[BaseRef | None, BaseRef | None]] = field(default_factory=dict)


def winner(job: ModuleJob, name: str) -> Preference:
    """Which side wins the conflicts of unit ``name``: ``upstream``, ``omni``, or ``review`` where nobody said so."""
    return next((side for glob, side in job.settings.policies.items() if fnmatchcase(name, glob)), "review")


def is_selected(name: str, only: Sequence[str]) -> bool:
    """Whether a unit is among those asked for: by qualified name, by pattern, or by member name; all when none is."""
    return not only or any(fnmatchcase(name, glob) or name.rpartition(".")[2] == glob for glob in only)
