"""What omni took out of vLLM's text on the GPU side, and an NPU copy of vllm-ascend's text still has."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from sync_samples import AR, ASCEND, GPU_AR, VLLM

from runner_sync.profile import NPU
from runner_sync.upgrade import Settings
from runner_sync.upgrade.job import GpuTwin, Hierarchy, Inherited, ModuleJob, Upstream
from runner_sync.upgrade.module import upgrade_module
from runner_sync.upgrade.revision import GpuBase, ModuleRevision

MODULE = next(module for module in NPU.modules if module.name == "NPUARModelRunner")
FLUSH = "        self.tables.flush_rows_of_step(rows)\n"
BODY = f"""\
    def _step(self, rows):
        first = self.prepare(rows)
{FLUSH}        kept = self.keep(first, rows)
        self.count_what_was_kept(kept)
        return self.fetch(rows, kept)
"""
WITHOUT = BODY.replace(FLUSH, "")
REWRITTEN = BODY.replace("flush_rows_of_step(rows)", "flush(rows, self.step)")
MOVED = f"{WITHOUT}\n    def _flush(self, rows):\n{FLUSH}"


def asked(
    *,
    vllm: tuple[str, str] = (BODY, BODY),
    gpu: tuple[str, str] = (BODY, WITHOUT),
    npu: str = BODY,
    target: Mapping[str, str] | None = None,
) -> list[str]:
    """The questions about what the GPU runner took out; the result has it where ``npu`` has, or in other words.

    ``target`` are the methods of the vLLM that the runners are to run on.
    """
    inherited = {"NPUARModelRunner": Inherited(vllm=target)} if target is not None else {}
    sides = [ModuleRevision(ref, f"class GPUModelRunner:\n{body}", VLLM) for ref, body in zip("12", vllm, strict=True)]
    old, new = (
        ModuleRevision(ref, f"class GPUARModelRunner:\n{body}", GPU_AR) for ref, body in zip("12", gpu, strict=True)
    )
    ascend = ModuleRevision("1", f"class NPUModelRunner:\n{BODY}", ASCEND)
    job = ModuleJob(
        NPU,
        MODULE,
        AR,
        f"class NPUARModelRunner:\n{npu}",
        Upstream(new=ascend, is_followed=False, bases=(ascend,)),
        GpuTwin(new=new, bases=(GpuBase(old, lambda: sides[0]),), load_vllm=lambda: sides[1]),
        settings=Settings(only=("_step",)),
        hierarchy=Hierarchy(inherited=inherited),
    )
    result = upgrade_module(job)
    assert ("self.tables.flush" in result.after) == (FLUSH in npu)
    return [item.reason for item in result.reviews if "removed statements" in item.reason]


def test_what_the_gpu_runner_took_out_of_vllms_text_is_asked_about_where_a_copy_keeps_it() -> None:
    (reason,) = asked()
    assert reason.startswith("the GPU runner removed statements that vLLM and vllm-ascend have; they stay here")


@pytest.mark.parametrize(
    ("target", "count"),
    [
        pytest.param({"_step": BODY}, 1, id="it is there, too"),
        pytest.param({"_step": WITHOUT}, 0, id="it is not there any more"),
        pytest.param({"_other": BODY}, 0, id="there is no such method any more"),
        pytest.param({}, 1, id="its methods are not at hand"),
    ],
)
def test_the_vllm_to_run_on_counts_as_well(target: Mapping[str, str], count: int) -> None:
    assert len(asked(target=target)) == count


@pytest.mark.parametrize(
    ("vllm", "gpu", "npu"),
    [
        pytest.param((BODY, BODY), (BODY, BODY), BODY, id="it is there"),
        pytest.param((BODY, WITHOUT), (BODY, WITHOUT), BODY, id="vLLM took it out"),
        pytest.param((BODY, BODY), (BODY, MOVED), BODY, id="another method has it"),
        pytest.param((BODY, BODY), (BODY, REWRITTEN), BODY, id="the twin has other words for it"),
        pytest.param((BODY, BODY), (BODY, WITHOUT), WITHOUT, id="NPU has not"),
        pytest.param((BODY, BODY), (WITHOUT, WITHOUT), BODY, id="it never had it"),
    ],
)
def test_what_stays_of_itself_is_not_asked_about(vllm: tuple[str, str], gpu: tuple[str, str], npu: str) -> None:
    assert asked(vllm=vllm, gpu=gpu, npu=npu) == []
