"""An attribute that upstream declares, and that omni sets by the call with which upstream sets it (RS308)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

VLLM = """\
from vllm.far import make
class Rows:
    {member}
class GPUModelRunner:
    def __init__(self, config):
        self.model = config.model
        {declared}
    def warm(self, model=None):
        self.rows = {made}
    def other(self):
        self.more = self.model.others()
    def fresh(self): ...
"""
ITEMS, GONE = "def items(self): ...", "rows: list"
DECLARED = "self.rows: Rows | None = None"
MADE = "self.model.empty(1)"
OWN = "def warm(self, model=None):\n    self.rows = {}\n    return self.rows.items()\n{}"

CASES = {
    "the same call": ({}, "self.model.empty(2, 3)", True),
    "another call": ({}, "self.model.others()", False),
    "an unknown value": ({}, "unknown()", False),
    "the same function": ({"made": "make()", "head": "from vllm.far import make as build"}, "build()", True),
    "another function of the name": ({"made": "make()", "head": "def make(): return unknown()"}, "make()", False),
    "a method of the same name, of another local's": ({"made": "model.empty()"}, "model.empty()", False),
    "its own method": ({"made": "self.fresh()"}, "self.fresh()", True),
    "its own method, which omni overrides": (
        {"made": "self.fresh()", "also": "def fresh(self):\n    return unknown()"},
        "self.fresh()",
        False,
    ),
    "no declaration": ({"declared": "self.rows = None"}, "self.model.empty(2)", False),
    "upstream sets it otherwise": ({"made": "self.model.others()"}, "self.model.empty(2)", False),
    "what is declared is unknown": ({"declared": "self.rows: Unknown = None"}, "self.model.empty(2)", False),
}


@pytest.mark.parametrize("name", CASES)
def test_what_a_call_gives_is_what_the_attribute_is_declared_as(name: str) -> None:
    changed, value, fails = CASES[name]
    parts = {"declared": DECLARED, "made": MADE, "head": "", "also": ""} | changed
    own = npu(OWN.format(value, parts["also"]), head=parts["head"])
    trees = [
        world(npu=own.replace("from vllm.runner import helper\n", ""),
              ascend="from vllm.runner import GPUModelRunner\nclass NPUModelRunner(GPUModelRunner): ...",
              vllm=VLLM.format(member=member, declared=parts["declared"], made=parts["made"]),
              **{"vllm/far.py": "def make(): ..."})
        for member in (GONE, ITEMS)
    ]  # fmt: skip
    assert symbols(find(*trees)) == ([("RS308", "Rows.items")] if fails else [])
    assert not find(trees[1], trees[1])
