"""List what the package index offers: the files of a project, its versions, and which file to read.

Comes in: a project and pip's settings. Goes out: ``IndexFile`` values and version lists. May touch: the network.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urldefrag

from packaging.version import InvalidVersion, Version

from runner_sync.errors import InputError, UnreadableRelease
from runner_sync.model import Project
from runner_sync.profile.releases import NOT_ITS_TAG
from runner_sync.sources import version
from runner_sync.sources.addresses import is_web_address, redact, show_host, strip_login
from runner_sync.sources.layout import PATH_OPTIONS
from runner_sync.sources.session import IndexSession, translate_network_errors

Kind = Literal["wheel", "sdist"]

# Only the sdist of a compiled project has all sources; vllm-omni is pure Python and often has no sdist.
_PREFERRED: dict[Project, Kind] = {"vllm-omni": "wheel", "vllm-ascend": "sdist", "vllm": "sdist"}


@dataclass(frozen=True, slots=True)
class IndexFile:
    """One downloadable file of a release, with the SHA-256 that the index states for it."""

    filename: str
    url: str
    version: str
    kind: Kind
    sha256: str | None
    is_yanked: bool = False

    @property
    def is_pure(self) -> bool:
        """Whether this is a wheel without compiled code, and therefore small."""
        return self.filename.endswith("-none-any.whl")


def list_files(project: Project, session: IndexSession) -> list[IndexFile]:
    """Return every wheel and sdist of ``project`` on the configured indexes. Raises ``InputError`` if there is none."""
    files: list[IndexFile] = []
    for url in session.settings.urls:
        files += _list_files_at(project, url, session)
    if not files:
        hosts = ", ".join(show_host(url) for url in session.settings.urls)
        raise UnreadableRelease(
            f"the package index at {hosts} has no release of {project}: configure pip's index (PIP_INDEX_URL or "
            "pip.conf)",
            option=PATH_OPTIONS[project],
        )
    return files


def choose_files(files: Iterable[IndexFile], project: Project, *, wanted: str, sha256: str | None) -> list[IndexFile]:
    """Return the files of version ``wanted``, best first; with ``sha256`` only the file with that hash.

    Raises ``InputError`` for an unknown version (naming some near it) and for a hash that no file has.
    """
    offered = list(files)
    found = sorted((file for file in offered if file.version == wanted), key=lambda file: _rank(file, project))
    if not found:
        raise InputError(_explain_unknown(offered, project, wanted))
    matching = [file for file in found if sha256 is None or file.sha256 == sha256]
    if not matching:
        raise InputError(
            f"no file of {project} {wanted} on the index has the expected SHA-256 {sha256}: the release was replaced "
            "or the expected hash is wrong, correct the pin."
        )
    return matching


def list_versions(files: Iterable[IndexFile]) -> list[str]:
    """Return the versions with at least one file that is not yanked, oldest first."""
    return sorted({file.version for file in files if not file.is_yanked}, key=Version)


def _list_files_at(project: Project, url: str, session: IndexSession) -> list[IndexFile]:
    from pypi_simple import NoSuchProjectError, PyPISimple, UnsupportedContentTypeError, UnsupportedRepoVersionError

    if not is_web_address(url):
        raise InputError(f"pip's index {redact(url)} is no web address: set PIP_INDEX_URL to one.")
    client = PyPISimple(endpoint=strip_login(url), session=session)
    try:
        with translate_network_errors(project, url):
            page = client.get_project_page(project)
    except NoSuchProjectError:
        return []
    except (UnsupportedContentTypeError, UnsupportedRepoVersionError, ValueError) as error:
        raise InputError(f"what answers at {show_host(url)} is no package index: correct pip's index URL.") from error
    files = []
    for package in page.packages:
        found = version.normalize(package.version or "")
        if found is None or package.package_type not in ("wheel", "sdist"):
            continue
        kind: Kind = "wheel" if package.package_type == "wheel" else "sdist"
        sha256 = package.digests.get("sha256")
        files.append(
            IndexFile(package.filename, urldefrag(package.url).url, found, kind, sha256, bool(package.is_yanked))
        )
    return files


def _rank(file: IndexFile, project: Project) -> tuple[bool, bool, bool, bool, bool, str]:
    """Return the sort key of a file: the file with the lowest key is read."""
    return (
        (project, file.version, file.kind) in NOT_ITS_TAG,
        file.kind != _PREFERRED[project],
        file.is_yanked,
        not (file.is_pure or file.filename.endswith(".tar.gz")),
        "x86_64" not in file.filename,
        file.filename,
    )


def _explain_unknown(files: list[IndexFile], project: Project, wanted: str) -> str:
    near = ", ".join(_find_near_versions(list_versions(files), wanted))
    return f"{project} has no release {wanted} on the index: choose another, such as {near}."


def _find_near_versions(versions: Sequence[str], wanted: str) -> Sequence[str]:
    """Return two releases before ``wanted`` and the next one; the two newest if ``wanted`` is no version."""
    try:
        at = bisect.bisect(versions, Version(wanted), key=Version)
    except InvalidVersion:
        at = len(versions)
    return versions[max(0, at - 2) : at + 1]
