"""An override that NPU has for the sake of device names, after its twin has lost these."""

from __future__ import annotations

import pytest
from sync_samples import AR, GPU_AR, GPU_TWIN, NPU_TWIN

from runner_sync.profile import NPU
from runner_sync.upgrade.job import GpuTwin, Hierarchy, Inherited, ModuleJob, ModuleResult
from runner_sync.upgrade.module import upgrade_module
from runner_sync.upgrade.revision import GpuBase, ModuleRevision

MODULE = next(module for module in NPU.modules if module.name == "NPUARModelRunner")
NPU_CLASS, GPU_CLASS = (text[: text.index("    def ")] for text in (NPU_TWIN, GPU_TWIN))
WAS = """\
    def _collect(self, rows):
        first = rows[0]
        kept = self.keep(first)
        if isinstance(self.talker, CUDAGraphWrapper):
            self.note(kept)
        self.send(kept)
        return self.close(kept)
"""
NOW = WAS.replace("CUDAGraphWrapper", "self.platform.get_graph_wrapper_cls()")
MINE = WAS.replace("CUDAGraphWrapper", "ACLGraphWrapper").replace("self.send(kept)", "self.send(kept.cpu())")


def upgraded(mine: str, was: str, now: str, *, classes: tuple[str, ...] = ("GPUARModelRunner",)) -> ModuleResult:
    old, new = (ModuleRevision(ref, GPU_CLASS + text, GPU_AR) for ref, text in (("0.1", was), ("0.2", now)))
    twin = GpuTwin(new=new, bases=(GpuBase(old, lambda: None),))
    inherited = Inherited(members={"_collect": now}, classes=frozenset(classes))
    hierarchy = Hierarchy(inherited={MODULE.name: inherited})
    return upgrade_module(ModuleJob(NPU, MODULE, AR, NPU_CLASS + mine, twin=twin, hierarchy=hierarchy))


def test_an_override_whose_reason_is_gone_is_asked_about_and_stays() -> None:
    """People dropped ``_talker_mtp_forward`` in 0.22.0; only a ``.cpu()`` of NPU's own was left in it."""
    result = upgraded(MINE, WAS, NOW)
    (item,) = [item for item in result.reviews if "may not need this override" in item.reason]
    assert item.reason.endswith("; only here: `self.send(kept.cpu())`; only there: `self.send(kept)`")
    assert item.from_gpu
    assert "self.send(kept.cpu())" in result.after


@pytest.mark.parametrize(
    ("mine", "was", "now", "classes"),
    [
        pytest.param(MINE, WAS, NOW, (), id="the class does not inherit it"),
        pytest.param(
            MINE, WAS, f"{NOW}        self.count(rows)\n".replace("self.platform", "torch.cuda"), None, id="cuda"
        ),
        pytest.param(MINE, WAS, WAS.replace("first)", "first, 1)"), None, id="it still has the name"),
        pytest.param(
            NOW.replace("kept)\n        r", "kept.cpu())\n        r"), NOW, NOW + "        # end\n", None, id="had none"
        ),
        pytest.param("    def _collect(self, rows):\n        return self.own(rows)\n", WAS, NOW, None, id="no port"),
    ],
)
def test_other_overrides_are_not_asked_about(mine: str, was: str, now: str, classes: tuple[str, ...] | None) -> None:
    result = upgraded(mine, was, now, classes=("GPUARModelRunner",) if classes is None else classes)
    assert not [item for item in result.reviews if "may not need this override" in item.reason]


def test_an_override_that_equals_its_twin_is_no_matter_of_differences() -> None:
    mine = MINE.replace("kept.cpu()", "kept")
    assert not [item for item in upgraded(mine, WAS, NOW).reviews if "may not need this override" in item.reason]
