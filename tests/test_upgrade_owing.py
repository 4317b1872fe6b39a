"""The other half of what an upgrade brings, which the GPU twin had before; and what is no such half."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import AR, GPU_AR, GPU_TWIN, NPU_TWIN, Trees, check_upgrade, commit, lay_out, port_of, stay_at_home

from runner_sync import lock, sync

KEEP = """
    def _keep(self, rows):
        self.pool.extend(rows)
"""
FINISH = """
    def _close(self, rows):
        self.note(rows)
        return rows
"""
CALL = "        self._keep(rows)\n"
READS = FINISH.replace("return rows", "return self.pool.joined(rows)")
FIRST = "        first = rows[0]\n"


def twins(was: str, now: str, *, npu: str = "") -> tuple[str, str, str]:
    """NPU without ``_keep`` and its call, the twin with both and with ``was``, and that with ``now``."""
    gpu = GPU_TWIN.replace(FIRST, FIRST + CALL) + KEEP
    return NPU_TWIN + FINISH + npu, gpu + was, gpu + now


def test_what_fills_a_cache_comes_with_what_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, questions = port_of(tmp_path, monkeypatch, *twins(FINISH, READS))
    assert "return self.pool.joined(rows)" in text
    assert FIRST + CALL in without_rulers(text)
    assert KEEP.strip() in text
    assert "; it works with _keep, which NPU uses since this upgrade" in questions
    assert "; it works with pool, which NPU uses since this upgrade" in questions


def test_an_override_that_npu_has_done_without_comes_with_what_it_keeps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the GPU class for long, it calls what it overrides; without the other half nobody asked for it."""
    hook = "\n    def execute_model(self, out):\n        self.pool.clear()\n        return super().execute_model(out)\n"
    for now, is_ported in ((FINISH.replace("return rows", "return list(rows)"), False), (READS, True)):
        npu, old, new = NPU_TWIN + FINISH, GPU_TWIN + FINISH + hook, GPU_TWIN + now + hook
        text, _ = port_of(tmp_path / str(is_ported), monkeypatch, npu, old, new)
        assert ("self.pool.clear()" in text) == is_ported


def test_what_is_called_for_what_it_does_is_called_everywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npu, old, new = twins(FINISH, FINISH.replace("        self.note", f"{CALL}        self.note"))
    text, _ = port_of(tmp_path, monkeypatch, npu, old, new)
    assert without_rulers(text).count(CALL) == 2


def test_an_override_that_only_does_what_is_new_stays_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NPU may have that in another place; nothing is kept here that only this override would set up or clear."""
    hook = f"\n    def execute_model(self, o):\n        got = super().execute_model(o)\n{CALL}        return got\n"
    npu, *sides = twins(FINISH, FINISH.replace("        self.note", f"{CALL}        self.note"))
    old, new = (text.replace("self.pool.extend(rows)", "self.note(rows)") + hook for text in sides)
    text, _ = port_of(tmp_path, monkeypatch, npu, old, new)
    assert without_rulers(text).count(CALL) == 2
    assert "def execute_model(" not in text


@pytest.mark.parametrize(
    ("was", "now", "npu", "only"),
    [
        pytest.param(FINISH, FINISH.replace("return rows", "return list(rows)"), "", (), id="the change has another"),
        pytest.param(FINISH, READS, "\n    def pool_rows(self):\n        return self.pool.rows()\n", (), id="known"),
        pytest.param(FINISH, READS, "", ("_close",), id="only some were asked for"),
    ],
)
def test_what_belongs_to_nothing_new_stays_owed(
    was: str, now: str, npu: str, only: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, questions = port_of(tmp_path, monkeypatch, *twins(was, now, npu=npu), only=only)
    assert now.strip().split("\n")[-1] in text
    assert CALL not in text
    assert "it works with" not in questions


def test_the_reason_of_a_passage_that_is_no_suite_names_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two changes next to each other, the first of them deeper in the method, are one question."""
    was = FINISH.replace("        self.note(rows)\n", "        for row in rows:\n            self.note(row)\n")
    now = was.replace("self.note(row)\n", "self.note(row)\n            self.pool.take(row)\n")
    npu, old, new = twins(was, now.replace("return rows", "return self.pool.joined(rows)"))
    text, questions = port_of(tmp_path, monkeypatch, npu.replace(FINISH, was), old, new)
    assert "            self.pool.take(row)\n" in text
    assert "; it works with pool, which NPU uses since this upgrade" in questions


def test_readers_of_one_flag_need_not_belong_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``_flag`` is asked for a value: that NPU asks it now, too, is no reason to do what else hangs on it."""
    flag = '\n    def _flag(self):\n        return bool(self.config.get("flag"))\n'
    gpu = GPU_TWIN.replace(FIRST, f"{FIRST}        if self._flag():\n            self.note(first)\n") + flag
    asks = FINISH.replace("return rows", "return rows if self._flag() else list(rows)")
    text, _ = port_of(tmp_path, monkeypatch, NPU_TWIN + FINISH, gpu + FINISH, gpu + asks)
    assert "return rows if self._flag() else list(rows)" in text
    assert "def _flag(self):" in text
    assert "if self._flag():" not in text


def without_rulers(text: str) -> str:
    return "".join(line for line in text.splitlines(keepends=True) if not line.lstrip().startswith("#"))


def test_the_other_half_comes_with_the_next_upgrade_of_all_units(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--only` brought the reader, so NPU mentions what nothing fills, and no run has asked about that yet."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    npu, was, now = twins(FINISH, READS)
    hook = "\n    def execute_model(self, out):\n        self._keep(out)\n        return super().execute_model(out)\n"
    lay_out(trees.omni, {AR: npu, GPU_AR: was + hook})
    trees.write_lock()
    commit(trees.omni)
    lay_out(trees.omni, {GPU_AR: now + hook})
    commit(trees.omni)
    for only, marked in ((("_close",), ["NPUARModelRunner._close"]), ((), [])):
        options = trees.upgrade(trees.ascend_old, verify=False, only=only)
        text = next(change.after for change in check_upgrade(options).changes if change.path == AR) or ""
        assert "return self.pool.joined(rows)" in text
        assert [CALL in text, KEEP.strip() in text, "def execute_model(" in text] == [not only] * 3
        entries = lock.load((trees.omni / "runner-sync.lock").read_text("utf-8")).entries
        assert [entry.qualname for entry in entries if lock.ALONE in entry.extra] == marked
        planned = sync.lock(trees.upgrade(trees.ascend_old))
        assert (lock.ALONE in ((planned.lock and planned.lock.after) or "")) == (
            bool(only) and planned.lock is not None
        )
        commit(trees.omni)
