"""A function of the GPU runner's module that changed, and whose work NPU does in line: told at the NPU statement."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import GPU_AR, GPU_TWIN, NPU_TWIN, commit, lay_out, port_of

from runner_sync import sync
from runner_sync.sync.options import TreeOptions
from runner_sync.sync.upgrade_options import UpgradeOptions

HERE = "        kept = self.keep(first)\n"
INLINE = HERE + '        kept = kept[:total].detach().to("cpu")\n'
CALLS = HERE + "        kept = _to_host(kept[:total])\n"
CLASS = "\n\nclass GPUARModelRunner"
FUNCTION = '\n\ndef _to_host(tensor):\n    tensor = tensor.detach()\n    return tensor.to("cpu")\n'
NEWER = FUNCTION.replace('to("cpu")', 'to("cpu").clone()')
NPU, GPU = NPU_TWIN.replace(HERE, INLINE), GPU_TWIN.replace(HERE, CALLS)
QUESTION = "not ported: the GPU runner changed _to_host, whose code this method has in place"


def with_function(twin: str, function: str) -> str:
    return twin.replace(CLASS, function + CLASS)


def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, npu: str, was: str, now: str) -> bool:
    """Whether the function's change is a question; the NPU module stays as it was."""
    text, questions = port_of(tmp_path, monkeypatch, npu, was, now)
    assert text == npu
    return QUESTION in questions


def test_a_change_of_a_function_that_npu_has_in_line_is_a_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``_to_cpu_contiguous`` of vllm-omni 0.32.0rc1: `upgrade` said "in step"."""
    assert ask(tmp_path, monkeypatch, NPU, with_function(GPU, FUNCTION), with_function(GPU, NEWER))


def test_a_function_that_a_helper_of_the_twin_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = GPU_TWIN.replace(HERE, HERE + "        kept = self._host(kept, total)\n")
    calls += "\n    def _host(self, kept, total):\n        kept = _to_host(kept[:total])\n        return kept\n"
    assert ask(tmp_path, monkeypatch, NPU, with_function(calls, FUNCTION), with_function(calls, NEWER))


@pytest.mark.parametrize(
    ("npu", "was", "now"),
    [
        pytest.param(NPU, FUNCTION, FUNCTION, id="unchanged"),
        pytest.param(NPU, FUNCTION, FUNCTION.replace("(tensor)", "(tensor: Tensor)", 1), id="a type hint"),
        pytest.param(NPU_TWIN, FUNCTION, NEWER, id="NPU has nothing of it"),
        pytest.param(NPU.replace("kept = kept[:total]", "rows = kept[:total]"), FUNCTION, NEWER, id="another target"),
        pytest.param(NPU.replace("kept[:total].det", "first.det"), FUNCTION, NEWER, id="another value"),
        pytest.param(NPU.replace('.detach().to("cpu")', ".numpy()"), FUNCTION, NEWER, id="other work"),
        pytest.param(
            "from vllm_omni.worker.gpu_ar_model_runner import _to_host\n"
            + NPU.replace("kept[:total].d", "kept[:total].d"),
            FUNCTION,
            NEWER,
            id="NPU imports it",
        ),
    ],
)
def test_no_question(npu: str, was: str, now: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not ask(tmp_path, monkeypatch, npu, with_function(GPU, was), with_function(GPU, now))


def test_a_method_that_the_twin_has_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``_deferred_prefix_cache_mm_keys``, omni 0.28.0 to 0.32.0rc1: the run ended with an internal error."""
    was = with_function(GPU, FUNCTION)
    collect = was[was.index("    def _collect") :]
    now = with_function(GPU.replace(collect, "    def _take(self, rows):\n" + CALLS + "        return kept\n"), NEWER)
    assert not ask(tmp_path, monkeypatch, NPU, was, now)


def test_the_next_run_does_not_ask_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lock keeps the base of the method, because its twin did not change."""
    port_of(tmp_path, monkeypatch, NPU, with_function(GPU, FUNCTION), with_function(GPU, NEWER))
    lay_out(tmp_path / "omni", {GPU_AR: with_function(GPU, NEWER) + "\n\nMORE = 1\n"})
    commit(tmp_path / "omni")
    omni, ascend, vllm = (TreeOptions(path=tmp_path / name) for name in ("omni", "ascend-new", "vllm"))
    again = sync.upgrade(UpgradeOptions(omni=omni, ascend=ascend, vllm=vllm, verify=False)).report.reviews
    assert QUESTION not in [item.reason for item in again]
