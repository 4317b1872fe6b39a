"""Open releases from the package index, without installing or building, and cache them.

Comes in: a project and a version. Goes out: a ``Tree``. May touch: the network (not for a cached release) and the
cache, which has separate entries for each index.
"""

from __future__ import annotations

import hashlib
import io
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from packaging.version import Version

from runner_sync.errors import InputError
from runner_sync.model import Project
from runner_sync.sources import cache, layout, version
from runner_sync.sources.archive import ArchiveTree, IndexFile, ReleaseTree, is_pure
from runner_sync.sources.pip_config import IndexSettings, read_settings
from runner_sync.sources.wheel import BROKEN_ZIP, Listing, WheelTree

if TYPE_CHECKING:
    from runner_sync.sources.session import IndexSession
    from runner_sync.sources.transfer import RemoteFile

_ARCHIVE, _LISTING = "release", "wheel"


def releases(project: Project, *, progress: layout.Progress | None = None) -> list[str]:
    """Return the versions of ``project`` on pip's index, oldest first, without yanked ones.

    Offline (``RUNNER_SYNC_OFFLINE=1``) these are the versions in the cache. Raises ``InputError`` if no index is
    configured or readable.
    """
    from runner_sync.sources import index, session

    if session.is_offline():
        return cached_releases(project)
    what = f"the list of {project} releases"
    with session.connect(read_settings(), project=project, what=what, progress=progress) as connection:
        return index.list_versions(index.list_files(project, connection))


def cached_releases(project: Project) -> list[str]:
    """Return the versions of ``project`` in the cache of pip's index, oldest first; touches no network."""
    keys = [key.split("/") for kind in (_ARCHIVE, _LISTING) for key in cache.list_keys(kind)]
    suffix = _make_key(project, "", read_settings()).split("/")[-1]
    return sorted({key[1] for key in keys if key[0] == project and key[-1] == suffix}, key=Version)


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
    release = _Release(project, canonical, sha256, progress, read_settings())
    tree = _open_cached(release) or _fetch(release)
    if needed is not None and isinstance(tree, WheelTree):
        tree.prefetch(needed)
    return tree


def _open_cached(release: _Release) -> ReleaseTree | None:
    """Return the release from the cache; ``None`` if it is absent or not proven to have the wanted hash."""
    tree = _open_stored_archive(release.key, release.project)
    if tree is not None and release.sha256 in (None, tree.sha256):
        return tree
    data = cache.load(_LISTING, release.key)
    listing = Listing.from_bytes(data) if data is not None else None
    if listing is None or release.sha256 not in (None, listing.sha256):
        return None
    # A pin requires the hash of the whole file, which a pure wheel read by ranges was not checked against.
    if release.sha256 and is_pure(listing.file):
        return None
    remote = replace(release, sha256=listing.sha256)
    return WheelTree(listing, project=release.project, fetch=remote.read)


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


def _fetch(release: _Release) -> ReleaseTree:
    """Fetch the release into the cache: a wheel by ranges if the server supports them, else the whole file."""
    from runner_sync.sources import transfer
    from runner_sync.sources.session import translate_network_errors

    file = release.file
    with translate_network_errors(file.project, file.url):
        if file.kind == "wheel" and not (release.sha256 is not None and is_pure(file.filename)):
            try:
                listing = transfer.fetch_listing(file, release.ranges)
            except transfer.NoRanges:
                pass
            else:
                cache.store(_LISTING, release.key, listing.to_bytes())
                return WheelTree(listing, project=file.project, fetch=release.read)
        fetch = transfer.fetch_sdist if file.kind == "sdist" else transfer.fetch_wheel
        data = fetch(file, release.session)
    cache.store(_ARCHIVE, release.key, data)
    _opened.pop((cache.folder(), release.key), None)
    return ArchiveTree(io.BytesIO(data), project=file.project)


@dataclass(eq=False)
class _Release:
    """A release that is wanted. The lookup on the index and the connection happen on first use."""

    project: Project
    version: str
    sha256: str | None
    progress: layout.Progress | None
    settings: IndexSettings

    @property
    def key(self) -> str:
        """The key of the release in the cache."""
        return _make_key(self.project, self.version, self.settings)

    @cached_property
    def session(self) -> IndexSession:
        """An open session, which is closed when this object is freed."""
        from runner_sync.sources import session

        what = f"{self.project} {self.version}"
        connection = session.connect(self.settings, project=self.project, what=what, progress=self.progress)
        weakref.finalize(self, connection.close)
        return connection

    @cached_property
    def file(self) -> IndexFile:
        """The file to read."""
        from runner_sync.sources import index

        files = index.list_files(self.project, self.session)
        return index.choose_file(files, self.project, wanted=self.version, sha256=self.sha256)

    @cached_property
    def ranges(self) -> RemoteFile:
        """The file to read by ranges: one object for all reads, because it counts the bytes fetched."""
        from runner_sync.sources.transfer import RemoteFile

        return RemoteFile(self.file, self.session)

    def read(self, start: int, end: int) -> bytes:
        """Return bytes ``start`` … ``end - 1``; raises ``InputError`` if they cannot be fetched."""
        from runner_sync.sources import session, transfer

        try:
            with session.translate_network_errors(self.project, self.file.url):
                return self.ranges.read(start, end)
        except transfer.NoRanges as error:
            raise InputError(
                f"the server of {self.file.filename} gives no ranges any more: remove {cache.folder()} and run again."
            ) from error


def _make_key(project: Project, wanted: str, settings: IndexSettings) -> str:
    indexes = "\n".join(url.rpartition("@")[2] for url in settings.urls)
    return f"{project}/{wanted}/{hashlib.sha256(indexes.encode()).hexdigest()[:12]}"
