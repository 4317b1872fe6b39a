"""Addresses of package indexes: what messages show of them, and which of several logins a request gets."""

from __future__ import annotations

import pytest

from runner_sync.sources.addresses import find_login, is_readable, is_web_address, redact, show_host

ONE = "https://ci:one@lab.test/projects/1/simple/"
TWO = "https://ci:two@lab.test/projects/2/simple/"


@pytest.mark.parametrize(
    ("url", "text", "host"),
    [
        ("https://me:s3cret@host.test:8443/simple/", "https://host.test:8443/simple/", "host.test:8443"),
        ("me:s3cret@host.test/simple/", "host.test/simple/", "host.test"),
        ("https://me:s3cret@/simple/", "https:///simple/", ""),
        ("https://me:s3/cr@et@host.test/simple/", "https://host.test/simple/", "host.test"),
        ("https://me:s3?cret@host.test/simple/", "https://host.test/simple/", "host.test"),
        ("https://me:s3#cret@host.test/simple/", "https://host.test/simple/", "host.test"),
        ("//me:s3cret@host.test/simple/", "host.test/simple/", "host.test"),
    ],
)
def test_no_part_of_a_login_is_shown_however_it_is_mistyped(url: str, text: str, host: str) -> None:
    assert (redact(url), show_host(url)) == (text, host)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://host.test/a%40b/simple/", "host.test"),
        ("http://[::1]:8080/simple/", "[::1]:8080"),
        ("/srv/packages/", ""),
        ("file:///srv/packages/", ""),
    ],
)
def test_what_has_no_login_is_shown_as_it_is(url: str, host: str) -> None:
    assert (redact(url), show_host(url)) == (url, host)


def test_an_index_is_an_address_with_a_host() -> None:
    assert is_web_address("https://me:s3cret@host.test/simple/")
    assert not any(
        map(is_web_address, ("https://me:s3cret@/simple/", "https:///simple/", "file:///a/", "host/simple/"))
    )
    assert is_readable("http://[::1]/simple/")
    assert not is_readable("http://[bad/simple/")


@pytest.mark.parametrize(
    ("url", "password"),
    [
        ("https://lab.test/projects/1/simple/vllm/", "one"),
        ("https://lab.test/projects/2/simple/vllm/", "two"),
        ("https://lab.test/projects/2/files/vllm.whl", "two"),
        ("https://LAB.test:443/projects/2/files/vllm.whl", "two"),
        ("https://lab.test/files/vllm.whl", "one"),
        ("https://lab.test/projects/22/files/vllm.whl", "one"),
    ],
)
def test_of_two_logins_on_one_host_a_request_gets_that_of_the_nearest_index(url: str, password: str) -> None:
    assert find_login(url, (ONE, TWO)) == ("ci", password)


@pytest.mark.parametrize(
    "url",
    [
        "http://lab.test/projects/1/files/vllm.whl",
        "https://lab.test:8443/projects/1/simple/vllm/",
        "https://lab.test.evil.test/projects/1/simple/vllm/",
        "https://other.test/projects/1/simple/vllm/",
    ],
)
def test_another_scheme_port_or_host_gets_no_login(url: str) -> None:
    assert find_login(url, (ONE, TWO)) is None


def test_an_index_without_a_login_takes_that_of_its_host_whose_letters_may_be_large() -> None:
    indexes = ("https://me:p%40ss@Host.test/private/", "https://host.test/public/")
    assert find_login("https://host.test/public/vllm/", indexes) == ("me", "p@ss")
    assert find_login("https://host.test/public/vllm/", indexes[1:]) is None


def test_a_login_for_http_serves_https_too() -> None:
    index = "http://me:s3cret@host.test/simple/"
    assert find_login("https://host.test/files/vllm.whl", (index,)) == ("me", "s3cret")
    assert find_login("https://host.test:8443/files/vllm.whl", (index,)) is None
