"""An attribute that the GPU twin renamed everywhere, and of which NPU has a use of its own form."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import GPU_TWIN, NPU_TWIN, port_of

from runner_sync.model import Triple
from runner_sync.upgrade.from_gpu.twin.renamed_attributes import rename_in_sides

FETCH = "        return self.cache.get(rows, total)\n"
FIRST = "        first = rows[0]\n"
SETS = "        self.kept_ids = rows\n"
TAKES = '        ids = getattr(self, "kept_ids", None)\n        self.kept_ids = None\n'
OWN = TAKES.replace("None)", "())").replace("        self.kept", "        self.note(ids)\n        self.kept")
GPU = GPU_TWIN.replace(FETCH, SETS + FETCH).replace(FIRST, FIRST + TAKES + "        self.send(ids)\n")
NPU = NPU_TWIN.replace(FETCH, SETS + FETCH).replace(FIRST, FIRST + OWN + "        self.send(ids)\n")
OTHER = "\n    def other(self):\n        return self.{}\n"
NOW = ("kept_ids", "moved_ids")


def test_every_use_of_npus_gets_the_new_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a trial with vllm-omni 0.32.0rc1, it was set under the new name and read under the old one."""
    text, asked = port_of(tmp_path, monkeypatch, NPU, GPU, GPU.replace(*NOW))
    assert [line for line in text.split("\n") if "review" not in line] == NPU.replace(*NOW).split("\n")
    assert asked.count("ported from the GPU runner") == 2


@pytest.mark.parametrize(
    ("was", "now", "npu"),
    [
        pytest.param(GPU, GPU.replace(*NOW) + OTHER.format("kept_ids"), NPU, id="still there"),
        pytest.param(GPU + OTHER.format(NOW[1]), GPU.replace(*NOW) + OTHER.format(NOW[1]), NPU, id="there before"),
        pytest.param(GPU, GPU.replace(*NOW), NPU + OTHER.format(NOW[1]), id="NPU has it"),
        pytest.param(GPU, GPU.replace("self.kept_ids = rows", "self.moved_ids = len(rows)"), NPU, id="another value"),
    ],
)
def test_noop_what_is_no_renamed_attribute(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, was: str, now: str, npu: str
) -> None:
    """NPU's own form keeps the old name."""
    text, _ = port_of(tmp_path, monkeypatch, npu, was, now)
    assert 'getattr(self, "kept_ids", ())' in text


def test_noop_a_text_without_the_name_keeps_its_base() -> None:
    sides = Triple("self.kept_ids = 1\n", "self.other = 1\n", "self.moved_ids = 1\n")
    assert rename_in_sides(sides, {"kept_ids": "moved_ids"}) == sides
