"""Read wheels: the few needed members by range requests, or the whole file if the server supports no ranges.

Comes in: a wheel on the index. Goes out: a tree that fetches members when they are read, or the archive of the kept
files for the cache. May touch: the network, and the cache for members that were read.

A whole file is checked against the SHA-256 that the index states; a member read by range against its CRC and the
SHA-256 in the wheel's RECORD. RECORD comes from the same file: it shows that the member is intact and belongs to this
wheel, but not that this wheel has the hash that the index states. Given that hash, ``open_release`` reads the whole
file to check it; the tests pin their releases in this way.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import json
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import IO

from runner_sync.model import Project
from runner_sync.sources import cache, layout
from runner_sync.sources.archive import (
    MAX_MEMBERS,
    IndexFile,
    Packer,
    ReleaseTree,
    check_name,
    check_package,
    check_sizes,
    refusal,
)
from runner_sync.sources.cache import OTHER_FORM

_GAP = 32 * 1024
"""Largest gap in bytes between two wanted members that are still fetched by one request, gap included."""
_SINGLE_READS = 8
"""Number of members fetched one by one. A run that reads more reads most of the wheel, so it then fetches blocks."""
_BLOCK = 1024 * 1024
"""Approximate bytes of a block: as many as are transferred in the time that a request takes to be answered."""
_LOCAL_HEADER = 30
BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError)
"""Errors that ``zipfile`` raises for unreadable archives."""

FetchRange = Callable[[int, int], bytes]
"""``fetch(start, end)`` gives the bytes ``start`` … ``end - 1`` of the wheel."""


@dataclass(frozen=True, slots=True)
class Member:
    """The position of one member in the wheel (bytes ``start`` … ``end - 1``), and the checksums that it must have."""

    name: str
    start: int
    end: int
    packed: int
    size: int
    crc: int
    method: int
    record: str


@dataclass(frozen=True, slots=True)
class Listing:
    """The kept members of one wheel by path; the core metadata is listed as ``PKG-INFO``, as in an sdist."""

    file: str
    version: str
    sha256: str
    members: Mapping[str, Member]

    def to_bytes(self) -> bytes:
        """Return the listing for the cache."""
        return json.dumps(asdict(self)).encode()

    @staticmethod
    def from_bytes(data: bytes) -> Listing | None:
        """Return the listing from the cache; ``None`` if it has other fields, written by another version of the
        program."""
        try:
            facts = json.loads(data)
            members = {path: Member(**member) for path, member in facts.pop("members").items()}
            return Listing(**facts, members=members)
        except OTHER_FORM:
            return None


def list_wheel(wheel: zipfile.ZipFile, file: IndexFile) -> Listing:
    """Read the table of contents and RECORD of an open wheel, checking every name and size.

    Raises ``InputError`` for content that no wheel has and for kept members without a SHA-256 in RECORD.
    """
    infos = wheel.infolist()
    if len(infos) > MAX_MEMBERS:
        raise file.refusal(f"it has more than {MAX_MEMBERS} members")
    kept: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        path = _check_path(info, file)
        if path in kept:
            raise file.refusal(f"it holds {path} twice")
        if layout.is_kept(path, file.project):
            kept[path] = info
    check_sizes(sum(i.file_size for i in kept.values()), sum(i.compress_size for i in kept.values()), file)
    check_package(kept, file)
    records = _read_records(wheel, file)
    ends = _find_ends(infos, wheel.start_dir)
    members = {path: _make_member(info, ends, records, file) for path, info in kept.items()}
    return Listing(file.filename, file.version, file.sha256, members)


def pack_wheel(whole: IO[bytes], file: IndexFile) -> bytes:
    """Return the cache archive of a wheel's kept files; ``whole`` is complete and its hash checked."""
    try:
        with zipfile.ZipFile(whole) as wheel, Packer(file) as packer:
            for path, member in list_wheel(wheel, file).members.items():
                packer.add(path, wheel.read(member.name))
            return packer.finish()
    except BROKEN_ZIP as error:
        raise file.refusal("it is damaged or no zip archive") from error


class WheelTree(ReleaseTree):
    """A release read from a wheel by range: members are fetched when first read, then cached."""

    def __init__(self, listing: Listing, *, project: Project, fetch: FetchRange) -> None:
        super().__init__(project, listing.members, file=listing.file, version=listing.version, sha256=listing.sha256)
        self._members = listing.members
        self._fetch = fetch
        self._read: dict[str, bytes] = {}
        self._request_count = 0

    def _load(self, path: str) -> bytes:
        member = self._members[path]
        data = self._get_fetched(member)
        if data is None:
            self._fetch_together(self._choose_members(member))
            data = self._read[member.name]
        return data

    def prefetch(self, needed: Iterable[str]) -> None:
        """Fetch the files and folders in ``needed`` ahead; members that lie close together share one request."""
        prefixes = list(needed)
        self._fetch_together(
            member
            for path, member in self._members.items()
            if any(layout.is_below(path, prefix) for prefix in prefixes)
        )

    def _choose_members(self, member: Member) -> list[Member]:
        """Return the members to fetch when ``member`` is read: first only this one, later its whole block."""
        self._request_count += 1
        if self._request_count <= _SINGLE_READS:
            return [member]
        return [one for one in self._members.values() if one.start // _BLOCK == member.start // _BLOCK]

    def _fetch_together(self, members: Iterable[Member]) -> None:
        for group in _group_by_request(member for member in members if self._get_fetched(member) is None):
            start = group[0].start
            span = self._fetch(start, group[-1].end)
            for member in group:
                self._unpack(member, span[member.start - start : member.end - start])

    def _unpack(self, member: Member, span: bytes) -> None:
        data = _inflate(member, span)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        if zlib.crc32(data) != member.crc or digest != member.record:
            why = f"its member {member.name} is not what its RECORD states (damaged or tampered with)"
            raise refusal(self.source.location, why, project=self.source.project)
        cache.store("member", self._make_key(member), data)
        self._read[member.name] = data

    def _get_fetched(self, member: Member) -> bytes | None:
        """Return the content of a member if this run or an earlier one fetched it, else ``None``."""
        found = self._read.get(member.name)
        return cache.load("member", self._make_key(member)) if found is None else found

    def _make_key(self, member: Member) -> str:
        return f"{self.sha256}/{member.name}"


def _check_path(info: zipfile.ZipInfo, file: IndexFile) -> str:
    check_name(info.filename, file)
    mode = info.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise file.refusal(f"its member {info.filename!r} is a link or another special file")
    folder, _, name = info.filename.rpartition("/")
    if folder.endswith(".dist-info") and "/" not in folder and name == "METADATA":
        return layout.METADATA
    is_large = info.file_size > layout.MAX_TEXT
    if layout.is_kept(info.filename, file.project) and (is_large or info.flag_bits & 1):
        raise file.refusal(f"its member {info.filename!r} is encrypted or larger than any source file")
    return info.filename


def _read_records(wheel: zipfile.ZipFile, file: IndexFile) -> dict[str, str]:
    """Return ``{member name: SHA-256}`` from RECORD (PEP 427: URL-safe base64 without padding)."""
    names = [name for name in wheel.namelist() if name.endswith(".dist-info/RECORD") and name.count("/") == 1]
    if len(names) != 1 or wheel.getinfo(names[0]).file_size > layout.MAX_TEXT:
        raise file.refusal("it has no single RECORD of its files")
    try:
        rows = list(csv.reader(wheel.read(names[0]).decode("utf-8").splitlines()))
    except (UnicodeDecodeError, csv.Error) as error:
        raise file.refusal("its RECORD is no table of files") from error
    return {row[0]: row[1].removeprefix("sha256=") for row in rows if len(row) > 1 and row[1].startswith("sha256=")}


def _find_ends(infos: Iterable[zipfile.ZipInfo], directory: int) -> dict[int, int]:
    """Return ``{start: end}`` of the members; each ends where the next one, or the table of contents (``directory``),
    begins."""
    starts = sorted({info.header_offset for info in infos})
    return dict(zip(starts, [*starts[1:], directory], strict=True))


def _make_member(info: zipfile.ZipInfo, ends: Mapping[int, int], records: Mapping[str, str], file: IndexFile) -> Member:
    record = records.get(info.filename)
    if record is None:
        raise file.refusal(f"its RECORD states no SHA-256 for {info.filename}")
    end = ends[info.header_offset]
    if end - info.header_offset > info.compress_size + layout.MAX_TEXT:
        raise file.refusal(f"its member {info.filename!r} has room for more than its content")
    return Member(
        name=info.filename,
        start=info.header_offset,
        end=end,
        packed=info.compress_size,
        size=info.file_size,
        crc=info.CRC,
        method=info.compress_type,
        record=record,
    )


def _group_by_request(members: Iterable[Member]) -> list[list[Member]]:
    """Sort ``members`` by position and group those that one request fetches."""
    groups: list[list[Member]] = []
    for member in sorted(members, key=lambda member: member.start):
        if groups and member.start - groups[-1][-1].end <= _GAP:
            groups[-1].append(member)
        else:
            groups.append([member])
    return groups


def _inflate(member: Member, span: bytes) -> bytes:
    """Return the content of a member, given its bytes from the local header on (APPNOTE.TXT 4.3.7).

    Empty if it cannot be unpacked.
    """
    names = int.from_bytes(span[26:28], "little") + int.from_bytes(span[28:30], "little")
    packed = span[_LOCAL_HEADER + names :][: member.packed]
    if member.method == zipfile.ZIP_STORED:
        return packed
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, member.size + 1)
    except zlib.error:
        return b""
