"""What the NPU runners lacked before an upgrade is named by it, where no review item does."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import AR, GPU_AR, Trees, commit, stay_at_home

from runner_sync import sync
from runner_sync.model import Finding, ReviewItem
from runner_sync.sync.notes import older_code
from runner_sync.upgrade import ModuleResult

HEAD = "    def _stage_of(self, request):\n"
HOOK = """\
        if hasattr(self.model, "stage_hook"):
            return self.model.stage_hook(request)
"""


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    """An omni checkout whose GPU runner has got a hook in its second commit, and nothing since."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    commit(trees.omni)
    trees.edit(GPU_AR, HEAD, HEAD + HOOK)
    commit(trees.omni)
    return trees


def named(trees: Trees, **options: object) -> list[str]:
    """The notes of an upgrade that name the hook."""
    planned = sync.upgrade(trees.upgrade(trees.ascend_new, vllm_base="0.20.0", **options))
    return [note for note in planned.report.notes if "stage_hook" in note]


def test_what_was_settled_before_is_named(trees: Trees) -> None:
    (note,) = named(trees, omni_base="HEAD")
    assert note.startswith("the NPU runners lack GPU code from before this upgrade")


def test_the_command_in_the_note_names_the_trees(trees: Trees) -> None:
    """It ended with exit code 2, for `check` has nothing to compare with where no tree is named."""
    (note,) = named(trees, omni_base="HEAD")
    place = f"--omni-path {trees.omni}"
    command = f"`runner-sync check {place} --select RS202,RS207 --ascend-path {trees.ascend_new}"
    assert command in note


def test_what_the_upgrade_ports_is_not_named(trees: Trees) -> None:
    assert named(trees, omni_base="HEAD~1") == []


def test_what_a_review_item_shows_is_not_named(trees: Trees) -> None:
    trees.edit(
        AR, "        info = request.additional_information\n        if info is None:\n            return None\n", ""
    )
    trees.edit(AR, 'info.get("stage")', "self.infos[request]")
    commit(trees.omni)
    planned = sync.upgrade(trees.upgrade(trees.ascend_new, vllm_base="0.20.0", omni_base="HEAD~2"))
    assert [item for item in planned.report.reviews if "stage_hook" in item.upstream]
    assert not any("stage_hook" in note for note in planned.report.notes)


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"gpu": False}, id="nothing is ported"),
        pytest.param({"only": ("OmniNPUModelRunner.execute_model",)}, id="another unit"),
    ],
)
def test_it_is_not_named_where_it_is_not_looked_for(trees: Trees, options: dict[str, object]) -> None:
    assert named(trees, omni_base="HEAD", **options) == []


LACKING = "class R:\n    def run(self):\n        pass\n"
HAVING = LACKING.replace("pass", "self.note()")
BEFORE = f"{LACKING}\n"


@pytest.mark.parametrize(
    ("after", "symbol", "left"),
    [
        pytest.param(LACKING, "note", 1, id="another unit has it now"),
        pytest.param(HAVING, "note", 0, id="this unit has it now"),
        pytest.param(LACKING, "if rows", 0, id="a passage is found by its own words"),
    ],
)
def test_a_port_to_another_unit_does_not_answer_for_this_one(
    monkeypatch: pytest.MonkeyPatch, after: str, symbol: str, left: int
) -> None:
    """`_maybe_attach_attention_metadata_extensions` came to `_dummy_run` alone, and `check` was quiet from then on."""
    told = Finding("RS202", "warning", "r.py", 1, 1, "R.run", symbol, "why")
    monkeypatch.setattr(older_code, "_found", lambda now, *_: (told,) if now["r.py"] == BEFORE else ())
    result = ModuleResult("r.py", BEFORE, after, (), (), {}, {})
    assert len(older_code._find_missing([result], None, None)) == left  # type: ignore[arg-type]


TWIN = """\
def run(self, ids):
    finish = getattr(self.model, "finish_hook", None)
    start = self.model.start_hook
    other = start(self.model.other_hook)
    if callable(finish):
        finish(ids)
"""
HELPERS = {
    "_make_request": 'def _make_request(self):\n    return getattr(self.model, "make_request", None)',
    "_outer": "def _outer(self):\n    return self._make_request()",
}


@pytest.mark.parametrize(
    ("symbol", "shown", "is_asked"),
    [
        pytest.param("finish_hook", "finish(ids)", True, id="a local that holds it"),
        pytest.param("start_hook", "x = start(ids)", True, id="a local that is an attribute"),
        pytest.param("other_hook", "other(ids)", False, id="a local that is made with it"),
        pytest.param("finish_hook", "refinish(ids)", False, id="a longer name"),
        pytest.param("make_request", "self._make_request()", True, id="the helper that asks for it"),
        pytest.param("make_request", "self._outer()", True, id="a helper that calls the helper"),
        pytest.param("make_request", "self._remake_request()", False, id="another helper"),
        pytest.param("if finish…", "finish(ids)", False, id="a passage has no stand-in"),
    ],
)
def test_a_review_item_asks_about_what_it_shows_by_another_name(symbol: str, shown: str, *, is_asked: bool) -> None:
    """``get_runner_assisted_full_attention_metadata_request`` of 0.25.0rc1 is asked for in a helper alone, and
    ``update_decode_step_metadata`` of 0.31.0rc1 once, for a local."""
    finding = Finding("RS207", "warning", "r.py", 1, 1, "R.run", symbol, "why")
    item = ReviewItem("R1", "R.run", "r.py", 1, 1, "why", 0.5, "", "", shown, "", from_gpu=True)
    twins = older_code._TwinUnits(units={"R.run": TWIN}, helpers=HELPERS)
    assert older_code._is_asked_about(finding, [item], twins) == is_asked
