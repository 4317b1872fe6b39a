"""pip's configuration, file by file and variable by variable, compared with what pip's documentation says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runner_sync.errors import InputError
from runner_sync.sources import pip_config
from runner_sync.sources.pip_config import PYPI, IndexSettings, read_settings


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine on which nothing is configured."""
    for name in list(os.environ):
        if name.startswith(("PIP_", "XDG_CONFIG")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_DIRS", str(tmp_path / "xdg"))
    monkeypatch.setattr("sys.prefix", str(tmp_path / "venv"))
    monkeypatch.setattr("sys.platform", "linux")
    # /etc/pip.conf of the machine that runs the tests plays no part.
    real = pip_config._files
    monkeypatch.setattr(
        pip_config, "_files", lambda environ: (file for file in real(environ) if file != Path("/etc/pip.conf"))
    )
    return tmp_path


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def test_nothing_configured_is_pypi() -> None:
    assert read_settings() == IndexSettings(urls=(PYPI,))


def test_later_places_win_over_earlier_ones(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = ["xdg/pip/pip.conf", ".pip/pip.conf", ".config/pip/pip.conf", "venv/pip.conf", "own.conf"]
    monkeypatch.setenv("PIP_CONFIG_FILE", str(home / "own.conf"))
    for place in places:
        write(home / place, f"[global]\nindex-url = https://{place.split('/')[0]}/simple\n")
        assert read_settings().urls == (f"https://{place.split('/')[0]}/simple/",)
    monkeypatch.setenv("PIP_INDEX_URL", "https://variable/simple/")
    assert read_settings().urls == ("https://variable/simple/",)


def test_a_user_without_a_home_folder_has_other_files(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", fail)
    write(home / "venv/pip.conf", "[global]\nindex-url = https://venv/simple/\n")
    assert read_settings().urls == ("https://venv/simple/",)
    (home / "venv/pip.conf").unlink()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "own"))
    write(home / "own/pip/pip.conf", "[global]\nindex-url = https://own/simple/\n")
    assert read_settings().urls == ("https://own/simple/",)


def test_no_file_is_read_when_pip_reads_none(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home / ".config/pip/pip.conf", "[global]\nindex-url = https://user/simple\n")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    assert read_settings().urls == (PYPI,)


def test_the_install_section_wins_over_global_and_others_do_not_count(home: Path) -> None:
    write(home / "venv/pip.conf", "[install]\nindex_url = https://install/simple\n[wheel]\nindex-url = https://w\n")
    write(home / "own.conf", "")
    write(home / ".config/pip/pip.conf", "[global]\nindex-url = https://global/simple\ntimeout = 5\n")
    settings = read_settings()
    assert (settings.urls, settings.timeout) == (("https://install/simple/",), 5.0)


def test_everything_a_connection_needs_is_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        home / ".config/pip/pip.conf",
        "[global]\nindex-url = https://a/simple\nextra-index-url =\n    https://b/simple/\n    https://a/simple/\n"
        "cert = ~/ca.pem\nclient-cert = /c.pem\nproxy = http://p:1\ntrusted-host = h1\n    h2:8080\n",
    )
    monkeypatch.setenv("PIP_DEFAULT_TIMEOUT", "180")
    monkeypatch.setenv("PIP_PROXY", "")
    assert read_settings() == IndexSettings(
        urls=("https://a/simple/", "https://b/simple/"),
        cert=str(home / "ca.pem"),
        client_cert="/c.pem",
        proxy="http://p:1",
        timeout=180.0,
        trusted_hosts=frozenset({"h1", "h2:8080"}),
    )


@pytest.mark.usefixtures("home")
def test_who_sets_no_timeout_waits_as_long_as_pip() -> None:
    assert read_settings().timeout == 15.0


@pytest.mark.parametrize(
    ("value", "urls"), [("1", ()), ("true", ()), ("0", (PYPI,)), ("false", (PYPI,)), ("", (PYPI,))]
)
def test_no_index_leaves_no_index(monkeypatch: pytest.MonkeyPatch, value: str, urls: tuple[str, ...]) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", value)
    assert read_settings().urls == urls


@pytest.mark.parametrize("text", ["index-url = no section\n", "[global]\nindex-url = a\nindex-url = b\n", "[global\n"])
def test_a_file_that_pip_refuses_is_named(home: Path, text: str) -> None:
    write(home / ".config/pip/pip.conf", text)
    with pytest.raises(InputError, match=r"pip/pip\.conf cannot be read: correct it"):
        read_settings()


def test_a_percent_sign_in_a_password_is_taken_as_it_is(home: Path) -> None:
    write(home / ".config/pip/pip.conf", "[global]\nindex-url = https://u:p%40w@h/simple\n")
    assert read_settings().urls == ("https://u:p%40w@h/simple/",)
