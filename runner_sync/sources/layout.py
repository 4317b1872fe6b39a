"""Define what a tree of each project looks like, and decode its bytes to text.

Comes in: a project name, bytes, a path inside a tree. Goes out: the package folder's name, LF text, clean POSIX paths.
May touch: nothing. Every message that tells a user how to name a tree takes the option from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from runner_sync.errors import InputError, UndecodableText
from runner_sync.model import PACKAGES as PACKAGES
from runner_sync.model import Project

Progress = Callable[[str, int, int | None], None]
"""Called as ``progress(label, bytes done, bytes in total or None)`` during a download."""

PATH_OPTIONS: dict[Project, str] = {
    "vllm-omni": "--omni-path",
    "vllm-ascend": "--ascend-path",
    "vllm": "--vllm-path",
}
METADATA = "PKG-INFO"
MAX_TEXT = 16 * 1024 * 1024
"""Bytes. The largest source file of any release is 0.4 MB; anything above this limit is no source file."""
RECENT = 64
"""Texts that a tree keeps if reading one means unpacking it: a run asks for the same few modules again and again."""

_TOP_FILES = frozenset({METADATA, "pyproject.toml", "requirements.txt", "setup.py", "runner-sync.toml"})
_DOCKER_FOLDERS = ("", "docker/")


def decode(data: bytes, name: str) -> str:
    """Return the text of a source file: UTF-8 without byte-order mark, with CRLF and CR turned into LF as in Python.

    Other encodings are refused, not guessed: the result is written back as UTF-8, as by ruff and the three projects.
    """
    check_size(len(data), name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UndecodableText(name, line, data) from error
    return text.replace("\r\n", "\n").replace("\r", "\n")


def check_size(size: int, name: str) -> None:
    """Raise ``InputError`` for more bytes than a source file has; called before reading if the size is known."""
    if size > MAX_TEXT:
        raise InputError(f"{name} has {size} bytes, more than any source file: check the path.")


def is_inside(path: str) -> bool:
    """Whether ``path`` is a relative POSIX path that stays below the root it is joined to."""
    parts = path.split("/")
    return bool(path) and not any(part in ("", ".", "..") for part in parts) and "\\" not in path and "\0" not in path


def is_below(path: str, prefix: str) -> bool:
    """Whether ``path`` is the folder or file ``prefix`` or lies below it; every path is below the empty prefix."""
    folder = prefix.rstrip("/")
    return not folder or path == folder or path.startswith(folder + "/")


def select_package_files(paths: Iterable[str], project: Project, *, prefix: str = "") -> list[str]:
    """Return those of ``paths`` that are Python files of the project's package below ``prefix``, sorted."""
    top = PACKAGES[project] + "/"
    return sorted(path for path in paths if path.startswith(top) and path.endswith(".py") and is_below(path, prefix))


def is_kept(path: str, project: Project) -> bool:
    """Whether a release's file is cached: Python files of the package, and files that name versions or hold
    settings."""
    if path.startswith(PACKAGES[project] + "/"):
        return path.endswith(".py")
    folder, _, name = path.rpartition("/")
    is_dockerfile = name.startswith("Dockerfile") and (folder + "/" if folder else "") in _DOCKER_FOLDERS
    return path in _TOP_FILES or is_dockerfile
