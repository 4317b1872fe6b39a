"""Connect to the package index, and explain each possible failure in one sentence.

Comes in: ``IndexSettings``. Goes out: a requests session that times out, retries a bounded number of times and sends
credentials to the index's own host only. May touch: the network; ``RUNNER_SYNC_OFFLINE=1`` forbids it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import requests
from pypi_simple import PYPI_SIMPLE_ENDPOINT
from requests.adapters import HTTPAdapter
from urllib3.connectionpool import ConnectionPool
from urllib3.exceptions import HTTPError
from urllib3.util import Retry

from runner_sync.errors import UnreadableRelease
from runner_sync.model import Project
from runner_sync.sources.addresses import find_login, show_host
from runner_sync.sources.layout import PATH_OPTIONS, Progress
from runner_sync.sources.pip_config import PYPI, IndexSettings


class _TellingRetry(Retry):
    """Retries that are reported to the user: a run would seem to hang if an index accepts connections but never
    answers."""

    def __init__(self, *args: Any, tell: Callable[[ConnectionPool, int], None] | None = None, **options: Any) -> None:
        super().__init__(*args, **options)
        self.tell = tell

    def new(self, **options: Any) -> _TellingRetry:
        """Behave as in urllib3, keeping ``tell`` unless another one is given."""
        return super().new(**({"tell": self.tell} | options))

    def increment(self, *args: Any, **options: Any) -> _TellingRetry:
        """Behave as in urllib3, and report the next try. Raises urllib3's error after the last try."""
        following = super().increment(*args, **options)
        pool = options.get("_pool")  # the name in urllib3's own pools
        if self.tell is not None and pool is not None:
            self.tell(pool, len(following.history) + 1)
        return following


_TRIES = 3
_RETRY = _TellingRetry(
    total=_TRIES - 1,
    backoff_factor=0.3,
    status_forcelist=(429, 500, 502, 503, 504),
    allowed_methods=("GET", "HEAD"),
    respect_retry_after_header=False,
    raise_on_status=False,
)
_CONNECT_SECONDS = 15.0
_USUAL_PORTS = (80, 443)
IDENTITY = {"Accept-Encoding": "identity"}
"""Files are hashed as the index stores them, so the server must not compress them for the transfer."""


class IndexSession(requests.Session):
    """A session that applies pip's settings to every request."""

    def __init__(self, settings: IndexSettings, *, progress: Progress | None = None) -> None:
        super().__init__()
        self.settings = settings
        self.progress = progress
        self.cert = settings.client_cert
        for scheme in ("https://", "http://"):
            self.mount(scheme, HTTPAdapter(max_retries=_RETRY.new(tell=self._tell)))

    def _tell(self, pool: ConnectionPool, number: int) -> None:
        if self.progress is not None:
            host = pool.host if pool.port in (None, *_USUAL_PORTS) else f"{pool.host}:{pool.port}"
            self.progress(f"waiting for the package index at {host} (try {number} of {_TRIES})", 0, None)

    def request(self, method: str | bytes, url: str | bytes, *args: Any, **options: Any) -> requests.Response:
        """Behave as in requests, with pip's timeout unless the caller gives one."""
        if options.get("timeout") is None:
            options["timeout"] = (min(_CONNECT_SECONDS, self.settings.timeout), self.settings.timeout)
        return super().request(method, url, *args, **options)

    def prepare_request(self, request: requests.Request) -> requests.PreparedRequest:
        """Add the credentials of an index URL if the request goes to its host; otherwise ``.netrc`` applies."""
        if request.auth is None:
            request.auth = find_login(str(request.url), self.settings.urls)
        return super().prepare_request(request)

    def merge_environment_settings(self, url: Any, *args: Any, **options: Any) -> Any:
        """Let pip's ``cert``, ``proxy`` and ``trusted-host`` take precedence over general environment variables."""
        merged = super().merge_environment_settings(url, *args, **options)
        host = urlsplit(str(url))
        if self.settings.cert:
            merged["verify"] = self.settings.cert
        if self.settings.trusted_hosts & {host.hostname, host.netloc}:
            merged["verify"] = False
        if self.settings.proxy:
            merged["proxies"] = {"http": self.settings.proxy, "https": self.settings.proxy}
        return merged


def is_offline() -> bool:
    """Whether ``RUNNER_SYNC_OFFLINE`` forbids the network."""
    return os.environ.get("RUNNER_SYNC_OFFLINE", "").lower() not in ("", "0", "false", "no")


def connect(settings: IndexSettings, *, project: Project, what: str, progress: Progress | None = None) -> IndexSession:
    """Return a session for the index. Raises ``InputError`` if the network is disabled or pip has no index.

    ``what`` names the wanted thing in messages; ``progress`` is called for every try but the first.
    """
    option = PATH_OPTIONS[project]
    if is_offline():
        hosts = " and ".join(dict.fromkeys(show_host(url) for url in settings.urls if url != PYPI))
        source = f" for the index at {hosts}," if hosts else ""
        sentence = f"{what} is not in the cache{source} and RUNNER_SYNC_OFFLINE is set: unset it"
        raise UnreadableRelease(sentence, option=option)
    if not settings.urls:
        sentence = f"{what} cannot be looked up because pip is set to no-index: name an index"
        raise UnreadableRelease(sentence, option=option)
    return IndexSession(replace(settings, urls=tuple(_get_address(url) for url in settings.urls)), progress=progress)


def _get_address(url: str) -> str:
    return PYPI_SIMPLE_ENDPOINT if url == PYPI else url


@contextmanager
def translate_network_errors(project: Project, url: str) -> Iterator[None]:
    """Turn every error of requests and urllib3 into an ``InputError`` that names the host and the remedy."""
    try:
        yield
    except (requests.RequestException, HTTPError) as error:
        raise UnreadableRelease(
            f"cannot read {project} from the package index at {show_host(url)} ({_explain(error)}): "
            "configure pip's index (PIP_INDEX_URL or pip.conf)",
            option=PATH_OPTIONS[project],
        ) from error


def _explain(error: Exception) -> str:
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"HTTP status {error.response.status_code}"
    if isinstance(error, requests.exceptions.SSLError):
        return "its certificate is not accepted, see PIP_CERT"
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy does not answer"
    if isinstance(error, requests.exceptions.Timeout) or "timed out" in str(error):
        return "it does not answer in time"
    if isinstance(error, requests.exceptions.ConnectionError):
        return "no connection"
    return "the transfer broke off" if isinstance(error, HTTPError) else type(error).__name__
