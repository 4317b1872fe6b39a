"""What comes from the GPU twin and with what: changes of methods, and members that NPU does not have (``--only``)."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
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

from runner_sync import cli, sync
from runner_sync.markers import read_markers
from runner_sync.merge import Reason
from runner_sync.sync import TreeOptions
from runner_sync.terminal.advice import suggest_commit
from runner_sync.terminal.commands import exit_code
from runner_sync.upgrade.from_gpu.merging.refusing import veto_for

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


@pytest.mark.parametrize("called", [True, False])
def test_a_new_member_that_inherited_code_calls_comes(
    called: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = dedent(OMNI_TREE[GPU_BASE])
    body = "self._note_step(rows)" if called else "len(rows)"
    beside = {GPU_BASE: f"{base}\n    def _spans(self, rows):\n        return {body}\n"}
    now = f"{GPU_TWIN}\n    def _note_step(self, rows):\n        return len(rows)\n"
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, now, beside=beside)
    assert ("def _note_step(" in text) is called
    assert ("ported from the GPU runner: _spans, which the NPU class inherits, calls it" in questions) is called


def test_a_command_lists_the_members_that_need_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``_forward`` is there by the base, ``_sample`` is asked for by the platform; ``_history`` is called by nobody."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    gpu = dedent(OMNI_TREE[GPU_AR]) + "\n    def _history(self):\n        return self.input_batch.history\n"
    lay_out(trees.omni, {GPU_AR: gpu})
    result = check_upgrade(trees.upgrade(trees.ascend_new, verify=False))
    (note,) = [note for note in result.report.notes if "need no port" in note]
    assert "the NPU classes inherit a version of them, or nothing calls them" in note
    assert cli.run(shlex.split(note.split("`")[1])[1:]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "unneeded: nothing on the NPU side calls it" in printed
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
    report = sync.upgrade(replace(alone, only=("_history",))).report
    (said,) = [note for note in report.notes if "_history" in note]
    assert "is not ported: no omni code calls it, and a run without vllm-ascend (--gpu-only) cannot tell" in said
    assert said.endswith(" whether vllm-ascend does; to tell, name one with --ascend-path or --ascend-version")
    assert report.summary["explained"] == 1
    lay_out(trees.omni, {GPU_AR: f"{gpu}\n    def _look(self):\n        return self._history()\n"})
    (said,) = [n for n in sync.upgrade(replace(alone, only=("_history",))).report.notes if "_history is" in n]
    assert " whether vllm-ascend does; the GPU runner does in _look: `--only NPUARModelRunner._look " in said
    assert said.endswith(" before the call was made; to tell, name one with --ascend-path or --ascend-version")
    lay_out(trees.omni, {GPU_AR: gpu})
    whole = sync.upgrade(alone).report
    assert any("nothing in omni calls" in note for note in whole.notes)
    assert "explained" not in whole.summary


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
    ("base", "rest", "is_ported"),
    [
        ("v0.21.0rc2", {"ascend_base": "HEAD~1"}, True),
        ("v0.21.0rc2", {"ascend_base": "HEAD"}, False),
        ("v0.21.0rc2", {"ascend_base": "HEAD~1", "upstream": False}, False),
        ("v0.21.0rc2", {"upstream": False}, False),
        ("v0.21.0", {"ascend_base": "HEAD~1"}, False),
        ("HEAD~1", {"ascend_base": "HEAD~1"}, False),
    ],
)
def test_in_an_upgrade_a_release_candidate_as_base_stands_for_the_release_before_it_too(
    base: str, rest: dict[str, object], is_ported: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    bases = {"omni_base": base, "vllm_base": "0.20.0"}
    result = check_upgrade(trees.upgrade(trees.ascend_new, **bases, **rest, verify=False))
    text = next(change.after or "" for change in result.changes if change.path == AR)
    assert "first = rows.first" in text
    assert ("self.note(first)" in text) == is_ported
    assert "self.count(rows)" not in text


FORWARD = """
    def _forward_rows(self, rows, total):
        {above}with (
            {items},
            self.attach(rows{late}) as sent,
        ):
            {body}
        return sent
"""
GPU_ITEMS = 'set_graph(rows, total, mode=self.mode, mapping=self.mapping),\n            named("gpu: forward")'
NPU_ITEMS = 'named("forward"),\n            set_graph(rows, total, mode=self.mode, model=self.model, actual=total)'
OTHER_ITEMS = "self.locked(), self.frozen(self.limit), self.numbered(first, second, third, fourth), self.named(fifth)"


@pytest.mark.parametrize(
    ("items", "comes"),
    [
        pytest.param(NPU_ITEMS, True, id="beside others"),
        pytest.param(OTHER_ITEMS, False, id="it has little in common with the twin's"),
    ],
)
def test_an_item_of_a_with_is_merged_where_npu_opens_other_things_beside(
    items: str, comes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`execute_model` of vllm-omni 0.18.0: what the two runners call inside the ``with`` differs, too."""
    was = FORWARD.format(above="", items=GPU_ITEMS, late="", body="hidden = self.step_1(rows=rows)")
    now = FORWARD.format(
        above="late = self.talker is None\n        ",
        items=GPU_ITEMS,
        late=", late=late",
        body="hidden = self.step_1(rows=rows)",
    )
    mine = FORWARD.format(above="", items=items, late="", body="states, aux = self.step_2(total, self.mode)")
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN + mine, GPU_TWIN + was, GPU_TWIN + now)
    assert ("self.attach(rows, late=late) as sent" in text) == ("late = self.talker is None" in text) == comes
    assert all(item.strip() in text for item in items.split("\n"))
    assert ("ported from the GPU runner" in questions) == comes
    assert ("a statement that the NPU runner does not have" in questions) != comes


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
    assert (
        "the GPU runner's change since v0.20.0 builds on its change since v0.19.0, which was ported, too" in said
    ) == comes
    assert ("left out: it uses plan, which nothing sets here" in said) != comes


def since_before_the_base(
    stages: tuple[str, str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, str]:
    """The NPU module and the questions after an upgrade from v0.20.0, with the twin at v0.19.0, then, and now."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    for tag, text in zip(("v0.19.0", "v0.20.0", "main"), stages, strict=True):
        lay_out(trees.omni, {GPU_AR: text, AR: NPU_TWIN})
        commit(trees.omni)
        if tag != "main":
            Repo(trees.omni).create_tag(tag)
    bases = {"omni_base": "v0.20.0", "vllm_base": "0.20.0"}
    result = check_upgrade(trees.upgrade(trees.ascend_new, **bases, upstream=False, verify=False))
    text = next((change.after or "" for change in result.changes if change.path == AR), NPU_TWIN)
    return text, "\n".join(item.reason for item in result.report.reviews)


@pytest.mark.parametrize(
    ("other", "comes"),
    [
        pytest.param("self.cache.traced = False", False, id="it shares no local with what is lacking"),
        pytest.param("first = self.cache.padded(first)", True, id="what is lacking is computed from it"),
    ],
)
def test_of_an_earlier_change_comes_what_the_later_one_lacks(
    other: str, comes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin got ``plan`` and another feature before the base, and NPU followed neither."""
    head = "        kept = self.keep(first)\n"
    planned, noted = (text.replace(head, f"        {other}\n{head}") for text in (PLANNED, PLAN_NOTED))
    text, said = since_before_the_base((GPU_TWIN, planned, noted), tmp_path, monkeypatch)
    assert "plan = self.cache.plan(first)" in text
    assert "self.cache.note(plan)" in text
    assert (other in text) == comes
    assert "builds on its change since v0.19.0, which was ported, too" in said


@pytest.mark.parametrize(
    ("mark", "comes"),
    [
        pytest.param("self.cache.mark(first)", False, id="as at the earlier base: that port would not speak of it"),
        pytest.param("self.cache.mark(rows)", True, id="changed since the earlier base, too"),
    ],
)
def test_a_port_from_an_earlier_base_leaves_nothing_unsaid(
    mark: str, comes: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NPU does without ``mark``, which the twin changes beside what reads ``plan``; somebody must hear of it."""
    head = "        kept = self.keep(first)\n"
    older = GPU_TWIN.replace(head, f"        self.cache.mark(first)\n{head}")
    planned = PLANNED.replace(head, f"        self.cache.mark(first, rows)\n{head}")
    now = PLAN_NOTED.replace(head, f"        {mark}\n{head}")
    text, said = since_before_the_base((older, planned, now), tmp_path, monkeypatch)
    assert ("self.cache.note(plan)" in text) == comes
    assert ("left out: it uses plan, which nothing sets here" in said) != comes
    assert "the GPU runner changed a statement that the NPU runner does not have" in said


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
    assert "not ported: _collect still calls this method with the old arguments" in questions


STORES = """
    def _gather(self, rows):
        first = rows[0]
        self._store(rows, total=len(rows))
        return self.send(first)

    def _store(self, rows, total):
        if self.cache is not None:
            self.count(rows)
            self.cache.update(rows, slots=self.batch.slots.cpu, total=total)
"""
ONLY_STAGED = (
    STORES.replace("def _store(self, rows, total)", "def _store(self, rows, staged, total)")
    .replace("total=total)", "total=total, staged=staged)")
    .replace("        self._store(rows, total=len(rows))\n", "        self.cache.schedule(torch.cuda.Stream(), rows)\n")
)
FIXED = "            slots = self.batch.slots.gpu[:total].cpu()\n"
STAGED = ONLY_STAGED.replace(
    "            self.cache.update(rows, slots=self.batch.slots.cpu",
    f"            # FIX: the kernel writes only .gpu\n{FIXED}            self.cache.update(rows, slots=slots",
)
OLD_ARGUMENTS = "_gather still calls this method with the old arguments"


@pytest.mark.parametrize(
    ("reads", "asked"),
    [
        pytest.param("", f"left out: the new parameter staged; {OLD_ARGUMENTS}", id="an argument"),
        pytest.param(
            "        if staged is not None and not self.is_last:\n            raise StateError(rows)\n",
            f"left out: it uses staged, which nothing sets here; {OLD_ARGUMENTS}",
            id="a block that reads it",
        ),
    ],
)
def test_a_fix_comes_without_the_new_parameter_that_its_caller_does_not_pass(
    reads: str, asked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``_maybe_update_prefix_cache`` of omni 0.22.0 no longer reads a stale buffer, and got ``hidden_states_cpu``."""
    now = STAGED.replace("        if self.cache", f"{reads}        if self.cache")
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN + STORES, GPU_TWIN + STORES, GPU_TWIN + now)
    assert "def _store(self, rows, total):" in text
    assert FIXED + "            self.cache.update(rows, slots=slots, total=total)\n" in text
    assert "StateError" not in text
    assert asked in questions
    assert "not ported" not in questions


@pytest.mark.parametrize("head", ["rows, total, *, staged", "rows, total, *, staged, late=None"])
def test_a_fix_comes_without_a_new_parameter_behind_a_star(
    head: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = STAGED.replace("rows, staged, total)", f"{head})")
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN + STORES, GPU_TWIN + STORES, GPU_TWIN + now)
    assert "staged" not in text.partition("def _store(")[2].partition(":")[0]
    assert FIXED + "            self.cache.update(rows, slots=slots, total=total)\n" in text
    assert "staged" in questions
    assert OLD_ARGUMENTS in questions


@pytest.mark.parametrize(
    ("now", "also"),
    [
        pytest.param(ONLY_STAGED, "", id="nothing else changed"),
        pytest.param(
            STAGED.replace("[:total]", "").replace("total", "size"),
            "; other changes stay out with it, such as `slots = self.batch.slots.gpu.cpu()`",
            id="another parameter has a new name",
        ),
    ],
)
def test_a_change_that_cannot_do_without_the_new_parameter_stays_out(
    now: str, also: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = GPU_TWIN.replace("        kept =", "        self.note(rows)\n        kept =")
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN + STORES, GPU_TWIN + STORES, noted + now)
    assert STORES.partition("    def _store")[2] in text
    assert f"not ported: {OLD_ARGUMENTS}{also}" in questions.split("\n")
    assert ("not ported: _gather still calls" in text) == bool(also)


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


@pytest.mark.parametrize(
    ("npu", "is_taken"),
    [
        pytest.param(RECORD, True, id="as the twin had it"),
        pytest.param(RECORD.replace("logits: int", "logits: float"), False, id="of another type"),
    ],
)
def test_a_changed_field_of_a_record_comes(
    npu: str, is_taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A condition compared the new default, ported alone, with ``None``."""
    now = GPU_TWIN + RECORD.replace("logits: int", "logits: int = -1")
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN + npu, GPU_TWIN + RECORD, now)
    assert ("    logits: int = -1\n" in text) is is_taken
    assert ("ported from the GPU runner" in questions) is is_taken


def test_a_record_whose_field_got_another_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What makes the record lost the old field and got the new one, over and over: the upgrade did not end."""
    fields = "rows: int", "ids: int", "logits: int", "hidden: int", "total: int", "step: int = 0"
    record = "\n    ".join(["\n\nclass State(NamedTuple):", *fields, ""]).rstrip(" ")
    used = "ids = logits = hidden = total = step = kept\n        self.state = "
    used += "State(rows, ids, logits, hidden, total, step)"
    npu = NPU_TWIN.replace("return self._fetch(rows, len(kept))", used) + record
    was = GPU_TWIN.replace("return self._fetch(rows, len(kept))", used) + record
    text, questions = port_of(tmp_path, monkeypatch, npu, was, was.replace("    total: int", "    count: int"))
    assert "    count: int" in text
    assert "State now has count, passed here as count=None; State no longer has total: removed here" in questions
    assert "State(rows, ids, logits, hidden, None, step)" in text


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
    assert ("the NPU version differs too much from it to merge the change" in questions) != is_taken
    assert (
        "; the GPU version now calls step_12, step_13, step_14 and 85 more, which the NPU version does not" in questions
    ) != is_taken


@pytest.mark.parametrize(("called", "lacking"), [((90,), 7), ((), 8), (range(90, 98), 0)])
def test_what_a_refused_port_would_newly_call_is_named(
    called: Sequence[int], lacking: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`load_model` of vllm-omni 0.22.0 on NPU had one of two calls for which the GPU runner gave up its own lines."""
    own = ["self.count = 1", *(f"self.on_npu({number})" for number in range(9)), *(f"self.step_{n}()" for n in called)]
    npu = stepped(NPU_TWIN, *own, names=range(0))
    was = stepped(GPU_TWIN, "self.count = 1", names=range(80))
    now = stepped(GPU_TWIN, "self.count = 1", names=range(90, 98))
    _, questions = port_of(tmp_path, monkeypatch, npu, was, now)
    if lacking:
        assert f"step_9{8 - lacking}, step_9{9 - lacking}, " in questions
        assert f" and {lacking - 3} more, which the NPU version does not" in questions
    else:
        assert "which the NPU version does not" not in questions


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
    by_hand = "not ported: it uses {}, which is code that people port by hand"
    assert asked == [
        f"{by_hand.format('triton.')}; what needs it was not ported either: _stage",
        by_hand.format("flashinfer"),
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
    assert ("the NPU version differs too much from it to merge the change" in questions) != calls_it


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
    text, questions = port_of(tmp_path, monkeypatch, npu, was, GPU_TWIN)
    assert ("def _is_mark(" in text) == is_used
    assert ("def _marks(" in text) == is_used
    asked = [
        f"the GPU runner dropped this method; it stays, because the NPU class still calls it in {one}"
        for one in CALLERS
    ]
    assert [one in questions for one in asked] == [is_used, is_used]


CALLERS = ("_marks", "_collect")


def test_the_commit_message_says_that_the_gpu_runner_dropped_a_method(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    lay_out(trees.omni, {GPU_AR: GPU_TWIN + PARTS.replace("NPU", "GPU"), AR: NPU_TWIN + PARTS})
    commit(trees.omni)
    lay_out(trees.omni, {GPU_AR: GPU_TWIN})
    commit(trees.omni)
    planned = sync.upgrade(trees.upgrade(trees.ascend_new, omni_base="HEAD~1", vllm_base="0.20.0", verify=False))
    assert {unit.removed_for for unit in planned.report.units if unit.outcome == "removed"} == {"gpu"}
    upstream, _, synced = suggest_commit(planned.report).partition("Synced from the GPU runners")
    assert "removed" not in upstream
    assert "_is_mark (removed), _marks (removed)" in " ".join(synced.split())


@pytest.mark.parametrize(
    ("mine", "now", "is_asked"),
    [
        pytest.param(PARTS.replace("bool(value)", "int(value)"), "", True, id="a port that NPU edited"),
        pytest.param(
            "\n    def _marks(self, rows):\n        self.note(rows)\n        return rows\n", "", False, id="NPU's own"
        ),
        pytest.param(PARTS, PARTS, False, id="the GPU runner has it still, and calls it no more"),
        pytest.param(PARTS.replace("_marks", "_finish"), "", False, id="one that the GPU runner inherits now"),
    ],
)
def test_a_port_is_asked_about_when_npu_calls_what_the_gpu_runner_has_no_more(
    mine: str, now: str, is_asked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "_finish" if "_finish" in mine else "_marks"
    called = [text.replace("self.keep(first)", f"self.{name}(first)") for text in (NPU_TWIN, GPU_TWIN)]
    was = called[1] + PARTS.replace("NPU", "GPU").replace("_marks", name)
    text, questions = port_of(tmp_path, monkeypatch, called[0] + mine, was, GPU_TWIN + now.replace("NPU", "GPU"))
    assert f"def {name}(" in text
    dropped = [
        line
        for line in questions.split("\n")
        if line.endswith("it stays, because the NPU class still calls it in _collect")
    ]
    assert len(dropped) == is_asked


def test_what_was_gone_at_the_last_upgrade_is_not_asked_about_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    npu = NPU_TWIN.replace("self.keep(first)", "self._marks(first)") + PARTS
    lay_out(trees.omni, {AR: npu, GPU_AR: npu.replace("platforms.npu.worker.npu", "worker.gpu").replace("NPU", "GPU")})
    commit(trees.omni)
    trees.write_lock()
    commit(trees.omni)
    lay_out(trees.omni, {GPU_AR: GPU_TWIN})
    commit(trees.omni)
    options = trees.upgrade(trees.ascend_old, upstream=False, verify=False)
    asked = []
    for _ in range(2):
        planned = sync.upgrade(options)
        asked.append(sum("dropped this method" in item.reason for item in planned.report.reviews))
        sync.apply(planned, options)
        commit(trees.omni)
    assert asked == [2, 0]


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
    assert ("_collect still calls this method with the old arguments" in questions) != came


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


MARKED = "    # ---------- Omni-new ----------\n"
FETCH = """\
    def _fetch(self, rows, total):
        return self.cache.get(rows, total)
"""


@pytest.mark.parametrize(
    ("npu", "count"),
    [
        pytest.param(NPU_TWIN.replace(FETCH, MARKED + FETCH) + MARKED, 2, id="inside a block"),
        pytest.param(NPU_TWIN.replace(FETCH, MARKED + FETCH + MARKED), 2, id="behind a block"),
        pytest.param(NPU_TWIN.replace("        first", f"    {MARKED}        first") + f"    {MARKED}", 4, id="none"),
        pytest.param(NPU_TWIN, 2, id="no block anywhere"),
    ],
)
def test_a_new_member_stands_between_one_pair_of_rulers(
    npu: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pair of its own inside a block would end that above the member, and begin another one below it; beside a block
    it would be closed and opened again with nothing in between."""
    helper = "    def _ordered(self, rows):\n        return self.count(rows)\n\n"
    now = GPU_TWIN.replace("    def _collect", f"{helper}    def _collect").replace("rows[0]", "self._ordered(rows)[0]")
    text, _ = port_of(tmp_path, monkeypatch, npu, GPU_TWIN, now)
    lines = text.split("\n")
    marks = read_markers(text, label="Omni-new")
    assert sum("---- Omni-new ----" in line for line in lines) == count
    assert marks.problems == ()
    assert next(k for k, line in enumerate(lines, 1) if "def _ordered" in line) in marks.marked


PACK = """\

    def _pack(self, rows):
        self.count(rows)
        self.stage(rows)
        self.send(rows)
        return rows

    def _ship(self, rows):
        return self._pack(rows)
"""
EDITED = PACK.replace("        return rows\n", "        self.note(rows)\n        return rows\n")
CALLED = EDITED.replace("        return self", "        self.note(rows)\n        return self")


@pytest.mark.parametrize(
    ("npu", "now", "said"),
    [
        pytest.param(
            EDITED,
            PACK.replace("_pack(self", "_wrap(self, *").replace("_pack", "_wrap"),
            "the GPU runner dropped this method, and nothing on the NPU side calls it any more",
            id="renamed and changed",
        ),
        pytest.param(EDITED, PACK.replace("self._pack(rows)", "self.sums(rows)"), "", id="still there"),
        pytest.param(CALLED, PACK.replace("_ship", "_carry").replace("_pack", "_wrap"), "", id="still called"),
        pytest.param(PACK, PACK.replace("_pack", "_wrap"), "", id="as the twin had it"),
    ],
)
def test_what_the_twin_calls_otherwise_now_and_npu_has_edited_is_asked_about(
    npu: str, now: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The twin's new method comes beside it, without what NPU does in the old one, which nothing calls any more."""
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN + npu, GPU_TWIN + PACK, GPU_TWIN + now)
    assert ("NPU had edited it" in questions) == bool(said)
    assert said in questions
    assert ("def _pack" in text) == (npu != PACK)


def test_npus_own_form_of_a_method_that_the_twin_renamed_gets_the_new_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a trial with vllm-omni 0.32.0rc1, the twin's form came beside it, without NPU's edits: five questions."""
    now = PACK.replace("_pack", "_wrap")
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN + EDITED, GPU_TWIN + PACK, GPU_TWIN + now)
    lines = [line for line in text.split("\n") if "runner-sync" not in line]
    assert lines == (NPU_TWIN + EDITED.replace("_pack", "_wrap")).split("\n")
    assert "the GPU runner renamed _pack, and NPU's own form of it was renamed, too" in questions


GETTER = "\n    @property\n    def _mode(self):\n        return self._kept\n"
SETTER = "\n    @_mode.setter\n    def _mode(self, value):\n        self._kept = value\n"


@pytest.mark.parametrize(
    ("here", "new"),
    [
        pytest.param("", "first = rows[0] if self._mode else None", id="with the property"),
        pytest.param(GETTER, "self._mode = first = rows[0]", id="of a property that NPU has"),
    ],
)
def test_the_setter_of_a_property_comes(here: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it, the ported assignment would fail."""
    now = GPU_TWIN.replace("first = rows[0]", new) + GETTER + SETTER
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN + here, GPU_TWIN + here, now)
    assert new in text
    assert text.replace("# runner-sync: review ", "").count(SETTER.strip().partition("\n")[0]) == 1
    assert text.index("@property") < text.index("@_mode.setter")
    assert "ported from the GPU runner: it belongs to _mode" in questions
