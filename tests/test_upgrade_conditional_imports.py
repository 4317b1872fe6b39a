"""An import under a version check that an NPU runner has from vllm-ascend, and that vllm-ascend now makes plainly."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest
from sync_samples import AR, ASCEND, ASCEND_OLD, Trees, check_upgrade, commit, lay_out, stay_at_home

ABOVE = "import GPUModelRunner\n"
FINISH = "        return self._finish(logits, total)"
CHECKED = """\
from vllm_ascend.utils import vllm_version_is

if vllm_version_is('0.20.0'):
    from vllm.v1.old import RoutedLists
else:
    from vllm.v1.mid import RoutedLists
"""
PLAIN = "from vllm.v1.outputs import RoutedLists\n"


def test_the_check_goes_with_upstreams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    plain = dedent(ASCEND_OLD[ASCEND])
    using = plain.replace(FINISH, f"        self.lists = RoutedLists()\n{FINISH}")
    old = using.replace(ABOVE, f"{ABOVE}{CHECKED}", 1)
    new = using.replace(ABOVE, f"{ABOVE}{PLAIN}", 1).replace(FINISH, f"        self.note(total)\n{FINISH}")
    lay_out(trees.vllm, {"vllm/v1/outputs.py": "class RoutedLists:\n    pass\n"})
    lay_out(trees.ascend_old, {"vllm_ascend/utils.py": "def vllm_version_is(v):\n    return True\n", ASCEND: old})
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, {ASCEND: new})
    commit(trees.ascend_old)
    npu = old.replace("vllm.v1.worker.gpu_model_runner", "vllm_omni.platforms.npu.worker.npu_model_runner")
    npu = npu.replace("import GPUModelRunner", "import OmniNPUModelRunner")
    npu = npu.replace("class NPUModelRunner(GPUModelRunner)", "class NPUARModelRunner(OmniNPUModelRunner)")
    npu = npu[: npu.index("    def _forward")].replace(
        "        total = sch", "        self.omni()\n        total = sch"
    )
    lay_out(trees.omni, {AR: npu})
    commit(trees.omni)
    result = check_upgrade(trees.upgrade(trees.ascend_old, ascend_base="HEAD~1", verify=False, gpu=False))
    (after,) = [change.after or "" for change in result.changes if change.path == AR]
    assert "self.note(total)" in after
    assert PLAIN in after
    assert "vllm_version_is" not in after
