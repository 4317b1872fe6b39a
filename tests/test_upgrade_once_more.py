"""A statement that the GPU twin changed everywhere, and that the NPU runner has in one more place."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import AR, GPU_AR, GPU_TWIN, Trees, commit, lay_out, stay_at_home

from runner_sync import sync
from runner_sync.model import Triple
from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_gpu.asking.once_more import ask_about_old_form_elsewhere
from runner_sync.upgrade.job import ModuleJob

WAS = "self.pick(rows, first_row)"
NOW = "self.pick(rows, first_row, device)"
ASKED = "the GPU runner changed this statement everywhere; the NPU runner still has the old form here"

HEAD = "    def _collect(self, rows):\n        first = rows[0]\n"
CHOOSE = f"""\
    def _choose(self, rows, first_row, device):
        self.plan(rows)
        {WAS}
        self.send(rows)

"""
TWIN = GPU_TWIN.replace(HEAD, CHOOSE + HEAD)
DERIVED = TWIN.replace("worker.gpu_model_runner", "platforms.npu.worker.npu_model_runner").replace("GPU", "NPU")
MORE = f"        self.send(rows)\n        if self.close(rows):\n            {WAS}\n"


def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, npu: str, was: str, now: str) -> tuple[str, str]:
    """The NPU module after one upgrade, and the questions. A second one may take the further place for the one that the
    twin changed."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    for twin in (was, now):
        lay_out(trees.omni, {GPU_AR: twin, AR: npu})
        commit(trees.omni)
    options = trees.upgrade(trees.ascend_new, omni_base="HEAD~1", vllm_base="0.20.0", verify=False)
    planned = sync.upgrade(options)
    text = next((change.after or "" for change in planned.changes if change.path == AR), npu)
    return text, "\n".join(item.reason for item in planned.report.reviews)


def test_the_further_place_is_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npu = DERIVED.replace("        self.send(rows)\n", MORE)
    text, asked = port(tmp_path, monkeypatch, npu, TWIN, TWIN.replace(WAS, NOW))
    assert text.count(NOW) == 1
    assert text.count(WAS) == 1
    assert ASKED in asked


@pytest.mark.parametrize(
    ("npu", "now"),
    [
        pytest.param(DERIVED, TWIN.replace(WAS, NOW), id="no further place"),
        pytest.param(
            DERIVED.replace("        self.send(rows)\n", MORE),
            TWIN.replace(f"        {WAS}\n", f"        {NOW}\n        if self.count:\n            {WAS}\n"),
            id="the twin has the old form, too",
        ),
        pytest.param(
            DERIVED.replace(WAS, "self.pick_own(rows)").replace("        self.send(rows)\n", MORE),
            TWIN.replace(WAS, NOW),
            id="nothing was ported",
        ),
        pytest.param(
            DERIVED.replace("        self.send(rows)\n", MORE),
            TWIN.replace(WAS, "self.note(device)"),
            id="another statement came for it",
        ),
    ],
)
def test_what_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, npu: str, now: str) -> None:
    _, asked = port(tmp_path, monkeypatch, npu, TWIN, now)
    assert ASKED not in asked


def test_what_the_port_asks_about_itself_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The further places are the two branches of a condition, and the twin has one statement above it."""
    close = "        if self.close(rows):\n            self.seal(rows)\n        else:\n            self.open(rows)\n"
    twin = TWIN.replace("        self.send(rows)\n", f"        self.send(rows)\n        {WAS}\n{close}")
    branches = close.replace("            ", f"            {WAS}\n            ")
    npu = DERIVED.replace("        self.send(rows)\n", f"        self.send(rows)\n{branches}")
    text, asked = port(tmp_path, monkeypatch, npu, twin, twin.replace(WAS, NOW))
    assert (text.count(NOW), text.count(WAS)) == (3, 0)
    assert asked.count("\n") == 0
    assert asked.startswith("ported from the GPU runner")


OURS = f"    def run(self, rows, first_row, device):\n        {WAS}\n        self.send(rows)\n"
LATER = f"        if self.close(rows):\n            {WAS}\n"


def asked_of(before: str, merged: str, now: str) -> list[tuple[str, str, str]]:
    """Reason, base and omni text of the questions about a port of ``merged``, which was ``before`` once."""
    job = ModuleJob(NPU, NPU.modules[0], "r.py", before)
    draft = Draft("R.run", (Stage(before), Stage(merged, "upstream"), Stage(now, "gpu")))
    sides = Triple(OURS, merged, OURS.replace(WAS, NOW))
    return [(item.reason, item.base, item.omni) for item in ask_about_old_form_elsewhere(draft, job, sides).reviews]


def test_what_upstream_added_is_no_statement_that_the_npu_runner_had() -> None:
    added = OURS + LATER
    ported = added.replace(WAS, NOW, 1)
    assert asked_of(OURS, added, ported) == [
        ("upstream added this statement in a form that the GPU runner has replaced everywhere", "", "")
    ]
    assert asked_of(added, added, ported) == [(ASKED, WAS, WAS)]
    more = added + LATER.replace("close", "last")
    assert asked_of(added, more, more.replace(WAS, NOW, 1)) == [(ASKED, WAS, WAS)], "one of the two is its own"
