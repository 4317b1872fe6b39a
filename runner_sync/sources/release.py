"""Open releases from the package index, without installing or building, and cache them.

Comes in: a project and a version. Goes out: a ``Tree``. May touch: the network (not for a cached release) and the
cache, which has separate entries for each index.
"""

from __future__ import annotations

import hashlib
import io
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import Version

from runner_sync.errors import InputError
from runner_sync.model import Project
from runner_sync.sources import cache, layout, version
from runner_sync.sources.archive import ArchiveTree, ReleaseTree
from runner_sync.sources.pip_config import IndexSettings, read_settings
from runner_sync.sources.wheel import BROKEN_ZIP, Listing, WheelTree

if TYPE_CHECKING:
    from runner_sync.sources.index import IndexFile
    from runner_sync.sources.session import IndexSession
    from runner_sync.sources.transfer import RemoteFile

_ARCHIVE, _LISTING = "release", "wheel"


def releases(project: Project, *, progress: layout.Progress | None = None) -> list[str]:
    """Return the versions of ``project`` on pip's index, oldest first, without yanked ones.

    Offline (``RUNNER_SYNC_OFFLINE=1``) these are the versions in the cache. Raises ``InputError`` if no index is
    configured or readable.
    """
    from runner_sync.sources import index, session

    settings = read_settings()
    if session.is_offline():
        return _list_cached_versions(project, settings)
    what = f"the list of {project} releases"
    with session.connect(settings, project=project, what=what, progress=progress) as connection:
        return index.list_versions(index.list_files(project, connection))


def cached_releases(project: Project) -> list[str]:
    """Return the versions of ``project`` in the cache of pip's index, oldest first; touches no network."""
    return _list_cached_versions(project, read_settings())


def open_release(
    project: Project,
    wanted: str,
    *,
    needed: Iterable[str] | None = None,
    sha256: str | None = None,
    progress: layout.Progress | None = None,
) -> ReleaseTree:
    """Open one release. ``needed`` names files and folders to fetch together if a wheel is read by ranges.

    ``sha256`` is the expected hash of the release's file (sdist or wheel); with it a pure wheel is read whole, so that
    the hash can be checked. Raises ``InputError`` for an unknown version, a wrong hash, a refused archive and network
    failures. A cached release needs no network, except for members of a wheel that were never read before.
    """
    canonical = version.normalize(wanted)
    if canonical is None:
        raise InputError(f"{wanted!r} is no version of {project}: write it as in 0.18.0 or 0.19.1rc1.")
    settings = read_settings()
    tree = _open_cached(project, canonical, settings=settings, sha256=sha256, progress=progress)
    if tree is None:
        tree = _fetch(project, canonical, settings=settings, sha256=sha256, progress=progress)
    if needed is not None and isinstance(tree, WheelTree):
        tree.prefetch(needed)
    return tree


def _open_cached(
    project: Project, wanted: str, *, settings: IndexSettings, sha256: str | None, progress: layout.Progress | None
) -> ReleaseTree | None:
    """Return the release from the cache; ``None`` if it is absent or not proven to have the hash ``sha256``."""
    key = _make_key(project, wanted, settings)
    tree = _open_stored_archive(key, project)
    if tree is not None and sha256 in (None, tree.sha256):
        return tree
    data = cache.load(_LISTING, key)
    listing = Listing.from_bytes(data) if data is not None else None
    # A pin requires the hash of the whole file, which a pure wheel read by ranges was not checked against.
    if listing is None or sha256 not in (None, listing.sha256) or (sha256 and _is_pure(listing.file)):
        return None
    remote = _Remote(project, settings, wanted=wanted, sha256=listing.sha256, progress=progress)
    return WheelTree(listing, project=project, fetch=remote.read)


def _open_stored_archive(key: str, project: Project) -> ArchiveTree | None:
    """Return the archive from the cache; ``None`` if it is absent or of another form than this version writes.

    A release that a run already has open is not read again, because its list of members alone takes megabytes.
    """
    place = (cache.folder(), key)
    if (tree := _opened.get(place)) is not None:
        return tree
    file = cache.open_stored(_ARCHIVE, key)
    try:
        tree = None if file is None else ArchiveTree(file, project=project)
    except (*BROKEN_ZIP, *cache.OTHER_FORM):
        return None
    if tree is not None:
        _opened[place] = tree
    return tree


_opened: weakref.WeakValueDictionary[tuple[Path, str], ArchiveTree] = weakref.WeakValueDictionary()


def _fetch(
    project: Project, wanted: str, *, settings: IndexSettings, sha256: str | None, progress: layout.Progress | None
) -> ReleaseTree:
    """Fetch the release into the cache: a wheel by ranges if the server supports them, else the whole file."""
    from runner_sync.sources import transfer
    from runner_sync.sources.session import translate_network_errors

    remote = _Remote(project, settings, wanted=wanted, sha256=sha256, progress=progress)
    file, connection = remote.find()
    key = _make_key(project, wanted, settings)
    with translate_network_errors(project, file.url):
        if file.kind == "wheel" and not (sha256 is not None and file.is_pure):
            try:
                listing = transfer.fetch_listing(file, remote.file(), project=project)
            except transfer.NoRanges:
                pass
            else:
                cache.store(_LISTING, key, listing.to_bytes())
                return WheelTree(listing, project=project, fetch=remote.read)
        fetch = transfer.fetch_sdist if file.kind == "sdist" else transfer.fetch_wheel
        data = fetch(file, connection, project=project, progress=progress)
    cache.store(_ARCHIVE, key, data)
    _opened.pop((cache.folder(), key), None)
    return ArchiveTree(io.BytesIO(data), project=project)


class _Remote:
    """A release's file on the index. The lookup and the connection happen on first use."""

    def __init__(
        self,
        project: Project,
        settings: IndexSettings,
        *,
        wanted: str,
        sha256: str | None,
        progress: layout.Progress | None,
    ) -> None:
        self._project = project
        self._settings = settings
        self._wanted = wanted
        self._sha256 = sha256
        self._progress = progress
        self._found: tuple[IndexFile, IndexSession] | None = None
        self._file: RemoteFile | None = None

    def find(self) -> tuple[IndexFile, IndexSession]:
        """Return the file to read, and an open session that is closed when this object is freed."""
        from runner_sync.sources import index, session

        if self._found is None:
            what = f"{self._project} {self._wanted}"
            connection = session.connect(self._settings, project=self._project, what=what, progress=self._progress)
            weakref.finalize(self, connection.close)
            files = index.list_files(self._project, connection)
            file = index.choose_files(files, self._project, wanted=self._wanted, sha256=self._sha256)[0]
            self._found = file, connection
        return self._found

    def file(self) -> RemoteFile:
        """Return the file to read by ranges: one object for all reads, because it counts the bytes fetched."""
        from runner_sync.sources.transfer import RemoteFile

        if self._file is None:
            self._file = RemoteFile(*self.find(), progress=self._progress)
        return self._file

    def read(self, start: int, end: int) -> bytes:
        """Return bytes ``start`` … ``end - 1``; raises ``InputError`` if they cannot be fetched."""
        from runner_sync.sources import session, transfer

        file, _ = self.find()
        try:
            with session.translate_network_errors(self._project, file.url):
                return self.file().read(start, end)
        except transfer.NoRanges as error:
            raise InputError(
                f"the server of {file.filename} gives no ranges any more: remove {cache.folder()} and run again."
            ) from error


def _list_cached_versions(project: Project, settings: IndexSettings) -> list[str]:
    keys = [key.split("/") for kind in (_ARCHIVE, _LISTING) for key in cache.list_keys(kind)]
    suffix = _make_key(project, "", settings).split("/")[-1]
    return sorted({key[1] for key in keys if key[0] == project and key[-1] == suffix}, key=Version)


def _make_key(project: Project, wanted: str, settings: IndexSettings) -> str:
    indexes = "\n".join(url.rpartition("@")[2] for url in settings.urls)
    return f"{project}/{wanted}/{hashlib.sha256(indexes.encode()).hexdigest()[:12]}"


def _is_pure(filename: str) -> bool:
    return filename.endswith("-none-any.whl")
