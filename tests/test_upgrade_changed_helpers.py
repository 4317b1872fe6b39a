"""A helper of the GPU twin that changed, and whose code NPU has in place in another form: told at the NPU method."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from sync_samples import GPU_AR, GPU_TWIN, NPU_TWIN, commit, lay_out, port_of

from runner_sync import sync
from runner_sync.sync.options import TreeOptions
from runner_sync.sync.upgrade_options import UpgradeOptions

HERE = "        kept = self.keep(first)\n"
INLINE = HERE + "        ids = self.model.take_ids(rows=rows, kept=kept)\n        self.note(ids)\n"
CALLS = HERE + "        ids = self._call(self.model.take_ids, rows, kept=kept)\n        self.note(ids)\n"
HELPER = """
    def _call(self, take_ids, rows, *, kept):
        if not rows:
            return None
        return take_ids(rows=rows, kept=kept)
"""
NEWER = HELPER.replace("kept=kept)\n", "kept=kept, mask=rows[0])\n")
NPU, GPU = NPU_TWIN.replace(HERE, INLINE), GPU_TWIN.replace(HERE, CALLS)
QUESTION = "not ported: the GPU runner changed _call, whose code this method has in place"
ATTRIBUTE = "        starts = self.starts_of_queries.cpu\n"
STATEMENTS = HELPER.replace("        if not", f"{ATTRIBUTE}        if not").replace(
    "take_ids(rows", "self.pack(starts, rows"
)
NPU_STATEMENTS = NPU.replace("        ids = self.model.take_ids", f"{ATTRIBUTE}        ids = self.pack")


def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, npu: str, was: str, now: str) -> bool:
    """Whether the helper's change is a question; the NPU module stays as it was."""
    text, questions = port_of(tmp_path, monkeypatch, npu, was, now)
    assert text == npu
    return QUESTION in questions


@pytest.mark.parametrize(
    ("npu", "was", "now"),
    [
        pytest.param(NPU, HELPER, NEWER, id="a call of what only the helper calls"),
        pytest.param(NPU_STATEMENTS, STATEMENTS, STATEMENTS.replace(".cpu", ".np"), id="a statement of the helper"),
        pytest.param(NPU, HELPER, HELPER.replace("if not rows", "if len(rows) < 2"), id="another statement changed"),
        pytest.param(NPU, HELPER, HELPER.replace("*, kept", "*, kept=1"), id="a default value"),
        pytest.param(NPU, HELPER, HELPER.replace("take_ids(rows=rows, kept=kept)", "rows"), id="a call that went"),
    ],
)
def test_a_change_of_a_helper_that_npu_has_in_place_is_a_question(
    npu: str, was: str, now: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`_call_prepare_runner_inputs` and `_get_query_start_loc_cpu` of 0.32.0rc1: their changes were silently left."""
    assert ask(tmp_path, monkeypatch, npu, GPU + was, GPU + now)


def test_a_helper_of_a_helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    between = HELPER.replace("take_ids(", "self._inner(take_ids, ")
    inner = "\n    def _inner(self, take_ids, **given):\n        return take_ids(**given)\n"
    was, now = (GPU + between + text for text in (inner, inner.replace("**given)\n", "mask=self.mask, **given)\n")))
    _, questions = port_of(tmp_path, monkeypatch, NPU, was, now)
    assert QUESTION.replace("_call", "_inner") in questions


CALLED = NPU.replace("self.model.take_ids(rows=rows, kept=kept)", "self._call(self.model.take_ids, rows, kept=kept)")


@pytest.mark.parametrize(
    ("npu", "was", "now"),
    [
        pytest.param(NPU_TWIN, HELPER, NEWER, id="NPU has nothing of it"),
        pytest.param(NPU, HELPER, HELPER, id="unchanged"),
        pytest.param(NPU, HELPER, HELPER.replace("    return None", "    return None  # none"), id="a comment"),
        pytest.param(NPU, HELPER, HELPER.replace("rows, *", "rows: list, *"), id="a type hint"),
        pytest.param(
            NPU_STATEMENTS,
            STATEMENTS,
            STATEMENTS.replace("        if not", "        self.note(ids)\n        if not"),
            id="NPU has the new statement",
        ),
        pytest.param(
            NPU.replace("self.model.take_ids(", "self.note("),
            HELPER.replace("take_ids(", "self.note("),
            NEWER.replace("take_ids(", "self.note("),
            id="a call of another method of the runner",
        ),
        pytest.param(
            NPU,
            HELPER + "\n    def other(self, rows):\n        self.model.take_ids(rows)\n",
            NEWER + "\n    def other(self, rows):\n        self.model.take_ids(rows)\n",
            id="another method of the twin calls it, too",
        ),
        pytest.param(
            NPU.replace("self.model.take_ids(", "len("),
            HELPER.replace("take_ids(", "len("),
            NEWER.replace("take_ids(", "len("),
            id="a function of Python",
        ),
    ],
)
def test_no_question(npu: str, was: str, now: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not ask(tmp_path, monkeypatch, npu, GPU + was, GPU + now)


def test_a_helper_that_npu_has_itself_changes_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, questions = port_of(tmp_path, monkeypatch, CALLED + HELPER, GPU + HELPER, GPU + NEWER)
    assert "mask=rows[0]" in text
    assert QUESTION not in questions


def test_a_helper_that_the_twin_does_not_call_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, questions = port_of(tmp_path, monkeypatch, NPU, GPU_TWIN + HELPER, GPU_TWIN + NEWER)
    assert QUESTION not in questions


def test_the_question_stands_at_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = ("self.cache.get(rows, total)", "self.cache.get(rows, total, 1)")
    text, questions = port_of(tmp_path, monkeypatch, NPU, GPU + HELPER, GPU.replace(*other) + NEWER)
    assert QUESTION in questions
    assert re.search(rf"# runner-sync: review \w+ {QUESTION[:40]}.*\n        ids = self.model.take_ids\(", text)


@pytest.mark.parametrize(
    ("then", "asked"),
    [
        pytest.param(NEWER, [], id="no further change"),
        pytest.param(NEWER.replace("rows[0]", "rows[1]"), [QUESTION], id="another change"),
    ],
)
def test_the_next_run_asks_only_about_another_change(
    then: str, asked: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lock keeps the base of the method, because its twin did not change."""
    port_of(tmp_path, monkeypatch, NPU, GPU + HELPER, GPU + NEWER)
    lay_out(tmp_path / "omni", {GPU_AR: GPU + then})
    commit(tmp_path / "omni")
    omni, ascend, vllm = (TreeOptions(path=tmp_path / name) for name in ("omni", "ascend-new", "vllm"))
    again = sync.upgrade(UpgradeOptions(omni=omni, ascend=ascend, vllm=vllm, verify=False)).report.reviews
    assert [item.reason for item in again] == asked
    assert all("mask=rows[0]" in item.base for item in again)
