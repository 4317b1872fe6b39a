"""The trees that ``check`` and ``verify`` hold the runners against: the target pair and the one they were made for.

Comes in: options, configuration and lock. Goes out: ``Inputs`` with their upstreams, and ``Pair`` values. May touch:
what ``sources`` touches; without a vllm-ascend by option, environment, configuration or installation, nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from runner_sync import sources
from runner_sync.errors import InputError
from runner_sync.lock import Lock
from runner_sync.model import Tree
from runner_sync.sync import inputs
from runner_sync.sync.options import CheckOptions

if TYPE_CHECKING:
    from runner_sync.verify.trees.world import World


@dataclass(frozen=True, slots=True)
class Pair:
    """A vllm-ascend and the vLLM that belongs to it."""

    ascend: Tree
    vllm: Tree

    @property
    def title(self) -> str:
        return f"vllm-ascend {self.ascend.source.ref} and vLLM {self.vllm.source.ref}"

    def world(self, given: inputs.Inputs) -> World:
        """The pair with the omni tree on top, as one program."""
        from runner_sync.verify.trees.world import World

        trees = replace(given, ascend=self.ascend, vllm=self.vllm).trees
        return World(trees, surroundings=given.profile.surroundings)


def open_targets(options: CheckOptions, given: inputs.Inputs) -> inputs.Inputs:
    """``given`` with the vllm-ascend and the vLLM that are named somewhere. Raises ``InputError`` for half a name."""
    ascend = inputs.open_target("vllm-ascend", options.ascend, given.config, options.progress)
    vllm = inputs.open_target("vllm", options.vllm, given.config, options.progress)
    if ascend is None and (options.ascend_base or options.vllm_base):
        raise InputError(
            "--ascend-base and --vllm-base name what the runners were made for: name also the vllm-ascend to compare "
            "with, by --ascend-path or --ascend-version."
        )
    return replace(given, ascend=ascend, vllm=vllm)


def target(options: CheckOptions, given: inputs.Inputs) -> Pair:
    """The pair to fit; its vLLM is the one that vllm-ascend says it is for, unless another is named."""
    ascend = inputs.require_ascend(given.ascend)
    if given.vllm is not None:
        return Pair(ascend, given.vllm)
    version = sources.declared_vllm(ascend)
    if version is None:
        raise InputError(
            f"cannot tell which vLLM {ascend.source.location} is for: name it with --vllm-version or --vllm-path."
        )
    return Pair(ascend, inputs.open_at("vllm", version, None, options.progress))


def older(options: CheckOptions, given: inputs.Inputs, new: Pair) -> Pair | None:
    """The pair that the runners were made for, by option or lock; ``None`` when nobody says or it is ``new`` itself."""
    ref = options.ascend_base or last_synced(given.lock)
    if ref is None or (options.ascend_base is None and is_ref_of(ref, new.ascend)):
        return None
    ascend = new.ascend if is_ref_of(ref, new.ascend) else at_ascend(ref, given, options)
    version = options.vllm_base or sources.declared_vllm(ascend)
    if version is None:
        raise InputError(f"cannot tell which vLLM vllm-ascend {ref} is for: name it with --vllm-base.")
    if is_ref_of(version, new.vllm):
        return Pair(ascend, new.vllm) if ascend is not new.ascend else None
    return Pair(ascend, inputs.open_at("vllm", version, given.vllm, options.progress))


def at_ascend(ref: str, given: inputs.Inputs, options: CheckOptions) -> Tree:
    """vllm-ascend at a revision or version that a lock or an option names. Raises ``InputError`` with the remedy."""
    is_git = given.ascend is not None and given.ascend.source.kind == "git"
    if not is_git and not inputs.is_version(ref):
        raise InputError(
            f"{ref} is a revision of vllm-ascend, which only a git checkout has: give one with --ascend-path, or write "
            "the lock anew with `runner-sync lock`."
        )
    return inputs.open_at("vllm-ascend", ref, given.ascend, options.progress)


def is_ref_of(ref: str, tree: Tree) -> bool:
    """Whether ``ref`` names what ``tree`` is."""
    source = tree.source
    return ref in (source.ref, source.version) or bool(source.revision and source.revision.startswith(ref))


def last_synced(lock: Lock) -> str | None:
    """The vllm-ascend that the runners as a whole were made for: the newest one that any unit follows.

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
