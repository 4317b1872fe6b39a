"""Archives that must be refused, one row for each trick, beside near-misses that real archives contain."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import warnings
import zipfile
from collections.abc import Callable

import pytest
from sources_samples import ASCEND, OMNI, RUNNER, make_member, make_sdist, make_wheel, make_zip, sha256

from runner_sync.errors import InputError
from runner_sync.sources import archive, layout
from runner_sync.sources.archive import ArchiveTree, IndexFile
from runner_sync.sources.sdist import Body, pack_sdist
from runner_sync.sources.wheel import pack_wheel

TOP = "vllm_ascend-0.14.0rc1"
Member = tuple[tarfile.TarInfo, bytes]


def member(name: str, data: bytes = b"", *, kind: bytes = tarfile.REGTYPE, link: str = "") -> Member:
    return make_member(name, data, kind=kind, link=link)[0], data


def sdist(digest: str) -> IndexFile:
    return IndexFile("x.tar.gz", "vllm-ascend", "0.14.0rc1", "sdist", digest, "")


def pack(data: bytes, *, expected: str | None = None) -> ArchiveTree:
    file = sdist(expected or sha256(data))
    packed = pack_sdist(Body(io.BytesIO(data), file, total=len(data), progress=None), file)
    return ArchiveTree(io.BytesIO(packed), project="vllm-ascend")


def pack_whole_wheel(data: bytes) -> ArchiveTree:
    packed = pack_wheel(io.BytesIO(data), IndexFile("x.whl", "vllm-omni", "0.14.0", "wheel", sha256(data), ""))
    return ArchiveTree(io.BytesIO(packed), project="vllm-omni")


@pytest.mark.parametrize(
    ("trick", "sentence"),
    [
        (member("/etc/passwd", b"x"), "leads outside"),
        (member(f"{TOP}/../../evil.py", b"x"), "leads outside"),
        (member(f"{TOP}/vllm_ascend/../../../evil.py", b"x"), "leads outside"),
        (member(f"{TOP}\\..\\evil.py", b"x"), "leads outside"),
        (member("C:/evil.py", b"x"), "leads outside"),
        (member(f"{TOP}/vllm_ascend/\x1b[2Jevil.py", b"x"), "control characters"),
        (member(f"{TOP}/vllm_ascend/a.py", kind=tarfile.SYMTYPE, link="/etc/passwd"), "is a link"),
        (member(f"{TOP}/vllm_ascend/a.py", kind=tarfile.SYMTYPE, link="b.py"), "is a link"),
        (member(f"{TOP}/vllm_ascend", kind=tarfile.SYMTYPE, link="docs"), "is a link"),
        (member(f"{TOP}/PKG-INFO", kind=tarfile.LNKTYPE, link=f"{TOP}/README.md"), "is a link"),
        (member(TOP, kind=tarfile.SYMTYPE, link="elsewhere"), "is a link"),
        (member(f"{TOP}/docs/up", kind=tarfile.SYMTYPE, link="../../elsewhere"), "is a link"),
        (member(f"{TOP}/docs/up", kind=tarfile.LNKTYPE, link="../elsewhere"), "is a link"),
        (member(f"{TOP}/null", kind=tarfile.CHRTYPE), "device"),
        (member(f"{TOP}/sda", kind=tarfile.BLKTYPE), "device"),
        (member(f"{TOP}/pipe", kind=tarfile.FIFOTYPE), "device"),
        (member("other-1.0/vllm_ascend/__init__.py", b""), "two top folders"),
        (member(f"{TOP}/vllm_ascend/__init__.py", b"import os"), "twice"),
        (member(f"{TOP}/vllm_ascend/big.py", b"#" * (layout.MAX_TEXT + 1)), "larger than any source file"),
        (member(f"{TOP}/docs/zeros.bin", b"\0" * (archive.RATIO_FROM + 1)), "unpacks to more than"),
    ],
)
def test_a_trick_in_an_sdist_is_refused_with_a_sentence(trick: Member, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as caught:
        pack(make_sdist(extra=[trick]))
    assert str(caught.value).startswith("x.tar.gz is refused because")
    assert "--ascend-path" in str(caught.value)


@pytest.mark.parametrize(
    "fine",
    [
        member(f"{TOP}/docs/..name.md", b"x"),
        member(f"./{TOP}/docs/a.md", b"x"),
        member(f"{TOP}/docs/C:odd.md", b"x"),
        member(f"{TOP}/NOTES.md", kind=tarfile.SYMTYPE, link="GUIDE.md"),
        member(f"{TOP}/docs/source/readme.md", kind=tarfile.SYMTYPE, link="../../README.md"),
        member(f"{TOP}/docs/readme.md", kind=tarfile.LNKTYPE, link=f"{TOP}/README.md"),
        member(f"{TOP}/docs/图.png", b"x"),
        member(f"{TOP}/docs/movie.bin", b"#" * (layout.MAX_TEXT // 8)),
        member(f"{TOP}/docs", kind=tarfile.DIRTYPE),
    ],
)
def test_a_near_miss_in_an_sdist_is_fine(fine: Member) -> None:
    tree = pack(make_sdist(extra=[fine]))
    assert set(tree.paths()) == {name for name in ASCEND if name.startswith("vllm_ascend/")}


def test_an_archive_without_the_package_is_refused() -> None:
    with pytest.raises(InputError, match=r"holds no vllm_ascend/__init__\.py"):
        pack(make_sdist({"vllm/__init__.py": b""}))


def corrupt(data: bytes) -> bytes:
    return data[:60] + bytes(byte ^ 0xFF for byte in data[60:80]) + data[80:]


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:-4],
        lambda _data: b"",
        lambda _data: b"<html>not found</html>",
        lambda data: gzip.decompress(data),
        lambda data: gzip.compress(gzip.decompress(data)[:700]),
        corrupt,
    ],
    ids=["half", "no end", "empty", "html", "plain tar", "cut before compression", "flipped bits"],
)
def test_a_damaged_sdist_is_refused(damage: Callable[[bytes], bytes]) -> None:
    good = make_sdist()
    bad = damage(good)
    with pytest.raises(InputError, match=r"SHA-256 is \w+… and not"):
        pack(bad, expected=sha256(good))
    with pytest.raises(InputError, match=r"truncated or no gzip|holds no vllm_ascend"):
        pack(bad)


@pytest.mark.parametrize(
    "headers",
    [
        {"GNU.sparse.map": "1,x"},
        {"GNU.sparse.size": "abc"},
        {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": "9"},
    ],
    ids=["map", "size", "1.0"],
)
def test_headers_that_tarfile_cannot_read_are_damage(headers: dict[str, str]) -> None:
    info = tarfile.TarInfo(f"{TOP}/vllm_ascend/a.py")
    info.pax_headers = headers
    with pytest.raises(InputError, match="truncated or no gzip"):
        pack(make_sdist(extra=[(info, b"")]))


def test_a_sparse_file_whose_header_goes_on_behind_the_end_is_damage() -> None:
    info = tarfile.TarInfo(f"{TOP}/vllm_ascend/a.py")
    info.type = tarfile.GNUTYPE_SPARSE
    raw = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    raw[482] = 1  # more of the header follows
    raw[148:156] = b"%06o\0 " % tarfile.calc_chksums(bytes(raw))[0]
    with pytest.raises(InputError, match="truncated or no gzip"):
        pack(gzip.compress(bytes(raw)))


def test_bytes_after_the_archive_count_for_the_hash() -> None:
    good = make_sdist()
    with pytest.raises(InputError, match="SHA-256"):
        pack(good + b"more", expected=sha256(good))


class Endless:
    """A server that sends for ever: ``start``, then zeros."""

    def __init__(self, start: bytes) -> None:
        self.start = start
        self.sent = 0

    def read(self, amount: int) -> bytes:
        found, self.start = self.start[:amount], self.start[amount:]
        self.sent += amount
        assert self.sent < 10_000_000, "nobody stops reading"
        return found or bytes(amount)


@pytest.mark.parametrize(
    ("start", "total", "most"),
    [
        (make_sdist(), None, 3_000_000),
        (make_sdist()[:80], None, 3_000_000),
        (b"<html>", None, 3_000_000),
        (b"", 2_000_001, 0),
    ],
    ids=["behind an archive", "behind half of one", "no archive", "stated"],
)
def test_a_download_larger_than_any_release_is_not_read_to_its_end(
    monkeypatch: pytest.MonkeyPatch, start: bytes, total: int | None, most: int
) -> None:
    monkeypatch.setattr("runner_sync.sources.sdist.MAX_PACKED", 2_000_000)
    server = Endless(start)
    body = Body(server, sdist(""), total=total, progress=None)
    with pytest.raises(InputError, match="it has more than 1 MB, unlike any release"):
        pack_sdist(body, sdist(""))
    assert server.sent <= most


def test_a_header_that_is_a_bomb_is_refused_before_it_is_unpacked() -> None:
    info = tarfile.TarInfo(f"{TOP}/vllm_ascend/a.py")
    info.pax_headers = {"comment": "x" * 3_000_000}
    with pytest.raises(InputError, match="headers are larger"):
        pack(make_sdist(extra=[(info, b"")]))


@pytest.mark.parametrize(("size", "times"), [(40_000, 1), (400, 7)], ids=["one large", "many"])
def test_headers_that_only_cost_time_are_refused(monkeypatch: pytest.MonkeyPatch, size: int, times: int) -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, size
    # One record that says its own length, as POSIX has it: newer Pythons read no other.
    record = f"{size} comment=".ljust(size - 1, "x").encode() + b"\n"
    file = tarfile.TarInfo(f"{TOP}/docs/a.md").tobuf(tarfile.USTAR_FORMAT)
    padding = bytes(-size % tarfile.BLOCKSIZE)
    raw = (header.tobuf(tarfile.USTAR_FORMAT) + record + padding + file) * times
    if times > 1:
        monkeypatch.setattr("runner_sync.sources.sdist._MOST_EFFORT", 10**6)
    with pytest.raises(InputError, match="headers are larger"):
        pack(gzip.compress(raw))


def test_a_member_beyond_any_archive_is_refused_before_it_is_looked_for() -> None:
    info = tarfile.TarInfo(f"{TOP}/docs/movie.bin")
    info.size = 10**10
    with pytest.raises(InputError, match=r"movie\.bin' is larger than any release"):
        pack(gzip.compress(info.tobuf(tarfile.GNU_FORMAT) + bytes(1024)))


def test_more_members_than_any_release_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runner_sync.sources.sdist.MAX_MEMBERS", len(ASCEND))
    assert pack(make_sdist()).paths()
    with pytest.raises(InputError, match="more than 5 members"):
        pack(make_sdist(extra=[member(f"{TOP}/one-more")]))


def zip_member(name: str, mode: int = 0) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


def wheel_with(name: str, data: bytes = b"", mode: int = 0) -> bytes:
    buffer = io.BytesIO(make_wheel())
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "a") as wheel:
        warnings.simplefilter("ignore")
        wheel.writestr(zip_member(name, mode), data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (wheel_with("/etc/passwd"), "leads outside"),
        (wheel_with("vllm_omni/../../evil.py"), "leads outside"),
        (wheel_with("vllm_omni/link.py", b"/etc/passwd", stat.S_IFLNK | 0o777), "is a link"),
        (wheel_with("vllm_omni/device.py", b"", stat.S_IFCHR | 0o600), "special file"),
        (wheel_with(RUNNER, b"import os"), "twice"),
        (wheel_with("vllm_omni/unlisted.py", b"import os"), "RECORD states no SHA-256"),
        (wheel_with("vllm_omni/big.py", b"#" * (layout.MAX_TEXT + 1)), "larger than any source file"),
        (make_wheel(record=""), "RECORD states no SHA-256"),
        (make_zip([("vllm_omni/__init__.py", b"")]), "no single RECORD"),
        (make_wheel({"other/__init__.py": b""}), r"holds no vllm_omni/__init__\.py"),
        (make_wheel()[:-30], "damaged or no zip"),
        (b"", "damaged or no zip"),
    ],
)  # fmt: skip
def test_a_trick_in_a_wheel_is_refused_with_a_sentence(data: bytes, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        pack_whole_wheel(data)


@pytest.mark.parametrize(
    "data",
    [
        wheel_with("vllm_omni/..name.txt"),
        wheel_with("vllm_omni/data.bin", b"\0" * 100_000, stat.S_IFREG | 0o644),
        wheel_with("vllm_omni/assets/", b"", stat.S_IFDIR | 0o755),
    ],
)
def test_a_near_miss_in_a_wheel_is_fine(data: bytes) -> None:
    tree = pack_whole_wheel(data)
    assert tree.read(RUNNER) == OMNI[RUNNER].decode()
    assert len(tree.paths()) == 3


@pytest.mark.parametrize(
    ("path", "folder", "outside"),
    [
        ("a/b", "", False),
        ("../a", "top", False),
        ("../a", "", True),
        ("../../a", "top", True),
        ("a/../../b", "top", False),
        ("a/../../../b", "top/x", False),
        ("a/../../../../b", "top/x", True),
        ("/a", "top", True),
        ("C:\\a", "top", True),
        ("..a/...", "", False),
    ],
)
def test_a_path_leads_outside_when_it_climbs_above_its_archive(path: str, folder: str, outside: bool) -> None:
    assert archive.leads_outside(path, folder=folder) is outside
