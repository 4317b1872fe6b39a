"""`check` looks for methods of GPU twins in other classes once, and again if a file that tells has changed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sync_samples import AR, GPU_AR, GPU_BASE, STAGE, Trees, keys, lay_out

from runner_sync import sync
from runner_sync.sources import cache
from runner_sync.sync.classes import whole_twins
from runner_sync.sync.trees.inputs import Inputs
from runner_sync.trees import Tree

STEPS = "vllm_omni/worker/steps.py"
MIXIN = f"class Steps:\n{STAGE}"
FOLLOWED = MIXIN.replace("is None", "is None or not info")
MIXED = "from vllm_omni.worker.steps import Steps\n"


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The twins whose base classes were looked through."""
    paths: list[str] = []
    complete = whole_twins.complete_twins

    def counted(text: str, path: str, tree: Tree, given: Inputs) -> str:
        paths.append(path)
        return complete(text, path, tree, given)

    monkeypatch.setattr(whole_twins, "complete_twins", counted)
    return paths


@pytest.fixture
def locked(tmp_path: Path) -> Trees:
    trees = Trees(tmp_path)
    trees.write_lock()
    return trees


def move_stage_out(trees: Trees, mixin: str) -> None:
    """Move `_stage_of` of the GPU runner into a mixin, whose file is written with it."""
    text = (trees.omni / GPU_AR).read_text("utf-8")
    assert STAGE in text
    text = text.replace(STAGE, "").replace("(OmniGPUModelRunner)", "(Steps, OmniGPUModelRunner)")
    lay_out(trees.omni, {GPU_AR: MIXED + text, STEPS: mixin})


def test_twins_are_looked_through_once(locked: Trees, asked: list[str]) -> None:
    first = sync.check(locked.check())
    assert {*asked} >= {GPU_AR, GPU_BASE}
    asked.clear()
    assert sync.check(locked.check()) == first
    assert not asked


_CHECK = """
import sys
from pathlib import Path
from runner_sync import sync
sync.check(sync.CheckOptions(omni=sync.TreeOptions(path=Path(sys.argv[1]))))
print(*sys.modules)
"""
ROOMS = "config doors errors lock model naming profile sources sync syntax texts trees user_paths verify"
"""What a run needs to know that nothing has changed."""

PARTS = {
    "verify": "baseline catalog causes check check_job codes hits mistakes",
    "model": "findings references report trees words",
    "texts": "import_entries",
}
"""And of these rooms nothing else: no rule, and no class that only an upgrade needs."""


def import_by_check(omni: Path) -> set[str]:
    done = subprocess.run([sys.executable, "-c", _CHECK, omni], check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_the_second_check_imports_only_what_recalls(locked: Trees) -> None:
    """Importing all that a first check needs takes longer than all that the second one does."""
    first, second = import_by_check(locked.omni), import_by_check(locked.omni)
    own = [name.split(".")[1:] for name in second if name.startswith("runner_sync.")]
    assert {room for room, *_ in own} == {*ROOMS.split()}
    for room, parts in PARTS.items():
        assert {part for name, *deeper in own if name == room for part in deeper[:1]} == {*parts.split()}, room
    assert not second & {"tomllib", "tempfile", "libcst"}
    assert {"runner_sync.verify.rule_runs", "runner_sync.sync.classes.whole_twins"} <= first - second


@pytest.mark.parametrize("path", [GPU_AR, GPU_BASE, AR])
def test_a_change_of_what_tells_makes_it_look_again(locked: Trees, asked: list[str], path: str) -> None:
    sync.check(locked.check())
    asked.clear()
    file = locked.omni / path
    file.write_text(f"{file.read_text('utf-8')}\n# later\n", "utf-8")
    sync.check(locked.check())
    assert asked


def test_a_method_that_moved_between_two_checks_is_followed(locked: Trees) -> None:
    sync.check(locked.check())
    move_stage_out(locked, MIXIN)
    assert ("RS201", "GPUARModelRunner._stage_of") not in keys(sync.check(locked.check()))
    lay_out(locked.omni, {STEPS: FOLLOWED})
    for _ in range(2):
        (finding,) = (one for one in sync.check(locked.check()).findings if one.code == "RS201")
        assert finding.symbol == "GPUARModelRunner._stage_of"
        assert f"({STEPS}:2)" in finding.message, "where it stands in the tree"


def test_a_mixin_that_comes_counts(locked: Trees) -> None:
    """The import of it led nowhere before, so that the method seemed to be gone."""
    move_stage_out(locked, MIXIN)
    (locked.omni / STEPS).unlink()
    assert ("RS201", "GPUARModelRunner._stage_of") in keys(sync.check(locked.check()))
    lay_out(locked.omni, {STEPS: MIXIN})
    assert ("RS201", "GPUARModelRunner._stage_of") not in keys(sync.check(locked.check()))


def damage(change: Callable[[bytes], bytes]) -> None:
    for entry in (cache.folder() / "twins").iterdir():
        if not entry.name.startswith("."):
            entry.write_bytes(change(entry.read_bytes()))


@pytest.mark.parametrize("change", [lambda data: data[:-9], lambda _: b"", lambda _: b"[{}, 1]"])
def test_a_damaged_entry_counts_as_missing(locked: Trees, asked: list[str], change: Callable[[bytes], bytes]) -> None:
    first = sync.check(locked.check())
    damage(change)
    asked.clear()
    assert sync.check(locked.check()) == first
    assert asked
