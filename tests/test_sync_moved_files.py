"""Runner classes whose files moved are followed by name; the results are those of files that stayed."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from sync_samples import AR, ASCEND, ASCEND_NEW, BASE, GPU_AR, Trees, check_upgrade, commit, keys, lay_out

from runner_sync import sync
from runner_sync.errors import InputError
from runner_sync.naming import module_name
from runner_sync.profile import NPU, VLLM_RUNNER
from runner_sync.sources import open_path
from runner_sync.sync.trees.moved_files import find_moves, with_moves

LATER = {ASCEND: "vllm_ascend/worker/npu_runner.py", AR: AR.replace("_model", ""), GPU_AR: GPU_AR.replace("_model", "")}
"""Another path for each file."""

SECOND = "class NPUModelRunner:\n    def load(self):\n        return None\n"
"""A class of the same name that has nothing else in common with vllm-ascend's runner."""

OLD_IMPORTS = "# Kept for old imports.\n"
CLASSES = {ASCEND: "NPUModelRunner", AR: "NPUARModelRunner", GPU_AR: "GPUARModelRunner"}


def make(folder: Path) -> Trees:
    """Trees with a vllm-ascend whose last commit changed its runner, and a GPU runner that gained a call."""
    trees = Trees(folder)
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, ASCEND_NEW)
    return trees


def move(trees: Trees, path: str, *, stays: bool = False) -> None:
    """Rename a file, and what its tree imports from it; if the old file ``stays``, it only imports the class."""
    root = trees.ascend_old if path == ASCEND else trees.omni
    (root / path).rename(root / LATER[path])
    for file in root.rglob("*.py"):
        file.write_text(file.read_text("utf-8").replace(module_name(path), module_name(LATER[path])), "utf-8")
    if stays:
        stem = LATER[path].rpartition("/")[2].removesuffix(".py")
        lay_out(root, {path: f"{OLD_IMPORTS}from .{stem} import {CLASSES[path]}\n"})


def upgrade(trees: Trees) -> Mapping[str, str]:
    """The code that an upgrade leaves in the omni tree, by the paths and modules that it had before the move."""
    commit(trees.ascend_old)
    check_upgrade(trees.upgrade(trees.ascend_old, ascend_base="HEAD~1", omni_base="HEAD~1", verify=False))
    before = {new: old for old, new in LATER.items()}
    found = {file.relative_to(trees.omni).as_posix(): file.read_text("utf-8") for file in trees.omni.rglob("*.py")}
    found = {path: text for path, text in found.items() if not text.startswith(OLD_IMPORTS)}
    for old, new in LATER.items():
        found = {path: text.replace(module_name(new), module_name(old)) for path, text in found.items()}
    return {before.get(path, path): ast.unparse(ast.parse(text)) for path, text in found.items()}


@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("path", [ASCEND, AR, GPU_AR])
def test_an_upgrade_across_a_move_is_the_upgrade_without_it(tmp_path: Path, path: str, stays: bool) -> None:
    stayed, moved = make(tmp_path / "stayed"), make(tmp_path / "moved")
    for trees in (stayed, moved):
        commit(trees.omni)
        trees.edit(GPU_AR, "return info.get(", "self.note(info)\n        return info.get(")
    move(moved, path, stays=stays)
    if path == ASCEND:
        lay_out(moved.ascend_old, {"vllm_ascend/worker/v2/runner.py": SECOND})
    commit(stayed.omni)
    commit(moved.omni)
    expected = upgrade(stayed)
    assert "self.synchronize_rows(total)" in expected[BASE], "what vllm-ascend gained"
    assert "def _sample(" in expected[AR], "the hook of the GPU twin"
    assert upgrade(moved) == expected


@pytest.mark.parametrize("path", [ASCEND, GPU_AR])
def test_a_file_that_was_there_before_its_class_is_no_base(tmp_path: Path, path: str) -> None:
    stayed, moved = Trees(tmp_path / "stayed"), Trees(tmp_path / "moved")
    lay_out(moved.ascend_old if path == ASCEND else moved.omni, {LATER[path]: "HELP = 1\n"})
    for trees in (stayed, moved):
        commit(trees.ascend_old)
        commit(trees.omni)
        lay_out(trees.ascend_old, ASCEND_NEW)
        trees.edit(GPU_AR, "return info.get(", "self.note(info)\n        return info.get(")
    move(moved, path)
    for trees in (stayed, moved):
        commit(trees.omni)
    assert upgrade(moved) == upgrade(stayed)


@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("path", [ASCEND, AR, GPU_AR])
def test_a_locked_file_that_moved_is_checked_at_its_new_path(tmp_path: Path, path: str, stays: bool) -> None:
    stayed, moved = Trees(tmp_path / "stayed"), Trees(tmp_path / "moved")
    for trees in (stayed, moved):
        commit(trees.ascend_old)
        trees.write_lock()
        lay_out(trees.ascend_old, ASCEND_NEW)
        trees.edit(GPU_AR, "return info.get(", "self.note(info)\n        return info.get(")
    move(moved, path, stays=stays)
    drift = ("RS101", "RS201", "RS203")
    for trees in (stayed, moved):
        commit(trees.ascend_old)
    before, after = (sync.check(trees.check(ascend=trees.ascend_old, select=drift)) for trees in (stayed, moved))
    assert {code for code, _ in keys(before)} == {*drift}
    assert keys(after) == keys(before)
    (note,) = [note for note in after.notes if "follow it there" in note]
    assert f"has in {LATER[path]} what was in {path}" in note
    assert not any("follow it there" in note for note in before.notes)


@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("since", ["HEAD~1", "HEAD~2"])
@pytest.mark.parametrize("path", [AR, GPU_AR])
def test_what_was_found_before_a_branch_is_none_of_its_own(tmp_path: Path, path: str, since: str, stays: bool) -> None:
    """The lock is older than the move, and the branch begins after it or before it."""
    trees = Trees(tmp_path)
    trees.write_lock()
    trees.edit(GPU_AR, "return info.get(", "self.note(info)\n        return info.get(")
    commit(trees.omni)
    move(trees, path, stays=stays)
    commit(trees.omni)
    (trees.omni / "other.py").write_text("", "utf-8")
    commit(trees.omni)
    whole = sync.check(trees.check(select=("RS201",)))
    assert [code for code, _ in keys(whole)] == ["RS201"]
    assert keys(sync.check(trees.check(select=("RS201",), changed_since=since))) == set()


@pytest.mark.parametrize("path", [ASCEND, AR, GPU_AR])
def test_a_new_lock_has_the_new_path_and_says_so(tmp_path: Path, path: str) -> None:
    trees = Trees(tmp_path)
    stayed = sync.lock(trees.upgrade(trees.ascend_old, omni_base=trees.itself))
    move(trees, path)
    moved = sync.lock(trees.upgrade(trees.ascend_old, omni_base=trees.itself))
    assert stayed.lock is not None
    assert moved.lock is not None
    assert path in (stayed.lock.after or "")
    assert LATER[path] in (moved.lock.after or "")
    assert [f"has in {LATER[path]} what was in {path}" in note for note in moved.report.notes].count(True) == 1
    assert not any("follow it there" in note for note in stayed.report.notes)


@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("path", [AR, GPU_AR])
def test_a_lock_keeps_what_it_recorded_about_a_file_that_moved(tmp_path: Path, path: str, stays: bool) -> None:
    """The GPU twin changed, and nobody ported that: a lock that took the present twin would hide it."""
    drift = ("RS101", "RS201", "RS203")
    found = {}
    for name in ("stayed", "moved"):
        trees = Trees(tmp_path / name)
        commit(trees.ascend_old)
        commit(trees.omni)
        trees.write_lock()
        commit(trees.omni)
        lay_out(trees.ascend_old, ASCEND_NEW)
        commit(trees.ascend_old)
        trees.edit(GPU_AR, "return info.get(", "self.note(info)\n        return info.get(")
        if name == "moved":
            move(trees, path, stays=stays)
        commit(trees.omni)
        options = trees.upgrade(trees.ascend_old)
        planned = sync.lock(options)
        assert not any("no longer recorded" in note for note in planned.report.notes)
        sync.apply(planned, options)
        found[name] = keys(sync.check(trees.check(ascend=trees.ascend_old, select=drift)))
    assert {code for code, _ in found["stayed"]} == {*drift}
    assert found["moved"] == found["stayed"]


@pytest.mark.parametrize("path", [ASCEND, GPU_AR])
def test_what_is_omnis_is_told_as_before_a_move(tmp_path: Path, path: str) -> None:
    stayed, moved = make(tmp_path / "stayed"), make(tmp_path / "moved")
    move(moved, path)
    told = []
    for trees in (stayed, moved):
        commit(trees.omni)
        commit(trees.ascend_old)
        options = trees.check(ascend=trees.ascend_old, ascend_base="HEAD~1")
        listed, explained = sync.blocks(options), sync.explain(options, BASE)
        told.append(
            (
                [(block.unit, block.marked, (block.twin or "").partition("`")[0]) for block in listed.blocks],
                listed.summary,
                [(unit.unit, unit.base and unit.base.qualname, len(unit.hunks)) for unit in explained.units],
            )
        )
    assert told[0] == told[1]
    assert told[0][0]
    assert all(any(f"what was in {path}" in note for note in one.notes) for one in (listed, explained))


def test_verify_tells_the_import_and_nothing_that_stands_in_the_new_file(tmp_path: Path) -> None:
    trees = make(tmp_path)
    move(trees, ASCEND)
    commit(trees.ascend_old)
    options = trees.check(ascend=trees.ascend_old, ascend_base="HEAD~1", vllm_base="0.20.0")
    found = sync.verify(replace(options, typecheck="none")).findings
    assert [
        finding.code for finding in found if "npu_runner" in finding.message or "model_runner_v1" in finding.message
    ] == ["RS301"]


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({}, id="nowhere"),
        pytest.param({"vllm_ascend/a.py": SECOND, "vllm_ascend/b.py": SECOND}, id="two that are alike"),
        pytest.param({"vllm_ascend/a.py": SECOND}, id="a second runner"),
        pytest.param(
            {"vllm_ascend/a.py": f"if True:\n    {SECOND.splitlines()[0]}\n        pass\n"}, id="not at the top"
        ),
        pytest.param({"tests/a.py": SECOND}, id="outside the package"),
        pytest.param({"vllm_ascend/a.py": SECOND.replace("Runner", "Runner310")}, id="a longer name"),
    ],
)
def test_a_class_without_one_new_place_is_refused(tmp_path: Path, files: Mapping[str, str]) -> None:
    trees = make(tmp_path)
    (trees.ascend_old / ASCEND).unlink()
    lay_out(trees.ascend_old, files)
    commit(trees.ascend_old)
    with pytest.raises(
        InputError, match=rf"has no {ASCEND}, and no other file that is clearly its class NPUModelRunner: give a tree"
    ):
        sync.upgrade(trees.upgrade(trees.ascend_old, ascend_base="HEAD~1"))


def test_an_empty_file_is_no_upstream_without_the_class(tmp_path: Path) -> None:
    """Half a download has empty files; with a class that is gone, an upgrade goes on."""
    trees = make(tmp_path)
    lay_out(trees.ascend_old, {ASCEND: "\n"})
    commit(trees.ascend_old)
    with pytest.raises(InputError, match=rf"^vllm-ascend \S+: {ASCEND} is empty: give a whole tree\.$"):
        sync.upgrade(trees.upgrade(trees.ascend_old, ascend_base="HEAD~1"))


def test_a_file_of_another_row_is_no_new_place(tmp_path: Path) -> None:
    """vLLM's second runner has the name of the first, and is what the profile ``gpu-v2`` follows."""
    trees = Trees(tmp_path)
    second = "vllm/v1/worker/gpu/model_runner.py"
    (trees.vllm / VLLM_RUNNER).rename(lay_out(trees.vllm, {second: ""}) / second)
    omni, vllm = open_path("vllm-omni", trees.omni), open_path("vllm", trees.vllm)
    assert find_moves(NPU, vllm, omni) == {}
    (trees.vllm / second).unlink()
    copied = (trees.omni / AR).read_text("utf-8").replace("class NPUARModelRunner(", "class GPUModelRunner(")
    lay_out(trees.vllm, {"vllm/v1/worker/runner.py": copied})
    assert find_moves(NPU, open_path("vllm", trees.vllm), omni) == {VLLM_RUNNER: "vllm/v1/worker/runner.py"}


@pytest.mark.parametrize("is_there", [True, False])
def test_a_lost_vllm_runner_is_noted(tmp_path: Path, is_there: bool) -> None:
    trees = make(tmp_path)
    commit(trees.ascend_old)
    if not is_there:
        (trees.vllm / VLLM_RUNNER).unlink()
    options = trees.upgrade(trees.ascend_old, ascend_base="HEAD~1", omni_base=str(trees.omni), verify=False)
    said = [note for note in sync.upgrade(options).report.notes if f"has no {VLLM_RUNNER}" in note]
    assert len(said) == (not is_there)


@pytest.mark.parametrize(
    ("left", "place"),
    [
        ("from vllm_ascend.worker.npu_runner import NPUModelRunner", LATER[ASCEND]),
        ("try:\n    from .npu_runner import NPUModelRunner\nfinally:\n    pass", LATER[ASCEND]),
        ("from . import NPUModelRunner", LATER[ASCEND]),
        ("from .npu_runner import Runner as NPUModelRunner", None),
        ("from .npu_runner import NPUModelRunner as Runner", None),
        ("from .worker import NPUModelRunner", None),
        ("from .model_runner_v1 import NPUModelRunner", None),
        ("from vllm.v1.worker.gpu_model_runner import NPUModelRunner", None),
        ("from .npu_runner import NPUModelRunner\nclass NPUModelRunner(NPUModelRunner):\n    pass", None),
        ("class NPUModelRunner2: pass", None),
        ("from .npu_runner import (", None),
    ],
)
def test_a_file_that_imports_its_class_leads_to_it(tmp_path: Path, left: str, place: str | None) -> None:
    trees = Trees(tmp_path)
    lay_out(
        trees.ascend_old,
        {LATER[ASCEND]: SECOND, "vllm_ascend/worker/__init__.py": "from .npu_runner import NPUModelRunner\n"},
    )
    (trees.ascend_old / ASCEND).write_text(f"{left}\n", "utf-8")
    moves = find_moves(NPU, open_path("vllm-ascend", trees.ascend_old), open_path("vllm-omni", trees.omni))
    assert moves == ({ASCEND: place} if place else {})


def test_an_import_from_a_file_of_another_row_leads_nowhere(tmp_path: Path) -> None:
    trees = Trees(tmp_path)
    text = (trees.vllm / VLLM_RUNNER).read_text("utf-8")
    lay_out(trees.vllm, {VLLM_RUNNER: "from .gpu.model_runner import GPUModelRunner\n"})
    lay_out(trees.vllm, {"vllm/v1/worker/gpu/model_runner.py": text})
    assert find_moves(NPU, open_path("vllm", trees.vllm), open_path("vllm-omni", trees.omni)) == {}


def test_translated_names_are_taken_from_the_new_files() -> None:
    moved = with_moves(NPU, {GPU_AR: LATER[GPU_AR], ASCEND: LATER[ASCEND]})
    rows = {(row.name, row.module): row.new_module for row in moved.names}
    shared, capture = "ExecuteModelState", ("graph_capture", "vllm.distributed.parallel_state")
    assert rows[shared, module_name(LATER[GPU_AR])] == rows[shared, module_name(GPU_AR)] == module_name(AR)
    assert rows[capture] == module_name(LATER[ASCEND])
    assert with_moves(NPU, {}) is NPU


@pytest.mark.parametrize("named", [VLLM_RUNNER, ""])
def test_a_moved_vllm_runner_is_followed_by_rows_that_do_not_name_it(named: str) -> None:
    """A row without ``vllm`` derives from vLLM's runner."""
    new = "vllm/v1/worker/runner.py"
    row = replace(NPU.modules[0], upstreams=(replace(NPU.modules[0].anchor, vllm=named),))
    moved = with_moves(replace(NPU, modules=(row,)), {VLLM_RUNNER: new})
    assert moved.vllm_of(moved.modules[0]).path == new
