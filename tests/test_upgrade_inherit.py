"""A class of copies that starts to inherit from its GPU twin, and the cases in which it must not."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping
from pathlib import Path

import pytest
from sync_samples import (
    ASCEND,
    ASCEND_NEW,
    BASE,
    GPU_BASE,
    OMNI_TREE,
    VLLM_TREE,
    Trees,
    check_upgrade,
    commit,
    dedent,
    lay_out,
    stay_at_home,
)

from runner_sync.sync import TreeOptions, Upgrade, UpgradeOptions, upgrade

NPU_TEXT = """\
from vllm_ascend.worker.model_runner_v1 import NPUModelRunner


class OmniNPUModelRunner(NPUModelRunner):
    def _stage_of(self, request):
        info = request.additional_information
        return None if info is None else info.get("stage")

    def _forward(self, total):
        self.talker_total = total
        return self.model(total), self.hidden, self.aux
"""

GPU_TEXT = """\
from vllm.v1.worker.gpu_model_runner import GPUModelRunner


class OmniGPUModelRunner(GPUModelRunner):
    def _stage_of(self, request):
        info = request.additional_information
        return None if info is None else info.get("stage")

    def _update_states(self, scheduler_output):
        super()._update_states(scheduler_output)
        self.stages = [self._stage_of(request) for request in scheduler_output.requests]
"""
"""What the twin gains since: an override that the NPU class would have to copy, too."""

DEVICE = """
    def _talker(self, rows):
        with torch.cuda.stream(self.copy_stream):
            return self.talker(rows)
"""

HIDING = """
    def _sample(self, logits):
        return self.model.sample(logits)
"""


OTHERS = """
    def _first(self, rows):
        return self.rows_of(rows, {0})

    def _last(self, rows):
        return self.rows_of(rows, -{0})
"""


def planned(
    folder: Path, gpu: str, *, npu: str = NPU_TEXT, only: tuple[str, ...] = (), files: Mapping[str, str] | None = None
) -> Upgrade:
    omni = lay_out(folder / "omni", {**OMNI_TREE, BASE: npu, GPU_BASE: gpu, **(files or {})})
    return check_upgrade(
        UpgradeOptions(
            omni=TreeOptions(path=omni),
            ascend=TreeOptions(path=lay_out(folder / "ascend", ASCEND_NEW)),
            vllm=TreeOptions(path=lay_out(folder / "vllm", VLLM_TREE)),
            only=only,
            verify=False,
        )
    )


@pytest.fixture(autouse=True)
def at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stay_at_home(monkeypatch, tmp_path)


def base_class(result: Upgrade) -> ast.ClassDef:
    text = next((change.after for change in result.changes if change.path == BASE), None) or dedent(NPU_TEXT)
    return next(node for node in ast.parse(text).body if isinstance(node, ast.ClassDef))


def names(result: Upgrade) -> tuple[list[str], list[str]]:
    """Bases and methods of the class as the upgrade leaves them."""
    node = base_class(result)
    return [ast.unparse(base) for base in node.bases], [n.name for n in node.body if isinstance(n, ast.FunctionDef)]


def test_the_class_inherits_instead_of_copying_once_more(tmp_path: Path) -> None:
    result = planned(tmp_path, GPU_TEXT)
    assert names(result) == (["OmniGPUModelRunner", "NPUModelRunner"], ["_forward"])
    text = next(change.after for change in result.changes if change.path == BASE)
    assert text is not None
    assert "from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner" in text
    assert asked(result) == {
        "OmniNPUModelRunner": "the class inherits from OmniGPUModelRunner now, whose versions of _stage_of are the "
        "same as the copies that went; other members of OmniGPUModelRunner that run from now on: _update_states"
    }


def asked(result: Upgrade) -> dict[str, str]:
    return {item.unit: item.reason for item in result.report.reviews if item.path == BASE}


def test_a_copy_whose_twin_has_changed_since_is_a_question_of_its_own(tmp_path: Path) -> None:
    trees = Trees(tmp_path)
    lay_out(trees.omni, {BASE: NPU_TEXT, GPU_BASE: GPU_TEXT.partition("    def _update_states")[0]})
    commit(trees.omni)
    lay_out(trees.omni, {GPU_BASE: GPU_TEXT.replace('.get("stage")', '["stage"]')})
    commit(trees.omni)
    options = trees.upgrade(trees.ascend_new, omni_base="HEAD~1", vllm_base="0.20.0", verify=False)
    reasons = asked(check_upgrade(options))
    assert reasons["OmniNPUModelRunner._stage_of"] == (
        "removed: the class now inherits OmniGPUModelRunner._stage_of, of which this was a copy before "
        "OmniGPUModelRunner changed it"
    )
    assert "the copies that went" not in reasons["OmniNPUModelRunner"]


REST = "\n    def _rest(self):\n        return self.stages\n"


@pytest.mark.parametrize(
    ("members", "run"),
    [
        pytest.param(REST, "_update_states", id="nothing calls it"),
        pytest.param(
            REST + "\n    def all(self):\n        return self._rest()\n", "_update_states, _rest", id="called"
        ),
    ],
)
def test_the_question_names_only_members_that_something_calls(members: str, run: str, tmp_path: Path) -> None:
    reason = asked(planned(tmp_path, GPU_TEXT + members))["OmniNPUModelRunner"]
    assert reason.endswith(f"that run from now on: {run}")


def test_a_second_upgrade_finds_nothing_to_do(tmp_path: Path) -> None:
    first = planned(tmp_path, GPU_TEXT)
    again = planned(tmp_path, GPU_TEXT, files={change.path: change.after or "" for change in first.changes})
    assert [change.path for change in again.changes] == []


@pytest.mark.parametrize(
    ("gpu", "npu", "why"),
    [
        (GPU_TEXT + DEVICE, NPU_TEXT, "device code that the class has no version of would go live"),
        (GPU_TEXT + HIDING, NPU_TEXT, "the twin would hide vllm-ascend's own method"),
        (GPU_TEXT.partition("    def _update_states")[0], NPU_TEXT, "there is nothing more to copy"),
        (GPU_TEXT, NPU_TEXT.replace('"stage"', '"npu_stage"'), "no method is a copy of the twin's"),
        (GPU_TEXT + OTHERS.format(1), NPU_TEXT + OTHERS.format(2), "most methods are no copies"),
    ],
    ids=["device", "hiding", "nothing-to-copy", "no-copy", "few-copies"],
)
def test_the_class_keeps_its_bases(gpu: str, npu: str, why: str, tmp_path: Path) -> None:
    bases, methods = names(planned(tmp_path, gpu, npu=npu))
    assert bases == ["NPUModelRunner"], why
    assert "_stage_of" in methods


def test_a_device_method_is_no_obstacle_where_the_class_has_its_own(tmp_path: Path) -> None:
    own = "\n    def _talker(self, rows):\n        return self.npu_talker(rows)\n"
    bases, methods = names(planned(tmp_path, GPU_TEXT + DEVICE, npu=NPU_TEXT + own))
    assert bases == ["OmniGPUModelRunner", "NPUModelRunner"]
    assert methods == ["_forward", "_talker"]


@pytest.mark.parametrize(
    ("parameters", "fits"),
    [
        ("self, total", True),
        ("self, total, *, rows=None", True),
        ("self, *args, **kwargs", True),
        ("self, rows", False),
        ("self, total, rows", False),
        ("self, *args", False),
    ],
)
def test_a_copy_goes_only_where_callers_of_the_platform_can_call_the_twin(
    parameters: str, fits: bool, tmp_path: Path
) -> None:
    method = f"\n    def _forward({parameters}):\n        return super()._forward(0)\n"
    npu = NPU_TEXT.partition("\n    def _forward")[0] + method
    assert ("_forward" in names(planned(tmp_path, GPU_TEXT + method, npu=npu))[1]) is not fits


def test_an_upgrade_of_single_units_leaves_the_bases_alone(tmp_path: Path) -> None:
    assert names(planned(tmp_path, GPU_TEXT, only=("_forward",)))[0] == ["NPUModelRunner"]


def test_only_where_the_profile_says_so(tmp_path: Path) -> None:
    lay_out(
        tmp_path / "omni",
        {
            "runner-sync.toml": f"""\
            [[extend-modules]]
            paths = ["{BASE}"]
            name = "OmniNPUModelRunner"
            upstreams = [{{ project = "vllm-ascend", path = "{ASCEND}", name = "NPUModelRunner" }}]
            gpu = {{ project = "vllm-omni", path = "{GPU_BASE}", name = "OmniGPUModelRunner" }}
            """
        },
    )
    assert names(planned(tmp_path, GPU_TEXT))[0] == ["NPUModelRunner"]


def test_a_member_is_added_behind_one_that_goes(tmp_path: Path) -> None:
    """``execute_model`` is a bare copy and goes; ``_update_states`` stands behind it in the GPU class."""
    execute = ASCEND_NEW[ASCEND].partition("        def execute_model")[2].partition("        def synchronize_rows")[0]
    copy = textwrap.dedent("        def execute_model" + execute)
    npu = NPU_TEXT + "\n" + textwrap.indent(copy, "    ")
    gpu = GPU_TEXT.replace(
        "    def _stage_of", "    def execute_model(self, scheduler_output):\n        return 1\n\n    def _other_of"
    )
    bases, methods = names(planned(tmp_path, gpu, npu=npu))
    assert bases == ["NPUModelRunner"]
    assert "execute_model" not in methods
    assert "_update_states" in methods


def test_a_port_leaves_the_bases_alone(tmp_path: Path) -> None:
    """What would be hidden by the new base stands in vllm-ascend, which a port need not have."""
    omni = lay_out(tmp_path / "omni", {**OMNI_TREE, BASE: NPU_TEXT, GPU_BASE: GPU_TEXT})
    vllm = lay_out(tmp_path / "vllm", VLLM_TREE)
    options = UpgradeOptions(omni=TreeOptions(path=omni), vllm=TreeOptions(path=vllm), upstream=False, verify=False)
    assert names(upgrade(options))[0] == ["NPUModelRunner"]
