"""Configuration: the options of this repository, and its profile on top of the built-in one.

Comes in: a directory (``runner-sync.toml`` wins over ``[tool.runner-sync]`` in ``pyproject.toml``) or an explicit file.
Goes out: a frozen ``Config``. Reads those two files and nothing else. Every key is described in ``KEYS``; errors name
the file and the key.

Profile tables (``modules``, ``names``, ``keywords``, ``attributes``, ``classes``, ``device-only``, ``unported``,
``gpu-imports``, ``handovers``, ``surroundings``) replace the built-in ones; with ``extend-`` in front they are put
before them, and win where both speak of one name.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from runner_sync.errors import InputError
from runner_sync.model import Severity
from runner_sync.profile import NPU, Anchor, KeywordRewrite, NameRewrite, Output, Profile, RunnerModule, SamplerHook

if TYPE_CHECKING:
    import msgspec

Policy = Literal["upstream", "omni", "review"]

FILE_NAME = "runner-sync.toml"

KEYS: Mapping[str, str] = {
    "ascend-path": "vllm-ascend checkout or unpacked tree, relative to the configuration file",
    "ascend-version": "vllm-ascend release to follow when no path is given",
    "vllm-path": "vLLM checkout or unpacked tree, relative to the configuration file",
    "vllm-version": "vLLM release to follow when no path is given",
    "select": "rule codes or prefixes that `check` and `verify` report (default: all)",
    "ignore": "rule codes or prefixes left out; the longer prefix wins over `select`",
    "severity": "least severity reported: `info`, `warning` or `error`",
    "baseline": "file of accepted findings (a ratchet), relative to the configuration file",
    "per-path-ignores": "table: path pattern = list of rule codes left out there",
    "units": "table: unit pattern = `upstream`, `omni` or `review`: which side a conflict there is settled for",
    "name": "name of the profile in reports",
    "package": "package that the derived modules belong to",
    "marker": "label of the omni rulers",
    "modules": "tables `paths`, `name`, `upstreams`, `gpu`, `inherits`: derived modules and what they follow",
    "names": "tables `name`, `module`, `new-name`, `new-module`: imported names translated from GPU to NPU",
    "keywords": "tables `call`, `name`, `new-name`: keyword arguments translated on calls of one function",
    "attributes": "table: dotted GPU name = dotted NPU name",
    "classes": "table: GPU class = NPU class",
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
    "extend-classes": "like `classes`, added to the built-in ones",
    "extend-device-only": "like `device-only`, added to the built-in ones",
    "extend-unported": "like `unported`, added to the built-in ones",
    "extend-gpu-imports": "like `gpu-imports`, added to the built-in ones",
    "extend-handovers": "like `handovers`, added to the built-in ones",
    "extend-surroundings": "like `surroundings`, added to the built-in ones",
}

_CODE = re.compile(r"RS\d{0,3}|ALL")
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")


@dataclass(frozen=True, slots=True)
class Config:
    """What the configuration says; paths are absolute. ``source`` is the file it stands in, if any."""

    profile: Profile = NPU
    ascend_path: Path | None = None
    ascend_version: str | None = None
    vllm_path: Path | None = None
    vllm_version: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    severity: Severity = "info"
    baseline: Path | None = None
    per_path_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    units: Mapping[str, Policy] = field(default_factory=dict)
    source: Path | None = None


def load(root: Path | None, *, explicit: Path | None = None) -> Config:
    """Configuration of the tree at ``root`` (``None``: it is on no disk), or of the file ``explicit``; or the defaults.

    Raises ``InputError`` naming file and key for anything it cannot use.
    """
    if explicit is not None:
        table = _table(explicit, required=True)
        return _config(table or {}, explicit)
    for path in (root / FILE_NAME, root / "pyproject.toml") if root is not None else ():
        if path.is_file() and (table := _table(path, required=False)) is not None:
            return _config(table, path)
    return Config()


def _table(path: Path, *, required: bool) -> dict[str, Any] | None:
    text = _read(path)
    in_pyproject = path.name == "pyproject.toml"
    if in_pyproject and not required and "runner-sync" not in text:
        return None
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
    table = tool.get("runner-sync") if isinstance(tool, dict) else None
    if table is None and required:
        raise InputError(f"{path}: has no table [tool.runner-sync]; add it or name another file.")
    if table is not None and not isinstance(table, dict):
        raise InputError(f"{path}: tool.runner-sync must be a table; write it as [tool.runner-sync].")
    return table


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 (byte {error.start}); convert it and run again.") from error
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}); name a configuration file that is there."
        ) from error


def _config(table: dict[str, Any], path: Path) -> Config:
    unknown = [key for key in table if key not in KEYS]
    if unknown:
        close = difflib.get_close_matches(unknown[0], KEYS, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(KEYS)}."
        raise InputError(f"{path}: unknown key {unknown[0]}; {hint}")
    reader = _Reader(path, table)
    for project in ("ascend", "vllm"):
        if f"{project}-path" in table and f"{project}-version" in table:
            raise InputError(f"{path}: both {project}-path and {project}-version are set; keep one of them.")
    return Config(
        profile=_profile(reader),
        ascend_path=reader.path("ascend-path"),
        ascend_version=reader.value("ascend-version", str, None),
        vllm_path=reader.path("vllm-path"),
        vllm_version=reader.value("vllm-version", str, None),
        select=reader.codes("select", reader.value("select", tuple[str, ...], ())),
        ignore=reader.codes("ignore", reader.value("ignore", tuple[str, ...], ())),
        severity=reader.choice("severity", get_args(Severity), "info"),
        baseline=reader.path("baseline"),
        per_path_ignores={
            pattern: reader.codes(f"per-path-ignores.{pattern}", codes)
            for pattern, codes in reader.value("per-path-ignores", dict[str, tuple[str, ...]], {}).items()
        },
        units=reader.policies("units"),
        source=path,
    )


_ROW_KINDS = {
    "modules": RunnerModule,
    "names": NameRewrite,
    "keywords": KeywordRewrite,
    "sampler-hook": SamplerHook,
    "output": Output,
}


_LISTS = ("select", "ignore", "device-only", "unported", "gpu-imports", "surroundings")
"""Keys that hold plain words: one alone is easily written without brackets."""


class _Reader:
    """Typed access to the keys of one configuration table."""

    def __init__(self, path: Path, table: Mapping[str, Any]) -> None:
        self._path = path
        self._table = table

    def value(self, key: str, kind: Any, default: Any) -> Any:
        """The value of ``key`` as ``kind``, or ``default`` when it is not set."""
        if key not in self._table:
            return default
        import msgspec  # a repository without configuration does not pay for it

        try:
            return msgspec.convert(self._prepared(key), kind)
        except msgspec.ValidationError as error:
            if isinstance(self._table[key], str) and key.removeprefix("extend-") in _LISTS:
                raise self.error(f"{key} is a list; write {key} = [{json.dumps(self._table[key])}].") from error
            raise InputError(f"{self._path}: {key}{_what(error)}") from error

    def choice(self, key: str, allowed: Sequence[Any], default: Any) -> Any:
        """The value of ``key``, one of ``allowed``."""
        value = self.value(key, str, default)
        if value not in allowed:
            raise self.error(f"{key} is {value!r}; {_write_one_of(allowed)}")
        return value

    def error(self, said: str) -> InputError:
        """What to raise for a value, with the file that has it."""
        return InputError(f"{self._path}: {said}")

    def _prepared(self, key: str) -> Any:
        kind = _ROW_KINDS.get(key.removeprefix("extend-"))
        return _rows(self._table[key], kind, f"{self._path}: {key}") if kind else self._table[key]

    def path(self, key: str) -> Path | None:
        """A path relative to the configuration file, made absolute."""
        value = self.value(key, str, None)
        if value == "":
            raise InputError(f"{self._path}: {key} is empty; name a path or leave it out.")
        return None if value is None else (self._path.parent / Path(value).expanduser()).resolve()

    def policies(self, key: str) -> dict[str, Policy]:
        """Policies by unit pattern."""
        allowed = get_args(Policy)
        for pattern, policy in self.value(key, dict[str, str], {}).items():
            if policy not in allowed:
                said = f"{self._path}: {key} has {policy!r} for {pattern!r}"
                raise InputError(f"{said}; {_write_one_of(allowed)}")
        known: dict[str, Policy] = self.value(key, dict[str, Policy], {})
        return known

    def codes(self, key: str, codes: Sequence[str]) -> tuple[str, ...]:
        """Rule codes or prefixes, checked for their form."""
        for code in codes:
            if not _CODE.fullmatch(code):
                raise InputError(f"{self._path}: {key} has {code!r}, which is no rule code; write RS203, RS2 or ALL.")
        return tuple(codes)


def _rows(value: Any, kind: Any, where: str) -> Any:
    """Tables in ``value`` with their keys as the dataclass ``kind`` spells them; ``InputError`` for a key it lacks."""
    if isinstance(value, list):
        return [_rows(item, kind, f"{where}[{index}]") for index, item in enumerate(value)]
    if not isinstance(value, dict):
        return value
    known = [row_field.name.replace("_", "-") for row_field in fields(kind)]
    for key in value:
        if key not in known:
            raise InputError(f"{where}: unknown key {key}; known are {', '.join(known)}.")
    return {
        key.replace("-", "_"): _rows(item, Anchor, f"{where}.{key}") if kind is RunnerModule else item
        for key, item in value.items()
    }


def _write_one_of(allowed: Sequence[str]) -> str:
    return f"write {', '.join(allowed[:-1])} or {allowed[-1]}."


def _what(error: msgspec.ValidationError) -> str:
    """The rest of a sentence about a key: where in it, and what is wrong."""
    text = re.sub(r"`([^`]*)`", lambda found: found[1].replace("_", "-"), str(error))
    what, _, where = text.partition(" - at $")
    place = "" if where.startswith("[...]") and "." not in where else where.replace("_", "-")
    return f"{place}: {what[:1].lower()}{what[1:]}; see the table of keys in the documentation."


_Row = TypeVar("_Row")


def _profile(reader: _Reader) -> Profile:
    return replace(
        NPU,
        name=reader.value("name", str, NPU.name),
        package=reader.value("package", str, NPU.package),
        marker=reader.value("marker", str, NPU.marker),
        modules=_modules(reader),
        names=_overlaid(reader, "names", NameRewrite, NPU.names),
        keywords=_overlaid(reader, "keywords", KeywordRewrite, NPU.keywords),
        device_only=_overlaid(reader, "device-only", str, NPU.device_only),
        device=reader.value("device", tuple[str, str], NPU.device),
        unported=_overlaid(reader, "unported", str, NPU.unported),
        vllm_class=reader.value("vllm-class", str, NPU.vllm_class),
        sampler_hook=reader.value("sampler-hook", SamplerHook, NPU.sampler_hook),
        output=reader.value("output", Output, NPU.output),
        gpu_imports=_overlaid(reader, "gpu-imports", str, NPU.gpu_imports),
        handovers=_overlaid(reader, "handovers", str, NPU.handovers),
        surroundings=_overlaid(reader, "surroundings", str, NPU.surroundings),
        attributes=_dotted(reader, "attributes", NPU.attributes),
        classes=_pairs(reader, "classes", NPU.classes),
    )


def _modules(reader: _Reader) -> tuple[RunnerModule, ...]:
    modules: tuple[RunnerModule, ...] = _overlaid(reader, "modules", RunnerModule, NPU.modules)
    if not modules:
        raise reader.error("modules is empty; name at least one derived module, or leave it out.")
    for module in modules:
        for key in ("paths", "upstreams"):
            if not getattr(module, key):
                raise reader.error(f"the module {module.name!r} has no {key}; name at least one.")
    return modules


def _overlaid(reader: _Reader, key: str, kind: type[_Row], built_in: tuple[_Row, ...]) -> tuple[_Row, ...]:
    rows = reader.value(key, tuple[kind, ...], built_in)  # type: ignore[valid-type]
    added = reader.value(f"extend-{key}", tuple[kind, ...], ())  # type: ignore[valid-type]
    return _over(added, rows)


def _pairs(reader: _Reader, key: str, built_in: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    rows = tuple(reader.value(key, dict[str, str], dict(built_in)).items())
    added = tuple(reader.value(f"extend-{key}", dict[str, str], {}).items())
    if (added, rows) == ((), built_in):
        return built_in
    # A longer name is the more specific one: torch.cuda.graph must be seen before torch.cuda.
    return tuple(sorted(_over(added, rows), key=lambda pair: -pair[0].count(".")))


def _dotted(reader: _Reader, key: str, built_in: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Pairs of dotted names: what stands before the first dot is found through the imports of a module."""
    for table in (key, f"extend-{key}"):
        for pair in reader.value(table, dict[str, str], {}).items():
            for name in pair:
                if not _DOTTED.fullmatch(name):
                    raise reader.error(f"{table} has {name!r}; write a dotted name such as torch.cuda.")
    return _pairs(reader, key, built_in)


def _over(added: tuple[_Row, ...], rows: tuple[_Row, ...]) -> tuple[_Row, ...]:
    """``added`` and behind it the rows that speak of something else; one table may hold alternatives of one name."""
    spoken_of = {_subject(row) for row in added}
    return (*added, *(row for row in rows if _subject(row) not in spoken_of))


def _subject(row: Any) -> Any:
    """What a row speaks of: two rows with the same subject cannot both hold."""
    match row:
        case RunnerModule():
            return row.name
        case NameRewrite():
            return row.module, row.name
        case KeywordRewrite():
            return row.call, row.name
        case tuple():
            return row[0]
    return row
