"""Handle addresses of package indexes: what may be shown of one, and which login a request gets.

Comes in: URLs from pip's settings, including mistyped ones. Goes out: texts without credentials, and logins. May touch:
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile
from urllib.parse import unquote, urlsplit, urlunsplit

Login = tuple[str, str]
"""A user name and a password."""

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_USUAL_PORTS = {"http": ":80", "https": ":443"}


def redact(url: str) -> str:
    """Return ``url`` fit for a message: without anything up to its last ``@``, except the scheme.

    Parsing cannot find the login: a password may contain ``/``, and the scheme or the host may be missing.
    """
    scheme = _SCHEME.match(url)
    return url if "@" not in url else (scheme[0] if scheme else "") + url.rpartition("@")[2]


def show_host(url: str) -> str:
    """Return the host of ``url`` with its port, fit for a message; empty if there is none."""
    return re.split("[/?#]", _SCHEME.sub("", redact(url), count=1), maxsplit=1)[0]


def is_readable(url: str) -> bool:
    """Whether ``url`` can be parsed at all."""
    try:
        urlsplit(url)
    except ValueError:
        return False
    return True


def is_web_address(url: str) -> bool:
    """Whether ``url`` names a host to ask over HTTP."""
    parts = urlsplit(url)
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def strip_login(url: str) -> str:
    """Return ``url`` without user name and password, to be requested."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def find_login(url: str, indexes: Iterable[str]) -> Login | None:
    """Return the login for a request to ``url``: as in pip, the login of the index that shares host and most folders
    with it.

    An index with an HTTPS address never lends its login to an HTTP request. The reverse is allowed, for a proxy that
    serves an index over HTTP with links to the HTTPS server.
    """
    origins = (
        {_get_origin(url), ("http", _get_origin(url)[1])} if urlsplit(url).scheme == "https" else {_get_origin(url)}
    )
    near = [index for index in indexes if _get_origin(index) in origins and _get_login(index) is not None]
    return _get_login(max(near, key=lambda index: _count_common_folders(index, url))) if near else None


def _get_origin(url: str) -> tuple[str, str]:
    """Return scheme and host of ``url``, in lower case and without the scheme's default port."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2].lower()
    return parts.scheme, host.removesuffix(_USUAL_PORTS.get(parts.scheme, ""))


def _count_common_folders(url: str, other: str) -> int:
    """Count the leading folders that the paths of two URLs share."""
    pairs = zip(urlsplit(url).path.split("/"), urlsplit(other).path.split("/"), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _get_login(url: str) -> Login | None:
    parts = urlsplit(url)
    if parts.username is None:
        return None
    return unquote(parts.username), unquote(parts.password or "")
