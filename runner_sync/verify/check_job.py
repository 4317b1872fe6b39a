"""Defines the input of `check`.

Comes in: texts (from `sync`, whatever their source). Goes out: `CheckJob`, `CheckModule`. May touch: nothing, except
``CheckJob.read``, which reads a file of the omni tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runner_sync.lock import Entry
    from runner_sync.profile import Profile
    from runner_sync.verify.trees.surroundings import Surroundings
    from runner_sync.verify.trees.world import World

TextReader = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class CheckModule:
    """One NPU module. Unknown texts are ``None``.

    ``gpu_text`` is its GPU twin now. ``gpu_units``, ``{ref: {name: text}}`` with the oldest first, are the units of
    earlier revisions of the twin; the module was last aligned with one of them.

    ``upstream_text`` is the target module upstream, ``base_text`` (of ``base_ref``) the module that the copies were
    taken from. ``base_texts``, ``{ref: text}``, has the text for units that the lock ties to another ref. ``vllm_text``
    is vLLM's own module of the same version; code of the GPU twin that is also in it is not omni's.
    """

    path: str
    text: str
    gpu_path: str = ""
    gpu_text: str | None = None
    entries: tuple[Entry, ...] = ()
    upstream_path: str = ""
    upstream_text: str | None = None
    upstream_ref: str = ""
    base_text: str | None = None
    base_ref: str = ""
    vllm_text: str | None = None
    base_texts: Mapping[str, str] = field(default_factory=dict)
    gpu_units: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CheckJob:
    """Everything that one `check` looks at. ``read`` returns other omni files (mixins), ``None`` for no such file.

    ``beside`` are the other modules in and below the folders of ``modules``: helpers, runners that no profile names.
    ``world`` and ``old_world`` are the trees of the RS3xx rules. ``compared`` are older trees for rules that compare
    versions only; it is used if the version that the runners were made for is unknown. ``branch_point`` is ``world``
    with the omni tree at the start of the branch. ``before`` makes the job, without worlds, for that omni tree and its
    lock. ``around`` makes the texts of all trees at hand, for a rule that searches them where there is no world. With
    ``isolates``, a mistake of this program in one rule is a finding and does not end the run.
    """

    profile: Profile
    modules: tuple[CheckModule, ...]
    read: TextReader | None = None
    beside: tuple[str, ...] = ()
    world: World | None = None
    old_world: World | None = None
    compared: World | None = None
    branch_point: World | None = None
    before: Callable[[], CheckJob] | None = None
    around: Callable[[], Surroundings] | None = None
    isolates: bool = False
