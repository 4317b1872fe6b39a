"""Open the trees that ``check`` and ``verify`` compare the runners with: the target pair and the older pair.

Comes in: options, configuration and lock. Goes out: ``Inputs`` with their upstreams, and ``Pair`` values. May touch:
what ``sources`` touches; nothing if no option, variable, configuration or installation names a tree to follow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from runner_sync import sources
from runner_sync.errors import InputError
from runner_sync.lock import Lock
from runner_sync.model import TITLES
from runner_sync.sync.options import PATH_VARIABLES, CheckOptions, RunOptions
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.patched_tree import PatchedTree
from runner_sync.trees import InWork, Tree

if TYPE_CHECKING:
    from runner_sync.sync.upgrade_options import UpgradeOptions
    from runner_sync.verify.trees.world import World


class Pair(NamedTuple):
    """A tree of the followed project and the vLLM that it is made for; the same tree twice if vLLM is followed."""

    followed: Tree
    vllm: Tree

    @property
    def title(self) -> str:
        vllm = f"vLLM {self.vllm.source.ref}"
        source = self.followed.source
        return vllm if source.project == "vllm" else f"{source.project} {source.ref} and {vllm}"

    @property
    def words(self) -> list[str]:
        """The options that name the pair as the one that the runners were made for."""
        named = {source.project: source.ref for source in (self.followed.source, self.vllm.source)}
        return [word for project, ref in named.items() for word in (f"--{inputs.option_word(project)}-base", ref)]

    def world(self, given: inputs.Inputs) -> World:
        """Return the pair and the omni tree as the trees of one program."""
        from runner_sync.verify.trees.world import World

        trees = {
            **given.trees,
            "vllm-omni": given.whole_omni,
            "vllm": self.vllm,
            self.followed.source.project: self.followed,
        }
        return World(trees, surroundings=given.profile.surroundings)


def open_targets(options: CheckOptions, given: inputs.Inputs) -> inputs.Inputs:
    """Add the vllm-ascend and vLLM that options, environment, configuration or installation name to ``given``.

    Raises ``InputError`` if a base is named without a tree to compare it with.
    """
    project = given.profile.followed
    inputs.refuse_unread(given.profile, options.ascend, options.ascend_base)
    vllm = inputs.open_target("vllm", options.vllm, given.config, options.progress)
    given = given.with_trees({"vllm": vllm})
    if project != "vllm":
        given = given.with_followed(inputs.open_target(project, options.ascend, given.config, options.progress))
    if given.followed is None and (options.ascend_base or options.vllm_base):
        raise InputError(
            f"--ascend-base and --vllm-base name what the runners were made for: name also the {TITLES[project]} to "
            f"compare with, by {inputs.options_of(project)}."
        )
    return given


def open_target_pair(options: CheckOptions, given: inputs.Inputs) -> Pair:
    """Open the pair that the runners should fit, with the vLLM that is named or that vllm-ascend declares.

    Raises ``InputError`` if no tree to follow is at hand, or no vLLM is declared or named.
    """
    followed = inputs.require_tree(given.profile.followed, given.followed)
    if given.vllm is not None:
        return Pair(followed, given.vllm)
    version = sources.declared_vllm(followed)
    if version is None:
        where = followed.source.location
        raise InputError(f"cannot tell which vLLM {where} is for: {sources.vllm_remedy(followed)}.")
    return Pair(followed, inputs.open_at("vllm", version, None, options.progress))


def open_older_pair(options: CheckOptions, given: inputs.Inputs, new: Pair) -> Pair | None:
    """Open the pair that the runners were made for, by option or lock.

    Returns ``None`` if neither names one, or it is ``new``: a lock that was written for ``new`` tells no older pair,
    whatever single units follow. Raises ``InputError`` if its vLLM is unknown, or a base
    cannot be read.
    """
    project = given.profile.followed
    named = options.base(project)
    recorded = given.lock.inputs.get(project)
    is_recorded = recorded is not None and is_ref_of(recorded, new.followed)
    ref = named or (recorded if is_recorded else find_last_synced(given.lock))
    is_told = named is not None or options.vllm_base is not None
    if ref is None or (not is_told and is_ref_of(ref, new.followed)):
        return None
    followed = new.followed if has_texts_of(ref, new.followed) else open_followed_at(ref, given, options)
    if project == "vllm":
        return Pair(followed, followed) if followed is not new.followed else None
    version = options.vllm_base or sources.declared_vllm(followed) or _find_locked_vllm(ref, given)
    if version is None:
        remedy = sources.vllm_remedy(followed, is_base=True)
        raise InputError(f"cannot tell which vLLM {TITLES[project]} {ref} is for: {remedy}.")
    if has_texts_of(version, new.vllm):
        return Pair(followed, new.vllm) if followed is not new.followed else None
    return Pair(followed, inputs.open_at("vllm", version, given.vllm, options.progress))


def open_newest(refs: Iterable[str], given: inputs.Inputs, options: CheckOptions) -> Tree | None:
    """Open the followed project at the newest of ``refs``; ``None`` if there are none, or the target has its texts.

    Raises ``InputError`` if it cannot be read.
    """
    assert given.followed is not None
    ref = _choose_newest(Counter(refs))
    return None if ref is None or has_texts_of(ref, given.followed) else open_followed_at(ref, given, options)


def open_vllm_beside(options: CheckOptions, given: inputs.Inputs, new: Pair) -> tuple[Tree, str]:
    """Open the vLLM that ``--vllm-base`` names, else the one that omni is for; say why it is this one.

    It is the target's if none is known, or omni's has the same minor version. What the copies follow does not count,
    because omni's shared code runs on omni's own vLLM. Raises ``InputError`` if it cannot be read.
    """
    version, why = options.vllm_base, "which --vllm-base names"
    if version is None and not _has_minor_of(sources.declared_vllm(given.omni), new.vllm.source.version):
        version, why = sources.declared_vllm(given.omni), "which this vllm-omni is for"
    if version is None or has_texts_of(version, new.vllm):
        return new.vllm, ""
    return inputs.open_at("vllm", version, new.vllm, options.progress), why


def _has_minor_of(version: str | None, other: str | None) -> bool:
    """Whether two versions have the same minor version, as far as both are known."""
    from packaging.version import Version

    return version is None or other is None or Version(version).release[:2] == Version(other).release[:2]


def _find_locked_vllm(ref: str, given: inputs.Inputs) -> str | None:
    """Return the vLLM of the last upgrade, if that followed ``ref``."""
    known = given.lock.inputs
    return known.get("vllm") if known.get(given.profile.followed) == ref else None


def open_pair_before_upgrade(options: UpgradeOptions, given: inputs.Inputs, refs: Iterable[str]) -> Pair | None:
    """Open the pair that runners fitted before an upgrade to ``given``; return ``None`` if it is the same pair.

    It has the followed project at the newest of ``refs``, which the units were copied from, and the vLLM that the omni
    tree is for, because omni's shared code runs on that one, however old the copies are. Units that follow the target
    already, after an upgrade of those alone, do not count. Raises ``InputError`` for a tree that cannot be read.
    """
    assert given.followed is not None
    assert given.vllm is not None
    counted = Counter(refs)
    behind = Counter({ref: count for ref, count in counted.items() if not has_texts_of(ref, given.followed)})
    ref = options.base(given.profile.followed) or _choose_newest(behind or counted)
    is_same = ref is None or has_texts_of(ref, given.followed)
    followed = given.followed if is_same or ref is None else open_followed_at(ref, given, options)
    if given.profile.followed == "vllm":
        return None if is_same else Pair(followed, followed)
    version = sources.declared_vllm(given.omni) or sources.declared_vllm(followed)
    vllm = given.vllm
    if version is not None and not has_texts_of(version, vllm):
        vllm = inputs.open_at("vllm", version, given.vllm, options.progress)
    return None if is_same and vllm is given.vllm else Pair(followed, vllm)


def open_followed_at(ref: str, given: inputs.Inputs, options: RunOptions) -> Tree:
    """Open the followed project at ``ref``, which a lock or an option names.

    Raises ``InputError``, with the remedy, for a git revision if the followed tree is no git checkout.
    """
    project, tree = given.profile.followed, given.followed
    is_git = tree is not None and tree.source.kind == "git"
    if not is_git and not inputs.is_version(ref):
        word = inputs.option_word(project)
        raise InputError(
            f"{ref} is a revision of {TITLES[project]}, which only a git checkout has: give one with --{word}-path, "
            f"{PATH_VARIABLES[project]} or `{word}-path` in the configuration, or write the lock anew for a release "
            f"with `runner-sync lock --{word}-version V`."
        )
    return _add_present_names(inputs.open_at(project, ref, tree, options.progress), given)


def _add_present_names(tree: Tree, given: inputs.Inputs) -> Tree:
    """Make the moved files of an older tree readable by their present paths, too."""
    moved = {new: text for old, new in given.moves.items() if (text := tree.read(old)) is not None}
    return PatchedTree(tree, {path: text for path, text in moved.items() if tree.read(path) is None}) if moved else tree


def is_ref_of(ref: str, tree: Tree) -> bool:
    """Whether ``tree`` says that ``ref`` is its version or its git revision, perhaps shortened."""
    source = tree.source
    return ref in (source.ref, None if source.altered else source.version) or bool(
        source.revision and source.revision.startswith(ref)
    )


def has_texts_of(ref: str, tree: Tree) -> bool:
    """Whether ``tree`` has the texts of ``ref``, so that comparing the two tells nothing.

    A git tree has them if ``ref`` is its commit and its work tree is unchanged. Its metadata proves nothing, because a
    patched vLLM still has the version of the release that it began as. Any other tree must be believed.
    """
    source = tree.source
    if source.kind != "git":
        return is_ref_of(ref, tree)
    try:
        same = sources.open_path(source.project, source.location, ref=ref).source.revision == source.revision
    except InputError:
        return False
    return same and not (isinstance(tree, InWork) and tree.is_changed())


def find_last_synced(lock: Lock) -> str | None:
    """Return the upstream that the runners as a whole were made for: the newest version that any unit follows.

    If units follow only commits, whose order is not known here, returns the most frequent one.
    """
    return _choose_newest(Counter(entry.upstream.ref for entry in lock.entries if entry.upstream is not None))


def _choose_newest(refs: Counter[str]) -> str | None:
    """Return the newest version among ``refs``, or the most frequent git revision if there are no versions."""
    from packaging.version import Version

    versions = [ref for ref in refs if inputs.is_version(ref)]
    if versions:
        return max(versions, key=Version)
    return refs.most_common(1)[0][0] if refs else None


def open_vllm_of_omni(options: CheckOptions, given: inputs.Inputs, near: Iterable[Tree]) -> Tree | None:
    """Return the vLLM of the version that omni declares, from the trees ``near`` or else opened.

    If omni declares none, returns the first of ``near``, or ``None``.
    """
    trees = list(near)
    version = sources.declared_vllm(given.omni)
    if version is None:
        return trees[0] if trees else None
    known = next((tree for tree in trees if is_ref_of(version, tree)), None)
    return known or inputs.open_at("vllm", version, given.vllm, options.progress)
