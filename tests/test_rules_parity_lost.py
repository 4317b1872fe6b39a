"""RS209: what a branch takes out of an NPU method while its GPU twin keeps it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from check_samples import AR, GPU_AR, found, job, run, symbols, with_hashes
from parity_samples import gpu, npu
from verify_samples import world

from runner_sync.digests import digest
from runner_sync.lock import Entry
from runner_sync.model import BaseRef
from runner_sync.verify.check_job import CheckJob
from runner_sync.verify.rules import rs209_parity_lost
from runner_sync.verify.runners.job import Library, Subject

PORT = """\
def execute_model(self, batch):
    self.prepare(batch)
    if self.pending:
        self.flush_outputs(self.pending)
    output = self.model(batch)
    return self.attach(output, self.stage)
"""
GPU_RUNNER = gpu(PORT.replace("self.model(batch)", "self.model(batch, stream=self.stream)"))
FLUSH = "    if self.pending:\n        self.flush_outputs(self.pending)\n"
TWIN = "GPUARModelRunner.execute_model"
VLLM = """
class GPUModelRunner:
    def execute_model(self, batch):
        self.prepare(batch)
        return self.model(batch)
"""


def locked(npu_text: str, *, is_copy: bool = False) -> Entry:
    """What a lock written for this text says of the method."""
    unit = GPU_RUNNER[GPU_RUNNER.index("    def ") :]
    twin = BaseRef("vllm-omni", "0.32.0", GPU_AR, TWIN, "lock", 1.0, digest(unit))
    followed = BaseRef("vllm-ascend", "0.30.0", "a.py", "NPUModelRunner.execute_model", "lock", 1.0, "0" * 64)
    one = Entry(AR, "NPUARModelRunner.execute_model", followed if is_copy else None, twin)
    return with_hashes(one, npu_text, GPU_RUNNER)


def branched(then: str, now: str, *, gpu_now: str = GPU_RUNNER, **rest: object) -> CheckJob:
    """The job of a branch that turned one NPU text into another; the lock was written for the first."""
    rest = {"entries": [locked(then)], **rest}
    before = job(then, GPU_RUNNER, **rest)  # type: ignore[arg-type]
    return replace(job(now, gpu_now, **rest), before=lambda: before)  # type: ignore[arg-type]


def rated(given: CheckJob) -> list[tuple[str, str]]:
    return [(finding.severity, finding.symbol) for finding in found(given, "RS209")]


def test_a_branch_that_takes_back_the_npu_half_of_a_port() -> None:
    (finding,) = found(branched(npu(PORT), npu(PORT.replace(FLUSH, ""))), "RS209")
    assert finding.severity == "warning"
    assert "and 1 more) out of this unit; the GPU twin `GPUARModelRunner.execute_model`" in finding.message
    assert finding.message.endswith("still has it, and no NPU code has it any more.")
    assert finding.fix == (
        "Put it back, or change the GPU twin, too; where NPU is meant to differ, `runner-sync lock` records that."
    )


def test_without_a_branch_nobody_knows() -> None:
    assert symbols(job(npu(PORT.replace(FLUSH, "")), GPU_RUNNER), "RS209") == []


def test_a_statement_in_another_form_is_an_info() -> None:
    given = branched(npu(PORT), npu(PORT.replace("output, self.stage", "output")))
    assert rated(given) == [("info", TWIN)]
    (finding,) = found(given, "RS209")
    assert "and this unit has `return self.attach(output)` in its place now." in finding.message


def test_without_a_lock_an_ignore_comment_is_named() -> None:
    given = branched(npu(PORT), npu(PORT.replace(FLUSH, "")), entries=[])
    (finding,) = found(given, "RS209")
    assert "`# runner-sync: ignore[RS209] reason` above this unit" in finding.fix


HELPER = "\ndef _flush(self):\n    if self.pending:\n        self.flush_outputs(self.pending)\n"


@pytest.mark.parametrize(
    ("then", "now"),
    [
        pytest.param(npu(PORT), npu(PORT.replace("    self.prepare", "    # why\n    self.prepare")), id="a comment"),
        pytest.param(npu(PORT), npu(PORT.replace(FLUSH, FLUSH + "    self.more()\n")), id="an addition"),
        pytest.param(npu(PORT), npu(PORT.replace(FLUSH, "    self._flush()\n") + HELPER), id="moved to a helper"),
        pytest.param(npu(PORT.replace(FLUSH, "")), npu(PORT), id="a port"),
        pytest.param(npu(PORT + "    self.log()\n"), npu(PORT), id="NPU's own statement"),
        pytest.param(
            npu(PORT.replace("self.prepare", "logger.info('x')\n    self.prepare")), npu(PORT), id="a log message"
        ),
    ],
)
def test_what_loses_no_parity(then: str, now: str) -> None:
    assert rated(branched(then, now)) == []


def test_a_branch_that_changes_both_sides() -> None:
    both = PORT.replace(FLUSH, "")
    assert rated(branched(npu(PORT), npu(both), gpu_now=gpu(both))) == []


def test_a_branch_that_brings_to_gpu_what_it_takes_from_npu() -> None:
    without = gpu(PORT.replace(FLUSH, ""))
    given = branched(npu(PORT), npu(PORT.replace(FLUSH, "")))
    before = job(npu(PORT), without, entries=[])
    assert rated(replace(given, before=lambda: before)) == []


def test_a_unit_that_the_lock_records_as_it_is() -> None:
    now = npu(PORT.replace(FLUSH, ""))
    assert rated(branched(npu(PORT), now, entries=[locked(now)])) == []


def test_code_of_vllm_is_no_port() -> None:
    shorter = npu(PORT.replace("    self.prepare(batch)\n", ""))
    assert rated(branched(npu(PORT), shorter, vllm=VLLM)) == []
    assert rated(branched(npu(PORT), shorter)) == [("warning", TWIN)], "unknown without the text of vLLM"


RULER = "    # ---------- Omni-new ----------\n"


def test_without_the_text_of_vllm_only_blocks_of_a_copy_count() -> None:
    marked = npu(PORT.replace(FLUSH, RULER + FLUSH + RULER))
    entries = [locked(marked, is_copy=True)]
    lost = npu(PORT.replace(FLUSH, RULER + RULER))
    assert rated(branched(marked, lost, entries=entries)) == [("warning", TWIN)]
    outside = npu(PORT.replace(FLUSH, RULER + FLUSH + RULER).replace("    self.prepare(batch)\n", ""))
    assert rated(branched(marked, outside, entries=entries)) == []


def test_a_parents_call_is_told_by_a_rule_with_trees() -> None:
    text = "def execute_model(self, batch):\n    {}\n    return batch"
    then, now = (npu(text.format(body)) for body in ("super().run()", "pass"))
    twin = gpu(text.format("super().run()"))
    before = job(then, twin)
    offline = replace(job(now, twin), before=lambda: before)
    assert rated(offline) == [("warning", TWIN)]
    with_trees = Subject(Library(replace(offline, world=world())), offline.modules[0])
    assert list(rs209_parity_lost.find(with_trees)) == []


MIXIN = "class Rows:\n    pass\nclass Outputs(Rows):\n    def flush_outputs(self, rows):\n        self.pending = None\n"
WITH_MIXIN = "from vllm_omni.worker.outputs import Outputs\nfrom vllm_omni.utils import drop_rows\n"


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        pytest.param("    self.flush_outputs(batch)\n", ["warning"], id="a method of a mixin"),
        pytest.param("    self.pending.clear()\n", ["warning"], id="an attribute that a mixin sets"),
        pytest.param("    drop_rows(batch)\n", ["warning"], id="a function of omni's"),
        pytest.param("    self.other(batch)\n", [], id="what upstream may have"),
    ],
)
def test_outside_of_blocks_of_a_copy_what_is_known_to_be_omnis_counts(statement: str, expected: list[str]) -> None:
    head = "from vllm_omni.platforms.npu.worker.npu_model_runner import OmniNPUModelRunner\n" + WITH_MIXIN
    then = npu(statement.join(["def execute_model(self, batch):\n", "    return self.model(batch)\n"]), head=head)
    then = then.replace("(OmniNPUModelRunner)", "(OmniNPUModelRunner, Outputs)")
    twin = gpu(f"def execute_model(self, batch):\n{statement}    return self.model(batch)\n")
    rest = {"files": {"vllm_omni/worker/outputs.py": MIXIN}, "entries": [locked(then, is_copy=True)]}
    before = job(then, twin, **rest)  # type: ignore[arg-type]
    indented = statement.replace("    ", "        ", 1)
    given = replace(job(then.replace(indented, ""), twin, **rest), before=lambda: before)  # type: ignore[arg-type]
    assert [severity for severity, _ in rated(given)] == expected


def test_an_ignore_comment_for_it_is_never_called_unused() -> None:
    text = npu(PORT).replace(
        "    def execute", "    # runner-sync: ignore[RS209] NPU flushes elsewhere\n    def execute"
    )
    given = branched(text, text)
    assert run(given, "RS491").findings == ()
