"""A field that upstream has since the old trees, and that only a hidden method reads (RS324)."""

from __future__ import annotations

from typing import Any

import pytest
from verify_samples import GPU, ascend, find, npu, world

RECORD = """\
from dataclasses import dataclass
import logging
logger = logging.getLogger(__name__)
@dataclass
class Step:
    rows: int
    {field}
@dataclass
class Other:
    marks: int
"""
RUNNER = """\
class GPUModelRunner:
    def update(self, step: Step):
        {does}
        return step.rows
    def clear(self, marks):
        {clears}
    def look(self, other: Other):
        return {looks}
def note(step: {notes}):
    return step.marks
"""
OLD = {"field": "pass", "does": "pass", "clears": "pass", "looks": "other", "notes": "Other"}
NEW = OLD | {"field": "marks: list | None = None", "does": "self.clear(step.marks)"}
OWN = "def update(self, step):\n    return step.rows"
IMPORTS = "from vllm.runner import GPUModelRunner, note\n"

TOLD: dict[str, dict[str, Any]] = {
    "handed over": {},
    "asked for first": {"new": {"does": "if step.marks:\n            self.clear(step.marks)"}},
    "under another name": {"new": {"does": "one = step\n        self.clear(one.marks)"}},
    "a field of another class is read": {"own": OWN.replace("return step.rows", "return note(step.rows)")},
    "a switch that is on": {"new": {"field": "marks: bool = True"}},
    "inherited from omni": {"own": "pass", "gpu": OWN},
}
LEFT: dict[str, dict[str, Any]] = {
    "the override reads it": {"own": OWN.replace("rows", "marks")},
    "the override asks for it by name": {"own": OWN.replace("step.rows", "getattr(step, 'marks', None)")},
    "the hidden method is called": {"own": OWN.replace("step.rows", "super().update(step)")},
    "another method that runs reads it": {"new": {"looks": "other.marks"}},
    "a function that is called reads it": {
        "own": OWN.replace("return step.rows", "return note(step)"),
        "new": {"notes": "Step"},
    },
    "a function that is called may read it": {
        "own": OWN.replace("return step.rows", "return note(step)"),
        "new": {"notes": "object"},
    },
    "it is no new field": {"old": {"field": "marks: list | None = None"}},
    "it was a method": {"old": {"field": "def marks(self): return None"}},
    "the hidden method read it before": {"old": {"does": "self.clear(step.marks)"}},
    "it is a method": {"new": {"field": "def marks(self): return None"}},
    "it is a switch that is off": {"new": {"field": "marks: bool = False"}},
    "it is only logged": {"new": {"does": "logger.debug('%s', step.marks)"}},
    "nothing is hidden": {"own": "def run(self, step):\n    return step.rows"},
    "upstream hides it": {"ascend": ascend("def update(self, step):\n    return step.rows")},
    "it is an attribute of the runner": {"new": {"does": "self.marks"}},
}  # fmt: skip


def told(own: str = OWN, *, gpu: str = "pass", ascend: str = "", **changed: dict[str, str]) -> list[str]:
    trees = []
    for given in (NEW | changed.get("new", {}), OLD | changed.get("old", {})):
        record, runner = RECORD.format(**given), RUNNER.format(**given)
        gpu_text = GPU + "".join(f"    {line}\n" for line in gpu.splitlines())
        more = (
            {"ascend": ascend} if ascend else {"ascend": IMPORTS + "class NPUModelRunner(GPUModelRunner):\n    pass\n"}
        )
        trees.append(
            world(npu=npu(own).replace("import helper", "import note"), vllm=record + runner, gpu=gpu_text, **more)
        )
    return [finding.symbol for finding in find(*trees) if finding.code == "RS324"]


@pytest.mark.parametrize("name", TOLD)
def test_a_field_that_only_a_hidden_method_reads(name: str) -> None:
    assert told(**TOLD[name]) == ["Step.marks"]


@pytest.mark.parametrize("name", LEFT)
def test_a_field_that_is_read_or_not_new(name: str) -> None:
    assert told(**LEFT[name]) == []


@pytest.mark.parametrize(
    ("field", "was", "expected"),
    [
        pytest.param("mark: list | None = None", "marks: list | None = None", ["RS308"], id="the new name"),
        pytest.param("columns: list | None", "marks: list | None", ["RS308", "RS324"], id="another field"),
        pytest.param("columns: Other | None", "marks: Other | None", ["RS308"], id="a class of its own"),
        pytest.param("columns: Any", "marks: Any", ["RS308", "RS324"], id="a type that says nothing"),
        pytest.param("columns: Dict[str, int]", "marks: Dict[str, int]", ["RS308", "RS324"], id="a container's name"),
        pytest.param("columns: Other", "marks: Step", ["RS308", "RS324"], id="another class"),
        pytest.param(
            "first: Other\n    columns: Other", "first: Other\n    marks: Other", ["RS308", "RS324"], id="one of two"
        ),
    ],
)
def test_a_field_that_stands_in_the_place_of_one_that_the_override_reads(
    field: str, was: str, expected: list[str]
) -> None:
    """The fix for the lost field names it, so one finding says all."""
    name = field.rpartition("\n")[2].strip().partition(":")[0]
    trees = [
        world(
            npu=npu("def update(self, step):\n    return step.marks").replace("import helper", "import note"),
            vllm=RECORD.format(field=declared) + RUNNER.format(**OLD | {"does": does, "notes": "Other"}),
            ascend=IMPORTS + "class NPUModelRunner(GPUModelRunner):\n    pass\n",
        )
        for declared, does in ((field, f"self.clear(step.{name})"), (was, "pass"))
    ]
    assert sorted(finding.code for finding in find(*trees)) == expected
