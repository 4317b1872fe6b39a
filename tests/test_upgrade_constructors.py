"""A refused constructor of the GPU twin whose plain assignments ported code reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import GPU_TWIN, NPU_TWIN, port_of

HEAD = "    def __init__(self, config):\n        super().__init__(config)\n"
PLAIN = '        self._keeps = getattr(config, "keeps", False)\n'
REFUSED = "        self.stream = triton.streams(config)\n"
READ = GPU_TWIN.replace(
    "        first = rows[0]\n", "        first = rows[0]\n        if self._keeps:\n            self.note(first)\n"
)


def upgrade(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, constructor: str, *, reads: str = READ) -> tuple[str, str]:
    """The NPU module and the questions after the twin newly has ``constructor`` and its method is that of ``reads``."""
    top, method = reads.split("    def _fetch", 1)
    return port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, f"{top}{constructor}\n    def _fetch{method}")


def test_plain_assignments_that_ported_code_reads_come_without_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`self._async_chunk` of vllm-omni 0.24.0 is a plain value; the constructor also sets up connectors."""
    other = "        self._other = config.other\n"
    text, questions = upgrade(tmp_path, monkeypatch, f"{HEAD}{PLAIN}{other}{REFUSED}")
    assert f"{HEAD}{PLAIN}\n" in "\n".join(line for line in text.split("\n") if "runner-sync: review" not in line)
    assert "_other" not in text
    assert "only the assignments that ported code reads; the rest was left out: it uses triton" in questions
    assert "only the GPU class sets it" not in questions


@pytest.mark.parametrize(
    ("constructor", "reads"),
    [
        pytest.param(f"{HEAD}{PLAIN}{REFUSED}", GPU_TWIN, id="nothing reads it"),
        pytest.param(f"{HEAD}{REFUSED}        self._keeps = triton.keeps(config)\n", READ, id="refused"),
        pytest.param(f"{HEAD}{REFUSED}        keeps = config.keeps\n        self._keeps = keeps\n", READ, id="local"),
        pytest.param(f"{HEAD}{REFUSED}{PLAIN}{PLAIN}", READ, id="set twice"),
        pytest.param(f"{HEAD}{REFUSED}        if config:\n    {PLAIN}", READ, id="under a condition"),
        pytest.param(f"{HEAD.replace('super()', 'Base')}{REFUSED}{PLAIN}", READ, id="no super()"),
        pytest.param(f"{HEAD}{REFUSED}        config = config.hf\n{PLAIN}", READ, id="what it reads is rebound"),
        pytest.param(f"{HEAD}{REFUSED}        if not config:\n            return\n{PLAIN}", READ, id="behind a return"),
        pytest.param(
            f"{HEAD}        self.conn = triton.conn()\n        self._keeps = self.conn.keeps\n",
            READ,
            id="what it reads stays out",
        ),
    ],
)
def test_other_assignments_stay_out(
    constructor: str, reads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, _ = upgrade(tmp_path, monkeypatch, constructor, reads=reads)
    assert "__init__" not in text
