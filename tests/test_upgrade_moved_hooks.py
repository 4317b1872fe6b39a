"""A port in which omni's own code changed places with statements that vllm-ascend's method has, too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from textwrap import indent

import pytest
from sync_samples import AR, ASCEND, GPU_AR, VLLM, Trees, check_upgrade, commit, dedent, lay_out, stay_at_home

from runner_sync.merge import PORT, Kind, Reason, merge
from runner_sync.model import Triple
from runner_sync.profile import NPU
from runner_sync.sync.options import TreeOptions
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.upgrade.draft import Draft, Stage
from runner_sync.upgrade.from_gpu.asking import ported_passages
from runner_sync.upgrade.job import ModuleJob

UPDATE = "    self.update_all_states(output)\n"
HOOK = "    if output.finished and self.model.has_hooks:\n        self.model.on_finished(output.finished)\n"
RUN = f"""\
def run(self, output):
    total = output.total
{UPDATE}{HOOK}    if not total:
        return None
    self.prepare_inputs(output)
    return self.forward(output, total)
"""
EARLY = RUN.replace(UPDATE + HOOK, HOOK + UPDATE)
OWN = RUN.replace("    self.prepare_inputs(output)\n", "    self.prepare_inputs(output, self.npu)\n")


def moved(upstream: str, omni: str, firm: set[str]) -> str:
    pinned = {line.strip() for line in UPDATE.splitlines()}
    return merge(Triple(RUN, omni, upstream), policy=PORT, pinned=pinned, firm=firm).text


@pytest.mark.parametrize("omni", [pytest.param(RUN, id="the same"), pytest.param(OWN, id="with a part of its own")])
def test_a_block_that_upstream_put_before_a_firm_statement_moves(omni: str) -> None:
    assert moved(EARLY, omni, {UPDATE.strip()}) == omni.replace(UPDATE + HOOK, HOOK + UPDATE)


MANY = "".join(f"    self.take_step_{k}_of_all(output, total)\n" for k in range(14))


@pytest.mark.parametrize(
    ("omni", "upstream"),
    [
        pytest.param(RUN, RUN.replace("        return None\n", f"        return None\n{UPDATE}"), id="twice"),
        pytest.param(
            RUN, RUN.replace(UPDATE, "").replace("        return", f"    {UPDATE}        return"), id="another suite"
        ),
        pytest.param(RUN, RUN.replace("update_all_states", "update_states"), id="edited at its place"),
    ],
)
def test_noop_firm_statements_that_did_not_change_places_in_their_suite(omni: str, upstream: str) -> None:
    assert moved(upstream, omni, {UPDATE.strip()}) == moved(upstream, omni, set())


@pytest.mark.parametrize("is_firm", [True, False])
def test_a_whole_passage_does_not_move_past_one_statement_and_a_question_says_so(*, is_firm: bool) -> None:
    base, upstream = RUN.replace(HOOK, MANY), RUN.replace(UPDATE + HOOK, MANY + UPDATE)
    call = UPDATE.strip()
    result = merge(Triple(base, base, upstream), policy=PORT, pinned={call}, firm={call} if is_firm else set())
    assert result.text == base
    assert [item.reason for item in result.decisions] == [Reason("kept at its place")] * is_firm


def runner(name: str, base: str, body: str) -> str:
    origin = {"GPU": "vllm_omni.worker.gpu_model_runner", "NPU": "vllm_omni.platforms.npu.worker.npu_model_runner"}
    module = next((path for kind, path in origin.items() if f"Omni{kind}" in base), "vllm.v1.worker.gpu_model_runner")
    text = "".join(f"    {line}" for line in body.splitlines(keepends=True))
    return f"from {module} import {base}\n\n\nclass {name}({base}):\n{text}"


def text_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, twin: tuple[str, str], vllm: tuple[str, str]
) -> tuple[str, list[str]]:
    """The NPU runner after a port of the change of its ``twin``, beside that of ``vllm``, and the questions."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    module = dedent((trees.vllm / VLLM).read_text("utf-8"))
    for body in vllm:
        method = "".join(f"    {line}" for line in body.splitlines(keepends=True))
        lay_out(trees.vllm, {VLLM: f"{module}\n{method}"})
        commit(trees.vllm)
    lay_out(trees.ascend_old, {ASCEND: runner("NPUModelRunner", "GPUModelRunner", vllm[0])})
    lay_out(trees.omni, {AR: runner("NPUARModelRunner", "OmniNPUModelRunner", twin[0])})
    for body in twin:
        lay_out(trees.omni, {GPU_AR: runner("GPUARModelRunner", "OmniGPUModelRunner", body)})
        commit(trees.omni)
    options = UpgradeOptions(
        omni=TreeOptions(path=trees.omni),
        ascend=TreeOptions(path=trees.ascend_old),
        vllm=TreeOptions(path=trees.vllm),
        omni_base="HEAD~1",
        vllm_base="HEAD~1",
        upstream=False,
        verify=False,
    )
    result = check_upgrade(options)
    text = next((change.after or "" for change in result.changes if change.path == AR), "")
    return text, [item.reason for item in result.report.reviews]


def test_a_hook_moves_past_a_call_of_vllms_and_is_asked_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = RUN.replace(HOOK, "")
    text, questions = text_after(tmp_path, monkeypatch, (RUN, EARLY), (plain, plain))
    assert 0 < text.index("on_finished") < text.index("update_all_states")
    assert questions == ["ported from the GPU runner; the changed lines have not run on this platform yet"]


TAKE = "    waiting = self.waiting\n    self.waiting = None\n"
IDS = '    ids = getattr(self, "extracted_request_ids", None)\n    self.extracted_request_ids = None\n'
TAKING = f"""\
def run(self, output):
{TAKE}{IDS}    if output is None:
        return waiting
    self.prepare_inputs(output, ids)
    self.draft(output)
    return self.forward(output, waiting)
"""


def test_noop_vllm_itself_takes_the_value_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`sample_tokens` of vLLM 0.18.0 takes it in the branch, and once more behind the drafts."""
    twin = TAKING.replace(TAKE, "").replace("        return waiting", indent(TAKE, "    ") + "        return waiting")
    twin = twin.replace("    return self.forward", f"{TAKE}    return self.forward")
    vllm = (TAKING.replace(IDS, "").replace(", ids", ""), twin.replace(IDS, "").replace(", ids", ""))
    assert text_after(tmp_path, monkeypatch, (TAKING, twin), vllm) == ("", [])


LONG = "".join(f"    self.take_step_{k}(output)\n" for k in range(9))
OLD_PLACE = f"def run(self, output):\n{HOOK}{LONG}    return self.forward(output)\n"
NEW_PLACE = f"def run(self, output):\n{LONG}{HOOK}    return self.forward(output)\n"


@pytest.mark.parametrize(
    ("after", "parts"),
    [
        pytest.param(NEW_PLACE, 1, id="moved"),
        pytest.param(OLD_PLACE.replace(HOOK, ""), 0, id="removed"),
        pytest.param(OLD_PLACE.replace("    return", f"{HOOK}    return"), 0, id="added once more"),
        pytest.param(NEW_PLACE.replace("finished(output", "finished(total, output"), 0, id="moved and changed"),
    ],
)
def test_the_old_and_the_new_place_of_a_passage_are_one_question(after: str, parts: int) -> None:
    draft, job = Draft("R.run", (Stage(OLD_PLACE),), chosen=True), ModuleJob(NPU, NPU.modules[1], "runner.py", "")
    items = ported_passages.list_questions(draft, job, after=after, twin=after)
    leads = {item.id: item.reason for item in items}
    found = [leads[item.part_of] for item in items if item.part_of]
    assert found == [ported_passages.MOVED_HERE] * parts


@pytest.mark.parametrize(
    ("kind", "line", "is_part"),
    [
        pytest.param("in other suites", 11, True, id="in the passage"),
        pytest.param("on the other side", 12, True, id="at its end"),
        pytest.param("in other suites", 10, False, id="above it"),
        pytest.param("in other suites", 13, False, id="below it"),
        pytest.param("both changed a part", 11, False, id="not about its place"),
    ],
)
def test_a_question_about_the_place_of_a_ported_statement_is_a_part_of_the_passage(
    kind: Kind, line: int, *, is_part: bool
) -> None:
    """A hook that left a `with` of NPU's was four questions."""
    draft, job = Draft("R.run", (Stage(OLD_PLACE),), chosen=True), ModuleJob(NPU, NPU.modules[1], "runner.py", "")
    items = ported_passages.list_questions(draft, job, after=NEW_PLACE, twin=NEW_PLACE)
    (here,) = [item for item in items if item.reason == ported_passages.MOVED_HERE]
    assert here.line == 11
    about = replace(here, id="R1", reason="why", line=line)
    joined = ported_passages.join_to_passage(about, Reason(kind), items)
    assert joined == replace(about, part_of=here.id if is_part else "")
