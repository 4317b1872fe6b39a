"""``blocks``: omni code of both sides, and what became of each GPU unit on NPU."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import CorpusRelease
from sync_samples import AR, ASCEND, BASE, GPU_AR, GPU_BASE, RULER, Trees, commit, stay_at_home

from runner_sync import cli, sync
from runner_sync.errors import InputError
from runner_sync.model import Block, Report
from runner_sync.render import render
from runner_sync.sync.options import CheckOptions, TreeOptions


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    stay_at_home(monkeypatch, tmp_path)
    return Trees(tmp_path)


def of(report: Report, path: str, unit: str) -> list[Block]:
    return [block for block in report.blocks if (block.path, block.unit) == (path, unit)]


def standing(report: Report, path: str, unit: str) -> str:
    """What became of a GPU unit, as its blocks say."""
    return "; ".join(dict.fromkeys(block.twin or "" for block in of(report, path, unit)))


def test_without_upstreams_markers_count(trees: Trees) -> None:
    report = sync.blocks(trees.check())
    (block,) = of(report, BASE, "OmniNPUModelRunner.execute_model")
    assert block.marked
    assert block.label == "keep what the talker needs"
    assert "self.talker_total = total" in block.text
    assert "self.last_hidden" not in block.text
    (loose,) = of(report, GPU_BASE, "OmniGPUModelRunner._forward")
    assert loose.label == "remember how much there was"
    assert [note for note in report.notes if "--ascend-path" in note]
    assert [note for note in report.notes if "--vllm-path" in note]


@pytest.mark.parametrize("broken", ["      def f(self): pass\n", "x = f(a=1, 2)\n", "x = 1\0\n", f"x = {'9' * 5000}\n"])
@pytest.mark.parametrize("path", [BASE, GPU_BASE])
def test_a_file_that_does_not_parse_is_named(trees: Trees, path: str, broken: str) -> None:
    """Also where a comment claims the statement below it, which the parser tells."""
    with (trees.omni / path).open("a", encoding="utf-8") as file:
        file.write(f"\n\n# [Omni] a note\n{broken}")
    with pytest.raises(InputError, match=rf"^{path}:"):
        sync.blocks(trees.check())


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("", r"has no class NPUARModelRunner: bring it back"),
        ("if True:\n    class NPUARModelRunner:\n        pass\n", r"stands inside another statement"),
    ],
    ids=["no class", "inside an if"],
)
def test_the_list_is_of_all_runners_or_there_is_none(trees: Trees, head: str, said: str) -> None:
    """As `check` has it: what is missing from a list shows nowhere."""
    trees.write_lock()
    (trees.omni / AR).write_text(head, "utf-8")
    with pytest.raises(InputError, match=said):
        sync.blocks(trees.check())
    (trees.omni / AR).unlink()
    with pytest.raises(InputError, match=rf"records {AR}, and the tree has no such runner"):
        sync.blocks(trees.check())


def test_a_runner_that_no_lock_records_may_be_missing(trees: Trees) -> None:
    (trees.omni / AR).unlink()
    assert {block.path for block in sync.blocks(trees.check()).blocks} >= {BASE, GPU_BASE}


def test_with_vllm_ascend_unmarked_code_is_found_too(trees: Trees) -> None:
    report = sync.blocks(trees.check(ascend=trees.ascend_old))
    marked, unmarked = of(report, BASE, "OmniNPUModelRunner.execute_model")
    assert (marked.marked, unmarked.marked) == (True, False)
    assert unmarked.text.strip() == "self.last_hidden = hidden"
    assert unmarked.names_defined == ("self.last_hidden",)
    assert not [note for note in report.notes if "--ascend-path" in note]


def test_gpu_code_that_vllm_has_is_not_omnis(trees: Trees) -> None:
    trees.edit(
        GPU_BASE,
        "        return super()._forward(total)",
        "        return super()._forward(total)\n\n    def _update_states(self, scheduler_output):\n"
        "        self.seen = scheduler_output\n        self.seen_by_omni = True",
    )
    report = sync.blocks(trees.check(ascend=trees.ascend_old))
    (block,) = of(report, GPU_BASE, "OmniGPUModelRunner._update_states")
    assert block.text.strip() == "self.seen_by_omni = True"


def test_what_became_of_gpu_units(trees: Trees) -> None:
    trees.edit(
        GPU_AR,
        "    def _finish(self, logits, total):",
        "    def _snapshot(self):\n        return torch.cuda.Stream()\n\n"
        "    def _nobody(self):\n        return 1\n\n    def _finish(self, logits, total):",
    )
    trees.edit(
        GPU_AR, "    def _stage_of", "    def _stage_name(self, info):\n        return info\n\n    def _stage_of"
    )
    trees.edit(AR, "    def _stage_of", "    def _stage_name(self, info):\n        return info[0]\n\n    def _stage_of")
    report = sync.blocks(trees.check(ascend=trees.ascend_old))
    said = {name: standing(report, GPU_AR, f"GPUARModelRunner.{name}").partition(":")[0] for name in _EXPECTED}
    assert said == _EXPECTED
    assert standing(report, GPU_BASE, "OmniGPUModelRunner._forward").startswith("inherited")
    tally = {name.removeprefix("gpu_"): count for name, count in report.summary.items()}
    units = {(block.path, block.unit) for block in report.blocks if "/npu/" not in block.path}
    assert sum(int(count) for count in tally.values()) == len(units)


_EXPECTED = {
    "_sample": "review",  # a hook that NPU lacks
    "_finish": "ported",
    "_stage_of": "hoistable",
    "_stage_name": "review",  # NPU has another one
    "_snapshot": "device",
    "_nobody": "unneeded",
}


def test_each_block_says_which_of_its_own_statements_are_missing(trees: Trees) -> None:
    """What is missing of the whole unit is no answer beside a block that is there."""
    head = "    def _pick(self, rows):\n        # [Omni] keep them\n        self.kept = rows\n"
    rest = "        rows = self.order(rows)\n        # [Omni] count them\n        self.counted = len(rows)\n"
    trees.edit(GPU_BASE, "    def _forward", f"{head}{rest}        return rows\n\n    def _forward")
    trees.edit(BASE, "    def execute_model", f"{head}        return rows\n\n    def execute_model")
    blocks = of(sync.blocks(trees.check()), GPU_BASE, "OmniGPUModelRunner._pick")
    assert [block.twin for block in blocks] == [
        "review: this block is in OmniNPUModelRunner._pick, others are not",
        "review: this statement is not in OmniNPUModelRunner._pick",
    ]


def test_without_vllm_ascend_nobody_can_say_unneeded(trees: Trees) -> None:
    options = replace(trees.check(), vllm=TreeOptions(path=trees.vllm))
    said = standing(sync.blocks(options), GPU_AR, "GPUARModelRunner._sample")
    assert said.startswith("review: not on NPU")


@pytest.mark.parametrize(
    ("call", "inherits"),
    [
        ("return OmniGPUModelRunner._forward(self, total)", True),
        ("return super()._forward(total)", True),
        ("return super(OmniNPUModelRunner, self)._forward(total)", True),
        ("return total  # not super()._forward(total)", False),
        ("return total  # not OmniGPUModelRunner._forward(self, total)", False),
        ("return super()._forward_rows(total)", False),
    ],
)
def test_an_npu_method_that_calls_its_gpu_twin(trees: Trees, call: str, *, inherits: bool) -> None:
    own = f"    def _forward(self, total):\n        {call}\n\n"
    trees.edit(BASE, "    def execute_model", f"{own}    def execute_model")
    report = sync.blocks(trees.check(ascend=trees.ascend_old))
    said = standing(report, GPU_BASE, "OmniGPUModelRunner._forward")
    assert (said == "inherited: OmniNPUModelRunner._forward calls it") == inherits


@pytest.mark.parametrize(
    ("between", "call", "inherits"),
    [
        pytest.param("_forward(self, total)", "super()._forward(total)", True, id="it goes on to the GPU method"),
        pytest.param("_forward(self, total)", "total", False, id="it ends there"),
        pytest.param("_other(self, total)", "total", True, id="it is another method"),
    ],
)
def test_a_class_in_between_may_have_its_own_version(trees: Trees, between: str, call: str, *, inherits: bool) -> None:
    mixin = f"class Between(OmniGPUModelRunner):\n    def {between}:\n        return {call}\n\n\n"
    head = "class OmniNPUModelRunner(OmniGPUModelRunner, NPUModelRunner):\n"
    own = "    def _forward(self, total):\n        return super()._forward(total)\n\n"
    trees.edit(BASE, head, f"{mixin}class OmniNPUModelRunner(Between, NPUModelRunner):\n{own}")
    said = standing(sync.blocks(trees.check(ascend=trees.ascend_old)), GPU_BASE, "OmniGPUModelRunner._forward")
    assert (said == "inherited: OmniNPUModelRunner._forward calls it") == inherits


def test_a_call_by_class_passes_over_versions_in_between(trees: Trees) -> None:
    mixin = "class Between(OmniGPUModelRunner):\n    def _forward(self, total):\n        return total\n\n\n"
    head = "class OmniNPUModelRunner(OmniGPUModelRunner, NPUModelRunner):\n"
    own = "    def _forward(self, total):\n        return OmniGPUModelRunner._forward(self, total)\n\n"
    trees.edit(BASE, head, f"{mixin}class OmniNPUModelRunner(Between, NPUModelRunner):\n{own}")
    said = standing(sync.blocks(trees.check(ascend=trees.ascend_old)), GPU_BASE, "OmniGPUModelRunner._forward")
    assert said == "inherited: OmniNPUModelRunner._forward calls it"


def test_fields_of_a_record_are_known_by_name(trees: Trees) -> None:
    record = "class State(NamedTuple):\n    total: {0}\n    logits: {0}\n    payload: {0}\n\n\n"
    upstream = "class State(NamedTuple):\n    total: int\n    logits: Tensor\n\n\n"
    for root, path, text in ((trees.omni, AR, record.format("Any")), (trees.ascend_old, ASCEND, upstream)):
        file = root / path
        body = file.read_text("utf-8")
        file.write_text(body.replace("class ", f"{text}class ", 1), "utf-8")
    report = sync.blocks(trees.check(ascend=trees.ascend_old))
    (block,) = of(report, AR, "State")
    assert block.text.strip() == "payload: Any"


def test_json_and_the_reference_page_say_the_twin(trees: Trees) -> None:
    report = sync.blocks(trees.check(ascend=trees.ascend_old))
    data = json.loads(render(report, "json"))
    assert {"unit": "GPUARModelRunner._finish", "twin": "ported: NPUARModelRunner._finish"}.items() <= next(
        block for block in data["blocks"] if block["unit"] == "GPUARModelRunner._finish"
    ).items()
    page = render(report, "markdown")
    assert "`GPUARModelRunner._stage_of`" in page
    assert "hoistable: equals NPUARModelRunner._stage_of" in page
    assert "omni units of the GPU runners on NPU" in page


def test_from_the_lock_the_bases_must_be_at_hand(trees: Trees) -> None:
    trees.write_lock()
    with pytest.raises(InputError, match=r"not in the cache"):
        sync.blocks(trees.check())


def test_under_a_lock_that_names_a_commit_a_checkout_is_asked_for(trees: Trees) -> None:
    commit(trees.ascend_old)
    trees.write_lock()
    with pytest.raises(InputError, match=r"^\w{10} is a revision of vllm-ascend, .*: give one with --ascend-path, .*"):
        sync.blocks(trees.check())
    assert sync.blocks(trees.check(ascend=trees.ascend_old)).blocks


def test_a_ruler_is_part_of_its_block(trees: Trees) -> None:
    (block,) = of(sync.blocks(trees.check()), BASE, "OmniNPUModelRunner.execute_model")
    assert block.text.strip().startswith(RULER)


@pytest.mark.corpus
def test_every_gpu_omni_unit_of_a_release_is_accounted_for(corpus_release: CorpusRelease) -> None:
    for project, version in (("vllm-omni", "0.26.0"), ("vllm-ascend", "0.26.0rc1"), ("vllm", "0.26.0")):
        corpus_release(project, version)  # type: ignore[arg-type]
    report = sync.blocks(
        CheckOptions(
            omni=TreeOptions(version="0.26.0"),
            ascend=TreeOptions(version="0.26.0rc1"),
            vllm=TreeOptions(version="0.26.0"),
            ascend_base="0.26.0rc1",
        )
    )
    gpu = {(block.path, block.unit): block.twin or "" for block in report.blocks if "/npu/" not in block.path}
    kinds = {twin.partition(":")[0] for twin in gpu.values()}
    assert kinds <= {"ported", "inherited", "hoistable", "unneeded", "device", "review"}
    gpu_ar = "vllm_omni/worker/gpu_ar_model_runner.py"
    assert gpu[gpu_ar, "GPUARModelRunner._request_final_stage_id"].startswith("hoistable")
    assert gpu[gpu_ar, "GPUARModelRunner.load_model"].startswith("review")
    assert gpu["vllm_omni/worker/gpu_model_runner.py", "OmniGPUModelRunner._preprocess"].startswith("inherited")


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        pytest.param("return super()._finish(logits, total)", "return super()._finish(logits, total", 6, id="a call"),
        pytest.param("def _stage_of(self, request):", "def _stage_of(:", 8, id="a header"),
        pytest.param('return info.get("stage")', 'return """info', 12, id="a string"),
        pytest.param("            return None", "          return None\n        else", 12, id="a clause"),
    ],
)
def test_every_command_places_a_syntax_error_alike(
    locked: Trees, capsys: pytest.CaptureFixture[str], old: str, new: str, place: int
) -> None:
    locked.edit(AR, old, new)
    trees = ["--omni-path", str(locked.omni), "--ascend-path", str(locked.ascend_old), "--vllm-path", str(locked.vllm)]
    said = set()
    for words in (["check"], ["verify"], ["upgrade", "--diff"], ["lock", "--diff"], ["blocks"], ["explain", AR]):
        assert cli.run([*words, *trees]) == 2
        said.add(capsys.readouterr().err)
    assert len(said) == 1, said
    assert f"{AR}:{place}: does not parse" in said.pop()
