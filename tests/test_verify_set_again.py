"""Attributes that the constructor of a derived class sets again, or that it does without (RS308, RS309)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

VLLM = """\
class Rows:
    def __init__(self):
        self.number = 0

class GPUModelRunner:
    def __init__(self, config):
        self.config = config
        self.rows = Rows()
        self.seq_lens = self.make()
"""
ASCEND = """\
import torch
from vllm.runner import GPUModelRunner, Rows
class NPURows(Rows):
    def __init__(self):
        {begins}
        self.size = 0
class NPUModelRunner(GPUModelRunner):
    def __init__(self, config):
        {body}
    def step(self):
        {later}
"""
CALL = "super().__init__(config)"
READS = npu("def m(self):\n    return self.rows.number").replace("from vllm.runner import helper\n", "")
AGAIN = f"{CALL}\n        self.rows = NPURows()"

# How the object's constructor begins, what the runner's does, what another method does, whether the read fails.
COUNTS = {
    "set again": ("pass", AGAIN, "pass", True),
    "set again in a with": (
        "pass",
        f"with torch.no_grad():\n            {AGAIN.replace('    ' * 2, '    ' * 3)}",
        "pass",
        True,
    ),
    "the object calls its parent": ("super().__init__()", AGAIN, "pass", False),
    "set before": ("pass", f"self.rows = NPURows()\n        {CALL}", "pass", False),
    "set under a condition": ("pass", f"{CALL}\n        if config:\n            self.rows = NPURows()", "pass", False),
    "set after a return": ("pass", AGAIN.replace(")\n", ")\n        if config:\n            return\n"), "pass", False),
    "set from what was there": ("pass", f"{CALL}\n        self.rows = NPURows(self.rows.part)", "pass", False),
    "set by another method, too": ("pass", AGAIN, "self.rows = Rows()", False),
}


@pytest.mark.parametrize("name", COUNTS)
def test_an_attribute_that_a_derived_constructor_sets_again(name: str) -> None:
    begins, body, later, fails = COUNTS[name]
    old, new = (
        world(npu=READS, vllm=VLLM, ascend=ASCEND.format(begins=begin, body=body, later=later))
        for begin in ("self.number = 1", begins)
    )
    assert symbols(find(new, old)) == ([("RS308", "NPURows.number")] if fails else [])


@pytest.mark.parametrize(("body", "fails"), [(f"{CALL}\n        self.seq_lens = torch.zeros(3)", True), (CALL, False)])
def test_a_tensor_in_place_of_a_buffer(body: str, fails: bool) -> None:
    text = READS.replace("self.rows.number", "self.seq_lens.np")
    trees = world(npu=text, vllm=VLLM, ascend=ASCEND.format(begins="pass", body=body, later="pass"))
    assert symbols(find(trees)) == ([("RS309", "seq_lens")] if fails else [])
