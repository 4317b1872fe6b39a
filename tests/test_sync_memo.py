"""What is asked again is looked up, what is asked anew is found anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from runner_sync.profile import NPU, Profile
from runner_sync.sync import memo
from runner_sync.upgrade import TRANSLATION, InNpuWords, Translation, base
from runner_sync.upgrade.revision import ModuleRevision

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


GPU = """\
import torch
from vllm.compilation.cuda_graph import CUDAGraphWrapper


class OmniGPUModelRunner:
    def run(self):
        torch.cuda.nvtx.mark("run")
        return CUDAGraphWrapper(self.model)
"""
PATH = "vllm_omni/worker/gpu_model_runner.py"
UNIT = "    def run(self):\n        return CUDAGraphWrapper(self.model)\n"


@pytest.fixture
def translated(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that had to be translated."""
    found: list[str] = []

    def counted(text: str, profile: Profile, *, path: str, with_findings: bool) -> InNpuWords:
        found.append(text)
        return TRANSLATION.module(text, profile, path=path, with_findings=with_findings)

    def counted_unit(text: str, profile: Profile) -> str:
        found.append(text)
        return TRANSLATION.unit(text, profile)

    monkeypatch.setattr("runner_sync.upgrade.TRANSLATION", Translation(counted, counted_unit))
    _forget()
    return found


def _forget() -> None:
    """What a process remembers; the folder stays."""
    memo._translate_module.cache_clear()
    memo._translate_unit.cache_clear()


def test_a_text_is_translated_in_one_run_for_all_later_ones(translated: list[str]) -> None:
    first = memo.TRANSLATION.module(GPU, NPU, path=PATH, with_findings=True), memo.TRANSLATION.unit(UNIT, NPU)
    _forget()
    assert first == (memo.TRANSLATION.module(GPU, NPU, path=PATH, with_findings=True), memo.TRANSLATION.unit(UNIT, NPU))
    assert first == (TRANSLATION.module(GPU, NPU, path=PATH, with_findings=True), TRANSLATION.unit(UNIT, NPU))
    assert "ACLGraphWrapper" in first[0].units["OmniNPUModelRunner.run"]
    assert "ACLGraphWrapper" in first[1]
    assert [finding.symbol for finding in first[0].findings] == ["torch.cuda.nvtx.mark"]
    assert translated == [GPU, UNIT]


def test_what_is_translated_by_other_tables_or_elsewhere_is_translated_anew(translated: list[str]) -> None:
    other = replace(NPU, names=())
    for profile, path in ((NPU, PATH), (other, PATH), (NPU, "vllm_omni/worker/other.py")):
        found = memo.TRANSLATION.module(GPU, profile, path=path, with_findings=True)
        assert found == TRANSLATION.module(GPU, profile, path=path, with_findings=True)
    assert translated == [GPU, GPU, GPU]


@pytest.mark.usefixtures("translated")
def test_findings_are_only_told_where_they_are_wanted() -> None:
    told, untold = (memo.TRANSLATION.module(GPU, NPU, path=PATH, with_findings=wanted) for wanted in (True, False))
    assert told == replace(untold, findings=told.findings)
    assert told.findings
    assert not untold.findings
