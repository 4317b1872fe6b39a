"""vLLM's own step taken out of the GPU twin's change, and what it must leave alone."""

from __future__ import annotations

import re

import pytest
from step_samples import MODULE, port_step
from sync_samples import AR, ASCEND, GPU_AR, VLLM

from runner_sync.profile import NPU
from runner_sync.upgrade.from_gpu.twin.vllm_step import (
    NpuVersions,
    drop_vllm_decorators,
    find_calls_of_vllm,
    undo_vllm_step,
)
from runner_sync.upgrade.job import GpuTwin, Hierarchy, Inherited, ModuleJob, Upstream
from runner_sync.upgrade.module import upgrade_module
from runner_sync.upgrade.revision import GpuBase, ModuleRevision

PLAIN = "        extra = self.make_extra_inputs()\n"
SIZED = "        extra = self.make_extra_inputs(num_rows=0)\n"
NOTE = "        self.note_what_was_fetched(kept)\n"
GAIN = "        kept = self.prepared_for_stage(kept)\n"


def step(extra: str = "", *more: str) -> str:
    return f"""\
    def _step(self, rows):
        first = self.prepare(rows)
{extra}        kept = self.keep_first_rows(first, rows)
{"".join(more)}        return self.fetch(rows, kept)
"""


def upgraded(*, npu: str, ascend: str = step(), at_hand: str = SIZED) -> tuple[str, list[str]]:
    """The NPU method after a port of a twin that gained ``GAIN``, and ``SIZED`` from vLLM; and the questions.

    ``at_hand`` is what the vLLM has that NPU runs on.
    """
    result = port_step(
        npu,
        ascend,
        vllm=(step(PLAIN), step(SIZED)),
        twin=(step(PLAIN, NOTE), step(SIZED, NOTE, GAIN)),
        hierarchy=Hierarchy(inherited={MODULE.name: Inherited(vllm={"_step": step(at_hand)})}),
    )
    return result.after, [item.reason for item in result.reviews]


def test_what_vllm_changed_comes_from_the_twin_where_vllm_ascend_has_no_such_statement() -> None:
    """``_init_model_kwargs()`` of omni's ``_dummy_run`` came from the GPU runner; vllm-ascend never calls it."""
    after, _ = upgraded(npu=step(PLAIN, NOTE))
    assert SIZED in after
    assert GAIN in after


@pytest.mark.parametrize(
    ("npu", "ascend"),
    [
        pytest.param(step(PLAIN, NOTE), step(PLAIN), id="vllm-ascend has it as it was"),
        pytest.param(step(PLAIN, NOTE), step(PLAIN.replace("()", "(rows)")), id="vllm-ascend has a form of its own"),
        pytest.param(step("", NOTE), step(), id="NPU does without it"),
        pytest.param(step(PLAIN.replace("()", "(rows)"), NOTE), step(), id="NPU has a form of its own"),
    ],
)
def test_what_vllm_ascend_delivers_or_npu_has_otherwise_does_not_come_from_the_twin(npu: str, ascend: str) -> None:
    after, _ = upgraded(npu=npu, ascend=ascend)
    assert "num_rows" not in after
    assert GAIN in after


def test_what_the_vllm_of_npu_has_not_made_yet_does_not_come() -> None:
    """A port alone: vllm-ascend stays where it is, on an older vLLM whose method takes no such argument."""
    after, _ = upgraded(npu=step(PLAIN, NOTE), at_hand=PLAIN)
    assert "num_rows" not in after
    assert GAIN in after


def test_only_the_place_that_npu_has_is_brought_up_to_date() -> None:
    twice = f"        if self.is_last:\n    {PLAIN}"
    old, now = step(PLAIN, twice), step(SIZED, twice.replace("()", "(num_rows=0)"))
    undone = undo_vllm_step(now, old=old, then=old, now=now, npu=NpuVersions(step(PLAIN), (step(),), now))
    assert undone.text == step(SIZED, twice)
    assert undone.only_here == {line.strip() for line in (PLAIN, SIZED)}


RECORD = "        made = Record(first=first, rows=rows, kept=kept)\n"
ROUTED = "        made = Record(first=first, rows=rows, routed=self.routed, kept=kept)\n"
OWN = "        made = dict(first=first, rows=rows, kept=kept)\n"


def test_a_statement_that_the_twin_did_not_change_stays_as_it_is() -> None:
    """vLLM dropped an argument that the twin never passed: undone in the twin, it would be omni's news."""
    old, new = step("", OWN), step("", OWN, GAIN)
    undone = undo_vllm_step(new, old=old, then=step("", ROUTED), now=step("", RECORD), npu=NpuVersions(step("", OWN)))
    assert undone.text == new


def test_a_statement_that_the_twin_changed_with_vllm_is_as_it_was_on_the_old_vllm() -> None:
    """A near-miss: omni's part of it is left."""
    tagged = RECORD.replace("kept=kept", "kept=kept, tag=self.tag")
    undone = undo_vllm_step(
        step("", tagged),
        old=step("", ROUTED),
        then=step("", ROUTED),
        now=step("", RECORD),
        npu=NpuVersions(step("", ROUTED)),
    )
    assert undone.text == step("", ROUTED.replace("kept=kept", "kept=kept, tag=self.tag"))
    assert undone.only_here == frozenset()


SAVED = (
    "        if self.ready:\n            saver = get_saver()\n            if saver:\n                saver.finish()\n"
)
MENDED = SAVED.replace("if saver:", "if saver and self.is_last:")
CLEARED = "        if self.ready:\n            self.saver.clear()\n"


@pytest.mark.parametrize(
    ("old", "new", "left"),
    [
        pytest.param(
            step(NOTE + MENDED),
            step(CLEARED + NOTE + MENDED.replace("get_saver()", "self.saver")),
            step(NOTE + MENDED.replace("get_saver()", "self.saver")),
            id="the twin has the block further down",
        ),
        pytest.param(step(MENDED + NOTE), step(CLEARED + NOTE), step(SAVED + NOTE), id="the twin gave the block up"),
        pytest.param(step(SAVED), step(CLEARED), step(SAVED), id="the twin follows vLLM"),
    ],
)
def test_a_block_of_vllms_does_not_come_back_beside_the_form_that_the_twin_has_of_it(
    old: str, new: str, left: str
) -> None:
    """``execute_model`` of omni 0.24.0rc1 finishes what vLLM 0.21.0 finished at its beginning, and 0.24.0 does not."""
    undone = undo_vllm_step(new, old=old, then=step(SAVED), now=step(CLEARED), npu=NpuVersions(old))
    assert undone.text == left


PLAN = "        plan = self.plan(rows, cascade=prefix is not None)\n"
OTHERS = "        plan = self.plan(rows, cascade=False)\n"


@pytest.mark.parametrize(
    ("twin", "is_theirs"),
    [
        pytest.param({}, True, id="with another argument"),
        pytest.param({"new": OTHERS.replace("cascade", "stage=self.stage, cascade")}, False, id="with one of omni's"),
        pytest.param({"new": OTHERS.replace("plan =", "own =")}, False, id="kept under another name"),
        pytest.param({"old": PLAN}, False, id="that omni had before"),
        pytest.param({"then": PLAN}, False, id="that vLLM had before"),
        pytest.param({"now": GAIN}, False, id="that vLLM does not have"),
        pytest.param({"npu": OTHERS}, False, id="that NPU has, too"),
        pytest.param({"ascend": "        self.plan(rows)\n"}, False, id="that vllm-ascend has, too"),
    ],
)
def test_a_new_call_of_vllms_in_which_omni_changed_an_argument_is_vllms(twin: dict[str, str], is_theirs: bool) -> None:
    sides = {"new": OTHERS, "old": GAIN, "then": GAIN, "now": PLAN, "npu": GAIN, "ascend": GAIN} | twin
    new, old, then, now, npu, ascend = (step("", text) for text in sides.values())
    found = find_calls_of_vllm(new, old=old, then=then, now=now, npu=NpuVersions(npu, (ascend,)))
    assert found == ({OTHERS.strip()} if is_theirs else set())


TIMED = '@timed("Loading (GPU)")'
PURE = "@torch.inference_mode()"


def load(*decorators: str) -> str:
    return "".join(f"    {line}\n" for line in decorators) + "    def load_model(self):\n        super().load_model()\n"


@pytest.mark.parametrize(
    ("old", "vllm", "ascend", "left"),
    [
        pytest.param(load(), load(TIMED), load(), load(), id="vLLM's own"),
        pytest.param(load(), load(TIMED), load(TIMED), load(TIMED), id="vllm-ascend has it, too"),
        pytest.param(load(TIMED), load(TIMED), load(), load(TIMED), id="the twin has had it"),
        pytest.param(load(), load(PURE), load(), load(TIMED), id="vLLM's method does without"),
        pytest.param(load(), "", load(), load(TIMED), id="vLLM has no such method"),
    ],
)
def test_a_decorator_of_vllms_that_vllm_ascend_does_without(old: str, vllm: str, ascend: str, left: str) -> None:
    assert drop_vllm_decorators(load(TIMED), old=old, vllm=vllm, ascend=ascend) == left


def test_of_several_decorators_that_of_vllm_goes() -> None:
    long = '@timed(\n        "Loading (GPU)"\n    )'
    new = load("# how long it takes", long, "@counted")
    undone = drop_vllm_decorators(new, old=load(), vllm=load(TIMED), ascend=load())
    assert undone == load("# how long it takes", "@counted")


@pytest.mark.parametrize(("theirs", "comes"), [(TIMED, False), (PURE, True)])
def test_an_override_of_vllm_ascends_method_takes_no_decorator_of_vllms(theirs: str, *, comes: bool) -> None:
    """``load_model`` of omni 0.16.0; the twin also gained a statement, and that comes."""
    known = "from vllm.tracing import timed\n\n\n"
    vllm = [
        ModuleRevision(ref, f"class GPUModelRunner:\n{load(*of)}", VLLM) for ref, of in (("1", ()), ("2", (theirs,)))
    ]
    old, new = (
        ModuleRevision(ref, f"{known}class GPUARModelRunner:\n{body}", GPU_AR)
        for ref, body in (("1", load()), ("2", load(TIMED) + "        self.note_that_it_is_loaded()\n"))
    )
    upstream = ModuleRevision("1", "class NPUModelRunner:\n    def load_model(self):\n        self.load()\n", ASCEND)
    job = ModuleJob(
        NPU,
        MODULE,
        AR,
        f"{known}class NPUARModelRunner:\n{load()}",
        Upstream(new=upstream, is_followed=True, bases=(upstream,)),
        GpuTwin(new=new, bases=(GpuBase(old, lambda: vllm[0]),), load_vllm=lambda: vllm[1]),
        hierarchy=Hierarchy(inherited={MODULE.name: Inherited(vllm={"load_model": load(TIMED)})}),
    )
    after = upgrade_module(job).after
    assert "self.note_that_it_is_loaded()" in after
    assert (TIMED in after) == comes


AHEAD = "        if self.is_last:\n            return self.attach(Output.of(rows))\n"
MADE = """\
        if self.is_last:
            if not rows:
                return self.empty
            output = copy(self.empty)
            output.rows = rows
            return output
"""
VLLMS = "        if self.is_last:\n            return Output.of(rows)\n"


def test_a_step_that_the_old_twin_had_made_before_its_vllm_is_not_undone() -> None:
    """``sample_tokens`` of omni 0.22.0 returned vLLM 0.23's short form already."""
    new = step(AHEAD, GAIN)
    undone = undo_vllm_step(new, old=step(AHEAD), then=step(MADE), now=step(VLLMS), npu=NpuVersions(step(MADE)))
    assert undone.text == new


def test_a_step_that_the_twin_made_with_vllm_is_undone() -> None:
    """A near-miss: the old twin had what vLLM dropped."""
    old = step(MADE)
    undone = undo_vllm_step(step(VLLMS, GAIN), old=old, then=old, now=step(VLLMS), npu=NpuVersions(old))
    assert undone.text == step(MADE, GAIN)


@pytest.mark.parametrize(
    ("was", "count"),
    [
        pytest.param(AHEAD, 2, id="the old twin was ahead of its vLLM"),
        pytest.param(VLLMS, 0, id="neither twin uses the mixin"),
    ],
)
def test_uses_of_a_new_mixin_come_where_the_old_twin_was_ahead_of_its_vllm(was: str, count: int) -> None:
    after = port_step(
        step(MADE),
        step(MADE),
        vllm=(step(MADE), step(VLLMS)),
        twin=(step(was), step(was, GAIN)),
        hierarchy=Hierarchy(added_mixins={MODULE.name: {"SendingMixin": frozenset({"attach"})}}),
    ).after
    assert GAIN in after
    assert after.count("return self.attach(") == count
    assert "Output.of" not in after


@pytest.mark.parametrize("ascend", [step(), step(NOTE)])
def test_a_name_for_a_parameter_that_only_the_twin_has_stays_there(ascend: str) -> None:
    """vllm-ascend may pass the parameter by its name."""
    new = re.sub(r"\brows\b", "batch", step("", GAIN))
    result = port_step(step(), ascend, vllm=(step(), step()), twin=(step(), new), hierarchy=Hierarchy())
    assert "def _step(self, rows):" in result.after
    assert "batch" not in result.after
    assert GAIN in result.after
