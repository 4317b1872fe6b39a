"""Read which package index pip is configured for, the way pip reads it.

Comes in: the environment and pip's configuration files. Goes out: ``IndexSettings``. May touch: those files, read only.
Order as in pip's documentation ("Configuration", https://pip.pypa.io/en/stable/topics/configuration/): site-wide, user,
environment, ``PIP_CONFIG_FILE``, then ``PIP_*`` variables; later ones win, ``[install]`` wins over ``[global]``.
"""

from __future__ import annotations

import configparser
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner_sync.errors import InputError
from runner_sync.sources.addresses import is_readable, redact
from runner_sync.user_paths import expanded

PYPI = "default/"
"""Stands for the index that pip uses when none is configured; ``session`` knows its address."""

_SECTIONS = ("global", "install")
_TRUE = frozenset({"1", "true", "yes", "on", "y", "t"})
_DEFAULT_TIMEOUT = 15.0
"""Seconds; pip's own default."""


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Settings of a connection to the index. ``urls`` is empty under ``no-index``; ``timeout`` is in seconds."""

    urls: tuple[str, ...]
    cert: str | None = None
    client_cert: str | None = None
    proxy: str | None = None
    timeout: float = _DEFAULT_TIMEOUT
    trusted_hosts: frozenset[str] = frozenset()


def read_settings() -> IndexSettings:
    """Return the settings of this interpreter's pip. Raises ``InputError`` for settings that pip would refuse."""
    options = dict(_read_files(os.environ)) | dict(_read_variables(os.environ))
    urls = [options.get("index-url") or PYPI, *options.get("extra-index-url", "").split()]
    if options.get("no-index", "").lower() in _TRUE:
        urls = []
    return IndexSettings(
        urls=tuple(dict.fromkeys(_normalize_index(url) for url in urls)),
        cert=_expand_path(options.get("cert")),
        client_cert=_expand_path(options.get("client-cert")),
        proxy=options.get("proxy") or None,
        timeout=_parse_seconds(options.get("default-timeout") or options.get("timeout")),
        trusted_hosts=frozenset(options.get("trusted-host", "").split()),
    )


def _read_variables(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in environ.items():
        if name.startswith("PIP_") and value:
            yield name[4:].lower().replace("_", "-"), value


def _read_files(environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the options of all files; ``[install]`` comes after ``[global]`` and so wins."""
    merged: dict[tuple[str, str], str] = {}
    for file in _files(environ):
        for section, name, value in _read_entries(file):
            merged[section, name] = value
    for wanted in _SECTIONS:
        yield from ((name, value) for (section, name), value in merged.items() if section == wanted and value)


def _read_entries(file: Path) -> Iterator[tuple[str, str, str]]:
    parser = configparser.RawConfigParser()
    try:
        parser.read(file, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError) as error:
        raise InputError(f"pip's configuration file {file} cannot be read: correct it (pip config debug).") from error
    for section in parser.sections():
        for name, value in parser.items(section):
            yield section, name.lower().replace("_", "-").removeprefix("--"), value


def _files(environ: Mapping[str, str]) -> Iterator[Path]:
    chosen = environ.get("PIP_CONFIG_FILE")
    if chosen == os.devnull:
        return
    yield from (Path(folder) / "pip" / "pip.conf" for folder in _list_site_folders(environ))
    yield Path("/etc/pip.conf")
    yield from _list_user_files(environ)
    yield Path(sys.prefix) / "pip.conf"
    if chosen:
        yield Path(chosen)


def _list_user_files(environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield the user's own files; without a home folder, as in some containers, only the one below a named folder."""
    named = environ.get("XDG_CONFIG_HOME")
    try:
        home = Path.home()
    except RuntimeError:
        if named:
            yield Path(named) / "pip" / "pip.conf"
        return
    yield home / ".pip" / "pip.conf"
    if sys.platform == "darwin":
        yield home / "Library" / "Application Support" / "pip" / "pip.conf"
    yield Path(named or home / ".config") / "pip" / "pip.conf"


def _list_site_folders(environ: Mapping[str, str]) -> list[str]:
    if sys.platform == "darwin":
        return ["/Library/Application Support"]
    return [folder for folder in (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep) if folder][::-1]


def _normalize_index(url: str) -> str:
    """Return ``url`` with one trailing slash. Raises ``InputError`` if it is no URL."""
    if not is_readable(url):
        raise InputError(f"pip's index {redact(url)} is no web address: correct it (PIP_INDEX_URL or pip.conf).")
    return url.strip().rstrip("/") + "/"


def _expand_path(value: str | None) -> str | None:
    return str(expanded(value, named_by="pip's configuration")) if value else None


def _parse_seconds(value: str | None) -> float:
    try:
        return max(1.0, float(value)) if value else _DEFAULT_TIMEOUT
    except ValueError as error:
        raise InputError(f"pip's timeout {value!r} is no number of seconds: correct it (pip config debug).") from error
