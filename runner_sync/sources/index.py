"""List what the package index offers: the files of a project, its versions, and which file to read.

Comes in: a project and pip's settings. Goes out: ``IndexFile`` values and version lists. May touch: the network.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from urllib.parse import urldefrag

from packaging.version import InvalidVersion, Version

from runner_sync.errors import InputError, UnreadableRelease
from runner_sync.model import Project
from runner_sync.profile.releases import NOT_ITS_TAG
from runner_sync.sources import version
from runner_sync.sources.addresses import is_web_address, redact, show_host, strip_login
from runner_sync.sources.archive import IndexFile, Kind, is_pure
from runner_sync.sources.layout import PATH_OPTIONS
from runner_sync.sources.session import IndexSession, translate_network_errors

# Only the sdist of a compiled project has all sources; vllm-omni is pure Python and often has no sdist.
_PREFERRED: dict[Project, Kind] = {"vllm-omni": "wheel", "vllm-ascend": "sdist", "vllm": "sdist"}


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


def choose_file(files: Sequence[IndexFile], project: Project, *, wanted: str, sha256: str | None) -> IndexFile:
    """Return the best file of version ``wanted``; with ``sha256`` the file with that hash.

    Raises ``InputError`` for an unknown version (naming some near it), for a hash that no file has, and if the index
    states no hash: unchecked files are not used.
    """
    found = [file for file in files if file.version == wanted]
    if not found:
        near = ", ".join(_find_near_versions(list_versions(files), wanted))
        raise InputError(f"{project} has no release {wanted} on the index: choose another, such as {near}.")
    matching = [file for file in found if sha256 in (None, file.sha256)]
    if not matching:
        raise InputError(
            f"no file of {project} {wanted} on the index has the expected SHA-256 {sha256}: the release was replaced "
            "or the expected hash is wrong, correct the pin."
        )
    best = min(matching, key=_rank)
    if not best.sha256:
        sentence = f"the index states no SHA-256 for {best.filename}: use another index"
        raise UnreadableRelease(sentence, option=PATH_OPTIONS[project])
    return best


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
        address, sha256 = urldefrag(package.url).url, package.digests.get("sha256", "")
        files.append(IndexFile(package.filename, project, found, kind, sha256, address, bool(package.is_yanked)))
    return files


def _rank(file: IndexFile) -> tuple[bool, bool, bool, bool, bool, str]:
    """Return the sort key of a file: the file with the lowest key is read."""
    return (
        (file.project, file.version, file.kind) in NOT_ITS_TAG,
        file.kind != _PREFERRED[file.project],
        file.is_yanked,
        not (is_pure(file.filename) or file.filename.endswith(".tar.gz")),
        "x86_64" not in file.filename,
        file.filename,
    )


def _find_near_versions(versions: Sequence[str], wanted: str) -> Sequence[str]:
    """Return two releases before ``wanted`` and the next one; the two newest if ``wanted`` is no version."""
    try:
        at = bisect.bisect(versions, Version(wanted), key=Version)
    except InvalidVersion:
        at = len(versions)
    return versions[max(0, at - 2) : at + 1]
