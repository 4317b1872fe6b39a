"""What a function left to its callers, and an override does not do (RS322)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from verify_samples import find, npu, world

STATES = """\
def move(rows):
    rows.clear()
def collect(rows):
    rows.append(1)
    {does}
"""
RUNNER = """\
from vllm import states
from vllm.runner import GPUModelRunner
class NPUModelRunner(GPUModelRunner):
    def execute(self, rows):
        {collects}
        {takes}
    def sample(self, rows):
        {samples}
    def note(self, rows):
        self.rows = rows
    def other(self, rows):
        {other}
"""
HEAD = "from vllm import states\nfrom vllm.states import collect, move"
OWN = "def execute(self, rows):\n    states.collect(rows)"
NONE: Mapping[str, str] = MappingProxyType({})
MOVES, SAMPLES = "states.move(rows)", "self.note(rows)\n        return 1"
BEFORE = {"does": "move(rows)", "samples": SAMPLES, "takes": "pass"}
AFTER = {"does": "pass", "samples": SAMPLES, "takes": MOVES}


def told(
    own: str = OWN, *, patch: str = "", before: Mapping[str, str] = NONE, after: Mapping[str, str] = NONE
) -> list[str]:
    trees = []
    for given, patched in ((BEFORE | before, ""), (AFTER | after, patch)):
        text = {"collects": "states.collect(rows)", "other": "pass"} | given
        ascend = RUNNER.format(**{name: text[name] for name in ("collects", "takes", "samples", "other")})
        files = {"vllm/states.py": STATES.format(does=text["does"])}
        if patched:
            files |= {"vllm_ascend/patch/__init__.py": "", "vllm_ascend/patch/worker/patch_states.py": patched}
        trees.append(world(npu=npu(own, head=HEAD), ascend=ascend, **files))
    return [finding.symbol for finding in find(*reversed(trees)) if finding.code == "RS322"]


PATCH = "from vllm import states\ndef collect(rows):\n    rows.append(2)\nstates.collect = collect\n"
OF_SELF: dict[str, Any] = {
    "own": "def execute(self, rows):\n    return self.sample(rows)",
    "before": {"does": "pass", "collects": "self.sample(rows)"},
    "after": {"samples": "return 1", "collects": "self.sample(rows)", "takes": "self.note(rows)"},
}
TOLD: dict[str, dict[str, Any]] = {
    "a function": {},
    "a function by its own name": {"own": "def execute(self, rows):\n    collect(rows)"},
    "among others": {"after": {"takes": "with self.lock:\n            states.move(rows)"}},
    "by a start-up patch": {"patch": PATCH, "after": {"does": "move(rows)"}},
}
LEFT: dict[str, dict[str, Any]] = {
    "it is done here": {"own": f"{OWN}\n    states.move(rows)"},
    "it is done behind": {"own": f"{OWN}\n    super().execute(rows)"},
    "it is done by what is called here": {
        "own": f"{OWN}\n    self.other(rows)", "before": {"other": MOVES}, "after": {"other": MOVES},
    },
    "it is handed over": {"own": f"{OWN}\n    self.later = move"},
    "the function does it": {"after": {"does": "move(rows)"}},
    "the function never did": {"before": {"does": "pass"}},
    "the hidden method did it before": {"before": {"takes": MOVES}},
    "the hidden method does not": {"after": {"takes": "pass"}},
    "the hidden method does not call the function": {"after": {"collects": "pass"}},
    "nothing is hidden": {"own": "def run(self, rows):\n    states.collect(rows)"},
    "the function is not called": {"own": "def execute(self, rows):\n    pass"},
    "its value is used": {"before": {"does": "rows = move(rows)"}, "after": {"takes": f"rows = {MOVES}"}},
    "it is a method of another object": {"before": {"does": "rows.move()"}, "after": {"takes": "rows.move()"}},
    "by a patch of what is imported by its name": {
        "own": "def execute(self, rows):\n    collect(rows)", "patch": PATCH, "after": {"does": "move(rows)"},
    },
}  # fmt: skip


@pytest.mark.parametrize("name", TOLD)
def test_a_step_that_is_the_callers_now(name: str) -> None:
    assert told(**TOLD[name]) == ["move"]


def test_a_step_on_self() -> None:
    assert told(**OF_SELF) == ["note"]


@pytest.mark.parametrize("name", LEFT)
def test_a_step_that_is_done_or_was_never(name: str) -> None:
    assert told(**LEFT[name]) == []
