"""A copy of a module-level function that NPU keeps in another file is named, because nothing is merged into it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from sync_samples import AR, BASE, GPU_AR, GPU_BASE, HELPER, OMNI_TREE, Trees, commit, dedent, lay_out

from runner_sync import sync

SHARED = "vllm_omni/worker/helpers.py"
AS_ROWS = """\
def as_rows(value):
    rows = list(value)
    return rows
"""
GAINED = AS_ROWS.replace("list(value)", "[] if value is None else list(value)")
ANOTHER = "def as_rows(value):\n    self = value.pool\n    with self.lock:\n        return self.take(3)\n"


def with_rows(path: str, beside: str) -> str:
    """The runner of ``path`` with ``beside`` before its class, and a method that calls `as_rows`."""
    head, _, body = dedent(OMNI_TREE[path]).partition("class ")
    return f"{head}\n\n{beside}\n\nclass {body}\n    def rows_of(self, value):\n        return as_rows(value)\n"


def of(module: str) -> str:
    return f"from {module} import as_rows\n"


def find_notes(folder: Path, files: Mapping[str, str]) -> list[list[str]]:
    """The notes of an upgrade and of a lock; the GPU runner gains a condition in its `as_rows`."""
    trees = Trees(folder)
    lay_out(trees.omni, {GPU_AR: with_rows(GPU_AR, AS_ROWS), AR: with_rows(AR, AS_ROWS), **files})
    commit(trees.omni)
    lay_out(trees.omni, {SHARED: GAINED} if SHARED in files else {GPU_AR: with_rows(GPU_AR, GAINED)})
    commit(trees.omni)
    options = trees.upgrade(trees.ascend_new, omni_base="HEAD~1", vllm_base="0.20.0", verify=False)
    reports = [command(options).report for command in (sync.upgrade, sync.lock)]
    return [[note for note in report.notes if "no change is merged" in note] for report in reports]


@pytest.mark.parametrize("text", [AS_ROWS, f"import torch\n\n{AS_ROWS}\n\nclass Other:\n    pass\n"])
@pytest.mark.parametrize("module", ["vllm_omni.platforms.npu.worker.sending", ".sending"])
def test_a_copy_in_another_file_is_named(tmp_path: Path, module: str, text: str) -> None:
    for notes in find_notes(tmp_path, {AR: with_rows(AR, of(module)), HELPER: text}):
        (note,) = notes
        assert note.startswith(f"{HELPER}: no change is merged into as_rows, which {AR} imports from there")


def test_a_copy_in_the_file_of_a_runner_that_does_not_follow_it_is_named(tmp_path: Path) -> None:
    for notes in find_notes(tmp_path, {BASE: with_rows(BASE, AS_ROWS), AR: with_rows(AR, of(".npu_model_runner"))}):
        (note,) = notes
        assert note.startswith(f"{BASE}: no change is merged into as_rows")


@pytest.mark.parametrize(
    "files",
    [
        pytest.param({}, id="it stands in the runner's file"),
        pytest.param({AR: with_rows(AR, of("vllm_omni.worker.gpu_ar_model_runner"))}, id="the GPU runner's own"),
        pytest.param({AR: with_rows(AR, of(".sending")), HELPER: ANOTHER}, id="no copy"),
        pytest.param({AR: with_rows(AR, of(".sending"))}, id="no such file"),
        pytest.param({AR: with_rows(AR, of(".sending")), HELPER: "def as_rows(:\n"}, id="does not parse"),
        pytest.param({AR: with_rows(AR, "from .sending import rows as as_rows\n"), HELPER: AS_ROWS}, id="another name"),
        pytest.param({AR: with_rows(AR, of("vllm.sending"))}, id="another package"),
        pytest.param({AR: with_rows(AR, f"{of('.sending')}\n\n{AS_ROWS}"), HELPER: AS_ROWS}, id="replaced by its own"),
        pytest.param(
            {
                GPU_AR: with_rows(GPU_AR, of("vllm_omni.worker.helpers")),
                AR: with_rows(AR, of("vllm_omni.worker.helpers")),
                SHARED: AS_ROWS,
            },
            id="both sides share it",
        ),
        pytest.param(
            {
                GPU_BASE: with_rows(GPU_BASE, AS_ROWS),
                BASE: with_rows(BASE, AS_ROWS),
                AR: with_rows(AR, of(".npu_model_runner")),
            },
            id="another runner's, which follows it",
        ),
    ],
)
def test_what_is_followed_or_shared_or_no_copy_is_not_named(tmp_path: Path, files: Mapping[str, str]) -> None:
    assert find_notes(tmp_path, files) == [[], []]
