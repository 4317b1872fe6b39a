"""``--gpu-only``: ports between two upgrades. What vLLM changed by itself comes with the next vllm-ascend."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sync_samples import AR, ASCEND, BASE, GPU_AR, GPU_BASE, VLLM, Trees, commit, dedent, lay_out, stay_at_home

from runner_sync import lock as locks
from runner_sync import sync, write
from runner_sync.errors import InputError
from runner_sync.sync.options import TreeOptions
from runner_sync.sync.upgrade_options import UpgradeOptions

BODY = """\
            self.step_1(total)
            self.step_2(total)
            for row in self.step_3(total):
                self.step_4(row)
            self.step_5(total)
            return self.step_6(total)
"""


def runner(name: str, base: str, *lines: tuple[str, str]) -> str:
    """A module with one runner, and each line (what is called, behind which step) in its method ``run``."""
    body = BODY
    for called, behind in lines:
        at = next(line for line in body.splitlines(keepends=True) if f"{behind}(" in line)
        body = body.replace(at, f"{at}            self.{called}(total)\n")
    origin = {
        "GPUModelRunner": "from vllm.v1.worker.gpu_model_runner import GPUModelRunner\n",
        "OmniGPUModelRunner": "from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner\n",
        "OmniNPUModelRunner": "from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner\n",
    }
    head = origin.get(base, "")
    return f"{head}\n\nclass {name}({base}):\n    def run(self, total):\n" + body.replace("            ", "        ")


VLLM_CHANGE = ("step_9", "step_5")
OMNI_CHANGE = ("send", "step_2")


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    """vLLM and the GPU runner before and after, in git; the NPU runner is a copy of vllm-ascend's method."""
    stay_at_home(monkeypatch, tmp_path)
    found = Trees(tmp_path)
    vllm = dedent((found.vllm / VLLM).read_text("utf-8"))
    members = "from vllm.v1.worker.member_mixin import MemberMixin\n\n\n"
    for lines in ((), (VLLM_CHANGE,)):
        method = runner("_", "_", *lines).partition(":\n")[2]
        lay_out(found.vllm, {VLLM: members + vllm.replace("Runner:", "Runner(MemberMixin):") + "\n" + method})
        commit(found.vllm)
    lay_out(found.ascend_old, {ASCEND: runner("NPUModelRunner", "GPUModelRunner", ("step_7", "step_1"))})
    lay_out(
        found.omni, {AR: runner("NPUARModelRunner", "OmniNPUModelRunner", ("step_7", "step_1"), ("note", "step_2"))}
    )
    for lines in ((("note", "step_2"),), (("note", "step_2"), OMNI_CHANGE, VLLM_CHANGE)):
        lay_out(found.omni, {GPU_AR: runner("GPUARModelRunner", "OmniGPUModelRunner", *lines)})
        commit(found.omni)
    return found


def options(trees: Trees, *, ascend: Path | None) -> UpgradeOptions:
    """A port of what came with the last commit of omni and, there, of vLLM."""
    return UpgradeOptions(
        omni=TreeOptions(path=trees.omni),
        ascend=TreeOptions(path=ascend),
        vllm=TreeOptions(path=trees.vllm),
        omni_base="HEAD~1",
        vllm_base="HEAD~1",
        upstream=False,
    )


def ported(planned: sync.Upgrade) -> set[str]:
    text = next((change.after or "" for change in planned.changes if change.path == AR), "")
    return {called for called, _ in (VLLM_CHANGE, OMNI_CHANGE) if f"self.{called}(" in text}


def test_a_copy_gets_what_is_omnis_and_not_what_is_vllms(trees: Trees) -> None:
    assert ported(sync.upgrade(options(trees, ascend=trees.ascend_old))) == {"send"}


def test_the_same_is_ported_as_in_an_upgrade_to_the_vllm_ascend_that_the_runners_are_on(trees: Trees) -> None:
    alone = options(trees, ascend=trees.ascend_old)
    commit(trees.ascend_old)
    whole = replace(alone, upstream=True, ascend_base="HEAD")
    assert sync.upgrade(alone).changes == sync.upgrade(whole).changes


def test_a_method_that_vllm_ascend_has_not_gets_both(trees: Trees) -> None:
    """NPU has it from the GPU runner then, and nobody else brings what vLLM changed."""
    lay_out(trees.ascend_old, {ASCEND: runner("NPUModelRunner", "GPUModelRunner").replace("run(", "other(")})
    assert ported(sync.upgrade(options(trees, ascend=trees.ascend_old))) == {"send", "step_9"}


def test_without_a_vllm_ascend_every_method_may_be_a_copy(trees: Trees) -> None:
    assert ported(sync.upgrade(options(trees, ascend=None))) == {"send"}


@pytest.mark.parametrize(("is_copy", "expected"), [(True, {"send"}), (False, {"send", "step_9"})])
def test_the_lock_tells_which_methods_are_copies(trees: Trees, *, is_copy: bool, expected: set[str]) -> None:
    if not is_copy:
        lay_out(
            trees.omni, {AR: (trees.omni / AR).read_text("utf-8") + "\n    def other(self, total):\n        return 1\n"}
        )
        lay_out(trees.ascend_old, {ASCEND: runner("NPUModelRunner", "GPUModelRunner").replace("run(", "other(")})
    commit(trees.ascend_old)
    planned = sync.lock(replace(options(trees, ascend=trees.ascend_old), upstream=True, ascend_base="HEAD"))
    assert planned.lock is not None
    write.write([planned.lock], trees.omni)
    assert ported(sync.upgrade(options(trees, ascend=None))) == expected


def test_a_locked_release_that_is_out_of_reach_is_done_without(trees: Trees) -> None:
    """There is no network here: the lock tells the copies, which is what the release was wanted for."""
    commit(trees.ascend_old)
    planned = sync.lock(replace(options(trees, ascend=trees.ascend_old), upstream=True, ascend_base="HEAD"))
    assert planned.lock is not None
    ref = locks.load(planned.lock.after or "").inputs["vllm-ascend"]
    text = (planned.lock.after or "").replace(f'vllm-ascend = "{ref}"', 'vllm-ascend = "0.20.0"')
    write.write([replace(planned.lock, after=text)], trees.omni)
    assert ported(sync.upgrade(options(trees, ascend=None))) == {"send"}
    with pytest.raises(InputError, match=r"vllm-ascend 0\.20\.0"):
        sync.upgrade(replace(options(trees, ascend=None), upstream=True))


def test_no_vllm_ascend_is_recorded_as_followed(trees: Trees) -> None:
    planned = sync.upgrade(options(trees, ascend=trees.ascend_old))
    assert planned.lock is not None
    lock = locks.load(planned.lock.after or "")
    assert "vllm-ascend" not in lock.inputs
    assert {entry.upstream for entry in lock.entries} == {None}


@pytest.mark.parametrize("is_named", [True, False])
def test_what_was_not_ported_is_settled_where_vllm_ascend_was_read(trees: Trees, *, is_named: bool) -> None:
    """Without it nobody knows whether it calls what was not ported: the next upgrade has to ask."""
    device = "\n    def step_5(self, total):\n        triton.run(total)\n"
    lay_out(trees.omni, {GPU_AR: (trees.omni / GPU_AR).read_text("utf-8") + device})
    commit(trees.omni)
    wanted = replace(options(trees, ascend=trees.ascend_old if is_named else None), omni_base="HEAD~2")
    planned = sync.upgrade(wanted)
    assert planned.lock is not None
    assert ("vllm-omni" in locks.load(planned.lock.after or "").inputs) is is_named
    sync.apply(planned, replace(wanted, allow_dirty=True))
    commit(trees.omni)
    again = sync.upgrade(replace(wanted, omni_base=None, vllm_base=None)).report.reviews
    assert [item.unit for item in again] == ([] if is_named else ["NPUARModelRunner.step_5"])


def test_only_what_the_port_breaks_is_reported(trees: Trees) -> None:
    """That the runners do not fit the vllm-ascend at hand is no matter of a port."""
    text = (trees.omni / AR).read_text("utf-8")
    lay_out(trees.omni, {AR: text.replace("self.step_6(", "self.nobody_has_it(")})
    report = sync.upgrade(options(trees, ascend=trees.ascend_old)).report
    assert report.findings == ()
    assert report.reviews
    whole = replace(options(trees, ascend=trees.ascend_old), upstream=True)
    commit(trees.ascend_old)
    assert [f.symbol for f in sync.upgrade(replace(whole, ascend_base="HEAD")).report.findings] == ["nobody_has_it"]


OWN_BASE = """\
from vllm_ascend.worker.model_runner_v1 import NPUModelRunner


class OmniNPUModelRunner(NPUModelRunner):
    def _rows_of(self, total):
        return range(total)
"""
HELPER = "    def _gather(self, total):\n        return [self.stage, total]\n"
GATHER = ("_gather", "step_4")


def base_of(trees: Trees, *gpu_ar: tuple[tuple[str, str], ...], npu_ar: str = "") -> str:
    """The NPU runners' shared base, which does not derive from its twin, after a port: the twin has a helper, and
    ``gpu_ar`` are the lines that the other GPU runner has in its method, at the base and now."""
    npu = runner("NPUARModelRunner", "OmniNPUModelRunner", ("step_7", "step_1"))
    lay_out(trees.omni, {BASE: OWN_BASE, AR: npu + npu_ar})
    for lines in gpu_ar:
        texts = {GPU_BASE: runner("OmniGPUModelRunner", "GPUModelRunner").partition("    def run")[0] + HELPER}
        lay_out(trees.omni, {**texts, GPU_AR: runner("GPUARModelRunner", "OmniGPUModelRunner", *lines)})
        commit(trees.omni)
    planned = sync.upgrade(options(trees, ascend=trees.ascend_old))
    after = {change.path: change.after or "" for change in planned.changes}
    assert "_gather" not in after.get(AR, "") or "self._gather(" in after[AR]
    return after.get(BASE, dedent(OWN_BASE))


def test_a_helper_comes_to_the_base_with_the_call_that_another_runner_gains(trees: Trees) -> None:
    assert "def _gather" in base_of(trees, (), (GATHER,))


def test_a_helper_that_the_other_twins_have_long_called_is_no_news(trees: Trees) -> None:
    """Of vllm-omni's pull request 215, thirteen lines of one GPU runner, three hundred came to the base, for nobody."""
    assert "_gather" not in base_of(trees, (GATHER,), (GATHER, OMNI_CHANGE))


def test_a_helper_that_the_runner_has_itself_stays_there(trees: Trees) -> None:
    call = "\n    def gathered(self, total):\n        return self._gather(total)\n"
    assert "_gather" not in base_of(trees, (GATHER,), (GATHER, OMNI_CHANGE), npu_ar=f"{call}\n{HELPER}")


@pytest.mark.parametrize("is_named", [True, False])
def test_a_new_override_of_vllms_comes_without_a_vllm_ascend_too(trees: Trees, *, is_named: bool) -> None:
    """Nothing of omni's calls it, and vllm-ascend's class has it from vLLM."""
    vllm = (trees.vllm / VLLM).read_text("utf-8")
    lay_out(trees.vllm, {VLLM: vllm + "\n    def _room(self, size):\n        return size\n"})
    commit(trees.vllm)
    text = (trees.omni / GPU_AR).read_text("utf-8")
    own = "\n    def _room(self, size):\n        return 2 * super()._room(size)\n"
    lay_out(trees.omni, {GPU_AR: text + own})
    commit(trees.omni)
    given = replace(options(trees, ascend=trees.ascend_old if is_named else None), vllm_base=None)
    (change,) = (change for change in sync.upgrade(given).changes if change.path == AR)
    assert "return 2 * super()._room(size)" in (change.after or "")


@pytest.mark.parametrize("is_new", [False, True], ids=["in a method", "in a new member"])
def test_a_name_that_no_vllm_ascend_at_hand_confirms_is_named(trees: Trees, *, is_new: bool) -> None:
    """Releases before 0.27.1rc1 have no ``BreakableACLGraphWrapper``."""
    lay_out(trees.omni, {AR: (trees.omni / AR).read_text("utf-8") + WRAPPED.replace("CUDA", "ACL")})
    gpu = (trees.omni / GPU_AR).read_text("utf-8")
    calls = ("BreakableCUDAGraphWrapper.clear(total)", "CUDAGraphWrapper.clear(total)", "CUDAGraphWrapper(total)")
    body = "".join(f"        {call}\n" for call in calls)
    new = f"\n    def step_6(self, total):\n{body}" if is_new else ""
    gpu = WRAPPERS + (gpu if is_new else gpu.replace("        self.send(total)\n", body)) + new
    lay_out(trees.omni, {GPU_AR: gpu})
    said = (
        "; it uses ACLGraphWrapper.clear and BreakableACLGraphWrapper.clear of vllm-ascend, which could not be checked"
    )
    reasons = [item.reason for item in sync.upgrade(options(trees, ascend=None)).report.reviews]
    assert [said in reason for reason in reasons if reason.startswith("ported")][-1:] == [True]
    known = sync.upgrade(options(trees, ascend=trees.ascend_old)).report.reviews
    assert not any("could not be checked without a" in item.reason for item in known)


WRAPPERS = """\
from vllm.compilation.breakable_cudagraph import BreakableCUDAGraphWrapper
from vllm.compilation.cuda_graph import CUDAGraphWrapper
"""
WRAPPED = "\n    def wrapped(self, total):\n        return CUDAGraphWrapper(total)\n"


SAMPLE = """
    def _sample(self, logits):
        if self.model.prefer_model_sampler:
            return self.model.sample(logits)
        return super()._sample(logits)
"""


@pytest.mark.parametrize("is_new", [True, False])
def test_a_port_since_a_named_commit_brings_the_sampler_hook_only_if_it_came_since(
    trees: Trees, *, is_new: bool
) -> None:
    """An upgrade brings it whenever NPU lacks it; who ports one commit gets what that commit did, and is told."""
    twin = (trees.omni / GPU_AR).read_text("utf-8")
    trees.edit(AR, "self.note(total)", "self.note(self._sample(total))")
    lay_out(trees.omni, {GPU_AR: twin if is_new else twin + SAMPLE})
    lay_out(trees.ascend_old, {ASCEND: (trees.ascend_old / ASCEND).read_text("utf-8") + PLAIN_SAMPLE})
    commit(trees.omni)
    lay_out(trees.omni, {GPU_AR: twin.replace("self.step_4(row)", "self.step_4(row, total)") + SAMPLE})
    commit(trees.omni)
    wanted = options(trees, ascend=trees.ascend_old)
    result = sync.upgrade(wanted)
    text = next(change.after or "" for change in result.changes if change.path == AR)
    assert "self.step_4(row, total)" in text
    assert ("def _sample(" in text) == is_new
    notes = [note for note in result.report.notes if "NPU did without them" in note]
    assert any("NPUARModelRunner._sample" in note for note in notes) != is_new
    catching_up = sync.upgrade(replace(wanted, omni_base=None, vllm_base=None))
    assert any("def _sample(" in (change.after or "") for change in catching_up.changes)


PLAIN_SAMPLE = """
    def _sample(self, logits):
        return logits.argmax()
"""


_STAGE = """\
    def _stage_of(self, request):
        info = request.additional_information
        if info is None:
            return None
        return info.get("stage")
"""
_FOUND = _STAGE.replace(
    "        if info", "        if info is None:\n            info = self.find_stage(request)\n        if info"
)
_NOTE = ("        return info", "        self.note(info)\n        return info")
_NOTED = _FOUND.replace(*_NOTE)
_GUARDED = "    @torch.inference_mode()\n"


@pytest.mark.parametrize("upstream", [True, False])
@pytest.mark.parametrize(
    ("mine", "now"),
    [(_FOUND, _FOUND), (_NOTED, _NOTED), (_STAGE, _FOUND), (_STAGE.replace(*_NOTE), _NOTED)],
    ids=["a statement", "two statements", "not yet", "half of it"],
)
def test_what_was_ported_by_hand_since_the_named_commit_is_not_ported_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mine: str, now: str, *, upstream: bool
) -> None:
    """Under a decorator of NPU's own, beside a statement that begins alike, each run had brought it once more."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    for npu, gpu in ((_STAGE, _STAGE), (mine, now)):
        lay_out(trees.omni, {GPU_AR: f"class GPUARModelRunner(OmniGPUModelRunner):\n{gpu}"})
        lay_out(trees.omni, {AR: f"class NPUARModelRunner(OmniNPUModelRunner):\n{_GUARDED}{npu}"})
        commit(trees.omni)
    asked = trees.upgrade(
        trees.ascend_old, omni_base="HEAD~1", vllm_base="0.20.0", verify=False, upstream=upstream, allow_dirty=True
    )
    planned = sync.upgrade(asked)
    after = next((change.after or "" for change in planned.changes if change.path == AR), _GUARDED + mine)
    if mine == now:
        assert not [change for change in planned.changes if change.path == AR]
    else:
        assert after.count("self.find_stage(") == 1
        assert after.count("self.note(") == now.count("self.note(")
        sync.apply(planned, asked)
        assert sync.upgrade(asked).changes == ()
