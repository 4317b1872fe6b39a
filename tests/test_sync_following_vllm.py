"""Runners that follow vLLM itself: omni's GPU runners by the built-in profile, others by a configuration."""

from __future__ import annotations

import subprocess
import textwrap
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from sync_samples import AR, GPU_AR, GPU_BASE, VLLM, VLLM_TREE, Trees, commit, keys, lay_out, stay_at_home

from runner_sync import cli, sync, write
from runner_sync.errors import InputError
from runner_sync.profile import BUILT_IN, GPU, NPU
from runner_sync.sync import origins
from runner_sync.sync.options import CheckOptions, TreeOptions
from runner_sync.sync.platform_words import name_platform
from runner_sync.sync.replaying import Case
from runner_sync.sync.trees import inputs
from runner_sync.sync.trees.runners import find_modules
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.terminal.options import BuiltIn
from runner_sync.upgrade import ModuleRevision

RULER = "# -------------------------------------- Omni-new -------------------------------------------------"
COPY = f"""\
from vllm.v1.worker.gpu_model_runner import GPUModelRunner


class OmniGPUModelRunner(GPUModelRunner):
    def _forward(self, total):
        rows = self.model(total)
        {RULER}
        self.talker_total = total
        {RULER}
        return rows, self.hidden

    def _finish(self, logits, total):
        return super()._finish(logits, total)
"""
OLD = VLLM_TREE[VLLM].replace(
    "        return self.model(total), self.hidden\n",
    "        rows = self.model(total)\n            return rows, self.hidden\n",
)
NEW = (
    OLD.replace("self.model(total)", "self.model(total, self.positions)")
    .replace("config.aux", "config.aux\n            self.positions = config.positions")
    .replace("hidden", "states")
)


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    """Omni with a copy of vLLM's ``_forward`` in its GPU runner, and a vLLM checkout whose last commit changed that."""
    stay_at_home(monkeypatch, tmp_path)
    made = Trees(tmp_path)
    lay_out(made.omni, {GPU_BASE: COPY})
    commit(made.omni)
    lay_out(made.vllm, {VLLM: OLD, "PKG-INFO": "Metadata-Version: 2.1\nName: vllm\nVersion: 0.20.0\n"})
    commit(made.vllm)
    lay_out(made.vllm, {VLLM: NEW, "PKG-INFO": "Metadata-Version: 2.1\nName: vllm\nVersion: 0.21.0\n"})
    commit(made.vllm)
    return made


def options(trees: Trees, **rest: object) -> UpgradeOptions:
    vllm = TreeOptions(path=trees.vllm)
    omni = TreeOptions(path=trees.omni)
    return UpgradeOptions(omni=omni, vllm=vllm, profile="gpu", **rest)  # type: ignore[arg-type]


STEPS = "".join(f"        {step}(total)\n" for step in ("self.first", "self.second", "self.third", "rows = self.model"))


def declaring(trees: Trees, version: str) -> None:
    """A copy of vLLM 0.19.0's method, a vLLM checkout with a line more in 0.20.0 and another one in 0.21.0, and an omni
    tree that says it is for ``version``."""
    old = OLD.replace("            rows = self.model(total)\n", textwrap.indent(STEPS, "    "))
    trees.edit(GPU_BASE, "        rows = self.model(total)\n", STEPS)
    for number, text in (
        ("19", old),
        ("20", with_line(old, "second")),
        ("21", with_line(with_line(old, "second"), "third")),
    ):
        lay_out(trees.vllm, {VLLM: text, "PKG-INFO": f"Metadata-Version: 2.1\nName: vllm\nVersion: 0.{number}.0\n"})
        commit(trees.vllm)
        subprocess.run(["git", "-C", str(trees.vllm), "tag", f"v0.{number}.0"], check=True)
    lay_out(trees.omni, {"docker/Dockerfile.ci": f"ARG VLLM_BASE_TAG=v{version}\n"})
    commit(trees.omni)


def with_line(text: str, after: str) -> str:
    """vLLM's text with a line behind one of the steps."""
    line = f"            self.{after}(total)\n"
    assert text.count(line) == 1
    return text.replace(line, f"{line}            self.after_{after}(total)\n")


@pytest.mark.parametrize(
    ("version", "base", "takes_older"),
    [
        pytest.param("0.20.0", None, False, id="declared"),
        pytest.param("0.20.0", "0.19.0", True, id="an older one is named"),
        pytest.param("0.21.0", None, True, id="it is the one to follow"),
        pytest.param("0.18.0", None, True, id="it cannot be read"),
    ],
)
def test_what_vllm_changed_counts_since_the_one_that_the_tree_is_for(
    trees: Trees, version: str, base: str | None, takes_older: bool
) -> None:
    """What the copy lacks of that one was left out before; what came later is new."""
    declaring(trees, version)
    planned = sync.upgrade(options(trees, vllm_base=base))
    text = next(change.after or "" for change in planned.changes if change.path == GPU_BASE)
    assert "self.after_third(total)" in text
    assert ("self.after_second(total)" in text) == takes_older
    assert any("counts since 0.20.0" in note for note in planned.report.notes) != takes_older


@pytest.mark.parametrize(
    ("version", "base", "is_noted"),
    [
        pytest.param("0.20.0", None, False, id="declared"),
        pytest.param("0.20.0", "0.20.0", False, id="what is declared is named"),
        pytest.param("0.19.0", "0.20.0", True, id="named"),
    ],
)
def test_a_closer_vllm_is_noted_only_beside_a_base_that_an_option_names(
    trees: Trees, version: str, base: str | None, is_noted: bool
) -> None:
    """The copy is of 0.19.0, and long. Without the option, the vLLM that the tree is for is the base all the same."""
    lines = "".join(f"            self.step_{n}(total)\n" for n in range(40))
    old = OLD.replace("            rows =", f"{lines}            rows =")
    trees.edit(GPU_BASE, "        rows =", f"{textwrap.indent(textwrap.dedent(lines), ' ' * 8)}        rows =")
    newer = old.replace("self.step_3(", "self.step_three(")
    for number, text in (("19", old), ("20", newer), ("21", newer.replace("self.step_9(", "self.step_nine("))):
        lay_out(trees.vllm, {VLLM: text, "PKG-INFO": f"Metadata-Version: 2.1\nName: vllm\nVersion: 0.{number}.0\n"})
        commit(trees.vllm)
        subprocess.run(["git", "-C", str(trees.vllm), "tag", f"v0.{number}.0"], check=True)
    lay_out(trees.omni, {"docker/Dockerfile.ci": f"ARG VLLM_BASE_TAG=v{version}\n"})
    commit(trees.omni)
    notes = sync.upgrade(options(trees, vllm_base=base)).report.notes
    assert any("v0.19.0 is closer than 0.20.0, which --vllm-base names" in note for note in notes) == is_noted


def test_a_misspelt_upstream_class_is_refused(trees: Trees) -> None:
    (trees.omni / "x.toml").write_text(
        f'profile = "gpu"\nmodules = [{{ name = "OmniGPUModelRunner", paths = ["{GPU_BASE}"], upstreams = '
        f'[{{ project = "vllm", path = "{VLLM}", name = "GPUModelRuner" }}] }}]\n'
    )
    for run in (sync.upgrade, sync.lock):
        with pytest.raises(InputError, match=r"vLLM .*model_runner\.py has no class GPUModelRuner; did you mean GPUMo"):
            run(options(trees, config=trees.omni / "x.toml"))


@pytest.mark.parametrize(
    ("name", "in_tree", "refused"),
    [
        pytest.param("GPUModelRuner", "GPUModelRunner", True, id="misspelt"),
        pytest.param("GPUModelRunner", "GPUModelRunner", False, id="right"),
        pytest.param("GPUModelRunner", "GPURunner", False, id="dropped, and omni uses it"),
    ],
)
def test_verify_refuses_a_misspelt_upstream_class(trees: Trees, name: str, in_tree: str, refused: bool) -> None:
    (trees.omni / "x.toml").write_text(
        f'profile = "gpu"\nmodules = [{{ name = "OmniGPUModelRunner", paths = ["{GPU_BASE}"], upstreams = '
        f'[{{ project = "vllm", path = "vllm/v1/other.py", name = "{name}" }}] }}]\n'
    )
    text = NEW.replace("class GPUModelRunner", f"class {in_tree}")
    lay_out(trees.vllm, {VLLM: text, "vllm/v1/other.py": text})
    commit(trees.vllm)
    given = options(trees, config=trees.omni / "x.toml")
    checked = CheckOptions(omni=given.omni, vllm=given.vllm, config=given.config)
    with pytest.raises(InputError, match="no class GPUModelRuner; did you mean GPUMo") if refused else nullcontext():
        assert sync.verify(checked).command == "verify"


@pytest.mark.parametrize("base", [None, "HEAD~1"])
def test_verify_takes_a_class_that_the_older_upstream_has(trees: Trees, base: str | None) -> None:
    (trees.omni / "x.toml").write_text(
        f'profile = "gpu"\nmodules = [{{ name = "OmniGPUModelRunner", paths = ["{GPU_BASE}"], upstreams = '
        f'[{{ project = "vllm", path = "vllm/v1/other.py", name = "Other" }}] }}]\n'
    )
    for name in ("Other", "Another"):
        lay_out(trees.vllm, {"vllm/v1/other.py": f"class {name}: pass\n"})
        commit(trees.vllm)
    checked = CheckOptions(
        omni=TreeOptions(path=trees.omni),
        vllm=TreeOptions(path=trees.vllm),
        vllm_base=base,
        config=trees.omni / "x.toml",
    )
    with nullcontext() if base else pytest.raises(InputError, match="no class Other; did you mean Another"):
        assert sync.verify(checked).command == "verify"


def test_a_class_that_only_the_target_lacks_is_a_note(trees: Trees) -> None:
    lay_out(trees.vllm, {VLLM: "class GPURunner:\n    def load(self):\n        return 1\n"})
    commit(trees.vllm)
    planned = sync.upgrade(options(trees))
    assert planned.changes == ()
    (note,) = (note for note in planned.report.notes if "has no class" in note)
    assert "GPUModelRunner any more (its new name may be GPURunner): the modules that follow it stay as they" in note
    assert not planned.report.reviews
    assert any(one.code == "RS301" and "GPUModelRunner" in one.message for one in planned.report.findings)


@pytest.mark.parametrize(("declared", "named"), [("0.20.0", "0.20.0"), (None, "0.19.0"), ("0.18.0", "0.19.0")])
def test_a_line_of_several_bases_is_of_the_one_that_an_upgrade_takes(
    trees: Trees, declared: str | None, named: str
) -> None:
    given = inputs.open_omni(options(trees))
    module = next(derived for derived in find_modules(given) if derived.path == GPU_BASE)
    # The base by likeness is the older one, because the newer one has a line more.
    newer = OLD.replace("            rows =", "            self.first(total)\n            rows =")
    sides = tuple(
        ModuleRevision(ref, textwrap.dedent(text), VLLM) for ref, text in (("0.19.0", OLD), ("0.20.0", newer))
    )
    known = origins.Trees(given, (module,), {GPU_BASE: sides}, None, declared)
    traced = {one.unit.qualname: one for one in origins.trace_npu(known, module)}
    spans = traced["OmniGPUModelRunner._forward"].spans
    assert {span.where for span in spans if span.provenance == "upstream"} == {f"vLLM {named}"}


def test_the_lock_goes_before_what_the_tree_says(trees: Trees) -> None:
    declaring(trees, "0.20.0")
    planned = sync.lock(options(trees))
    assert planned.lock is not None
    write.write([planned.lock], trees.omni)
    text = next(change.after or "" for change in sync.upgrade(options(trees)).changes if change.path == GPU_BASE)
    assert "self.after_second(total)" in text


def test_a_gpu_runner_follows_vllm_and_keeps_what_is_omnis(trees: Trees) -> None:
    for base in ("HEAD~1", None):
        planned = sync.upgrade(options(trees, vllm_base=base))
        text = next(change.after or "" for change in planned.changes if change.path == GPU_BASE)
        assert "rows = self.model(total, self.positions)" in text
        assert "self.talker_total = total" in text
        assert {change.path for change in planned.changes} == {GPU_BASE}, "NPU runners are another profile's"
        assert planned.report.inputs[-1].project == "vllm"
        assert {source.project for source in planned.report.inputs} == {"vllm-omni", "vllm"}


def test_each_profile_has_a_lock_of_its_own(trees: Trees) -> None:
    npu = sync.lock(trees.upgrade(trees.ascend_old, omni_base=trees.itself))
    gpu = sync.lock(options(trees, vllm_base="HEAD~1"))
    assert npu.lock is not None
    assert gpu.lock is not None
    assert (
        (npu.lock.path, gpu.lock.path) == (NPU.lock_file, GPU.lock_file) == ("runner-sync.lock", "runner-sync-gpu.lock")
    )
    assert f'path = "{GPU_BASE}"' in (gpu.lock.after or "")
    write.write([npu.lock, gpu.lock], trees.omni)
    assert sync.lock(trees.upgrade(trees.ascend_old, omni_base=trees.itself)).lock is None, (
        "neither takes the other's for lost"
    )
    assert sync.lock(options(trees, vllm_base="HEAD~1")).lock is None


def test_check_and_verify_hold_gpu_runners_against_vllm(trees: Trees) -> None:
    planned = sync.lock(options(trees, vllm_base="HEAD~1"))
    assert planned.lock is not None
    write.write([planned.lock], trees.omni)
    asked = replace(trees.check(), profile="gpu")
    offline = sync.check(asked)
    assert not {code for code, _ in keys(offline)} & {"RS101", "RS102", "RS110", "RS201", "RS202", "RS203"}
    assert any("RS101" in note and "need a vLLM, and none is named" in note for note in offline.notes)
    named = replace(asked, vllm=TreeOptions(path=trees.vllm))
    drift = keys(sync.check(named))
    assert ("RS101", "GPUModelRunner._forward") in drift
    assert not {code for code, _ in drift if code in ("RS201", "RS202", "RS203", "RS402", "RS403")}, (
        "a GPU runner has no GPU twin"
    )
    told = next(f.message for f in sync.check(named).findings if f.code == "RS101")
    assert told.startswith("vLLM ")
    assert keys(sync.verify(named)) == {("RS304", "hidden")}


def test_what_follows_vllm_needs_one_to_follow(trees: Trees) -> None:
    without = replace(options(trees), vllm=TreeOptions())
    said = r"^no vLLM to follow: give --vllm-path or --vllm-version, set VLLM_PATH, or install runner-sync\[vllm\]"
    for command in (sync.upgrade, sync.lock):
        with pytest.raises(InputError, match=said):
            command(without)
    with pytest.raises(InputError, match=r"compares with vLLM: name one with --vllm-path or --vllm-version"):
        sync.check(replace(trees.check(select=("RS101",)), profile="gpu"))
    with pytest.raises(
        InputError, match=r"no runner-sync-gpu\.lock: write it with `runner-sync lock --vllm-version V`"
    ):
        sync.check(replace(trees.check(), profile="gpu"))


def test_a_vllm_ascend_that_nothing_would_read_is_refused(trees: Trees) -> None:
    said = r"^the GPU runners follow vLLM, and no vllm-ascend is read: leave the --ascend options out"
    for named in ({"ascend": TreeOptions(path=trees.ascend_new)}, {"ascend_base": "0.20.0"}):
        with pytest.raises(InputError, match=said):
            sync.upgrade(replace(options(trees), **named))  # type: ignore[arg-type]
        with pytest.raises(InputError, match=said):
            sync.check(replace(trees.check(), profile="gpu", **named))  # type: ignore[arg-type]


def test_rules_about_gpu_twins_are_not_promised_to_runners_that_have_none(trees: Trees) -> None:
    asked = replace(trees.check(), profile="gpu")
    with pytest.raises(InputError, match=r"with --ignore RS110\.$"):
        sync.check(asked)
    with pytest.raises(InputError, match=r"with --ignore RS110,RS201\.$"):
        sync.check(trees.check())
    planned = sync.lock(options(trees, vllm_base="HEAD~1"))
    assert planned.lock is not None
    write.write([planned.lock], trees.omni)
    assert [note for note in sync.check(asked).notes if note.startswith("RS101, RS102, RS104, RS3xx need a vLLM")]
    said = (
        r"^--select RS203, RS5 compares with GPU twins, and the GPU runners have none: select other rules, or another"
    )
    with pytest.raises(InputError, match=said):
        sync.check(replace(asked, select=("RS203", "RS5")))
    assert sync.check(replace(asked, select=("RS203", "RS406"))).findings == ()
    npu = sync.check(trees.check(select=("RS501",)))
    assert {code for code, _ in keys(npu)} == {"RS501"}, "NPU runners have twins"
    with pytest.raises(InputError, match=r"^--omni-base names what GPU twins were ported at"):
        sync.upgrade(options(trees, omni_base="HEAD"))


def test_a_lock_of_the_other_profile_is_called_that(trees: Trees) -> None:
    planned = sync.lock(options(trees, vllm_base="HEAD~1"))
    assert planned.lock is not None
    write.write([planned.lock], trees.omni)
    (trees.omni / GPU.lock_file).rename(trees.omni / NPU.lock_file)
    said = r"^runner-sync\.lock is a lock of the GPU runners, .*: restore it from git, or write it anew with"
    for run in (lambda: sync.check(trees.check()), lambda: sync.upgrade(trees.upgrade(trees.ascend_new))):
        with pytest.raises(InputError, match=said):
            run()
    again = sync.lock(trees.upgrade(trees.ascend_old, omni_base=trees.itself)).lock
    assert again is not None
    assert f'path = "{AR}"' in (again.after or "")


def test_a_baseline_is_of_one_profile(trees: Trees) -> None:
    """Entries of the other one's runners would look stale, and go with the next ``--update-baseline``."""
    for planned in (
        sync.lock(trees.upgrade(trees.ascend_old, omni_base=trees.itself)),
        sync.lock(options(trees, vllm_base="HEAD~1")),
    ):
        assert planned.lock is not None
        write.write([planned.lock], trees.omni)
    place = trees.omni / AR
    place.write_text(f"{place.read_text('utf-8')}\n\ntorch.cuda.synchronize()\n", "utf-8")
    npu, gpu = trees.check(), replace(trees.check(), profile="gpu")
    file = trees.omni / "accepted.json"
    assert sync.check(replace(npu, baseline=file, update_baseline=True)).findings == ()
    before = file.read_text("utf-8")
    assert '"lock": "runner-sync.lock"' in before
    for asked in (gpu, replace(gpu, update_baseline=True)):
        with pytest.raises(InputError, match=r"accepted for the runners of runner-sync\.lock: name another"):
            sync.check(replace(asked, baseline=file))
    (trees.omni / "runner-sync.toml").write_text('baseline = "accepted.json"\n', "utf-8")
    assert sync.check(npu).findings == ()
    assert [
        note for note in sync.check(gpu).notes if note.endswith("for the runners of runner-sync.lock: it was not used")
    ]
    with pytest.raises(InputError, match="name another file with --baseline"):
        sync.check(replace(gpu, update_baseline=True))
    assert file.read_text("utf-8") == before
    file.write_text(before.replace('  "lock": "runner-sync.lock",\n', ""), "utf-8")
    assert sync.check(npu).findings == (), "one that an earlier version wrote is known by its paths"
    assert [
        note for note in sync.check(gpu).notes if note.endswith("for the runners of runner-sync.lock: it was not used")
    ]
    file.write_text(before.replace('"lock": "runner-sync.lock",', "").replace(AR, GPU_AR), "utf-8")
    assert not [note for note in sync.check(gpu).notes if "not used" in note], "its own"


def test_a_configuration_may_name_units_of_both_profiles(trees: Trees) -> None:
    place = trees.omni / "runner-sync.toml"
    place.write_text('[units]\n"NPUARModelRunner.*" = "omni"\n"OmniGPUModelRunner._forward" = "review"\n', "utf-8")
    commit(trees.omni)
    assert {change.path for change in sync.upgrade(options(trees, vllm_base="HEAD~1")).changes} == {GPU_BASE}
    sync.upgrade(trees.upgrade(trees.ascend_new))
    place.write_text('[units]\n"NPUARModelRunner.excute_model" = "omni"\n', "utf-8")
    with pytest.raises(InputError, match=r"units: no unit matches 'NPUARModelRunner\.excute_model'"):
        sync.upgrade(options(trees, vllm_base="HEAD~1"))


def test_what_can_be_picked_by_name_is_what_is_built_in() -> None:
    assert [one.value for one in BuiltIn] == list(BUILT_IN) == list(get_args(get_type_hints(Case)["profile"]))


def test_a_vllm_ascend_that_the_environment_names_is_not_read_for_gpu_runners(
    trees: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VLLM_ASCEND_PATH", str(trees.omni / "nowhere"))
    assert sync.upgrade(options(trees, vllm_base="HEAD~1")).changes


ON_VLLM = f"""
platform = "XPU"
lock-file = "xpu.lock"

[[modules]]
name = "NPUARModelRunner"
paths = ["{AR}"]
upstreams = [{{ project = "vllm", path = "{VLLM}", name = "GPUModelRunner" }}]
gpu = {{ project = "vllm-omni", path = "{GPU_AR}", name = "GPUARModelRunner" }}
"""


def test_a_platform_of_the_configuration_follows_vllm_and_its_gpu_twin(trees: Trees) -> None:
    (trees.omni / "runner-sync.toml").write_text(ON_VLLM, "utf-8")
    lay_out(trees.omni, {AR: COPY.replace("OmniGPUModelRunner", "NPUARModelRunner")})
    planned = sync.upgrade(replace(options(trees, vllm_base="HEAD~1"), profile=None, verify=False))
    text = next(change.after or "" for change in planned.changes if change.path == AR)
    assert "rows = self.model(total, self.positions)" in text
    assert "self.talker_total = total" in text
    assert planned.lock is not None
    assert planned.lock.path == "xpu.lock"


def test_no_text_names_another_platform(trees: Trees) -> None:
    """The texts are worded for the NPU and vllm-ascend."""
    xpu = ON_VLLM.replace("NPUARModelRunner", "XPUARModelRunner").replace(AR, "vllm_omni/platforms/xpu/x.py")
    (trees.omni / "runner-sync.toml").write_text('profile = "gpu"\ndevice = ["cuda", "xpu"]\n' + xpu, "utf-8")
    gpu = "    def _collect(self):\n        return self.first()\n\n    def _drop(self):\n        return self.second()\n"
    copy = COPY.replace("OmniGPUModelRunner", "XPUARModelRunner")
    head = "from vllm.v1.worker.gpu_model_runner import GPUModelRunner\n\n\nclass GPUARModelRunner(GPUModelRunner):\n"
    lay_out(trees.omni, {"vllm_omni/platforms/xpu/x.py": f"{copy}\n{gpu}", GPU_AR: head + gpu})
    commit(trees.omni)
    lay_out(
        trees.omni,
        {GPU_AR: head + gpu.partition("    def _drop")[0] + "    def _new(self):\n        torch.cuda.nvtx()\n"},
    )
    commit(trees.omni)
    given = replace(options(trees, vllm_base="HEAD~1"), profile=None)
    planned = sync.upgrade(given)
    checked = sync.check(CheckOptions(omni=given.omni, vllm=given.vllm, vllm_base="HEAD~1"))
    texts = [item.reason for item in planned.report.reviews]
    for report in (planned.report, checked):
        texts += [*report.notes, *(text for one in report.findings for text in (one.message, one.fix))]
    assert any("XPU" in text.replace("XPUAR", "") for text in texts)
    assert not [text for text in texts if "NPU" in text or "ascend" in text]
    assert not [line for change in planned.changes for line in (change.after or "").split("\n") if "NPU" in line]


@pytest.mark.parametrize("text", ["`NPU` of NPUARModelRunner in a/NPU/b", "../vllm-ascend or vllm-ascend-x"])
def test_code_names_and_paths_are_not_reworded(text: str) -> None:
    assert name_platform(text, GPU) == text
    assert name_platform(f"the NPU: {text}", replace(NPU, platform="XPU")) == f"the XPU: {text}"
    assert name_platform(f"{text} on NPU, by vllm-ascend", NPU) == f"{text} on NPU, by vllm-ascend"


@pytest.mark.parametrize(
    ("platform", "named"),
    [(name, f"an {name}") for name in ("XPU", "MLU", "AMD", "Ascend NPU")]
    + [(name, f"a {name}") for name in ("GPU", "MUSA", "CUDA", "TPU", "Moore Threads")],
)
def test_a_platform_is_named_once_and_with_its_article(platform: str, named: str) -> None:
    profile = replace(NPU, platform=platform)
    text = name_platform("An NPU base: no NPU calls it on an NPU or a/NPU", profile)
    assert text == f"A{named[1:]} base: no {platform} calls it on {named} or a/NPU"
    assert name_platform(text, profile) == text
    assert name_platform(f"the {platform} runners; banana NPU", profile) == f"the {platform} runners; banana {platform}"


def test_modules_that_follow_two_projects_are_refused(trees: Trees) -> None:
    text = ON_VLLM.replace("[[modules]]", "[[extend-modules]]")
    (trees.omni / "runner-sync.toml").write_text(text, "utf-8")
    said = r"follows vllm-ascend in this profile, and NPUARModelRunner vLLM: one run follows one project"
    with pytest.raises(InputError, match=said):
        sync.upgrade(replace(options(trees), profile=None))
    with pytest.raises(InputError, match=said):
        sync.check(replace(trees.check(), vllm=TreeOptions(path=trees.vllm)))


def test_an_option_wins_over_the_profile_of_the_configuration(trees: Trees) -> None:
    (trees.omni / "runner-sync.toml").write_text('profile = "gpu"\n', "utf-8")
    by_file = sync.upgrade(replace(options(trees, vllm_base="HEAD~1"), profile=None))
    assert {change.path for change in by_file.changes} == {GPU_BASE}
    by_option = sync.upgrade(replace(trees.upgrade(trees.ascend_new), profile="npu"))
    assert not {GPU_BASE, GPU_AR} & {change.path for change in by_option.changes}
    assert {change.path for change in by_option.changes} == {AR}


def test_the_next_command_is_told_for_the_same_profile(trees: Trees, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--omni-path", str(trees.omni), "--profile", "gpu"]
    assert cli.run(["check", *words]) == 2
    assert "`runner-sync lock --profile gpu --vllm-version V`" in capsys.readouterr().err
    cli.run(["check", *words, "--vllm-path", str(trees.vllm), "--vllm-base", "HEAD~1", "--select", "RS1"])
    told = " ".join(capsys.readouterr().out.split())
    place = f"--omni-path {trees.omni} --vllm-path {trees.vllm}"
    assert f"runner-sync upgrade --profile gpu {place} --only OmniGPUModelRunner._forward" in told
    commit(trees.omni)
    cli.run(["upgrade", *words, "--vllm-path", str(trees.vllm), "--vllm-base", "HEAD~1"])
    said = capsys.readouterr().err
    assert "[GPU] Upgrade to " in said
    assert "runner-sync verify" in said
    assert "--profile gpu" in said
    file = trees.omni / "other.toml"
    file.write_text('profile = "gpu"\nlock-file = "other.lock"\n', "utf-8")
    assert cli.run(["check", "--omni-path", str(trees.omni), "--config", str(file)]) == 2
    assert f"`runner-sync lock --config {file} --vllm-version V`" in capsys.readouterr().err
    cli.run(["blocks", *words, "--vllm-path", str(trees.vllm), "-o", "markdown"])
    assert "Written by `runner-sync blocks --profile gpu -o markdown`" in capsys.readouterr().out
