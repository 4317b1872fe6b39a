"""How far back the base of a copy is looked for among releases."""

from __future__ import annotations

import pytest

from runner_sync import sources
from runner_sync.sync import inputs

RELEASES = [f"0.{minor}.0" for minor in range(5, 31)]


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
    monkeypatch.setattr(sources, "releases", lambda _: RELEASES)
    found = inputs.earlier_releases("vllm-ascend", newest, behind=behind)
    assert (found[0], found[-1]) == (oldest, newest)
