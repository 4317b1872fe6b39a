"""List the values of the options that take one of a few words.

Goes out: enumerations, which typer shows in the help texts. May touch: nothing.
"""

from __future__ import annotations

from enum import StrEnum


class Color(StrEnum):
    """When to colour."""

    auto = "auto"
    always = "always"
    never = "never"


class Conflict(StrEnum):
    """How a conflict is written."""

    resolve = "resolve"
    inline = "inline"


class Severity(StrEnum):
    """Weight of a finding, the heaviest first."""

    error = "error"
    warning = "warning"
    info = "info"


class BuiltIn(StrEnum):
    """Built-in profile: which runners are meant."""

    npu = "npu"
    gpu = "gpu"
    gpu_v2 = "gpu-v2"


class Side(StrEnum):
    """Whose text stands at a settled review item."""

    chosen = "chosen"
    omni = "omni"
    upstream = "upstream"


class Typecheck(StrEnum):
    """Type checker that gives the second opinion."""

    ty = "ty"
    mypy = "mypy"
    none = "none"
