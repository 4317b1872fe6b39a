"""A call of upstream's that omni has replaced is asked about when upstream changes what it called."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import ASCEND, ASCEND_OLD, BASE, Trees, check_upgrade, commit, lay_out, stay_at_home

from runner_sync.model import BaseRef, ReviewItem
from runner_sync.profile import NPU
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.job import ModuleJob
from runner_sync.upgrade.questions import replaced_calls

CALL = "logits, hidden = self._forward(total)"
FORWARD = "return self.model(total), self.hidden"
RELEASE = "self.release()\n            return self.model(total), self.hidden"


def reasons(folder: Path, *, own: str, was: str = FORWARD, now: str) -> list[str]:
    """What is asked about `execute_model`, in which omni has ``own`` for a call, if vllm-ascend exchanges ``now``."""
    trees = Trees(folder)
    trees.edit(BASE, f"        {CALL}\n", f"        {own}\n")
    commit(trees.omni)
    old = ASCEND_OLD[ASCEND].replace(FORWARD, RELEASE) if was == RELEASE else ASCEND_OLD[ASCEND]
    assert was in old
    lay_out(trees.ascend_old, {ASCEND: old})
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, {ASCEND: old.replace(was, now)})
    commit(trees.ascend_old)
    result = check_upgrade(trees.upgrade(trees.ascend_old, gpu=False, verify=False, ascend_base="HEAD~1"))
    return [item.reason for item in result.report.reviews if "replaces by its own call here" in item.reason]


@pytest.fixture(autouse=True)
def _at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stay_at_home(monkeypatch, tmp_path)


MODEL = "logits, hidden = self.model(total)"


def test_what_the_replaced_call_would_do_now_is_asked_about(tmp_path: Path) -> None:
    assert reasons(tmp_path, own=MODEL, now=RELEASE) == [
        "vllm-ascend changed _forward, which omni replaces by its own call here: does that call need the change?"
    ]


@pytest.mark.parametrize(
    ("own", "was", "now"),
    [
        pytest.param(CALL, FORWARD, RELEASE, id="omni calls it"),
        pytest.param("logits, hidden = self._forward(total + 1)", FORWARD, RELEASE, id="with other arguments"),
        pytest.param(MODEL, "return self.sampler", "return self.own_sampler", id="another method changed"),
        pytest.param(MODEL, RELEASE, FORWARD, id="nothing is new in it"),
        pytest.param("hidden = None", FORWARD, RELEASE, id="another statement"),
        pytest.param("self.hidden = self.model(total)", FORWARD, RELEASE, id="sets another name"),
    ],
)
def test_nothing_is_asked(tmp_path: Path, own: str, was: str, now: str) -> None:
    assert reasons(tmp_path, own=own, was=was, now=now) == []


OLD = {"run": "def run(self):\n    out = self._forward(1)\n", "_forward": "def _forward(self, n):\n    return n\n"}
NEW = {**OLD, "_forward": "def _forward(self, n):\n    self.release()\n    return n\n"}


@pytest.mark.parametrize(
    ("was", "now", "gained"),
    [
        pytest.param("self.note(n, self.rows)", "self.note(n)", False, id="an argument less"),
        pytest.param("out = self.run(self.make(n, rows=n), 1)", "out = self.run(self.make(n), 1)", False, id="inside"),
        pytest.param("self.note(n)", "self.note(n, self.rows)", True, id="an argument more"),
        pytest.param("self.note(n, self.rows)", "self.note(self.rows, n)", True, id="in another order"),
        pytest.param("self.note(n, 1)", "self.close(n)", True, id="another method"),
        pytest.param("self.note(n, 1)", "out = self.note(n)", True, id="it is kept now"),
        pytest.param("if a and n:\n        self.note(n)", "if n:\n        self.note(n)", True, id="a wider condition"),
        pytest.param("self.note(n, 1)", "self.note(n)\n    self.note(1)", True, id="and another one"),
        pytest.param("a = self.a(n)\n    self.b(a)", "b = self.a(n)\n    self.b(b)", False, id="another name"),
    ],
)
def test_a_call_with_an_argument_less_is_nothing_new(was: str, now: str, gained: bool) -> None:
    old, new = (f"def run(self, n):\n    {body}\n" for body in (was, now))
    assert replaced_calls._has_gained(old, new) is gained


@pytest.mark.parametrize(
    ("followed", "copied", "asked"),
    [
        pytest.param(NEW["_forward"], NEW["_forward"], 0, id="the copy has it"),
        pytest.param(NEW["_forward"], NEW["_forward"].replace("return n", "return n + 1"), 0, id="has it and an edit"),
        pytest.param(NEW["_forward"], OLD["_forward"], 1, id="the copy lacked it"),
        pytest.param(OLD["_forward"], OLD["_forward"], 1, id="its base lacked it"),
    ],
)
def test_what_a_copy_of_the_called_method_has_already_is_not_new(
    monkeypatch: pytest.MonkeyPatch, followed: str, copied: str, asked: int
) -> None:
    """`_dummy_run` may follow an older vllm-ascend than `_model_forward`, of which omni has a copy.

    If the copy is older than its base, this upgrade brings what the base had.
    """
    after = copied.replace(OLD["_forward"], NEW["_forward"])
    assert len(ask(monkeypatch, followed, copied, after)) == asked


PORTED = "    self.trace()\n"


def ask(monkeypatch: pytest.MonkeyPatch, followed: str, copied: str, after: str) -> list[ReviewItem]:
    """The questions if omni's copy of `_forward` follows ``followed`` and goes from ``copied`` to ``after``."""
    texts = {"R.run": OLD["run"], "R._forward": followed}
    monkeypatch.setattr(replaced_calls, "find_base_text", lambda draft, _job: texts[draft.name])
    mine = {"R.run": OLD["run"].replace("_forward", "model"), "R._forward": copied}
    base = BaseRef("vllm-ascend", "1", "a.py", "R.run", "inferred", 1.0)
    now = {**mine, "R._forward": after}
    drafts = [
        Draft(
            name,
            (Stage(text), Stage(now[name], "upstream"), Stage(now[name] + PORTED, "gpu")),
            "copy",
            base=base,
            upstream=NEW[name.partition(".")[2]],
        )
        for name, text in mine.items()
    ]
    job = ModuleJob(NPU, NPU.modules[0], "a.py", "")
    found = replaced_calls.ask_about_replaced_calls(drafts, job, old=OLD, new=NEW)
    return [item for draft in found for item in draft.reviews]


def test_only_what_the_copy_lacked_of_upstreams_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    copied = NEW["_forward"].replace("return n", "return n + 1")
    after = copied.replace("    return", "    self.log(n)\n    return")
    (item,) = ask(monkeypatch, after.replace("n + 1", "n"), copied, after)
    assert (item.base, item.upstream) == (copied, after)


def test_a_parameter_that_the_copy_lacked_is_no_change_of_what_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    after = NEW["_forward"].replace("(self, n)", "(self, n, late=None)")
    assert ask(monkeypatch, after, NEW["_forward"], after) == []
