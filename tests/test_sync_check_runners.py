"""Which runners and workers there are to check: some are gone, renamed, configured, or follow another upstream."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import replace

import pytest
from sync_samples import (
    AR,
    ASCEND,
    ASCEND_NEW,
    BASE,
    GPU_AR,
    MODULE_ROW,
    Trees,
    commit,
    keys,
    lay_out,
)

from runner_sync import sync
from runner_sync.errors import InputError
from runner_sync.model import Report
from runner_sync.naming import module_name
from runner_sync.sync.options import TreeOptions
from runner_sync.sync.planned import Upgrade
from runner_sync.sync.upgrade_options import UpgradeOptions

WORKER = "vllm_omni/platforms/npu/worker/npu_ar_worker.py"
ASCEND_WORKER = "vllm_ascend/worker/worker.py"
OF_WORKER = f"""\
from {module_name(ASCEND_WORKER)} import NPUWorker


class NPUARWorker(NPUWorker):
    def init_device(self):
        self.device = self._init_device()
"""


def test_workers_are_left_out_where_the_target_has_not_what_they_follow(trees: Trees) -> None:
    """vllm-ascend 0.12 had ``worker_v1.py``; a runner without its upstream is refused."""
    lay_out(trees.omni, {WORKER: OF_WORKER})
    commit(trees.ascend_old)
    trees.write_lock()
    lay_out(trees.ascend_old, ASCEND_NEW)
    (trees.ascend_old / ASCEND_WORKER).unlink()
    commit(trees.ascend_old)
    for base in (None, "HEAD~1"):
        report = sync.check(trees.check(ascend=trees.ascend_old, select=("RS10",), ascend_base=base))
        assert f"has no {ASCEND_WORKER}: what follows it was not compared with it" in " ".join(report.notes)
        assert ("RS101", "NPUModelRunner.execute_model") in keys(report)
    (trees.ascend_old / ASCEND).unlink()
    commit(trees.ascend_old)
    with pytest.raises(
        InputError, match=rf"has no {ASCEND}, and no other file that is clearly its class NPUModelRunner: give a tree"
    ):
        sync.check(trees.check(ascend=trees.ascend_old, select=("RS10",)))


def test_workers_are_compared_with_no_base_where_the_base_has_not_what_they_follow(trees: Trees) -> None:
    lay_out(trees.omni, {WORKER: OF_WORKER})
    worker = (trees.ascend_old / ASCEND_WORKER).read_text("utf-8")
    (trees.ascend_old / ASCEND_WORKER).unlink()
    commit(trees.ascend_old)
    lay_out(trees.ascend_old, {**ASCEND_NEW, ASCEND_WORKER: worker})
    commit(trees.ascend_old)
    report = sync.check(trees.check(ascend=trees.ascend_old, select=("RS10",), ascend_base="HEAD~1"))
    assert ("RS101", "NPUModelRunner.execute_model") in keys(report)
    assert not any(ASCEND_WORKER in note for note in report.notes)
    assert not any(finding.path == WORKER and finding.code.startswith("RS10") for finding in report.findings)


ANOTHER_UPSTREAM = f"""
[[modules]]
name = "NPUARModelRunner"
paths = ["{AR}"]
upstreams = [{{ project = "vllm", path = "vllm/v1/worker/gpu_model_runner.py", name = "GPUModelRunner" }}]
gpu = {{ project = "vllm-omni", path = "{GPU_AR}", name = "GPUARModelRunner" }}
"""


def test_runners_on_another_upstream_are_held_against_their_gpu_twin(trees: Trees) -> None:
    (trees.omni / "runner-sync.toml").write_text(ANOTHER_UPSTREAM, "utf-8")
    found = keys(sync.check(trees.check(ignore=("RS110", "RS201"))))
    assert ("RS203", "_sample") in found


def test_runners_on_another_upstream_are_ported_to_whatever_vllm_ascend_is_at_hand(
    trees: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    (trees.omni / "runner-sync.toml").write_text(ANOTHER_UPSTREAM, "utf-8")
    monkeypatch.setenv("VLLM_ASCEND_PATH", str(trees.ascend_new))
    ported = sync.upgrade(replace(trees.upgrade(trees.ascend_new), ascend=TreeOptions(), upstream=False))
    assert "def _sample(" in next(change.after or "" for change in ported.changes if change.path == AR)


def test_a_profile_without_gpu_twins_has_nothing_to_port_from(trees: Trees) -> None:
    text = "".join(line for line in ANOTHER_UPSTREAM.splitlines(keepends=True) if not line.startswith("gpu"))
    (trees.omni / "runner-sync.toml").write_text(text, "utf-8")
    with pytest.raises(InputError, match=r"no module of the profile has a GPU twin"):
        sync.upgrade(replace(trees.upgrade(trees.ascend_new), upstream=False))


@pytest.mark.parametrize("path", [AR, GPU_AR])
def test_a_file_that_the_lock_records_and_nobody_has_is_no_green_run(locked: Trees, path: str) -> None:
    (locked.omni / path).unlink()
    said = (
        rf"^runner-sync.lock records {path}, and the tree has no such runner: bring it back; .*`extend-modules`.* "
        r"`runner-sync lock`\.$"
    )
    for options in (locked.check(), locked.check(select=("RS402",)), locked.check(ascend=locked.ascend_new)):
        with pytest.raises(InputError, match=said):
            sync.check(options)
    with pytest.raises(InputError, match=said):
        sync.verify(locked.check(ascend=locked.ascend_old))
    locked.write_lock()
    assert "RS203" not in {code for code, _ in keys(sync.check(locked.check()))}


@pytest.mark.parametrize("path", [AR, GPU_AR])
def test_a_runner_with_another_path_takes_two_steps_and_is_told_each(locked: Trees, path: str) -> None:
    """Two files have its class: the configuration says which one it is, and the lock must follow."""
    commit(locked.omni, "Before")
    moved = path.replace("_model_runner", "_runner")
    (locked.omni / path).rename(locked.omni / moved)
    lay_out(locked.omni, {moved.replace("_runner", "_old_runner"): (locked.omni / moved).read_text("utf-8")})
    with pytest.raises(InputError, match=r"`extend-modules` in the configuration; then.*`runner-sync lock`\.$"):
        sync.check(locked.check())
    row = MODULE_ROW.format(**{"npu": AR, "gpu": GPU_AR, ("npu" if path == AR else "gpu"): moved})
    (locked.omni / "runner-sync.toml").write_text(row, "utf-8")
    said = rf"^runner-sync.lock records {path}, .* the configuration names another path, .*`runner-sync lock`\.$"
    for options in (locked.check(), locked.check(changed_since="main")):
        with pytest.raises(InputError, match=said):
            sync.check(options)
    locked.write_lock()
    assert ("RS203", "_sample") in keys(sync.check(locked.check()))


def test_a_row_that_takes_the_name_of_a_runner_from_it_is_told_so(locked: Trees) -> None:
    """The runner is where it was, and nobody would look into it."""
    other = AR.replace("_model_runner", "_other_runner")
    lay_out(locked.omni, {other: (locked.omni / AR).read_text("utf-8")})
    row = MODULE_ROW.format(npu=other, gpu=GPU_AR)
    (locked.omni / "runner-sync.toml").write_text(row, "utf-8")
    said = rf"^runner-sync\.lock records {AR}, which no row of the configuration names any more: .*its own `name`;"
    with pytest.raises(InputError, match=said):
        sync.check(locked.check())
    named = row.replace("NPUARModelRunner", "NPUOtherModelRunner")
    (locked.omni / "runner-sync.toml").write_text(named, "utf-8")
    locked.edit(other, "class NPUARModelRunner(", "class NPUOtherModelRunner(")
    assert sync.check(locked.check()).command == "check"
    (locked.omni / "runner-sync.toml").write_text(row, "utf-8")
    locked.edit(other, "class NPUOtherModelRunner(", "class NPUARModelRunner(")
    planned = sync.upgrade(locked.upgrade(locked.ascend_old, verify=False))
    assert planned.lock is None or AR in (planned.lock.after or ""), "an upgrade forgets nothing"
    locked.write_lock()
    assert sync.check(locked.check()).command == "check", "as it says"


@pytest.mark.parametrize(("path", "name"), [(AR, "NPUARModelRunner"), (GPU_AR, "GPUARModelRunner")])
def test_a_runner_whose_class_has_another_name_is_no_green_run(locked: Trees, path: str, name: str) -> None:
    """Every rule finds its runner by the name of the class, and would find nothing."""
    locked.edit(path, f"class {name}(", f"class {name}V2(")
    said = rf"^{path} has no class {name}: bring it back, .*\(`extend-classes = .*NEW_NAME.*`\)\.$"
    for options in (locked.check(), locked.check(select=("RS402",)), locked.check(ascend=locked.ascend_new)):
        with pytest.raises(InputError, match=said):
            sync.check(options)
    with pytest.raises(InputError, match=said):
        sync.verify(locked.check(ascend=locked.ascend_old))


_CLASSLESS: list[tuple[str, str, Callable[[str], str]]] = [
    (AR, "NPUARModelRunner", lambda _: ""),
    (AR, "NPUARModelRunner", lambda text: text.replace("class NPUARModelRunner(", "class NPUARModelRunnerV2(")),
    (BASE, "OmniNPUModelRunner", lambda _: ""),
    (GPU_AR, "GPUARModelRunner", lambda _: ""),
]


@pytest.mark.parametrize("is_locked", [True, False])
@pytest.mark.parametrize("command", [sync.lock, sync.upgrade], ids=["lock", "upgrade"])
@pytest.mark.parametrize(("path", "name", "text"), _CLASSLESS)
def test_what_records_the_runners_wants_their_classes_too(
    locked: Trees,
    command: Callable[[UpgradeOptions], sync.Upgrade],
    path: str,
    name: str,
    text: Callable[[str], str],
    is_locked: bool,
) -> None:
    """A lock without the units of a runner would say for ever after that it has none."""
    if not is_locked:
        (locked.omni / "runner-sync.lock").unlink()
    file = locked.omni / path
    file.write_text(text(file.read_text("utf-8")), "utf-8")
    with pytest.raises(InputError, match=rf"^{path} has no class {name}: bring it back, .*`extend-classes = .*`\)\.$"):
        command(locked.upgrade(locked.ascend_old))


def _in_an_if(text: str) -> str:
    head, body = text.split("class ", 1)
    return f"{head}if FLAG:\n{textwrap.indent(f'class {body}', '    ')}"


@pytest.mark.parametrize(("path", "name"), [(AR, "NPUARModelRunner"), (GPU_AR, "GPUARModelRunner")])
def test_a_runner_whose_class_stands_inside_an_if_is_no_green_run(locked: Trees, path: str, name: str) -> None:
    """Only members of a class at the top level are merged: the whole port was skipped, and nothing said so."""
    file = locked.omni / path
    file.write_text(_in_an_if(file.read_text("utf-8")), "utf-8")
    said = rf"^{path}:\d+: class {name} stands inside another statement, .*: move it to the top level of the module\.$"
    with pytest.raises(InputError, match=said):
        sync.check(locked.check())
    for command in (sync.lock, sync.upgrade):
        with pytest.raises(InputError, match=said):
            command(locked.upgrade(locked.ascend_new))


@pytest.mark.parametrize("path", [AR, BASE, GPU_AR])
def test_a_runner_whose_class_stands_there_twice_is_named(locked: Trees, path: str) -> None:
    """Rules would look at the second one alone, and tell of what that lacks."""
    file = locked.omni / path
    head, body = file.read_text("utf-8").split("class ", 1)
    file.write_text(f"{head}class {body}\n\nclass {body}", "utf-8")
    said = rf"^{path}:\d+: class \w+ is defined in line \d+, too: delete one of the two"
    for command in (sync.lock, sync.upgrade):
        with pytest.raises(InputError, match=said):
            command(locked.upgrade(locked.ascend_new))
    for look in (sync.check, sync.verify):
        with pytest.raises(InputError, match=said):
            look(locked.check(ascend=locked.ascend_new))


@pytest.mark.parametrize(
    "more",
    [
        '\nNOTE = """\nclass NPUARModelRunner\n"""\n',
        "\n\nif FLAG:\n    class NPUARModelRunner:\n        pass\n",
        "\n\nclass NPUARModelRunnerV2:\n    pass\n",
        "\n\ndef make():\n    class NPUARModelRunner:\n        pass\n",
    ],
    ids=["in a string", "also in an if", "another name", "in a function"],
)
def test_a_class_that_stands_once_at_the_top_is_read(locked: Trees, more: str) -> None:
    file = locked.omni / AR
    file.write_text(file.read_text("utf-8") + more, "utf-8")
    assert sync.check(locked.check()).command == "check"
    assert sync.upgrade(locked.upgrade(locked.ascend_old, verify=False)).report.command == "upgrade"


@pytest.mark.parametrize("command", [sync.check, sync.verify, sync.blocks, sync.upgrade, sync.lock])
def test_a_configured_module_that_is_not_in_the_tree_is_said(
    locked: Trees, command: Callable[..., Report | Upgrade]
) -> None:
    """Misspelt, it was looked into by nobody, and the run was green."""
    row = '[[extend-modules]]\nname = "{}"\npaths = ["{}"]\n'
    row += 'upstreams = [{{ project = "vllm-ascend", path = "{}", name = "NPUModelRunner" }}]\n'
    row += 'gpu = {{ project = "vllm-omni", path = "{}", name = "GPUARModelRunner" }}\n'
    text = row.format("NPUFarRunner", "vllm_omni/npu_far.py", ASCEND, GPU_AR)
    text += row.format("NPUARModelRunner", AR, ASCEND, "gpu/ra.py")
    (locked.omni / "runner-sync.toml").write_text(text, "utf-8")
    is_run = command in (sync.upgrade, sync.lock)
    found = command(
        locked.upgrade(locked.ascend_old, verify=False) if is_run else locked.check(ascend=locked.ascend_old)
    )
    notes = found.report.notes if isinstance(found, Upgrade) else found.notes
    assert [note.partition("runner-sync.toml: ")[2] for note in notes if "runner-sync.toml: " in note] == [
        "the module of NPUFarRunner is not in the tree (vllm_omni/npu_far.py)",
        "the GPU twin of NPUARModelRunner is not in the tree (gpu/ra.py)",
    ]


def test_an_upgrade_forgets_a_file_that_went(locked: Trees) -> None:
    (locked.omni / AR).unlink()
    commit(locked.omni)
    planned = sync.upgrade(locked.upgrade(locked.ascend_old, omni_base="HEAD", vllm_base="0.20.0"))
    assert planned.lock is not None
    assert planned.lock.after is not None
    assert BASE in planned.lock.after
    assert AR not in planned.lock.after


@pytest.mark.parametrize(("text", "message"), [(None, "has no such runner"), ("", "has no class GPUARModelRunner")])
def test_an_upgrade_without_a_gpu_twin_that_the_lock_records_is_refused(
    locked: Trees, text: str | None, message: str
) -> None:
    """It would look like a runner that has dropped everything, and the lock would forget what was ported."""
    if text is None:
        (locked.omni / GPU_AR).unlink()
    else:
        (locked.omni / GPU_AR).write_text(text, "utf-8")
    with pytest.raises(InputError, match=message):
        sync.upgrade(locked.upgrade(locked.ascend_old, omni_base="HEAD", vllm_base="0.20.0"))
