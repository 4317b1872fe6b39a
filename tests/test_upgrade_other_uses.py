"""Where the GPU twin uses what NPU has only now: a question in the unit that does not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sync_samples import AR, GPU_AR, GPU_TWIN, NPU_TWIN, Trees, commit, lay_out, port_of, stay_at_home

from runner_sync import sync
from runner_sync.sync.options import TreeOptions
from runner_sync.sync.upgrade_options import UpgradeOptions

NAMES = """
    def _deferred(self):
        return self.model.deferred
"""
CLOSE = """
    def _close(self, rows):
        self.note(rows)
        return rows
"""
STAGES = "        if self.cache is not None:\n            self.cache.stage(rows, self._deferred())\n"
CLOSE_STAGES = CLOSE.replace("        self.note(rows)\n", "        self.note(rows)\n" + STAGES)
SKIPS = ("kept = self.keep(first)", "kept = self.keep(first, self._deferred())")
QUESTION = "not ported: the GPU runner uses _deferred here, too; this upgrade ported _deferred, but not this use of it"


def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, npu: str, was: str, now: str) -> tuple[str, bool]:
    """The NPU module when the twin's ``_collect`` starts to call ``_deferred``, and whether it is asked about."""
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN + npu, GPU_TWIN + was, GPU_TWIN.replace(*SKIPS) + now)
    return text, QUESTION in questions


def test_another_unit_of_the_twin_has_used_it_for_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    both = CLOSE_STAGES + NAMES
    text, is_asked = asked(tmp_path, monkeypatch, npu=CLOSE, was=both, now=both)
    assert NAMES.strip() in text
    assert SKIPS[1] in text
    assert STAGES not in text
    assert is_asked
    assert re.search(rf"# runner-sync: review \w+ {QUESTION[:40]}.*\n    def _close\(", text)


@pytest.mark.parametrize(
    ("npu", "was", "now"),
    [
        pytest.param(CLOSE, CLOSE + NAMES, CLOSE + NAMES, id="one use alone"),
        pytest.param(CLOSE, CLOSE, CLOSE_STAGES + NAMES, id="both uses are new and come"),
        pytest.param(CLOSE_STAGES + NAMES, CLOSE_STAGES + NAMES, CLOSE_STAGES + NAMES, id="NPU has all"),
        pytest.param(CLOSE + NAMES, CLOSE_STAGES + NAMES, CLOSE_STAGES + NAMES, id="NPU has had it, too"),
        pytest.param("", CLOSE_STAGES + NAMES, CLOSE_STAGES + NAMES, id="NPU has no such unit"),
    ],
)
def test_no_question(npu: str, was: str, now: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, is_asked = asked(tmp_path, monkeypatch, npu=npu, was=was, now=now)
    assert SKIPS[1] in text
    assert not is_asked


OVERRIDE = """
    def _forward(self, total):
        self.note(total)
        return super()._forward(total)
"""
CALLS = CLOSE.replace("return rows", "return self._forward(rows)")


@pytest.mark.parametrize(("npu", "is_asked"), [(CALLS, True), (CLOSE, False), (CALLS + OVERRIDE, False)])
def test_an_override_of_the_twin_that_npu_has_done_without_is_a_question_where_npu_calls_the_method(
    npu: str, is_asked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = GPU_TWIN + npu.removesuffix(OVERRIDE) + OVERRIDE
    _, questions = port_of(tmp_path, monkeypatch, NPU_TWIN + npu, old, old.replace(*SKIPS) + NAMES)
    question = (
        "not ported: _close calls _forward and gets the inherited version, not the GPU class's; the NPU class did "
        "without it"
    )
    assert (question in questions) == is_asked


def test_an_override_that_was_asked_about_is_named_by_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was settled is not asked again, and not forgotten."""
    both = GPU_TWIN + CALLS + OVERRIDE
    port_of(tmp_path, monkeypatch, NPU_TWIN + CALLS, both, both.replace(*SKIPS) + NAMES)
    commit(tmp_path / "omni")
    omni, ascend, vllm = (TreeOptions(path=tmp_path / name) for name in ("omni", "ascend-new", "vllm"))
    again = sync.upgrade(UpgradeOptions(omni=omni, ascend=ascend, vllm=vllm, verify=False))
    assert [item.reason for item in again.report.reviews] == []
    assert any(
        "because NPU did without them" in note and "NPUARModelRunner._forward" in note for note in again.report.notes
    )


@pytest.mark.parametrize(
    ("then", "is_asked"),
    [
        pytest.param(OVERRIDE, False, id="as at the base"),
        pytest.param(OVERRIDE.replace("self.note(total)", "self.count(total)"), True, id="changed since"),
    ],
)
def test_a_port_since_a_named_base_asks_about_what_npu_did_without_only_if_it_changed(
    then: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_asked: bool
) -> None:
    """``check`` reports what NPU lacked before; with the base of one commit it was asked about at every port."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    lay_out(trees.omni, {GPU_AR: GPU_TWIN + CALLS + then, AR: NPU_TWIN + CALLS})
    commit(trees.omni)
    lay_out(trees.omni, {GPU_AR: GPU_TWIN.replace(*SKIPS) + NAMES + CALLS + OVERRIDE})
    commit(trees.omni)
    omni, ascend, vllm = (TreeOptions(path=path) for path in (trees.omni, trees.ascend_new, trees.vllm))
    options = UpgradeOptions(
        omni=omni, ascend=ascend, vllm=vllm, omni_base="HEAD~1", vllm_base="0.20.0", upstream=False, verify=False
    )
    report = sync.upgrade(options).report
    assert any("gets the inherited version" in item.reason for item in report.reviews) == is_asked
    notes = [note for note in report.notes if "because NPU did without them" in note]
    assert any("NPUARModelRunner._forward" in note for note in notes) == (not is_asked)
