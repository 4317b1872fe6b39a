"""Upstream ends a call on an object; a copy that lacks another call on the same object may need that one now."""

from __future__ import annotations

import pytest

from runner_sync.model import BaseRef, ReviewItem
from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions import ended_calls

JOB = ModuleJob(NPU, NPU.modules[0], "a.py", "")
BASE_REF = BaseRef("vllm-ascend", "1", "a.py", "R.run", "inferred", 1.0)
BEGIN = "        if self.balances:\n            self.loads.begin()\n"
FETCH = "        self.loads.fetch()\n"
END = "        self.loads.end()\n"


def run(*lines: str) -> str:
    return "    def run(self):\n" + "".join(lines) + "        self.work()\n"


def asked(
    monkeypatch: pytest.MonkeyPatch,
    *,
    base: str = run(BEGIN, FETCH, END),
    omni: str = run(FETCH, END),
    upstream: str = run(BEGIN, END),
    result: str = run(END),
    kind: str = "copy",
    known: str = "",
) -> list[tuple[str, str]]:
    """The reason and the shown text of each question about a copy."""
    monkeypatch.setattr(ended_calls, "find_base_text", lambda _draft, _job: base)
    item = ReviewItem("R1", "R.run", "a.py", 2, 2, "left out", 0.5, "", "", known, "")
    draft = Draft("R.run", (Stage(omni),), kind=kind, base=BASE_REF, upstream=upstream, reviews=(item,))  # type: ignore[arg-type]
    [done] = ended_calls.ask_about_ended_calls([draft.with_stage(result, "upstream")], JOB)
    assert done.reviews[0] == item
    return [(one.reason, one.upstream) for one in done.reviews[1:]]


def test_the_call_that_is_left_out_is_shown_under_its_condition(monkeypatch: pytest.MonkeyPatch) -> None:
    [(reason, shown)] = asked(monkeypatch)
    assert reason.startswith(
        "vllm-ascend no longer calls self.loads.fetch: is its work done by self.loads.begin now, which "
    )
    assert shown == "if self.balances:\n    self.loads.begin()"


def test_a_call_at_two_places_is_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    [(_reason, shown)] = asked(monkeypatch, upstream=run(BEGIN, BEGIN, END))
    assert shown == "if self.balances:\n    self.loads.begin()"


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param({"omni": run(BEGIN, FETCH, END)}, id="omni calls both"),
        pytest.param({"result": run(BEGIN, END)}, id="the other call came back"),
        pytest.param({"upstream": run(BEGIN, FETCH, END)}, id="upstream still calls it"),
        pytest.param({"result": run(FETCH, END)}, id="omni keeps it"),
        pytest.param({"upstream": run(END)}, id="upstream ended both"),
        pytest.param({"base": run(BEGIN, FETCH, END).replace("begin", "start")}, id="the other call is new"),
        pytest.param({"upstream": run(BEGIN, END).replace("loads.begin", "other.begin")}, id="another object's"),
        pytest.param({"kind": "override"}, id="no copy"),
        pytest.param({"known": "    self.loads.begin()"}, id="asked about already"),
    ],
)
def test_what_tells_nothing_is_no_question(monkeypatch: pytest.MonkeyPatch, rest: dict[str, str]) -> None:
    assert asked(monkeypatch, **rest) == []
