"""What a port must not bring: code that has no NPU form, and what no tree of the target has."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sync_samples import (
    BASE,
    GPU_TWIN,
    NPU_TWIN,
    OMNI_TREE,
    Trees,
    dedent,
    lay_out,
    port_of,
)

from runner_sync.fitting.members import Obstacle
from runner_sync.profile import NPU
from runner_sync.upgrade.from_gpu.merging.refusing import veto_for
from runner_sync.upgrade.job import ModuleJob, Target
from runner_sync.upgrade.missing_imports import find_missing

BOUND = {name: Obstacle("code", "torch.cuda", "not in torch") for name in ("capture", "reset", "pin_rows")}


@pytest.mark.parametrize(
    ("canon", "needed"),
    [
        ("self.capture(rows)", "capture"),
        ("super().reset()", "reset"),
        ("Runner.reset(self)", "reset"),
        ("run = self.capture", "capture"),
        ("run = getattr(self, 'capture', None)", "capture"),
        ("rows = pin_rows(rows)", "pin_rows"),
        ("rows = list(map(pin_rows, rows))", "pin_rows"),
        ("self.step(first, capture=True)", None),
        ("self.log('reset done')", None),
        ("self.timer.reset()", None),
        ("if capture", None),
        ("self.step(first, pin_rows=True)", None),
        ("self.step(self.pin_rows)", None),
        ("self.captured(rows)", None),
    ],
)
def test_what_is_refused_is_a_member_or_a_function_and_no_other_thing_of_its_name(
    canon: str, needed: str | None
) -> None:
    """``pin_rows`` is a function of the module, the others are members of the class."""
    reason = veto_for(BOUND, {}, helpers=["pin_rows"])(canon)
    assert (reason.names if reason else None) == ((needed,) if needed else None)


@pytest.mark.parametrize("is_there", [True, False])
def test_a_wrapper_that_this_vllm_ascend_does_not_have_is_not_ported(
    is_there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrapper = "vllm_ascend/compilation/acl_graph.py"
    lay_out(
        Trees(tmp_path).ascend_new,
        {wrapper: "class ACLGraphWrapper:\n    pass\n" if is_there else "class OldWrapper:\n    pass\n"},
    )
    now = "from vllm.compilation.cuda_graph import CUDAGraphWrapper\n" + GPU_TWIN.replace(
        "self.keep(first)", "self.keep(CUDAGraphWrapper(first))"
    )
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, now)
    assert ("self.keep(ACLGraphWrapper(first))" in text) == is_there
    where = "vllm_ascend.compilation.acl_graph (no counterpart of CUDAGraphWrapper)"
    reason = f"it uses ACLGraphWrapper, which is not in {where}"
    assert (reason in questions) == (not is_there)


@pytest.mark.parametrize("is_there", [True, False])
def test_what_only_the_gpu_wrapper_has_is_not_ported(
    is_there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The statement does not name the wrapper, only a member that vllm-ascend's may not have."""
    members = "class {}:\n    def run(self):\n        pass\n"
    clearing = "\n    def clear_graphs(self):\n        pass\n"
    trees = Trees(tmp_path)
    lay_out(trees.vllm, {"vllm/compilation/cuda_graph.py": members.format("CUDAGraphWrapper") + clearing})
    own = members.format("ACLGraphWrapper") + (clearing if is_there else "")
    lay_out(trees.ascend_new, {"vllm_ascend/compilation/acl_graph.py": own})
    now = GPU_TWIN.replace("kept = self.keep(first)\n", "kept = self.keep(first)\n        self.talker.clear_graphs()\n")
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, now)
    assert ("self.talker.clear_graphs()" in text) == is_there
    assert ("it uses .clear_graphs, which is not in ACLGraphWrapper" in questions) == (not is_there)


def test_a_refused_attribute_is_not_a_longer_one() -> None:
    refuse = veto_for({}, {".late": "not in vllm", "triton.": "by hand"})
    assert refuse("self.late()") is not None
    assert refuse("self.later(self.late_rows)") is None
    assert refuse("self.later(self.late)") is not None
    assert refuse("triton.pin(rows)") is not None


def test_what_is_only_spoken_of_is_not_refused() -> None:
    refuse = veto_for({}, {".late": "not in vllm", "triton.": "by hand"})
    assert refuse("self.note('triton. is gone')") is None
    assert refuse("self.note('like self.late()')") is None
    assert refuse("self.note(f'{rows} without triton.', triton.pin)") is not None


@pytest.mark.parametrize(
    ("own", "refused"),
    [
        ("", {".late", "triton."}),
        ("self.late()", {"triton."}),
        ("self.late", {"triton."}),
        ("triton.pin(self.rows)", {".late"}),
        # A longer attribute, and what is only spoken of, are no sign that the runner has the thing.
        ("self.later()", {".late", "triton."}),
        ("self.run()  # triton. is gone, and so is self.late", {".late", "triton."}),
        ('self.note("triton. is gone, and so is self.late")', {".late", "triton."}),
        ("self.note(f'triton. of {self.late}')", {"triton."}),
    ],
)
def test_what_omnis_module_has_already_is_not_refused(own: str, refused: set[str]) -> None:
    profile = replace(NPU, unported=("triton.",), names=())
    target = Target(missing_members={"late": "vLLM 0.20.0"})
    module = f"class NPUModelRunner:\n    def run(self):\n        {own or 'pass'}\n"
    job = ModuleJob(profile, NPU.modules[0], "npu.py", module, target=target)
    assert set(job.refused) == refused


@pytest.mark.parametrize(
    ("imported", "refused"),
    [
        ((), {"is_pinned", "triton."}),
        (("is_pinned",), {"triton."}),
        # What only reads like the name, and what is no name, stay refused.
        (("is_pinned_now", "triton"), {"is_pinned", "triton."}),
    ],
)
def test_a_name_that_another_runner_of_the_platform_imports_is_not_refused(
    imported: tuple[str, ...], refused: set[str]
) -> None:
    profile = replace(NPU, unported=("is_pinned", "triton."), names=())
    target = Target(imported=frozenset(imported))
    assert set(ModuleJob(profile, NPU.modules[0], "npu.py", "", target=target).refused) == refused


def test_the_import_of_another_runner_lets_a_name_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``is_pin_memory_available`` of vllm-omni 0.32.0rc1: the generation runner calls it, the AR runner's ports may."""
    pinned = "from vllm.utils.platform_utils import is_pin_memory_available\n"
    now = pinned + GPU_TWIN.replace("self.keep(first)", "self.keep(first, is_pin_memory_available())")
    text, questions = port_of(tmp_path / "without", monkeypatch, NPU_TWIN, GPU_TWIN, now)
    assert "is_pin_memory_available" not in text
    assert "it uses is_pin_memory_available, which is code that people port by hand" in questions
    other = {BASE: pinned + dedent(OMNI_TREE[BASE])}
    text, questions = port_of(tmp_path / "with", monkeypatch, NPU_TWIN, GPU_TWIN, now, beside=other)
    assert "self.keep(first, is_pin_memory_available())" in text
    assert "by hand" not in questions


@pytest.mark.parametrize("names", [("late", "early"), ("early", "late")])
def test_of_two_refused_members_the_first_by_name_is_told(names: tuple[str, ...]) -> None:
    """They come from a set, whose order is another one in every process; the id of a question is made of its reason."""
    target = Target(missing_members=dict.fromkeys(names, "vLLM 0.20.0"))
    profile = replace(NPU, unported=(), names=())
    assert [*ModuleJob(profile, NPU.modules[0], "npu.py", "", target=target).refused] == [".early", ".late"]


@pytest.mark.parametrize("is_there", [True, False])
def test_what_no_tree_of_the_target_defines_is_not_ported(
    is_there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The GPU runner calls what vLLM's mixin has in the version that it is made for."""
    trees = Trees(tmp_path)
    if is_there:
        lay_out(trees.vllm, {"vllm/v1/worker/late_mixin.py": "class LateMixin:\n    def late(self):\n        pass\n"})
    now = GPU_TWIN.replace("kept = self.keep(first)\n", "kept = self.keep(first)\n        self.late()\n")
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, now)
    assert ("self.late()" in text) == is_there
    assert ("left out: it uses .late, which is not in vLLM 0.20.0" in questions) == (not is_there)


LATE_IMPORT = "from vllm.capturing import late_copy\n"
CONDITIONAL_IMPORT = f"if vllm_version_is('0.21.0'):\n    {LATE_IMPORT}"


@pytest.mark.parametrize(
    ("vllm", "imported", "npu", "comes"),
    [
        pytest.param({"capturing": "early_copy"}, LATE_IMPORT, "", False, id="its module lacks it"),
        pytest.param({"capturing": "late_copy"}, LATE_IMPORT, "", True, id="its module has it"),
        pytest.param({}, LATE_IMPORT, "", True, id="the tree may be incomplete"),
        pytest.param({"capturing": "early_copy", "copying": "late_copy"}, LATE_IMPORT, "", True, id="another has it"),
        pytest.param({"capturing": "early_copy"}, CONDITIONAL_IMPORT, "", True, id="a conditional import"),
        pytest.param({"capturing": "early_copy"}, LATE_IMPORT, "late_copy = len\n", True, id="NPU has its own"),
    ],
)
def test_what_the_target_has_nowhere_to_import_from_is_not_ported(
    vllm: dict[str, str], imported: str, npu: str, comes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``issue_routing_d2h_copy`` of vLLM 0.20: vllm-ascend was for 0.19.1, whose module has other functions."""
    lay_out(Trees(tmp_path).vllm, {f"vllm/{name}.py": f"def {has}(rows):\n    pass\n" for name, has in vllm.items()})
    now = imported + GPU_TWIN.replace("self.keep(first)", "self.keep(late_copy(first))")
    own = npu + (NPU_TWIN + "\n    def _late(self):\n        return late_copy(self)\n" if npu else NPU_TWIN)
    text, questions = port_of(tmp_path, monkeypatch, own, GPU_TWIN, now)
    assert ("self.keep(late_copy(first))" in text) == comes
    assert ("left out: it uses late_copy, which is not in vllm.capturing" in questions) == (not comes)


TYPED_IMPORT = f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    {LATE_IMPORT}"
TRIED_IMPORT = f"try:\n    {LATE_IMPORT}except ImportError:\n    late_copy = None\n"


@pytest.mark.parametrize(
    ("imported", "use", "missing"),
    [
        (LATE_IMPORT, "keep(late_copy(rows))", True),
        (LATE_IMPORT, "keep(late_copy(rows), 'late_copy =')", True),
        (TRIED_IMPORT, "keep(late_copy(rows))", False),
        (TYPED_IMPORT, "keep(late_copy)", False),
        (LATE_IMPORT, "keep(rows.late_copy)", False),
        (LATE_IMPORT, "keep(rows, late_copy=1)", False),
        (LATE_IMPORT, "late_copy = keep(rows)", False),
        (LATE_IMPORT, "keep(late_copy_of(rows))", False),
    ],
)
def test_only_a_name_that_code_cannot_do_without_is_missing(imported: str, use: str, missing: bool) -> None:
    text = f"{imported}\n\ndef run(rows):\n    {use}\n"
    found = find_missing(text, "gpu.py", lacks=lambda _module, name: name != "", moved_to=lambda *_: "")
    assert ("late_copy" in found) is missing


NVTX = 'torch.cuda.nvtx.range_push("talker")'


@pytest.mark.parametrize(
    ("npu", "gpu", "names"),
    [
        ("", NVTX, ["torch.cuda.nvtx.range_push"]),
        ("", f"{NVTX}\n        {NVTX}", ["torch.cuda.nvtx.range_push"]),
        (NVTX, f"{NVTX}\n        self.note(rows)", []),
        ("", 'self.note("torch.cuda.nvtx.range_push")', []),
        ("", "torch.cuda.synchronize()", []),
        ("", "self.note(rows)  # not torch.cuda.nvtx.range_push", []),
    ],
    ids=["a name without NPU form", "twice", "NPU has it, too", "a string", "a name with NPU form", "a comment"],
)
def test_a_ported_name_without_npu_form_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, npu: str, gpu: str, names: list[str]
) -> None:
    line = "        kept = self.keep(first)\n"

    def with_line(text: str, added: str) -> str:
        return "import torch\n" + text.replace(line, f"{line}        {added}\n" if added else line)

    text, questions = port_of(
        tmp_path, monkeypatch, with_line(NPU_TWIN, npu), with_line(GPU_TWIN, npu), with_line(GPU_TWIN, gpu)
    )
    assert gpu.split("\n")[-1].partition("  #")[0].strip().replace("cuda.sync", "npu.sync") in text
    asked = [line.partition("; ported")[0] for line in questions.split("\n") if line.startswith("RS490")]
    assert asked == [
        f"RS490: {name} was not translated: torch.cuda.nvtx has no NPU twin: translate by hand or leave out"
        for name in names
    ]


def test_a_new_member_with_a_name_without_npu_form_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = f"\n    def _note(self, rows):\n        {NVTX}\n        return rows\n"
    now = "import torch\n" + GPU_TWIN.replace("return self._fetch(rows", "return self._fetch(self._note(rows)") + added
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, now)
    assert NVTX in text
    assert "RS490: torch.cuda.nvtx.range_push was not translated" in questions


@pytest.mark.parametrize("is_there", [True, False])
def test_of_two_rows_for_one_name_the_target_tree_chooses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_there: bool
) -> None:
    """vllm-ascend had an ``InputBatch`` of its own before it had ``NPUInputBatch``."""
    name = "NPUInputBatch" if is_there else "InputBatch"
    lay_out(Trees(tmp_path).ascend_new, {"vllm_ascend/worker/npu_input_batch.py": f"class {name}:\n    pass\n"})
    now = "from vllm.v1.worker.gpu_input_batch import InputBatch\n" + GPU_TWIN.replace(
        "self.keep(first)", "self.keep(InputBatch(first))"
    )
    text, _ = port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, now)
    assert f"from vllm_ascend.worker.npu_input_batch import {name}\n" in text
    assert f"self.keep({name}(first))" in text
