"""``explain``: where the statements of a runner come from."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sync_samples import AR, ASCEND, BASE, GPU_AR, GPU_BASE, Trees, lay_out, stay_at_home

from runner_sync import sync
from runner_sync.errors import InputError
from runner_sync.lineage.provenance import Known, trace
from runner_sync.model import Hunk, Report, Unit
from runner_sync.render import render
from runner_sync.sync.options import TreeOptions


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    stay_at_home(monkeypatch, tmp_path)
    return Trees(tmp_path)


def line_of(root: Path, path: str, text: str) -> int:
    rows = (root / path).read_text("utf-8").split("\n")
    (number,) = [k for k, row in enumerate(rows, start=1) if text in row]
    return number


def explained(trees: Trees, path: str, text: str) -> Hunk:
    """The one hunk about the line that holds ``text``."""
    options = trees.check(ascend=trees.ascend_old)
    report = sync.explain(options, path, line_of(trees.omni, path, text))
    (hunk,) = [hunk for unit in report.units for hunk in unit.hunks]
    return hunk


def test_a_statement_of_upstream_says_its_line_there(trees: Trees) -> None:
    hunk = explained(trees, BASE, "logits, hidden = self._forward(total)")
    there = line_of(trees.ascend_old, ASCEND, "logits, hidden = self._forward(total)")
    assert (hunk.provenance, hunk.cause) == ("upstream", f"vllm-ascend 0.20.0 line {there}")


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("self.talker_total = total", "marked: keep what the talker needs"),
        ("# keep what the talker needs", "marked: keep what the talker needs"),
        ("self.last_hidden = hidden", "not marked"),
    ],
)
def test_omnis_own_statements(trees: Trees, text: str, cause: str) -> None:
    hunk = explained(trees, BASE, text)
    assert (hunk.provenance, hunk.cause) == ("omni", cause)


def test_a_file_elsewhere_on_disk_says_which_tree_is_meant(trees: Trees, tmp_path: Path) -> None:
    options = replace(trees.check(ascend=trees.ascend_old), omni=TreeOptions())
    line = line_of(trees.omni, BASE, "self.last_hidden = hidden")
    report = sync.explain(options, str(trees.omni / BASE), line)
    assert [change.path for change in report.changes] == [BASE]
    other = tmp_path / "elsewhere.py"
    other.write_text("")
    with pytest.raises(InputError, match="is no vllm-omni tree"):
        sync.explain(options, str(other))


def test_an_edited_statement_names_the_original(trees: Trees) -> None:
    trees.edit(BASE, "return self._finish(logits, total)", "return self._finish(logits, total + 1)")
    hunk = explained(trees, BASE, "total + 1")
    there = line_of(trees.ascend_old, ASCEND, "return self._finish(logits, total)")
    assert (hunk.provenance, hunk.cause) == ("omni", f"not marked, edits vllm-ascend 0.20.0 line {there}")


def test_a_port_names_the_gpu_runner(trees: Trees) -> None:
    hunk = explained(trees, AR, "info = request.additional_information")
    there = line_of(trees.omni, GPU_AR, "info = request.additional_information")
    assert (hunk.provenance, hunk.cause) == ("gpu", f"{GPU_AR} line {there}")


def test_words_that_stand_everywhere_go_with_their_head(trees: Trees) -> None:
    trees.edit(
        BASE,
        "self.last_hidden = hidden",
        "if self.has_talker:\n            return None\n        else:\n            self.rest = 1",
    )
    path = trees.omni / BASE
    rows = path.read_text("utf-8").split("\n")
    head = next(k for k, row in enumerate(rows, start=1) if "has_talker" in row)
    report = sync.explain(trees.check(ascend=trees.ascend_old), BASE)
    hunks = [hunk for unit in report.units for hunk in unit.hunks]
    for line in range(head, head + 4):
        assert [hunk.provenance for hunk in hunks if hunk.line <= line <= hunk.end_line] == ["omni"]


def whole(trees: Trees, path: str = BASE) -> Report:
    return sync.explain(trees.check(ascend=trees.ascend_old), path)


def test_a_whole_file_covers_every_statement_once(trees: Trees) -> None:
    report = whole(trees)
    lines = [line for unit in report.units for hunk in unit.hunks for line in range(hunk.line, hunk.end_line + 1)]
    assert len(lines) == len(set(lines))
    (unit,) = report.units
    assert (unit.unit, unit.kind) == ("OmniNPUModelRunner.execute_model", "copy")
    assert unit.base is not None
    assert unit.base.ref == "0.20.0"


def test_the_text_quotes_the_lines(trees: Trees) -> None:
    text = render(whole(trees), "text")
    assert "self.talker_total = total" in text
    assert "vllm-ascend 0.20.0 line" in text
    assert "lines from upstream, 5 of omni's own." in text


def test_gpu_runners_are_told_from_vllm(trees: Trees) -> None:
    options = replace(trees.check(), vllm=TreeOptions(path=trees.vllm))
    line = line_of(trees.omni, GPU_BASE, "self.talker_total = total")
    report = sync.explain(options, GPU_BASE, line)
    (unit,) = report.units
    assert [hunk.provenance for hunk in unit.hunks] == ["omni"]
    assert unit.base is not None
    assert unit.base.project == "vllm"


@pytest.mark.parametrize("spelling", ["relative", "absolute", "bare"])
def test_files_by_any_name(trees: Trees, spelling: str) -> None:
    name = {"relative": AR, "absolute": str(trees.omni / AR), "bare": Path(AR).name}[spelling]
    assert {unit.path for unit in sync.explain(trees.check(ascend=trees.ascend_old), name).units} == {AR}


def test_a_blank_line_goes_with_what_stands_above(trees: Trees) -> None:
    trees.edit(BASE, "        self.last_hidden = hidden\n", "        self.last_hidden = hidden\n\n")
    line = line_of(trees.omni, BASE, "self.last_hidden = hidden") + 1
    report = sync.explain(trees.check(ascend=trees.ascend_old), BASE, line)
    assert [(hunk.line, hunk.provenance) for unit in report.units for hunk in unit.hunks] == [(line - 1, "omni")]
    assert report.notes == (f"line {line} has no statement; this is the nearest one above it",)
    assert sync.explain(trees.check(ascend=trees.ascend_old), BASE, line - 1).notes == ()


def test_imports_belong_to_no_unit(trees: Trees) -> None:
    report = sync.explain(trees.check(ascend=trees.ascend_old), BASE, 1)
    assert report.units == ()
    assert "Nothing to explain here" in render(report, "text")


@pytest.mark.parametrize(
    ("file", "line", "said"),
    [
        ("vllm_omni/config.py", None, r"is no runner of the tree in .*: name one of .*npu_model_runner\.py"),
        (AR.replace("runner.py", "runer.py"), 3, r"did you mean npu_ar_model_runner\.py\? Or name one of "),
        ("vllm_omni/worker_v2/omni_model_runner.py", 1, r"is a runner of another profile: ask with --profile gpu-v2\."),
        (BASE, 999, r"has \d+ lines: there is no line 999"),
    ],
)
def test_what_cannot_be_explained(trees: Trees, file: str, line: int | None, said: str) -> None:
    with pytest.raises(InputError, match=said):
        sync.explain(trees.check(ascend=trees.ascend_old), file, line)


@pytest.mark.parametrize("file", [AR, Path(AR).name, GPU_AR])
def test_a_runner_that_the_tree_lacks_is_named(trees: Trees, file: str) -> None:
    """Not one of another profile: the profile that is asked about has it."""
    (trees.omni / (GPU_AR if file == GPU_AR else AR)).unlink()
    with pytest.raises(
        InputError, match=r"has no \S+_ar_model_runner\.py: bring it back, or say with `extend-modules`"
    ):
        sync.explain(trees.check(ascend=trees.ascend_old), file, 3)
    assert sync.explain(trees.check(ascend=trees.ascend_old), BASE).units


def test_a_runner_at_its_older_place_is_no_runner_beside_the_newer(trees: Trees) -> None:
    older = "vllm_omni/worker/npu/npu_ar_model_runner.py"
    lay_out(trees.omni, {older: "x = 1\n"})
    with pytest.raises(InputError, match=r"is no runner of the tree in .*: name one of "):
        sync.explain(trees.check(ascend=trees.ascend_old), older)


@pytest.mark.parametrize(
    ("text", "said"), [("", "is empty"), ("x = 1\n", "has 1 line"), ("x = 1\ny = 2", "has 2 lines")]
)
def test_a_line_that_is_not_there_is_said_with_how_many_there_are(trees: Trees, text: str, said: str) -> None:
    (trees.omni / BASE).write_text(text, "utf-8")
    with pytest.raises(InputError, match=f"{BASE} {said}: there is no line 3"):
        sync.explain(trees.check(ascend=trees.ascend_old), BASE, 3)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (BASE, r"cannot tell vllm-ascend's lines from omni's: .*--ascend-path"),
        (GPU_BASE, r"cannot tell vLLM's lines from omni's: .*--vllm-path"),
    ],
)
def test_without_an_upstream_nothing_is_guessed(trees: Trees, file: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as refused:
        sync.explain(trees.check(), file)
    assert "--profile" not in str(refused.value)


def test_a_line_of_a_gpu_runner_may_be_asked_about_with_its_own_lock(trees: Trees) -> None:
    (trees.omni / "runner-sync-gpu.lock").write_text("", "utf-8")
    with pytest.raises(InputError, match=r"--vllm-version, or ask with --profile gpu, whose lock says what was copied"):
        sync.explain(trees.check(), GPU_BASE)


RECORD = """\
class ExecuteModelState(NamedTuple):
    logits: torch.Tensor
    batch_desc: BatchDescriptor
    positions: torch.Tensor
"""


@pytest.mark.parametrize(
    ("fields", "origins"),
    [
        (("logits", "positions", "batch_desc"), ("upstream", "upstream", "upstream")),
        (("logits", "payload", "batch_desc"), ("upstream", "omni", "upstream")),
        (("positions", "logits", "batch"), ("upstream", "upstream", "omni")),
    ],
    ids=["another order", "a field of omni's", "a longer name"],
)
def test_fields_of_a_record_are_known_by_their_names(fields: tuple[str, ...], origins: tuple[str, ...]) -> None:
    """Whatever their order and their types, which people change freely."""
    text = "\n".join(["class ExecuteModelState(NamedTuple):", *(f"    {name}: Any" for name in fields), ""])
    unit = Unit(AR, "ExecuteModelState", "class", text, 1, 4)
    spans = trace(unit, [Known("vllm-ascend 0.30.0", RECORD, 10)])
    assert tuple(span.provenance for span in spans[1:]) == origins


def test_statements_of_a_method_are_known_by_all_their_words() -> None:
    text = "def fill(self):\n    rows: list = self.rows\n    self.fill_rows(rows)\n"
    unit = Unit(AR, "State.fill", "method", text, 1, 3)
    other = "def fill(self):\n    self.fill_rows(rows)\n    rows: list = self.collected_rows\n"
    assert [span.provenance for span in trace(unit, [Known("vllm-ascend 0.30.0", other)])][1:] == ["omni", "upstream"]
