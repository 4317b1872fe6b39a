"""Name a file of a release, limit what it may contain, and define the small archive in which a release is cached.

Comes in: names, sizes and contents of archive members. Goes out: a zip archive of the kept files, the tree that reads
it, and what the trees of all releases share. May touch: nothing. The limits and refusals apply to every archive format.
"""

from __future__ import annotations

import io
import json
import re
import weakref
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import BinaryIO, Literal, Self

from runner_sync.errors import UnreadableRelease
from runner_sync.model import Project, Source
from runner_sync.sources import layout, remembering

Kind = Literal["wheel", "sdist"]

MAX_MEMBERS = 100_000
MAX_PACKED = 1024**3
"""Bytes. The largest wheel of the three projects has 0.51 GB."""
MAX_UNPACKED = 2 * 1024**3
"""Bytes. The largest sdist of the three projects unpacks to 0.12 GB."""
MAX_RATIO = 100
"""Unpacked over packed size. The real archives stay below 6."""
RATIO_FROM = 16 * 1024 * 1024
"""Unpacked bytes from which the ratio counts: a small archive of blank files may well exceed it."""
_DRIVE = re.compile(r"[A-Za-z]:")
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class IndexFile:
    """One file of a release on the index, with the SHA-256 that the index states for it, which may be empty."""

    filename: str
    project: Project
    version: str
    kind: Kind
    sha256: str
    url: str
    is_yanked: bool = False

    def refusal(self, why: str) -> UnreadableRelease:
        """Return the error for a file that must not be used."""
        return refusal(self.filename, why, project=self.project)


def is_pure(filename: str) -> bool:
    """Whether a file of this name is a wheel without compiled code, and therefore small."""
    return filename.endswith("-none-any.whl")


def refusal(archive: str, why: str, *, project: Project) -> UnreadableRelease:
    """Return the error for an archive that must not be used: which one, why, and the remedy."""
    sentence = f"{archive} is refused because {why}: take another release"
    return UnreadableRelease(sentence, option=layout.PATH_OPTIONS[project])


def check_name(name: str, file: IndexFile) -> None:
    """Refuse a member name that would lead outside the folder an archive is unpacked into."""
    if leads_outside(name) or ".." in name.replace("\\", "/").split("/"):
        raise file.refusal(f"its member {name!r} leads outside the archive")
    if not name.isprintable():
        raise file.refusal(f"its member {name!r} has control characters in its name")


def leads_outside(path: str, *, folder: str = "") -> bool:
    """Whether ``path``, relative to ``folder`` in the archive, is absolute or leads out of the archive by ``..``."""
    parts = path.replace("\\", "/").split("/")
    depth = len([part for part in folder.split("/") if part])
    if parts[0] == "" or _DRIVE.match(path):
        return True
    for part in parts:
        depth += -1 if part == ".." else part not in ("", ".")
        if depth < 0:
            return True
    return False


def check_sizes(unpacked: int, packed: int, file: IndexFile) -> None:
    """Refuse an archive that unpacks to more, or is compressed far more, than any release. Sizes are in bytes."""
    is_bomb = unpacked > RATIO_FROM and unpacked > MAX_RATIO * max(packed, 1)
    if is_bomb or unpacked > MAX_UNPACKED:
        raise file.refusal(f"it unpacks to more than {unpacked // 1024**2} MB, unlike any release")


def check_package(names: Collection[str], file: IndexFile) -> None:
    """Refuse an archive whose files ``names`` hold no package of its project."""
    init = f"{layout.PACKAGES[file.project]}/__init__.py"
    if init not in names:
        raise file.refusal(f"it holds no {init}")


class Packer:
    """Collects the kept files of one release into a zip archive in memory; use it in a ``with`` statement."""

    def __init__(self, file: IndexFile) -> None:
        self._file = file
        self._buffer = io.BytesIO()
        self._zip = zipfile.ZipFile(self._buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=3)
        self._names: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._zip.close()

    def add(self, path: str, data: bytes) -> None:
        """Add one file. Raises ``InputError`` if there is already one at that path."""
        if path in self._names:
            raise self._file.refusal(f"it holds {path} twice")
        self._names.add(path)
        info = zipfile.ZipInfo(path, _EPOCH)
        info.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(info, data)

    def finish(self) -> bytes:
        """Return the archive's bytes, with the facts of the file in its comment. Raises ``InputError`` if the package
        is missing."""
        check_package(self._names, self._file)
        facts = {"file": self._file.filename, "version": self._file.version, "sha256": self._file.sha256}
        self._zip.comment = json.dumps(facts).encode()
        self._zip.close()
        return self._buffer.getvalue()


class ReleaseTree(ABC):
    """The kept files of a release, ``names``."""

    def __init__(self, project: Project, names: Collection[str], *, file: str, version: str, sha256: str) -> None:
        self.source = Source(project, "release", file, version)
        self.sha256 = sha256
        self._names = names
        self._read_recent = lru_cache(maxsize=layout.RECENT)(self._read_text)

    @abstractmethod
    def _load(self, path: str) -> bytes:
        """Return the content of a kept file."""

    def read(self, path: str) -> str | None:
        """Return the text of ``path`` with LF newlines; ``None`` if the release has no such file or it is not kept.

        Raises ``InputError`` if the content cannot be fetched or is not what the release states.
        """
        return self._read_recent(path) if path in self._names else None

    def _read_text(self, path: str) -> str:
        return layout.decode(self._load(path), f"{self.source.location}:{path}")

    def paths(self, prefix: str = "") -> list[str]:
        """Return every ``.py`` path of the package below ``prefix``, sorted."""
        return layout.select_package_files(self._names, self.source.project, prefix=prefix)

    def remembered(self, what: str, find: Callable[[str], bytes]) -> dict[str, bytes]:
        """Return ``{path: find(text)}`` for every file, from an earlier run if it asked for ``what``: releases never
        change, so their place is their hash."""
        states = dict.fromkeys(self.paths(), "")
        return remembering.compute_cached(what, self.sha256, states, lambda path: find(self.read(path) or ""))


class ArchiveTree(ReleaseTree):
    """A release in the cached archive. Each file is read when needed, because a run needs few of them."""

    def __init__(self, file: BinaryIO, *, project: Project) -> None:
        weakref.finalize(self, file.close)
        self._zip = zipfile.ZipFile(file)
        facts = json.loads(self._zip.comment)
        names = frozenset(self._zip.namelist())
        super().__init__(project, names, file=facts["file"], version=facts["version"], sha256=facts["sha256"])

    def _load(self, path: str) -> bytes:
        return self._zip.read(path)
