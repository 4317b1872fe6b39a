"""GPU code that the NPU runners inherit: an upgrade leaves it, and says where it does not fit the target trees."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from sync_samples import AR, ASCEND, ASCEND_NEW, ASCEND_OLD, GPU_AR, GPU_BASE, Trees, commit, lay_out, stay_at_home
from verify_samples import NPU, npu, world

from runner_sync import sync
from runner_sync.model import Report
from runner_sync.profile import NPU as PROFILE
from runner_sync.sync.notes.inherited_code import note_never_set
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.verify import breakage

GPU = "from vllm.runner import GPUModelRunner\nclass OmniGPUModelRunner(GPUModelRunner):\n"
READS = "    def prepare_rows(self):\n        return self.seq_lens.np, self.gone\n"

INHERITED = {
    "a method that the NPU class inherits": (READS, "pass", ["gone", "seq_lens"]),
    "a method that the NPU class hides": (READS, "def prepare_rows(self):\n    return 1", []),
    "and calls": (READS, "def prepare_rows(self):\n    return super().prepare_rows()", ["gone", "seq_lens"]),
    "an attribute that only the NPU class sets": (
        READS,
        "def start(self, rows):\n    self.gone = 1\n    self.seq_lens = rows",
        [],
    ),
    "asked for first": (
        "    def prepare_rows(self):\n        return self.gone if hasattr(self, 'gone') else None\n",
        "pass",
        [],
    ),
    "what the target has": ("    def prepare_rows(self):\n        return self.seq_lens[:1], self.sp\n", "pass", []),
    "a class that no NPU class has in its MRO": (
        "    pass\nclass GPUARModelRunner(OmniGPUModelRunner):\n" + READS,
        "pass",
        [],
    ),
}


@pytest.mark.parametrize("name", INHERITED)
def test_what_runs_on_npu_is_asked_for_its_attributes(name: str) -> None:
    gpu, body, expected = INHERITED[name]
    trees = world(npu=npu(body), gpu=GPU + gpu)
    assert sorted({finding.symbol for finding in breakage.find_inherited(trees, [NPU])[0]}) == expected
    assert breakage.find(trees, None, [NPU]) == []


NPU_PARENT = "from vllm.runner import GPUModelRunner\nclass NPUModelRunner(GPUModelRunner):\n"
SETS = "def capture(self):\n    self.captured = []\n"
USES = "def run(self):\n    return self.captured"
SILENT = {
    "nothing calls the only setter": (SETS, USES, True),
    "its own class calls it": (SETS + "def step(self):\n    self.capture()", USES, False),
    "the NPU class calls it": (SETS, USES + "\ndef warm(self):\n    self.capture()", False),
    "a class body has a default": ("captured = None\n" + SETS, USES, False),
    "another setter runs": (
        SETS + "def step(self):\n    self.captured = {}\ndef more(self):\n    self.step()",
        USES,
        False,
    ),
    "it is asked for first": (SETS, "def run(self):\n    return getattr(self, 'captured', None)", False),
    "another module names it": (SETS, USES, False),
    "a worker calls it": (SETS, USES, False),
    "a drafter of vLLM's calls it": (SETS, USES, False),
    "only vLLM's own worker calls it": (SETS, USES, True),
}
AROUND = {
    "another module names it": "CALLS = ['capture']\n",
    "a worker calls it": "class Worker:\n    def start(self):\n        self.model_runner.capture()\n",
}
CALLS = "class Other:\n    def start(self):\n        self.runner.capture()\n"
IN_VLLM = {
    "a drafter of vLLM's calls it": {"vllm/v1/drafter.py": CALLS},
    "only vLLM's own worker calls it": {"vllm/worker.py": CALLS},
}


@pytest.mark.parametrize("name", SILENT)
def test_what_only_a_method_sets_that_nothing_calls_is_told(name: str) -> None:
    upstream, own, is_told = SILENT[name]
    around = {"vllm_ascend/worker.py": AROUND.get(name, ""), **IN_VLLM.get(name, {})}
    _, idle = breakage.find_inherited(
        world(npu=npu(own), ascend=NPU_PARENT + textwrap.indent(upstream, "    "), **around), [NPU]
    )
    assert [(one.attribute, one.setter, one.unit) for one in idle] == (
        [("captured", "capture", "R.run")] if is_told else []
    )


@pytest.mark.parametrize(
    ("body", "condition"),
    [
        ("return self.captured", ""),
        ("if self.counts:\n        return self.captured", " where `self.counts` holds"),
        ("if rows:\n        if self.counts:\n            return self.captured", " where `self.counts` holds"),
        ("if self.counts:\n        pass\n    return self.captured", ""),
        ("if self.counts:\n        pass\n    else:\n        return self.captured", ""),
    ],
)
def test_a_note_on_what_nothing_sets_says_under_which_condition_it_fails(body: str, condition: str) -> None:
    own = f"def run(self, rows):\n    {body}"
    _, idle = breakage.find_inherited(
        world(npu=npu(own), ascend=NPU_PARENT + textwrap.indent(SETS, "    "), **{"vllm_ascend/worker.py": ""}), [NPU]
    )
    (told,) = note_never_set(idle, PROFILE)
    line = idle[0].where
    assert told.endswith(f"reading it fails in R.run ({line}){condition}.")


def test_one_note_for_a_setter_without_its_own_reads() -> None:
    sets = "def capture(self):\n    self.captured = self.other = 1\n    return self.captured\n"
    own = "def run(self):\n    return self.captured + self.other\n"
    tree = world(npu=npu(own), gpu=GPU + textwrap.indent(sets, "    "), **{"vllm_ascend/worker.py": ""})
    _, idle = breakage.find_inherited(tree, [NPU, "vllm_omni/gpu.py"])
    (told,) = note_never_set(idle, PROFILE)
    assert told.startswith("self.captured, self.other are set only in capture (vllm_omni/gpu.py:")
    assert told.partition("reading them fails in ")[2].startswith("R.run (")


def test_an_upgrade_says_what_nothing_sets_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    trees.edit(GPU_BASE, "    def _forward(", "    def arm(self):\n        self.armed = 1\n\n    def _forward(")
    trees.edit(
        AR, "class NPUARModelRunner(OmniNPUModelRunner):\n", f"class NPUARModelRunner(OmniNPUModelRunner):\n{FIRE}"
    )
    line = (trees.omni / GPU_BASE).read_text("utf-8").split("\n").index("    def arm(self):") + 1
    (told,) = [note for note in sync.upgrade(trees.upgrade(trees.ascend_new)).report.notes if "self.armed" in note]
    assert told.startswith(
        f"self.armed is set only in arm ({GPU_BASE}:{line}), which nothing on NPU calls; reading it fails in NPUARModel"
    )

    others = sync.upgrade(trees.upgrade(trees.ascend_new, only=("_finish",))).report.notes
    assert not [note for note in others if "self.armed" in note], "it has nothing to do with what was asked for"
    asked = sync.upgrade(trees.upgrade(trees.ascend_new, only=("fire",))).report.notes
    assert [note for note in asked if "self.armed" in note]


FIRE = "    def fire(self):\n        return self.armed\n\n"


def test_an_upgrade_says_what_it_does_not_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    options = trees.upgrade(trees.ascend_new)
    assert not [note for note in sync.upgrade(options).report.notes if "inherit GPU code" in note]
    trees.edit(GPU_BASE, "self.talker_total = total", "self.talker_total = total + self.gone + self.gone")
    trees.edit(GPU_AR, "self.model.prefer_model_sampler", "self.never_on_npu")
    report = sync.upgrade(options).report
    (told,) = [note for note in report.notes if "inherit GPU code" in note]
    assert told.endswith(
        f" target trees: {GPU_BASE} OmniGPUModelRunner._forward (gone). Bring the GPU runners to this vLLM first."
    )
    assert "gone" not in {finding.symbol for finding in report.findings}
    lay_out(trees.omni, {"docker/Dockerfile.ci": "ARG VLLM_BASE_TAG=v0.20.0\n"})
    (told,) = [note for note in sync.upgrade(options).report.notes if "inherit GPU code" in note]
    assert told.endswith("OmniGPUModelRunner._forward (gone)."), "the GPU runners are for this vLLM already"
    lay_out(trees.omni, {"docker/Dockerfile.ci": "ARG VLLM_BASE_TAG=v0.19.0\n"})
    (told,) = [note for note in sync.upgrade(options).report.notes if "inherit GPU code" in note]
    assert told.endswith(" Bring the GPU runners to this vLLM first.")


FITTED = f"{NPU_PARENT}    sp = 1\n    def begin(self):\n        self.seq_lens = Rows()\n"
SINCE = {
    "neither side has it": ("self.gone", []),
    "the new one lost it": ("self.sp", [("RS304", "sp")]),
    "it is of another kind": ("self.seq_lens.np", [("RS309", "seq_lens")]),
    "the new one has it still": ("self.seq_lens", []),
    "it is asked for first": ("self.sp if hasattr(self, 'sp') else 0", []),
}


@pytest.mark.parametrize("name", SINCE)
def test_what_inherited_code_found_in_the_older_trees_is_a_finding(name: str) -> None:
    """GPU code that never fitted is not broken by this upgrade."""
    reads, expected = SINCE[name]
    own, gpu = npu("pass"), f"{GPU}    def prepare_rows(self):\n        return {reads}\n"
    new = world(npu=own, gpu=gpu, ascend=LOST)
    old = world(npu=own, gpu=gpu, ascend=FITTED)
    found = breakage.find(new, old, [NPU])
    assert [(one.code, one.symbol) for one in found] == expected
    assert all((one.path, one.unit, one.line) == ("vllm_omni/gpu.py", f"{RUNNER}.prepare_rows", 4) for one in found)
    assert breakage.find(new, None, [NPU], since=old, imports=False) == found
    assert breakage.find(new, new, [NPU]) == breakage.find(new, None, [NPU], imports=False) == []
    assert breakage.find_inherited_since(new, old, [NPU]) == ([], [])


LOST = NPU_PARENT + "    pass\n"
RUNNER = "OmniGPUModelRunner"


def test_what_an_override_hid_before_is_a_finding() -> None:
    """The upgrade that takes it out makes inherited code run that does not fit."""
    gpu = f"{GPU}    def prepare_rows(self):\n        return self.gone\n"
    hidden, bare = (world(npu=npu(body), gpu=gpu, ascend=LOST) for body in ("def prepare_rows(self): 1", "pass"))
    assert [one.symbol for one in breakage.find(bare, None, [NPU], since=hidden)] == ["gone"]
    assert breakage.find(hidden, None, [NPU], since=bare) == []


def test_an_import_of_inherited_code_that_worked_before_is_a_finding() -> None:
    gpu = f"from vllm.rows import Rows\nfrom vllm.gone import Gone\n{GPU}    pass\n"
    new = world(npu=npu("pass"), gpu=gpu, **{"vllm/rows.py": ""})
    old = world(npu=npu("pass"), gpu=gpu, **{"vllm/rows.py": "class Rows:\n    pass\n"})
    found = breakage.find(new, None, [NPU], since=old, imports=False)
    assert [(one.code, one.symbol) for one in found] == [("RS301", "vllm.rows.Rows")]
    assert breakage.find(new, None, [NPU], since=new, imports=False) == []


def test_an_upgrade_finds_what_inherited_code_has_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    trees.edit(GPU_BASE, "self.talker_total = total", "self.talker_total = total + self.lost + self.gone")
    ascend = lay_out(tmp_path / "ascend", {**ASCEND_OLD, ASCEND: ASCEND_OLD[ASCEND] + HOLDS})
    commit(ascend)
    lay_out(ascend, ASCEND_NEW)
    commit(ascend)
    report = sync.upgrade(trees.upgrade(ascend, ascend_base="HEAD~1")).report
    (found,) = [finding for finding in report.findings if finding.path == GPU_BASE]
    assert (found.code, found.symbol, found.line) == ("RS304", "lost", 7)
    (told,) = [note for note in report.notes if "inherit GPU code" in note]
    assert f"{RUNNER}._forward (gone)." in told
    same = sync.upgrade(trees.upgrade(ascend, ascend_base="HEAD")).report
    assert not [finding for finding in same.findings if finding.path == GPU_BASE]
    (told,) = [note for note in same.notes if "inherit GPU code" in note]
    assert f"{RUNNER}._forward (lost, gone)." in told


HOLDS = "\n        def begin(self, rows):\n            self.lost = rows\n"


def test_what_was_set_by_nobody_before_is_not_new() -> None:
    trees = [
        world(npu=npu(USES), ascend=NPU_PARENT + textwrap.indent(f"{SETS}def start(self):\n    {does}\n", "    "))
        for does in ("pass", "self.capture()")
    ]
    assert [one.attribute for one in breakage.find_inherited_since(*trees, [NPU])[1]] == ["captured"]
    assert breakage.find_inherited_since(trees[0], trees[0], [NPU])[1] == []


def test_a_verify_says_what_the_runners_inherit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    trees.edit(GPU_BASE, "self.talker_total = total", "self.talker_total = total + self.gone")
    options = trees.check(ascend=trees.ascend_new)
    report = sync.verify(options)
    (told,) = [note for note in report.notes if "inherit GPU code" in note]
    assert f"{GPU_BASE} OmniGPUModelRunner._forward (gone)." in told
    assert report.summary["noted"] == 1
    assert "gone" not in {finding.symbol for finding in report.findings}
    asked = sync.verify(replace(options, select=("RS302",))).notes
    assert not [note for note in asked if "inherit GPU code" in note], "it has nothing to do with what was asked for"


IMPORTS = "from vllm_ascend.runner import NPUModelRunner, AscendExperts\n"


@pytest.mark.parametrize(
    ("path", "text", "is_told"),
    [
        pytest.param("vllm_omni/platforms/npu/models/experts.py", IMPORTS, True, id="at the top of a model's module"),
        pytest.param(
            "vllm_omni/layers.py",
            "def pack(rows):\n    from vllm_ascend.runner import AscendExperts\n",
            True,
            id="late",
        ),
        pytest.param(
            "vllm_omni/layers.py", f"try:\n    {IMPORTS}except ImportError:\n    pass\n", False, id="and is not missed"
        ),
        pytest.param(
            "vllm_omni/layers.py", "from vllm.runner import Gone\n", False, id="from what all of omni imports"
        ),
        pytest.param("vllm_omni/platforms/npu/models/__init__.py", IMPORTS, True, id="in a package"),
        pytest.param("vllm_omni/layers.py", f"{IMPORTS}(", False, id="in a file that is no Python"),
        pytest.param("vllm/layers.py", IMPORTS, False, id="in a module that is not omni's"),
    ],
)
def test_imports_that_fail_where_no_runner_gets_are_found(path: str, text: str, is_told: bool) -> None:
    known = NPU_PARENT + "    pass\n"
    new = world(npu=npu("pass"), ascend=known, **{path: text})
    old = world(npu=npu("pass"), ascend=f"{known}class AscendExperts:\n    pass\n", **{path: text})
    for before in (None, old):
        found = breakage.find_imports_elsewhere(new, before, [NPU], "vllm-ascend")
        assert [(one.path, one.symbol) for one in found] == [(path, "vllm_ascend.runner.AscendExperts")] * is_told
    assert breakage.find_imports_elsewhere(new, new, [NPU], "vllm-ascend") == []


ONE = "from vllm_ascend.runner import AscendExperts\n"
ON_NPU = f"import torch\nif torch.npu.is_available():\n    {ONE}"

# What else the runners' GPU module holds, and whether it is told only here.
IN_AN_IMPORTED_MODULE = {
    "on one platform": (ON_NPU, True),
    "late": (f"def pack(rows):\n    {ONE}", True),
    "at the start, which is checked with the runner": (ONE, False),
    "and is not missed": (f"try:\n    {ONE}except ImportError:\n    pass\n", False),
    "for type checkers": (f"from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    {ONE}", False),
}


@pytest.mark.parametrize("name", IN_AN_IMPORTED_MODULE)
def test_imports_that_may_fail_in_a_module_that_a_runner_imports_are_found(name: str) -> None:
    text, is_told = IN_AN_IMPORTED_MODULE[name]
    gpu = f"{text}{GPU}    pass\n"
    new = world(npu=npu("pass"), gpu=gpu, ascend=NPU_PARENT + "    pass\n")
    old = world(npu=npu("pass"), gpu=gpu, ascend=NPU_PARENT + "    pass\nclass AscendExperts:\n    pass\n")
    for before in (None, old):
        found = breakage.find_imports_elsewhere(new, before, [NPU], "vllm-ascend")
        assert [one.symbol for one in found] == ["vllm_ascend.runner.AscendExperts"] * is_told
        assert not [one for one in found if "No runner imports" in one.message]
        both = [one.line for one in (*found, *breakage.find(new, before, [NPU])) if one.code == "RS301"]
        assert len(both) == (is_told or name.startswith("at the start"))
    assert breakage.find_imports_elsewhere(new, new, [NPU], "vllm-ascend") == []


@pytest.fixture
def trees_with_experts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    """Trees with a model that imports what only the older vllm-ascend has."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    (trees.omni / "vllm_omni" / "experts.py").write_text("import os\nfrom vllm_ascend import experts\n", "utf-8")
    (trees.ascend_old / "vllm_ascend" / "experts.py").write_text("", "utf-8")
    return trees


def find_experts(report: Report) -> list[tuple[str, str, int, str]]:
    return [(f.code, f.symbol, f.line, f.severity) for f in report.findings if f.path == "vllm_omni/experts.py"]


EXPERTS = ("RS301", "vllm_ascend.experts", 2, "error")


def test_verify_finds_imports_that_fail_elsewhere(trees_with_experts: Trees) -> None:
    trees = trees_with_experts
    report = sync.verify(trees.check(ascend=trees.ascend_new))
    assert find_experts(report) == [EXPERTS]
    (message,) = [f.message for f in report.findings if f.path == "vllm_omni/experts.py"]
    assert message.endswith("No runner imports this module.")
    assert find_experts(sync.verify(trees.check(ascend=trees.ascend_old))) == []
    assert find_experts(sync.check(trees.check(ascend=trees.ascend_new, select=("RS304",)))) == []


def upgrade_to_new(trees: Trees, *, verify: bool = True) -> UpgradeOptions:
    """Options of an upgrade to the last commit of a vllm-ascend checkout, which dropped the experts."""
    folder = trees.ascend_old
    commit(folder)
    (folder / ASCEND).write_text((trees.ascend_new / ASCEND).read_text("utf-8"), "utf-8")
    (folder / "vllm_ascend" / "experts.py").unlink(missing_ok=True)
    commit(folder)
    return trees.upgrade(folder, ascend_base="HEAD~1", vllm_base="0.20.0", verify=verify)


@pytest.mark.parametrize("verify", [True, False])
def test_upgrade_finds_imports_that_begin_to_fail_elsewhere(trees_with_experts: Trees, verify: bool) -> None:
    options = upgrade_to_new(trees_with_experts, verify=verify)
    assert find_experts(sync.upgrade(options).report) == ([EXPERTS] if verify else [])


def test_upgrade_of_one_method_leaves_imports_elsewhere_aside(trees_with_experts: Trees) -> None:
    options = upgrade_to_new(trees_with_experts)
    every = sync.upgrade(options).report
    one = sync.upgrade(replace(options, only=("_finish",))).report
    assert (find_experts(every), find_experts(one)) == ([EXPERTS], [])
    told = "units that --only left unchanged, and not listed (`runner-sync verify"
    assert [told in "\n".join(report.notes) for report in (every, one)] == [False, True]


def test_upgrade_leaves_alone_imports_that_failed_before(trees_with_experts: Trees) -> None:
    (trees_with_experts.ascend_old / "vllm_ascend" / "experts.py").unlink()
    assert find_experts(sync.upgrade(upgrade_to_new(trees_with_experts)).report) == []
