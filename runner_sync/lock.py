"""``runner-sync.lock``, which records the upstream text and the GPU twin that each unit was last synced to.

Comes in: TOML text (as read, merged by git, or edited by hand). Goes out: ``Lock`` values and TOML text. May touch:
nothing; ``sources`` reads the file and ``write`` replaces it.

Loading uses only the standard library, because ``check`` loads the lock in every pull request. Unknown keys are kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from runner_sync.errors import InputError, UnknownFormat
from runner_sync.model import BaseRef, Project
from runner_sync.user_paths import CONTROL

FORMAT_VERSION = 1

ASKED = "-asked"
"""Ends the key of the revision of a project up to which upgrades asked about what omni hides of it."""

_HEADER = (
    "# Written by runner-sync: what each unit was last synced to. Do not edit; `runner-sync lock` makes it anew.\n"
)
_CONFLICT = re.compile(r"^(?:<{7}|={7}|>{7})(?: .*)?$", re.MULTILINE)
_FOLLOWED = r'^[ \t]*"?(vllm|vllm-ascend)"?[ \t]*=[ \t]*"(\d+(?:\.\w+)+)"'
_DIGEST = re.compile(r"[0-9a-f]{64}")
_HASH_KEY = re.compile(r"(?:^|_)(?:digest|hash)$")
_HASH = re.compile(r"[0-9a-f]*")
_HELPER = re.compile(r".+@[0-9a-f]{16}")
_REF_KEYS = ("project", "ref", "path", "name", "digest")
_LIST_KEYS = ("also", "helpers")
ALONE = "ported_alone"
"""Key of a unit that ``upgrade --only`` ported from its GPU twin: no run has brought the rest of the feature yet."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One unit of the omni tree and the texts it follows. ``extra`` holds keys of a newer format."""

    path: str
    qualname: str
    upstream: BaseRef | None = None
    gpu: BaseRef | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str]:
        """The path and qualified name, which identify the entry."""
        return self.path, self.qualname


@dataclass(frozen=True, slots=True)
class Lock:
    """All entries, sorted by key, and the ref of each project (``vllm`` …) at the last run."""

    entries: tuple[Entry, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def gpu_paths(self) -> set[str]:
        """The files of the GPU twins that the entries record."""
        return {entry.gpu.path for entry in self.entries if entry.gpu is not None}

    def of(self, path: str) -> list[Entry]:
        """Return the entries of one module."""
        return [entry for entry in self.entries if entry.path == path]

    def by_key(self) -> dict[tuple[str, str], Entry]:
        """Return the entries by path and qualified name."""
        return {entry.key: entry for entry in self.entries}

    def with_paths(self, names: Mapping[str, str]) -> Lock:
        """Return this lock with omni files renamed: ``names`` maps old paths to new ones."""
        return replace(self, entries=tuple(_rename_paths(entry, names) for entry in self.entries))

    def references(self, project: Project, ref: str, path: str) -> list[BaseRef]:
        """Return all references of the entries to the file ``path`` of ``project`` at ``ref``."""
        named = [one for entry in self.entries for one in (entry.upstream, entry.gpu) if one is not None]
        return [one for one in named if (one.project, one.ref, one.path) == (project, ref, path)]


def _rename_paths(entry: Entry, names: Mapping[str, str]) -> Entry:
    gpu = entry.gpu and replace(entry.gpu, path=names.get(entry.gpu.path, entry.gpu.path))
    return replace(entry, path=names.get(entry.path, entry.path), gpu=gpu)


def is_lock(text: str) -> bool:
    """Whether ``text`` is a lock, even a damaged one: it is empty, or has a line that only locks have."""
    return (
        not text.strip()
        or re.search(r"^(?:# Written by runner-sync:|format_version[ \t]*=)", text, re.MULTILINE) is not None
    )


def decode_toml(text: str) -> dict[str, Any]:
    """Return what a TOML text holds. Raises ``ValueError`` for any other text."""
    import tomllib  # a decoder that recalls the answer need not import it

    return tomllib.loads(text)


def load(text: str, *, path: str = "the lock", decode: Callable[[str], dict[str, Any]] = decode_toml) -> Lock:
    """Return the lock in ``text``; ``decode`` stands in for `decode_toml`.

    Raises ``InputError`` with the file, the line if known, and the remedy for any defect; ``UnknownFormat`` if another
    runner-sync version wrote the text.
    """
    if not text.strip():
        raise InputError(f"{path}: is empty; {_make_remedy(text)}.")
    if conflict := _CONFLICT.search(text):
        line = text.count("\n", 0, conflict.start()) + 1
        raise InputError(f"{path}:{line}: holds an unresolved merge conflict; {_make_remedy(text)}.")
    try:
        data = decode(text)
    except ValueError as error:
        raise InputError(f"{path}: is no valid TOML ({error}); {_make_remedy(text)}.") from error
    return _Reader(text, path).read_lock(data)


def make_command(text: str) -> str:
    """Return the command that makes the lock in ``text`` anew, with the release that it follows if it names just one.

    Once the file is gone, nothing may name that release.
    """
    project = "vllm-ascend" if "vllm-ascend" in text else "vllm"
    versions = {version for name, version in re.findall(_FOLLOWED, text, re.MULTILINE) if name == project}
    named = f" --{project.removeprefix('vllm-')}-version {versions.pop()}" if len(versions) == 1 else ""
    return f"runner-sync lock{named}"


def _make_remedy(text: str) -> str:
    return f"restore it from git or write it anew with `{make_command(text)}`"


class _Reader:
    """Checks parsed TOML value by value, so that an error names the line of its unit."""

    def __init__(self, text: str, path: str) -> None:
        self._text = text
        self._path = path

    def read_lock(self, data: dict[str, Any]) -> Lock:
        """Return the lock from the decoded TOML. Raises ``InputError`` with the line."""
        version = data.pop("format_version", None)
        if version is None:
            raise self._make_error(0, f"has no format_version where this runner-sync reads {FORMAT_VERSION};")
        if version != FORMAT_VERSION or isinstance(version, bool):
            raise UnknownFormat(
                f"{self._path}: has format_version {version!r} where this runner-sync reads {FORMAT_VERSION}; upgrade "
                f"runner-sync, or delete the file and write it anew with `{make_command(self._text)}`."
            )
        tables = self._get_typed(0, data, "unit", list, default=[])
        inputs = self._get_typed(0, data, "inputs", dict, default={})
        for project in inputs:
            self._get_typed(0, inputs, project, str)
        data.pop("unit", None)
        data.pop("inputs", None)
        entries = [self._read_entry(index, table) for index, table in enumerate(tables, start=1)]
        self._refuse_duplicates(entries)
        return Lock(tuple(sorted(entries, key=lambda entry: entry.key)), inputs, data)

    def _read_entry(self, index: int, table: Any) -> Entry:
        if not isinstance(table, dict):
            raise self._make_error(index, "has a unit that is no table;")
        path, name = (self._get_typed(index, table, key, str) for key in ("path", "name"))
        refs = {key: self._read_ref(index, table[key], key) for key in ("upstream", "gpu") if key in table}
        extra = {key: value for key, value in table.items() if key not in ("path", "name", "upstream", "gpu")}
        for key in (key for key in extra if _HASH_KEY.search(key)):
            value = self._get_typed(index, extra, key, str)
            if not _HASH.fullmatch(value):
                raise self._make_error(index, f"has the malformed {key} {value[:20]!r} for {name};")
        return Entry(path, name, refs.get("upstream"), refs.get("gpu"), extra)

    def _read_ref(self, index: int, table: Any, key: str) -> BaseRef:
        if not isinstance(table, dict):
            raise self._make_error(index, f"has a {key} that is no table;")
        project, ref, path, name, digest = (self._get_typed(index, table, field_, str) for field_ in _REF_KEYS)
        if project not in get_args(Project):
            raise self._make_error(index, f"names the unknown project {project!r};")
        if not _DIGEST.fullmatch(digest):
            raise self._make_error(index, f"has the malformed digest {digest[:20]!r} for {name};")
        also, helpers = (self._get_strings(index, table, key) for key in _LIST_KEYS)
        if wrong := next((one for one in helpers if not _HELPER.fullmatch(one)), ""):
            raise self._make_error(index, f"has the malformed helper {wrong[:60]!r} for {name};")
        return BaseRef(project, ref, path, name, "lock", 1.0, digest, also, helpers)

    def _get_strings(self, index: int, table: dict[str, Any], key: str) -> tuple[str, ...]:
        found = table.get(key, [])
        if not isinstance(found, list) or not all(isinstance(one, str) and not CONTROL.search(one) for one in found):
            raise self._make_error(index, f"has {key} = {found!r} where a list of strings belongs;")
        return tuple(found)

    def _get_typed(self, index: int, table: dict[str, Any], key: str, kind: type, *, default: Any = None) -> Any:
        value = table.get(key, default)
        if value is None:
            raise self._make_error(index, f"lacks the key {key!r};")
        if not isinstance(value, kind):
            raise self._make_error(index, f"has {key} = {value!r} where a {_TOML_NAMES[kind]} belongs;")
        if isinstance(value, str) and CONTROL.search(value):
            raise self._make_error(index, f"has {key} = {value!r}, which holds a control character;")
        return value

    def _refuse_duplicates(self, entries: Iterable[Entry]) -> None:
        seen: set[tuple[str, str]] = set()
        for index, entry in enumerate(entries, start=1):
            if entry.key in seen:
                raise self._make_error(index, f"lists {entry.qualname} of {entry.path} twice;")
            seen.add(entry.key)

    def _make_error(self, index: int, what: str) -> InputError:
        units = [*re.finditer(r"^[ \t]*\[\[[ \t]*unit[ \t]*\]\]", self._text, re.MULTILINE)]
        where = self._path
        if 0 < index <= len(units):
            line = self._text.count("\n", 0, units[index - 1].start()) + 1
            where = f"{self._path}:{line}"
        return InputError(f"{where}: {what} {_make_remedy(self._text)}.")


_TOML_NAMES: dict[type, str] = {str: "string", list: "list of tables", dict: "table"}


def dump(lock: Lock) -> str:
    """Return the TOML text of ``lock``, sorted and the same for equal locks: ``load(dump(lock)) == lock``."""
    import tomlkit  # writing is rare, and this import takes longer than a whole ``check``

    tables = [_make_entry_table(entry) for entry in sorted(lock.entries, key=lambda entry: entry.key)]
    data = {"format_version": FORMAT_VERSION, **dict(sorted(lock.extra.items()))}
    data |= {"inputs": dict(sorted(lock.inputs.items()))} if lock.inputs else {}
    return _HEADER + tomlkit.dumps(data | ({"unit": tables} if tables else {}))


def _make_entry_table(entry: Entry) -> dict[str, Any]:
    table: dict[str, Any] = {"path": entry.path, "name": entry.qualname, **dict(sorted(entry.extra.items()))}
    for key, base in (("upstream", entry.upstream), ("gpu", entry.gpu)):
        if base is not None:
            values = (base.project, base.ref, base.path, base.qualname, base.digest)
            lists = {name: [*strings] for name in _LIST_KEYS if (strings := getattr(base, name))}
            table[key] = dict(zip(_REF_KEYS, values, strict=True)) | lists
    return table


def merge(
    old: Lock, entries: Iterable[Entry], *, inputs: Mapping[str, str] | None = None, gone: Collection[str] = ()
) -> Lock:
    """Return ``old`` with ``entries`` added, replacing entries with the same key.

    A reference (upstream or GPU) that a new entry lacks keeps its recorded value, and so do unknown keys. Entries with
    paths in ``gone`` are dropped unless they are in ``entries``. ``inputs`` are the refs of this run.
    """
    merged = {entry.key: entry for entry in old.entries if entry.path not in gone}
    before = {entry.key: entry for entry in old.entries}
    for entry in entries:
        known = before.get(entry.key, entry)
        merged[entry.key] = replace(
            entry,
            upstream=entry.upstream or known.upstream,
            gpu=entry.gpu or known.gpu,
            extra={**known.extra, **entry.extra},
        )
    ordered = tuple(merged[key] for key in sorted(merged))
    return replace(old, entries=ordered, inputs={**old.inputs, **(inputs or {})})
