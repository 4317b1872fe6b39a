"""Read the configuration of a repository: options, and changes of the built-in profile.

Comes in: a directory (``runner-sync.toml`` wins over ``[tool.runner-sync]`` in ``pyproject.toml``) or an explicit file.
Goes out: a frozen ``Config``. May touch: these files, read only. ``KEYS`` describes every key; errors name the file and
the key.

``reader`` reads typed values, and ``profile`` applies them to the built-in profile.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

from runner_sync.config.profile import read_profile
from runner_sync.config.reader import Policy, Reader
from runner_sync.errors import InputError
from runner_sync.model import Severity
from runner_sync.profile import BUILT_IN, NPU, Profile

FILE_NAME = "runner-sync.toml"

DEFAULT = "npu"
"""The built-in profile used by default."""

KEYS: Mapping[str, str] = {
    "ascend-path": "vllm-ascend checkout or unpacked tree, relative to the configuration file",
    "ascend-version": "vllm-ascend release to follow when no path is given",
    "vllm-path": "vLLM checkout or unpacked tree, relative to the configuration file",
    "vllm-version": "vLLM release to follow when no path is given",
    "select": "rule codes or prefixes that `check` and `verify` report (default: all; an empty list is an error)",
    "ignore": "rule codes or prefixes left out; the longer prefix wins over `select`",
    "severity": "least severity reported: `info`, `warning` or `error`",
    "fail-on": "least severity that makes the exit code 1: `info` (default), `warning` or `error`",
    "baseline": "file of accepted findings (a ratchet), relative to the configuration file",
    "per-path-ignores": "table: path pattern = list of rule codes left out there",
    "units": "table: unit pattern = `upstream`, `omni` or `review`: which side a conflict there is settled for",
    "profile": "built-in profile that the following keys change: `npu` (default), `gpu` or `gpu-v2`; `--profile` wins",
    "name": "name of the profile in reports",
    "platform": "what people call the derived platform, in messages",
    "lock-file": "file of the tree that holds what the modules were last synced to",
    "package": "top folder of the package that the derived modules belong to (default: `vllm_omni`)",
    "marker": "label of the omni rulers",
    "modules": "tables `paths`, `name`, `upstreams`, `gpu`, `inherits`: derived modules and what they follow",
    "names": "tables `name`, `module`, `new-name`, `new-module`: imported names translated from GPU to NPU",
    "keywords": "tables `call`, `name`, `new-name`: keyword arguments translated on calls of one function or class; "
    "`call` is its translated name",
    "attributes": "table: dotted GPU name = dotted NPU name",
    "members": "table: GPU class.attribute = NPU class.attribute, read from any object",
    "classes": "table: GPU class = NPU class; a module and its `gpu` class need no row",
    "device-only": "names whose use marks code that cannot run on the derived platform",
    "device": "two words: the device in GPU names and the one that takes its place",
    "unported": "texts in GPU code that is left to a person to port",
    "vllm-class": "vLLM's own runner class, for upstreams that name none",
    "sampler-hook": "table `method`, `history`, `sampler`, `flag`, `asks`: the contract of a model's own sampler",
    "output": "table `name`, `variable`: the record that a runner hands on",
    "gpu-imports": "translated names that the derived platform must not import in their GPU form",
    "handovers": "record classes that one step of a runner hands to the next, looked for where a module imports them",
    "surroundings": "folders whose modules are handed runners, and may set attributes on them",
    "extend-modules": "like `modules`, added to the built-in ones",
    "extend-names": "like `names`, added to the built-in ones",
    "extend-keywords": "like `keywords`, added to the built-in ones",
    "extend-attributes": "like `attributes`, added to the built-in ones",
    "extend-members": "like `members`, added to the built-in ones",
    "extend-classes": "like `classes`, added to the built-in ones: also for a class that was renamed, on either side",
    "extend-device-only": "like `device-only`, added to the built-in ones",
    "extend-unported": "like `unported`, added to the built-in ones",
    "extend-gpu-imports": "like `gpu-imports`, added to the built-in ones",
    "extend-handovers": "like `handovers`, added to the built-in ones",
    "extend-surroundings": "like `surroundings`, added to the built-in ones",
}


@dataclass(frozen=True, slots=True)
class Config:
    """The values of a configuration, or defaults; paths are absolute. ``source`` is the file they were read from."""

    profile: Profile = NPU
    ascend_path: Path | None = None
    ascend_version: str | None = None
    vllm_path: Path | None = None
    vllm_version: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Severity = "info"
    fail_on: Severity = "info"
    baseline: Path | None = None
    per_path_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    units: Mapping[str, Policy] = field(default_factory=dict)
    source: Path | None = None


def load(root: Path | None, *, explicit: Path | None = None, profile: str | None = None) -> Config:
    """Return the configuration in the file ``explicit``, or else of the tree at ``root``; defaults if there is none.

    ``root`` is ``None`` if the tree is not on disk. ``profile`` names the built-in profile to change and wins over the
    file. Raises ``InputError`` naming file and key for an unusable value.
    """
    if explicit is not None:
        table = _read_table(explicit, required=True)
        return _make_config(table or {}, explicit, profile)
    for path in (root / FILE_NAME, root / "pyproject.toml") if root is not None else ():
        # A folder or a broken link of that name is an error, because somebody means it to be read.
        is_there = path.is_file() or (path.name == FILE_NAME and (path.exists() or path.is_symlink()))
        if is_there and (table := _read_table(path, required=False)) is not None:
            return _make_config(table, path, profile)
    return Config(profile=BUILT_IN[profile or DEFAULT])


def _read_table(path: Path, *, required: bool) -> dict[str, Any] | None:
    text = _read(path)
    in_pyproject = path.name == "pyproject.toml"
    if in_pyproject and not required and not re.search("runner[-_]sync", text):
        return None
    import tomllib  # not needed in a repository without configuration

    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is no valid TOML ({error}); correct it and run again.") from error
    if not in_pyproject:
        if isinstance(tool := data.get("tool"), dict) and "runner-sync" in tool:
            raise InputError(
                f"{path}: has the table [tool.runner-sync], which belongs into pyproject.toml; drop the heading."
            )
        return data
    tool = data.get("tool", {})
    if isinstance(tool, dict) and "runner_sync" in tool:
        raise InputError(f"{path}: the table [tool.runner_sync] is not read; write it as [tool.runner-sync].")
    table = tool.get("runner-sync") if isinstance(tool, dict) else None
    if table is None and required:
        raise InputError(f"{path}: has no table [tool.runner-sync]; add it or name another file.")
    if table is not None and not isinstance(table, dict):
        raise InputError(f"{path}: tool.runner-sync must be a table; write it as [tool.runner-sync].")
    return table


def _read(path: Path) -> str:
    if path.is_dir():
        raise InputError(f"{path}: is a folder, not a configuration file; move it away or name a file with --config.")
    try:
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 (byte {error.start}); convert it and run again.") from error
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); name a configuration file that is there."
        ) from error


def _make_config(table: dict[str, Any], path: Path, profile: str | None) -> Config:
    unknown = [key for key in table if key not in KEYS]
    if unknown:
        close = difflib.get_close_matches(unknown[0], KEYS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(KEYS)}."
        raise InputError(f"{path}: unknown key {unknown[0]}; {hint}")
    reader = Reader(path, table)
    for project in ("ascend", "vllm"):
        if f"{project}-path" in table and f"{project}-version" in table:
            raise InputError(f"{path}: both {project}-path and {project}-version are set; keep one of them.")
    named = reader.choice("profile", tuple(BUILT_IN), DEFAULT)
    return Config(
        profile=read_profile(reader, BUILT_IN[profile or named]),
        ascend_path=reader.path("ascend-path"),
        ascend_version=reader.value("ascend-version", str, None),
        vllm_path=reader.path("vllm-path"),
        vllm_version=reader.value("vllm-version", str, None),
        select=reader.selected("select"),
        ignore=reader.codes("ignore", reader.value("ignore", tuple[str, ...], ())),
        severity=reader.choice("severity", get_args(Severity), "info"),
        fail_on=reader.choice("fail-on", get_args(Severity), "info"),
        baseline=reader.path("baseline"),
        per_path_ignores={
            pattern: reader.codes(f"per-path-ignores.{pattern}", codes)
            for pattern, codes in reader.value("per-path-ignores", dict[str, tuple[str, ...]], {}).items()
        },
        units=reader.policies("units"),
        source=path,
    )
