"""Members and classes that stand inside ``if`` or ``try``, or are assigned: not gone, only not compared."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from sync_samples import AR, ASCEND, GPU_AR, GPU_TWIN, NPU_TWIN, Trees, commit, port_of, stay_at_home

from runner_sync import sync
from runner_sync.lock import load
from runner_sync.profile import NPU
from runner_sync.units import texts
from runner_sync.upgrade.job import ModuleJob, Upstream
from runner_sync.upgrade.module import upgrade_module
from runner_sync.upgrade.revision import ModuleRevision

HEAD, COLLECT = GPU_TWIN.split("    def _collect", 1)
COLLECT = f"    def _collect{COLLECT}"
FUNCTION = textwrap.dedent(COLLECT)
TRIED = f"    try:\n{textwrap.indent(COLLECT, '    ')}    except NameError:\n        pass\n"


@pytest.mark.parametrize(
    "now",
    [
        HEAD + "    if FLAG:\n" + textwrap.indent(COLLECT, "    "),
        HEAD + TRIED,
        HEAD + f"\n\n{FUNCTION}\n\nGPUARModelRunner._collect = _collect\n",
        HEAD + "    if FLAG:\n        _collect = collect_rows\n",
        HEAD + "    _collect = collect_rows\n",
    ],
    ids=["if", "try", "assigned to the class", "assigned inside an if", "assigned in the class"],
)
def test_a_method_that_the_twin_has_elsewhere_in_its_class_is_not_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, now: str
) -> None:
    text, reasons = port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, now)
    assert COLLECT in "".join(line for line in text.splitlines(True) if "runner-sync: review" not in line)
    assert f"{GPU_AR}:" in reasons
    assert "defines GPUARModelRunner._collect inside another statement or by assignment" in reasons
    assert "dropped" not in reasons


@pytest.mark.parametrize(
    "now",
    [
        HEAD,
        HEAD + "    def _count(self):\n        _collect = self.counts\n        return len(_collect)\n",
        HEAD + f"\n\nclass Other:\n{COLLECT}",
        HEAD + "\n\nOther._collect = None\n",
        HEAD + "    if FLAG:\n        def _collected(self):\n            return 1\n",
    ],
    ids=["gone", "a local", "another class", "assigned to another class", "another name"],
)
def test_a_method_whose_name_only_stands_elsewhere_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, now: str
) -> None:
    text, reasons = port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, now)
    assert "def _collect(" not in text
    assert "the GPU runner dropped this method" in reasons


UPSTREAM = (
    "class NPUModelRunner(Base):\n    def run(self, rows):\n        self.start(rows)\n        return self.end(rows)\n"
)
COPY = UPSTREAM.replace("NPUModelRunner", "OmniNPUModelRunner").replace(
    "        return", "        self.note()\n        return"
)


def _after(now: str) -> tuple[str, list[str]]:
    """A copy of ``UPSTREAM`` after the upgrade to ``now``, and the questions."""
    path = NPU.modules[0].anchor.path
    old, new = ModuleRevision("0.1", UPSTREAM, path), ModuleRevision("0.2", now, path)
    job = ModuleJob(NPU, NPU.modules[0], "runner.py", COPY, Upstream(new=new, bases=(old, new)))
    result = upgrade_module(job)
    return result.after, [item.reason for item in result.reviews]


def test_a_method_that_upstream_has_inside_an_if_is_not_gone() -> None:
    head, body = UPSTREAM.split("\n", 1)
    for nested in (
        f"{head}\n    if FLAG:\n{textwrap.indent(body, '    ')}",
        f"if FLAG:\n{textwrap.indent(UPSTREAM, '    ')}",
    ):
        text, (reason,) = _after(nested)
        assert "self.note()" in text
        assert "defines NPUModelRunner.run inside another statement or by assignment" in reason


def test_a_method_that_upstream_assigns_is_no_statement_of_it() -> None:
    """What was merged was a method and an assignment, and half of the method was lost."""
    text, (reason,) = _after("class NPUModelRunner(Base):\n    def start(self, rows): ...\n\n    run = start\n")
    assert "self.start(rows)\n        self.note()" in text
    assert ":4 defines NPUModelRunner.run inside another statement or by assignment" in reason


def test_a_method_that_upstream_dropped_is_gone() -> None:
    _text, reasons = _after("class NPUModelRunner(Base):\n    def other(self):\n        run = 1\n        return run\n")
    assert reasons == ["upstream no longer has the method that this is a copy of; the copy stays"]


def test_what_overrides_a_method_that_upstream_has_inside_an_if_gets_its_ports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    commit(trees.omni)
    trees.edit(GPU_AR, "        return super()._finish(", "        self.close(total)\n        return super()._finish(")
    commit(trees.omni)
    file = trees.ascend_new / ASCEND
    head, body = file.read_text("utf-8").split("class ", 1)
    body = textwrap.indent(f"class {body}", "    ")
    file.write_text(f"{head}if FLAG:\n{body}", "utf-8")
    planned = sync.upgrade(trees.upgrade(trees.ascend_new, omni_base="HEAD~1", vllm_base="0.20.0", verify=False))
    (after,) = (change.after or "" for change in planned.changes if change.path == AR)
    assert "self.close(total)" in after


def test_a_unit_that_is_set_aside_keeps_its_entry_in_the_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    commit(trees.omni)
    trees.write_lock()
    commit(trees.omni)
    before = (trees.omni / "runner-sync.lock").read_text("utf-8")
    text = (trees.omni / GPU_AR).read_text("utf-8")
    head, body = text.split("    def _stage_of", 1)
    nested = textwrap.indent(f"    def _stage_of{body}", "    ")
    (trees.omni / GPU_AR).write_text(f"{head}    if FLAG:\n{nested}", "utf-8")
    commit(trees.omni)
    planned = sync.upgrade(trees.upgrade(trees.ascend_old, verify=False))
    after = (planned.lock.after or "") if planned.lock is not None else before
    entry = load(after).by_key()[AR, "NPUARModelRunner._stage_of"]
    assert entry.gpu == load(before).by_key()[AR, "NPUARModelRunner._stage_of"].gpu


def test_a_method_that_npu_has_inside_an_if_is_named_and_does_not_come_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The GPU runner's hook came beside omni's own, and hid it."""
    stay_at_home(monkeypatch, tmp_path)
    trees = Trees(tmp_path)
    mine = "    if FLAG:\n        def _sample(self, logits):\n            return self.own(logits)\n\n    def _stage_of"
    trees.edit(AR, "    def _stage_of", mine)
    commit(trees.omni)
    planned = sync.upgrade(trees.upgrade(trees.ascend_new, verify=False))
    (note,) = [note for note in planned.report.notes if "inside another statement" in note]
    assert f"{AR}: members inside another statement, or assigned to the class, are not merged" in note
    assert note.endswith(": NPUARModelRunner._sample (line 9)")
    assert not [change for change in planned.changes if change.path == AR]
    assert [
        note
        for note in sync.lock(trees.upgrade(trees.ascend_old, omni_base=trees.itself)).report.notes
        if note.startswith(f"{AR}: ")
    ]


def test_what_makes_no_unit() -> None:
    text = """\
first = 1
if FLAG:
    def second(): ...
    class Third:
        def run(self): ...
class Runner:
    field = 1
    def run(self):
        inner = 1
    try:
        run = other
        def stop(self): ...
    except NameError:
        import stop
Runner.halt = Runner.run
Runner.run = None
other.module.name = 2
class Record(NamedTuple):
    rows: int = 0
"""
    assert texts.beside_units(text, "") == {
        "first": 1,
        "second": 3,
        "Third": 4,
        "Third.run": 5,
        "Runner.stop": 12,
        "Runner.halt": 15,
    }
