"""Calls that a port brings without the argument of a feature that it leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest
from sync_samples import GPU_BASE, GPU_TWIN, NPU_TWIN, OMNI_TREE, dedent, port_of

from runner_sync.model import Triple
from runner_sync.upgrade.from_gpu.merging.initial_values import drop_default_arguments

ATTACHING = dedent(OMNI_TREE[GPU_BASE]) + "\n    def attach(self, rows, *, capture=False):\n        self.held = rows\n"
NOW = GPU_TWIN.replace(
    "        kept = self.keep(first)\n",
    "        plan = self.find_plan(torch.cuda.current_stream(), rows)\n"
    "        capture = {first}\n"
    "        if plan is not None:\n"
    "            capture = plan.capture\n"
    "        kept = self.keep(first, capture)\n"
    "        self.attach(rows, capture=capture)\n",
)


@pytest.mark.parametrize(
    ("first", "comes"),
    [
        pytest.param("False", True, id="the first value is the default"),
        pytest.param("True", False, id="the first value is another one"),
        pytest.param("self.captures", False, id="the first value is no constant"),
    ],
)
def test_a_call_comes_without_the_argument_of_a_feature_that_stays_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, comes: bool
) -> None:
    now = NOW.replace("{first}", first)
    text, questions = port_of(tmp_path, monkeypatch, NPU_TWIN, GPU_TWIN, now, beside={GPU_BASE: ATTACHING})
    assert ("        self.attach(rows)\n" in text) is comes
    assert ("without capture=capture, because the port leaves that value out" in questions) is comes
    assert "capture = " not in text


METHOD = """\
def run(self, rows):
    capture = False
    if self.plan:
        capture = self.plan.capture
    self.attach(
        rows,
        capture=capture,  # of the plan
    )
"""
SHORTER = METHOD.replace("        capture=capture,  # of the plan\n", "")
INDENTED = METHOD.replace("    capture = False\n    if self.plan:\n", "    if self.plan:\n        capture = False\n")
DEFAULT = "def attach(self, rows, {} = False):\n    self.held = rows\n"


@pytest.mark.parametrize(
    ("method", "lacking", "callee", "made"),
    [
        pytest.param(METHOD, {"capture"}, DEFAULT.format("capture: bool"), SHORTER, id="by the default"),
        pytest.param(METHOD, {"capture"}, DEFAULT.format("*, capture"), SHORTER, id="by the default of a keyword"),
        pytest.param(METHOD, {"capture"}, DEFAULT.format("held"), METHOD, id="no parameter of that name"),
        pytest.param(METHOD, {"capture"}, DEFAULT.replace(" = False", "").format("capture"), METHOD, id="no default"),
        pytest.param(METHOD, {"capture"}, None, METHOD, id="a method that nobody knows"),
        pytest.param(METHOD, {"capture"}, "@wrapped\n" + DEFAULT.format("capture"), METHOD, id="a changed signature"),
        pytest.param(METHOD, set(), DEFAULT.format("capture"), METHOD, id="the local is here"),
        pytest.param(
            METHOD.replace("capture=capture", "capture=not capture"),
            {"capture"},
            DEFAULT.format("capture"),
            METHOD.replace("capture=capture", "capture=not capture"),
            id="another value",
        ),
        pytest.param(INDENTED, {"capture"}, DEFAULT.format("capture"), INDENTED, id="set only under a condition"),
    ],
)
def test_arguments_that_pass_the_default_at_first(
    method: str, lacking: set[str], callee: str | None, made: str
) -> None:
    sides = Triple("", "", method)
    assert drop_default_arguments(sides, lacking, lambda _name: callee) == Triple("", "", made)


def test_a_call_that_the_twin_made_before_keeps_its_arguments() -> None:
    """`execute_model` of vllm-omni 0.23.0rc1 has the call without the argument, and NPU does not have the call."""
    sides = Triple(SHORTER, "", METHOD)
    assert drop_default_arguments(sides, {"capture"}, lambda _name: DEFAULT.format("capture")) == sides
