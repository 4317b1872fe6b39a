"""Download a range of a file, a whole file, or the table of contents of a remote wheel.

Comes in: a session and a file on the index. Goes out: bytes, hashed bodies, open archives. May touch: the network and
an unnamed temporary file. An interrupted transfer is retried a bounded number of times.
"""

from __future__ import annotations

import io
import tempfile
import time
import zipfile
from collections.abc import Callable
from typing import IO, TypeVar

import requests
from urllib3.exceptions import HTTPError

from runner_sync.sources.archive import IndexFile
from runner_sync.sources.sdist import Body, check_hash, pack_sdist
from runner_sync.sources.session import IDENTITY, IndexSession
from runner_sync.sources.wheel import BROKEN_ZIP, Listing, list_wheel, pack_wheel

_ATTEMPTS = 3
_PAUSE = 0.5
_TAIL = 64 * 1024
_IN_MEMORY = 32 * 1024 * 1024
_MAX_RANGE = 256 * 1024 * 1024
_CHUNK = 256 * 1024
_NO_RANGES = frozenset({200, 405, 416, 501})
"""HTTP statuses with which servers answer range requests that they do not support."""

T = TypeVar("T")


class NoRanges(Exception):
    """The server answers a range request with the whole file, or refuses it."""


class RemoteFile:
    """A file on the index, read by ranges. ``done`` counts the bytes fetched so far, for the progress display."""

    def __init__(self, file: IndexFile, session: IndexSession) -> None:
        self._file = file
        self._session = session
        self.done = 0

    def read(self, start: int, end: int) -> bytes:
        """Return bytes ``start`` … ``end - 1``. Raises ``NoRanges``, and the errors of requests and urllib3."""
        return self._get(f"bytes={start}-{end - 1}", size=end - start)[0]

    def read_tail(self, size: int) -> tuple[bytes, int]:
        """Return the last ``size`` bytes (or all, if there are fewer) and their position.

        Also works with servers that accept no range counted from the end.
        """
        try:
            data, start, _ = self._get(f"bytes=-{size}")
        except NoRanges:
            total = self._get("bytes=0-0")[2]
            data, start, _ = self._get(f"bytes={max(0, total - size)}-{total - 1}")
        return data, start

    def _get(self, wanted: str, *, size: int | None = None) -> tuple[bytes, int, int]:
        """Return the content of a range, the position of its first byte, and the size of the file.

        ``size``, if given, is the length that the content must have.
        """
        return _retry(lambda: self._get_once(wanted, size))

    def _get_once(self, wanted: str, size: int | None) -> tuple[bytes, int, int]:
        with self._session.get(self._file.url, headers=IDENTITY | {"Range": wanted}, stream=True) as response:
            if response.status_code in _NO_RANGES:
                raise NoRanges
            response.raise_for_status()
            start, end, total = _parse_content_range(response)
            data = response.raw.read(end - start + 1)
        if len(data) != end - start + 1 or size not in (None, len(data)):
            raise HTTPError("short answer to a range request")
        self.done += len(data)
        if self._session.progress:
            self._session.progress(self._file.filename, self.done, None)
        return data, start, total


def fetch_sdist(file: IndexFile, session: IndexSession) -> bytes:
    """Download an sdist once, as a stream, and return the archive of its kept files for the cache."""
    if not file.filename.endswith((".tar.gz", ".tgz")):
        raise file.refusal("only gzip-compressed tar archives are read as sdists")

    def attempt() -> bytes:
        with session.get(file.url, headers=IDENTITY, stream=True) as response:
            return pack_sdist(_open_body(response, file, session), file)

    return _retry(attempt)


def fetch_wheel(file: IndexFile, session: IndexSession) -> bytes:
    """Download a whole wheel, check its hash, and return the archive of its kept files for the cache."""

    def attempt() -> bytes:
        with tempfile.SpooledTemporaryFile(_IN_MEMORY) as whole:
            with session.get(file.url, headers=IDENTITY, stream=True) as response:
                found = _copy(_open_body(response, file, session), whole)
            check_hash(found, file)
            return pack_wheel(whole, file)

    return _retry(attempt)


def fetch_listing(file: IndexFile, remote: RemoteFile) -> Listing:
    """Return the listing of a wheel, reading only its table of contents and RECORD. Raises ``NoRanges``."""
    try:
        with _open_remote(remote) as wheel:
            return list_wheel(wheel, file)
    except BROKEN_ZIP as error:
        # zipfile reports a network error (an OSError) as if the file were no archive.
        if isinstance(error.__context__, requests.RequestException):
            raise error.__context__ from None
        raise file.refusal("it is damaged or no zip archive") from error


class _RangeFile:
    """The fetcher for ``remotezip``, whose own fetcher leaves connections open after some errors."""

    def __init__(self, remote: RemoteFile) -> None:
        self._remote = remote

    def fetch(self, data_range: tuple[int, int | None], stream: bool = False) -> object:  # noqa: ARG002
        """Return a buffer of the bytes from the first to the last position of ``data_range``; ``(-n, None)``: the last
        n."""
        from remotezip import PartialBuffer  # type: ignore[import-untyped]

        first, last = data_range
        if last is None:
            data, first = self._remote.read_tail(-first)
        elif last - first > _MAX_RANGE:
            raise ValueError("a table of contents of this size")
        else:
            data = self._remote.read(first, last + 1)
        return PartialBuffer(io.BytesIO(data), first, len(data), False)


def _open_remote(remote: RemoteFile) -> zipfile.ZipFile:
    from remotezip import RemoteZip

    opened: zipfile.ZipFile = RemoteZip(
        "", initial_buffer_size=_TAIL, fetcher=lambda *_args, **_options: _RangeFile(remote)
    )
    return opened


def _open_body(response: requests.Response, file: IndexFile, session: IndexSession) -> Body:
    response.raise_for_status()
    length = response.headers.get("Content-Length", "")
    total = int(length) if length.isdigit() else None
    return Body(response.raw, file, total=total, progress=session.progress)


def _copy(body: Body, target: IO[bytes]) -> str:
    buffer = bytearray(_CHUNK)
    while amount := body.readinto(buffer):
        target.write(memoryview(buffer)[:amount])
    target.seek(0)
    return body.drain()


def _parse_content_range(response: requests.Response) -> tuple[int, int, int]:
    unit, _, numbers = response.headers.get("Content-Range", "").partition(" ")
    span, _, total = numbers.partition("/")
    first, _, last = span.partition("-")
    if unit != "bytes" or not (first.isdigit() and last.isdigit() and total.isdigit()):
        raise NoRanges
    if int(last) - int(first) > _MAX_RANGE:
        raise HTTPError("too large an answer to a range request")
    return int(first), int(last), int(total)


def _retry(attempt: Callable[[], T]) -> T:
    """Call ``attempt``, again if a transfer breaks off midway, which the session's own retries do not cover."""
    for number in range(1, _ATTEMPTS):
        try:
            return attempt()
        except (HTTPError, requests.exceptions.ChunkedEncodingError):
            time.sleep(_PAUSE * number)
    return attempt()
