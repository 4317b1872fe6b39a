"""Attributes that a port reads and that only code which did not come sets: what reads them stays out."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import GPU_TWIN, NPU_TWIN, port_of

from runner_sync.statements import code_of

FIRST = "        first = rows[0]\n"
KEPT = "        kept = self.keep(first)\n"
READ = """\
        late = getattr(self, "_late_copies", None)
        if late is not None:
            self._late_copies = None
            late.wait()
"""
PLAIN_READ = "        if self._late_copies is not None:\n            self._late_copies.wait()\n"
GAIN = "        kept = self._fetch(kept, 1)\n"
TALK = """
    def _talk(self, rows):
        self._late_copies = triton.copies(rows)
"""
READS = GPU_TWIN.replace(KEPT, KEPT + GAIN).replace(FIRST, READ + FIRST)


def test_what_nothing_sets_here_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, READS + TALK)
    assert "_late_copies" not in code_of(text)
    assert GAIN in text, questions
    assert "left out: it uses _late_copies, which is set only by code that was not ported, in _talk" in questions
    assert "NPU uses since this upgrade" not in questions


def test_a_plain_read_comes_and_is_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It fails where nothing sets it, and does not pass in silence: `self._async_chunk` of vllm-omni 0.24.0."""
    now = READS.replace(READ, PLAIN_READ) + TALK
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, now)
    assert PLAIN_READ.split("\n")[1] in text
    assert "self._late_copies is read here, but only the GPU class sets it, in _talk" in questions


@pytest.mark.parametrize(
    ("npu", "now"),
    [
        pytest.param(
            NPU_TWIN,
            READS.replace(KEPT, f"{KEPT}        self._late_copies = self._fetch(rows, 1)\n"),
            id="it comes, too",
        ),
        pytest.param(NPU_TWIN, READS + TALK.replace("triton.copies(rows)", "None"), id="the twin only resets it"),
        pytest.param(NPU_TWIN, READS, id="the twin sets it nowhere"),
        pytest.param(
            NPU_TWIN + "\n    def _send(self, rows):\n        self._late_copies = rows\n",
            READS + TALK,
            id="NPU sets it",
        ),
        pytest.param(NPU_TWIN + "\nLATE = '_late_copies'\n", READS + TALK, id="NPU mentions it"),
    ],
)
def test_what_may_be_set_is_read(npu: str, now: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, questions = port_of(tmp_path, monkeypatch, npu, GPU_TWIN, now)
    assert READ.strip() in text, questions
