"""What a call gives and the function sets anew, by an argument that the call leaves out (RS323)."""

from __future__ import annotations

from typing import Any

import pytest
from verify_samples import find, npu, world

RUNNER = """\
from vllm.runner import GPUModelRunner
class NPUModelRunner(GPUModelRunner):
    def pad(self, tokens, rows, {takes}):
        {does}
        return tokens * rows
    def execute(self, rows):
        self.pad(1, rows, {passes})
"""
OLD = {"takes": "*, key=1", "does": "pass", "passes": "key=2"}
NEW = {"takes": "*, key=1, limit=None", "passes": "limit=3"}
OWN = "def execute(self, rows):\n    self.pad(1, rows)"
EITHER = "if limit:\n            rows = limit\n        else:\n            rows = 1"
LADDER = (
    "if limit:\n            rows = 1\n        elif tokens:\n            rows = 2\n        else:\n            rows = 3"
)

TOLD: dict[str, dict[str, Any]] = {
    "at once": {"does": "rows = limit or 1"},
    "in either branch": {"does": EITHER},
    "in each of three": {"does": LADDER},
    "behind another statement": {"does": "self.tokens = tokens\n        rows = limit"},
    "by keyword": {"does": EITHER, "own": "def execute(self, rows):\n    self.pad(1, rows=rows)"},
}
LEFT: dict[str, dict[str, Any]] = {
    "in one branch": {"does": "if limit:\n            rows = limit"},
    "it is read first": {"does": "rows = limit or rows"},
    "it is asked for first": {"does": "if rows:\n            rows = 1\n        else:\n            rows = 2"},
    "it is changed": {"does": "rows += 1\n        rows = limit"},
    "it is read in a branch": {"does": EITHER.replace("rows = 1", "rows = rows + 1")},
    "it was overwritten before": {"does": EITHER, "old": {"does": "rows = 1"}},
    "the new one is given here": {"does": EITHER, "own": "def execute(self, rows):\n    self.pad(1, rows, limit=2)"},
    "what is given may hold it": {"does": EITHER, "own": "def execute(self, rows, **m):\n    self.pad(1, rows, **m)"},
    "the hidden method does not pass it": {"does": EITHER, "new": {"passes": "key=2"}},
    "it is not new": {"does": EITHER, "old": {"takes": "*, key=1, limit=None"}},
    "nothing is hidden": {"does": EITHER, "own": "def run(self, rows):\n    self.pad(1, rows)"},
    "a failure is expected": {
        "does": EITHER,
        "own": "def execute(self, rows):\n    try:\n        self.pad(1, rows)\n    except TypeError:\n        pass",
    },
}  # fmt: skip


def told(*, does: str, own: str = OWN, **changed: dict[str, str]) -> list[str]:
    old = OLD | changed.get("old", {})
    new = NEW | {"does": does} | changed.get("new", {})
    now, before = (world(npu=npu(own), ascend=RUNNER.format(**given)) for given in (new, old))
    return [finding.symbol for finding in find(now, before) if finding.code == "RS323"]


@pytest.mark.parametrize("name", TOLD)
def test_an_argument_that_is_overwritten(name: str) -> None:
    assert told(**TOLD[name]) == ["pad(rows)"]


@pytest.mark.parametrize("name", LEFT)
def test_an_argument_that_counts_or_never_did(name: str) -> None:
    assert told(**LEFT[name]) == []
