"""What upstream gave another signature or another module, and what of omni's follows it there."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import (
    AR,
    ASCEND,
    ASCEND_NEW,
    ASCEND_OLD,
    BASE,
    GPU_AR,
    OMNI_TREE,
    VLLM,
    Trees,
    check_upgrade,
    commit,
    dedent,
    lay_out,
)
from sync_samples import stay_at_home as without_network

VLLM_METHOD = """
    def _encode(self, total):
        return self.model.encode(total)
"""
ASCEND_METHOD = """
    def _encode(self, padded, total):
        return self.model.encode(total)[:padded]
"""
AR_TEXT = """\
from vllm_ascend.worker.tables import Rows

from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner


class NPUARModelRunner(OmniNPUModelRunner):
    def _stage_of(self, request):
        return Rows(request)
"""


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    """The samples; vLLM has ``_encode``, of which the new vllm-ascend has a version that takes ``padded`` first."""
    without_network(monkeypatch, tmp_path)
    made = Trees(tmp_path)
    vllm = (made.vllm / VLLM).read_text("utf-8")
    lay_out(made.vllm, {VLLM: vllm + VLLM_METHOD})
    lay_out(made.ascend_old, {"vllm_ascend/worker/tables.py": "class Rows:\n    pass\n"})
    commit(made.ascend_old)
    lay_out(made.ascend_old, {**ASCEND_NEW, ASCEND: dedent(ASCEND_NEW[ASCEND]) + ASCEND_METHOD})
    return made


def upgraded(trees: Trees, text: str) -> tuple[str, list[str]]:
    """The AR runner, which was ``text``, on the new vllm-ascend, and what is asked about it."""
    commit(trees.ascend_old)
    lay_out(trees.omni, {AR: text})
    commit(trees.omni)
    result = check_upgrade(trees.upgrade(trees.ascend_old, gpu=False, verify=False, ascend_base="HEAD~1"))
    after = next((change.after or "" for change in result.changes if change.path == AR), text)
    return after, [item.reason for item in result.report.reviews if item.path == AR]


def test_an_override_of_vllms_method_takes_what_vllm_ascends_own_version_takes(trees: Trees) -> None:
    own = AR_TEXT + "\n    def _encode(self, total):\n        return Rows(super()._encode(total))\n"
    after, reasons = upgraded(trees, own)
    assert "def _encode(self, padded, total):" in after
    assert "super()._encode(padded, total)" in after
    assert reasons == ["upstream's callers now pass padded, which this override accepts and passes on now"]


def test_an_override_that_does_not_take_what_vllms_does_is_left(trees: Trees) -> None:
    own = AR_TEXT + "\n    def _encode(self, total, *, rows=None):\n        return rows or super()._encode(total)\n"
    assert upgraded(trees, own) == (own, [])


@pytest.mark.parametrize(
    ("signature", "has_base"),
    [("(self, total):", True), ("(self, total) -> Rows:", False)],
    ids=["in common", "nothing in common"],
)
def test_only_an_override_that_is_like_a_text_of_upstreams_names_its_base(
    trees: Trees, signature: str, *, has_base: bool
) -> None:
    before = ASCEND_METHOD.replace("padded, ", "")
    lay_out(trees.ascend_old, {ASCEND: dedent(ASCEND_OLD[ASCEND]) + before})
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, {ASCEND: dedent(ASCEND_NEW[ASCEND]) + ASCEND_METHOD})
    commit(trees.ascend_old)
    lay_out(trees.omni, {AR: f"{AR_TEXT}\n    def _encode{signature}\n        return Rows(super()._encode(total))\n"})
    commit(trees.omni)
    result = check_upgrade(trees.upgrade(trees.ascend_old, gpu=False, verify=False, ascend_base="HEAD~1"))
    (unit,) = (unit for unit in result.report.units if unit.unit == "NPUARModelRunner._encode")
    assert (unit.outcome, unit.base is not None) == ("updated", has_base)
    assert {" → " in hunk.cause for hunk in unit.hunks} == {has_base}


def test_an_import_follows_what_upstream_moved_to_a_module_beside(trees: Trees) -> None:
    (trees.ascend_old / "vllm_ascend/worker/tables.py").rename(trees.ascend_old / "vllm_ascend/worker/rows.py")
    after, reasons = upgraded(trees, AR_TEXT)
    assert after == AR_TEXT.replace("worker.tables", "worker.rows")
    assert reasons == [
        "vllm_ascend.worker.tables no longer has Rows, which is imported from vllm_ascend.worker.rows now"
    ]


def test_a_question_about_an_import_stands_at_the_import(trees: Trees) -> None:
    (trees.ascend_old / "vllm_ascend/worker/tables.py").rename(trees.ascend_old / "vllm_ascend/worker/rows.py")
    commit(trees.ascend_old)
    lay_out(
        trees.omni, {AR: f'"""Runs."""\n\n{AR_TEXT}', BASE: f"{AR_TEXT.splitlines()[0]}\n{dedent(OMNI_TREE[BASE])}"}
    )
    commit(trees.omni)
    result = check_upgrade(trees.upgrade(trees.ascend_old, gpu=False, verify=False, ascend_base="HEAD~1"))
    other, item = (item for item in result.report.reviews if "imported" in item.reason)
    assert (item.path, item.unit, item.line, item.end_line) == (AR, "<module>", 3, 3)
    assert (other.path, other.line, item.part_of) == (BASE, 2, other.id)


def test_an_import_of_what_is_gone_for_good_stays(trees: Trees) -> None:
    (trees.ascend_old / "vllm_ascend/worker/tables.py").unlink()
    assert upgraded(trees, AR_TEXT) == (AR_TEXT, [])


SHARED = "vllm_omni/shared/rows.py"
NPU_ROWS = AR_TEXT.replace("vllm_ascend.worker.tables", "vllm_omni.shared.rows")
GPU_ROWS = NPU_ROWS.replace("platforms.npu.worker.npu_model_runner", "worker.gpu_model_runner").replace("NPU", "GPU")


def moved(trees: Trees, now: str) -> tuple[str, list[str]]:
    """The AR runner, once omni has what it imports in another module and the GPU twin is ``now``."""
    lay_out(trees.omni, {GPU_AR: GPU_ROWS, AR: NPU_ROWS, SHARED: "class Rows:\n    pass\n"})
    commit(trees.omni)
    (trees.omni / SHARED).unlink()
    lay_out(trees.omni, {GPU_AR: now, "vllm_omni/rows.py": "class Rows:\n    pass\n"})
    commit(trees.omni)
    result = check_upgrade(trees.upgrade(trees.ascend_new, omni_base="HEAD~1", vllm_base="0.20.0", verify=False))
    after = next((change.after or "" for change in result.changes if change.path == AR), NPU_ROWS)
    return after, [item.reason for item in result.report.reviews if item.path == AR and "imported" in item.reason]


def test_an_import_follows_the_gpu_twin_to_where_omni_moved_a_name(trees: Trees) -> None:
    after, reasons = moved(trees, GPU_ROWS.replace("vllm_omni.shared.rows", "vllm_omni.rows"))
    assert "from vllm_omni.rows import Rows\n" in after
    assert "vllm_omni.shared" not in after
    assert reasons == ["vllm_omni.shared.rows no longer has Rows, which is imported from vllm_omni.rows now"]


@pytest.mark.parametrize(
    "now",
    [
        pytest.param(GPU_ROWS, id="the twin has it from there still"),
        pytest.param(GPU_ROWS.replace("vllm_omni.shared.rows", "vllm_omni.gone"), id="the new module is not there"),
        pytest.param(
            GPU_ROWS.replace("from vllm_omni.shared.rows import Rows", "if True:\n    from vllm_omni.rows import Rows"),
            id="the twin imports it under a condition",
        ),
        pytest.param(
            GPU_ROWS.replace("vllm_omni.shared.rows import Rows", "vllm_omni.rows import Lines as Rows"),
            id="what the twin calls so is something else now",
        ),
    ],
)
def test_an_import_stays_where_the_gpu_twin_shows_no_other_module(trees: Trees, now: str) -> None:
    assert moved(trees, now) == (NPU_ROWS, [])


POOL = """
    def _pool(self, rows):
        if not rows:
            output = copy(self.empty)
            return output
        first, last = rows[0], rows[-1]
        self.start(first)
        self.finish(last)
        self.total = sum(rows)
        self.update_rows(first, last)
        self.synchronize_rows(self.total)
        result = Result(rows, self.model.pool(rows))
        self.measure()
        result.count = len(rows)
        result.width = self.width_of(rows)
        self.note(rows)
        return result
"""
ROUTED = "        if self.routes:\n            {}.routed = self.route(rows)\n        return {}\n"
OWN_POOL = POOL.replace("result = Result(rows, self.model.pool(rows))", "result = self.fill(OmniOutput())")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("vllm_ascend.worker.rows", ".lines", "vllm_ascend.worker.lines", id="it is made relative"),
        pytest.param(".rows", "..lines", "vllm_ascend.lines", id="it was relative"),
        pytest.param(".rows", "vllm_ascend.worker.rows", "vllm_ascend.worker.rows", id="it is the same one"),
        pytest.param("vllm_ascend.worker.rows", ".rows", "vllm_ascend.worker.rows", id="only the dots are new"),
    ],
)
def test_an_import_that_upstream_makes_by_dots_moves_to_the_module_that_they_mean(
    trees: Trees, old: str, new: str, expected: str
) -> None:
    was, now = (f"from {module} import Result\n{dedent(ASCEND_NEW[ASCEND])}{POOL}" for module in (old, new))
    lay_out(trees.ascend_old, {ASCEND: was})
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, {ASCEND: now.replace("self.measure()", "self.measure(first)")})
    own = f"from vllm_ascend.worker.rows import Result\n{AR_TEXT}"
    after, _ = upgraded(trees, own + POOL.replace("note(rows)", "note(rows, self)"))
    assert f"from {expected} import Result\n" in after
    assert after.count("import Result") == 1


def test_an_import_of_a_package_is_not_moved_to_another_of_its_modules(trees: Trees) -> None:
    """What ``import vllm.envs`` binds is ``vllm``, and omni goes on reading the rest from its module."""
    lay_out(trees.ascend_old, {ASCEND: f"import vllm.envs\n{dedent(ASCEND_NEW[ASCEND])}{POOL}"})
    commit(trees.ascend_old)
    now = f"import vllm.config\n{dedent(ASCEND_NEW[ASCEND])}{POOL}"
    lay_out(trees.ascend_old, {ASCEND: now.replace("self.measure()", "self.measure(first)")})
    own = f"import vllm.envs\n{AR_TEXT}"
    after, _ = upgraded(trees, own + POOL.replace("note(rows)", "note(rows, vllm.envs.ROWS)"))
    assert after.startswith("import vllm.envs\n")
    assert "self.measure(first)" in after


def pooled(trees: Trees, own: str, was: str = POOL) -> tuple[str, list[str]]:
    """``_pool`` of the AR runner, a copy of vllm-ascend's that was edited to ``own``, once vllm-ascend's routes."""
    new = (trees.ascend_old / ASCEND).read_text("utf-8")
    lay_out(trees.ascend_old, {**ASCEND_OLD, ASCEND: dedent(ASCEND_OLD[ASCEND]) + was})
    commit(trees.ascend_old)
    now = was.replace("        return result\n", ROUTED.format("result", "result"))
    lay_out(trees.ascend_old, {**ASCEND_NEW, ASCEND: new + now})
    text, reasons = upgraded(trees, AR_TEXT + own)
    return text.removeprefix(AR_TEXT), reasons


def test_what_is_new_for_a_value_that_omni_makes_itself_goes_by_omnis_name(trees: Trees) -> None:
    """Upstream has ``output`` in front of it, too, for something else."""
    own = OWN_POOL.replace("result", "output")
    wanted = own.removesuffix("        return output\n") + ROUTED.format("output", "output")
    assert pooled(trees, own) == (wanted, [])


def test_what_omni_makes_in_its_place_and_hands_back_is_the_same_value(trees: Trees) -> None:
    """Also where nothing asks for it to be left out: an attribute that is set is no local that is read."""
    was = POOL.replace("self.measure()", "self.measure(result)")
    own = was.replace("Result(", "OmniResult(").replace("        result.count = len(rows)\n", "")
    own = own.replace("        result.width = self.width_of(rows)\n", "").replace("result", "output")
    wanted = own.removesuffix("        return output\n") + ROUTED.format("output", "output")
    assert pooled(trees, own, was) == (wanted, [])


@pytest.mark.parametrize(
    ("own", "was"),
    [
        pytest.param(
            OWN_POOL.replace("result", "output"),
            POOL.replace("self.note(rows)", "output = self.note(rows)"),
            id="upstream goes on with a value of that name",
        ),
        pytest.param(
            OWN_POOL.replace("result", "output").replace("output.width", "made.width"),
            POOL,
            id="omni goes on with two values",
        ),
        pytest.param(
            OWN_POOL.replace("        result.width = self.width_of(rows)\n", "")
            .replace("        result.count = len(rows)\n", "")
            .replace("result", "output"),
            POOL,
            id="one statement tells little",
        ),
    ],
)
def test_what_is_new_for_a_value_that_omni_does_not_have_stays_out(trees: Trees, own: str, was: str) -> None:
    text, reasons = pooled(trees, own, was)
    assert "routed" not in text
    assert "upstream added a use of result, which omni does not set here" in reasons


def test_what_omni_does_itself_with_a_value_of_another_name_is_asked_about(trees: Trees) -> None:
    own = OWN_POOL.replace("self.note(rows)", "result.routed = self.route(rows)").replace("result", "output")
    text, reasons = pooled(trees, own)
    assert text.count("routed") == 1
    assert len(reasons) == 1


def test_a_comment_at_the_margin_above_a_method_stops_nothing(trees: Trees) -> None:
    """A decorator that somebody commented out: only the first line of code tells how far a unit is indented."""
    margin = "#    @torch.inference_mode()\n"
    copied = ASCEND_METHOD[1:].replace("        return", "        self.encoded = total\n        return")
    own = AR_TEXT.replace("    def _stage_of", f"{margin}    def _stage_of") + f"\n{margin}{copied}"
    text = (trees.ascend_old / ASCEND).read_text("utf-8")
    changed = text.replace("    def _encode(self, padded, total):", f"{margin}    def _encode(self, padded, total):")
    lay_out(trees.ascend_old, {ASCEND: changed})
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, {ASCEND: changed.replace("[:padded]", "[: padded + 1]")})
    after, reasons = upgraded(trees, own)
    moved = own.replace(f"\n{margin}    def _encode", f"\n    {margin}    def _encode")
    assert after == moved.replace("[:padded]", "[: padded + 1]")
    assert reasons == []


@pytest.mark.parametrize("name", ["total", "rows"], ids=["renamed", "omni has another name"])
def test_an_override_follows_the_name_of_a_parameter(trees: Trees, name: str) -> None:
    before = ASCEND_METHOD.replace("padded, ", "").replace("[:padded]", "")
    lay_out(trees.ascend_old, {ASCEND: dedent(ASCEND_OLD[ASCEND]) + before})
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, {ASCEND: dedent(ASCEND_NEW[ASCEND]) + before.replace("total", "count")})
    own = f"{AR_TEXT}\n    def _encode(self, {name}):\n        return Rows(super()._encode({name}))\n"
    assert upgraded(trees, own)[0] == (own.replace("total", "count"))
