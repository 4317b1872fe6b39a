"""``--only`` on members that NPU does not have: what it names, with what that calls, and nothing else."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from git import Repo
from sync_samples import (
    AR,
    ASCEND,
    ASCEND_NEW,
    ASCEND_OLD,
    BASE,
    GPU_AR,
    GPU_BASE,
    GPU_TWIN,
    NPU_TWIN,
    OMNI_TREE,
    RULER,
    Trees,
    check_upgrade,
    commit,
    dedent,
    lay_out,
    port_of,
    stay_at_home,
)

from runner_sync import sync
from runner_sync.compose.members import Obstacle
from runner_sync.merge import Decision, Reason
from runner_sync.profile import NPU
from runner_sync.sync import TreeOptions
from runner_sync.terminal.commands import exit_code
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_gpu import ported_passages
from runner_sync.upgrade.from_gpu.porting import _together
from runner_sync.upgrade.from_gpu.refusing import veto_for
from runner_sync.upgrade.job import ModuleJob, Target

GPU_TEXT = """\
from vllm_omni.worker.gpu_model_runner import OmniGPUModelRunner


class GPUARModelRunner(OmniGPUModelRunner):
    def _update_states(self, scheduler_output):
        super()._update_states(scheduler_output)
        self.rows = scheduler_output.rows

    def _history(self):
        return self.input_batch.history

    def _sample(self, logits):
        if self.model.prefer_model_sampler:
            return self.model.sample(logits, self._history())
        return super()._sample(logits)
"""


def test_only_ports_the_member_with_what_it_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the GPU class the member follows another one that is to be ported and was not asked for."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    lay_out(trees.omni, {GPU_AR: GPU_TEXT})
    result = check_upgrade(trees.upgrade(trees.ascend_new, only=("NPUARModelRunner._sample",), verify=False))
    text = next(change.after for change in result.changes if change.path == AR) or ""
    assert "def _sample(" in text
    assert "def _history(" in text
    assert "def _update_states(" not in text


def test_members_that_need_nothing_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``_forward`` is there by the base, ``_sample`` is asked for by the platform; ``_history`` is called by nobody."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    gpu = dedent(OMNI_TREE[GPU_AR]) + "\n    def _history(self):\n        return self.input_batch.history\n"
    lay_out(trees.omni, {GPU_AR: gpu})
    result = check_upgrade(trees.upgrade(trees.ascend_new, verify=False))
    assert [note.partition(" (")[0] for note in result.report.notes if "need nothing" in note] == [
        "2 members of the GPU classes need nothing here: the NPU classes inherit 1, nothing calls 1"
    ]
    asked = check_upgrade(trees.upgrade(trees.ascend_new, verify=False, only=("NPUARModelRunner._history",)))
    assert "NPUARModelRunner._history is not ported: nothing on NPU calls it" in asked.report.notes


def test_a_helper_is_ported_with_what_calls_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """NPU has lacked the call for longer than the base is old: who asks for the helper is told what brings both."""
    call = "        return super()._finish(logits, total)"
    helper = "\n    def _history(self):\n        return self.hidden\n"
    gpu = dedent(OMNI_TREE[GPU_AR])
    now = gpu.replace(call, f"        self._history()\n{call}") + helper
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    for text in (gpu, now, now + "\n\nFLAG = 1\n"):
        lay_out(trees.omni, {GPU_AR: text})
        commit(trees.omni)
    wanted = trees.upgrade(
        trees.ascend_new, only=("NPUARModelRunner._history",), omni_base="HEAD~1", vllm_base="0.20.0"
    )
    (said,) = [note for note in sync.upgrade(wanted).report.notes if "_history" in note]
    assert "the GPU runner does in _finish: `--only NPUARModelRunner._finish --omni-base V` ports that" in said
    named = replace(wanted, only=("NPUARModelRunner._finish",), omni_base="HEAD~2")
    (change,) = [change for change in sync.upgrade(named).changes if change.path == AR]
    assert "self._history()" in (change.after or "")
    assert "def _history(" in (change.after or "")


def test_without_a_vllm_ascend_nothing_is_said_about_its_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    gpu = dedent(OMNI_TREE[GPU_AR]) + "\n    def _history(self):\n        return self.input_batch.history\n"
    lay_out(trees.omni, {GPU_AR: gpu})
    alone = replace(trees.upgrade(trees.ascend_new), ascend=TreeOptions(), upstream=False)
    (said,) = [note for note in sync.upgrade(replace(alone, only=("_history",))).report.notes if "_history" in note]
    assert "is not ported: nothing of omni's calls it, and whether vllm-ascend does, a run without one" in said
    assert any("nothing of omni's calls" in note for note in sync.upgrade(alone).report.notes)


def test_what_was_left_out_before_is_asked_about_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``check`` says that the override is missing and names ``--only``, which must not answer that all is in step."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    gpu = GPU_TEXT + "\n    def _execute(self, batch):\n        return triton.run(batch)\n"
    lay_out(trees.omni, {GPU_AR: gpu})
    commit(trees.omni)
    settled = replace(trees.upgrade(trees.ascend_new, verify=False), allow_dirty=True)
    first = sync.upgrade(settled)
    sync.apply(first, settled)
    commit(trees.omni)
    again = sync.upgrade(settled).report
    assert not [item for item in again.reviews if "triton" in item.upstream]
    assert (first.report.summary["unported"], first.report.summary["unported_asked"]) == (1, 1)
    assert (again.summary["unported"], again.summary.get("unported_asked", 0)) == (1, 0)
    assert [note for note in again.notes if "NPUARModelRunner._execute" in note]
    named = sync.upgrade(replace(settled, only=("NPUARModelRunner._execute",))).report
    assert [item.unit for item in named.reviews] == ["NPUARModelRunner._execute"]
    assert exit_code(named) == 1


@pytest.mark.parametrize(
    ("base", "ascend_base", "is_ported"),
    [
        ("v0.21.0rc2", "HEAD~1", True),
        ("v0.21.0rc2", "HEAD", False),
        ("v0.21.0", "HEAD~1", False),
        ("HEAD~1", "HEAD~1", False),
    ],
)
def test_in_an_upgrade_a_release_candidate_as_base_stands_for_the_release_before_it_too(
    base: str, ascend_base: str, is_ported: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``note`` came between 0.20.0 and the first candidate and NPU, cut from the older text, has not got it yet; what
    was there at 0.20.0 already and NPU lacks was left out by people."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    for tree in (ASCEND_OLD, ASCEND_NEW):
        lay_out(trees.ascend_new, {ASCEND: tree[ASCEND]})
        commit(trees.ascend_new)
    kept = "        kept = self.keep(first)\n"
    older = GPU_TWIN.replace(kept, f"        self.count(rows)\n{kept}")
    newer = older.replace(kept, f"        self.note(first)\n{kept}")
    stages = [
        ("v0.19.0", GPU_TWIN),
        ("v0.20.0", older),
        ("v0.21.0rc1", newer),
        ("v0.21.0rc2", newer),
        ("v0.21.0", newer),
    ]
    for tag, text in [*stages, ("main", newer.replace("rows[0]", "rows.first"))]:
        lay_out(trees.omni, {GPU_AR: text, AR: NPU_TWIN})
        commit(trees.omni)
        if tag != "main":
            Repo(trees.omni).create_tag(tag)
    bases = {"ascend_base": ascend_base, "omni_base": base, "vllm_base": "0.20.0"}
    result = check_upgrade(trees.upgrade(trees.ascend_new, **bases, verify=False))
    text = next(change.after or "" for change in result.changes if change.path == AR)
    assert "first = rows.first" in text
    assert ("self.note(first)" in text) == is_ported
    assert "self.count(rows)" not in text


PLANNED = GPU_TWIN.replace(
    "        return self._fetch", "        plan = self.cache.plan(first)\n        return self._fetch"
)
PLAN_NOTED = PLANNED.replace("        return self._fetch", "        self.cache.note(plan)\n        return self._fetch")


@pytest.mark.parametrize(
    ("before", "comes"),
    [
        pytest.param(GPU_TWIN, True, id="NPU is as the twin was before that"),
        pytest.param(PLANNED, False, id="NPU has done without it for as long as can be told"),
    ],
)
def test_what_a_change_rests_on_comes_with_it(
    before: str, comes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin got ``plan`` before the base, which NPU did not follow; what it calls now reads that."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    for tag, text in (("v0.19.0", before), ("v0.20.0", PLANNED), ("main", PLAN_NOTED)):
        lay_out(trees.omni, {GPU_AR: text, AR: NPU_TWIN})
        commit(trees.omni)
        if tag != "main":
            Repo(trees.omni).create_tag(tag)
    bases = {"omni_base": "v0.20.0", "vllm_base": "0.20.0"}
    result = check_upgrade(trees.upgrade(trees.ascend_new, **bases, upstream=False, verify=False))
    text = next((change.after or "" for change in result.changes if change.path == AR), NPU_TWIN)
    said = "\n".join(item.reason for item in result.report.reviews)
    assert ("plan = self.cache.plan(first)" in text) == comes
    assert ("self.cache.note(plan)" in text) == comes
    assert ("what it changed since v0.20.0 rests on what it changed since v0.19.0, which comes, too" in said) == comes
    assert ("left out: it uses plan, which nothing sets here" in said) != comes


HANDS_OVER = """
    def _close(self, rows):
        self.count(rows)
        output = self.pack(rows)
        output.signals = self.signals()
        self.note(rows)
        # Whoever reads what self.signals() gave has to wait.
        self.close(rows)
        return output
"""


@pytest.mark.parametrize(("still", "stays"), [("        signals = self.signals()\n", True), ("", False)])
def test_what_the_twin_still_calls_in_a_way_that_does_not_come_in_stays(
    still: str, stays: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The GPU runner hands the signals to code that NPU does not have; that it sets none is no news then."""
    now = HANDS_OVER.replace("        output.signals = self.signals()\n", "")
    now = now.replace("        self.count(rows)\n", f"{still}        self.count(rows)\n")
    if still:
        now = now.replace("        return output", "        torch.cuda.send(output, signals)\n        return output")
    text, _ = port_of(tmp_path, monkeypatch, NPU_TWIN + HANDS_OVER, GPU_TWIN + HANDS_OVER, GPU_TWIN + now)
    assert ("output.signals = self.signals()" in text) == stays
    assert "return output" in text


def test_a_signature_stays_when_its_caller_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller is done in another way on NPU, so the GPU runner's change of it has no place there."""
    other = NPU_TWIN.replace(
        "        first = rows[0]\n        kept = self.keep(first)\n        return self._fetch(rows, len(kept))\n",
        "        for row in self.on_device(rows):\n            self.note(row)\n        return self._fetch(rows, 0)\n",
    )
    now = GPU_TWIN.replace("rows, total):", "rows, staged, total):").replace("(rows, total)", "(rows, staged, total)")
    now = now.replace("self._fetch(rows, len(kept))", "self._fetch(rows, first, len(kept))")
    text, questions = port_of(tmp_path, monkeypatch, other, GPU_TWIN, now)
    assert "def _fetch(self, rows, total):" in text
    assert "not ported: _collect still calls it with the arguments that it takes now" in questions


def test_a_signature_follows_with_its_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = GPU_TWIN.replace("rows, total):", "rows, staged, total):").replace("(rows, total)", "(rows, staged, total)")
    now = now.replace("self._fetch(rows, len(kept))", "self._fetch(rows, first, len(kept))")
    text, _ = port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, now)
    assert "def _fetch(self, rows, staged, total):" in text
    assert "return self._fetch(rows, first, len(kept))" in text


def test_the_first_member_of_the_gpu_class_stands_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = "    def _width(self):\n        return self.cache.width\n\n    def _fetch("
    now = GPU_TWIN.replace("    def _fetch(", first).replace("len(kept))", "self._width())")
    text, _ = port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, now)
    assert 0 < text.find("def _width(") < text.find("def _fetch(") < text.find("def _collect(")


def test_only_brings_what_the_named_member_newly_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The named member is there already: what its port calls must not be missing, and the rest was not asked for."""
    added = "    def _width(self):\n        return self.cache.width\n\n    def _height(self):\n        return 1\n\n"
    now = GPU_TWIN.replace("    def _fetch(", f"{added}    def _fetch(").replace("len(kept))", "self._width())")
    now = now.replace("cache.get(rows, total)", "cache.get(rows, total + self._height())")
    text, _ = port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, now, only=("NPUARModelRunner._collect",))
    assert "self._fetch(rows, self._width())" in text
    assert "def _width(" in text
    assert "_height" not in text


RECORD = """

class State(NamedTuple):
    output: int
    logits: int
"""


@pytest.mark.parametrize(
    ("made", "read", "is_taken"),
    [
        pytest.param("first, kept", "self.state.logits", False, id="nothing gives or reads it"),
        pytest.param("first, kept", "self.state.step", True, id="NPU code reads it"),
        pytest.param("first, kept, self.step", "self.state.logits", True, id="NPU code gives it"),
        pytest.param("", "self.state.logits", True, id="made elsewhere"),
    ],
)
def test_a_field_of_a_record_is_ported_for_what_uses_it(
    made: str, read: str, is_taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used = f"self.state = State({made})\n        return {read}" if made else f"return {read}"
    npu = NPU_TWIN.replace("return self._fetch(rows, len(kept))", used) + RECORD
    was = GPU_TWIN + RECORD
    text, questions = port_of(tmp_path, monkeypatch, npu, was, was + "    # For the drafter.\n    step: int = 0\n")
    assert ("step: int = 0" in text) == ("# For the drafter." in text) == is_taken
    assert ("ported from the GPU runner" in questions) == is_taken


TWO_ENDS = """\
        first = rows[0]
        if self.is_done(first):
            self.note(first)
            self.close(first)
            self.count += 1
            return first
        kept = self.keep(first)
        self.note(kept)
        self.close(kept)
        return {end}
"""


@pytest.mark.parametrize(
    ("end", "asked"), [pytest.param("first", 1, id="the same twice"), pytest.param("kept", 2, id="two of a kind")]
)
def test_the_same_change_twice_is_one_question_with_a_comment_at_each_place(
    end: str, asked: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = NPU_TWIN.partition("        first = ")[2]
    npu, was = (text.replace("        first = " + body, TWO_ENDS.format(end=end)) for text in (NPU_TWIN, GPU_TWIN))
    now = re.sub(r"return (first|kept)", r"return self.attach(\1)", was)
    text, questions = port_of(tmp_path, monkeypatch, npu, was, now)
    places = [number for number, line in enumerate(text.split("\n"), 1) if "return self.attach(" in line]
    ported = [line for line in questions.split("\n") if line.startswith("ported")]
    assert text.count("# runner-sync: review") == len(places) == 2
    assert len(ported) == asked
    assert ported[0].endswith(f"; the same again at line {places[1]}") == (asked == 1)


def stepped(head: str, *steps: str, names: range) -> str:
    """A GPU module whose method runs ``steps`` and then one step per number."""
    body = [*steps, *(f"self.step_{number}()" for number in names)]
    return head.replace(
        "    def _fetch(", "    def _start(self):\n        " + "\n        ".join(body) + "\n\n    def _fetch("
    )


@pytest.mark.parametrize(
    ("own", "is_taken"),
    [
        pytest.param(["self.count = 1", "self.on_npu(1)", "self.on_npu(2)"], False, id="done in another way"),
        pytest.param(["self.count = 1", *(f"self.step_{number}()" for number in range(12))], True, id="a copy"),
    ],
)
def test_a_method_with_little_of_what_its_twin_is_now_is_left(
    own: list[str], is_taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two of the first one's four statements stand among the 14 that the twin had, and among the 102 that it has."""
    npu = stepped(NPU_TWIN, *own, names=range(0))
    was = stepped(GPU_TWIN, "self.count = 1", names=range(12))
    now = stepped(GPU_TWIN, "self.count = 1", names=range(100))
    text, questions = port_of(tmp_path, monkeypatch, npu, was, now)
    assert ("self.step_99()" in text) == is_taken
    assert ("the NPU runner's is too different to merge the change into" in questions) != is_taken


def test_members_that_one_thing_keeps_out_are_one_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = """
    def _stage(self, rows):
        return self._pinned(rows)

    def _pinned(self, rows):
        return triton.pin(rows)

    def _plan(self, rows):
        return flashinfer.plan(rows)
"""
    _, questions = port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, GPU_TWIN + device)
    asked = [line for line in questions.split("\n") if line.startswith("not ported")]
    assert asked == [
        "not ported: it uses triton., which is code that people port by hand; nor is what needs it: _stage",
        "not ported: it uses flashinfer, which is code that people port by hand",
    ]


@pytest.mark.parametrize(
    ("last", "calls_it"),
    [
        ("return GPUARModelRunner._collect(self, rows)", True),
        ("return rows  # not GPUARModelRunner._collect(self, rows)", False),
    ],
)
def test_a_method_that_calls_its_twin_has_its_changes(
    last: str, calls_it: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = "".join(f"self.on_npu({number})\n        " for number in range(12)).rstrip(" ")
    npu = NPU_TWIN.partition("    def _collect")[0] + f"    def _collect(self, rows):\n        {own}"
    npu += f"        {last}\n"
    npu = f"from vllm_omni.worker.gpu_ar_model_runner import GPUARModelRunner\n{npu}"
    now = GPU_TWIN.replace("kept = self.keep(first)", "kept = self.keep(first, rows)")
    text, questions = port_of(tmp_path, monkeypatch, npu, GPU_TWIN, now)
    assert text == npu
    assert ("the NPU runner's is too different to merge the change into" in questions) != calls_it


PARTS = """
    @staticmethod
    def _is_mark(value):
        return bool(value)

    def _marks(self, rows):
        return [row for row in rows if NPUARModelRunner._is_mark(row)]
"""


@pytest.mark.parametrize("is_used", [True, False])
def test_methods_that_the_gpu_runner_dropped_stay_as_long_as_one_of_them_is_called(
    is_used: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A static method is called through its class, by another method that the GPU runner dropped, too."""
    npu = NPU_TWIN.replace("self.keep(first)", "self._marks(first)" if is_used else "self.keep(first)") + PARTS
    was = GPU_TWIN + PARTS.replace("NPU", "GPU")
    text, _ = port_of(tmp_path, monkeypatch, npu, was, GPU_TWIN)
    assert ("def _is_mark(" in text) == is_used
    assert ("def _marks(" in text) == is_used


def test_a_method_of_the_base_that_another_module_calls_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The GPU base class dropped it, and nothing in the base module itself calls it."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    note = "\n    def _note_rows(self, rows):\n        self.noted = rows\n        return rows\n"
    lay_out(
        trees.omni,
        {
            BASE: dedent(OMNI_TREE[BASE]).replace("(OmniGPUModelRunner, NPU", "(NPU") + note,
            GPU_BASE: dedent(OMNI_TREE[GPU_BASE]) + note,
            AR: dedent(OMNI_TREE[AR]).replace("return super()._finish(", "return super()._finish(self._note_rows("),
        },
    )
    lay_out(trees.omni, {AR: (trees.omni / AR).read_text("utf-8").replace("logits, total)\n\n", "logits), total)\n\n")})
    commit(trees.omni)
    lay_out(trees.omni, {GPU_BASE: OMNI_TREE[GPU_BASE]})
    commit(trees.omni)
    result = check_upgrade(trees.upgrade(trees.ascend_new, omni_base="HEAD~1", vllm_base="0.20.0", verify=False))
    text = next((change.after for change in result.changes if change.path == BASE), None)
    assert "def _note_rows(" in (text or (trees.omni / BASE).read_text("utf-8"))


@pytest.mark.parametrize("is_imported", [True, False])
def test_a_module_without_twin_is_started_where_another_one_imports_it(
    is_imported: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    (trees.omni / AR).unlink()
    wanted = "from vllm_omni.platforms.npu.worker.npu_ar_model_runner import NPUARModelRunner\n" if is_imported else ""
    lay_out(trees.omni, {BASE: wanted + dedent(OMNI_TREE[BASE])})
    commit(trees.omni)
    result = check_upgrade(trees.upgrade(trees.ascend_new, omni_base="HEAD", vllm_base="0.20.0", verify=False))
    started = [change for change in result.changes if change.path == AR]
    assert bool(started) == is_imported
    for change in started:
        assert "class NPUARModelRunner" in (change.after or "")
        assert [item.reason for item in result.report.reviews if item.path == AR]


def test_a_started_module_imports_nothing_from_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it is meant to define for others is the twin's, and not that of vllm-ascend, which has fields of its own."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    (trees.omni / AR).unlink()
    record = "class ExecuteModelState:\n    pass\n\n\n"
    head, cls, body = dedent(OMNI_TREE[GPU_AR]).partition("class ")
    keep = "\n    def _keep(self):\n        return ExecuteModelState()\n"
    wanted = "from vllm_omni.platforms.npu.worker.npu_ar_model_runner import NPUARModelRunner\n"
    lay_out(
        trees.omni,
        {GPU_AR: head + record + cls + body + keep, BASE: wanted + dedent(OMNI_TREE[BASE])},
    )
    lay_out(trees.ascend_new, {ASCEND: dedent(ASCEND_NEW[ASCEND]).replace("class NPU", f"{record}class NPU", 1)})
    commit(trees.omni)
    result = check_upgrade(trees.upgrade(trees.ascend_new, omni_base="HEAD", vllm_base="0.20.0", verify=False))
    (started,) = [change.after or "" for change in result.changes if change.path == AR]
    assert "from vllm_omni.worker.gpu_ar_model_runner import ExecuteModelState\n" in started
    assert "npu_ar_model_runner import" not in started


def test_a_module_of_another_folder_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    config = f"""\
    [[extend-modules]]
    name = "NPUTalkerModelRunner"
    paths = ["vllm_omni/platforms/npu/talker/npu_talker_model_runner.py"]
    upstreams = [{{ project = "vllm-ascend", path = "{ASCEND}", name = "NPUModelRunner" }}]
    gpu = {{ project = "vllm-omni", path = "vllm_omni/talker/gpu_talker_model_runner.py", name = "GPUTalkerRunner" }}
    """
    (trees.omni / AR).unlink()
    wanted = "from vllm_omni.platforms.npu.worker.npu_ar_model_runner import NPUARModelRunner\n"
    lay_out(trees.omni, {"runner-sync.toml": config, BASE: wanted + dedent(OMNI_TREE[BASE])})
    commit(trees.omni)
    result = check_upgrade(trees.upgrade(trees.ascend_new, omni_base="HEAD", vllm_base="0.20.0", verify=False))
    assert [change.path for change in result.changes if not change.before] == [AR]


def test_rulers_do_not_enclose_what_vllm_ascend_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The GPU twin has the method, too, and has not changed it."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    twin = "\n    def execute_model(self, scheduler_output):\n        return self._forward(scheduler_output.total)\n"
    lay_out(trees.omni, {GPU_BASE: dedent(OMNI_TREE[GPU_BASE]) + twin})
    commit(trees.omni)
    commit(trees.ascend_old)
    first = "self._update_states(scheduler_output)\n"
    new = dedent(ASCEND_OLD[ASCEND]).replace(first, f"{first}        self.note_rows(scheduler_output)\n")
    lay_out(trees.ascend_old, {ASCEND: new})
    commit(trees.ascend_old)
    bases = {"ascend_base": "HEAD~1", "omni_base": "HEAD", "vllm_base": "0.20.0"}
    result = check_upgrade(trees.upgrade(trees.ascend_old, **bases, verify=False))
    text = next((change.after or "" for change in result.changes if change.path == BASE), "")
    assert "self.note_rows(scheduler_output)" in text
    assert text.count(RULER) == OMNI_TREE[BASE].count(RULER)


def test_what_a_method_of_vllm_ascend_returns_is_unpacked_as_it_was() -> None:
    refuse = veto_for({}, {}, {"_forward"})
    unpacks = Reason("unpacks other results", ("_forward",))
    assert refuse("logits, hidden, aux = self._forward(total)") == unpacks
    assert refuse("(logits, hidden) = self._forward(total)") == unpacks
    known = veto_for({}, {}, {"_forward"}, have=["logits, hidden = self._forward(total)"])
    assert known("logits, hidden = self._forward(total, 1)") is None
    assert known("logits, aux = self._forward(total)") == unpacks
    for other in ("logits = self._forward(total)", "a, b = self._collect(total)", "self.a, b = self._forward(1)"):
        assert refuse(other) is None


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
    reason = "it uses ACLGraphWrapper, which is not in vllm_ascend.compilation.acl_graph"
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


def test_a_helper_that_the_npu_module_does_not_have_is_imported_from_the_gpu_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The generation runner uses a helper of the GPU AR runner; the translated import would fail."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    gpu, npu = (
        f"from vllm_omni.{place} import {base}\n\n\nclass {name}({base}):\n"
        "    def _collect(self, rows):\n        kept = self.keep(rows)\n        return self.note(kept)\n"
        for place, base, name in (
            ("worker.gpu_model_runner", "OmniGPUModelRunner", "GPUGenerationModelRunner"),
            ("platforms.npu.worker.npu_model_runner", "OmniNPUModelRunner", "NPUGenerationModelRunner"),
        )
    )
    gpu_path = "vllm_omni/worker/gpu_generation_model_runner.py"
    npu_path = "vllm_omni/platforms/npu/worker/npu_generation_model_runner.py"
    lay_out(trees.omni, {gpu_path: gpu, npu_path: npu})
    helper = "\n\ndef _ensure_tensor_values(rows):\n    return rows\n"
    (trees.omni / GPU_AR).write_text((trees.omni / GPU_AR).read_text("utf-8") + helper, encoding="utf-8")
    commit(trees.omni)
    now = "from vllm_omni.worker.gpu_ar_model_runner import _ensure_tensor_values\n" + gpu.replace(
        "self.note(kept)", "self.note(_ensure_tensor_values(kept))"
    )
    lay_out(trees.omni, {gpu_path: now})
    commit(trees.omni)
    result = check_upgrade(trees.upgrade(trees.ascend_new, omni_base="HEAD~1", vllm_base="0.20.0", verify=False))
    text = next(change.after for change in result.changes if change.path == npu_path) or ""
    assert "_ensure_tensor_values(kept)" in text
    assert "from vllm_omni.worker.gpu_ar_model_runner import _ensure_tensor_values" in text


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
    assert [line for line in questions.split("\n") if line.startswith("RS490")] == [
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


WORKER = "vllm_omni/platforms/npu/worker/npu_ar_worker.py"
GPU_WORKER = "vllm_omni/worker/gpu_ar_worker.py"
VLLM_WORKER = "vllm/v1/worker/gpu_worker.py"
SET_UP = """\
    def init_device(self):
        self.device = self.choose_device()
        self.check_memory(self.device)
        self.snapshot = self.take_snapshot()
        self.seed = self.set_seed()
        self.runner = self.make_runner()
"""


def worker(name: str, body: str = SET_UP) -> str:
    return f"class {name}:\n{body}"


def test_what_vllm_changed_in_its_worker_is_not_ported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The GPU worker took a line from vLLM and got one of omni's; NPU gets vLLM's from vllm-ascend, if it wants it."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    lay_out(trees.ascend_new, {"vllm_ascend/worker/worker.py": worker("NPUWorker")})
    commit(trees.ascend_new)
    topology = SET_UP.replace("        self.seed", "        self.check_topology()\n        self.seed")
    both = topology.replace("        self.runner", "        self.stage = self.find_stage()\n        self.runner")
    states = ((SET_UP, SET_UP), (topology, both))
    for vllm, gpu in states:
        lay_out(trees.vllm, {VLLM_WORKER: worker("Worker", vllm)})
        lay_out(trees.omni, {GPU_WORKER: worker("GPUARWorker", gpu), WORKER: worker("NPUARWorker")})
        commit(trees.vllm)
        commit(trees.omni)
    bases = {"ascend_base": "HEAD", "omni_base": "HEAD~1", "vllm_base": "HEAD~1"}
    result = check_upgrade(trees.upgrade(trees.ascend_new, **bases, verify=False))
    text = next((change.after or "" for change in result.changes if change.path == WORKER), "")
    assert "self.stage = self.find_stage()" in text
    assert "check_topology" not in text


def test_a_worker_is_started_from_vllm_ascends_version_of_vllms_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    ascend = SET_UP.replace("self.take_snapshot()", "self.take_npu_snapshot()")
    edited = SET_UP.replace("        self.runner", "        self.stage = self.find_stage()\n        self.runner")
    lay_out(trees.vllm, {VLLM_WORKER: worker("Worker")})
    lay_out(trees.ascend_new, {"vllm_ascend/worker/worker.py": worker("NPUWorker", ascend)})
    wanted = "from vllm_omni.platforms.npu.worker.npu_ar_worker import NPUARWorker\n"
    gpu = "from vllm.v1.worker.gpu_worker import Worker\n\n\n" + worker("GPUARWorker(Worker)", edited)
    lay_out(trees.omni, {GPU_WORKER: gpu, BASE: wanted + dedent(OMNI_TREE[BASE])})
    commit(trees.omni)
    result = check_upgrade(trees.upgrade(trees.ascend_new, omni_base="HEAD", vllm_base="0.20.0", verify=False))
    text = next(change.after or "" for change in result.changes if change.path == WORKER)
    assert "self.stage = self.find_stage()" in text
    assert "self.take_npu_snapshot()" in text


@pytest.mark.parametrize("has_anchor", [True, False])
def test_a_feature_that_came_only_by_half_is_left_out(
    has_anchor: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the new local is for stands in a block that NPU has removed; the reset in front of it has its place."""
    mine = "        self._start(rows)\n        self._note(rows)\n        return self._finish(rows)\n"
    block = "        if self.is_long:\n            self.pool.hold(sizes=rows.sizes, until=self.done)\n"
    was = mine.replace("        self._note", f"{block}        self._note")
    now = was.replace("until=self.done", "until=plan.last_step").replace(
        "        self._start(rows)\n", "        plan = self._plan(rows)\n        self._start(rows, plan)\n"
    )
    npu, gpu = (twin.partition("    def")[0] + "    def _run(self, rows):\n" for twin in (NPU_TWIN, GPU_TWIN))
    text, _ = port_of(tmp_path, monkeypatch, npu + (was if has_anchor else mine), gpu + was, gpu + now)
    code = [line.strip() for line in text.split("\n") if "#" not in line]
    assert ("self._start(rows, plan)" in code) == has_anchor
    assert ("plan = self._plan(rows)" in code) == has_anchor


OUTPUT = """
    def _output(self, rows, total):
        self.note(rows)
        return self.pack(
            rows,
            total=total,
            hidden=self.last_hidden,
        )
"""


def test_what_a_port_changes_in_a_statement_is_shown_as_the_whole_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    commit(trees.ascend_new)
    grown = OUTPUT.replace("            hidden", "            stage=self.stage,\n            hidden")
    lay_out(trees.omni, {AR: dedent(OMNI_TREE[AR]) + OUTPUT})
    for method in (OUTPUT, grown):
        lay_out(trees.omni, {GPU_AR: dedent(OMNI_TREE[GPU_AR]) + method})
        commit(trees.omni)
    bases = {"ascend_base": "HEAD", "omni_base": "HEAD~1", "vllm_base": "0.20.0"}
    result = check_upgrade(trees.upgrade(trees.ascend_new, **bases, verify=False))
    (item,) = (item for item in result.report.reviews if item.unit == "NPUARModelRunner._output")
    text = next(change.after or "" for change in result.changes if change.path == AR).split("\n")
    assert item.omni.split() == OUTPUT.partition("rows)\n")[2].split()
    assert item.chosen.split() == " ".join(text[item.line - 1 : item.end_line]).split()
    assert item.chosen.startswith("return self.pack(")
    assert "stage=self.stage" in item.chosen
    assert item.chosen.endswith(")")


NOTED = "        self.note(\n            rows,\n            stage=self.stage,\n        )\n"
SENT = "        self.send(\n            total,\n            stage=self.stage,\n        )\n"


@pytest.mark.parametrize(
    ("was", "now", "omni", "chosen"),
    [(NOTED, NOTED + SENT, "", SENT), (NOTED + SENT, NOTED, SENT, "")],
    ids=["brought", "taken away"],
)
def test_a_call_that_a_port_puts_behind_another_one_is_shown_alone(
    was: str, now: str, omni: str, chosen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    commit(trees.ascend_new)
    first, last = OUTPUT.split("        self.note(rows)\n")
    lay_out(trees.omni, {AR: dedent(OMNI_TREE[AR]) + first + was + last})
    for body in (was, now):
        lay_out(trees.omni, {GPU_AR: dedent(OMNI_TREE[GPU_AR]) + first + body + last})
        commit(trees.omni)
    bases = {"ascend_base": "HEAD", "omni_base": "HEAD~1", "vllm_base": "0.20.0"}
    result = check_upgrade(trees.upgrade(trees.ascend_new, **bases, verify=False))
    (item,) = (item for item in result.report.reviews if item.unit == "NPUARModelRunner._output")
    assert (item.omni.split(), item.chosen.split()) == (omni.split(), chosen.split())


def test_what_the_port_of_a_renamed_local_left_as_it_was_reads_the_new_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The GPU runner collects into another list, too, which a mixin sends that NPU does not have."""
    body = (
        "        rows, output = self.take(total)\n        found = []\n        for row in rows:\n"
        "            found.append(self.cut(output, row))\n        self.note(rows, total)\n        return found\n"
    )
    fetch = "        return self.cache.get(rows, total)\n"
    was, npu = (twin.replace(fetch, body) for twin in (GPU_TWIN, NPU_TWIN))
    now = was.replace("rows, output = ", "rows, output_raw = ").replace("        found = []\n", "")
    now = now.replace("found.append(self.cut(output, row))", "payloads.append(self.cut(output_raw, row))")
    now = now.replace("        for row in rows", "        payloads = torch.cuda.Stream()\n        for row in rows")
    now = now.replace("return found", "return self.send(payloads)")
    text, questions = port_of(tmp_path, monkeypatch, npu, was, now)
    assert "rows, output_raw = self.take(total)" in text
    assert "found.append(self.cut(output_raw, row))" in text
    assert "output is neither defined nor imported" not in questions


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        pytest.param("", "taken out, as in the GPU runner, which has it no more", id="gone"),
        pytest.param(
            "        self.note(first, rows)\n",
            "ported from the GPU runner; no line of it has run on this platform yet",
            id="changed",
        ),
    ],
)
def test_what_the_gpu_runner_took_out_is_not_said_to_be_new(
    new: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npu, was = (text.replace("kept = ", "self.note(first)\n        kept = ") for text in (NPU_TWIN, GPU_TWIN))
    text, questions = port_of(tmp_path, monkeypatch, npu, was, was.replace("        self.note(first)\n", new))
    assert ("self.note(first)" in text) is False
    assert questions.split("\n") == [reason]


@pytest.mark.parametrize(
    ("only", "parameter", "came"),
    [
        pytest.param(("_fetch",), "staged", False, id="the caller was not asked for"),
        pytest.param(("_fetch",), "*, staged=0", True, id="the caller need not give it"),
        pytest.param(("_fetch", "_collect"), "staged", True, id="the caller comes along"),
    ],
)
def test_a_signature_does_not_come_without_its_callers(
    only: tuple[str, ...], parameter: str, came: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = GPU_TWIN.replace("rows, total):", f"rows, total, {parameter}):").replace(", total)\n", ", total, staged)\n")
    now = now.replace("len(kept))", "len(kept), staged=rows[1])")
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, now, only=only)
    assert (f"def _fetch(self, rows, total, {parameter}):" in text) == came
    assert ("staged=rows[1]" in text) == ("_collect" in only)
    assert ("_collect still calls it with the arguments that it takes now" in questions) != came


BLOCK = "if use_async:\n    snapshot = copy(rows)\n    rows = snapshot.rows"
BLOCK_LEFT_OUT = Decision(4, 4, Reason("suite around other statements"), 0.5, "", "", BLOCK, "")


def left_out(text: str, name: str) -> Decision:
    return Decision(4, 4, Reason("reads what nothing sets", (name,)), 0.5, "", "", text, "")


@pytest.mark.parametrize(
    ("others", "shown"),
    [
        pytest.param(
            [left_out("snapshot = copy(rows)", "copy"), left_out("rows = snapshot.rows", "snapshot")], [], id="all"
        ),
        pytest.param(
            [left_out("snapshot = copy(rows)", "copy"), left_out("close(snapshot)", "snapshot")],
            ["close(snapshot)"],
            id="one of them",
        ),
        pytest.param([left_out("rows = snapshot", "snapshot")], ["rows = snapshot"], id="none: it only begins so"),
    ],
)
def test_what_stands_in_a_block_that_was_left_out_is_no_second_question(
    others: list[Decision], shown: list[str]
) -> None:
    """0.32.0rc1 on vllm-ascend 0.30.0rc2 had a block of the GPU runner's ``sample_tokens`` in two questions."""
    first, *rest = _together([BLOCK_LEFT_OUT, *others])
    assert first == BLOCK_LEFT_OUT
    assert [item.upstream for item in rest] == shown


def test_noop_what_stands_in_a_block_that_came_in_is_a_question() -> None:
    block = replace(BLOCK_LEFT_OUT, chosen=BLOCK)
    inside = left_out("rows = snapshot.rows", "snapshot")
    assert _together([block, inside]) == [block, inside]


ROWS = "if sys.version_info >= (3, 11):\n    from vllm.outs import Rows\n"
FROM_TWIN = "from vllm_omni.worker.gpu_ar_model_runner import Rows\n"


@pytest.mark.parametrize(
    ("head", "imported"),
    [
        pytest.param("from vllm.outs import Rows\n", "from vllm.outs import Rows\n", id="plainly"),
        pytest.param(f"{ROWS}else:\n    from vllm.old import Rows\n", FROM_TWIN, id="from one of two modules"),
        pytest.param(f"{ROWS}else:\n    def Rows(x): return x\n", FROM_TWIN, id="or its own"),
        pytest.param(f"Rows = None\n{ROWS}", FROM_TWIN, id="or nothing"),
        pytest.param(ROWS, "", id="perhaps not at all"),
        pytest.param(f"{ROWS}else:\n    from vllm.old import Rules\n", "", id="or another name"),
    ],
)
def test_what_the_twin_imports_under_a_condition_comes_from_there_where_it_has_it_by_every_way(
    head: str, imported: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    npu, was = dedent(OMNI_TREE[AR]), f"import sys\n{head}{dedent(OMNI_TREE[GPU_AR])}"
    now = was.replace('return info.get("stage")', 'return Rows(info.get("stage"))')
    text, questions = port_of(tmp_path, monkeypatch, npu, was, now)
    assert 'return Rows(info.get("stage"))' in text
    assert [line for line in text.splitlines(keepends=True) if "import Rows" in line] == (
        [imported] if imported else []
    )
    assert ("Rows is neither defined nor imported here" in questions) is (not imported)


def test_a_runner_that_is_started_from_its_twin_imports_such_a_name_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    (trees.omni / AR).unlink()
    gpu = dedent(OMNI_TREE[GPU_AR]).replace('return info.get("stage")', 'return Rows(info.get("stage"))')
    asking = f"from {AR[:-3].replace('/', '.')} import NPUARModelRunner\n{dedent(OMNI_TREE[BASE])}"
    lay_out(trees.omni, {GPU_AR: f"import sys\n{ROWS}else:\n    from vllm.old import Rows\n{gpu}", BASE: asking})
    commit(trees.omni)
    result = sync.upgrade(trees.upgrade(trees.ascend_new, vllm_base="0.20.0", verify=False))
    (text,) = (change.after or "" for change in result.changes if change.path == AR)
    assert 'return Rows(info.get("stage"))' in text
    assert FROM_TWIN in text


OWN = dedent("""
    def run(self, rows):
        self.start()
        if self.is_cached:
            rows = self.cached(rows)
        else:
            rows = self.built(rows)
        return rows
""")
PORTED = OWN.replace("(rows)\n", "(rows, self.limit)\n")
PASSAGE = """
    rows = self.cached(rows, self.limit)
else:
    rows = self.built(rows, self.limit)
"""


@pytest.mark.parametrize(
    ("twin", "said"),
    [
        pytest.param(
            PORTED.replace("else:", "if rows is None:"),
            PASSAGE.replace("else", "if rows is None"),
            id="under another condition",
        ),
        pytest.param(
            PORTED.replace("built(rows, self.limit", "built(rows, self.limit, self.rank"),
            PASSAGE.replace("built(rows, self.limit", "built(rows, self.limit, self.rank"),
            id="a merge of both",
        ),
        pytest.param(
            PORTED.replace("    rows = self.built", "    if rows:\n            rows = self.built"),
            PASSAGE.replace("    rows = self.built", "    if rows:\n        rows = self.built"),
            id="under one more condition",
        ),
        pytest.param(PORTED, PASSAGE, id="as it was ported"),
    ],
)
def test_a_ported_passage_is_shown_as_the_twin_has_it(twin: str, said: str) -> None:
    """Of 0.22.0 on 0.25.1rc1 an ``else`` was quoted as the GPU twin's, where it has a condition of its own."""
    draft, job = Draft("R.run", (Stage(OWN),), chosen=True), ModuleJob(NPU, NPU.modules[1], "runner.py", "")
    (item,) = ported_passages.questions(draft, job, before=OWN, after=PORTED, twin=twin)
    assert (item.upstream, item.chosen) == (said.strip("\n"), PASSAGE.strip("\n"))
