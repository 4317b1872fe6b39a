"""The trees that ``check`` and ``verify`` hold the runners against: the target pair and the one they were made for.

Comes in: options, configuration and lock. Goes out: ``Inputs`` with their upstreams, and ``Pair`` values. May touch:
what ``sources`` touches; without a tree to follow by option, environment, configuration or installation, nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner_sync import sources
from runner_sync.errors import InputError
from runner_sync.lock import Lock
from runner_sync.model import TITLES
from runner_sync.sync import inputs
from runner_sync.sync.options import CheckOptions
from runner_sync.trees import Tree

if TYPE_CHECKING:
    from runner_sync.verify.trees.world import World


@dataclass(frozen=True, slots=True)
class Pair:
    """The tree that is followed and the vLLM that belongs to it, which may be the same one."""

    followed: Tree
    vllm: Tree

    @property
    def title(self) -> str:
        said = f"vLLM {self.vllm.source.ref}"
        source = self.followed.source
        return said if source.project == "vllm" else f"{source.project} {source.ref} and {said}"

    def world(self, given: inputs.Inputs) -> World:
        """The pair with the omni tree on top, as one program."""
        from runner_sync.verify.trees.world import World

        trees = {**given.trees, "vllm": self.vllm, self.followed.source.project: self.followed}
        return World(trees, surroundings=given.profile.surroundings)


def open_targets(options: CheckOptions, given: inputs.Inputs) -> inputs.Inputs:
    """``given`` with the vllm-ascend and the vLLM that are named somewhere. Raises ``InputError`` for half a name."""
    project = given.profile.followed
    inputs.refuse_unread(given.profile, options.ascend, options.ascend_base)
    vllm = inputs.open_target("vllm", options.vllm, given.config, options.progress)
    given = replace(given, vllm=vllm)
    if project != "vllm":
        ascend = inputs.open_target(project, options.ascend, given.config, options.progress)
        given = replace(given, ascend=ascend)
    if given.followed is None and (options.ascend_base or options.vllm_base):
        raise InputError(
            f"--ascend-base and --vllm-base name what the runners were made for: name also the {TITLES[project]} to "
            f"compare with, by {inputs.options_of(project)}."
        )
    return given


def target(options: CheckOptions, given: inputs.Inputs) -> Pair:
    """The pair to fit; its vLLM is the one that vllm-ascend says it is for, unless another is named."""
    followed = inputs.require(given.profile.followed, given.followed)
    if given.vllm is not None:
        return Pair(followed, given.vllm)
    version = sources.declared_vllm(followed)
    if version is None:
        where = followed.source.location
        raise InputError(f"cannot tell which vLLM {where} is for: {sources.vllm_remedy(followed)}.")
    return Pair(followed, inputs.open_at("vllm", version, None, options.progress))


def older(options: CheckOptions, given: inputs.Inputs, new: Pair) -> Pair | None:
    """The pair that the runners were made for, by option or lock; ``None`` when nobody says or it is ``new`` itself."""
    project = given.profile.followed
    named = options.base(project)
    ref = named or last_synced(given.lock)
    if ref is None or (named is None and is_ref_of(ref, new.followed)):
        return None
    followed = new.followed if is_ref_of(ref, new.followed) else followed_at(ref, given, options)
    if project == "vllm":
        return Pair(followed, followed) if followed is not new.followed else None
    version = options.vllm_base or sources.declared_vllm(followed) or _locked_vllm(ref, given)
    if version is None:
        raise InputError(f"cannot tell which vLLM {TITLES[project]} {ref} is for: name it with --vllm-base.")
    if is_ref_of(version, new.vllm):
        return Pair(followed, new.vllm) if followed is not new.followed else None
    return Pair(followed, inputs.open_at("vllm", version, given.vllm, options.progress))


def _locked_vllm(ref: str, given: inputs.Inputs) -> str | None:
    """The vLLM that the last upgrade read, if it followed ``ref``."""
    known = given.lock.inputs
    return known.get("vllm") if known.get(given.profile.followed) == ref else None


def followed_at(ref: str, given: inputs.Inputs, options: CheckOptions) -> Tree:
    """The followed project at a revision or version that a lock or an option names. Raises ``InputError`` with the
    remedy."""
    project, tree = given.profile.followed, given.followed
    is_git = tree is not None and tree.source.kind == "git"
    if not is_git and not inputs.is_version(ref):
        raise InputError(
            f"{ref} is a revision of {TITLES[project]}, which only a git checkout has: give one with "
            f"--{inputs.option_word(project)}-path, or write the lock anew with `runner-sync lock`."
        )
    return inputs.open_at(project, ref, tree, options.progress)


def is_ref_of(ref: str, tree: Tree) -> bool:
    """Whether ``ref`` names what ``tree`` is."""
    source = tree.source
    return ref in (source.ref, source.version) or bool(source.revision and source.revision.startswith(ref))


def last_synced(lock: Lock) -> str | None:
    """What the runners as a whole were made for: the newest one that any unit follows.

    Of commits, which have no order here, it is the one that most units follow.
    """
    from packaging.version import Version

    refs = Counter(entry.upstream.ref for entry in lock.entries if entry.upstream is not None)
    versions = [ref for ref in refs if inputs.is_version(ref)]
    if versions:
        return max(versions, key=Version)
    return refs.most_common(1)[0][0] if refs else None


def vllm_of_omni(options: CheckOptions, given: inputs.Inputs, near: Iterable[Tree]) -> Tree | None:
    """The vLLM that the omni tree itself is for: of the trees ``near``, else by the number that omni tells.

    ``None`` when it does not tell; then ``near``'s first one is as good as any.
    """
    trees = list(near)
    version = sources.declared_vllm(given.omni)
    if version is None:
        return trees[0] if trees else None
    known = next((tree for tree in trees if is_ref_of(version, tree)), None)
    return known or inputs.open_at("vllm", version, given.vllm, options.progress)
