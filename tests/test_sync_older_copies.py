"""A base that an option names, and that is newer than what the copies were made from, is noted."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable

import pytest
from sync_samples import ASCEND, BASE, Trees, commit

from runner_sync import sync

STEPS = range(40)
LATER = [*range(10), *range(20, 50)]
"""Ten steps are gone, and ten came."""
TAGS = {"v0.19.0": STEPS, "v0.20.0": LATER, "v0.21.0": [*LATER, 50]}


def method(steps: Iterable[int], *own: str) -> str:
    """A long copied method."""
    body = [*(f"self.step_{number}(scheduler_output)" for number in steps), *own, "return scheduler_output"]
    return "    def execute_model(self, scheduler_output):\n" + "".join(f"        {line}\n" for line in body)


def short(steps: Iterable[int]) -> str:
    return "    def _finish(self, logits):\n" + "".join(f"        self.step_{n}(logits)\n" for n in list(steps)[5:25:5])


def make(trees: Trees, copied: Iterable[int], of: str) -> None:
    """Tag three vllm-ascend, and let omni's runner have a copy of the method with ``copied`` steps."""
    imported = "from vllm.v1.worker.gpu_model_runner import GPUModelRunner\n\n\nclass NPUModelRunner(GPUModelRunner):\n"
    for tag, steps in TAGS.items():
        (trees.ascend_old / ASCEND).write_text(imported + method(steps) + "\n" + short(steps), "utf-8")
        commit(trees.ascend_old)
        subprocess.run(["git", "-C", str(trees.ascend_old), "tag", tag], check=True)
    head = (
        "from vllm_ascend.worker.model_runner_v1 import NPUModelRunner\n\n\nclass OmniNPUModelRunner(NPUModelRunner):\n"
    )
    own = method(copied, "self.talker = scheduler_output") if of == "long" else short(copied)
    (trees.omni / BASE).write_text(head + own, "utf-8")


@pytest.mark.parametrize(
    ("copied", "of", "base", "is_noted"),
    [
        pytest.param(STEPS, "long", "v0.20.0", True, id="older"),
        pytest.param(LATER, "long", "v0.20.0", False, id="as named"),
        pytest.param([*LATER, 50], "long", "v0.20.0", False, id="later"),
        pytest.param(STEPS, "long", "v0.19.0", False, id="nothing before it"),
        pytest.param(STEPS, "short", "v0.20.0", False, id="too short to tell"),
    ],
)
def test_copies_of_an_older_release_than_the_named_base_are_noted(
    trees: Trees, copied: Iterable[int], of: str, base: str, is_noted: bool
) -> None:
    make(trees, copied, of)
    options = trees.upgrade(trees.ascend_old, ascend_base=base, omni_base=trees.itself, gpu=False, verify=False)
    said = [note for note in sync.upgrade(options).report.notes if "is closer than" in note]
    expected = (
        "vllm-ascend v0.19.0 is closer than v0.20.0, which --ascend-base names, to OmniNPUModelRunner.execute_model: "
        "without --ascend-base, the base is inferred"
    )
    assert said == ([expected] if is_noted else [])


@pytest.mark.parametrize("base", [pytest.param("v0.20.0", id="named"), pytest.param(None, id="inferred")])
def test_what_upstream_added_since_the_named_base_comes_though_the_copy_is_closer_to_the_target(
    trees: Trees, base: str | None
) -> None:
    """Upstream took back in 0.22.0 what the copy never had. Without a named base, the target counts as the origin."""
    make(trees, range(20), "long")
    for tag, steps in {"v0.20.0": range(40), "v0.22.0": [*range(60, 69), *range(20)]}.items():
        (trees.ascend_old / ASCEND).write_text(f"class NPUModelRunner:\n{method(steps)}", "utf-8")
        commit(trees.ascend_old)
        subprocess.run(["git", "-C", str(trees.ascend_old), "tag", "-f", tag], check=True)
    sources = {"ascend_base": base, "omni_base": trees.itself} if base else {"omni_base": trees.itself}
    changes = sync.upgrade(trees.upgrade(trees.ascend_old, **sources, gpu=False, verify=False)).changes
    text = "".join(change.after or "" for change in changes)
    assert ("self.step_60(scheduler_output)" in text) is (base is not None)
