"""What is asked again is looked up, what is asked anew is found anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from runner_sync.sync import memo
from runner_sync.upgrade import base
from runner_sync.upgrade.job import ModuleRevision

NAME = "Runner.run"
FIRST = "    def run(self):\n        self.load()\n        self.step()\n        return self.one()\n"
SECOND = FIRST.replace("one", "two")
MINE = SECOND.replace("        self.step()\n", "        self.own()\n")


def side(ref: str, method: str) -> ModuleRevision:
    return ModuleRevision(ref, f"class Runner:\n{method}", "runner.py")


SIDES = [side("0.1", FIRST), side("0.2", SECOND)]


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RUNNER_SYNC_CACHE", str(tmp_path))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names that had to be looked for."""
    names: list[str] = []
    find = base.closest

    def counted(name: str, text: str, sides: list[ModuleRevision]) -> object:
        names.append(name)
        return find(name, text, sides)

    monkeypatch.setattr(base, "closest", counted)
    return names


@pytest.mark.parametrize("name", [NAME, "Runner.other"], ids=["a copy", "no namesake"])
def test_the_second_answer_is_the_first_one_without_looking(name: str, asked: list[str]) -> None:
    first = memo.closest(name, MINE, SIDES)
    assert first == memo.closest(name, MINE, SIDES)
    assert asked == [name]
    assert (first is None) == (name != NAME)
    if first is not None:
        assert (first.ref, first.text) == ("0.2", SECOND)
        assert "return self.one()" in first.heritage


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        pytest.param(FIRST, SIDES, id="another unit"),
        pytest.param(MINE, SIDES[:1], id="fewer revisions"),
        pytest.param(MINE, [side("0.1", SECOND), SIDES[1]], id="another text under the same ref"),
        pytest.param(MINE, [side("0.0", FIRST), SIDES[1]], id="the same text under another ref"),
    ],
)
def test_what_differs_in_anything_is_looked_for(text: str, sides: list[ModuleRevision], asked: list[str]) -> None:
    memo.closest(NAME, MINE, SIDES)
    assert memo.closest(NAME, text, sides) == base.closest(NAME, text, sides)
    assert len(asked) == 3


def test_an_answer_does_not_outlive_the_program_that_found_it(
    monkeypatch: pytest.MonkeyPatch, asked: list[str]
) -> None:
    memo.closest(NAME, MINE, SIDES)
    monkeypatch.setattr(memo, "_program_digest", lambda: "another version")
    memo.closest(NAME, MINE, SIDES)
    assert asked == [NAME, NAME]
