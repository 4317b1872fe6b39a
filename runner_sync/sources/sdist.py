"""Read source distributions once, as a stream.

Comes in: the body of a download. Goes out: a cached archive of the kept files (``archive.Packer``). May touch: the
network, through the response it is given. Nothing is unpacked to disk, and nothing is kept until the whole body is read
and its SHA-256 equals the one the index states.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import posixpath
import tarfile
import zlib
from typing import IO, Protocol, Self, cast

from runner_sync.sources import layout
from runner_sync.sources.archive import (
    MAX_MEMBERS,
    MAX_PACKED,
    MAX_UNPACKED,
    IndexFile,
    Packer,
    check_name,
    check_sizes,
    leads_outside,
)

_CHUNK = 256 * 1024
_HEADROOM = 64 * 1024
"""Bytes allowed for the headers between two members and for the read-ahead of ``tarfile``: 12 KB in real archives."""
_EXTENDED = (tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE)
_MOST_EFFORT = 10**9
"""Limit for the sum of the squared sizes of extended headers. ``tarfile`` before Python 3.11.10 and 3.12.6 needs
quadratic time for each header, one or two seconds for this sum. Real archives stay below 0.02 of it."""
_DAMAGE = (tarfile.TarError, EOFError, OSError, zlib.error, ValueError, IndexError)
"""Errors that ``tarfile`` raises for unreadable archives; the last two are for invalid headers of sparse files."""


class _Readable(Protocol):
    def read(self, amount: int, /) -> bytes: ...


class Body(io.RawIOBase):
    """A download that hashes the bytes read and reports progress. ``total`` is the size that the server states.

    Reading raises ``InputError`` if the actual or stated size exceeds that of any release.
    """

    def __init__(self, raw: _Readable, file: IndexFile, *, total: int | None, progress: layout.Progress | None) -> None:
        super().__init__()
        self._raw = raw
        self._file = file
        self._total = total
        self._progress = progress
        self._hash = hashlib.sha256()
        self.done = 0

    def readable(self) -> bool:
        """Return true: this is a stream to read from."""
        return True

    def readinto(self, buffer: bytearray | memoryview, /) -> int:  # type: ignore[override]
        """Read up to ``len(buffer)`` bytes."""
        self._check_size(self._total or 0)
        data = self._raw.read(len(buffer))
        buffer[: len(data)] = data
        self._hash.update(data)
        self.done += len(data)
        self._check_size(self.done)
        if self._progress and data:
            self._progress(self._file.filename, self.done, self._total)
        return len(data)

    def drain(self) -> str:
        """Read to the end and return the SHA-256 of all bytes, in hexadecimal."""
        buffer = bytearray(_CHUNK)
        while self.readinto(buffer):
            pass
        return self._hash.hexdigest()

    def _check_size(self, size: int) -> None:
        if size > MAX_PACKED:
            why = f"it has more than {MAX_PACKED // 1024**2} MB, unlike any release"
            raise self._file.refusal(why)


class _Unpacked:
    """The content of a gzip stream, up to the number of bytes last allowed.

    Without this limit a malicious archive could make ``tarfile`` read headers without end.
    """

    def __init__(self, body: Body, file: IndexFile) -> None:
        self._body = body
        self._gzip = gzip.GzipFile(fileobj=io.BufferedReader(body, _CHUNK))
        self._file = file
        self._done = 0
        self._allowed = _HEADROOM
        self._tail = b""

    def allow(self, size: int) -> None:
        """Allow ``size`` more bytes for a member, and ``_HEADROOM`` for the headers after it."""
        self._allowed = self._done + size + _HEADROOM

    def read(self, amount: int) -> bytes:
        """Read like a file. Raises ``InputError`` beyond the allowed size, and for a decompression bomb."""
        data = self._gzip.read(amount)
        self._done += len(data)
        self._tail = (self._tail + data)[-tarfile.BLOCKSIZE :]
        check_sizes(self._done, self._body.done, self._file)
        if self._done > self._allowed:
            raise self._file.refusal("its headers are larger than any release's")
        return data

    def finish(self) -> None:
        """Read to the end; raises ``EOFError`` unless the stream ends in zeros.

        A tar archive ends in a block of zeros; ``tarfile`` takes a truncated archive for a short one.
        """
        self.allow(0)
        while self.read(_CHUNK):
            pass
        if self._tail.strip(b"\0") or not self._tail:
            raise EOFError


class _Members:
    """The members of one sdist, each checked while it is read."""

    def __init__(self, stream: _Unpacked, file: IndexFile) -> None:
        self._stream = stream
        self._file = file
        self._top: str | None = None

    def keep(self, packer: Packer) -> None:
        """Put the content of every kept file into ``packer``."""
        with tarfile.open(fileobj=cast(IO[bytes], self._stream), mode="r|", tarinfo=self._make_header_class()) as tar:
            count = 0
            while (member := tar.next()) is not None:
                count += 1
                self._require(count <= MAX_MEMBERS, f"it has more than {MAX_MEMBERS} members")
                # tarfile would search for the next header for hours, far beyond the end of the archive.
                self._require(tar.offset <= MAX_UNPACKED, f"its member {member.name!r} is larger than any release")
                self._stream.allow(member.size)
                path = self._check_path(member)
                if member.isreg() and layout.is_kept(path, self._file.project):
                    packer.add(path, self._read_content(tar, member))
        self._stream.finish()

    def _make_header_class(self) -> type[tarfile.TarInfo]:
        """Return the class with which ``tarfile`` reads headers, with a limit on headers that take too much time."""
        effort, require = 0, self._require

        class Header(tarfile.TarInfo):
            @classmethod
            def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
                nonlocal effort
                header = super().frombuf(buf, encoding, errors)
                effort += header.size**2 if header.type in _EXTENDED else 0
                require(effort <= _MOST_EFFORT, "its headers are larger than any release's")
                return header

        return Header

    def _check_path(self, member: tarfile.TarInfo) -> str:
        """Return the member's path below the sdist's only top folder; refuses unsafe members."""
        check_name(member.name, self._file)
        top, _, path = posixpath.normpath(member.name).partition("/")
        self._top = self._top or top
        self._require(top == self._top, f"it has two top folders, {self._top!r} and {top!r}")
        if member.issym() or member.islnk():
            self._check_link(member, path)
        elif not (member.isreg() or member.isdir()):
            self._require(False, f"its member {member.name!r} is a device or another special file")
        return path

    def _check_link(self, member: tarfile.TarInfo, path: str) -> None:
        """Refuse a link in place of a source file, or out of the archive. Other links are harmless: none is ever
        followed."""
        folder = posixpath.dirname(path) if member.issym() else ""
        is_source = layout.is_below(path, layout.PACKAGES[self._file.project]) or layout.is_kept(
            path, self._file.project
        )
        target = member.linkname if member.issym() else member.linkname.removeprefix(f"{self._top}/")
        is_harmless = bool(path) and not is_source and not leads_outside(target, folder=folder)
        self._require(is_harmless, f"its member {member.name!r} is a link to {member.linkname!r}")

    def _read_content(self, tar: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
        fits = member.size <= layout.MAX_TEXT and not member.issparse()
        self._require(fits, f"its member {member.name!r} is larger than any source file")
        content = tar.extractfile(member)
        data = content.read() if content else b""
        if len(data) != member.size:
            raise EOFError(member.name)
        return data

    def _require(self, holds: bool, why: str) -> None:
        if not holds:
            raise self._file.refusal(why)


def pack_sdist(body: Body, file: IndexFile) -> bytes:
    """Read a ``.tar.gz`` to its end and return the archive of its kept files for the cache.

    Raises ``InputError`` for a wrong hash, a damaged archive, devices, dangerous links, members that lead outside, and
    sizes that no release has. Errors of the transfer pass through.
    """
    damage: Exception | None = None
    with Packer(file) as packer:
        try:
            _Members(_Unpacked(body, file), file).keep(packer)
        except _DAMAGE as error:
            damage = error
        check_hash(body.drain(), file)
        if damage is not None:
            raise file.refusal("it is truncated or no gzip-compressed tar archive") from damage
        return packer.finish()


def check_hash(found: str, file: IndexFile) -> None:
    """Raise ``InputError`` if a file's hash is not the one that the index (or a pin) states."""
    if found != file.sha256:
        stated = f"{file.sha256[:12]}… as the index states"
        raise file.refusal(f"its SHA-256 is {found[:12]}… and not {stated} (damaged or tampered with)")
