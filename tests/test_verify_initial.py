"""An attribute that `__init__` reads, and that only a later method sets now (RS304)."""

from __future__ import annotations

import pytest
from verify_samples import find, npu, symbols, world

ASCEND = """\
from vllm.runner import GPUModelRunner

class NPUModelRunner(GPUModelRunner):
    def __init__(self, config):
        super().__init__(config)
        {start}
    def load_model(self):
        self.size = 2
    def prepare_sizes(self):
        self.size = 3
{more}
"""
READS = "def __init__(self, config):\n    super().__init__(config)\n    {read}\n"
READ = READS.format(read="self.rows = self.size + 1")


def ascend(start: str = "pass", more: str = "") -> str:
    return ASCEND.format(start=start, more=more)


def told(body: str, new: str, old: str) -> list[tuple[str, str]]:
    return symbols(find(world(npu=npu(body), ascend=new), world(npu=npu(body), ascend=old)))


SET = ascend("self.size = 1")
START = "    def start(self):\n        self.prepare_sizes()"

MIX = "class Mix:\n    def __init__(self):\n        self.size = 1"
NEW = "    def __new__(cls, config):\n        self = super().__new__(cls)\n        self.size = 1\n        return self"


def test_an_attribute_that_only_a_later_method_sets() -> None:
    found = find(world(npu=npu(READ), ascend=ascend()), world(npu=npu(READ), ascend=SET))
    assert symbols(found) == [("RS304", "size")]
    assert found[0].message == "`self.size` is read in `__init__`, and only `load_model` sets it now, which runs later."


@pytest.mark.parametrize(
    ("body", "new", "old"),
    [
        pytest.param(READ, ascend("self.prepare_sizes()"), SET, id="a method that __init__ calls sets it"),
        pytest.param(READ, ascend("self.start()", START), SET, id="through another method"),
        pytest.param(READ, ascend(more="    size = 4"), SET, id="a default of the class"),
        pytest.param(READ, ascend(more="    @property\n    def size(self):\n        return 1"), SET, id="a property"),
        pytest.param(READ, ascend(), ascend(), id="before, too"),
        pytest.param(READ, ascend(more="def grow(runner):\n    runner.size = 1"), SET, id="others set it"),
        pytest.param(READ, ascend("fill(self)", "def fill(obj):\n    obj.size = 1"), SET, id="a function sets it"),
        pytest.param(READ, ascend("fill(self)"), SET, id="a function gets the object"),
        pytest.param(READ, ascend("self.loader = Loader(owner=self)"), SET, id="a constructor gets the object"),
        pytest.param(READ, ascend("Mix.__init__(self)", MIX), SET, id="a constructor outside the MRO"),
        pytest.param(READ, ascend(more=NEW), SET, id="__new__ may set it"),
        pytest.param(READ, ascend("getattr(self, config.name)()"), SET, id="a computed method"),
        pytest.param(READS.format(read="boot(self)\n    self.rows = self.size"), ascend(), SET, id="omni hands it out"),
        pytest.param(READS.format(read="self.size = 1\n    print(self.size)"), ascend(), SET, id="omni sets it"),
        pytest.param(READS.format(read="self.rows = getattr(self, 'size', 1)"), ascend(), SET, id="a default"),
        pytest.param(
            READS.format(read="if hasattr(self, 'size'):\n        print(self.size)"), ascend(), SET, id="asked for"
        ),
        pytest.param("def run(self):\n    return self.size", ascend(), SET, id="another method reads it"),
        pytest.param(READS.format(read="self.late = lambda: self.size"), ascend(), SET, id="read later"),
    ],
)
def test_an_attribute_that_may_be_there(body: str, new: str, old: str) -> None:
    assert told(body, new, old) == []


@pytest.mark.parametrize(
    ("read", "start"),
    [
        ("self.rows = self.size", "print(isinstance(self, Mix))"),
        ("self.rows = self.size", "GPUModelRunner.__init__(self, config)"),
        ("self.rows = self.size\n    boot(self)", "pass"),
        ("self.rows = self.size", "setattr(self, 'rows', 1)"),
        ("self.size += 1", "pass"),
    ],
    ids=["only asked for", "of the MRO", "handed out later", "another attribute", "a sum"],
)
def test_an_object_that_nobody_else_has(read: str, start: str) -> None:
    text = npu(READS.format(read=read))
    (found,) = find(world(npu=text, ascend=ascend(start)), world(npu=text, ascend=SET))
    assert found.message == "`self.size` is read in `__init__`, and only `load_model` sets it now, which runs later."
