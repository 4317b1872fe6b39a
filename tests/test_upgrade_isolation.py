"""A mistake of this program in one unit or step leaves the rest of an upgrade, and is a question."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sync_samples import AR, ASCEND_NEW, BASE, GPU_AR, GPU_TWIN, NPU_TWIN, Trees, commit, lay_out, stay_at_home

from runner_sync import cli, sync
from runner_sync.errors import InputError
from runner_sync.sync.notes import older_code
from runner_sync.sync.upgrade_options import UpgradeOptions
from runner_sync.upgrade import module
from runner_sync.upgrade.from_gpu.merging import porting
from runner_sync.upgrade.from_upstream import ascend
from runner_sync.verify import breakage

BY_MISTAKE = ", by a mistake in runner-sync (KeyError: 'a' at runner_sync/"
SYNCHRONIZES = "self.synchronize_rows(total)"
"""What upstream added to a copy."""
LAST = "first = rows[-1]"
"""What the GPU runner's change of a method with a twin is."""


@pytest.fixture
def trees(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trees:
    """Trees in which upstream changed a copy in one module, and the GPU runner a method of another."""
    stay_at_home(monkeypatch, tmp_path)
    made = Trees(tmp_path)
    commit(made.ascend_old)
    lay_out(made.omni, {GPU_AR: GPU_TWIN, AR: NPU_TWIN})
    commit(made.omni)
    made.write_lock()
    commit(made.omni)
    lay_out(made.ascend_old, ASCEND_NEW)
    commit(made.ascend_old)
    made.edit(GPU_AR, "first = rows[0]", LAST)
    commit(made.omni)
    return made


def options_of(trees: Trees, **more: Any) -> UpgradeOptions:
    return trees.upgrade(trees.ascend_old, **{"verify": False, "isolates": True, **more})


def texts(planned: sync.Upgrade) -> dict[str, str]:
    return {change.path: change.after or "" for change in planned.changes}


def stumble(monkeypatch: pytest.MonkeyPatch, room: object, name: str, error: Exception, *, unit: str = "") -> None:
    """Let a function fail, always or for one unit."""
    work = getattr(room, name)

    def fail(draft: Any, *rest: Any, **more: Any) -> Any:
        if unit and draft.name != unit:
            return work(draft, *rest, **more)
        raise error

    monkeypatch.setattr(room, name, fail)


def test_what_is_merged_without_a_mistake(trees: Trees) -> None:
    found = texts(sync.upgrade(options_of(trees)))
    assert SYNCHRONIZES in found[BASE]
    assert LAST in found[AR]


def test_a_mistake_in_one_copy(trees: Trees, monkeypatch: pytest.MonkeyPatch) -> None:
    unit = "OmniNPUModelRunner.execute_model"
    stumble(monkeypatch, ascend, "_follow_unit", KeyError("a"), unit=unit)
    planned = sync.upgrade(options_of(trees))
    found = texts(planned)
    assert BASE not in found
    assert LAST in found[AR]
    items = [item for item in planned.report.reviews if item.unit == unit]
    assert [item.reason for item in items if item.reason.startswith("upstream's change was not merged" + BY_MISTAKE)]
    assert SYNCHRONIZES in items[0].upstream


def test_a_mistake_in_one_port(trees: Trees, monkeypatch: pytest.MonkeyPatch) -> None:
    stumble(monkeypatch, porting, "_port_whole_change", KeyError("a"), unit="NPUARModelRunner._collect")
    planned = sync.upgrade(options_of(trees))
    found = texts(planned)
    assert SYNCHRONIZES in found[BASE]
    assert LAST not in found.get(AR, "")
    reasons = [item.reason for item in planned.report.reviews if item.unit == "NPUARModelRunner._collect"]
    assert any(reason.startswith("the GPU runner's change was not merged" + BY_MISTAKE) for reason in reasons)


@pytest.mark.parametrize(
    ("room", "name", "what"),
    [
        (module, "ask_about_variants", "a step that looks for open questions failed"),
        (module.mending, "fit_records", "a step that adapts the code to new signatures and records failed"),
    ],
)
def test_a_mistake_in_a_step(room: object, name: str, what: str, trees: Trees, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = texts(sync.upgrade(options_of(trees)))
    stumble(monkeypatch, room, name, KeyError("a"))
    planned = sync.upgrade(options_of(trees))
    found = texts(planned)
    assert SYNCHRONIZES in found[BASE]
    assert LAST in found[AR]
    assert found.keys() == expected.keys()
    reasons = [item.reason for item in planned.report.reviews if item.path == BASE]
    assert any(reason.startswith(what) and BY_MISTAKE in reason for reason in reasons)


@pytest.mark.parametrize(
    ("room", "name", "what"),
    [
        (breakage, "find", "not verified"),
        (older_code, "note_gpu_code", "older code was not looked for"),
    ],
)
def test_a_mistake_behind_the_upgrade(
    room: object, name: str, what: str, trees: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    stumble(monkeypatch, room, name, KeyError("a"))
    planned = sync.upgrade(options_of(trees, verify=True))
    assert texts(planned).keys() >= {BASE, AR}
    assert any(note.startswith(what + BY_MISTAKE) for note in planned.report.notes)


def test_once_the_mistake_is_mended_the_change_comes(trees: Trees) -> None:
    """The lock keeps the old base of a unit that was left alone."""
    with pytest.MonkeyPatch.context() as patch:
        stumble(patch, ascend, "_follow_unit", KeyError("a"), unit="OmniNPUModelRunner.execute_model")
        stumble(patch, porting, "_port_whole_change", KeyError("a"), unit="NPUARModelRunner._collect")
        options = options_of(trees)
        sync.apply(sync.upgrade(options), options)
    commit(trees.omni)
    again = texts(sync.upgrade(options))
    assert SYNCHRONIZES in again[BASE]
    assert LAST in again[AR]


@pytest.mark.parametrize(
    ("error", "isolates"),
    [
        (KeyError("a"), False),
        (InputError("bad"), True),
        (OSError("full"), True),
        (MemoryError(), True),
        (RecursionError("deep"), True),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else f"isolates={value}",
)
def test_what_ends_the_run(error: Exception, isolates: bool, trees: Trees, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that asks for no isolation, and exceptions that are no mistake of this program."""
    stumble(monkeypatch, ascend, "_follow_unit", error)
    with pytest.raises(type(error)):
        sync.upgrade(options_of(trees, isolates=isolates))


@pytest.mark.parametrize(("words", "code"), [((), 1), (("--traceback",), 2)])
def test_the_command_line(
    words: tuple[str, ...],
    code: int,
    trees: Trees,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stumble(monkeypatch, ascend, "_follow_unit", KeyError("a"), unit="OmniNPUModelRunner.execute_model")
    trees_of = ("--omni-path", trees.omni, "--ascend-path", trees.ascend_old, "--vllm-path", trees.vllm)
    line = [*words, "upgrade", "--no-verify", "--diff", "-o", "text", *map(str, trees_of)]
    assert cli.run(line) == code
    output, errors = capsys.readouterr()
    assert ("by a mistake in runner-sync" in " ".join(output.split())) is (code == 1)
    assert ("Traceback" in errors) is (code == 2)
