"""A method of omni's own that has a block of upstream's, and upstream drops it."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import AR, ASCEND, ASCEND_OLD, Trees, check_upgrade, commit, dedent, lay_out, stay_at_home

from runner_sync.model import ReviewItem

BLOCK = """\
        if self.timer.is_wanted:
            self.wait_for_device()
            result.spent = self.timer.spent()

"""
THEIRS = f"""
    def _report(self, total):
        result = self.model.report(total)
        self.note(result)
{BLOCK}        return result
"""
OWN = f"""\
from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner


class NPUARModelRunner(OmniNPUModelRunner):
    def _report(self, total):
        payload = self.stage.payload(total)
        for row in payload:
            self.stage.send(row)
        output = self.stage.output(payload)
        self.stage.end(output)
{BLOCK.replace("result", "output")}        self.stage.begin(output)
        return output
"""


def reported(
    folder: Path, monkeypatch: pytest.MonkeyPatch, own: str, *, before: str = THEIRS, since: str | None = None
) -> tuple[str, list[ReviewItem]]:
    """The module when vllm-ascend's method was ``before`` and is ``since``, and the questions about it."""
    stay_at_home(monkeypatch, folder)
    trees = Trees(folder)
    lay_out(trees.omni, {AR: own})
    commit(trees.omni)
    for text in (before, THEIRS.replace(BLOCK, "") if since is None else since):
        lay_out(trees.ascend_old, {ASCEND: dedent(ASCEND_OLD[ASCEND]) + text})
        commit(trees.ascend_old)
    result = check_upgrade(trees.upgrade(trees.ascend_old, gpu=False, verify=False, ascend_base="HEAD~1"))
    text = next((change.after or "" for change in result.changes if change.path == AR), own)
    return text, [item for item in result.report.reviews if item.unit == "NPUARModelRunner._report"]


def test_a_block_that_upstream_dropped_goes_with_a_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, (item,) = reported(tmp_path, monkeypatch, OWN)
    assert "timer" not in text
    assert "self.stage.end(output)\n" in text
    assert "omni had the same block, and it was removed here, too" in item.reason
    assert (item.base, item.omni) == (dedent(BLOCK).strip(), dedent(BLOCK.replace("result", "output")).strip())
    assert text.split("\n")[item.line - 1].strip() == "self.stage.begin(output)"


def test_a_question_above_the_block_is_no_comment_of_omnis(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = "        # runner-sync: review R0123abcd self.timer is read here, but nothing sets it\n"
    text, (_item,) = reported(
        tmp_path, monkeypatch, OWN.replace("        if self.timer", f"{asked}        if self.timer")
    )
    assert "timer" not in text


def test_a_block_goes_after_an_upgrade_of_single_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That the module has a copy of the new text says nothing of the method with the block."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    copied = "\n    def _check(self, total):\n" + "".join(f"        self.check_{k}(total)\n" for k in range(9))
    for text in (THEIRS + copied, THEIRS.replace(BLOCK, "") + copied.replace("check_8", "check_9")):
        lay_out(trees.ascend_old, {ASCEND: dedent(ASCEND_OLD[ASCEND]) + text})
        commit(trees.ascend_old)
        if not (trees.omni / ".git").exists():
            lay_out(trees.omni, {AR: f"{OWN}{copied}        self.stage.check(total)\n"})
            commit(trees.omni)
            trees.write_lock()
            commit(trees.omni)
    for only in (("_check",), ()):
        options = trees.upgrade(trees.ascend_old, gpu=False, verify=False, only=only)
        (text,) = (change.after or "" for change in check_upgrade(options).changes if change.path == AR)
        assert "self.check_9(total)" in text
        assert ("self.timer.spent()" in text) == bool(only)
        commit(trees.omni)


def timed(text: str, start: str) -> str:
    """``text`` with a local for the timer that it asks."""
    return text.replace("        if self.timer.is_wanted", "        if timer.is_wanted").replace(
        start, f"{start}        timer = self.timer\n"
    )


THEIRS_TIMED = timed(THEIRS, "total):\n")
OWN_TIMED = timed(OWN, "total):\n")


def test_what_only_the_block_read_goes_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, (item,) = reported(tmp_path, monkeypatch, OWN_TIMED, before=THEIRS_TIMED)
    assert "timer" not in text
    assert item.omni.startswith("timer = self.timer\nif timer.is_wanted:")
    assert text.split("\n")[item.line - 1].strip() == "self.stage.begin(output)"


@pytest.mark.parametrize(
    ("own", "since"),
    [
        pytest.param(OWN_TIMED.replace("begin(output)", "begin(output, timer)"), None, id="omni reads it, too"),
        pytest.param(
            OWN_TIMED, THEIRS_TIMED.replace(BLOCK.replace("if self.timer", "if timer"), ""), id="upstream still sets it"
        ),
    ],
)
def test_what_is_needed_still_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str, since: str | None
) -> None:
    text, _ = reported(tmp_path, monkeypatch, own, before=THEIRS_TIMED, since=since)
    assert "        timer = self.timer\n" in text
    assert "is_wanted" not in text


WITH_MORE = OWN.replace("        return output", "        self.note(payload)\n        return output")


@pytest.mark.parametrize(
    ("own", "before", "since"),
    [
        pytest.param(OWN.replace("self.wait", "self.stage.wait"), THEIRS, None, id="omni changed it"),
        pytest.param(
            OWN.replace("output.spent", "payload.spent = output.spent"), THEIRS, None, id="two locals for one"
        ),
        pytest.param(
            OWN.replace("        if self.t", "        # For the stage.\n        if self.t"), THEIRS, None, id="a remark"
        ),
        pytest.param(OWN, THEIRS, THEIRS, id="upstream has it"),
        pytest.param(OWN, THEIRS, THEIRS.replace("is_wanted", "is_on"), id="upstream changed its condition"),
        pytest.param(OWN, THEIRS.replace(BLOCK, ""), THEIRS.replace(BLOCK, ""), id="upstream never had it"),
        pytest.param(
            OWN,
            THEIRS,
            THEIRS.replace(BLOCK, "") + f"\n    def _time(self, result):\n{BLOCK}",
            id="upstream moved it",
        ),
        pytest.param(
            WITH_MORE, THEIRS, THEIRS.replace("        self.note(result)\n", ""), id="a single statement dropped"
        ),
    ],
)
def test_another_block_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str, before: str, since: str | None
) -> None:
    text, _ = reported(tmp_path, monkeypatch, own, before=before, since=since)
    assert "self.timer.spent()" in text
    assert [line for line in own.split("\n") if "note" in line] == [line for line in text.split("\n") if "note" in line]


def test_a_block_that_omni_kept_through_an_upgrade_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module's copy is of the upstream that had dropped the block already."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    copied = "\n    def _check(self, total):\n" + "".join(f"        self.check_{k}(total)\n" for k in range(9))
    lay_out(trees.omni, {AR: f"{OWN}{copied}        self.stage.check(total)\n"})
    commit(trees.omni)
    later = THEIRS.replace(BLOCK, "") + copied
    for text in (THEIRS, later, later.replace("check_8", "check_9")):
        lay_out(trees.ascend_old, {ASCEND: dedent(ASCEND_OLD[ASCEND]) + text})
        commit(trees.ascend_old)
    result = check_upgrade(trees.upgrade(trees.ascend_old, gpu=False, verify=False))
    (text,) = (change.after or "" for change in result.changes if change.path == AR)
    assert "self.check_9(total)" in text
    assert "self.timer.spent()" in text
