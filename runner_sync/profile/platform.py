"""What the engine must know about one derived platform: its modules, and the translations of GPU names.

Goes out: frozen dataclasses with names only (paths, classes, calls). May touch: nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from runner_sync.model import Project
from runner_sync.naming import module_name
from runner_sync.profile.paths import VLLM_RUNNER


@dataclass(frozen=True, slots=True)
class Anchor:
    """A class (or a whole module, if ``name`` is empty) in one project's tree.

    ``vllm`` is the path of vLLM's module from which this class and the GPU twin derive, by inheritance or as edited
    copies; ``vllm_class`` is the class there. If they are empty, ``Profile.vllm_of`` gives the default. ``former`` are
    paths at which older revisions have the class.
    """

    project: Project
    path: str
    name: str = ""
    vllm: str = ""
    vllm_class: str = ""
    former: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[str, ...]:
        """The path and the former ones, newest first."""
        return (self.path, *self.former)


@dataclass(frozen=True, slots=True)
class RunnerModule:
    """One derived module: its paths (newest first), the upstreams of its classes and its GPU twin.

    ``upstreams`` are the classes whose methods were copied; ``gpu`` is the twin runner whose omni code is ported;
    ``inherits``: the class is meant to have its twin as its first base.
    """

    paths: tuple[str, ...]
    name: str
    upstreams: tuple[Anchor, ...]
    gpu: Anchor | None = None
    inherits: bool = False

    @property
    def anchor(self) -> Anchor:
        """The first of the upstreams: the class that the module's own class follows."""
        return self.upstreams[0]

    @property
    def twin_paths(self) -> tuple[str, ...]:
        """The path of the GPU twin; empty without a twin."""
        return (self.gpu.path,) if self.gpu is not None else ()


@dataclass(frozen=True, slots=True)
class NameRewrite:
    """``name`` imported from ``module`` becomes ``new_name`` from ``new_module`` (one GPU→NPU translation)."""

    name: str
    module: str
    new_name: str
    new_module: str


@dataclass(frozen=True, slots=True)
class KeywordRewrite:
    """On calls of ``call`` (after name rewrites) the keyword ``name`` becomes ``new_name``."""

    call: str
    name: str
    new_name: str


@dataclass(frozen=True, slots=True)
class SamplerHook:
    """How a runner lets a model do its own sampling.

    The runner's ``method`` calls the model's method ``asks`` if the model sets ``flag``, else the platform's
    ``sampler``. Before that, the call ``history`` must replace placeholders in the token history.
    """

    method: str = "_sample"
    history: str = "self.input_batch.update_async_output_token_ids()"
    sampler: str = "self.sampler"
    flag: str = "prefer_model_sampler"
    asks: str = "sample"

    @property
    def update(self) -> str:
        """The bare name of the method that ``history`` calls."""
        return self.history.partition("(")[0].rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Output:
    """The name of the record that a runner returns, and of variables that hold a record from elsewhere."""

    name: str = "OmniModelRunnerOutput"
    variable: str = "model_runner_output"


@dataclass(frozen=True, slots=True)
class Profile:
    """All that the engine must know about one derived platform.

    ``platform`` is its name in messages; ``lock_file`` is the file of the tree that records what its modules were last
    synced to. The other fields are the keys of a configuration, described in ``config.KEYS``.
    """

    name: str
    package: str
    modules: tuple[RunnerModule, ...]
    names: tuple[NameRewrite, ...]
    keywords: tuple[KeywordRewrite, ...]
    attributes: tuple[tuple[str, str], ...]
    classes: tuple[tuple[str, str], ...]
    members: tuple[tuple[str, str], ...] = ()
    platform: str = "NPU"
    lock_file: str = "runner-sync.lock"
    marker: str = "Omni-new"
    device_only: tuple[str, ...] = ()
    device: tuple[str, str] = ("cuda", "npu")
    unported: tuple[str, ...] = ()
    vllm_class: str = "GPUModelRunner"
    sampler_hook: SamplerHook = SamplerHook()
    output: Output = Output()
    gpu_imports: tuple[str, ...] = ()
    handovers: tuple[str, ...] = ()
    surroundings: tuple[str, ...] = ()

    @property
    def followed(self) -> Project:
        """The project that all modules are copied from."""
        return self.modules[0].anchor.project

    @property
    def has_twins(self) -> bool:
        """Whether any module has a GPU twin, to port from and to compare with."""
        return any(module.gpu is not None for module in self.modules)

    @property
    def twin_paths(self) -> tuple[str, ...]:
        """The paths of the GPU twins of all modules, each once."""
        return tuple(dict.fromkeys(path for module in self.modules for path in module.twin_paths))

    @property
    def runners(self) -> tuple[RunnerModule, ...]:
        """The modules that derive from vLLM's runner, as opposed to workers and the like."""
        return tuple(module for module in self.modules if self.vllm_of(module).name == self.vllm_class)

    def npu_name(self, qualname: str) -> str:
        """Return the name on the derived platform of a GPU class (``GPUARWorker``) or member (``GPUARWorker.init``)."""
        return _rename_class(qualname, _map_npu_names(self))

    def gpu_name(self, qualname: str) -> str:
        """Return the GPU name of a class or member of the derived platform."""
        return _rename_class(qualname, {npu: gpu for gpu, npu in _map_npu_names(self).items()})

    @property
    def shared_names(self) -> tuple[NameRewrite, ...]:
        """The rewrites of names that other modules import from a GPU twin, and on NPU from the NPU module."""
        pairs = [(module.gpu, module.paths) for module in self.modules if module.gpu is not None]
        moves = {(module_name(old), module_name(new)) for gpu, paths in pairs for old in gpu.places for new in paths}
        return tuple(row for row in self.names if (row.module, row.new_module) in moves)

    def vllm_of(self, module: RunnerModule) -> Anchor:
        """Return the vLLM class that ``module`` and its GPU twin derive from: the runner, unless the upstream names
        another."""
        upstream = module.anchor
        return Anchor("vllm", upstream.vllm or VLLM_RUNNER, upstream.vllm_class or self.vllm_class)

    def fitted(self, lacks: Callable[[str, str], bool]) -> Profile:
        """Return this profile with one rewrite per imported name; rows with the same name and module are alternatives.

        The first row whose target exists is kept, or the first of all if none does. ``lacks(module, name)``: the module
        is known not to have the name in the trees of this run.
        """
        choices: dict[tuple[str, str], list[NameRewrite]] = {}
        for row in self.names:
            choices.setdefault((row.module, row.name), []).append(row)
        kept = {
            next((row for row in rows if len(rows) == 1 or not lacks(row.new_module, row.new_name)), rows[0])
            for rows in choices.values()
        }
        return self if len(kept) == len(self.names) else replace(self, names=tuple(r for r in self.names if r in kept))

    def rows(self, names: Container[str]) -> tuple[NameRewrite, ...]:
        """Return the name rewrites whose GPU name is among ``names``, in the order in which they are tried."""
        return tuple(row for row in self.names if row.name in names)


@lru_cache(maxsize=8)
def _map_npu_names(profile: Profile) -> Mapping[str, str]:
    """Return ``{GPU name: NPU name}`` of the runner classes, and of the ``shared_names`` of the twin modules."""
    return {row.name: row.new_name for row in profile.shared_names} | dict(profile.classes)


def _rename_class(qualname: str, classes: Mapping[str, str]) -> str:
    """Return the name with its class renamed; the second class of a name (``Runner#2.run``) is renamed like the
    first."""
    owner, dot, member = qualname.partition(".")
    bare, again, number = owner.partition("#")
    return f"{classes.get(bare, bare)}{again}{number}{dot}{member}"
