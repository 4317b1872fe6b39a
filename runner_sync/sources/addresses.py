"""Addresses of package indexes: what of one may be shown, and which login a request gets.

Comes in: URLs as pip's settings have them, also mistyped ones. Goes out: texts without credentials, and logins. May
touch: nothing.
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


def shown(url: str) -> str:
    """``url`` fit for a message: without anything up to its last ``@``, save the scheme.

    A password may hold a ``/``, and the scheme or the host may be missing: what is a login cannot be told by parsing.
    """
    scheme = _SCHEME.match(url)
    return url if "@" not in url else (scheme[0] if scheme else "") + url.rpartition("@")[2]


def shown_host(url: str) -> str:
    """The host of ``url``, with its port, fit for a message; empty if it has none."""
    return re.split("[/?#]", _SCHEME.sub("", shown(url), count=1), maxsplit=1)[0]


def is_readable(url: str) -> bool:
    """Whether ``url`` can be taken apart at all."""
    try:
        urlsplit(url)
    except ValueError:
        return False
    return True


def is_web_address(url: str) -> bool:
    """Whether ``url`` names a host to ask over HTTP."""
    parts = urlsplit(url)
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def without_login(url: str) -> str:
    """``url`` without user name and password, fit to be asked for."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))


def login_for(url: str, indexes: Iterable[str]) -> Login | None:
    """The login for a request to ``url``: as in pip, of the index on its host with which it has most folders in common.

    What is meant for HTTPS must not be sent in clear text; the other way round nothing is lost, as where a proxy
    serves an index over HTTP whose links are the server's own.
    """
    origins = {_origin(url), ("http", _origin(url)[1])} if urlsplit(url).scheme == "https" else {_origin(url)}
    near = [index for index in indexes if _origin(index) in origins and _login(index) is not None]
    return _login(max(near, key=lambda index: _common_folders(index, url))) if near else None


def _origin(url: str) -> tuple[str, str]:
    """Scheme and host of ``url``, in lower case and without the port that the scheme implies."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2].lower()
    return parts.scheme, host.removesuffix(_USUAL_PORTS.get(parts.scheme, ""))


def _common_folders(url: str, other: str) -> int:
    """How many folders the paths of two URLs have in common, from the root on."""
    pairs = zip(urlsplit(url).path.split("/"), urlsplit(other).path.split("/"), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _login(url: str) -> Login | None:
    parts = urlsplit(url)
    if parts.username is None:
        return None
    return unquote(parts.username), unquote(parts.password or "")
