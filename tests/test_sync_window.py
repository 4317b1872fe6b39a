"""How far back the base of a copy is looked for among releases."""

from __future__ import annotations

import pytest

from runner_sync import sources
from runner_sync.sync import inputs

RELEASES = [f"0.{minor}.0" for minor in range(5, 31)]
NEXT_MAJOR = [*RELEASES, "1.0.0", "1.0.1", "1.1.0", "1.2.0rc1"]


@pytest.mark.parametrize(
    ("newest", "behind", "oldest"),
    [
        ("0.28.0", None, "0.20.0"),
        ("0.28.0", "0.25.0rc1", "0.17.0"),
        ("0.28.0", "0.28.0", "0.20.0"),
        # What is newer than the release that it follows may still have been copied from long before that release.
        ("0.28.0", "0.30.0", "0.20.0"),
    ],
)
def test_the_window_ends_behind_the_version_of_what_follows(
    monkeypatch: pytest.MonkeyPatch, newest: str, behind: str | None, oldest: str
) -> None:
    monkeypatch.setattr(sources, "releases", lambda _project, **_options: RELEASES)
    found = inputs.earlier_releases("vllm-ascend", newest, lambda *_: None, behind=behind)
    assert (found[0], found[-1]) == (oldest, newest)


@pytest.mark.parametrize(
    ("newest", "behind", "oldest"),
    [
        # 1.0 is one minor version behind 0.30.
        ("1.0.0", None, "0.23.0"),
        ("1.0.1", None, "0.23.0"),
        ("1.1.0", None, "0.24.0"),
        ("1.2.0rc1", "1.1.0", "0.24.0"),
        ("1.1.0", "0.30.0", "0.22.0"),
        ("1.0.0", "0.31.0", "0.23.0"),
    ],
)
def test_the_window_goes_on_behind_a_new_major_version(
    monkeypatch: pytest.MonkeyPatch, newest: str, behind: str | None, oldest: str
) -> None:
    monkeypatch.setattr(sources, "releases", lambda _project, **_options: NEXT_MAJOR)
    found = inputs.earlier_releases("vllm-ascend", newest, lambda *_: None, behind=behind)
    assert (found[0], found[-1]) == (oldest, newest)


def test_of_gaps_between_minor_versions_none_is_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every second one was left out: eight versions back are four releases."""
    monkeypatch.setattr(sources, "releases", lambda _project, **_options: RELEASES[::2])
    assert inputs.earlier_releases("vllm-omni", "0.21.0", lambda *_: None) == [
        "0.13.0",
        "0.15.0",
        "0.17.0",
        "0.19.0",
        "0.21.0",
    ]
