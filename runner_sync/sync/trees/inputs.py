"""Open the trees that options and configuration name, and older revisions of them.

Comes in: options and configuration. Goes out: ``Inputs``. May touch: what ``sources`` touches.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from runner_sync import config as configuration
from runner_sync import sources
from runner_sync.errors import InputError, UndecodableText, UnreadableRelease
from runner_sync.lock import Lock, load, make_command
from runner_sync.model import TITLES, Project, Source
from runner_sync.profile import BUILT_IN, OMNI_FOLDERS, VLLM_RUNNER, Profile, RunnerModule
from runner_sync.sync.options import PATH_VARIABLES, OmniOptions, Progress, TreeOptions
from runner_sync.sync.recalled import recall_toml
from runner_sync.sync.trees.moved_files import Moves, describe_moves, find_moves, with_moves
from runner_sync.sync.trees.namesakes import add_namesakes
from runner_sync.sync.trees.patched_tree import PatchedTree
from runner_sync.trees import OnDisk, Tree
from runner_sync.user_paths import resolved


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """The trees, configuration and lock of a run; ``root`` is the folder to write to, ``None`` without one.

    ``moves`` are the files whose classes stand elsewhere in these trees; the profile has the new paths already.
    ``together`` has texts, by path, that are read in place of omni's files, or are known to be whole there: see
    ``classes.parted_runners`` and ``whole_modules``.
    """

    omni: Tree
    root: Path | None
    config: configuration.Config
    lock: Lock
    ascend: Tree | None = None
    vllm: Tree | None = None
    moves: Moves = field(default_factory=dict)
    together: Mapping[str, str] = field(default_factory=dict)

    @property
    def profile(self) -> Profile:
        return self.config.profile

    @property
    def lock_file(self) -> str:
        return self.profile.lock_file

    @property
    def followed(self) -> Tree | None:
        """The tree of the project that the modules follow; ``None`` if it is not at hand."""
        return self.trees.get(self.profile.followed)

    def with_followed(self, tree: Tree | None) -> Inputs:
        """Return the same inputs with ``tree`` as the followed one."""
        return self.with_trees({self.profile.followed: tree})

    def with_trees(self, trees: Mapping[Project, Tree | None]) -> Inputs:
        """Return the same inputs with other upstream trees, and the profile with the paths that they have."""
        given = replace(self, ascend=trees.get("vllm-ascend", self.ascend), vllm=trees.get("vllm", self.vllm))
        moves: Moves = {}
        for tree in trees.values():
            moves = {**moves, **(find_moves(self.profile, tree, self.omni) if tree is not None else {})}
        return given.with_moves(moves)

    def with_moves(self, moves: Moves) -> Inputs:
        """Return the same inputs with a profile and a lock that know the new paths of moved files."""
        if not moves:
            return self
        config = replace(self.config, profile=with_moves(self.profile, moves))
        return replace(self, config=config, lock=self.lock.with_paths(moves), moves={**self.moves, **moves})

    def places_of(self, path: str) -> tuple[str, ...]:
        """Return a path and those that its file had before it moved, newest first."""
        return (path, *(old for old, new in self.moves.items() if new == path))

    def note_moves(self) -> tuple[str, ...]:
        """Note each file that was followed to another path."""
        return describe_moves(self.moves, {project: tree.source.ref for project, tree in self.trees.items()})

    @property
    def trees(self) -> dict[Project, Tree]:
        """The trees at hand by project."""
        trees: dict[Project, Tree | None] = {"vllm-omni": self.omni, "vllm-ascend": self.ascend, "vllm": self.vllm}
        return {project: tree for project, tree in trees.items() if tree is not None}

    @property
    def sources(self) -> tuple[Source, ...]:
        return tuple(tree.source for tree in self.trees.values())

    @property
    def whole_omni(self) -> Tree:
        """The omni tree with the texts that are read in place of its files."""
        changed = {path: text for path, text in self.together.items() if self.omni.read(path) != text}
        return PatchedTree(self.omni, changed) if changed else self.omni

    def read_derived(self, path: str) -> str | None:
        """Return the text of a derived module, whole if it is to be read so; ``None`` if the tree lacks it."""
        return self.together[path] if path in self.together else self.omni.read(path)

    def read_twin(self, module: RunnerModule) -> str | None:
        """Return the text of a module's GPU twin; ``None`` if it has none, or the tree lacks it."""
        return self.omni.read(module.gpu.path) if module.gpu is not None else None


def open_omni(options: OmniOptions, *, with_lock: bool = True) -> Inputs:
    """Open the omni tree with its configuration and lock.

    The lock is empty if the tree has none or is a release, or without ``with_lock``, for a run that makes a new one.
    """
    omni, explicit, profile = options.omni, options.config, options.profile
    if omni.version is not None:
        tree: Tree = sources.open_release("vllm-omni", omni.version, needed=OMNI_FOLDERS, progress=options.progress)
        settings = configuration.load(None, explicit=explicit, profile=profile)
        return _fit_profile(Inputs(tree, None, settings, Lock()))
    tree = sources.open_path("vllm-omni", omni.path or Path(), ref=omni.ref)
    root = tree.root if isinstance(tree, OnDisk) else None
    settings = configuration.load(root or Path(omni.path or "."), explicit=explicit, profile=profile)
    name = settings.profile.lock_file
    if root is not None and (root / name).is_dir():
        raise InputError(f"{name}: is a folder; move it away and run again.")
    if root is not None and settings.source is not None and resolved(root / name) == resolved(settings.source):
        raise InputError(f"{settings.source}: lock-file names the configuration itself; name a file of its own.")
    text = read_lock_text(tree, name) if with_lock else None
    lock = load(text, path=name, decode=recall_toml) if text is not None else Lock()
    _refuse_foreign_lock(lock, settings.profile)
    return _fit_profile(Inputs(tree, root, settings, lock))


def read_lock_text(tree: Tree, name: str) -> str | None:
    """Return the text of the lock ``name``; ``None`` if there is none.

    Raises ``InputError`` if it is not UTF-8: as runner-sync writes it in UTF-8, something has damaged it.
    """
    try:
        return tree.read(name)
    except UndecodableText as error:
        command = make_command(error.data.decode("utf-8", "replace"))
        raise InputError(
            f"{name}:{error.line}: is not UTF-8 text; restore it from git, or delete it and write it anew with "
            f"`{command}`."
        ) from error


def _refuse_foreign_lock(lock: Lock, profile: Profile) -> None:
    """Raise ``InputError`` for a lock of another built-in profile: a copy, or a file name given to both."""
    if (other := find_other_profile({entry.path for entry in lock.entries}, profile)) is not None:
        raise InputError(
            f"{profile.lock_file} is a lock of the {other.platform} runners, but this run is about the "
            f"{profile.platform} runners, which need their own lock: restore it from git, or write it anew with "
            "`runner-sync lock`."
        )


def find_other_profile(paths: Collection[str], given: Profile) -> Profile | None:
    """Return the built-in profile whose runners include all ``paths``.

    Returns ``None`` if there is no such profile, or ``given`` has one of the paths.
    """
    own, *others = (
        {path for module in profile.modules for path in module.paths} for profile in (given, *BUILT_IN.values())
    )
    if not paths or not own.isdisjoint(paths):
        return None
    return next((one for one, known in zip(BUILT_IN.values(), others, strict=True) if known.issuperset(paths)), None)


def _fit_profile(given: Inputs) -> Inputs:
    """Fit the profile to the omni tree: the paths of moved files, and the tree's helper classes."""
    given = given.with_moves(find_moves(given.profile, given.omni, given.omni))
    return replace(given, config=replace(given.config, profile=add_namesakes(given.profile, given.omni)))


def open_target(
    project: Project, options: TreeOptions, settings: configuration.Config, progress: Progress
) -> Tree | None:
    """Open the tree that an option names, else an environment variable, the configuration, or the installed package.

    Returns ``None`` without any of these. Raises ``InputError`` for an unreadable tree; the message names the variable
    or key unless an option named the tree.
    """
    if options.path is not None:
        return sources.open_path(project, options.path, ref=options.ref)
    if options.version is not None:
        return _open_release(project, options.version, progress)
    variable = os.environ.get(PATH_VARIABLES[project])
    if variable:
        with _blame_place(PATH_VARIABLES[project]):
            return sources.open_path(project, Path(variable), ref=options.ref)
    path, version = {
        "vllm-ascend": (settings.ascend_path, settings.ascend_version),
        "vllm": (settings.vllm_path, settings.vllm_version),
    }[project]
    key = project.removeprefix("vllm-")
    if path is not None:
        with _blame_place(f"{settings.source}: {key}-path"):
            return sources.open_path(project, path, ref=options.ref)
    if version is not None:
        with _blame_place(f"{settings.source}: {key}-version"):
            return _open_release(project, version, progress)
    return sources.open_installed(project)


@contextmanager
def _blame_place(place: str) -> Iterator[None]:
    """Put ``place``, which named a tree, in front of an error, because no command-line option explains it."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{place}: {error}") from error


def open_locked(project: Project, lock: Lock, lock_file: str, progress: Progress) -> Tree | None:
    """Open the upstream release that the last run read according to the lock; return ``None`` if it was no release.

    Raises ``InputError`` with the lock's file if the release cannot be read.
    """
    version = lock.inputs.get(project, "")
    if not is_version(version):
        return None
    try:
        return _open_release(project, version, progress)
    except InputError as error:
        why = (error.without_option if isinstance(error, UnreadableRelease) else str(error)).rstrip(".")
        raise InputError(
            f"{lock_file} names {TITLES[project]} {version}, which cannot be read ({why}): give {options_of(project)}."
        ) from error


def require_tree(project: Project, tree: Tree | None, lock: Lock | None = None, lock_file: str = "") -> Tree:
    """Return ``tree``; if it is ``None``, raise ``InputError`` with every way to name a tree of ``project``.

    The message says so if the lock names one that `open_locked` cannot open: a git revision, or a folder.
    """
    if tree is None:
        ref = lock.inputs.get(project, "") if lock is not None else ""
        why = (
            f"which only a git checkout has: {remedy_for_commit(project)}" if is_commit(ref) else "which is no release"
        )
        named = f" ({lock_file} names {ref}, {why})" if ref and not is_version(ref) else ""
        raise InputError(
            f"no {TITLES[project]} to follow: give {options_of(project)}, set {PATH_VARIABLES[project]}, "
            f"or install runner-sync[{option_word(project)}]{named}."
        )
    return tree


def option_word(project: Project) -> str:
    """Return the word for an upstream in option names: ``ascend`` as in ``--ascend-path``."""
    return project.removeprefix("vllm-")


def remedy_for_commit(project: Project) -> str:
    """Return what to do if the lock names a commit of an upstream and no checkout is at hand, for a message."""
    word = option_word(project)
    return (
        f"name one that has the commit with --{word}-path, or write the lock anew for a release with "
        f"`runner-sync lock --{word}-version V`"
    )


def options_of(project: Project) -> str:
    """Return the options that name a tree of an upstream, as words for a message."""
    word = option_word(project)
    return f"--{word}-path or --{word}-version"


def refuse_unread(profile: Profile, ascend: TreeOptions, base: str | None) -> None:
    """Raise ``InputError`` for options that name a vllm-ascend if the profile follows vLLM and would not read it."""
    if profile.followed == "vllm" and (ascend.is_given or base is not None):
        raise InputError(
            f"the {profile.platform} runners follow vLLM, and no vllm-ascend is read: leave the --ascend options out, "
            f"and name the vLLM with {options_of('vllm')}."
        )


def require_one_followed(profile: Profile) -> None:
    """Raise ``InputError`` if modules of the profile follow different projects, because one run follows one."""
    for module in profile.modules:
        if (project := module.anchor.project) != profile.followed:
            raise InputError(
                f"{module.name} follows {TITLES[project]} in this profile, and {profile.modules[0].name} "
                f"{TITLES[profile.followed]}: one run follows one project, so give each a configuration of its "
                "own (--config FILE)."
            )


def _open_release(project: Project, version: str, progress: Progress) -> Tree:
    needed = {"vllm-omni": OMNI_FOLDERS, "vllm": (VLLM_RUNNER,)}.get(project)
    return sources.open_release(project, version, needed=needed, progress=progress)


def open_at(project: Project, ref: str, like: Tree | None, progress: Progress) -> Tree:
    """Open the tree of ``project`` at ``ref``.

    That is ``like`` if it is a folder known only by the path ``ref``, else its revision ``ref`` if it is a git checkout
    that knows this revision, else a release.
    """
    if like is not None and not like.source.is_known_elsewhere and like.source.ref == ref:
        return like
    if like is not None and like.source.kind == "git":
        try:
            return sources.open_path(project, like.source.location, ref=ref)
        except InputError:
            if not is_version(ref):
                raise
    return _open_release(project, ref, progress)


def is_version(ref: str) -> bool:
    """Whether ``ref`` is a release number and not a git revision.

    It must have a dot, because ``123456b789`` parses as both.
    """
    from packaging.version import Version

    try:
        Version(ref)
    except ValueError:
        return False
    return "." in ref


def is_commit(ref: str) -> bool:
    """Whether ``ref`` is the hash of a commit; a lock may also name a release, or the folder that it was made in."""
    return re.fullmatch(r"[0-9a-f]{7,40}", ref) is not None


def read_first(tree: Tree, paths: Iterable[str]) -> tuple[str, str] | None:
    """Return ``(path, text)`` of the first of ``paths`` that the tree has."""
    for path in paths:
        text = tree.read(path)
        if text is not None:
            return path, text
    return None
