"""What `check` would find in the result of an upgrade and not in what was there before, the upgrade finds itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import ASCEND, ASCEND_NEW, ASCEND_OLD, BASE, Trees, commit, dedent, stay_at_home

from runner_sync import sync
from runner_sync.profile import npu
from runner_sync.sync.result_check import find_new_faults
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.upgrade import ModuleResult

HEAD = "class NPUARModelRunner(OmniNPUModelRunner):\n    def execute_model(self, rows):\n"
RESET = "lists = None\nif rows:\n    lists = self.lists(rows)\nlists = None\nreturn self.out(lists)"
COMPUTED = "lists = None\nif rows:\n    lists = self.lists(rows)\nreturn self.out(lists)"
LEAVES = f"if not rows:\n    return self.none()\n{COMPUTED}"


def module(body: str) -> str:
    return HEAD + "".join(f"        {line}\n" for line in body.split("\n"))


@pytest.mark.parametrize(
    ("before", "after", "codes"),
    [
        pytest.param(COMPUTED, RESET, ["RS408"], id="a value is set again"),
        pytest.param(RESET, RESET.replace("rows)", "rows, 1)"), [], id="it was before"),
        pytest.param(LEAVES, LEAVES.replace("return self.out", "self.out"), ["RS412"], id="the last value is gone"),
        pytest.param(COMPUTED, COMPUTED + "\nself.done()", ["RS411"], id="nothing gets there"),
        pytest.param(COMPUTED, COMPUTED.replace("rows:", "rows > 1:"), [], id="nothing of the kind"),
    ],
)
def test_only_what_is_new_is_found(before: str, after: str, codes: list[str]) -> None:
    found = find_new_faults([ModuleResult(BASE, module(before), module(after))], npu.NPU, UpgradeOptions())
    assert [finding.code for finding in found] == codes


@pytest.mark.parametrize(("verify", "codes"), [(True, ["RS411"]), (False, [])])
def test_an_upgrade_finds_what_it_left(
    verify: bool, codes: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Upstream's new text may be at fault as well: what follows its `return` is in the result."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    final = "        return self._finish(logits, total)\n"
    for tree, added in ((ASCEND_OLD, ""), (ASCEND_NEW, "        self.note(total)\n")):
        text = dedent(tree[ASCEND])
        assert text.count(final) == 1
        (trees.ascend_new / ASCEND).write_text(text.replace(final, final + added), encoding="utf-8")
        commit(trees.ascend_new)
    planned = sync.upgrade(trees.upgrade(trees.ascend_new, ascend_base="HEAD~1", verify=verify))
    assert [finding.code for finding in planned.report.findings if finding.code.startswith("RS4")] == codes
