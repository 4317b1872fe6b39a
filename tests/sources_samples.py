"""A package index on this machine, and the tiny wheels and sdists it serves."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import tarfile
import threading
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

RUNNER = "vllm_omni/platforms/npu/worker/npu_model_runner.py"
OMNI = {
    "vllm_omni/__init__.py": b"",
    RUNNER: b"class OmniNPUModelRunner:\n    pass\n",
    "vllm_omni/worker/gpu_model_runner.py": b"class OmniGPUModelRunner:\n    pass\n",
    "vllm_omni/config.yaml": b"not: python\n",
}
ASCEND = {
    "vllm_ascend/__init__.py": b"",
    "vllm_ascend/worker/model_runner_v1.py": b"class NPUModelRunner:\n    pass\n",
    "Dockerfile": b"FROM x\nARG VLLM_TAG=v0.14.1\n",
    "PKG-INFO": b"Metadata-Version: 2.1\nName: vllm-ascend\nVersion: 0.14.0rc1\n\nlong text\n",
    "tests/test_it.py": b"assert True\n",
}


def make_wheel(
    files: Mapping[str, bytes] = OMNI, *, version: str = "0.14.0", record: str | None = None, stored: bool = False
) -> bytes:
    """A wheel of vllm-omni with a true RECORD, or with the one given."""
    info = f"vllm_omni-{version}.dist-info"
    content = dict(files) | {f"{info}/METADATA": f"Metadata-Version: 2.1\nVersion: {version}\n\n".encode()}
    rows = [f"{name},sha256={_record_hash(data)},{len(data)}" for name, data in content.items()]
    content[f"{info}/RECORD"] = ("\n".join(rows) if record is None else record).encode()
    return make_zip(content.items(), stored=stored)


def make_zip(members: Iterable[tuple[str | zipfile.ZipInfo, bytes]], *, stored: bool = False) -> bytes:
    """A zip archive of the given members, in order."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return buffer.getvalue()


def make_sdist(
    files: Mapping[str, bytes] = ASCEND,
    *,
    top: str = "vllm_ascend-0.14.0rc1",
    extra: Iterable[tuple[tarfile.TarInfo, bytes]] = (),
) -> bytes:
    """A ``.tar.gz`` of ``files`` below ``top``, followed by members as given."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in files.items():
            archive.addfile(*make_member(f"{top}/{name}", data))
        for member, data in extra:
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def make_member(
    name: str, data: bytes = b"", *, kind: bytes = tarfile.REGTYPE, link: str = ""
) -> tuple[tarfile.TarInfo, io.BytesIO]:
    """One tar member."""
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.size = kind, link, len(data)
    return member, io.BytesIO(data)


def sha256(data: bytes) -> str:
    """SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


@dataclass
class FakeIndex:
    """What the server has and how it behaves.

    ``ranges``: ``all``, ``front`` (no ``bytes=-N``) or ``none``. ``stated`` overrides the hash on the index page;
    ``sent`` the bytes actually sent; ``cut`` ends answers early that many times; ``login`` is required if set; files in
    ``gone`` are listed and not there.
    """

    files: dict[str, dict[str, bytes]] = field(default_factory=dict)
    ranges: str = "all"
    yanked: set[str] = field(default_factory=set)
    stated: dict[str, str | None] = field(default_factory=dict)
    sent: dict[str, bytes] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    cut: int = 0
    failures: int = 0
    login: str | None = None
    requests: list[tuple[str, str | None]] = field(default_factory=list)
    url: str = ""

    def add(self, project: str, filename: str, data: bytes) -> None:
        """Offer one file of a project."""
        self.files.setdefault(project, {})[filename] = data

    def page(self, project: str) -> bytes:
        """The project page of PEP 503."""
        links = []
        for name, data in self.files[project].items():
            digest = self.stated.get(name, sha256(data))
            mark = ' data-yanked="broken"' if name in self.yanked else ""
            fragment = f"#sha256={digest}" if digest else ""
            links.append(f'<a href="/files/{name}{fragment}"{mark}>{name}</a>')
        return f"<html><body>{''.join(links)}</body></html>".encode()

    def body(self, filename: str) -> bytes | None:
        """Bytes of a file as the server sends them."""
        found = [files[filename] for files in self.files.values() if filename in files and filename not in self.gone]
        return self.sent.get(filename, found[0]) if found else None


def serve(index: FakeIndex) -> ThreadingHTTPServer:
    """Start serving ``index`` on a free port of this machine; the caller shuts the server down."""

    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_arguments: object) -> None:
            pass

        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            index.requests.append((self.path, wanted))
            if index.login and self.headers.get("Authorization") != index.login:
                return self._send(401, b"", {})
            if index.failures:
                index.failures -= 1
                return self._send(503, b"", {})
            page = re.fullmatch(r"/simple/([^/]+)/", self.path)
            if page:
                known = page[1] in index.files
                return self._send(200 if known else 404, index.page(page[1]) if known else b"", {})
            data = index.body(self.path.removeprefix("/files/"))
            return self._send(404, b"", {}) if data is None else self._send_file(data, wanted)

        def _send_file(self, data: bytes, wanted: str | None) -> None:
            match = re.fullmatch(r"bytes=(\d*)-(\d*)", wanted or "")
            if match is None or index.ranges == "none" or (index.ranges == "front" and not match[1]):
                return self._send(200, data, {})
            first = int(match[1]) if match[1] else max(0, len(data) - int(match[2]))
            last = min(int(match[2]), len(data) - 1) if match[1] and match[2] else len(data) - 1
            return self._send(206, data[first : last + 1], {"Content-Range": f"bytes {first}-{last}/{len(data)}"})

        def _send(self, status: int, data: bytes, headers: Mapping[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "text/html" if self.path.startswith("/simple") else "application/x-raw")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if index.cut and self.path.startswith("/files"):
                index.cut -= 1
                data = data[: len(data) // 2]
                self.close_connection = True
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    server.daemon_threads = True
    index.url = f"http://127.0.0.1:{server.server_port}/simple/"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    return server


def _record_hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
