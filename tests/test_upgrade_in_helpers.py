"""Changes of statements that omni has taken into a helper: the question names it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import GPU_TWIN, NPU_TWIN, port_of

from runner_sync.merge import Decision, Kind, Reason
from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions.in_helpers import name_helpers

TEST = "if self.cache is not None and group().is_last_rank(rows):"
WRAPPED = "if (\n            self.cache is not None\n            and group().is_last_rank(rows)\n        ):"
HELPER = f"    def _update_cache(self, rows):\n        {TEST}\n            self.cache.update(rows)\n"
RUN = "    def run(self, rows):\n        self._update_cache(rows)\n        return rows\n"
CHANGED: Kind = "removed statement changed"


def reason(
    helper: str = HELPER, *, kind: Kind = CHANGED, base: str = TEST, omni: str = "", theirs: str = "", run: str = RUN
) -> Reason:
    asked = Decision(3, 3, Reason(kind), 0.6, base, omni, "if self.cache:", omni)
    job = ModuleJob(NPU, NPU.modules[0], "runner.py", f"class Runner:\n{run}\n{helper}")
    (item,) = name_helpers([asked], Draft("Runner.run", (Stage(run),)), job, {"_update_cache": theirs})
    return item.reason


@pytest.mark.parametrize("helper", [HELPER, HELPER.replace(TEST, WRAPPED)], ids=["alike", "in another layout"])
@pytest.mark.parametrize(("kind", "more"), [(CHANGED, ""), ("removed part changed", ", and added to them")])
def test_a_helper_that_has_what_changed_is_named(helper: str, kind: Kind, more: str) -> None:
    """``_maybe_update_prefix_cache`` of vllm-omni 0.28.0rc1."""
    assert reason(helper, kind=kind) == Reason("statement of a helper changed", ("_update_cache",), detail=more)


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(reason(HELPER.replace("is not None", "is None")), id="the helper tests something else"),
        pytest.param(reason(run=RUN.replace("_update", "_drop")), id="the method does not call it"),
        pytest.param(reason(theirs=HELPER), id="the other side's helper has it, too"),
        pytest.param(reason(base="if self.cache:", helper=HELPER.replace(TEST, "if self.cache:")), id="a short text"),
        pytest.param(reason(omni="if self.cache:"), id="omni has something there"),
    ],
)
def test_other_questions_name_no_helper(asked: Reason) -> None:
    assert asked == Reason(CHANGED)


def test_a_question_for_another_reason_keeps_it() -> None:
    assert reason(kind="edited statement removed") == Reason("edited statement removed")


@pytest.mark.parametrize("added", ["", "        self.note_what_is_cached(rows)\n"])
def test_a_port_of_what_npu_has_in_a_helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, added: str) -> None:
    gpu = GPU_TWIN.replace(
        "        return self._fetch", "        {}\n            self.close(rows)\n        return self._fetch"
    )
    test = "if self.talker is not None and self.count(first):"
    mine = NPU_TWIN.replace(
        "        return self._fetch", "        self._close(rows, first)\n        return self._fetch"
    )
    mine += f"\n    def _close(self, rows, first):\n        {test}\n            self.send(rows)\n"
    now = gpu.format(test.replace("):", ") and rows:")).replace(
        "        if self.talker", f"{added}        if self.talker"
    )
    _, asked = port_of(tmp_path, monkeypatch, mine, gpu.format(test), now)
    assert "the GPU runner changed statements that the NPU runner has in _close, which is called here" in asked
