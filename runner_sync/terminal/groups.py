"""Group options that commands share: a command has one parameter per group, typer sees the single options.

Comes in: functions with groups as parameters. Goes out: the same functions with a flat signature, and the option values
of ``sync``. Raises ``InputError`` for options that contradict each other. May touch: nothing.

typer reads options from the parameters of a function and knows no groups: without `flatten`, seven commands would each
repeat the ten options of `Trees` and pass them on one by one. A group is a named tuple, because every command makes all
groups, and Python makes a dataclass in three times the time.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, NamedTuple, get_type_hints

from runner_sync.terminal import options as o
from runner_sync.terminal.choices import Conflict
from runner_sync.terminal.trees import (
    make_omni_tree,
    make_upstream_tree,
    refuse_both,
    refuse_empty,
    split_codes,
    split_selected_codes,
)

if TYPE_CHECKING:
    from runner_sync.sync.options import CheckOptions, TreeOptions
    from runner_sync.sync.upgrade_options import UpgradeOptions


class Trees(NamedTuple):
    """Which trees a command reads."""

    omni_path: o.OmniPath = None
    omni_version: o.OmniVersion = None
    ascend_path: o.AscendPath = None
    ascend_ref: o.AscendRef = None
    ascend_version: o.AscendVersion = None
    vllm_path: o.VllmPath = None
    vllm_ref: o.VllmRef = None
    vllm_version: o.VllmVersion = None
    config: o.ConfigFile = None
    profile: o.ProfileName = None

    @property
    def omni(self) -> TreeOptions:
        return make_omni_tree(self.omni_path, self.omni_version)

    @property
    def ascend(self) -> TreeOptions:
        return make_upstream_tree("ascend", self.ascend_path, self.ascend_ref, self.ascend_version)

    @property
    def vllm(self) -> TreeOptions:
        return make_upstream_tree("vllm", self.vllm_path, self.vllm_ref, self.vllm_version)

    @property
    def named_profile(self) -> str | None:
        """The name of the built-in profile that ``--profile`` selects."""
        return self.profile.value if self.profile is not None else None

    def make_check_options(self, **rest: Any) -> CheckOptions:
        """Return the options of a command that only reads."""
        from runner_sync.sync.options import CheckOptions

        revisions = {name: value for name, value in rest.items() if name.endswith(("_base", "_since"))}
        refuse_empty(**revisions)
        return CheckOptions(
            omni=self.omni, ascend=self.ascend, vllm=self.vllm, config=self.config, profile=self.named_profile, **rest
        )


class Runners(NamedTuple):
    """Which runners a command works on that reads no other tree."""

    omni_path: o.OmniPath = None
    config: o.ConfigFile = None
    profile: o.ProfileName = None

    def make_check_options(self) -> CheckOptions:
        """Return the options of a command that reads the omni tree alone."""
        return Trees(omni_path=self.omni_path, config=self.config, profile=self.profile).make_check_options()


class Bases(NamedTuple):
    """What the runners were last synced to."""

    ascend_base: o.AscendBase = None
    omni_base: o.OmniBase = None
    vllm_base: o.VllmBase = None


class Rules(NamedTuple):
    """Which rules a command runs, and which of their findings count."""

    select: o.Select = None
    ignore: o.Ignore = None
    severity: o.LeastSeverity = None
    fail_on: o.FailOn = None

    def as_options(self) -> dict[str, Any]:
        """Return the values for ``make_check_options``."""
        return {
            "select": split_selected_codes(self.select),
            "ignore": split_codes(self.ignore),
            "severity": self.severity.value if self.severity else None,
            "fail_on": self.fail_on.value if self.fail_on else None,
        }


class Writing(NamedTuple):
    """Where a change goes."""

    out: o.Out = None
    diff: o.Diff = False
    allow_dirty: o.AllowDirty = False
    output: o.Outputs = None


class Merging(NamedTuple):
    """What an upgrade does."""

    only: o.Only = None
    conflict: o.ConflictStyle = Conflict.resolve
    no_gpu: o.NoGpu = False
    gpu_only: o.GpuOnly = False
    no_verify: o.NoVerify = False


def make_upgrade_options(
    trees: Trees, bases: Bases, writing: Writing, merging: Merging | None = None, *, isolates: bool = False
) -> UpgradeOptions:
    """Return the options of a command that changes the omni tree."""
    from runner_sync.sync.upgrade_options import UpgradeOptions

    wanted = merging or Merging()
    refuse_empty(ascend_base=bases.ascend_base, omni_base=bases.omni_base, vllm_base=bases.vllm_base)
    refuse_both("--no-gpu", "--gpu-only", given=wanted.no_gpu and wanted.gpu_only)
    return UpgradeOptions(
        omni=trees.omni,
        ascend=trees.ascend,
        vllm=trees.vllm,
        ascend_base=bases.ascend_base,
        omni_base=bases.omni_base,
        vllm_base=bases.vllm_base,
        out=writing.out,
        only=tuple(wanted.only or ()),
        conflict=wanted.conflict.value,
        allow_dirty=writing.allow_dirty,
        gpu=not wanted.no_gpu,
        upstream=not wanted.gpu_only,
        verify=not wanted.no_verify,
        isolates=isolates,
        config=trees.config,
        profile=trees.named_profile,
    )


def flatten(function: Callable[..., int]) -> Callable[..., int]:
    """Return ``function`` with each parameter whose type is a group replaced by the group's options.

    ``def blocks(trees: Trees, output: Outputs)`` becomes ``def blocks(*, omni_path: …, omni_version: …, output: …)``.
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if hasattr(hint, "_fields")}

    @wraps(function)
    def call(**values: Any) -> int:
        group_values = {
            name: group(**{option: values.pop(option) for option in group._fields}) for name, group in groups.items()
        }
        return function(**values, **group_values)

    parameters = list(_iter_parameters(inspect.signature(function), hints, groups))
    call.__signature__ = inspect.Signature(parameters, return_annotation=int)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


@cache
def _get_members(group: type) -> Mapping[str, Any]:
    """Return the types of a group's options; cached, because commands share groups."""
    return get_type_hints(group, include_extras=True)


def _iter_parameters(
    signature: inspect.Signature, hints: Mapping[str, Any], groups: Mapping[str, Any]
) -> Iterator[inspect.Parameter]:
    for name, parameter in signature.parameters.items():
        if name not in groups:
            yield parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY)
            continue
        members = _get_members(groups[name])
        for option, annotation in members.items():
            default = groups[name]._field_defaults.get(option, inspect.Parameter.empty)
            yield inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
