"""What an upgrade with ``--only`` says of breakage in units that nobody asked for."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sync_samples import BASE, Trees, commit

from runner_sync import sync
from runner_sync.model import Finding, Report
from runner_sync.sync.result_check import split_by_request
from runner_sync.sync.upgrade_options import UpgradeOptions


def upgraded(trees: Trees, *only: str) -> Report:
    commit(trees.omni)
    return sync.upgrade(trees.upgrade(trees.ascend_new, omni_base="HEAD", vllm_base="0.20.0", only=only)).report


def others(report: Report) -> list[str]:
    return [note for note in report.notes if "that --only left unchanged" in note]


def test_what_was_not_asked_for_is_counted_with_the_command_that_shows_it(trees: Trees) -> None:
    """`execute_model` unpacks two of three values."""
    report = upgraded(trees, "NPUARModelRunner._finish")
    assert report.findings == ()
    (note,) = others(report)
    assert note.startswith("1 finding is in units that --only left unchanged")
    assert f"`runner-sync verify --ascend-path {trees.ascend_new} --vllm-path {trees.vllm}` shows" in note


@pytest.mark.parametrize("only", [(), ("OmniNPUModelRunner.execute_model",), ("NPUARModelRunner._*", "execute_model")])
def test_what_is_asked_for_is_listed_and_nothing_else_is_said(trees: Trees, only: tuple[str, ...]) -> None:
    report = upgraded(trees, *only)
    assert [finding.unit for finding in report.findings] == ["OmniNPUModelRunner.execute_model"]
    assert others(report) == []


def test_what_the_run_broke_in_another_unit_stays_a_finding() -> None:
    asked = Finding("RS302", "error", BASE, 3, 3, "Runner.run", "self.step", "asked", "")
    broken, old = (replace(asked, unit="Runner.other", line=line, end_line=line) for line in (7, 9))
    found = [asked, broken, old]
    assert split_by_request(found, UpgradeOptions(only=("run",)), lambda: [broken]) == ([asked, broken], [old])
    assert split_by_request(found, UpgradeOptions(), list) == (found, [])


@pytest.mark.parametrize(
    ("comment", "is_silenced"),
    [
        ("ignore[RS303] the third value is for graphs, which omni does not capture here", True),
        pytest.param("ignore[RS303]", False, id="no reason"),
        pytest.param("ignore[RS302] another rule", False, id="another rule"),
        pytest.param("ignore[RS303:_finish] another symbol", False, id="another symbol"),
    ],
)
def test_a_comment_silences_a_finding_as_in_verify(trees: Trees, comment: str, *, is_silenced: bool) -> None:
    unpacking = "logits, hidden = self._forward(total)"
    trees.edit(BASE, unpacking, f"# runner-sync: {comment}\n        {unpacking}")
    report = upgraded(trees)
    assert [finding.code for finding in report.findings] == ([] if is_silenced else ["RS303"])
    said = [note for note in report.notes if "1 finding is silenced by `# runner-sync: ignore` comments" in note]
    assert bool(said) is is_silenced
