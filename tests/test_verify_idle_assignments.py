"""An attribute that the runner assigns for upstream code, which reads it no more (RS318)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

UPSTREAM = """\
from vllm.runner import GPUModelRunner
class NPUModelRunner(GPUModelRunner):
    def build(self, config):
        {body}
"""
READ = UPSTREAM.format(body="return self.mode")
MOVED = UPSTREAM.format(body="return self.attention.mode_of(config)")
SET = npu("def run(self):\n    self.mode = 1")
WORKER = "class Worker:\n    def start(self):\n        return self.model_runner.mode\n"
ROW = "class Row:\n    def __init__(self):\n        self.ids = []\n{more}"
ROWS = "from vllm.rows import Row\n"
OF_A_ROW = npu("def run(self):\n    row = Row()\n    row.draft = 1\n    return row", head=ROWS)
HAS = ROW.format(more="        self.draft = 0\n")

# What both worlds have, what only the old one and what only the new one has.
ORPHANS = {
    "read under another name": ({"npu": SET}, {"ascend": READ}, {"ascend": MOVED}),
    "counted up": (
        {"npu": npu("def run(self):\n    self.mode += 1")},
        {"ascend": READ},
        {"ascend": MOVED},
    ),
    "one of several targets": (
        {"npu": npu("def run(self):\n    self.mode, self.sp = 1, 2")},
        {"ascend": READ},
        {"ascend": MOVED},
    ),
    "only another class reads its own": (
        {"npu": SET, "vllm_ascend/other.py": "class Other:\n    def run(self):\n        return self.mode\n"},
        {"ascend": READ},
        {"ascend": MOVED},
    ),
}
SILENT = {
    "still read": ({"npu": SET}, {"ascend": READ}, {"ascend": READ}),
    "never read": ({"npu": SET}, {"ascend": MOVED}, {"ascend": MOVED}),
    "omni reads it itself": (
        {"npu": npu("def run(self):\n    self.mode = 1\n    return self.mode")},
        {"ascend": READ},
        {"ascend": MOVED},
    ),
    "omni's GPU runner reads it": (
        {
            "npu": SET,
            "gpu": "from vllm.runner import GPUModelRunner\nclass OmniGPUModelRunner(GPUModelRunner):\n"
            "    def hook(self):\n        return self.mode\n",
        },
        {"ascend": READ},
        {"ascend": MOVED},
    ),
    "somebody reads it on the runner": ({"npu": SET, "ascend_worker": WORKER}, {"ascend": READ}, {"ascend": MOVED}),
    "somebody has it in quotes": (
        {"npu": SET, "vllm_ascend/other.py": "def f(runner):\n    return getattr(runner, 'mode')\n"},
        {"ascend": READ},
        {"ascend": MOVED},
    ),
    "upstream still assigns it": (
        {"npu": SET},
        {"ascend": READ},
        {"ascend": UPSTREAM.format(body="self.mode = config")},
    ),
    "it is a property": (
        {"npu": SET + "    @property\n    def mode(self): ...\n    @mode.setter\n    def mode(self, value): ...\n"},
        {"ascend": READ},
        {"ascend": MOVED},
    ),
    "only declared": ({"npu": npu("def run(self):\n    self.mode: int")}, {"ascend": READ}, {"ascend": MOVED}),
    "asked for": (
        {"npu": npu("def run(self):\n    if hasattr(self, 'mode'):\n        self.mode = 1")},
        {"ascend": READ},
        {"ascend": MOVED},
    ),
    "a base outside the trees": (
        {"npu": SET},
        {"ascend": READ},
        {"ascend": MOVED.replace("(GPUModelRunner)", "(Outside)")},
    ),
}
HEIR = "from vllm.rows import Row\nclass Two(Row):\n    draft = 1\n"
OF_OBJECTS = {
    "an heir of it has it, but this is none": (HAS, ROW.format(more=""), HEIR, True),
    "somebody else assigns it, too": (HAS, ROW.format(more=""), "def f(row):\n    row.draft = 1\n", True),
    "the class lost it": (HAS, ROW.format(more=""), "", True),
    "the class has it": (HAS, HAS, "", False),
    "the class never had it": (ROW.format(more=""), ROW.format(more=""), "", False),
    "somebody reads it": (HAS, ROW.format(more=""), "def f(row):\n    return row.draft\n", False),
    "a base outside the trees": (HAS, ROW.replace("Row:", "Row(Outside):").format(more=""), "", False),
}


def idle(both: dict[str, str], before: dict[str, str], after: dict[str, str]) -> list[tuple[str, str]]:
    found = find(world(**both, **after), world(**both, **before))
    return [pair for pair in symbols(found) if pair[0] == "RS318"]


@pytest.mark.parametrize("name", ORPHANS)
def test_what_nothing_reads_any_more(name: str) -> None:
    both, before, after = ORPHANS[name]
    assert idle(both, before, after) == [("RS318", "mode")]


@pytest.mark.parametrize("name", SILENT)
def test_what_may_be_read(name: str) -> None:
    assert idle(*SILENT[name]) == []


@pytest.mark.parametrize("name", OF_OBJECTS)
def test_what_the_class_of_an_object_lost(name: str) -> None:
    was, now, beside, is_told = OF_OBJECTS[name]
    both = {"npu": OF_A_ROW, "vllm_ascend/other.py": beside}
    found = idle(both, {"vllm/rows.py": was}, {"vllm/rows.py": now})
    assert found == ([("RS318", "draft")] if is_told else [])


def test_an_object_that_may_be_of_an_heir() -> None:
    taken = npu("def run(self, row: Row):\n    row.draft = 1", head=ROWS)
    was, now = {"vllm/rows.py": HAS}, {"vllm/rows.py": ROW.format(more="")}
    assert idle({"npu": taken}, was, now) == [("RS318", "draft")]
    assert idle({"npu": taken, "vllm_ascend/other.py": HEIR}, was, now) == []


def test_nothing_is_said_without_the_old_target() -> None:
    assert [f for f in find(world(npu=SET, ascend=MOVED)) if f.code == "RS318"] == []


def test_the_reader_is_named() -> None:
    (found,) = find(world(npu=SET, ascend=MOVED), world(npu=SET, ascend=READ))
    assert found.message == ("`self.mode` is assigned, and nothing reads it any more: vllm_ascend/runner.py:4 did.")
