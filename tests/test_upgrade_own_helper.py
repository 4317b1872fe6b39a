"""The twin took code out into a method that NPU has long had in a helper of its own: one method, with the new name."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import GPU_TWIN, NPU_TWIN, port_of

FIRST = "        first = rows[0]\n"
SEND = """\
        if self.connector is not None:
            for row in rows:
                self.connector.register(row)
            self.connector.send_everything(rows)
"""
BOTH = "\n    def {name}(self, rows):\n" + SEND
IN_LINE = GPU_TWIN.replace(FIRST, SEND + FIRST)
TAKEN_OUT = GPU_TWIN.replace(FIRST, "        self._exchange(rows)\n" + FIRST) + BOTH.format(name="_exchange")
OWN = NPU_TWIN.replace(FIRST, "        self._send(rows)\n" + FIRST) + BOTH.format(name="_send")
RENAMED = "the GPU runner has a method for this, too, now; NPU's _send got its name"
CALLED = "\n    def _finish(self, rows):\n        self._send(rows)\n"


def ported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, npu: str, now: str = TAKEN_OUT) -> tuple[str, str]:
    text, questions = port_of(tmp_path, monkeypatch, npu, IN_LINE, now)
    return "\n".join(line for line in text.split("\n") if "runner-sync: review" not in line), questions


def test_the_helper_gets_the_name_of_the_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, questions = ported(tmp_path, monkeypatch, OWN)
    assert text == OWN.replace("_send(", "_exchange(")
    assert RENAMED in questions


@pytest.mark.parametrize(
    ("npu", "now"),
    [
        pytest.param(OWN + CALLED, TAKEN_OUT, id="NPU calls it elsewhere"),
        pytest.param(OWN, TAKEN_OUT.replace("send_everything", "send_some"), id="the method does something else"),
    ],
)
def test_noop_the_helper_is_needed_or_another_one(
    npu: str, now: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, questions = ported(tmp_path, monkeypatch, npu, now)
    assert "def _send(self, rows):" in text
    assert RENAMED not in questions
